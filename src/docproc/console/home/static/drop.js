// The drop page: sends files, follows requests, shows answers beside the pages they came from.

const texts = JSON.parse(document.body.dataset.texts);
const RUNNING_MS = 300;
const HIDDEN_MS = 5000;
const LIST_MS = 1000;
const IDLE_LIST_MS = 5000;
const SHOWN = 30;
const OVER = new Set(["completed", "failed", "sla_breached"]);
const STEPS = ["received", "splitting", "processing", "extracting", "consolidating"];

const byId = (id) => document.getElementById(id);
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
const say = (name, values = {}) => texts[name].replace(/\{(\w+)\}/g, (_, key) => values[key]);

let current = null; // the id of the request on show
let detail = null; // what we know of it
let recent = []; // the list as the server gave it
let uploading = []; // not yet at the server
let picked = null; // {document, field} on show in the viewer
let page = null; // the page on show in the viewer
let changes = new AbortController(); // wakes the followers

/** An element with properties and children; text is always text, never markup. */
function element(name, properties = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (key in made) made[key] = value;
    else made.setAttribute(key, value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

const shownName = (name) => texts.names[name] ?? name.replaceAll("_", " ");
const shownNumber = (number) =>
  number.toLocaleString(document.documentElement.lang, { maximumFractionDigits: 1 });
const isWide = () => matchMedia("(min-width: 761px)").matches;
const shownType = (type) => texts.types[type] ?? (type ?? "?").replaceAll("_", " ");

// --- talking to the server -------------------------------------------------------------------------

async function call(path, options) {
  const answer = await fetch(path, { ...options, headers: { Accept: "application/json" } });
  const body = await answer.json();
  if (!answer.ok) throw new Refused(body.error);
  return body;
}

class Refused extends Error {
  constructor(error) {
    super([error?.message, error?.remedy].filter(Boolean).join(". "));
  }
}

function send(file) {
  const upload = { name: file.name, done: 0, error: null };
  uploading.unshift(upload);
  drawList();
  return new Promise((finished) => {
    const form = new FormData();
    // Before the file, so that a wrong one is refused before the file has travelled.
    if (byId("workflow").value) form.append("workflow", byId("workflow").value);
    form.append("channel", "web");
    form.append("file", file);
    const request = new XMLHttpRequest(); // fetch tells no progress of uploads
    request.upload.onprogress = (event) => {
      upload.done = event.total ? event.loaded / event.total : 0;
      drawList();
    };
    request.onerror = () => ended({ message: texts.failed_to_send });
    request.onload = () => {
      const answer = parsed(request.responseText);
      if (request.status === 200) ended(null, answer.request_id);
      else ended(answer?.error ?? { message: `${texts.failed_to_send} (${request.status})` });
    };
    const ended = (error, id) => {
      if (error) upload.error = new Refused(error).message;
      else uploading = uploading.filter((one) => one !== upload);
      drawList();
      finished(id);
    };
    request.open("POST", "/process");
    request.setRequestHeader("Accept", "application/json");
    request.send(form);
  });
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

async function sendAll(files) {
  let first = true;
  for (const file of files) {
    const id = await send(file);
    if (id && first) {
      choose(id);
      first = false;
    }
    await refreshList().catch(() => {});
  }
}

// --- following -------------------------------------------------------------------------------------

const pause = (ms) => {
  const wake = changes.signal;
  return Promise.race([
    sleep(document.hidden ? HIDDEN_MS : ms),
    new Promise((done) => wake.addEventListener("abort", done, { once: true })),
  ]);
};

function wakeUp() {
  changes.abort();
  changes = new AbortController();
}

async function followList() {
  for (;;) {
    await attempt(refreshList);
    await pause(recent.some((one) => !OVER.has(one.status)) ? LIST_MS : IDLE_LIST_MS);
  }
}

async function followCurrent() {
  for (;;) {
    const id = current;
    if (id && (detail?.request_id !== id || !isSettled(detail))) await attempt(() => refreshCurrent(id));
    await pause(current && !(detail && isSettled(detail)) ? RUNNING_MS : IDLE_LIST_MS);
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

async function refreshList() {
  const found = await call(`/requests?limit=${SHOWN}`);
  recent = found.requests;
  drawList();
}

async function refreshCurrent(id) {
  const found = await call(`/requests/${id}`);
  if (id !== current) return;
  const isNews = JSON.stringify(found) !== JSON.stringify(detail);
  detail = found;
  if (isNews) drawDetail();
}

function showRefusal(error) {
  byId("answer").replaceChildren(element("p", { className: "alert", textContent: error.message }));
  current = detail = null;
  byId("viewer").hidden = true;
}

function choose(id) {
  if (id !== current) {
    detail = picked = page = null;
    byId("viewer").hidden = true;
  }
  current = id;
  if (location.hash.slice(1) !== (id ?? "")) history.replaceState(null, "", `#${id}`);
  drawList();
  wakeUp();
}

// --- the list --------------------------------------------------------------------------------------

function drawList() {
  const list = byId("requests");
  const focused = document.activeElement?.dataset?.id;
  const scrolled = list.scrollTop;
  list.replaceChildren(...uploading.map(drawUpload), ...recent.map(drawRequest));
  list.scrollTop = scrolled;
  if (focused) list.querySelector(`[data-id="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
  byId("none-yet").hidden = recent.length + uploading.length > 0;
}

function drawUpload(upload) {
  const state = upload.error ?? `${texts.sending} ${Math.round(upload.done * 100)} %`;
  return element(
    "li",
    {},
    element(
      "div",
      { className: "request" },
      element("span", { className: "name", textContent: upload.name }),
      element("span", { className: upload.error ? "state-failed" : "line", textContent: state }),
      upload.error ? null : element("progress", { max: 1, value: upload.done }),
    ),
  );
}

function drawRequest(one) {
  const name = one.file_names.join(", ") || one.workflow_name;
  const place = Math.max(0, STEPS.indexOf(one.status === "routing" ? "received" : one.status));
  const button = element(
    "button",
    { type: "button", className: "request", title: name, onclick: () => choose(one.request_id) },
    element("span", { className: "name", textContent: name }),
    element(
      "span",
      { className: "line" },
      element("span", { className: `state-${one.status}`, textContent: texts.statuses[one.status] }),
      element("span", { textContent: shortTime(one.created_at) }),
    ),
    OVER.has(one.status) ? null : element("progress", { max: STEPS.length, value: place + 0.5 }),
  );
  button.dataset.id = one.request_id;
  if (one.request_id === current) button.setAttribute("aria-current", "true");
  return element("li", {}, button);
}

function shortTime(text) {
  const time = new Date(text);
  const isToday = time.toDateString() === new Date().toDateString();
  const shape = isToday ? { hour: "2-digit", minute: "2-digit" } : { day: "numeric", month: "short" };
  return time.toLocaleString(document.documentElement.lang, shape);
}

// --- one request -----------------------------------------------------------------------------------

function drawDetail() {
  const focused = document.activeElement?.dataset?.key;
  const answer = byId("answer");
  answer.replaceChildren(drawHead(), drawActions(), ...drawSteps(), ...drawTrouble(), ...drawDocuments());
  if (focused) answer.querySelector(`[data-key="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
  byId("news").textContent = `${detail.files[0]?.name ?? ""}: ${texts.statuses[detail.status]}`;
  if (!picked && page === null && isWide()) pickFirst();
  else drawViewer();
}

function drawHead() {
  const names = detail.files.filter((file) => !file.skipped).map((file) => file.name);
  const seconds = detail.completed_at
    ? shownNumber((new Date(detail.completed_at) - new Date(detail.created_at)) / 1000)
    : null;
  const facts = [
    `${texts.received_at} ${new Date(detail.created_at).toLocaleString(document.documentElement.lang)}`,
    detail.workflow_name,
    detail.page_count ? `${detail.page_count} ${texts.pages}` : null,
    detail.open_tasks ? say("open_tasks", { number: detail.open_tasks }) : null,
  ];
  const state = texts.statuses[detail.status] + (seconds ? ` ${say("took", { seconds })}` : "");
  return element(
    "div",
    { className: "head" },
    element("h3", { textContent: names.join(", ") || detail.workflow_name }),
    element("span", { className: `state state-${detail.status}`, textContent: state }),
    element("span", { className: "facts", textContent: facts.filter(Boolean).join(" · ") }),
  );
}

function drawActions() {
  const actions = [];
  if (detail.result) {
    for (const format of ["json", "csv", "xlsx"]) {
      const href = `/requests/${detail.request_id}/result?format=${format}`;
      const label = format.toUpperCase();
      const title = `${texts.download} ${label}`;
      actions.push(element("a", { href, download: "", title, "aria-label": title, textContent: label }));
    }
  }
  if (!OVER.has(detail.status)) actions.push(button(texts.cancel, "cancel", () => post("cancel")));
  else actions.push(button(texts.again, "", () => post("reprocess")));
  return element("div", { className: "actions" }, ...actions);
}

const button = (text, className, onclick) =>
  element("button", { type: "button", className, textContent: text, onclick });

async function post(action) {
  try {
    const done = await call(`/requests/${detail.request_id}/${action}`, { method: "POST" });
    await refreshList();
    choose(done.request_id);
  } catch (error) {
    byId("answer").append(element("p", { className: "alert", role: "alert", textContent: error.message }));
  }
}

function drawSteps() {
  if (OVER.has(detail.status)) return [];
  const at = Math.max(0, STEPS.indexOf(detail.status));
  const progress = detail.progress;
  const counts = {
    splitting: progress.pages_total ?? "",
    processing: progress.pages_total ? `${progress.pages_read} / ${progress.pages_total}` : "",
    extracting: progress.documents_total ? `${progress.documents_done} / ${progress.documents_total}` : "",
  };
  const items = STEPS.map((step, index) =>
    element(
      "li",
      { className: index < at ? "past" : index === at ? "now" : "" },
      texts.steps[step],
      element("span", { className: "count", textContent: counts[step] ?? "" }),
    ),
  );
  return [element("ol", { className: "steps" }, ...items)];
}

function drawTrouble() {
  const found = [];
  if (detail.error) found.push(alertOf(detail.error.message ?? JSON.stringify(detail.error)));
  if (detail.result?.partial) found.push(element("p", { className: "note", textContent: texts.partial }));
  for (const file of detail.files) {
    if (file.problem && !file.skipped && !(detail.error?.message ?? "").includes(file.problem)) {
      found.push(alertOf(`${file.name}: ${file.problem}`));
    }
  }
  return found;
}

const alertOf = (text) => element("p", { className: "alert", textContent: text });

// --- documents and their fields --------------------------------------------------------------------

function drawDocuments() {
  return (detail.result?.documents ?? []).map((one, index) => {
    const pages = one.page_indices ?? [];
    const numbers = pages.length > 1 ? `${pages[0] + 1}–${pages.at(-1) + 1}` : `${(pages[0] ?? 0) + 1}`;
    const names = [...new Set([...Object.keys(one.extracted_data ?? {}), ...Object.keys(one.fields ?? {})])];
    const where = button(say("document_pages", { pages: numbers }), "where", () => showPage(pages[0] ?? 0));
    return element(
      "article",
      { className: "document" },
      element("header", {}, element("h4", { textContent: shownType(one.doc_type) }), where),
      names.length
        ? element("table", {}, tableHead(), element("tbody", {}, ...names.map((name) => drawField(one, index, name))))
        : element("p", { className: "quiet", textContent: texts.no_fields }),
    );
  });
}

const tableHead = () =>
  element(
    "thead",
    {},
    element("tr", {}, ...["field", "value", "confidence"].map((name) => element("th", { scope: "col", textContent: texts[name] }))),
  );

function drawField(one, index, name) {
  const found = one.fields?.[name];
  const isDoubtful = (one.needs_review ?? []).includes(name);
  const value = found?.value ?? one.extracted_data?.[name];
  const isPicked = picked?.index === index && picked?.name === name;
  const classes = [isDoubtful && "doubtful", found && "pick"].filter(Boolean).join(" ");
  const row = element(
    "tr",
    { className: classes },
    element("td", { className: "name" }, fieldLabel(found, index, name)),
    element(
      "td",
      { className: `value${value === null || value === undefined ? " quiet" : ""}` },
      value === null || value === undefined ? texts.not_found : shownValue(value),
      isDoubtful ? element("span", { className: "tag", title: texts.check_title, textContent: texts.check }) : null,
      found?.reason ? element("small", { className: "reason", textContent: found.reason }) : null,
    ),
    element("td", { className: "sure" }, ...meter(found?.confidence)),
  );
  row.setAttribute("aria-selected", String(isPicked));
  if (found) row.onclick = () => pick(index, name);
  return row;
}

// A table as a line per row.
function shownValue(value) {
  if (!Array.isArray(value)) return typeof value === "object" ? JSON.stringify(value) : String(value);
  const rows = value.map((row) => Object.values(row).filter((cell) => cell !== null).join(" · "));
  return element("span", { className: "rows" }, ...rows.flatMap((row) => [row, element("br")]));
}

function fieldLabel(found, index, name) {
  if (!found) return element("span", { className: "label", textContent: shownName(name) });
  const label = element("button", { type: "button", textContent: shownName(name), title: say("show", { field: shownName(name) }) });
  label.dataset.key = `${index}/${name}`;
  return label;
}

function meter(confidence) {
  if (confidence === null || confidence === undefined) return [];
  const bar = element("i");
  bar.style.width = `${Math.round(confidence * 100)}%`;
  return [element("span", { className: "meter", ariaHidden: "true" }, bar), `${Math.round(confidence * 100)} %`];
}

function pick(index, name) {
  picked = { index, name };
  page = detail.result.documents[index].fields[name].page;
  drawDetail();
  // On a phone the page covers the lower half: the field goes above it.
  if (!isWide()) document.querySelector('tr[aria-selected="true"]').scrollIntoView({ block: "start" });
}

/** The first field with a place, so that the page is there without a click. */
function pickFirst() {
  for (const [index, one] of (detail.result?.documents ?? []).entries()) {
    for (const [name, found] of Object.entries(one.fields ?? {})) {
      if (found?.box) return pick(index, name);
    }
  }
  if (detail.result && detail.page_count) showPage(0);
}

// --- the page itself -------------------------------------------------------------------------------

function showPage(number) {
  picked = null;
  page = number;
  drawDetail();
}

function drawViewer() {
  const viewer = byId("viewer");
  viewer.hidden = page === null;
  if (page === null) return;
  const total = detail.page_count ?? 1;
  byId("page-number").textContent = say("page_of", { number: page + 1, total });
  byId("previous").disabled = page <= 0;
  byId("following").disabled = page >= total - 1;
  const picture = byId("picture");
  const width = Math.min(2000, Math.ceil((viewer.clientWidth * devicePixelRatio) / 200) * 200) || 1000;
  const source = `/requests/${detail.request_id}/pages/${page}.png?width=${width}`;
  picture.alt = say("page_picture", { number: page + 1 });
  if (picture.getAttribute("src") !== source) {
    picture.hidden = false;
    byId("no-picture").hidden = true;
    picture.src = source;
  }
  drawBox();
}

function drawBox() {
  const box = byId("box");
  const found = picked && detail.result.documents[picked.index]?.fields?.[picked.name];
  const picture = byId("picture");
  const isDrawn = !picture.hidden && picture.complete && picture.naturalWidth > 0;
  box.hidden = !found?.box || found.page !== page || !isDrawn;
  if (box.hidden) return;
  const [left, top, right, bottom] = found.box;
  Object.assign(box.style, {
    left: `${left * 100}%`,
    top: `${top * 100}%`,
    width: `${(right - left) * 100}%`,
    height: `${(bottom - top) * 100}%`,
  });
  box.title = say("evidence", { field: shownName(picked.name) });
  bringIntoView(box);
}

/** Only within the sheet: the page around it must not jump. */
function bringIntoView(box) {
  const sheet = byId("sheet");
  const middle = box.offsetTop + box.offsetHeight / 2;
  if (sheet.scrollWidth > sheet.clientWidth) sheet.scrollLeft = box.offsetLeft - sheet.clientWidth / 3;
  if (middle < sheet.scrollTop + 30 || middle > sheet.scrollTop + sheet.clientHeight - 30) {
    sheet.scrollTop = middle - sheet.clientHeight / 2;
  }
}

// --- what people do --------------------------------------------------------------------------------

byId("files").addEventListener("change", (event) => {
  const files = [...event.target.files];
  event.target.value = ""; // the same file may be chosen again
  sendAll(files);
});

for (const name of ["dragenter", "dragover"]) {
  document.addEventListener(name, (event) => {
    event.preventDefault();
    byId("drop").classList.add("over");
  });
}
document.addEventListener("dragleave", (event) => {
  if (event.relatedTarget === null) byId("drop").classList.remove("over");
});
document.addEventListener("drop", (event) => {
  event.preventDefault();
  byId("drop").classList.remove("over");
  sendAll([...event.dataTransfer.files]);
});

byId("previous").addEventListener("click", () => showPage(page - 1));
byId("following").addEventListener("click", () => showPage(page + 1));
byId("close").addEventListener("click", () => {
  picked = page = null;
  drawDetail();
});
byId("picture").addEventListener("error", () => {
  byId("picture").hidden = true;
  byId("no-picture").hidden = false;
  byId("box").hidden = true;
});
byId("picture").addEventListener("load", drawBox);
addEventListener("hashchange", () => choose(location.hash.slice(1) || null));
document.addEventListener("visibilitychange", wakeUp);
for (const link of document.querySelectorAll("nav a")) {
  link.addEventListener("click", () => (link.href = link.href.split("#")[0] + location.hash));
}

if (/^#[0-9a-f-]{36}$/.test(location.hash)) current = location.hash.slice(1);
followList();
followCurrent();
