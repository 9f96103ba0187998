// The list: files on their way, then the latest requests.

import { byId, element, language, shownStatus, texts } from "/static/documents/home/drop/elements.js";
import { choose } from "/static/documents/home/drop/following.js";
import { onDraw, OVER, state, STEPS } from "/static/documents/home/drop/state.js";

onDraw("list", () => {
  const list = byId("requests");
  const focused = document.activeElement?.dataset?.id;
  const scrolled = list.scrollTop;
  list.replaceChildren(...state.uploading.map(drawUpload), ...state.recent.map(drawRequest));
  list.scrollTop = scrolled;
  if (focused) list.querySelector(`[data-id="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
  byId("none-yet").hidden = state.recent.length + state.uploading.length > 0;
});

function drawUpload(upload) {
  const told = upload.error ?? `${texts.sending} ${Math.round(upload.done * 100)} %`;
  return element(
    "li",
    {},
    element(
      "div",
      { className: "request" },
      element("span", { className: "name", textContent: upload.name }),
      element("span", { className: upload.error ? "state-failed" : "line", textContent: told }),
      upload.error ? null : element("progress", { max: 1, value: upload.done }),
    ),
  );
}

function drawRequest(one) {
  const name = one.file_names.join(", ") || one.workflow_name;
  const place = Math.max(0, STEPS.indexOf(one.status === "routing" ? "received" : one.status));
  const row = element(
    "button",
    { type: "button", className: "request", title: name, onclick: () => choose(one.request_id) },
    element("span", { className: "name", textContent: name }),
    element(
      "span",
      { className: "line" },
      element("span", { className: `state-${one.status}`, textContent: shownStatus(one.status) }),
      element("span", { textContent: shortTime(one.created_at) }),
    ),
    OVER.has(one.status) ? null : element("progress", { max: STEPS.length, value: place + 0.5 }),
  );
  row.dataset.id = one.request_id;
  if (one.request_id === state.current) row.setAttribute("aria-current", "true");
  return element("li", {}, row);
}

function shortTime(text) {
  const time = new Date(text);
  const isToday = time.toDateString() === new Date().toDateString();
  const shape = isToday ? { hour: "2-digit", minute: "2-digit" } : { day: "numeric", month: "short" };
  return time.toLocaleString(language, shape);
}
