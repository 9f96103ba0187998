// A service in JavaScript: counts words for the orchestrator, over HTTP. Needs Node 18 or newer, and no packages.
//
//   DOCPROC_SERVER=http://127.0.0.1:8000 node examples/orchestrator/word_count.mjs
//
// It takes an envelope, reports progress, asks for a tool where the text lies elsewhere, and answers. An envelope that
// it neither answers nor renews in time is given to another process, so it may come twice: `metadata.call_id` tells.

import { randomUUID } from "node:crypto";

const server = process.env.DOCPROC_SERVER ?? "http://127.0.0.1:8000";
const service = process.env.SERVICE ?? "tool-registry";
const consumer = `node-${process.pid}`;
const headers = { "content-type": "application/json" };
if (process.env.DOCPROC_API_KEY) headers.authorization = `Bearer ${process.env.DOCPROC_API_KEY}`;

async function post(path, body) {
  const answer = await fetch(`${server}/api/v1/services/${path}`, { method: "POST", headers, body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  return answer.status === 204 ? null : answer.json();
}

// What a service says of an envelope has the same ids, with sender and receiver exchanged.
async function reply(envelope, status, payload, error) {
  const { expires_at, delegated_services, ...kept } = envelope;
  await post("replies", {
    ...kept,
    message_id: randomUUID(),
    created_at: new Date().toISOString(),
    source_service: envelope.target_service,
    target_service: envelope.source_service,
    status,
    payload,
    ...(error ? { error } : {}),
  });
}

async function work(envelope) {
  const { text, tool_results: found } = envelope.payload;
  if (text === undefined && !found) {
    // The answer comes in the payload of the next envelope of the same call, under the key given here.
    const asked = { key: "text", tool: "fetch", service: "query-service", arguments: { query: "the text" } };
    return reply(envelope, "processing", { tool_request: asked });
  }
  const words = text ?? found.text?.matches?.[0]?.text;
  if (typeof words !== "string") {
    return reply(envelope, "failed", {}, { code: "NO_TEXT", message: "there is no text" });
  }
  await reply(envelope, "processing", { progress: 50 });
  await reply(envelope, "completed", { words: words.split(/\s+/).filter(Boolean).length });
}

let stopping = false;
process.on("SIGTERM", () => { stopping = true; });
process.on("SIGINT", () => { stopping = true; });
console.log("serving", service);
while (!stopping) {
  try {
    const { envelopes } = await post("take", { service, consumer, limit: 10, wait_seconds: 2 });
    await Promise.all(envelopes.map(work));
  } catch (error) {
    console.error(String(error));
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}
