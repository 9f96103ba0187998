// The home page: sends files, follows requests, shows answers beside the pages they came from.
// Here is what people do; each subject has a module of its own.

import { byId } from "/static/documents/home/drop/elements.js";
import { choose, followCurrent, followList, refreshList, wakeUp } from "/static/documents/home/drop/following.js";
import "/static/documents/home/drop/list.js";
import "/static/documents/home/drop/request.js";
import { send } from "/static/documents/home/drop/sending.js";
import { state } from "/static/documents/home/drop/state.js";
import { closePage, drawBox, showPage } from "/static/documents/home/drop/viewer.js";

/** One after the other; the first that arrives is shown. */
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

byId("previous").addEventListener("click", () => showPage(state.page - 1));
byId("following").addEventListener("click", () => showPage(state.page + 1));
byId("close").addEventListener("click", closePage);
byId("picture").addEventListener("error", () => {
  byId("picture").hidden = true;
  byId("no-picture").hidden = false;
  byId("box").hidden = true;
});
byId("picture").addEventListener("load", drawBox);
addEventListener("hashchange", () => choose(location.hash.slice(1) || null));
document.addEventListener("visibilitychange", wakeUp);
// In another language or theme the same request is on show.
for (const link of document.querySelectorAll(".frame-foot a")) {
  link.addEventListener("click", () => (link.href = link.href.split("#")[0] + location.hash));
}

if (/^#[0-9a-f-]{36}$/.test(location.hash)) state.current = location.hash.slice(1);
followList();
followCurrent();
