// The request on show: what became of it, what can be done with it, and what was found.

import { drawDocuments, pickFirst } from "/static/documents/home/drop/documents.js";
import { alertOf, button, byId, element, isWide, language, say, shownNumber, shownStatus, texts } from "/static/documents/home/drop/elements.js";
import { choose, refreshList } from "/static/documents/home/drop/following.js";
import { call } from "/static/documents/home/drop/sending.js";
import { onDraw, OVER, state, STEPS } from "/static/documents/home/drop/state.js";
import { drawViewer } from "/static/documents/home/drop/viewer.js";

onDraw("request", () => {
  const { detail } = state;
  const focused = document.activeElement?.dataset?.key;
  const answer = byId("answer");
  answer.replaceChildren(
    drawHead(detail), drawActions(detail), ...drawSteps(detail), ...drawTrouble(detail), ...drawDocuments(detail),
  );
  if (focused) answer.querySelector(`[data-key="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
  byId("news").textContent = `${detail.files[0]?.name ?? ""}: ${shownStatus(detail.status)}`;
  if (!state.picked && state.page === null && isWide()) pickFirst();
  else drawViewer();
});

function drawHead(detail) {
  const names = detail.files.filter((file) => !file.skipped).map((file) => file.name);
  const seconds = detail.completed_at
    ? shownNumber((new Date(detail.completed_at) - new Date(detail.created_at)) / 1000)
    : null;
  const facts = [
    say("received_at", { time: new Date(detail.created_at).toLocaleString(language) }),
    detail.workflow_name,
    detail.page_count ? say("pages_count", { number: detail.page_count }) : null,
    detail.open_tasks ? say("open_tasks", { number: detail.open_tasks }) : null,
  ];
  const told = shownStatus(detail.status) + (seconds ? ` ${say("took", { seconds })}` : "");
  return element(
    "div",
    { className: "head" },
    element("h3", { textContent: names.join(", ") || detail.workflow_name }),
    element("span", { className: `state state-${detail.status}`, textContent: told }),
    element("span", { className: "facts", textContent: facts.filter(Boolean).join(" · ") }),
  );
}

function drawActions(detail) {
  const actions = [];
  if (detail.result) {
    for (const format of ["json", "csv", "xlsx"]) {
      const href = `/requests/${detail.request_id}/result?format=${format}`;
      const label = format.toUpperCase();
      const title = say("download", { format: label });
      actions.push(element("a", { href, download: "", title, "aria-label": title, textContent: label }));
    }
  }
  if (!OVER.has(detail.status)) actions.push(button(texts.cancel, "cancel", () => post("cancel")));
  else actions.push(button(texts.again, "", () => post("reprocess")));
  return element("div", { className: "actions" }, ...actions);
}

async function post(action) {
  try {
    const done = await call(`/requests/${state.detail.request_id}/${action}`, { method: "POST" });
    await refreshList();
    choose(done.request_id);
  } catch (error) {
    byId("answer").append(element("p", { className: "alert", role: "alert", textContent: error.message }));
  }
}

function drawSteps(detail) {
  if (OVER.has(detail.status) || !goesTheseSteps(detail)) return [];
  const at = Math.max(0, STEPS.indexOf(detail.status));
  const { progress } = detail;
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

/** Requests of other applications are in the list, too; one whose workflow is not chosen yet brought files. */
function goesTheseSteps({ workflow_name: name }) {
  return !name || [...byId("workflow").options].some((option) => option.value === name);
}

function drawTrouble(detail) {
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
