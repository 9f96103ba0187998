// The fields of a document beside its pages: doubtful ones asked one after the other.

import { keepDraft, keptDraft } from "/static/drafts.js";
import { get, post } from "/static/http.js";
import { fill } from "/static/live.js";
import { complain, isExplained, language, onKeys, operator, ready, submit, task, tell, texts } from "/static/task.js";
import { Viewer, withTools } from "/static/documents/viewer.js";

const CHECK_MS = 250;
const form = document.getElementById("answer");
const submitButton = document.getElementById("submit");

/** A field of the form: its input, what was read, and where. */
class Field {
  constructor(root) {
    this.root = root;
    this.name = root.dataset.field;
    this.label = root.dataset.label;
    this.type = root.dataset.type;
    this.isDoubtful = root.dataset.doubtful === "true";
    this.input = root.querySelector("input");
    this.read = this.input.defaultValue;
    const box = root.dataset.box ? root.dataset.box.split(",").map(Number) : null;
    this.found = root.dataset.page === "" ? null : { page: Number(root.dataset.page), box };
    this.place = null; // where a person pointed
  }

  get isChanged() {
    return this.input.value.trim() !== this.read.trim();
  }

  get where() {
    return this.place ?? this.found;
  }

  set(value, place = null) {
    this.input.value = value;
    this.place = place;
    this.redraw();
  }

  redraw() {
    this.root.classList.toggle("changed", this.isChanged);
    this.root.querySelector(".revert").hidden = !this.isChanged;
  }

  say(text, kind) {
    const line = this.root.querySelector(".say");
    if (line.textContent !== text) line.textContent = text;
    line.className = `say ${kind}`;
    this.input.setAttribute("aria-invalid", String(kind === "problem"));
  }
}

const fields = [...form.querySelectorAll(".field")].map((root) => new Field(root));
const byName = new Map(fields.map((field) => [field.name, field]));
const doubtful = fields.filter((field) => field.isDoubtful);
const fieldOf = (element) => byName.get(element.closest?.(".field")?.dataset.field);
let current = null;
let before = null; // the current field's text when it was entered
const done = []; // what can be undone: {field, value, place}

const viewer = new Viewer(document.getElementById("viewer"), {
  onWord: takeWord,
  wordsOf: async (page) => {
    const answer = await get(`/tasks/${task}/pages/${page}/words?operator=${encodeURIComponent(operator)}`);
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
  before = { value: field.input.value, place: field.place };
  viewer.mark(field.where?.page, field.where?.box);
}

function remember(field) {
  if (before && before.value !== field.input.value) done.push({ field, ...before });
  before = { value: field.input.value, place: field.place };
}

function goTo(field) {
  const closed = field.root.closest("details:not([open])");
  if (closed) closed.open = true;
  field.input.focus();
  field.input.select();
}

function next() {
  const place = doubtful.indexOf(current);
  const following = doubtful[place + 1];
  if (following) goTo(following);
  else submitButton.focus();
}

// --- changing --------------------------------------------------------------------------------------------

function takeWord(word, isMore) {
  if (!current || current.input.readOnly) return; // a lost task is only read
  remember(current);
  const joined = isMore && current.input.value && current.place?.page === word.page;
  const value = joined ? `${current.input.value} ${word.text}` : word.text;
  const box = joined && current.place.box ? around(current.place.box, word.box) : word.box;
  change(current, value, { page: word.page, box });
  goToEnd(current.input);
  tell(fill(texts.filled, { field: current.label, value }));
}

function goToEnd(input) {
  input.focus();
  input.setSelectionRange(input.value.length, input.value.length);
}

const around = (a, b) => [
  Math.min(a[0], b[0]), Math.min(a[1], b[1]), Math.max(a[2], b[2]), Math.max(a[3], b[3]),
];

function change(field, value, place = null) {
  if (field === current && before && before.value !== value) done.push({ field, ...before });
  field.set(value, place);
  if (field === current) {
    before = { value, place };
    viewer.mark(field.where?.page, field.where?.box);
  }
  changed();
}

function undo() {
  if (current?.input.readOnly) return;
  if (current) remember(current);
  const last = done.pop();
  if (!last) return tell(texts.nothing_to_undo);
  last.field.set(last.value, last.place);
  before = last.field === current ? { value: last.value, place: last.place } : before;
  viewer.mark(last.field.where?.page, last.field.where?.box);
  changed();
  tell(fill(texts.undone, { field: last.field.label }));
}

function changed() {
  keepDraft(task, {
    values: Object.fromEntries(fields.filter((one) => one.isChanged).map((one) => [one.name, one.input.value])),
    places: Object.fromEntries(fields.filter((one) => one.place).map((one) => [one.name, one.place])),
  });
  complain("");
  checkSoon();
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
  Object.fromEntries(fields.filter((one) => one.isChanged).map((one) => [one.name, one.input.value]));

async function check() {
  const mine = ++round;
  const { status, body } = await post(`/tasks/${task}/check?lang=${language}`, { operator, values: typed() });
  if (status !== 200) return isExplained(status) ? { isRefused: true } : null;
  if (mine === round) showFindings(body);
  return body;
}

function showFindings({ problems, doubts, values, hints }) {
  for (const field of fields) {
    const name = field.name;
    if (problems[name] && (field.isChanged || field !== current)) field.say(problems[name], "problem");
    else if (doubts[name]) field.say(doubts[name], "doubt");
    else if (field.isChanged && values[name]) field.say(readAs(field, values[name]), "reading");
    else field.say("", "");
  }
  const list = document.getElementById("hints");
  const items = hints.map((hint) => Object.assign(document.createElement("li"), { textContent: hint }));
  if (list.textContent !== hints.join("")) list.replaceChildren(...items);
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
    else if (field.isDoubtful) data[field.name] = field.root.dataset.value || null;
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
  for (const [name, problem] of Object.entries(problems)) byName.get(name)?.say(problem, "problem");
  const first = fields.find((field) => problems[field.name]);
  if (first) goTo(first);
}

// --- events ----------------------------------------------------------------------------------------------

form.addEventListener("focusin", (event) => {
  const field = fieldOf(event.target);
  if (field && event.target === field.input && field !== current) enter(field);
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
  if (field) remember(field);
});
form.addEventListener("click", (event) => {
  const field = event.target.closest(".revert") && fieldOf(event.target);
  if (!field || field.input.readOnly) return;
  goTo(field);
  change(field, field.read);
});
form.addEventListener("keydown", (event) => {
  const field = fieldOf(event.target);
  if (!field || event.target !== field.input) return;
  if (event.key === "Enter" && !event.ctrlKey) {
    event.preventDefault();
    remember(field);
    next();
  } else if (event.key === "Escape") {
    event.preventDefault();
    remember(field);
    document.getElementById("panel").focus();
  }
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
  Escape: (event) => current && event.target.closest(".viewer-part") && goTo(current), // back from the page
  Enter: (event) => {
    const own = event.target.closest("button, a, summary");
    if (own) own.click();
    else goTo(current ?? doubtful[0] ?? fields[0]);
  },
});

// --- beginning -------------------------------------------------------------------------------------------

const draft = keptDraft(task);
for (const [name, value] of Object.entries(draft?.values ?? {})) {
  byName.get(name)?.set(value, draft.places?.[name] ?? null);
}
if (Object.keys(draft?.values ?? {}).length) tell(texts.kept_draft);
const begun = fieldOf(document.activeElement);
if (begun) {
  enter(begun);
  if (!begun.isChanged) begun.input.select(); // else somebody was faster than this script
} else if (doubtful.length) goTo(doubtful[0]);
else submitButton.focus();
check().catch(() => {});
ready();
