// The page of a request: renews itself while something is under way, and does what its buttons say.

import { call } from "/static/frame/calls.js";

const LIVE_MS = 1000;
const HIDDEN_MS = 5000;
const root = () => document.getElementById("request");
const followers = [];

/** Have `before` and `after` called around each renewal: what is on show may be kept. */
export const onRenewed = (job) => followers.push(job);

async function renew({ always = false } = {}) {
  const answer = await fetch(location.pathname, { headers: { Accept: "text/html" } });
  if (!answer.ok) return;
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("request");
  if (!fresh || (!always && fresh.dataset.mark === root().dataset.mark)) return;
  const open = new Map([...document.querySelectorAll("#request > details")].map((one) => [one.className, one.open]));
  const focused = document.activeElement?.id;
  for (const job of followers) job.before();
  root().replaceWith(document.adoptNode(fresh));
  for (const one of document.querySelectorAll("#request > details")) one.open = open.get(one.className) ?? one.open;
  if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
  for (const job of followers) job.after();
}

async function follow() {
  while (!root().dataset.over) {
    await new Promise((done) => setTimeout(done, document.hidden ? HIDDEN_MS : LIVE_MS));
    await renew().catch(() => {}); // the next one may succeed
  }
}

const actions = {
  reprocess: async (path) => {
    const made = await call(`${path}/reprocess`, { method: "POST" });
    location.assign(`/inbox/${made.request_id}`);
  },
  cancel: async (path) => {
    await call(`${path}/cancel`, { method: "POST" });
    await renew();
  },
  delete: async (path, texts) => {
    if (!confirm(texts.sure_delete)) return;
    await call(path, { method: "DELETE" });
    location.assign("/");
  },
};

document.addEventListener("click", async (event) => {
  const button = event.target.closest("button[data-act]");
  if (!button) return;
  const { id, texts } = root().dataset;
  try {
    await actions[button.dataset.act](`/requests/${id}`, JSON.parse(texts));
  } catch (error) {
    const told = Object.assign(document.createElement("p"), { className: "alert", textContent: error.message });
    told.setAttribute("role", "alert");
    document.querySelector(".request-head").after(told);
  }
});

// On a phone the page of the document comes first.
if (matchMedia("(max-width: 700px)").matches) document.querySelector(".history")?.removeAttribute("open");
if (document.documentElement.dataset.zone === "new") renew({ always: true }).catch(() => {});
follow();
