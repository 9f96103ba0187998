// A form of plain fields: what is in them is the answer, and what is wrong is said beside each.

import { keepDraft, keptDraft } from "/static/drafts.js";
import { ready, submit, task, tell, texts } from "/static/task.js";

const form = document.getElementById("answer");
const inputs = [...form.querySelectorAll("#panel [name]")];

/** An empty field is not sent: the server knows which ones it needs. */
function values() {
  const said = inputs.map((input) => [input.name, input.type === "checkbox" ? input.checked : input.value.trim()]);
  return Object.fromEntries(said.filter(([, value]) => value !== ""));
}

function fillIn(draft) {
  for (const input of inputs) {
    if (input.type === "checkbox") input.checked = Boolean(draft[input.name]);
    else input.value = draft[input.name] ?? "";
  }
}

/** By field. */
function showProblems(problems) {
  for (const input of inputs) {
    const problem = problems[input.name] ?? "";
    document.getElementById(`say-${input.name}`).textContent = problem;
    input.setAttribute("aria-invalid", String(Boolean(problem)));
  }
  inputs.find((input) => problems[input.name])?.focus();
}

form.addEventListener("input", () => keepDraft(task, values()));
form.addEventListener("submit", (event) => {
  event.preventDefault();
  showProblems({});
  submit(values(), showProblems);
});

const draft = keptDraft(task);
if (draft) {
  fillIn(draft);
  tell(texts.kept_draft);
}
inputs[0]?.focus({ preventScroll: true });
ready();
