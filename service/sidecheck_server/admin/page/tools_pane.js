/** The definitions that are validated against, checked and converted: pasted, or registered. */

import { byId, element, fill } from "./elements.js";
import { Editor } from "./editor.js";
import { findFault } from "./json_fault.js";
import { format, isJson } from "./json_text.js";
import { describeDefinitions, findTools, markFault } from "./tool_texts.js";
import { RegisteredTools } from "./registered_tools.js";

/** @typedef {import("./tool_texts.js").Tool} Tool */

/** One pane, which moves to the tab that needs it. */
export class ToolsPane {
  #pane = byId("tools-pane");
  #registeredControls = byId("registered");
  #toolRow = byId("tool-row");
  #choice = byId("tool", HTMLSelectElement);
  #note = byId("tools-note");
  #format = byId("tools-format");
  #sources = /** @type {HTMLInputElement[]} */ ([
    ...this.#pane.querySelectorAll("input[name=tools-source]"),
  ]);
  #registered = new RegisteredTools(() => this.#showRegistered());
  /** @type {Tool[]} */
  #tools = [];
  #pasted = "";
  /** @type {import("./json_fault.js").Fault | null} */
  #fault = null;
  #onChanged;

  /** @param {() => void} onChanged Called when the tools or the choice have changed. */
  constructor(onChanged) {
    this.#onChanged = onChanged;
    this.editor = new Editor(byId("tools-text", HTMLTextAreaElement), () => this.#read());
    this.#choice.addEventListener("change", onChanged);
    this.#format.addEventListener("click", () => this.editor.format());
    for (const source of this.#sources) {
      source.addEventListener("change", () => this.#setSource(source.value === "registered"));
    }
  }

  /** Whether the tools are registered ones. */
  get isRegistered() {
    return this.#sources.some(({ value, checked }) => checked && value === "registered");
  }

  /** The text of all definitions. */
  get text() {
    return this.editor.text;
  }

  /** What to do next where no tool is chosen. */
  get headline() {
    return this.#fault ? "The definitions are not JSON" : "Choose a tool";
  }

  /** Whether the text is not JSON. */
  get isBroken() {
    return this.#fault !== null;
  }

  /** The tool that is chosen, null if there is none. */
  get tool() {
    return this.#tools[this.isRegistered ? 0 : this.#choice.selectedIndex] ?? null;
  }

  /**
   * Moves the pane to the beginning of a panel.
   *
   * @param {HTMLElement} panel
   * @param {boolean} needsOne Whether one tool is chosen there, and not all are meant.
   */
  moveTo(panel, needsOne) {
    if (this.#pane.parentElement !== panel) {
      panel.prepend(this.#pane);
    }
    this.#toolRow.classList.toggle("needless", !needsOne);
  }

  /** Returns what a link has of the pane. */
  read() {
    const tool = this.tool;
    if (this.isRegistered) {
      return { server: tool?.server ?? "", tool: tool?.name ?? "" };
    }
    return { tools: this.text, tool: tool?.name ?? "" };
  }

  /**
   * Takes what a link has.
   *
   * @param {Record<string, string>} fields
   */
  write({ tools = "", tool = "", server }) {
    const isRegistered = server !== undefined;
    for (const source of this.#sources) {
      source.checked = (source.value === "registered") === isRegistered;
    }
    if (server !== undefined) {
      this.#registered.want(server, tool);
      this.#setSource(true);
      return;
    }
    this.#pasted = tools;
    this.#setSource(false);
    const index = this.#tools.findIndex(({ name }) => name === tool);
    this.#choice.selectedIndex = Math.max(index, this.#tools.length ? 0 : -1);
    this.#onChanged();
  }

  /**
   * Marks a place of the definitions, and scrolls to it.
   *
   * @param {((text: string) => import("./json_places.js").Place) | null} find
   */
  show(find) {
    if (find === null) {
      this.editor.markBy(markFault);
      return;
    }
    this.editor.markBy((text) => {
      const { keyStart, end } = find(text);
      return [{ start: keyStart, end, kind: "selected" }];
    });
    this.editor.reveal(find(this.text).keyStart);
  }

  /** Asks for the registered tools again, as with another token. */
  reload() {
    if (this.isRegistered) {
      void this.#registered.reload();
    }
  }

  /** @param {boolean} isRegistered */
  #setSource(isRegistered) {
    this.#registeredControls.hidden = !isRegistered;
    this.#toolRow.hidden = isRegistered;
    this.editor.field.readOnly = isRegistered;
    this.#format.hidden = isRegistered;
    if (isRegistered) {
      this.#fault = null;
      this.#describe("");
      void this.#registered.reload();
    } else {
      this.editor.text = this.#pasted;
      this.#read();
    }
  }

  #showRegistered() {
    if (!this.isRegistered) {
      return;
    }
    const { chosen } = this.#registered;
    this.editor.text = chosen && isJson(chosen.text) ? format(chosen.text) : "";
    this.#tools = chosen ? [{ ...chosen, pointer: "" }] : [];
    this.#onChanged();
  }

  /** Finds the tools in the text. */
  #read() {
    const { text } = this.editor;
    const name = this.tool?.name;
    this.#pasted = text;
    this.#tools = findTools(text);
    const labels = this.#tools.map(
      (tool, index) => tool.name || `(tool ${index + 1} without a name)`,
    );
    fill(this.#choice, ...labels.map((label) => element("option", {}, label)));
    const kept = this.#tools.findIndex((tool) => tool.name === name);
    this.#choice.selectedIndex = Math.max(kept, this.#tools.length ? 0 : -1);
    this.#fault = text.trim() === "" ? null : findFault(text);
    this.#describe(describeDefinitions(text, this.#tools, this.#fault));
    this.#onChanged();
  }

  /** @param {string} text */
  #describe(text) {
    this.#note.textContent = text;
    this.#note.classList.toggle("bad", this.#fault !== null);
  }
}
