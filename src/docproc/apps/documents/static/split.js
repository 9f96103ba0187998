// Does a document begin here? 1 and 2 answer one place after the other, Enter confirms all.

import { keepDraft, keptDraft } from "/static/drafts.js";
import { earlier, onKeys, ready, submit, task, tell, texts } from "/static/task.js";
import { Viewer, withTools } from "/static/documents/viewer.js";

const form = document.getElementById("answer");
const doubts = [...form.querySelectorAll(".doubt")];
const viewer = new Viewer(document.getElementById("viewer"), { columns: 2 });
withTools(viewer, onKeys);
viewer.root.classList.add("side-by-side");

let current = doubts[0];

/** The two pages of a place, and only those. */
function show(doubt) {
  current = doubt;
  const pair = [Number(doubt.dataset.first), Number(doubt.dataset.second)];
  for (const [number, page] of viewer.pages) page.hidden = !pair.includes(number);
  doubts.forEach((one) => one.classList.toggle("current", one === doubt));
  viewer.layout();
}

const chosen = (doubt) => doubt.querySelector("input:checked");

function focusOn(doubt) {
  (chosen(doubt) ?? doubt.querySelector("input")).focus();
}

function answer(value) {
  const choice = current.querySelector(`input[value="${value}"]`);
  choice.checked = true;
  keep();
  const next = doubts[doubts.indexOf(current) + 1];
  if (next) focusOn(next);
  else choice.focus();
}

const said = () => doubts.map((doubt) => [doubt.dataset.second, chosen(doubt)?.value === "1"]);
const keep = () => keepDraft(task, { splits: said() });

function confirm() {
  const open = doubts.find((doubt) => !chosen(doubt));
  if (open) return focusOn(open);
  submit({ splits: Object.fromEntries(said()) });
}

onKeys({
  1: () => answer(0),
  2: () => answer(1),
  Enter: (event) => {
    const own = event.target.closest("button, a, summary");
    if (own) own.click();
    else confirm();
  },
});
form.addEventListener("focusin", (event) => {
  const doubt = event.target.closest(".doubt");
  if (doubt && doubt !== current) show(doubt);
});
form.addEventListener("change", keep);
form.addEventListener("submit", (event) => {
  event.preventDefault();
  confirm();
});

const draft = keptDraft(task);
for (const [page, begins] of draft?.splits ?? Object.entries(earlier?.splits ?? {})) {
  const choice = form.querySelector(`input[name="split-${CSS.escape(page)}"][value="${begins ? 1 : 0}"]`);
  if (choice) choice.checked = true;
}
if (draft) tell(texts.kept_draft);
show(current);
focusOn(current);
ready();
