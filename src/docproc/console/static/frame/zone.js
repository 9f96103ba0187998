// Remembers where the browser is, so that pages are written with local times. On the very first page the times are
// still UTC's: they are written anew here.

const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
const known = document.cookie.split("; ").some((one) => one === `docproc_zone=${encodeURIComponent(zone)}`);

if (zone && !known) {
  document.documentElement.dataset.zone = "new"; // pages that can renew themselves do so
  document.cookie = `docproc_zone=${encodeURIComponent(zone)}; path=/; max-age=31536000; samesite=lax`;
  const language = document.documentElement.lang === "es" ? "es-ES" : "en-GB";
  const day = new Intl.DateTimeFormat(language, { day: "2-digit", month: "2-digit", year: "numeric" });
  const clock = new Intl.DateTimeFormat(language, { hour: "2-digit", minute: "2-digit" });
  for (const time of document.querySelectorAll("time[datetime][data-shape]")) {
    const moment = new Date(time.dateTime);
    const isToday = moment.toDateString() === new Date().toDateString();
    const shape = time.dataset.shape === "short" ? (isToday ? "time" : "date") : time.dataset.shape;
    const parts = [shape !== "time" && day.format(moment), shape !== "date" && clock.format(moment)];
    time.textContent = parts.filter(Boolean).join("\u00a0");
  }
}
