// Elements and words that every part of the home page is made of.

export const texts = JSON.parse(document.getElementById("home").dataset.texts);
export const language = document.documentElement.lang;

export const byId = (id) => document.getElementById(id);

/** A text with its {values} filled in. */
export const say = (name, values = {}) => texts[name].replace(/\{(\w+)\}/g, (_, key) => values[key]);

/** An element with properties and children; text is always text, never markup. */
export function element(name, properties = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (key in made) made[key] = value;
    else made.setAttribute(key, value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

export const button = (text, className, onclick) =>
  element("button", { type: "button", className, textContent: text, onclick });

export const alertOf = (text) => element("p", { className: "alert", textContent: text });

export const isWide = () => matchMedia("(min-width: 761px)").matches;

export const shownName = (name) => texts.names[name] ?? name.replaceAll("_", " ");
export const shownType = (type) => texts.types[type] ?? (type ?? "?").replaceAll("_", " ");
export const shownStatus = (status) => texts.statuses[status] ?? status;
export const shownNumber = (number) => number.toLocaleString(language, { maximumFractionDigits: 1 });
