// The list of tasks: kept up to date without reloading, and one key to begin.

import { post } from "/static/http.js";
import { fill, isTyping, openNext, runClocks, taskAddress, whilePresent } from "/static/live.js";

const LOOK_MS = 1500;
const HIDDEN_MS = 10_000;
const BEAT_MS = 15_000;

const queue = document.getElementById("queue");
const rows = document.getElementById("rows");
const told = document.getElementById("told");
const news = document.getElementById("news");
const texts = JSON.parse(queue.dataset.texts);
const operator = queue.dataset.operator;
const showTimes = runClocks(texts.overdue);
let tag = null;

function tell(text) {
  told.textContent = text;
  told.hidden = !text;
}

async function look() {
  const headers = { Accept: "text/html", ...(tag ? { "If-None-Match": tag } : {}) };
  const address = `/queue?operator=${encodeURIComponent(operator)}&lang=${document.documentElement.lang}`;
  const answer = await fetch(address, { headers, cache: "no-store" });
  if (told.textContent === texts.unreachable) tell("");
  if (answer.status === 401 || answer.status === 403) return location.reload();
  if (answer.status !== 200) return;
  tag = answer.headers.get("ETag");
  swap(await answer.text());
}

/** New rows for old, with the focus where it was. */
function swap(html) {
  const before = waiting();
  const focused = document.activeElement?.dataset?.key;
  const place = buttons().findIndex((button) => button.dataset.key === focused);
  rows.innerHTML = html; // rendered and escaped by the server
  showTimes();
  if (focused) (byKey(focused) ?? buttons()[Math.min(place, buttons().length - 1)] ?? start).focus();
  announce(before, waiting());
}

const buttons = () => [...rows.querySelectorAll("button[data-key]")];
const tasks = () => [...rows.querySelectorAll("button[data-task]")];
const byKey = (key) => buttons().find((button) => button.dataset.key === key);
const waiting = () => Number(rows.querySelector("[data-pending]").dataset.pending);

function announce(before, now) {
  if (before === now) return;
  news.textContent = fill(now > before ? texts.news_more : texts.news_changed, { number: now });
}

async function follow() {
  for (;;) {
    await look().catch(() => tell(texts.unreachable));
    await new Promise((done) => setTimeout(done, document.hidden ? HIDDEN_MS : LOOK_MS));
  }
}

/** All tasks of a file that are answered on one page. */
async function takeTogether(address) {
  const answer = await post(address, { operator });
  if (answer.status === 200) return location.assign(`${address}?operator=${encodeURIComponent(operator)}`);
  tell(answer.status === 409 ? texts.taken_by_other : texts.unreachable);
  await look();
}

async function takeBack(id) {
  const answer = await post(`/tasks/${id}/undo`, { operator });
  if (answer.status === 200) return location.assign(taskAddress(id, operator));
  tell(answer.status === 409 ? texts.undo_too_late : texts.unreachable);
}

async function take(id) {
  const answer = await post(`/tasks/${id}/claim`, { operator });
  if (answer.status === 200) return location.assign(taskAddress(id, operator));
  const why = { 409: texts.taken_by_other, 403: texts.gone_not_allowed };
  tell(why[answer.status] ?? texts.unreachable);
  await look();
}

const start = document.getElementById("start");
/** While a page opens, its button says so: nobody wonders whether the key was pressed. */
const attempt = async (job, button = start) => {
  if (queue.getAttribute("aria-busy") === "true") return;
  queue.setAttribute("aria-busy", "true");
  button.classList.add("busy");
  try {
    await job();
  } catch {
    tell(texts.unreachable);
  }
  queue.setAttribute("aria-busy", "false");
  button.classList.remove("busy");
};
const begin = () =>
  attempt(async () => {
    if (await openNext(operator)) return;
    const first = tasks()[0]; // what is on the list can be taken, too
    if (first) await take(first.dataset.task);
    else tell(texts.nothing_left);
  });

start.addEventListener("click", begin);
rows.addEventListener("click", (event) => {
  const button = event.target.closest("button[data-task]");
  if (button) attempt(() => take(button.dataset.task), button);
  const together = event.target.closest("button[data-together]");
  if (together) attempt(() => takeTogether(together.dataset.together), together);
});
document.querySelectorAll("[data-undo]").forEach((button) => {
  button.addEventListener("click", () => attempt(() => takeBack(button.dataset.undo), button));
});
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey || isTyping(event.target)) return;
  const isFree = event.target === document.body || event.target.id === "content";
  if (event.key === "s" || (event.key === "Enter" && isFree)) {
    event.preventDefault();
    begin();
  }
});

whilePresent(BEAT_MS, () => post("/heartbeat", { operator }), () => !document.hidden);
follow();
queue.dataset.ready = "true";
