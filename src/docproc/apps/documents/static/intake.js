// Files in: chosen, or dropped anywhere in the window. Each is a request of its own; the inbox shows it at once.

import { proof, Refused } from "/static/frame/calls.js";

const byId = (id) => document.getElementById(id);
const texts = JSON.parse(byId("intake").dataset.texts);

function element(name, properties, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

/** One after the other; the list is told of each that arrived. */
async function sendAll(files) {
  for (const file of files) if (await send(file)) dispatchEvent(new Event("docproc:sent"));
}

function send(file) {
  const told = element("span", { className: "quiet", textContent: "0 %" });
  const bar = element("progress", { max: 1, value: 0 });
  const line = element("li", {}, element("span", { textContent: file.name }), told, bar);
  byId("uploads").append(line);
  return new Promise((finished) => {
    const request = new XMLHttpRequest(); // fetch tells no progress of uploads
    const refused = (error) => {
      bar.remove();
      told.className = "bad";
      told.textContent = new Refused(error).message;
      finished(false);
    };
    request.upload.onprogress = (event) => {
      bar.value = event.total ? event.loaded / event.total : 0;
      told.textContent = `${Math.round(bar.value * 100)} %`;
    };
    request.onerror = () => refused({ message: texts.failed_to_send });
    request.onload = () => {
      if (request.status !== 200) return refused(parsed(request.responseText)?.error ?? { message: texts.failed_to_send });
      bar.remove();
      told.textContent = texts.sent_ok;
      setTimeout(() => line.remove(), 4000);
      finished(true);
    };
    request.open("POST", "/process");
    request.setRequestHeader("Accept", "application/json");
    for (const [name, value] of Object.entries(proof())) request.setRequestHeader(name, value);
    request.send(formOf(file));
  });
}

function formOf(file) {
  const form = new FormData();
  // Before the file, so that a wrong one is refused before the file has travelled.
  if (byId("workflow").value) form.append("workflow", byId("workflow").value);
  form.append("channel", "web");
  form.append("file", file);
  return form;
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

byId("intake").addEventListener("submit", (event) => event.preventDefault());
byId("files").addEventListener("change", (event) => {
  const files = [...event.target.files];
  event.target.value = ""; // the same file may be chosen again
  sendAll(files);
});
const brings = (event) => [...(event.dataTransfer?.types ?? [])].includes("Files");
for (const name of ["dragenter", "dragover"]) {
  document.addEventListener(name, (event) => {
    if (!brings(event)) return;
    event.preventDefault();
    document.body.classList.add("dropping");
  });
}
document.addEventListener("dragleave", (event) => {
  if (event.relatedTarget === null) document.body.classList.remove("dropping");
});
document.addEventListener("drop", (event) => {
  if (!brings(event)) return;
  event.preventDefault();
  document.body.classList.remove("dropping");
  sendAll([...event.dataTransfer.files]);
});
