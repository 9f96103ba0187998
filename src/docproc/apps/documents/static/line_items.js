// A table of the form, such as line items: cells to type in, rows to add, remove and split, sums that follow.

import { fill } from "/static/live.js";
import { markChanged, placeOf, sayAt } from "/static/documents/fields.js";

export class TableField {
  constructor(root, texts) {
    this.root = root;
    this.name = root.dataset.field;
    this.label = root.dataset.label;
    this.type = "table";
    this.isDoubtful = root.dataset.doubtful === "true";
    this.texts = texts;
    this.body = root.querySelector("tbody");
    this.template = root.querySelector("template");
    this.found = placeOf(root);
    this.place = null;
    this.read = [...this.body.rows].map((row) => row.cloneNode(true));
    this.before = JSON.stringify(this.exact);
    this.input = null; // the cell that was entered last
    this.#number();
  }

  get isChanged() {
    return JSON.stringify(this.exact) !== this.before;
  }

  /** The row of the cell somebody is in, else the whole table. */
  get where() {
    const row = this.input?.closest("tr");
    return (row && placeOf(row)) ?? this.found;
  }

  /** By row and column: untouched cells exactly as they were read, others as they are typed. */
  get exact() {
    return [...this.body.rows].map((row) => Object.fromEntries(cells(row).map((cell) => [cell.dataset.column, content(cell)])));
  }

  get typed() {
    return this.exact;
  }

  keep() {
    const rows = [...this.body.rows];
    const kept = rows.map((row) => [row, cells(row).map((cell) => cell.value)]);
    const state = JSON.stringify(this.exact);
    return {
      isSame: () => state === JSON.stringify(this.exact),
      restore: () => {
        this.body.replaceChildren(...rows);
        for (const [row, values] of kept) cells(row).forEach((cell, place) => (cell.value = values[place]));
        this.redraw();
      },
    };
  }

  /** Rows as a draft or an earlier answer has them. */
  set(rows) {
    const made = (rows ?? []).map((values) => {
      const row = this.#empty();
      for (const cell of cells(row)) cell.value = values[cell.dataset.column] ?? "";
      return row;
    });
    this.body.replaceChildren(...made);
    this.redraw();
  }

  revert() {
    this.body.replaceChildren(...this.read.map((row) => row.cloneNode(true)));
    this.redraw();
  }

  redraw() {
    this.#number();
    markChanged(this.root, this.isChanged);
    const number = this.body.rows.length;
    this.root.querySelector("[data-count]").textContent = number === 1 ? this.texts.one_row : fill(this.texts.rows_number, { number });
  }

  focus() {
    const first = this.body.querySelector("input") ?? this.root.querySelector('[data-row-action="add"]');
    first.focus();
    first.select?.();
  }

  /** `problems` are by cell: `line_items.2.amount`. */
  say(text, kind, problems = {}) {
    sayAt(this.root, text, kind);
    [...this.body.rows].forEach((row, number) => {
      for (const cell of cells(row)) {
        const problem = problems[`${this.name}.${number}.${cell.dataset.column}`] ?? "";
        cell.setAttribute("aria-invalid", String(Boolean(problem)));
        cell.title = problem;
      }
    });
  }

  focusProblem(problems) {
    const key = Object.keys(problems).find((one) => one.startsWith(`${this.name}.`));
    const [, number, column] = key?.split(".") ?? [];
    const cell = this.body.rows[number]?.querySelector(`[data-column="${CSS.escape(column)}"]`);
    if (cell) cell.focus();
    else this.focus();
  }

  showSums(sums) {
    for (const [column, { text, fits }] of Object.entries(sums ?? {})) {
      const shown = this.root.querySelector(`[data-sum="${CSS.escape(column)}"]`);
      if (!shown) continue;
      const mark = fits === null ? "" : fits ? "✓ " : "≠ ";
      if (shown.textContent !== mark + text) shown.textContent = mark + text;
      shown.className = fits === null ? "" : fits ? "fits" : "differs";
    }
  }

  // --- rows

  /** `do("split", cell)`; false where there is nothing to do. */
  do(action, from) {
    const row = from.closest("tbody tr") ?? this.body.rows[this.body.rows.length - 1];
    if (action === "add") this.#add(row, from.dataset.column);
    else if (action === "remove" && row) this.#remove(row, from.dataset.column);
    else if (action === "split" && row) this.#split(row, from);
    else return false;
    this.redraw();
    return true;
  }

  #add(after, column) {
    const row = this.#empty();
    if (after) after.after(row);
    else this.body.append(row);
    inColumn(row, column).focus();
    return row;
  }

  #remove(row, column) {
    const next = row.nextElementSibling ?? row.previousElementSibling;
    row.remove();
    if (next) inColumn(next, column).focus();
    else this.root.querySelector('[data-row-action="add"]').focus();
  }

  /** Two lines that were read as one: what stands behind the cursor goes to a row of its own. */
  #split(row, from) {
    const cell = from.dataset.column ? from : row.contains(this.input) ? this.input : cells(row)[0];
    const at = cell.selectionStart ?? cell.value.length;
    const [left, right] = [cell.value.slice(0, at).trim(), cell.value.slice(at).trim()];
    const made = this.#empty();
    cell.value = left;
    inColumn(made, cell.dataset.column).value = right;
    if (row.dataset.page) Object.assign(made.dataset, { page: row.dataset.page, box: row.dataset.box });
    row.after(made);
    const next = cells(made).find((one) => !one.value) ?? cells(made)[0];
    next.focus();
  }

  /** Up and down within a column. */
  move(cell, step) {
    const rows = [...this.body.rows];
    const row = rows[rows.indexOf(cell.closest("tr")) + step];
    if (!row) return;
    const target = inColumn(row, cell.dataset.column);
    target.focus();
    target.select();
  }

  #empty() {
    return this.template.content.querySelector("tr").cloneNode(true);
  }

  /** Screen readers say which row a cell is in. */
  #number() {
    [...this.body.rows].forEach((row, place) => {
      for (const cell of cells(row)) {
        cell.dataset.name ??= cell.getAttribute("aria-label");
        cell.setAttribute("aria-label", fill(this.texts.cell_name, { column: cell.dataset.name, number: place + 1 }));
      }
    });
  }
}

const cells = (row) => [...row.querySelectorAll("input")];
const inColumn = (row, column) => cells(row).find((cell) => cell.dataset.column === column) ?? cells(row)[0];
const content = (cell) =>
  cell.value.trim() === cell.defaultValue.trim() ? cell.dataset.value || null : cell.value.trim() || null;
