// The pages of a document: larger, smaller, turned, moved; a place marked, words to be clicked.

const LEAST = 0.3;
const MOST = 6;
const STEP = 1.25;
const DRAG_PIXELS = 5;

export class Viewer {
  /** `columns`: how many pages stand side by side at the first size. */
  constructor(root, { columns = 1, onWord = null, wordsOf = null } = {}) {
    this.root = root;
    this.columns = columns;
    this.onWord = onWord;
    this.wordsOf = wordsOf;
    this.zoom = 1;
    this.turn = 0;
    this.pages = new Map([...root.querySelectorAll(".page")].map((page) => [Number(page.dataset.page), page]));
    for (const page of this.pages.values()) this.#watch(page);
    new ResizeObserver(() => this.layout()).observe(root);
    this.#listen();
    this.layout();
  }

  // --- size and turn

  zoomBy(factor) {
    const { scrollLeft, scrollTop, clientWidth, clientHeight } = this.root;
    const before = this.zoom;
    this.zoom = Math.min(MOST, Math.max(LEAST, this.zoom * factor));
    this.layout();
    const grown = this.zoom / before; // what is in the middle stays there
    this.root.scrollLeft = (scrollLeft + clientWidth / 2) * grown - clientWidth / 2;
    this.root.scrollTop = (scrollTop + clientHeight / 2) * grown - clientHeight / 2;
  }

  larger = () => this.zoomBy(STEP);
  smaller = () => this.zoomBy(1 / STEP);

  fitWidth = () => {
    this.zoom = 1;
    this.layout();
  };

  fitPage = () => {
    const first = [...this.pages.values()].find((page) => !page.hidden);
    if (!first) return;
    const tall = this.#ratio(first) * this.#width(1);
    this.zoom = Math.min(1, (this.root.clientHeight - 16) / tall);
    this.layout();
  };

  rotate = () => {
    this.turn = (this.turn + 90) % 360;
    this.layout();
  };

  layout() {
    const width = this.#width(this.zoom);
    for (const page of this.pages.values()) this.#place(page, width);
  }

  #width(zoom) {
    return Math.max(60, ((this.root.clientWidth - 16) / this.columns - 8) * zoom);
  }

  /** Height to width as it lies on the screen. */
  #ratio(page) {
    const upright = Number(page.dataset.ratio) || 1.414;
    return this.turn % 180 ? 1 / upright : upright;
  }

  #place(page, width) {
    const height = width * this.#ratio(page);
    const sheet = page.querySelector(".sheet");
    page.style.width = `${width}px`;
    page.style.height = `${height}px`;
    const [w, h] = this.turn % 180 ? [height, width] : [width, height];
    sheet.style.width = `${w}px`;
    sheet.style.height = `${h}px`;
    sheet.style.left = `${(width - w) / 2}px`;
    sheet.style.top = `${(height - h) / 2}px`;
    sheet.style.transform = `rotate(${this.turn}deg)`;
  }

  #watch(page) {
    const picture = page.querySelector("img");
    const known = () => {
      if (!picture.naturalWidth) return;
      page.dataset.ratio = picture.naturalHeight / picture.naturalWidth;
      this.layout();
    };
    page.classList.add("loading");
    const arrived = () => page.classList.remove("loading");
    picture.addEventListener("load", () => (arrived(), known()));
    picture.addEventListener("error", () => {
      arrived();
      page.classList.add("broken");
    });
    if (picture.complete && picture.src) {
      arrived();
      known();
      if (!picture.naturalWidth) page.classList.add("broken");
    }
  }

  // --- places

  /** Mark a box (fractions of the upright page) and bring it to the middle; nothing to mark: no mark. */
  mark(page, box) {
    this.root.querySelectorAll(".mark").forEach((one) => one.remove());
    const sheet = this.pages.get(page)?.querySelector(".sheet");
    if (!sheet) return;
    if (!box) return this.centre(this.pages.get(page), "start");
    const mark = document.createElement("div");
    mark.className = "mark";
    setBox(mark, box);
    sheet.append(mark);
    this.centre(mark);
  }

  centre(element, where = "middle") {
    const inner = element.getBoundingClientRect();
    const outer = this.root.getBoundingClientRect();
    const down = where === "start" ? 8 : (outer.height - inner.height) / 2;
    this.root.scrollTop += inner.top - outer.top - down;
    this.root.scrollLeft += inner.left - outer.left - (outer.width - inner.width) / 2;
  }

  // --- words

  async showWords(number) {
    const page = this.pages.get(number);
    if (!page || page.dataset.words || !this.wordsOf) return;
    page.dataset.words = "asked";
    const sheet = page.querySelector(".sheet");
    const layer = document.createElement("div");
    layer.className = "words";
    layer.setAttribute("aria-hidden", "true"); // the text panel has them for screen readers
    for (const word of await this.wordsOf(number)) {
      const spot = document.createElement("span");
      spot.title = word.text;
      spot.word = { ...word, page: number };
      setBox(spot, word.box);
      layer.append(spot);
    }
    sheet.append(layer);
  }

  // --- the mouse, the wheel and fingers

  #listen() {
    let from = null;
    this.root.addEventListener("mousedown", (event) => event.preventDefault()); // the field keeps the focus
    this.root.addEventListener("pointerdown", (event) => {
      // Fingers and scroll bars move by themselves.
      if (event.pointerType === "touch" || event.button || event.target === this.root) return;
      const { scrollLeft, scrollTop } = this.root;
      from = { x: event.clientX, y: event.clientY, scrollLeft, scrollTop, moved: false };
    });
    addEventListener("pointermove", (event) => {
      if (!from) return;
      const [dx, dy] = [event.clientX - from.x, event.clientY - from.y];
      from.moved ||= Math.hypot(dx, dy) > DRAG_PIXELS;
      if (!from.moved) return;
      this.root.classList.add("dragged");
      this.root.scrollLeft = from.scrollLeft - dx;
      this.root.scrollTop = from.scrollTop - dy;
    });
    addEventListener("pointerup", () => {
      this.wasDragged = Boolean(from?.moved);
      from = null;
      this.root.classList.remove("dragged");
    });
    this.root.addEventListener("click", (event) => {
      const word = event.target.word;
      if (word && this.onWord && !this.wasDragged) this.onWord(word, event.shiftKey);
    });
    this.root.addEventListener("wheel", (event) => this.#wheel(event), { passive: false });
  }

  /** With Ctrl (or two fingers) the wheel sizes; without it scrolls. */
  #wheel(event) {
    if (!event.ctrlKey) return;
    event.preventDefault();
    this.zoomBy(event.deltaY < 0 ? STEP : 1 / STEP);
  }
}

function setBox(element, [x0, y0, x1, y1]) {
  element.style.left = `${x0 * 100}%`;
  element.style.top = `${y0 * 100}%`;
  element.style.width = `${(x1 - x0) * 100}%`;
  element.style.height = `${(y1 - y0) * 100}%`;
}

/** The tools above the pages, and their keys. */
export function withTools(viewer, onKeys) {
  const panel = document.getElementById("text");
  const toggle = document.querySelector('[data-tool="text"]');
  const showText = () => {
    panel.hidden = !panel.hidden;
    toggle.setAttribute("aria-expanded", String(!panel.hidden));
    if (!panel.hidden && document.activeElement !== toggle) panel.focus();
  };
  const jobs = {
    zoom_in: viewer.larger, zoom_out: viewer.smaller, fit_width: viewer.fitWidth,
    fit_page: viewer.fitPage, rotate: viewer.rotate, text: showText,
  };
  document.querySelectorAll("[data-tool]").forEach((button) => {
    button.addEventListener("click", jobs[button.dataset.tool]);
  });
  onKeys({
    "+": viewer.larger, "-": viewer.smaller, 0: viewer.fitWidth, f: viewer.fitPage, r: viewer.rotate,
    ...(panel ? { t: showText } : {}), v: () => viewer.root.focus(),
  });
}
