/** A verdict: what is wrong, what to tell the model, and how the payload could be repaired. */

import { compareLines, renderDifference } from "./difference.js";
import { codeRegion, codeSection, counted, element } from "./elements.js";
import { violationList } from "./findings.js";
import { format, isJson } from "./json_text.js";

/** @typedef {import("./api.js").Verdict} Verdict */
/** @typedef {import("./api.js").Violation} Violation */

/**
 * Returns the headline of a verdict.
 *
 * @param {Pick<Verdict, "valid" | "violations" | "truncated">} verdict
 * @returns {{text: string, tone: "good" | "bad" | "fair"}}
 */
export function headline({ valid, violations, truncated }) {
  const count = counted(violations.length, valid ? "warning" : "violation");
  if (valid) {
    return violations.length > 0
      ? { text: `Valid, with ${count}`, tone: "fair" }
      : { text: "Valid", tone: "good" };
  }
  return { text: `Invalid: ${truncated ? "more than " : ""}${count}`, tone: "bad" };
}

/**
 * Returns the parts of a verdict.
 *
 * @param {Verdict} verdict
 * @param {object} context
 * @param {string} context.payload What was validated.
 * @param {string | null} context.repaired Text of the repaired payload, with its own spelling.
 * @param {(violation: Violation) => void} context.choose Leads to the place of a violation.
 * @param {(text: string) => void} context.apply Takes the repaired payload.
 * @returns {(Node | null)[]}
 */
export function renderVerdict(verdict, { payload, repaired, choose, apply }) {
  return [
    verdict.enforced
      ? null
      : element("p", { class: "note" }, "The server only reports verdicts on this tool."),
    violationList(verdict.violations, choose),
    verdict.repair && repaired !== null
      ? renderRepair(verdict.repair, payload, repaired, apply)
      : null,
    verdict.tool_error_text
      ? element(
          "section",
          { class: "part" },
          element("h3", {}, "Text for the model"),
          codeRegion("Text for the model", verdict.tool_error_text),
        )
      : null,
    section("CallToolResult to return", verdict.call_tool_result),
    section("JSON-RPC error to return", verdict.json_rpc_error),
  ];
}

/**
 * Returns a section with JSON, closed; nothing if there is none.
 *
 * @param {string} title
 * @param {unknown} value
 */
export function section(title, value) {
  return value ? codeSection(title, JSON.stringify(value, null, 2)) : null;
}

/**
 * @param {NonNullable<Verdict["repair"]>} repair
 * @param {string} payload
 * @param {string} repaired
 * @param {(text: string) => void} apply
 */
function renderRepair(repair, payload, repaired, apply) {
  const result = format(repaired);
  const before = isJson(payload) ? format(payload) : payload;
  const changes = repair.changes
    .slice(0, 100)
    .map(({ instance_location: place, message }) =>
      element("li", {}, element("span", { class: "pointer" }, place || "(root)"), ` ${message}`),
    );
  const { length } = repair.violations;
  return element(
    "section",
    { class: "part" },
    element(
      "div",
      { class: "part-head" },
      element("h3", {}, "Repair"),
      element(
        "span",
        { class: `badge ${repair.valid ? "good" : "warning"}` },
        repair.valid ? "Makes it valid" : `Leaves ${counted(length, "violation")}`,
      ),
      element(
        "button",
        { type: "button", class: "primary", onclick: () => apply(result) },
        "Apply",
      ),
    ),
    element("ul", { class: "changes" }, ...changes),
    renderDifference(compareLines(before, result), "Difference of the repair"),
  );
}
