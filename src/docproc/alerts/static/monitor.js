// Keeps the page up to date: asks for it again every few seconds while somebody looks.
const shown = document.getElementById("monitor");

async function renew() {
  if (document.hidden) return;
  const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
  if (!answer.ok) return;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const renewed = page.getElementById("monitor");
  if (renewed) shown.replaceChildren(...renewed.childNodes);
}

setInterval(() => renew().catch(() => {}), Number(shown.dataset.every) * 1000);
