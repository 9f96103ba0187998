// What is this page? A number chooses, Enter confirms.

import { keepDraft, keptDraft } from "/static/drafts.js";
import { earlier, onKeys, ready, submit, task, tell, texts } from "/static/task.js";
import { Viewer, withTools } from "/static/documents/viewer.js";

const form = document.getElementById("answer");
const choices = [...form.querySelectorAll('input[name="doc_type"]')];
withTools(new Viewer(document.getElementById("viewer")), onKeys);

const chosen = () => choices.find((choice) => choice.checked);

function choose(choice) {
  choice.checked = true;
  choice.focus();
  keepDraft(task, { choice: choice.value });
}

function confirm() {
  if (chosen()) submit({ doc_type: chosen().value });
  else choices[0]?.focus();
}

choices.slice(0, 9).forEach((choice, index) => onKeys({ [index + 1]: () => choose(choice) }));
onKeys({
  Enter: (event) => {
    // Enter on a button or a link is that button's.
    const own = event.target.closest("button, a, summary");
    if (own) own.click();
    else confirm();
  },
});
form.addEventListener("change", (event) => event.target.checked && choose(event.target));
form.addEventListener("submit", (event) => {
  event.preventDefault();
  confirm();
});

const draft = keptDraft(task);
const kept = choices.find((choice) => choice.value === (draft?.choice ?? earlier?.doc_type));
if (draft && kept) tell(texts.kept_draft);
const first = kept ?? chosen() ?? choices[0];
if (kept) kept.checked = true;
first?.focus({ preventScroll: true });
ready();
