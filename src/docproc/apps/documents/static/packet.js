// A whole file on one strip: arrows go from page to page, c cuts before it, numbers say what the document is.

import { keepDraft, keptDraft } from "/static/drafts.js";
import { fill } from "/static/live.js";
import { onKeys, ready, submit, task, tell, texts } from "/static/task.js";
import { Viewer, withTools } from "/static/documents/viewer.js";

/** A page on the strip. */
class Leaf {
  constructor(root) {
    this.root = root;
    this.page = Number(root.dataset.page);
    this.type = root.dataset.type;
    this.begins = root.classList.contains("begins");
    this.isFixed = root.dataset.fixed === "true";
    this.isOther = root.dataset.other === "true"; // somebody else is asked about it
    this.isDoubtful = root.classList.contains("doubtful") && !this.isOther;
    this.button = root.querySelector(".leaf-page");
  }
}

const strip = document.getElementById("strip");
const leaves = [...strip.querySelectorAll(".leaf")].map((root) => new Leaf(root));
const choices = [...document.querySelectorAll('#types input[name="doc_type"]')];
const names = new Map(choices.map((one) => [one.value, one.closest("label").querySelector(".choice-name").textContent]));
const viewer = new Viewer(document.getElementById("viewer"));
withTools(viewer, onKeys);
let current = leaves[0];

// --- documents -----------------------------------------------------------------------------------------

/** Pages from one that begins a document to the next. */
function documents() {
  const found = [];
  for (const leaf of leaves) {
    if (leaf.begins || !found.length) found.push([]);
    found.at(-1).push(leaf);
  }
  return found;
}

const documentOf = (leaf) => documents().find((one) => one.includes(leaf));

function setType(type) {
  const mine = documentOf(current).filter((leaf) => !leaf.isOther);
  mine.forEach((leaf) => (leaf.type = type));
  changed();
}

/** A page that is cut off keeps the type its document had; one that is joined takes that of the pages before. */
function cut() {
  if (current.isFixed || current.isOther) return;
  current.begins = !current.begins;
  if (!current.begins) {
    const whole = documentOf(current);
    whole.filter((leaf) => !leaf.isOther).forEach((leaf) => (leaf.type = whole[0].type));
  }
  tell(fill(current.begins ? texts.cut_here : texts.no_cut_here, { number: current.page + 1 }));
  changed();
}

function changed() {
  keepDraft(task, { leaves: leaves.map(({ page, type, begins }) => [page, type, begins]) });
  draw();
}

// --- shown ---------------------------------------------------------------------------------------------

function draw() {
  documents().forEach((whole, place) => {
    whole.forEach((leaf, number) => {
      leaf.root.classList.toggle("begins", number === 0);
      leaf.root.classList.toggle("odd", place % 2 === 1);
      leaf.root.querySelector(".cut")?.setAttribute("aria-pressed", String(number === 0));
      leaf.root.querySelector(".leaf-type").textContent = number === 0 ? (names.get(leaf.type) ?? leaf.type) : "";
    });
  });
  const all = documents();
  const place = all.findIndex((one) => one.includes(current));
  const [first, last] = [all[place][0].page + 1, all[place].at(-1).page + 1];
  const words = first === last ? texts.document_of_one_page : texts.document_number;
  document.getElementById("of-document").textContent = fill(words, { number: place + 1, total: all.length, first, last });
  choices.forEach((one) => {
    one.checked = one.value === current.type;
    one.disabled = current.isOther;
  });
}

function show(leaf, { focus = true } = {}) {
  current = leaf;
  for (const one of leaves) {
    one.root.classList.toggle("current", one === leaf);
    one.button.tabIndex = one === leaf ? 0 : -1;
    if (one === leaf) one.button.setAttribute("aria-current", "true");
    else one.button.removeAttribute("aria-current");
  }
  for (const [number, page] of viewer.pages) {
    page.hidden = number !== leaf.page;
    const picture = page.querySelector("img");
    if (!page.hidden && !picture.src) picture.src = picture.dataset.src;
  }
  viewer.fitPage();
  leaf.root.scrollIntoView({ block: "nearest", inline: "center" });
  if (focus) leaf.button.focus({ preventScroll: true });
  draw();
}

const go = (step) => show(leaves[Math.min(leaves.length - 1, Math.max(0, leaves.indexOf(current) + step))]);

function goToDoubt() {
  const place = leaves.indexOf(current);
  const after = [...leaves.slice(place + 1), ...leaves.slice(0, place + 1)];
  const next = after.find((leaf) => leaf.isDoubtful);
  if (next) show(next);
}

function confirm() {
  const open = leaves.find((leaf) => !leaf.isOther && !leaf.type);
  if (open) return show(open);
  const free = leaves.filter((leaf) => !leaf.isOther);
  submit({
    types: Object.fromEntries(free.map((leaf) => [leaf.page, leaf.type])),
    begins: Object.fromEntries(free.filter((leaf) => !leaf.isFixed).map((leaf) => [leaf.page, leaf.begins])),
  });
}

// --- events --------------------------------------------------------------------------------------------

choices.slice(0, 9).forEach((one, place) => onKeys({ [place + 1]: () => !current.isOther && setType(one.value) }));
onKeys({
  ArrowLeft: () => go(-1),
  ArrowRight: () => go(1),
  Home: () => show(leaves[0]),
  End: () => show(leaves.at(-1)),
  c: cut,
  d: goToDoubt,
  Enter: (event) => {
    const own = event.target.closest("button:not(.leaf-page), a, summary");
    if (own) own.click();
    else confirm();
  },
});
strip.addEventListener("click", (event) => {
  const leaf = leaves.find((one) => one.root.contains(event.target));
  if (!leaf) return;
  show(leaf);
  if (event.target.closest(".cut")) cut();
});
document.getElementById("types").addEventListener("change", (event) => setType(event.target.value));
document.getElementById("answer").addEventListener("submit", (event) => {
  event.preventDefault();
  confirm();
});

const draft = keptDraft(task);
for (const [page, type, begins] of draft?.leaves ?? []) {
  const leaf = leaves.find((one) => one.page === page && !one.isOther);
  if (leaf) Object.assign(leaf, { type, begins: begins || leaf.isFixed });
}
if (draft) tell(texts.kept_draft);
show(leaves.find((leaf) => leaf.isDoubtful) ?? leaves[0]);
ready();
