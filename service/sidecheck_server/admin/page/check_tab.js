/** Checks tool definitions by the rules of a protocol version. */

import { hereDocument, pythonBytes, pythonText, shellOptions } from "./commands.js";
import { byId, counted, element, fill } from "./elements.js";
import { errorHeadline, errorView, showStatus, violationList } from "./findings.js";
import { locate } from "./json_places.js";
import { jsonProperty, objectText, plainProperty } from "./json_text.js";
import { Live } from "./live.js";
import { readControls, writeControls } from "./tab.js";

const DISPOSITIONS = Object.freeze({
  keep: "Clients use the tool",
  warn: "Clients use the tool; its findings deserve attention",
  drop: "Clients ignore the tool",
});

const MOST_SHOWN = 300;

/** @typedef {import("./api.js").Verdict} Verdict */

/** @typedef {import("./tab.js").Tab} Tab */

/** @implements {Tab} */
export class CheckTab {
  name = "check";
  #panel = byId("panel-check");
  #view = byId("check-outcomes");
  #status = byId("check-status");
  #controls = { severity: byId("check-severity", HTMLSelectElement) };
  #page;
  #live;

  /** @param {import("./tab.js").Page} page */
  constructor(page) {
    this.#page = page;
    this.#live = new Live(() => this.#requests(), {
      show: (answers) => this.#show(answers),
      setPending: (isPending) => this.#view.classList.toggle("pending", isPending),
    });
    this.#controls.severity.addEventListener("change", () => {
      this.#live.soon();
      page.changed();
    });
  }

  open() {
    this.#page.tools.moveTo(this.#panel, false);
  }

  ask() {
    this.#live.soon();
  }

  read() {
    return { ...this.#page.tools.read(), ...readControls(this.#controls) };
  }

  /** @param {Record<string, string>} fields */
  write(fields) {
    writeControls(fields, this.#controls);
    this.#page.tools.write(fields);
  }

  copy() {
    const { text } = this.#page.tools;
    if (text.trim() === "") {
      return null;
    }
    const version = this.#page.version();
    const severity = this.#controls.severity.value;
    const context = version ? `context=ProtocolContext(${pythonText(version)}), ` : "";
    const options = `options=CheckOptions(min_severity=Severity.${severity.toUpperCase()})`;
    const cliOptions = shellOptions({ "protocol-version": version, "min-severity": severity });
    return {
      method: "check-tools",
      body: this.#body(text),
      imports: ["CheckOptions", "Severity", ...(version ? ["ProtocolContext"] : [])],
      python: [
        `tools = ${pythonBytes(text)}`,
        `checked = client.protocol.check_tools(tools, ${context}${options})`,
        "for tool in checked.outcomes:",
        "    print(tool.name, tool.disposition.value)",
        "    for violation in tool.verdict.violations:",
        '        print("   ", violation.instance_location, violation.code, violation.message)',
      ].join("\n"),
      cli: `sidecheck check${cliOptions} - ${hereDocument(text)}`,
      note: "The command line reads definitions as registration does, which is lenient about their form.",
    };
  }

  #requests() {
    const { text } = this.#page.tools;
    return text.trim() === "" ? [] : [{ method: "check-tools", body: this.#body(text) }];
  }

  /** @param {string} text */
  #body(text) {
    const context = objectText(plainProperty("protocol_version", this.#page.version()));
    const severity = plainProperty("min_severity", this.#controls.severity.value);
    const options = objectText(plainProperty("max_violations", 100), severity);
    return objectText(
      jsonProperty("tools_list", text),
      `"context": ${context}`,
      `"options": ${options}`,
    );
  }

  /** @param {PromiseSettledResult<import("./api.js").Answer>[]} answers */
  #show([answer]) {
    this.#page.tools.show(null);
    if (answer === undefined) {
      showStatus(this.#status, "There are no tools to check", "");
      fill(this.#view);
      return;
    }
    if (answer.status === "rejected") {
      showStatus(this.#status, errorHeadline(answer.reason), "bad");
      fill(this.#view, errorView(answer.reason, { retry: () => void this.#live.now() }));
      return;
    }
    const { outcomes, tools_list_verdict: whole } = answer.value.value;
    const count = (/** @type {string} */ disposition) =>
      outcomes.filter((/** @type {any} */ outcome) => outcome.disposition === disposition).length;
    const [kept, warned, dropped] = ["keep", "warn", "drop"].map(count);
    const isBad = !whole?.valid || dropped;
    showStatus(
      this.#status,
      outcomes.length > 0
        ? `${counted(outcomes.length, "tool")}: ${kept} keep, ${warned} warn, ${dropped} drop`
        : "No tools",
      isBad ? "bad" : warned ? "fair" : "good",
    );
    const more = outcomes.length - MOST_SHOWN;
    fill(
      this.#view,
      whole && this.#wholeView(whole),
      ...outcomes.slice(0, MOST_SHOWN).map((/** @type {any} */ outcome) => this.#toolView(outcome)),
      more > 0 && element("p", { class: "note" }, `and ${counted(more, "tool")} more`),
    );
  }

  /** @param {Verdict} verdict On the list around the tools. */
  #wholeView(verdict) {
    return (
      verdict.violations.length > 0 &&
      element(
        "section",
        { class: "part" },
        element("h3", {}, "The list itself"),
        this.#findings(verdict, ""),
      )
    );
  }

  /**
   * @param {object} outcome
   * @param {string} outcome.name
   * @param {string} outcome.pointer
   * @param {keyof typeof DISPOSITIONS} outcome.disposition
   * @param {Verdict} outcome.verdict
   */
  #toolView({ name, pointer, disposition, verdict }) {
    const tone = { keep: "good", warn: "warning", drop: "error" }[disposition];
    return element(
      "section",
      { class: "part" },
      element(
        "div",
        { class: "part-head" },
        element("span", { class: `badge ${tone}`, title: DISPOSITIONS[disposition] }, disposition),
        element("h3", {}, name || "(no name)"),
      ),
      verdict.violations.length > 0
        ? this.#findings(verdict, pointer)
        : element("p", { class: "note" }, "No findings"),
    );
  }

  /**
   * @param {Verdict} verdict
   * @param {string} pointer To what the verdict is on.
   */
  #findings(verdict, pointer) {
    const { tools } = this.#page;
    return violationList(verdict.violations, ({ instance_location: location }) => {
      tools.show((text) => locate(text, pointer + location));
      const { keyStart, end } = locate(tools.text, pointer + location);
      tools.editor.select(keyStart, end);
    });
  }
}
