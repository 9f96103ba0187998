// How the station's pages talk to their server: JSON there and back, with the session's token.

const token = document.querySelector('meta[name="csrf"]')?.content;

/** Send `body` as JSON; gives {status, body}, where body is the JSON that came, or null. */
export async function post(url, body = {}) {
  const headers = { "Content-Type": "application/json", Accept: "application/json" };
  if (token) headers["X-CSRF-Token"] = token;
  const answer = await fetch(url, {
    method: "POST", headers, body: JSON.stringify(body), credentials: "same-origin",
  });
  return { status: answer.status, body: await read(answer) };
}

/** Ask for JSON; gives {status, body} like `post`. */
export async function get(url) {
  const answer = await fetch(url, { headers: { Accept: "application/json" }, credentials: "same-origin" });
  return { status: answer.status, body: await read(answer) };
}

async function read(answer) {
  if (answer.status === 204) return null;
  return answer.json().catch(() => null);
}
