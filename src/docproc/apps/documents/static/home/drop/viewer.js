// The page itself, with the place where the picked field was found.

import { byId, say, shownName } from "/static/documents/home/drop/elements.js";
import { redraw, state } from "/static/documents/home/drop/state.js";

export function showPage(number) {
  state.picked = null;
  state.page = number;
  redraw("request");
}

export function closePage() {
  state.picked = state.page = null;
  redraw("request");
}

export function drawViewer() {
  const { detail, page } = state;
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

export function drawBox() {
  const { detail, page, picked } = state;
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
