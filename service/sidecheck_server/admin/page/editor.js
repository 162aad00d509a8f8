/** A text field with numbers of lines, and marks at places of its text. */

import { element } from "./elements.js";
import { format, isJson } from "./json_text.js";

/** Of a line, as in editor.css. */
const LINE_PIXELS = 20;

/** Beyond this many characters before it, a mark is shown at its line only. */
const LONGEST_PREFIX = 2_000;
const LONGEST_MARK = 500;

/** Beyond this length the browser's history of changes is given up for speed. */
const LONGEST_UNDOABLE = 200_000;

/**
 * @typedef {object} Mark
 * @property {number} start
 * @property {number} end
 * @property {string} kind A severity, or "selected".
 */

/** What is outside of the visible lines is not rendered, so that large texts stay quick. */
export class Editor {
  /** @type {Mark[]} */
  #marks = [];
  /** @type {number[]} */
  #lineStarts = [0];
  /** @type {(text: string) => Mark[]} */
  #findMarks = () => [];
  #numbers = element("div", { class: "editor-numbers", "aria-hidden": "true" });
  #layer = element("div", { class: "editor-marks", "aria-hidden": "true" });
  #frame = 0;

  /**
   * @param {HTMLTextAreaElement} field
   * @param {() => void} onInput Called when the text was changed by a person.
   */
  constructor(field, onInput) {
    this.field = field;
    field.spellcheck = false;
    field.autocapitalize = "off";
    field.setAttribute("autocomplete", "off");
    field.setAttribute("wrap", "off");
    const view = element("div", { class: "editor-view" });
    const frame = element("div", { class: "editor" }, this.#numbers, view);
    field.replaceWith(frame);
    view.append(this.#layer, field);
    field.addEventListener("scroll", () => this.#renderSoon());
    field.addEventListener("input", () => {
      this.#readLines();
      onInput();
    });
    new ResizeObserver(() => this.#renderSoon()).observe(field);
  }

  get text() {
    return this.field.value;
  }

  /** Replaces the text, and forgets the history of changes. */
  set text(text) {
    this.field.value = text;
    this.#readLines();
  }

  /**
   * Replaces the text as if it was typed, so that it can be undone.
   *
   * @param {string} text
   */
  replace(text) {
    this.field.focus();
    this.field.select();
    const isUndoable = text.length + this.text.length < LONGEST_UNDOABLE;
    // Deprecated without a successor: nothing else keeps the history of a text field.
    if (!isUndoable || !document.execCommand("insertText", false, text)) {
      this.text = text;
      this.field.dispatchEvent(new Event("input"));
    }
    this.field.setSelectionRange(0, 0);
    this.field.scrollTo(0, 0);
  }

  /** Gives JSON a line for each member. */
  format() {
    if (isJson(this.text)) {
      this.replace(format(this.text));
    }
  }

  /**
   * Marks places, which are found again when the text changes.
   *
   * @param {(text: string) => Mark[]} findMarks
   */
  markBy(findMarks) {
    this.#findMarks = findMarks;
    this.#marks = findMarks(this.text);
    this.#renderSoon();
  }

  /**
   * Selects a place, and moves the focus to it.
   *
   * @param {number} start
   * @param {number} end
   */
  select(start, end) {
    this.field.focus({ preventScroll: true });
    this.field.setSelectionRange(start, end);
    this.reveal(start);
  }

  /**
   * Scrolls to an offset.
   *
   * @param {number} offset
   */
  reveal(offset) {
    const line = this.#lineOf(offset);
    const { clientHeight, scrollTop } = this.field;
    const top = line * LINE_PIXELS;
    if (top < scrollTop || top + 2 * LINE_PIXELS > scrollTop + clientHeight) {
      this.field.scrollTop = Math.max(0, top - clientHeight / 3);
    }
    const column = offset - (this.#lineStarts[line] ?? 0);
    this.field.scrollLeft = column > 60 ? (column - 30) * 7.8 : 0;
    this.#renderSoon();
    this.field.closest(".editor")?.scrollIntoView({ block: "nearest" });
  }

  #readLines() {
    const starts = [0];
    const text = this.text;
    for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) {
      starts.push(at + 1);
    }
    this.#lineStarts = starts;
    this.#marks = this.#findMarks(text);
    this.#renderSoon();
  }

  /** @param {number} offset */
  #lineOf(offset) {
    let low = 0;
    let high = this.#lineStarts.length - 1;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((this.#lineStarts[middle] ?? 0) <= offset) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    return low;
  }

  #renderSoon() {
    cancelAnimationFrame(this.#frame);
    this.#frame = requestAnimationFrame(() => this.#render());
  }

  #render() {
    const { scrollTop, scrollLeft, clientHeight } = this.field;
    const first = Math.floor(scrollTop / LINE_PIXELS);
    const visible = Math.ceil(clientHeight / LINE_PIXELS) + 1;
    const last = Math.min(this.#lineStarts.length - 1, first + visible);
    const shift = `translateY(${first * LINE_PIXELS - scrollTop}px)`;
    /** @type {Map<number, string>} */
    const kinds = new Map();
    const bands = [];
    for (const mark of this.#marks) {
      const from = this.#lineOf(mark.start);
      const to = this.#lineOf(Math.max(mark.start, mark.end - 1));
      if (to < first || from > last) {
        continue;
      }
      if (mark.kind !== "selected") {
        kinds.set(from, mark.kind);
      }
      for (let line = Math.max(from, first); line <= Math.min(to, last); line += 1) {
        bands.push(this.#band(mark, line));
      }
    }
    const numbers = [];
    for (let line = first; line <= last; line += 1) {
      const kind = kinds.get(line);
      numbers.push(element("div", kind ? { class: `at-${kind}` } : {}, String(line + 1)));
    }
    this.#numbers.style.setProperty("--digits", String(String(this.#lineStarts.length).length));
    this.#numbers.replaceChildren(element("div", {}, ...numbers));
    this.#layer.replaceChildren(...bands);
    this.#layer.style.transform = `translate(${-scrollLeft}px, ${-scrollTop}px)`;
    const column = this.#numbers.firstElementChild;
    if (column instanceof HTMLElement) {
      column.style.transform = shift;
    }
  }

  /**
   * Returns the band of a mark in a line. Invisible text before it gives it its place, whatever
   * the width of the characters.
   *
   * @param {Mark} mark
   * @param {number} line
   */
  #band(mark, line) {
    const start = this.#lineStarts[line] ?? 0;
    const end = (this.#lineStarts[line + 1] ?? this.text.length + 1) - 1;
    const indent = this.text.slice(start, end).search(/\S|$/);
    const from = Math.max(mark.start, start + indent);
    const to = Math.min(mark.end, end);
    const band = element("div", { class: "band" });
    band.style.top = `${line * LINE_PIXELS}px`;
    if (from - start <= LONGEST_PREFIX) {
      const marked = this.text.slice(from, Math.min(to, from + LONGEST_MARK)) || " ";
      band.append(this.text.slice(start, from), element("mark", { class: mark.kind }, marked));
    }
    return band;
  }
}
