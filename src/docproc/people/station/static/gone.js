// A task that cannot be worked on, or not yet: the way to one that can.

import { post } from "/static/http.js";
import { openNext, queueAddress, taskAddress } from "/static/live.js";

const gone = document.getElementById("gone");
const { operator, task } = gone.dataset;
const tell = (text) => (document.getElementById("told").textContent = text);

document.getElementById("next")?.addEventListener("click", async () => {
  if (!(await openNext(operator).catch(() => false))) location.assign(queueAddress(operator, "&done=1"));
});
document.getElementById("take")?.addEventListener("click", async () => {
  const answer = await post(`/tasks/${task}/claim`, { operator });
  if (answer.status === 200 || answer.status === 409) location.assign(taskAddress(task, operator));
  else tell(answer.body?.error?.message ?? "");
});
