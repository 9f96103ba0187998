// What all task pages share: sending and going on, handing on, signs of life, dialogs, keys.

import { forgetDraft } from "/static/drafts.js";
import { post } from "/static/http.js";
import { isTyping, openNext, queueAddress, runClocks, taskAddress, whilePresent } from "/static/live.js";

const BEAT_MS = 10_000;
const byId = (id) => document.getElementById(id);
const work = byId("work");

export const task = work.dataset.task;
/** Where this page's own addresses begin: a task's, or a document's that a supervisor corrects. */
export const base = work.dataset.base;
/** What the person had said before taking it back; null for a new question. */
export const earlier = JSON.parse(work.dataset.earlier ?? "null");
export const operator = work.dataset.operator;
export const texts = JSON.parse(work.dataset.texts);
export const language = document.documentElement.lang;

/** For whoever waits until the page can be worked with. */
export const ready = () => (work.dataset.ready = "true");

let isLost = false;
let isBusy = false;
const keys = new Map();

/** Say something quietly; a screen reader says it when it has time. */
export function tell(text) {
  byId("told").textContent = text;
}

export function complain(text) {
  byId("trouble").textContent = text;
}

// --- sending -----------------------------------------------------------------------------------------

/** Send the answer, then open the next task; `onProblems` gets what the server refuses, by field. */
export async function submit(answer, onProblems = () => {}) {
  if (await act("submit", answer, onProblems)) await goOn();
}

/** One action at a time; gives whether it was done. */
export async function act(action, body, onProblems = () => {}) {
  if (isLost || isBusy) return false;
  setBusy(true);
  tell(texts.sending);
  complain("");
  try {
    const { status, body: said } = await post(`${base}/${action}`, { ...body, operator });
    if (status === 200) return true;
    tell("");
    if (!isExplained(status)) refuse(said?.error, onProblems);
  } catch {
    tell("");
    complain(texts.not_sent);
  }
  setBusy(false);
  return false;
}

/** Say why nothing can be sent any more: signed out, or somebody else has it. False for other refusals. */
export function isExplained(status) {
  if (status === 401) complain(texts.signed_out);
  else if ([403, 404, 409].includes(status)) lose();
  else return false;
  return true;
}

function refuse(error, onProblems) {
  const details = error?.details ?? [];
  complain(details.length ? texts.some_problems : texts.not_sent);
  onProblems(Object.fromEntries(details.map(({ where, problem }) => [where, problem])));
}

function setBusy(busy) {
  isBusy = busy;
  work.setAttribute("aria-busy", String(busy));
  byId("submit").disabled = busy || isLost;
}

async function takeBack(button) {
  if (isBusy) return;
  const answer = await post(`/tasks/${button.dataset.undo}/undo`, { operator }).catch(() => null);
  if (answer?.status === 200) return location.assign(taskAddress(button.dataset.undo, operator));
  complain(answer?.status === 409 ? texts.undo_too_late : texts.not_sent);
  if (answer?.status === 409) button.hidden = true;
}

/** The task is done with: on to the next, or back to the list; or where the page says. */
async function goOn() {
  forgetDraft(task);
  if (work.dataset.back) return location.assign(work.dataset.back);
  tell(texts.sent);
  try {
    if (!(await openNext(operator))) location.assign(queueAddress(operator, "&done=1"));
  } catch {
    location.assign(queueAddress(operator)); // the list goes on trying
  }
}

/** Somebody else has it: nothing typed is lost, nothing more is sent. */
function lose() {
  if (isLost) return;
  isLost = true;
  setBusy(false);
  byId("lost-text").textContent = texts.lost;
  byId("lost").hidden = false;
  work.classList.add("is-lost");
  document.querySelectorAll("[data-action]").forEach((button) => (button.disabled = true));
  document.querySelectorAll("[data-row-action]").forEach((button) => (button.disabled = true));
  document.querySelectorAll("#panel input").forEach((input) => {
    if (input.type === "radio") input.disabled = true;
    else input.readOnly = true; // to be read and copied
  });
}

// --- handing on ----------------------------------------------------------------------------------------

const TITLES = { skip: "skip_title", escalate: "escalate_title", "cannot-read": "cannot_read_title" };
let asking = null;

function askReason(action) {
  if (isLost) return;
  asking = action;
  byId("reason-title").textContent = texts[TITLES[action]];
  byId("reason").value = "";
  byId("reason-dialog").showModal();
  byId("reason").focus();
}

async function handOn(action, reason) {
  if (await act(action, { reason })) await goOn();
}

async function giveBack() {
  if (!(await act("release", {}))) return;
  forgetDraft(task);
  location.assign(queueAddress(operator));
}

byId("reason-form").addEventListener("submit", (event) => {
  if (event.submitter?.value === "send" || !event.submitter) handOn(asking, byId("reason").value.trim());
});
document.addEventListener("click", (event) => {
  if (event.target.closest("[data-close]")) event.target.closest("dialog").close();
  const action = event.target.closest("[data-action]")?.dataset.action;
  if (action === "release") giveBack();
  else if (action) askReason(action);
});
byId("undo")?.addEventListener("click", (event) => takeBack(event.currentTarget));
byId("help").addEventListener("click", () => byId("help-dialog").showModal());
byId("lost-next").addEventListener("click", goOn);

// --- keys ------------------------------------------------------------------------------------------------

/** Bind keys that count while nobody is typing and no dialog is open. */
export function onKeys(bindings) {
  for (const [key, job] of Object.entries(bindings)) keys.set(key, job);
}

onKeys({
  s: () => askReason("skip"),
  x: () => askReason("cannot-read"),
  e: () => askReason("escalate"),
  b: () => byId("undo") && takeBack(byId("undo")),
  "?": () => byId("help-dialog").showModal(),
});

document.addEventListener("keydown", (event) => {
  if (document.querySelector("dialog[open]")) return;
  if (event.ctrlKey && event.key === "Enter") {
    event.preventDefault();
    return byId("answer").requestSubmit();
  }
  if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
  const job = keys.get(event.key);
  if (!job) return;
  event.preventDefault();
  job(event);
});

// --- signs of life -----------------------------------------------------------------------------------------

async function beat() {
  const { status, body } = await post(work.dataset.beat, { operator });
  if (status === 200 && body && !body.holds && !isBusy) lose();
}

// Whoever corrects what is finished holds no task, and is not there for others.
if (work.dataset.beat) whilePresent(BEAT_MS, beat, () => !isLost && !isBusy);
runClocks(texts.overdue);
