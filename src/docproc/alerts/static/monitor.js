// Keeps the page up to date: asks for it again every few seconds while somebody looks, and settles dead letters.
const shown = document.getElementById("monitor");

async function renew() {
  // What somebody is reading along, typing or about to press is not taken away.
  if (document.hidden || shown.contains(document.activeElement)) return;
  const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
  if (!answer.ok) return;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const renewed = page.getElementById("monitor");
  if (renewed) shown.replaceChildren(...renewed.childNodes);
}

async function settle(button) {
  if (button.dataset.sure && !confirm(button.dataset.sure)) return;
  const letter = button.closest(".letter");
  const buttons = letter.querySelectorAll("button");
  for (const one of buttons) one.disabled = true;
  const token = document.querySelector('meta[name="csrf"]')?.content;
  const answer = await fetch(`/dead-letters/${button.dataset.letter}/${button.dataset.do}`, {
    method: "POST",
    headers: { Accept: "application/json", ...(token ? { "X-CSRF-Token": token } : {}) },
  });
  const said = document.getElementById("said");
  said.hidden = false;
  if (answer.ok) {
    said.textContent = button.dataset.done;
    letter.remove();
    said.tabIndex = -1;
    said.focus();
    return;
  }
  const { error } = await answer.json();
  said.textContent = [error.message, error.remedy].filter(Boolean).join(". ");
  for (const one of buttons) one.disabled = false;
}

shown.addEventListener("click", (event) => {
  const button = event.target.closest("button[data-letter]");
  if (button) settle(button);
});
setInterval(() => renew().catch(() => {}), Number(shown.dataset.every) * 1000);
