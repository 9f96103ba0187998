// What every page of the station does by itself: clocks that run, and signs that a person is there.

import { post } from "/static/http.js";

const IDLE_MS = 5 * 60 * 1000;
let lastActive = Date.now();

for (const kind of ["keydown", "pointerdown", "pointermove", "wheel", "touchstart"]) {
  addEventListener(kind, () => (lastActive = Date.now()), { passive: true, capture: true });
}

/** A text with its {values} filled in. */
export const fill = (text, values = {}) => text.replace(/\{(\w+)\}/g, (_, key) => values[key] ?? "");

/** Whether keys belong to the element: letters are then no shortcuts. */
export function isTyping(target) {
  if (target.isContentEditable || target.tagName === "TEXTAREA" || target.tagName === "SELECT") return true;
  return target.tagName === "INPUT" && !["radio", "checkbox", "button"].includes(target.type);
}

/** Whether a person did something here lately. */
export const isActive = () => Date.now() - lastActive < IDLE_MS;

/** Call `beat` now and every so often while a person is here. */
export function whilePresent(ms, beat, isWanted = () => true) {
  const run = () => {
    if (isActive() && isWanted()) beat().catch(() => {}); // the next one tells
  };
  run();
  setInterval(run, ms);
  document.addEventListener("visibilitychange", () => document.hidden || run());
}

/** Ages and times left, shown short and kept right. */
export function runClocks(late) {
  const show = () => document.querySelectorAll("time[data-kind]").forEach((time) => showTime(time, late));
  show();
  setInterval(show, 1000);
  return show;
}

function showTime(time, late) {
  if (time.dataset.kind === "moment") return showMoment(time);
  const moment = Date.parse(time.dateTime);
  const ms = time.dataset.kind === "age" ? Date.now() - moment : moment - Date.now();
  const text = short(Math.abs(ms) / 1000);
  const shown = ms < 0 && time.dataset.kind === "left" ? fill(late, { time: text }) : text;
  if (time.textContent !== shown) time.textContent = shown;
  // Red is what is late; what soon will be stands out without it.
  time.classList.toggle("late", time.dataset.kind === "left" && ms < 0);
  time.classList.toggle("soon", time.dataset.kind === "left" && ms >= 0 && ms < 15 * 60 * 1000);
}

/** A moment by the clock of whoever looks; the day only where it is another one. */
function showMoment(time) {
  if (time.dataset.local) return;
  time.dataset.local = "true";
  const moment = new Date(time.dateTime);
  const today = moment.toDateString() === new Date().toDateString();
  const style = today && !time.dataset.full ? { timeStyle: "short" } : { dateStyle: "short", timeStyle: time.dataset.full ?? "short" };
  time.textContent = moment.toLocaleString(document.documentElement.lang, style);
  time.title = moment.toLocaleString(document.documentElement.lang, { dateStyle: "full", timeStyle: "long" });
}

function short(seconds) {
  const whole = Math.floor(seconds);
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min`;
  if (whole < 2 * 86400) return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`;
  return `${Math.floor(whole / 86400)} d`;
}

export const taskAddress = (id, operator) => `/tasks/${id}?operator=${encodeURIComponent(operator)}`;
export const queueAddress = (operator, more = "") => `/?operator=${encodeURIComponent(operator)}${more}`;

/** Take the most urgent task and open it; false when there is none. Throws when nobody can say. */
export async function openNext(operator) {
  const answer = await post("/next", { operator });
  if (answer.status === 204) return false;
  if (answer.status !== 200) throw new Error(answer.body?.error?.message ?? String(answer.status));
  location.assign(taskAddress(answer.body.task_id, operator));
  return true;
}
