// The preview: a list of sessions, and one of them followed by server-sent events.
"use strict";

const words = JSON.parse(document.getElementById("words").textContent);
const at = (id) => document.getElementById(id);
const say = (key, values = {}) => Object.entries(values).reduce(
  (text, [name, value]) => text.replace(`{${name}}`, value), words[key] ?? key);
const statuses = JSON.parse(document.getElementById("statuses").textContent);
const status = (name) => statuses[name] ?? name;
const language = document.documentElement.lang;
const number = (value, digits = 0) => value.toLocaleString(
  language, {minimumFractionDigits: digits, maximumFractionDigits: digits});
const counted = (done, total) => total ? `${number(done)} / ${number(total)}` : number(done);
const STRIP = 14, LIST_MS = 2000;

let chosen = document.body.dataset.chosen, source = null, shown = -1, strip = "", latest = null;

async function list() {
  let found = [];
  try { found = (await (await fetch("/sessions")).json()).sessions; } catch { return; }
  at("none").hidden = found.length > 0;
  at("sessions").replaceChildren(...found.map(line));
  if (!chosen && found.length) choose(found[0].session_id);
}

function duration(seconds) {
  const whole = Math.round(seconds), minutes = Math.floor(whole / 60);
  const rest = say("preview_seconds", {number: number(whole % 60)});
  return minutes ? `${say("preview_minutes", {number: number(minutes)})} ${rest}` : rest;
}

function line(one) {
  const item = document.createElement("li"), link = document.createElement("a");
  link.href = `/session/${one.session_id}`;
  if (one.session_id === chosen) link.setAttribute("aria-current", "true");
  const name = document.createElement("strong");
  name.textContent = one.filename || one.session_id;
  const row = document.createElement("span");
  row.className = "row";
  const left = document.createElement("span"), right = document.createElement("span");
  left.textContent = status(one.status);
  left.className = `state ${one.status}`;
  right.textContent = one.status === "completed" || !one.frames_total ? when(one.started_at) : `${Math.floor(100 * one.frames_processed / one.frames_total)} %`;
  row.append(left, right);
  link.append(name, row);
  link.addEventListener("click", (event) => { event.preventDefault(); choose(one.session_id); });
  item.append(link);
  return item;
}

function when(started) {
  return started ? new Date(started).toLocaleString(language, {dateStyle: "short", timeStyle: "short"}) : "";
}

function choose(id) {
  if (source) source.close();
  chosen = id; shown = -1; strip = "";
  at("follow").checked = true;
  history.replaceState(null, "", `/session/${id}`);
  at("choose").hidden = true;
  at("session").hidden = false;
  source = new EventSource(`/session/${id}/stream`);
  source.addEventListener("progress", (event) => show(JSON.parse(event.data)));
  for (const end of ["completed", "failed"]) source.addEventListener(end, (event) => {
    source.close();
    show(JSON.parse(event.data));
    list();
  });
  source.addEventListener("gone", () => { source.close(); at("session").hidden = true; });
  list();
}

function show(one) {
  latest = one;
  const total = one.frames_total || 0, done = one.frames_processed;
  at("name").textContent = one.filename || one.session_id;
  at("status").textContent = status(one.status);
  at("status").className = `badge ${one.status}`;
  at("bar").value = total ? done / total : 0;
  at("done").textContent = counted(done, total);
  at("fps").textContent = number(one.metrics ? one.metrics.fps_processing : one.fps ?? 0, 1);
  const isOver = one.status === "completed" || one.status === "failed";
  at("left-name").textContent = say(isOver ? "preview_took" : "preview_left");
  at("left").textContent = isOver ? duration(one.elapsed_seconds ?? 0) : one.eta_seconds == null ? "–" : duration(one.eta_seconds);
  at("retries").textContent = number(one.retries ?? 0);
  at("failed").textContent = number(one.frames_failed ?? 0);
  at("error").hidden = !one.error;
  at("error").textContent = one.error ? `${one.error.code}: ${one.error.message}` : "";
  if (one.width && one.height) document.querySelector(".compare").style.setProperty("--ratio", one.width / one.height);
  filters(one.filters ?? []);
  workers(one.workers ?? {});
  chart(one.history ?? []);
  frames(done);
  at("gif").hidden = !done;
  at("gif").href = `/session/${one.session_id}/preview.gif`;
  const isMade = one.status === "completed";
  at("made").hidden = at("download").hidden = !isMade;
  if (isMade && !at("video").src.includes(one.session_id)) {
    at("video").src = `/session/${one.session_id}/output.mp4`;
    at("download").href = `/session/${one.session_id}/output.mp4?download`;
  }
}

function frames(done) {
  if (!done) return;
  const count = Math.min(STRIP, done);
  const wanted = [...new Set(Array.from({length: count}, (_, i) => count === 1 ? 0 : Math.round(i * (done - 1) / (count - 1))))];
  if (at("follow").checked) picture(done - 1);
  // Not at each event: pictures that are exchanged under the mouse cannot be clicked.
  const key = `${chosen} ${done < STRIP * 4 ? done : Math.floor(done / Math.max(1, (latest.frames_total || done) / 20))}`;
  if (key === strip && wanted.length === at("strip").childElementCount) return;
  strip = key;
  at("strip").replaceChildren(...wanted.map((index) => {
    const button = document.createElement("button"), image = document.createElement("img");
    button.type = "button";
    button.dataset.index = index;
    button.setAttribute("aria-pressed", String(index === shown));
    button.setAttribute("aria-label", say("preview_frame", {number: index}));
    image.src = `/session/${chosen}/frame/${index}?width=160`;
    image.alt = "";
    image.addEventListener("error", () => button.remove());
    button.append(image);
    button.addEventListener("click", () => { at("follow").checked = false; picture(index); });
    return button;
  }));
}

function picture(index) {
  if (index === shown) return;
  shown = index;
  at("after").src = `/session/${chosen}/frame/${index}?width=1280`;
  at("before").src = `/session/${chosen}/original/${index}?width=1280`;
  at("shown").textContent = say("preview_frame", {number: index});
  for (const button of at("strip").children) button.setAttribute("aria-pressed", String(Number(button.dataset.index) === index));
}

// Frames that are not kept cannot be shown.
at("after").addEventListener("error", () => { at("pictures").hidden = true; at("unkept").hidden = false; });
at("after").addEventListener("load", () => { at("pictures").hidden = false; at("unkept").hidden = true; });

function chart(points) {
  const most = Math.max(1, ...points.map((point) => point[1]));
  const last = points.length ? points[points.length - 1][0] || 1 : 1;
  const line = points.map(([time, fps]) => `${(time / last * 400).toFixed(1)},${(118 - fps / most * 110).toFixed(1)}`);
  at("curve").setAttribute("points", line.join(" "));
  at("area").setAttribute("d", line.length ? `M0,120 L${line.join(" L")} L400,120 Z` : "");
  at("most").textContent = say("preview_most", {number: number(most)});
  at("span").textContent = duration(last);
  at("chart-said").textContent = `${say("preview_now")}: ${number(points.length ? points[points.length - 1][1] : 0, 1)}`;
}

function workers(counts) {
  const most = Math.max(1, ...Object.values(counts));
  at("workers").replaceChildren(...Object.entries(counts).sort().map(([name, count]) => {
    const item = document.createElement("li"), row = document.createElement("span"), meter = document.createElement("meter");
    const left = document.createElement("span"), right = document.createElement("span");
    left.textContent = name;
    right.textContent = say("preview_worker_frames", {number: number(count)});
    meter.max = most; meter.value = count; meter.setAttribute("aria-label", name);
    row.append(left, right);
    item.append(row, meter);
    return item;
  }));
}

function filters(specs) {
  at("filters").replaceChildren(...specs.map(({name, ...rest}) => {
    const item = document.createElement("li"), small = document.createElement("small");
    small.textContent = " " + Object.entries(rest).filter(([, value]) => value !== null).map(([key, value]) => `${key} ${value}`).join(", ");
    item.append(name, small);
    return item;
  }));
}

at("line").addEventListener("input", (event) => {
  const share = event.target.value;
  at("before").style.clipPath = `inset(0 ${100 - share}% 0 0)`;
  at("divider").style.left = `${share}%`;
});
if (chosen) choose(chosen); else list();
setInterval(list, LIST_MS);
