// A request of documents: tabs, the pages of the document on show, and the place of the field somebody looks at.

import { onRenewed } from "/static/frame/request.js";
import { Viewer } from "/static/documents/viewer.js";

const byId = (id) => document.getElementById(id);
const all = (selector, root = document) => [...root.querySelectorAll(selector)];
let viewer = null;
let kept = null; // what was on show before the page was renewed

// --- tabs

function select(tab, { focus = false } = {}) {
  for (const one of all('[role="tab"]')) {
    const isThis = one === tab;
    one.setAttribute("aria-selected", String(isThis));
    one.tabIndex = isThis ? 0 : -1;
    byId(one.getAttribute("aria-controls")).hidden = !isThis;
  }
  if (focus) tab.focus();
  const panel = byId(tab.getAttribute("aria-controls"));
  const shown = new Set(panel.dataset.pages.split(" ").filter(Boolean).map(Number));
  for (const page of all(".viewer .page")) page.hidden = shown.size > 0 && !shown.has(Number(page.dataset.page));
  viewer.layout();
  const doubtful = panel.querySelector(".field.doubtful[data-page]") ?? panel.querySelector(".field[data-page]");
  if (doubtful) show(doubtful);
  else if (shown.size) go(Math.min(...shown));
}

function byArrow(event) {
  const tabs = all('[role="tab"]');
  const at = tabs.indexOf(event.target);
  const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: tabs.length - 1 }[event.key];
  if (at < 0 || to === undefined) return;
  event.preventDefault();
  select(tabs[(to + tabs.length) % tabs.length], { focus: true });
}

// --- places

/** Bring the place of a field, or of a row of a table, into sight. */
function show(field) {
  for (const one of all("#documents [aria-current]:not(.small-page)")) one.removeAttribute("aria-current");
  field.setAttribute("aria-current", "true");
  if (!field.dataset.page) return viewer.mark(-1, null);
  reveal(Number(field.dataset.page));
  viewer.mark(Number(field.dataset.page), field.dataset.box ? field.dataset.box.split(" ").map(Number) : null);
}

function reveal(number) {
  const page = viewer.pages.get(number);
  if (page?.hidden) {
    page.hidden = false;
    viewer.layout();
  }
  for (const one of all(".small-page")) {
    if (Number(one.dataset.go) === number) one.setAttribute("aria-current", "true");
    else one.removeAttribute("aria-current");
  }
}

function go(number) {
  reveal(number);
  viewer.mark(number, null);
}

// --- beginning, again whenever the page was renewed

function begin() {
  const root = byId("viewer");
  if (!root) return;
  viewer = new Viewer(root);
  const tabs = all('[role="tab"]');
  const tab = tabs.find((one) => one.id === kept?.tab) ?? tabs.find((one) => one.querySelector(".doubt")) ?? tabs[0];
  if (tab) select(tab);
  const field = kept?.field && all(".document:not([hidden]) .field").find((one) => one.dataset.name === kept.field);
  if (field) show(field);
}

document.addEventListener("click", (event) => {
  const tab = event.target.closest('[role="tab"]');
  const place = event.target.closest(".field, .lines tr[data-page]");
  const small = event.target.closest("[data-go]");
  const tool = event.target.closest("[data-tool]");
  if (tab) select(tab);
  else if (place) show(place);
  else if (small) go(Number(small.dataset.go));
  else if (tool) tools[tool.dataset.tool]();
});
document.addEventListener("focusin", (event) => {
  if (event.target.matches?.(".field")) show(event.target);
});
document.addEventListener("keydown", (event) => {
  if (event.target.getAttribute?.("role") === "tab") byArrow(event);
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input, select, textarea")) return;
  const tool = { "+": "zoom_in", "-": "zoom_out", 0: "fit_width", f: "fit_page", r: "rotate" }[event.key];
  if (tool) tools[tool]();
  if (event.key === "ArrowDown" || event.key === "ArrowUp") byField(event);
});

/** Up and down go from field to field. */
function byField(event) {
  if (!event.target.matches?.(".field")) return;
  const fields = all(".document:not([hidden]) .field");
  const next = fields[fields.indexOf(event.target) + (event.key === "ArrowDown" ? 1 : -1)];
  event.preventDefault();
  next?.focus();
}

const tools = {
  zoom_in: () => viewer.larger(),
  zoom_out: () => viewer.smaller(),
  fit_width: () => viewer.fitWidth(),
  fit_page: () => viewer.fitPage(),
  rotate: () => viewer.rotate(),
};

onRenewed({
  before: () => {
    const tab = document.querySelector('[role="tab"][aria-selected="true"]');
    const field = document.querySelector('.field[aria-current="true"]');
    kept = { tab: tab?.id, field: field?.dataset.name };
  },
  after: begin,
});
begin();
