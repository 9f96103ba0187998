// Following the list and the request on show, as often as it matters.

import { alertOf, byId } from "/static/documents/home/drop/elements.js";
import { call, Refused } from "/static/documents/home/drop/sending.js";
import { OVER, redraw, state } from "/static/documents/home/drop/state.js";

const RUNNING_MS = 300;
const HIDDEN_MS = 5000;
const LIST_MS = 1000;
const IDLE_LIST_MS = 5000;
const SHOWN = 30;

let changes = new AbortController(); // wakes the followers

const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

function pause(ms) {
  const wake = changes.signal;
  return Promise.race([
    sleep(document.hidden ? HIDDEN_MS : ms),
    new Promise((done) => wake.addEventListener("abort", done, { once: true })),
  ]);
}

export function wakeUp() {
  changes.abort();
  changes = new AbortController();
}

export async function followList() {
  for (;;) {
    await attempt(refreshList);
    await pause(state.recent.some((one) => !OVER.has(one.status)) ? LIST_MS : IDLE_LIST_MS);
  }
}

export async function followCurrent() {
  for (;;) {
    const id = state.current;
    if (id && (state.detail?.request_id !== id || !isSettled(state.detail))) await attempt(() => refreshCurrent(id));
    await pause(state.current && !(state.detail && isSettled(state.detail)) ? RUNNING_MS : IDLE_LIST_MS);
  }
}

/** Over, and nothing more to come: a late or partial answer may still grow. */
const isSettled = (one) =>
  OVER.has(one.status) && (one.status !== "sla_breached" || (one.result && !one.result.partial));

async function attempt(job) {
  try {
    await job();
    byId("trouble").hidden = true;
  } catch (error) {
    if (error instanceof Refused) showRefusal(error);
    else byId("trouble").hidden = false;
  }
}

export async function refreshList() {
  const found = await call(`/requests?limit=${SHOWN}`);
  state.recent = found.requests;
  redraw("list");
}

async function refreshCurrent(id) {
  const found = await call(`/requests/${id}`);
  if (id !== state.current) return;
  const isNews = JSON.stringify(found) !== JSON.stringify(state.detail);
  state.detail = found;
  if (isNews) redraw("request");
}

function showRefusal(error) {
  byId("answer").replaceChildren(alertOf(error.message));
  state.current = state.detail = null;
  byId("viewer").hidden = true;
}

/** Put a request on show. */
export function choose(id) {
  if (id !== state.current) {
    state.detail = state.picked = state.page = null;
    byId("viewer").hidden = true;
  }
  state.current = id;
  if (location.hash.slice(1) !== (id ?? "")) history.replaceState(null, "", `#${id}`);
  redraw("list");
  wakeUp();
}
