/** Compares two versions of definitions: what changed, and whether it breaks callers. */

import { pythonBytes, pythonText, shellFile, shellOptions } from "./commands.js";
import { Definitions } from "./definitions.js";
import { byId, codeRegion, counted, element, fill } from "./elements.js";
import { errorHeadline, errorView, showStatus } from "./findings.js";
import { locate, textAt } from "./json_places.js";
import { objectText, plainProperty } from "./json_text.js";
import { Live } from "./live.js";
import { readControls, writeControls } from "./tab.js";

const MOST_SHOWN = 300;

/** @type {Readonly<Record<string, "good" | "bad" | "fair">>} */
const TONES = Object.freeze({
  breaking: "bad",
  undecided: "fair",
  risky: "fair",
  compatible: "good",
  cosmetic: "good",
});

const BADGES = Object.freeze({ bad: "error", fair: "warning", good: "good" });

/**
 * @typedef {object} Change
 * @property {string} code
 * @property {string | null} old_location
 * @property {string | null} new_location
 * @property {string} message
 * @property {{level: string, witness: {message: string} | null}} assume_closed
 * @property {{level: string, witness: {message: string} | null}} as_written
 */

/** @typedef {import("./tab.js").Tab} Tab */

/** @implements {Tab} */
export class CompareTab {
  name = "compare";
  #view = byId("compare-outcome");
  #status = byId("compare-status");
  #controls = { reading: byId("compare-reading", HTMLSelectElement) };
  #old;
  #new;
  #live;

  /** @param {import("./tab.js").Page} page */
  constructor(page) {
    const changed = () => {
      this.#live.soon();
      page.changed();
    };
    this.#old = new Definitions("old", changed);
    this.#new = new Definitions("new", changed);
    this.#controls.reading.addEventListener("change", changed);
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
    return {
      old: this.#old.text,
      new: this.#new.text,
      ...readControls(this.#controls),
    };
  }

  /** @param {Record<string, string>} fields */
  write(fields) {
    writeControls(fields, this.#controls);
    this.#old.text = fields.old ?? "";
    this.#new.text = fields.new ?? "";
  }

  copy() {
    if (!this.#isComplete) {
      return null;
    }
    const reading = this.#controls.reading.value;
    const closed = reading === "assume-closed";
    const options = shellOptions({ reading: closed ? "" : reading });
    return {
      method: "compare-tools",
      body: this.#body(),
      imports: [],
      python: [
        `old = ${pythonBytes(this.#old.text)}`,
        `new = ${pythonBytes(this.#new.text)}`,
        `comparison = client.compare(old, new, reading=${pythonText(reading)})`,
        "print(comparison.level)",
        "for tool in comparison.tools:",
        "    for change in tool.changes:",
        "        print(tool.name, change.code, change.message)",
      ].join("\n"),
      cli:
        shellFile("old", this.#old.text) +
        shellFile("new", this.#new.text) +
        `sidecheck diff${options} "$old" "$new"`,
    };
  }

  get #isComplete() {
    return this.#old.tools.length > 0 && this.#new.tools.length > 0;
  }

  #requests() {
    return this.#isComplete ? [{ method: "compare-tools", body: this.#body() }] : [];
  }

  #body() {
    const set = (/** @type {Definitions} */ { tools }) =>
      objectText(`"tools": [${tools.map(({ text }) => text).join(", ")}]`);
    return objectText(
      `"old": ${set(this.#old)}`,
      `"new": ${set(this.#new)}`,
      plainProperty("reading", this.#controls.reading.value),
    );
  }

  /** @param {PromiseSettledResult<import("./api.js").Answer>[]} answers */
  #show([answer]) {
    this.#old.mark(null);
    this.#new.mark(null);
    if (answer === undefined) {
      const broken = [this.#old, this.#new].find(({ fault }) => fault !== null);
      showStatus(
        this.#status,
        broken ? `The ${broken.side} definitions are not JSON` : "Paste two definitions to compare",
        broken ? "bad" : "",
      );
      fill(this.#view);
      return;
    }
    if (answer.status === "rejected") {
      showStatus(this.#status, errorHeadline(answer.reason), "bad");
      fill(this.#view, errorView(answer.reason, { retry: () => void this.#live.now() }));
      return;
    }
    const { tools, level } = answer.value.value;
    const count = tools.reduce(
      (/** @type {number} */ sum, /** @type {any} */ { changes }) => sum + changes.length,
      0,
    );
    const isSame = count === 0;
    showStatus(
      this.#status,
      isSame ? "No changes" : `${capital(level)}: ${counted(count, "change")}`,
      isSame ? "good" : (TONES[level] ?? "fair"),
    );
    const more = tools.length - MOST_SHOWN;
    fill(
      this.#view,
      ...tools
        .slice(0, MOST_SHOWN)
        .map((/** @type {any} */ tool, /** @type {number} */ index) =>
          this.#toolView(tool, `/tools/${index}`, answer.value.text),
        ),
      more > 0 && element("p", { class: "note" }, `and ${counted(more, "tool")} more`),
    );
  }

  /**
   * @param {any} tool
   * @param {string} pointer To it, in the answer.
   * @param {string} text The answer.
   */
  #toolView(tool, pointer, text) {
    const level = tool[this.#reading];
    const was = tool.old_name ? `, was ${tool.old_name}` : "";
    /** @type {Change[]} */
    const changes = tool.changes;
    const items = changes
      .slice(0, MOST_SHOWN)
      .map((change, index) => this.#change(tool, change, `${pointer}/changes/${index}`, text));
    return element(
      "section",
      { class: "part" },
      element(
        "div",
        { class: "part-head" },
        levelBadge(level),
        element("h3", {}, tool.name || "(no name)"),
        element("span", { class: "tally" }, tool.status + was),
      ),
      changes.length > 0
        ? element("ul", { class: "findings" }, ...items)
        : element("p", { class: "note" }, "No changes"),
    );
  }

  /**
   * @param {any} tool
   * @param {Change} change
   * @param {string} pointer
   * @param {string} text
   */
  #change(tool, change, pointer, text) {
    const { level, witness } = change[this.#reading];
    const payload = textAt(text, `${pointer}/${this.#reading}/witness/payload`);
    const location = change.new_location ?? change.old_location ?? "";
    return element(
      "li",
      { class: `finding stacked ${BADGES[TONES[level] ?? "fair"]}` },
      element(
        "button",
        { type: "button", class: "finding-place", onclick: () => this.#choose(tool, change) },
        levelBadge(level),
        element("span", { class: "finding-code" }, change.code),
        element("span", { class: "pointer" }, location || "(root)"),
        element("span", { class: "finding-message" }, change.message),
      ),
      witness &&
        payload !== null &&
        element(
          "details",
          { class: "witness" },
          element("summary", {}, "Payload that proves it"),
          codeRegion(`Payload that proves it: ${change.code}`, payload),
          element("p", { class: "note" }, witness.message),
        ),
    );
  }

  /**
   * Leads to the place of a change, in the texts that have it.
   *
   * @param {any} tool
   * @param {Change} change
   */
  #choose(tool, { old_location: before, new_location: after }) {
    const places = [
      [this.#old, tool.old_name || tool.name, before],
      [this.#new, tool.name, after],
    ];
    for (const [
      definitions,
      name,
      location,
    ] of /** @type {[Definitions, string, string | null][]} */ (places)) {
      const root = definitions.tools.find((each) => each.name === name)?.pointer;
      const pointer = location === null || root === undefined ? null : root + location;
      definitions.mark(pointer);
      if (pointer !== null) {
        const { keyStart, end } = locate(definitions.text, pointer);
        definitions.editor.select(keyStart, end);
      }
    }
  }

  get #reading() {
    return this.#controls.reading.value === "as-written" ? "as_written" : "assume_closed";
  }
}

/** @param {string} level */
function levelBadge(level) {
  return element("span", { class: `badge ${BADGES[TONES[level] ?? "fair"]}` }, level);
}

/** @param {string} word */
function capital(word) {
  return word.charAt(0).toUpperCase() + word.slice(1);
}
