// Documents and their fields, each with the way to its place on the page.

import { button, element, isWide, say, shownName, shownType, texts } from "/static/documents/home/drop/elements.js";
import { redraw, state } from "/static/documents/home/drop/state.js";
import { showPage } from "/static/documents/home/drop/viewer.js";

export function drawDocuments(detail) {
  return (detail.result?.documents ?? []).map((one, index) => {
    const pages = one.page_indices ?? [];
    const numbers = pages.length > 1 ? `${pages[0] + 1}–${pages.at(-1) + 1}` : `${(pages[0] ?? 0) + 1}`;
    const names = [...new Set([...Object.keys(one.extracted_data ?? {}), ...Object.keys(one.fields ?? {})])];
    const where = button(say("document_pages", { pages: numbers }), "where", () => showPage(pages[0] ?? 0));
    return element(
      "article",
      { className: "document" },
      element("header", {}, element("h4", { textContent: shownType(one.doc_type) }), where, ...drawDoubts(one)),
      names.length
        ? element("table", {}, tableHead(), element("tbody", {}, ...names.map((name) => drawField(one, index, name))))
        : element("p", { className: "quiet", textContent: texts.no_fields }),
    );
  });
}

// Whether it is of this type, and these pages: what is not sure enough, and how sure it is.
function drawDoubts(one) {
  const named = one.needs_review ?? [];
  const told = [
    named.includes("doc_type") && say("unsure_doc_type", { percent: shownPercent(one.doc_type_confidence) }),
    named.includes("boundary") && say("unsure_boundary", { percent: shownPercent(one.boundary_confidence) }),
  ];
  const tag = (textContent) => element("span", { className: "doubt-tag", title: texts.check_title, textContent });
  return told.filter(Boolean).map(tag);
}

// Rounded down: only what is certain says 100.
function shownPercent(sure) {
  return sure === null || sure === undefined ? "?" : Math.floor(sure * 100 + 1e-9);
}

function tableHead() {
  const cells = ["field", "value", "confidence"].map((name) =>
    element("th", { scope: "col", textContent: texts[name] }),
  );
  return element("thead", {}, element("tr", {}, ...cells));
}

function drawField(one, index, name) {
  const found = one.fields?.[name];
  const isDoubtful = (one.needs_review ?? []).includes(name);
  const value = found?.value ?? one.extracted_data?.[name];
  const isPicked = state.picked?.index === index && state.picked?.name === name;
  const classes = [isDoubtful && "doubtful", found && "pick"].filter(Boolean).join(" ");
  const row = element(
    "tr",
    { className: classes },
    element("td", { className: "name" }, fieldLabel(found, index, name)),
    element(
      "td",
      { className: `value${value === null || value === undefined ? " quiet" : ""}` },
      value === null || value === undefined ? texts.not_found : shownValue(value),
      isDoubtful ? element("span", { className: "doubt-tag", title: texts.check_title, textContent: texts.check }) : null,
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
  const title = say("show", { field: shownName(name) });
  const label = element("button", { type: "button", textContent: shownName(name), title });
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
  state.picked = { index, name };
  state.page = state.detail.result.documents[index].fields[name].page;
  redraw("request");
  // On a phone the page covers the lower half: the field goes above it.
  if (!isWide()) document.querySelector('tr[aria-selected="true"]').scrollIntoView({ block: "start" });
}

/** The first field with a place, so that the page is there without a click. */
export function pickFirst() {
  const { detail } = state;
  for (const [index, one] of (detail.result?.documents ?? []).entries()) {
    for (const [name, found] of Object.entries(one.fields ?? {})) {
      if (found?.box) return pick(index, name);
    }
  }
  if (detail.result && detail.page_count) showPage(0);
}
