// The fields of a document beside its pages: doubtful ones asked one after the other.

import { keepDraft, keptDraft } from "/static/drafts.js";
import { get, post } from "/static/http.js";
import { fill } from "/static/live.js";
import { base, complain, earlier, isExplained, language, onKeys, operator, ready, submit, task, tell, texts } from "/static/task.js";
import { Field } from "/static/documents/fields.js";
import { TableField } from "/static/documents/line_items.js";
import { Viewer, withTools } from "/static/documents/viewer.js";

const CHECK_MS = 250;
const form = document.getElementById("answer");
const submitButton = document.getElementById("submit");

const madeOf = (root) => (root.dataset.type === "table" ? new TableField(root, texts) : new Field(root));
const fields = [...form.querySelectorAll(".field")].map(madeOf);
const byName = new Map(fields.map((field) => [field.name, field]));
const doubtful = fields.filter((field) => field.isDoubtful);
const fieldOf = (element) => byName.get(element.closest?.(".field")?.dataset.field);
const isTable = (field) => field?.type === "table";
let current = null;
let before = null; // the current field as it was when it was entered
const done = []; // what can be undone: {field, restore}

const viewer = new Viewer(document.getElementById("viewer"), {
  onWord: takeWord,
  wordsOf: async (page) => {
    const answer = await get(`${base}/pages/${page}/words?operator=${encodeURIComponent(operator)}`);
    return answer.body?.words ?? [];
  },
});
withTools(viewer, onKeys);
for (const page of viewer.pages.values()) {
  // Words come when their page is looked at.
  new IntersectionObserver((entries) => {
    if (entries.some((entry) => entry.isIntersecting)) viewer.showWords(Number(page.dataset.page)).catch(() => {});
  }).observe(page);
}

// --- going from field to field -------------------------------------------------------------------------

function enter(field) {
  current = field;
  before = field.keep();
  show(field);
}

function show(field) {
  viewer.mark(field.where?.page, field.where?.box);
}

function remember(field) {
  if (before && !before.isSame()) done.push({ field, restore: before.restore });
  before = field.keep();
}

function goTo(field) {
  const closed = field.root.closest("details:not([open])");
  if (closed) closed.open = true;
  field.focus();
}

function next() {
  const place = doubtful.indexOf(current);
  const following = doubtful[place + 1];
  if (following) goTo(following);
  else submitButton.focus();
}

// --- changing --------------------------------------------------------------------------------------------

function takeWord(word, isMore) {
  const input = current?.input;
  if (!input || input.readOnly) return; // a lost task is only read
  remember(current);
  const joined = isMore && input.value && (isTable(current) || current.place?.page === word.page);
  const value = joined ? `${input.value} ${word.text}` : word.text;
  if (isTable(current)) {
    input.value = value;
    current.redraw();
  } else {
    const box = joined && current.place.box ? around(current.place.box, word.box) : word.box;
    current.set(value, { page: word.page, box });
    show(current);
  }
  remember(current);
  changed();
  goToEnd(input);
  tell(fill(texts.filled, { field: current.label, value }));
}

function goToEnd(input) {
  input.focus();
  input.setSelectionRange(input.value.length, input.value.length);
}

const around = (a, b) => [
  Math.min(a[0], b[0]), Math.min(a[1], b[1]), Math.max(a[2], b[2]), Math.max(a[3], b[3]),
];

function undo() {
  if (current?.input?.readOnly) return;
  if (current) remember(current);
  const last = done.pop();
  if (!last) return tell(texts.nothing_to_undo);
  last.restore();
  if (last.field === current) before = current.keep();
  show(last.field);
  changed();
  tell(fill(texts.undone, { field: last.field.label }));
}

function changed() {
  keepDraft(task, {
    values: typed(),
    places: Object.fromEntries(fields.filter((one) => one.place).map((one) => [one.name, one.place])),
  });
  complain("");
  checkSoon();
}

/** Rows of a table: added, removed, split. */
function changeRows(field, action, from) {
  if (from.readOnly || !from.isConnected) return;
  if (field !== current) enter(field);
  remember(field);
  if (!field.do(action, from)) return;
  remember(field);
  changed();
}

// --- checking --------------------------------------------------------------------------------------------

let timer = null;
let round = 0;

function checkSoon() {
  clearTimeout(timer);
  timer = setTimeout(() => check().catch(() => {}), CHECK_MS);
}

/** What is typed; of fields left as they were the server knows more exactly what was read. */
const typed = () =>
  Object.fromEntries(fields.filter((one) => one.isChanged).map((one) => [one.name, one.typed]));

async function check() {
  const mine = ++round;
  const { status, body } = await post(`${base}/check?lang=${language}`, { operator, values: typed() });
  if (status !== 200) return isExplained(status) ? { isRefused: true } : null;
  if (mine === round) showFindings(body);
  return body;
}

function showFindings({ problems, doubts, values, hints, sums }) {
  for (const field of fields) {
    const name = field.name;
    if (isTable(field)) showTable(field, problems, sums);
    else if (problems[name] && (field.isChanged || field !== current)) field.say(problems[name], "problem");
    else if (doubts[name]) field.say(doubts[name], "doubt");
    else if (field.isChanged && values[name]) field.say(readAs(field, values[name]), "reading");
    else field.say("", "");
  }
  const list = document.getElementById("hints");
  const items = hints.map((hint) => Object.assign(document.createElement("li"), { textContent: hint }));
  if (list.textContent !== hints.join("")) list.replaceChildren(...items);
}

function showTable(field, problems, sums) {
  const own = Object.entries(problems).filter(([key]) => key === field.name || key.startsWith(`${field.name}.`));
  field.say(own[0]?.[1] ?? "", own.length ? "problem" : "", Object.fromEntries(own));
  field.showSums(sums?.[field.name]);
}

/** How an amount or a date was understood, written out. */
function readAs(field, value) {
  if (field.type === "string") return "";
  const shown =
    field.type === "date"
      ? new Date(`${value}T12:00:00`).toLocaleDateString(language, { dateStyle: "long" })
      : Number(value).toLocaleString(language, { minimumFractionDigits: 2, maximumFractionDigits: 6, useGrouping: "always" });
  return fill(texts.reads_as, { value: shown });
}

// --- sending ---------------------------------------------------------------------------------------------

/** What the person settled: the doubtful fields and those they changed, as answers are written. */
function settled(values) {
  const data = {};
  for (const field of fields) {
    if (field.isChanged) data[field.name] = values[field.name] ?? null;
    else if (field.isDoubtful) data[field.name] = field.exact;
  }
  return data;
}

async function send() {
  if (current) remember(current);
  const found = await check().catch(() => null);
  if (found?.isRefused) return; // the page says why
  if (!found) return complain(texts.not_sent);
  if (Object.keys(found.problems).length) return pointAt(found.problems);
  const where = Object.fromEntries(fields.filter((one) => one.place).map((one) => [one.name, one.place]));
  await submit({ extracted_data: settled(found.values), where }, pointAt);
}

function pointAt(problems) {
  complain(texts.some_problems);
  const concerned = (field) => Object.keys(problems).some((key) => key.split(".")[0] === field.name);
  for (const field of fields.filter(concerned)) {
    if (isTable(field)) showTable(field, problems);
    else field.say(problems[field.name], "problem");
  }
  const first = fields.find(concerned);
  if (!first) return;
  goTo(first);
  if (isTable(first)) first.focusProblem(problems);
}

// --- another type ----------------------------------------------------------------------------------------

const typeDialog = document.getElementById("type-dialog");

function askType() {
  if (!typeDialog || submitButton.disabled) return;
  typeDialog.showModal();
  typeDialog.querySelector("input").focus();
}

typeDialog?.addEventListener("keydown", (event) => {
  const choices = [...typeDialog.querySelectorAll("input")];
  const choice = /^[1-9]$/.test(event.key) ? choices[Number(event.key) - 1] : null;
  if (choice) {
    choice.checked = true;
    choice.focus();
  }
});
typeDialog?.addEventListener("submit", (event) => {
  const chosen = typeDialog.querySelector("input:checked");
  if (event.submitter?.value === "send" && chosen) submit({ doc_type: chosen.value });
});
document.getElementById("wrong-type")?.addEventListener("click", askType);

// --- events ----------------------------------------------------------------------------------------------

const isEntry = (field, target) => field && target.tagName === "INPUT";

form.addEventListener("focusin", (event) => {
  const field = fieldOf(event.target);
  if (!isEntry(field, event.target)) return;
  const isOther = field !== current;
  if (isTable(field)) {
    if (!isOther && field.input === event.target) return;
    field.input = event.target;
  }
  if (isOther) enter(field);
  else if (isTable(field)) {
    remember(field);
    show(field);
  }
});
form.addEventListener("input", (event) => {
  const field = fieldOf(event.target);
  if (!field) return;
  field.place = null; // what is typed over was not pointed at
  field.redraw();
  changed();
});
form.addEventListener("change", (event) => {
  const field = fieldOf(event.target);
  if (field && field === current) remember(field);
});
form.addEventListener("click", (event) => {
  const field = fieldOf(event.target);
  const action = event.target.closest("[data-row-action]")?.dataset.rowAction;
  if (field && action) return changeRows(field, action, event.target.closest("button"));
  if (!event.target.closest(".revert") || !field || field.input?.readOnly) return;
  if (field !== current) enter(field);
  remember(field);
  field.revert();
  remember(field);
  changed();
  goTo(field);
});
form.addEventListener("keydown", (event) => {
  const field = fieldOf(event.target);
  if (!isEntry(field, event.target)) return;
  const action = isTable(field) && event.altKey && { ArrowDown: "add", Enter: "split", Delete: "remove", Backspace: "remove" }[event.key];
  const step = isTable(field) && !event.altKey && { ArrowUp: -1, ArrowDown: 1 }[event.key];
  if (action) changeRows(field, action, event.target);
  else if (step) field.move(event.target, step);
  else if (event.key === "Enter" && !event.ctrlKey) {
    remember(field);
    next();
  } else if (event.key === "Escape") {
    remember(field);
    document.getElementById("panel").focus();
  } else return;
  event.preventDefault();
});
form.addEventListener("submit", (event) => {
  event.preventDefault();
  send();
});
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey && event.key === "z" && fieldOf(event.target) === undefined) {
    event.preventDefault();
    undo();
  }
});
onKeys({
  u: undo,
  w: askType,
  Escape: (event) => current && event.target.closest(".viewer-part") && goTo(current), // back from the page
  Enter: (event) => {
    const own = event.target.closest("button, a, summary");
    if (own) own.click();
    else goTo(current ?? doubtful[0] ?? fields[0]);
  },
});

// --- beginning -------------------------------------------------------------------------------------------

/** What was typed before a reload; else what the person had said before taking it back. */
const draft = keptDraft(task);
for (const field of draft ? [] : fields) {
  if (isTable(field) && earlier?.extracted_data && field.name in earlier.extracted_data) field.set(earlier.extracted_data[field.name]);
  else if (field.root.dataset.said !== undefined) field.set(field.root.dataset.said);
}
for (const [name, value] of Object.entries(draft?.values ?? {})) {
  byName.get(name)?.set(value, draft.places?.[name] ?? null);
}
if (Object.keys(draft?.values ?? {}).length) tell(texts.kept_draft);
const begun = fieldOf(document.activeElement);
if (isEntry(begun, document.activeElement)) {
  if (isTable(begun)) begun.input = document.activeElement;
  enter(begun);
  if (!begun.isChanged) document.activeElement.select(); // else somebody was faster than this script
} else if (doubtful.length) goTo(doubtful[0]);
else submitButton.focus();
check().catch(() => {});
ready();
