/** Checks one JSON-RPC message. */

import { hereDocument, pythonBytes, pythonText, shellOptions } from "./commands.js";
import { byId, fill } from "./elements.js";
import { Editor } from "./editor.js";
import { errorHeadline, errorView, showStatus, violationList } from "./findings.js";
import { locate } from "./json_places.js";
import { jsonProperty, objectText, plainProperty } from "./json_text.js";
import { Live } from "./live.js";
import { readControls, writeControls } from "./tab.js";
import { marksOf } from "./validate_tab.js";
import { headline, section } from "./verdict_view.js";

/** @typedef {import("./tab.js").Tab} Tab */

/** @implements {Tab} */
export class MessageTab {
  name = "message";
  #view = byId("message-outcome");
  #status = byId("message-status");
  #controls = {
    sender: byId("sender", HTMLSelectElement),
    answers: byId("request-method", HTMLInputElement),
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
    this.#editor = new Editor(byId("message-text", HTMLTextAreaElement), changed);
    byId("message-format").addEventListener("click", () => this.#editor.format());
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
    return { message: this.#editor.text, ...readControls(this.#controls) };
  }

  /** @param {Record<string, string>} fields */
  write(fields) {
    writeControls(fields, this.#controls);
    this.#editor.text = fields.message ?? "";
  }

  copy() {
    const { text } = this.#editor;
    if (text.trim() === "") {
      return null;
    }
    const { sender, answers } = this.#controls;
    const version = this.#page.version();
    const method = answers.value.trim();
    const parameters = [
      "message",
      sender.value && `sender=${pythonText(sender.value)}`,
      method && `request_method=${pythonText(method)}`,
      version && `context=ProtocolContext(${pythonText(version)})`,
    ].filter(Boolean);
    // A line of a transcript: in JSON, line breaks are between its tokens only.
    const line = objectText(
      plainProperty("direction", sender.value),
      plainProperty("request_method", method),
      `"message": ${text.replaceAll("\n", " ")}`,
    );
    const options = shellOptions({ partial: true, "protocol-version": version });
    return {
      method: "check-message",
      body: this.#body(text),
      imports: version ? ["ProtocolContext"] : [],
      python: [
        `message = ${pythonBytes(text)}`,
        `result = client.protocol.check_message(${parameters.join(", ")})`,
        "print(result.verdict.valid)",
        "for violation in result.verdict.violations:",
        '    print(violation.instance_location or "(root)", violation.code, violation.message)',
      ].join("\n"),
      cli: `sidecheck lint-messages${options} - ${hereDocument(line)}`,
      note: "The command line checks the message as a part of a session.",
    };
  }

  #requests() {
    const { text } = this.#editor;
    return text.trim() === "" ? [] : [{ method: "check-message", body: this.#body(text) }];
  }

  /** @param {string} text */
  #body(text) {
    const { sender, answers } = this.#controls;
    const context = objectText(plainProperty("protocol_version", this.#page.version()));
    return objectText(
      jsonProperty("message", text),
      plainProperty("sender", sender.value),
      plainProperty("request_method", answers.value.trim()),
      `"context": ${context}`,
      '"options": {"max_violations": 100}',
    );
  }

  /** @param {PromiseSettledResult<import("./api.js").Answer>[]} answers */
  #show([answer]) {
    this.#editor.markBy(() => []);
    if (answer === undefined) {
      showStatus(this.#status, "There is no message", "");
      fill(this.#view);
    } else if (answer.status === "rejected") {
      showStatus(this.#status, errorHeadline(answer.reason), "bad");
      fill(this.#view, errorView(answer.reason, { retry: () => void this.#live.now() }));
    } else {
      const { verdict, error_response: response } = answer.value.value;
      const { text, tone } = headline(verdict);
      showStatus(this.#status, text, tone);
      const list = violationList(verdict.violations, ({ instance_location: pointer }) => {
        const { keyStart, end } = locate(this.#editor.text, pointer);
        this.#editor.select(keyStart, end);
      });
      fill(this.#view, list, section("Error response to send", response));
      this.#editor.markBy((current) => marksOf(current, verdict.violations));
    }
  }
}
