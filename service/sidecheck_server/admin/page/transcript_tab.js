/** Checks the messages of a session, in order. */

import { hereDocument, pythonBytes, pythonText, shellOptions } from "./commands.js";
import { byId, counted, element, fill } from "./elements.js";
import { Editor } from "./editor.js";
import { errorHeadline, errorView, showStatus, violationList } from "./findings.js";
import { locate } from "./json_places.js";
import { objectText, plainProperty } from "./json_text.js";
import { Live } from "./live.js";
import { readControls, writeControls } from "./tab.js";
import { readTranscript, sessionItem } from "./transcript.js";

/** @typedef {import("./transcript.js").Line} Line */
/** @typedef {import("./api.js").Violation} Violation */

const MOST_SHOWN = 500;
const MOST_MARKS = 200;

/** @typedef {import("./tab.js").Tab} Tab */

/** @implements {Tab} */
export class TranscriptTab {
  name = "transcript";
  #view = byId("session-outcome");
  #status = byId("transcript-status");
  #controls = { beginning: byId("from-beginning", HTMLInputElement) };
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
    this.#editor = new Editor(byId("transcript-text", HTMLTextAreaElement), changed);
    this.#controls.beginning.addEventListener("change", changed);
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
    return { transcript: this.#editor.text, ...readControls(this.#controls) };
  }

  /** @param {Record<string, string>} fields */
  write(fields) {
    writeControls(fields, this.#controls);
    this.#editor.text = fields.transcript ?? "";
  }

  copy() {
    const lines = readTranscript(this.#editor.text);
    if (lines.length === 0) {
      return null;
    }
    const isWhole = this.#controls.beginning.checked;
    const version = this.#page.version();
    const parameters = [
      version && `context=ProtocolContext(${pythonText(version)})`,
      !isWhole && "from_beginning=False",
    ].filter(Boolean);
    const options = shellOptions({
      partial: !isWhole,
      "protocol-version": version,
      "min-severity": "info",
    });
    return {
      method: "check-session",
      body: this.#body(lines),
      imports: version ? ["ProtocolContext"] : [],
      python: [
        "messages = [",
        ...lines.map(
          ({ sender, httpStatus, message }) =>
            `    (${pythonText(sender)}, ${httpStatus}, ${pythonBytes(message)}),`,
        ),
        "]",
        `with client.protocol.session(${parameters.join(", ")}) as session:`,
        "    for sender, http_status, message in messages:",
        "        result = session.check(message, sender=sender, http_status=http_status)",
        "        for violation in result.verdict.violations:",
        "            print(violation.instance_location, violation.code, violation.message)",
      ].join("\n"),
      cli: `sidecheck lint-messages${options} - ${hereDocument(this.#editor.text)}`,
    };
  }

  #requests() {
    const lines = readTranscript(this.#editor.text);
    return lines.length > 0 ? [{ method: "check-session", body: this.#body(lines) }] : [];
  }

  /** @param {Line[]} lines */
  #body(lines) {
    const context = objectText(plainProperty("protocol_version", this.#page.version()));
    return objectText(
      `"context": ${context}`,
      `"from_beginning": ${this.#controls.beginning.checked}`,
      `"items": [${lines.map(sessionItem).join(", ")}]`,
    );
  }

  /** @param {PromiseSettledResult<import("./api.js").Answer>[]} answers */
  #show([answer]) {
    this.#editor.markBy(() => []);
    if (answer === undefined) {
      showStatus(this.#status, "There are no messages", "");
      fill(this.#view);
      return;
    }
    if (answer.status === "rejected") {
      showStatus(this.#status, errorHeadline(answer.reason), "bad");
      fill(this.#view, errorView(answer.reason, { retry: () => void this.#live.now() }));
      return;
    }
    const { outcomes, summary } = answer.value.value;
    const lines = readTranscript(this.#editor.text);
    /** @type {Violation[]} */
    const violations = outcomes.flatMap(
      (/** @type {any} */ each) => each.result?.verdict.violations ?? [],
    );
    const errors = violations.filter(({ severity }) => severity === "error").length;
    const failed = outcomes.filter((/** @type {any} */ outcome) => outcome.error).length;
    const others = violations.length - errors;
    const count = counted(outcomes.length, "message");
    const found = [
      errors && counted(errors, "error"),
      others && counted(others, "warning"),
      failed && `${failed} not checked`,
    ].filter(Boolean);
    const tone = errors || failed ? "bad" : others ? "fair" : "good";
    showStatus(this.#status, `${count}: ${found.join(", ") || "no findings"}`, tone);
    const more = lines.length - MOST_SHOWN;
    fill(
      this.#view,
      element(
        "ol",
        { class: "messages" },
        ...lines.slice(0, MOST_SHOWN).map((line, index) => this.#message(line, outcomes[index])),
      ),
      more > 0 && element("p", { class: "note" }, `and ${counted(more, "message")} more`),
      renderRepetitions(summary?.repeated_violations ?? [], lines),
    );
    this.#editor.markBy((text) => marksIn(text, outcomes));
  }

  /**
   * @param {Line} line
   * @param {any} outcome
   */
  #message(line, outcome) {
    const { sender, summary, number } = line;
    const from = sender === "client" ? "client →" : sender === "server" ? "← server" : "unknown";
    const verdict = outcome?.result?.verdict;
    return element(
      "li",
      {},
      element(
        "div",
        { class: "message-head" },
        element("span", { class: "message-number" }, String(number)),
        element("span", { class: `message-sender ${sender}` }, from),
        element("span", { class: "message-summary" }, summary),
      ),
      outcome?.error && element("p", { class: "problem" }, outcome.error.detail),
      verdict?.violations.length > 0 &&
        violationList(verdict.violations, ({ instance_location: location }) => {
          const { start, end } = placeIn(line, location);
          this.#editor.select(start, end);
        }),
    );
  }
}

/**
 * Returns the place of a location of a message, in the transcript.
 *
 * @param {Line} line
 * @param {string} location
 */
function placeIn(line, location) {
  const { keyStart, end } = locate(line.text, line.pointer + location);
  return { start: line.start + keyStart, end: line.start + end };
}

/**
 * @param {string} text
 * @param {any[]} outcomes
 */
function marksIn(text, outcomes) {
  const marks = readTranscript(text).flatMap((line, index) => {
    /** @type {Violation[]} */
    const violations = outcomes[index]?.result?.verdict.violations ?? [];
    return violations.map(({ instance_location: location, severity }) => ({
      ...placeIn(line, location),
      kind: severity,
    }));
  });
  return marks.slice(0, MOST_MARKS);
}

/**
 * @param {{code: string, tool: string, count: number, first_item: number}[]} repetitions
 * @param {Line[]} lines
 */
function renderRepetitions(repetitions, lines) {
  const items = repetitions.map(({ code, tool, count, first_item: first }) => {
    const about = tool ? ` (${tool})` : "";
    const line = lines[first]?.number ?? first + 1;
    return element(
      "li",
      {},
      `${code}${about}: ${counted(count, "message")}, reported at line ${line}`,
    );
  });
  return (
    items.length > 0 &&
    element(
      "section",
      { class: "part" },
      element("h3", {}, "Reported once"),
      element("ul", { class: "changes" }, ...items),
    )
  );
}
