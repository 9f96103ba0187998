// Talking to the server: questions answered in JSON; what it refuses is told in its own words.

export class Refused extends Error {
  constructor(error) {
    super([error?.message, error?.remedy].filter(Boolean).join(". "));
  }
}

/** What a change must carry where people sign in: the token of their session. */
export function proof() {
  const token = document.querySelector('meta[name="csrf"]')?.content;
  return token ? { "X-CSRF-Token": token } : {};
}

export async function call(path, options = {}) {
  const headers = { Accept: "application/json", ...proof(), ...options.headers };
  const answer = await fetch(path, { ...options, headers });
  const body = await answer.json().catch(() => null); // nothing to say is an answer, too
  if (!answer.ok) throw new Refused(body?.error ?? { message: String(answer.status) });
  return body;
}
