/** Infers tool definitions from Python source text, which is read and never run. */

import { hereDocument, pythonText, shellOptions } from "./commands.js";
import { byId, codeSection, counted, element, fill } from "./elements.js";
import { Editor } from "./editor.js";
import { errorHeadline, errorView, severityBadge, showStatus } from "./findings.js";
import { textAt } from "./json_places.js";
import { format, objectText, plainProperty } from "./json_text.js";
import { Live } from "./live.js";
import { readControls, writeControls } from "./tab.js";

const MOST_SHOWN = 200;

/**
 * @typedef {object} Diagnostic
 * @property {string} code
 * @property {"error" | "warning" | "info"} severity
 * @property {string} message
 * @property {number} line 0 if it concerns the whole text.
 * @property {number} column
 * @property {number} end_line
 * @property {number} end_column
 */

/** @typedef {import("./tab.js").Tab} Tab */

/** @implements {Tab} */
export class InferTab {
  name = "infer";
  #view = byId("infer-outcome");
  #status = byId("infer-status");
  #controls = {
    functions: byId("functions", HTMLInputElement),
    unsupported: byId("on-unsupported", HTMLSelectElement),
  };
  #editor;
  #live;

  /** @param {import("./tab.js").Page} page */
  constructor(page) {
    const changed = () => {
      this.#live.soon();
      page.changed();
    };
    this.#editor = new Editor(byId("source-text", HTMLTextAreaElement), changed);
    for (const control of Object.values(this.#controls)) {
      control.addEventListener("input", changed);
    }
    this.#live = new Live(() => this.#requests(), {
      show: (answers) => this.#show(answers),
      setPending: (isPending) => this.#view.classList.toggle("pending", isPending),
    });
  }

  open() {}

  ask() {
    this.#live.soon();
  }

  read() {
    return { source: this.#editor.text, ...readControls(this.#controls) };
  }

  /** @param {Record<string, string>} fields */
  write(fields) {
    writeControls(fields, this.#controls);
    this.#editor.text = fields.source ?? "";
  }

  copy() {
    const { text } = this.#editor;
    if (text.trim() === "") {
      return null;
    }
    const functions = this.#functions;
    const acceptsAny = this.#controls.unsupported.value === "any";
    const options = [
      functions.length > 0 && `functions=[${functions.map(pythonText).join(", ")}]`,
      acceptsAny && 'on_unsupported="any"',
    ].filter(Boolean);
    const cliOptions =
      functions.map((name) => shellOptions({ function: name })).join("") +
      shellOptions({ "on-unsupported": acceptsAny ? "any" : "" });
    return {
      method: "infer-tools",
      body: this.#body(text),
      imports: [],
      python: [
        `source = ${pythonText(text)}`,
        `inferred = client.inference.infer_tools(${["source", ...options].join(", ")})`,
        "for tool in inferred.tools:",
        "    print(tool.json)",
        "for diagnostic in inferred.diagnostics:",
        "    print(diagnostic.line, diagnostic.code, diagnostic.message)",
      ].join("\n"),
      cli: `sidecheck infer${cliOptions} - ${hereDocument(text)}`,
      note: "The command line writes output schemas in the form of a protocol version.",
    };
  }

  get #functions() {
    return this.#controls.functions.value.split(/[\s,]+/).filter(Boolean);
  }

  #requests() {
    const { text } = this.#editor;
    return text.trim() === "" ? [] : [{ method: "infer-tools", body: this.#body(text) }];
  }

  /** @param {string} text */
  #body(text) {
    const functions = this.#functions;
    return objectText(
      plainProperty("source", text),
      functions.length > 0 ? plainProperty("functions", functions) : "",
      plainProperty("on_unsupported", this.#controls.unsupported.value),
    );
  }

  /** @param {PromiseSettledResult<import("./api.js").Answer>[]} answers */
  #show([answer]) {
    this.#editor.markBy(() => []);
    if (answer === undefined) {
      showStatus(this.#status, "There is no source text", "");
      fill(this.#view);
      return;
    }
    if (answer.status === "rejected") {
      showStatus(this.#status, errorHeadline(answer.reason), "bad");
      fill(this.#view, errorView(answer.reason, { retry: () => void this.#live.now() }));
      return;
    }
    const { value, text } = answer.value;
    /** @type {Diagnostic[]} */
    const diagnostics = value.diagnostics;
    const errors = diagnostics.filter(({ severity }) => severity === "error").length;
    const others = diagnostics.length - errors;
    const found = [
      counted(value.tools.length, "tool"),
      errors && counted(errors, "error"),
      others && counted(others, "warning"),
    ].filter(Boolean);
    const tone = errors ? "bad" : others || value.tools.length === 0 ? "fair" : "good";
    showStatus(this.#status, found.join(", "), tone);
    const more = value.tools.length - MOST_SHOWN;
    fill(
      this.#view,
      this.#diagnosticList(diagnostics),
      ...value.tools
        .slice(0, MOST_SHOWN)
        .map((/** @type {{line: number, function: string}} */ tool, /** @type {number} */ index) =>
          this.#toolView(tool, textAt(text, `/tools/${index}/tool`) ?? ""),
        ),
      more > 0 && element("p", { class: "note" }, `and ${counted(more, "tool")} more`),
    );
    this.#editor.markBy((current) =>
      diagnostics
        .filter(({ line }) => line > 0)
        .slice(0, MOST_SHOWN)
        .map((diagnostic) => ({
          ...rangeOf(current, diagnostic),
          kind: diagnostic.severity,
        })),
    );
  }

  /** @param {Diagnostic[]} diagnostics */
  #diagnosticList(diagnostics) {
    const items = diagnostics.slice(0, MOST_SHOWN).map((diagnostic) => {
      const { code, severity, message, line, column } = diagnostic;
      const place = line > 0 ? `line ${line}, column ${column}` : "(whole text)";
      const choose = () => {
        const { start, end } = rangeOf(this.#editor.text, diagnostic);
        this.#editor.select(start, end);
      };
      return element(
        "li",
        { class: `finding ${severity}` },
        element(
          "button",
          { type: "button", class: "finding-place", onclick: choose },
          severityBadge(severity),
          element("span", { class: "finding-code" }, code),
          element("span", { class: "pointer" }, place),
          element("span", { class: "finding-message" }, message),
        ),
      );
    });
    return element("ul", { class: "findings" }, ...items);
  }

  /**
   * @param {{line: number, function: string}} tool
   * @param {string} json
   */
  #toolView({ line, function: name }, json) {
    const choose = () => {
      const { start, end } = rangeOf(this.#editor.text, { line, column: 1, end_line: line });
      this.#editor.select(start, end);
    };
    return element(
      "section",
      { class: "part" },
      element(
        "div",
        { class: "part-head" },
        element("h3", {}, name),
        element("button", { type: "button", class: "quiet", onclick: choose }, `line ${line}`),
      ),
      codeSection(`Definition of ${name}`, format(json), true),
    );
  }
}

/**
 * Returns the offsets of a range of lines and columns, which begin with 1. Columns count
 * characters; without an end, the range ends with its line.
 *
 * @param {string} text
 * @param {{line: number, column: number, end_line: number, end_column?: number}} range
 */
function rangeOf(text, { line, column, end_line: endLine, end_column: endColumn }) {
  const lines = text.split("\n");
  const offset = (/** @type {number} */ row, /** @type {number} */ characters) => {
    const before = lines.slice(0, row - 1).reduce((sum, each) => sum + each.length + 1, 0);
    return before + [...(lines[row - 1] ?? "")].slice(0, characters).join("").length;
  };
  const start = offset(line, column - 1);
  const end = offset(endLine, endColumn === undefined ? Infinity : endColumn - 1);
  return { start, end: Math.max(end, start + 1) };
}
