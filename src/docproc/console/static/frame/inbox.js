// The inbox: renews itself, is worked by keyboard, and does things with several requests at once.

import { call, proof } from "/static/frame/calls.js";

const LIVE_MS = 1000;
const IDLE_MS = 5000;
const byId = (id) => document.getElementById(id);
const texts = JSON.parse(byId("inbox").dataset.texts);
const chosen = new Set();

// --- renewing

const isTyping = () => ["INPUT", "SELECT", "TEXTAREA"].includes(document.activeElement?.tagName) && document.activeElement.type !== "checkbox";

/** Asked for again with the same words; what somebody has chosen, and where they are, stays. */
export async function renew() {
  const answer = await fetch(`/inbox/list${location.search}`, { headers: { Accept: "text/html" } });
  if (!answer.ok) return;
  const news = new DOMParser().parseFromString(await answer.text(), "text/html");
  for (const id of ["inbox-summary", "inbox-live"]) {
    const [old, fresh] = [byId(id), news.getElementById(id)];
    if (!fresh || old.innerHTML === fresh.innerHTML || (id === "inbox-live" && old.dataset.html === fresh.innerHTML)) continue;
    const place = where();
    old.dataset.html = fresh.innerHTML;
    old.replaceChildren(...fresh.childNodes);
    restore(place);
  }
}

/** What has the focus: a row's link or box, or a thing with an id. */
function where() {
  const focused = document.activeElement;
  const row = focused?.closest?.("tr[data-id]");
  return { id: focused?.id, row: row?.dataset.id, isBox: focused?.type === "checkbox", scrolled: scrollY };
}

function restore(place) {
  for (const row of rows()) boxOf(row).checked = chosen.has(row.dataset.id);
  const row = place.row && document.querySelector(`tr[data-id="${CSS.escape(place.row)}"]`);
  const target = row ? (place.isBox ? boxOf(row) : linkOf(row)) : place.id ? byId(place.id) : null;
  target?.focus({ preventScroll: true });
  scrollTo({ top: place.scrolled });
  showChosen();
}

async function follow() {
  for (;;) {
    const pause = document.hidden ? IDLE_MS * 2 : document.querySelector("tr[data-live]") ? LIVE_MS : IDLE_MS;
    await new Promise((done) => {
      const timer = setTimeout(done, pause);
      addEventListener("docproc:sent", () => (clearTimeout(timer), done()), { once: true });
    });
    if (!isTyping()) await renew().catch(() => {}); // the next one may succeed
  }
}

// --- choosing

const rows = () => [...document.querySelectorAll("table.inbox tbody tr")];
const boxOf = (row) => row.querySelector('input[type="checkbox"]');
const linkOf = (row) => row.querySelector(".title a");

function showChosen() {
  const number = chosen.size;
  if (!byId("chosen")) return;
  byId("chosen").hidden = number === 0;
  byId("chosen-count").textContent = number === 1 ? texts.chosen_one : texts.chosen.replace("{number}", number);
  const all = byId("pick-all");
  if (all) all.checked = number > 0 && rows().every((row) => boxOf(row).checked);
}

function choose(row, isChosen) {
  boxOf(row).checked = isChosen;
  if (isChosen) chosen.add(row.dataset.id);
  else chosen.delete(row.dataset.id);
  showChosen();
}

document.addEventListener("change", (event) => {
  if (event.target.id === "pick-all") rows().forEach((row) => choose(row, event.target.checked));
  else if (event.target.closest("tr[data-id]")) choose(event.target.closest("tr"), event.target.checked);
  else if (event.target.closest("#search") && event.target.type !== "search") byId("search").requestSubmit();
});

// --- doing

const actions = {
  none: () => rows().forEach((row) => choose(row, false)),
  export: (button) => {
    const query = new URLSearchParams({ format: button.dataset.format });
    for (const id of chosen) query.append("id", id);
    location.assign(`/inbox/export?${query}`);
  },
  reprocess: () => each((id) => call(`/requests/${id}/reprocess`, { method: "POST" })),
  delete: () => {
    if (!confirm(texts.sure_delete.replace("{number}", chosen.size))) return;
    return each((id) => call(`/requests/${id}`, { method: "DELETE" }));
  },
};

/** One after the other: the server has others to serve, too. What is refused is told, and stays chosen. */
async function each(job) {
  let problem = "";
  for (const id of [...chosen]) {
    try {
      await job(id);
      chosen.delete(id);
    } catch (error) {
      problem = error.message;
    }
  }
  byId("news").textContent = problem && `${texts.failed} ${problem}`;
  if (problem) tell(`${texts.failed} ${problem}`);
  await renew();
}

function tell(text) {
  const said = document.createElement("p");
  said.className = "alert";
  said.setAttribute("role", "alert");
  said.textContent = text;
  byId("search").after(said);
  setTimeout(() => said.remove(), 10_000);
}

document.addEventListener("click", async (event) => {
  const button = event.target.closest("button");
  if (button?.dataset.act) await actions[button.dataset.act](button);
  else if (button?.id === "keep-view") await keepView(button.dataset.query);
  else if (button?.dataset.forget) {
    await fetch(`/inbox/views/${button.dataset.forget}`, { method: "DELETE", headers: proof() });
    await renew();
  }
});

async function keepView(query) {
  const name = prompt(texts.name_view)?.trim();
  if (!name) return;
  const headers = { "Content-Type": "application/json" };
  await call("/inbox/views", { method: "POST", headers, body: JSON.stringify({ name, query }) }).catch((error) =>
    tell(`${texts.failed} ${error.message}`),
  );
  await renew();
}

// --- the keyboard

function step(by) {
  const found = rows();
  const at = found.indexOf(document.activeElement?.closest("tr"));
  const next = found[Math.min(found.length - 1, Math.max(0, at < 0 ? 0 : at + by))];
  if (!next) return;
  linkOf(next).focus();
  next.scrollIntoView({ block: "nearest" });
}

const keys = {
  "/": () => (byId("q").focus(), byId("q").select()),
  j: () => step(1),
  k: () => step(-1),
  x: () => {
    const row = document.activeElement?.closest("tr[data-id]");
    if (row) choose(row, !boxOf(row).checked);
  },
  u: () => byId("files")?.click(),
};

addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || isTyping()) return;
  if (!(event.key in keys)) return;
  event.preventDefault();
  keys[event.key]();
});

byId("q").addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  event.preventDefault();
  step(0);
});

if (document.documentElement.dataset.zone === "new") renew(); // written for another zone, see zone.js
follow();
