/** Validates a payload against a tool, as it is typed. */

import { pythonBytes, pythonMember, pythonText, shellFile, shellOptions } from "./commands.js";
import { byId, fill } from "./elements.js";
import { Editor } from "./editor.js";
import { errorHeadline, errorView, showStatus } from "./findings.js";
import { describePlace } from "./json_fault.js";
import { locate, locateKeyword, textAt } from "./json_places.js";
import { jsonProperty, objectText, plainProperty } from "./json_text.js";
import { Live } from "./live.js";
import { readControls, writeControls } from "./tab.js";
import { locateFault } from "./tool_texts.js";
import { headline, renderVerdict } from "./verdict_view.js";

/** @typedef {import("./api.js").Violation} Violation */

const MOST_VIOLATIONS = 100;

/** Characters that may be scanned for marks while somebody types. */
const MOST_SCANNED = 20_000_000;

/** Methods of the Python client for the kinds of payloads. */
const PYTHON_METHODS = Object.freeze({
  arguments: "validate",
  call_params: "validate_call",
  structured_content: "validate_structured_content",
  call_result: "validate_call_result",
});

/** @typedef {import("./tab.js").Tab} Tab */

/** @implements {Tab} */
export class ValidateTab {
  name = "validate";
  #panel = byId("panel-validate");
  #view = byId("verdict");
  #status = byId("verdict-status");
  #controls = {
    subject: byId("subject", HTMLSelectElement),
    coercion: byId("coercion", HTMLSelectElement),
    unknown: byId("unknown-arguments", HTMLSelectElement),
    defaults: byId("apply-defaults", HTMLInputElement),
    formats: byId("assert-formats", HTMLInputElement),
  };
  #page;
  #editor;
  #live;

  /** @param {import("./tab.js").Page} page */
  constructor(page) {
    this.#page = page;
    const changed = () => {
      this.#live.soon();
      page.changed();
    };
    this.#editor = new Editor(byId("payload-text", HTMLTextAreaElement), changed);
    byId("payload-format").addEventListener("click", () => this.#editor.format());
    for (const control of Object.values(this.#controls)) {
      control.addEventListener("change", changed);
    }
    this.#live = new Live(() => this.#requests(), {
      show: (answers) => this.#show(answers),
      setPending: (isPending) => this.#view.classList.toggle("pending", isPending),
    });
  }

  open() {
    this.#page.tools.moveTo(this.#panel, true);
  }

  ask() {
    this.#live.soon();
  }

  read() {
    return {
      ...this.#page.tools.read(),
      payload: this.#editor.text,
      ...readControls(this.#controls),
    };
  }

  /** @param {Record<string, string>} fields */
  write(fields) {
    writeControls(fields, this.#controls);
    this.#editor.text = fields.payload ?? "{}";
    this.#page.tools.write(fields);
  }

  copy() {
    const tool = this.#page.tools.tool;
    if (tool === null) {
      return null;
    }
    const { subject, coercion, unknown, defaults, formats } = this.#controls;
    const kind = this.#subject;
    const version = this.#page.version();
    const targetClass = tool.server === null ? "ToolDefinition" : "RegisteredTool";
    const target =
      tool.server === null
        ? pythonBytes(tool.text)
        : `${pythonText(tool.server)}, ${pythonText(tool.name)}`;
    const options = [
      version && `protocol_version=${pythonText(version)}`,
      `max_violations=${MOST_VIOLATIONS}`,
      unknown.value !== "schema" &&
        `unknown_arguments=UnknownArguments.${pythonMember(unknown.value)}`,
      `coercion=Coercion.${pythonMember(coercion.value)}`,
      defaults.checked && "apply_defaults=True",
      formats.checked && "assert_formats=True",
    ].filter(Boolean);
    const cliOptions = shellOptions({
      tool: tool.name,
      subject: subject.value === "arguments" ? "" : subject.value.replaceAll("_", "-"),
      "protocol-version": version,
      "assert-formats": formats.checked,
      "max-violations": String(MOST_VIOLATIONS),
    });
    return {
      method: "validate",
      body: this.#body(tool),
      imports: [targetClass, "Options", "Coercion", "UnknownArguments"].filter(
        (name) => name !== "UnknownArguments" || unknown.value !== "schema",
      ),
      python: [
        `target = ${targetClass}(${target})`,
        `payload = ${pythonBytes(this.#editor.text)}`,
        `options = Options(${options.join(", ")})`,
        `verdict = client.${PYTHON_METHODS[kind]}(target, payload, options=options)`,
        "print(verdict.valid)",
        "for violation in verdict.violations:",
        '    print(violation.instance_location or "(root)", violation.code, violation.message)',
      ].join("\n"),
      cli:
        shellFile("tools", tool.text) +
        shellFile("payload", this.#editor.text) +
        `sidecheck validate --tools "$tools"${cliOptions} "$payload"`,
      note: "The command line validates; it repairs nothing and treats unknown properties as the schema says.",
    };
  }

  get #subject() {
    return /** @type {keyof typeof PYTHON_METHODS} */ (this.#controls.subject.value);
  }

  /** JSON Pointer to the schema of the payload, in the text of the tools. */
  get #schemaRoot() {
    const isInput = this.#subject === "arguments" || this.#subject === "call_params";
    return `${this.#page.tools.tool?.pointer ?? ""}/${isInput ? "inputSchema" : "outputSchema"}`;
  }

  #requests() {
    const tool = this.#page.tools.tool;
    return tool === null ? [] : [{ method: "validate", body: this.#body(tool) }];
  }

  /** @param {import("./tool_texts.js").Tool} tool */
  #body(tool) {
    const { coercion, unknown, defaults, formats } = this.#controls;
    const options = objectText(
      plainProperty("protocol_version", this.#page.version()),
      plainProperty("max_violations", MOST_VIOLATIONS),
      plainProperty("unknown_arguments", unknown.value),
      plainProperty("coercion", coercion.value),
      plainProperty("apply_defaults", defaults.checked),
      plainProperty("assert_formats", formats.checked),
    );
    const target =
      tool.server === null
        ? [jsonProperty("tool", tool.text)]
        : [plainProperty("server", tool.server), plainProperty("name", tool.name)];
    const payload = jsonProperty(this.#subject, this.#editor.text);
    return objectText(...target, payload, `"options": ${options}`);
  }

  /** @param {PromiseSettledResult<import("./api.js").Answer>[]} answers */
  #show([answer]) {
    this.#page.tools.show(null);
    if (answer === undefined) {
      const { headline: next, isBroken } = this.#page.tools;
      showStatus(
        this.#status,
        isBroken ? next : `${next} to validate against`,
        isBroken ? "bad" : "",
      );
      fill(this.#view);
      this.#editor.markBy(() => []);
    } else if (answer.status === "rejected") {
      showStatus(this.#status, errorHeadline(answer.reason), "bad");
      const view = errorView(answer.reason, {
        retry: () => void this.#live.now(),
        choose: (fault) => this.#showFault(fault.instance_location),
        describe: (fault) => {
          const { tools } = this.#page;
          return describePlace(tools.text, this.#locateFault(fault.instance_location).keyStart);
        },
      });
      fill(this.#view, view);
      this.#editor.markBy(() => []);
    } else {
      this.#showVerdict(answer.value);
    }
  }

  /** @param {import("./api.js").Answer} answer */
  #showVerdict({ value, text }) {
    const { verdict } = value;
    const { text: title, tone } = headline(verdict);
    showStatus(this.#status, title, tone);
    const payload = this.#editor.text;
    const parts = renderVerdict(verdict, {
      payload,
      repaired: verdict.repair && textAt(text, "/verdict/repair/payload"),
      choose: (violation) => this.#choose(violation),
      apply: (repaired) => this.#editor.replace(repaired),
    });
    fill(this.#view, ...parts);
    this.#editor.markBy((current) => marksOf(current, verdict.violations));
  }

  /**
   * Leads to the place of a violation, in the payload and in the schema.
   *
   * @param {Violation} violation
   */
  #choose({ instance_location: pointer, keyword_location: keyword }) {
    const root = this.#schemaRoot;
    this.#page.tools.show(keyword ? (text) => locateKeyword(text, root, keyword) : null);
    const { keyStart, end } = locate(this.#editor.text, pointer);
    this.#editor.select(keyStart, end);
  }

  /**
   * Leads to the place of a fault of the schema.
   *
   * @param {string} pointer
   */
  #showFault(pointer) {
    this.#page.tools.show((text) => this.#locateFault(pointer, text));
  }

  /**
   * @param {string} pointer
   * @param {string} [text] Of the definitions.
   */
  #locateFault(pointer, text = this.#page.tools.text) {
    return locateFault(text, [this.#schemaRoot, this.#page.tools.tool?.pointer ?? ""], pointer);
  }
}

/**
 * Returns marks at violations.
 *
 * @param {string} text
 * @param {Violation[]} violations
 */
export function marksOf(text, violations) {
  const most = Math.min(100, Math.floor(MOST_SCANNED / (text.length + 1)));
  return violations.slice(0, most).map(({ instance_location: pointer, severity }) => {
    const { keyStart, start, end } = locate(text, pointer);
    // An object that lacks something would be marked as a whole.
    const isBlock = text[start] === "{" || text[start] === "[";
    return { start: keyStart, end: isBlock ? start + 1 : end, kind: severity };
  });
}
