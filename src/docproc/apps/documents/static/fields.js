// A field of the form: its input, what was read, and where.

export class Field {
  constructor(root) {
    this.root = root;
    this.name = root.dataset.field;
    this.label = root.dataset.label;
    this.type = root.dataset.type;
    this.isDoubtful = root.dataset.doubtful === "true";
    this.input = root.querySelector("input");
    this.read = this.input.defaultValue;
    this.found = placeOf(root);
    this.place = null; // where a person pointed
  }

  get isChanged() {
    return this.input.value.trim() !== this.read.trim();
  }

  get where() {
    return this.place ?? this.found;
  }

  /** What is sent of a field that is left as it was read: the server knows it more exactly than it is shown. */
  get exact() {
    return this.root.dataset.value || null;
  }

  /** As it is typed, for checks and drafts. */
  get typed() {
    return this.input.value;
  }

  /** For undoing: what brings the field back to where it is now. */
  keep() {
    const [value, place] = [this.input.value, this.place];
    return { isSame: () => value === this.input.value, restore: () => this.set(value, place) };
  }

  set(value, place = null) {
    this.input.value = value;
    this.place = place;
    this.redraw();
  }

  revert() {
    this.set(this.read);
  }

  redraw() {
    markChanged(this.root, this.isChanged);
  }

  focus() {
    this.input.focus();
    this.input.select();
  }

  say(text, kind) {
    sayAt(this.root, text, kind);
    this.input.setAttribute("aria-invalid", String(kind === "problem"));
  }
}

/** Why it was doubtful is about what was read: of something else it would be wrong. */
export function markChanged(root, isChanged) {
  root.classList.toggle("changed", isChanged);
  root.querySelector(".revert").hidden = !isChanged;
  const why = root.querySelector(".why");
  if (why) why.hidden = isChanged;
}

export function sayAt(root, text, kind) {
  const line = root.querySelector(".say");
  if (line.textContent !== text) line.textContent = text;
  line.className = `say ${kind}`;
}

/** {page, box} of an element that knows it, null of one that does not. */
export function placeOf(element) {
  if (!element.dataset.page) return null;
  const box = element.dataset.box ? element.dataset.box.split(",").map(Number) : null;
  return { page: Number(element.dataset.page), box };
}
