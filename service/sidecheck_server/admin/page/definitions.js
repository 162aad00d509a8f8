/** A text field of definitions that are compared. */

import { byId } from "./elements.js";
import { Editor } from "./editor.js";
import { findFault } from "./json_fault.js";
import { locate } from "./json_places.js";
import { describeDefinitions, findTools, markFault } from "./tool_texts.js";

/** One side of a comparison: its text, the tools in it, or where it is broken. */
export class Definitions {
  /** @type {import("./tool_texts.js").Tool[]} */
  tools = [];
  /** @type {import("./json_fault.js").Fault | null} */
  fault = null;
  #note;
  #onChanged;

  /**
   * @param {"old" | "new"} side
   * @param {() => void} onChanged Called when a person has changed the text.
   */
  constructor(side, onChanged) {
    this.side = side;
    this.#onChanged = onChanged;
    this.#note = byId(`${side}-note`);
    this.editor = new Editor(byId(`${side}-text`, HTMLTextAreaElement), () => {
      this.#read();
      this.#onChanged();
    });
    byId(`${side}-format`).addEventListener("click", () => this.editor.format());
  }

  get text() {
    return this.editor.text;
  }

  set text(text) {
    this.editor.text = text;
    this.#read();
  }

  /**
   * Marks a place of the text; without one, the fault of the text if it has one.
   *
   * @param {string | null} pointer
   */
  mark(pointer) {
    this.editor.markBy((text) => {
      if (pointer !== null) {
        const { keyStart, end } = locate(text, pointer);
        return [{ start: keyStart, end, kind: "selected" }];
      }
      return markFault(text);
    });
  }

  #read() {
    const { text } = this;
    this.fault = text.trim() === "" ? null : findFault(text);
    this.tools = findTools(text);
    this.#note.textContent = describeDefinitions(text, this.tools, this.fault);
    this.#note.classList.toggle("bad", this.fault !== null);
  }
}
