// The demo page: submits a task and shows its plan and its events as they happen.
"use strict";

const form = document.getElementById("task");
const said = document.getElementById("said");
const planList = document.getElementById("plan");
const eventRows = document.getElementById("events");
const session = `page-${crypto.getRandomValues(new Uint32Array(2)).join("-")}`;
let taskId = null;
let lastId = null;
let pause = 500;

const PLAN = (prompt) => ({
  steps: [
    {
      name: "agent",
      type: { domain: "agent", action: "execute" },
      payload: { prompt, use_tool: { tool: "search", service: "query-service", arguments: { query: prompt } } },
    },
    { name: "tools", type: { domain: "tool", action: "query" }, service: "tool-registry" },
    { name: "remember", type: { domain: "conversation", action: "update" }, after: ["agent", "tools"] },
  ],
});

function text(tag, content) {
  const made = document.createElement(tag);
  made.textContent = content;
  return made;
}

function showPlan(plan) {
  planList.replaceChildren(
    ...plan.steps.map((step) => {
      const item = document.createElement("li");
      item.id = `step-${step.name}`;
      const bar = document.createElement("progress");
      bar.max = 100;
      bar.value = 0;
      bar.setAttribute("aria-label", step.name);
      const after = step.after ? ` ← ${step.after.join(" + ")}` : "";
      item.append(text("strong", step.name), text("span", after), bar, text("div", ""));
      return item;
    }),
  );
}

function showEvent(event) {
  const row = document.createElement("tr");
  const detail = event.percent !== undefined ? `${event.percent} %` : (event.data?.service ?? "");
  const tool = event.data?.tool ? ` › ${event.data.tool}` : "";
  row.append(
    text("td", new Date(event.at).toLocaleTimeString()),
    text("td", event.type),
    text("td", (event.step ?? "") + tool),
    text("td", detail),
  );
  eventRows.append(row);
  const item = event.step && !event.data?.tool ? document.getElementById(`step-${event.step}`) : null;
  if (!item) return;
  const [kind, outcome] = event.type.split(".");
  const bar = item.querySelector("progress");
  if (kind === "step") {
    item.dataset.state = outcome;
    item.querySelector("div").textContent = outcome;
    if (outcome === "completed") bar.value = 100;
  }
  if (event.percent !== undefined) bar.value = event.percent;
}

// After a lost connection: again, and what was missed meanwhile.
function listen() {
  const scheme = location.protocol === "https:" ? "wss:" : "ws:";
  const socket = new WebSocket(`${scheme}//${location.host}/ws`);
  socket.onopen = () => {
    pause = 500;
    socket.send(JSON.stringify({ type: "session.sync", session_id: session, ...(lastId ? { after: lastId } : {}) }));
  };
  socket.onmessage = ({ data }) => {
    const event = JSON.parse(data);
    if (event.type === "ping") socket.send('{"type": "pong"}');
    if (!event.id) return;
    lastId = event.id;
    if (event.task_id === taskId || taskId === null) showEvent(event);
  };
  socket.onclose = () => {
    setTimeout(listen, pause);
    pause = Math.min(pause * 2, 10000);
  };
}

form.addEventListener("submit", async (happened) => {
  happened.preventDefault();
  const plan = PLAN(new FormData(form).get("prompt"));
  showPlan(plan);
  eventRows.replaceChildren();
  taskId = null;
  const csrf = document.querySelector('meta[name="csrf"]')?.content;
  const headers = { "content-type": "application/json", ...(csrf ? { "x-csrf-token": csrf } : {}) };
  const answer = await fetch("/api/v1/tasks", { method: "POST", headers, body: JSON.stringify({ plan, session_id: session }) });
  const body = await answer.json();
  if (!answer.ok) {
    said.textContent = `${form.dataset.refused}: ${body.error.message}`;
    return;
  }
  taskId = body.task_id;
  const link = text("a", form.dataset.trace);
  link.href = `/api/v1/traces/${body.correlation_id}/picture`;
  said.replaceChildren(`${form.dataset.accepted}: ${body.task_id} · `, link);
});

listen();
