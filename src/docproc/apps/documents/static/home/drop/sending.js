// Talking to the server: questions answered in JSON, and files on their way with their progress.

import { byId, texts } from "/static/documents/home/drop/elements.js";
import { redraw, state } from "/static/documents/home/drop/state.js";

/** What the server said no to, in its own words. */
export class Refused extends Error {
  constructor(error) {
    super([error?.message, error?.remedy].filter(Boolean).join(". "));
  }
}

/** What a change must carry where people sign in: the token of their session. */
function proof() {
  const token = document.querySelector('meta[name="csrf"]')?.content;
  return token ? { "X-CSRF-Token": token } : {};
}

export async function call(path, options) {
  const answer = await fetch(path, { ...options, headers: { Accept: "application/json", ...proof() } });
  const body = await answer.json();
  if (!answer.ok) throw new Refused(body.error);
  return body;
}

/** Send a file; gives the request's id, or nothing where it was refused: the list says why. */
export function send(file) {
  const upload = { name: file.name, done: 0, error: null };
  state.uploading.unshift(upload);
  redraw("list");
  return new Promise((finished) => {
    const request = new XMLHttpRequest(); // fetch tells no progress of uploads
    const ended = (error, id) => {
      if (error) upload.error = new Refused(error).message;
      else state.uploading = state.uploading.filter((one) => one !== upload);
      redraw("list");
      finished(id);
    };
    request.upload.onprogress = (event) => {
      upload.done = event.total ? event.loaded / event.total : 0;
      redraw("list");
    };
    request.onerror = () => ended({ message: texts.failed_to_send });
    request.onload = () => {
      const answer = parsed(request.responseText);
      if (request.status === 200) ended(null, answer.request_id);
      else ended(answer?.error ?? { message: `${texts.failed_to_send} (${request.status})` });
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
