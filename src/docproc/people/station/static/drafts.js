// What is typed and not sent yet, kept with the tab: a reload loses nothing.

const PREFIX = "docproc:task:";

export function keptDraft(task) {
  try {
    return JSON.parse(sessionStorage.getItem(PREFIX + task)) ?? null;
  } catch {
    return null; // no storage, or not ours
  }
}

export function keepDraft(task, draft) {
  try {
    sessionStorage.setItem(PREFIX + task, JSON.stringify(draft));
  } catch {
    // A browser without storage: the page itself still holds it.
  }
}

export function forgetDraft(task) {
  try {
    sessionStorage.removeItem(PREFIX + task);
  } catch {
    // As above.
  }
}
