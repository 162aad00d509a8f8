/** Violations, and errors of calls, as lists whose entries lead to their places. */

import { Problem, Unreachable } from "./api.js";
import { element, webLink } from "./elements.js";

/** @typedef {import("./api.js").Violation} Violation */

/** A page of findings; a verdict may have a thousand. */
const MOST_SHOWN = 200;

const SEVERITIES = Object.freeze({ error: "Error", warning: "Warning", info: "Advice" });

/**
 * Returns a list of violations.
 *
 * @param {Violation[]} violations
 * @param {(violation: Violation) => void} onChoose Leads to the place of one.
 */
export function violationList(violations, onChoose) {
  const items = violations
    .slice(0, MOST_SHOWN)
    .map((violation) =>
      element(
        "li",
        { class: `finding ${violation.severity}` },
        element(
          "button",
          { type: "button", class: "finding-place", onclick: () => onChoose(violation) },
          severityBadge(violation.severity),
          element("span", { class: "finding-code" }, violation.code),
          element("span", { class: "pointer" }, violation.instance_location || "(root)"),
          element("span", { class: "finding-message" }, violation.message),
        ),
        webLink(violation.spec_url, "Specification"),
      ),
    );
  const more = violations.length - items.length;
  return element(
    "ul",
    { class: "findings" },
    ...items,
    more > 0 && element("li", { class: "note" }, `and ${more} more`),
  );
}

/** @param {Violation["severity"]} severity */
export function severityBadge(severity) {
  return element("span", { class: `badge ${severity}` }, SEVERITIES[severity]);
}

/**
 * Returns what an error says: what is wrong, where, and what would be right.
 *
 * @param {unknown} error What `call` threw.
 * @param {object} actions
 * @param {() => void} actions.retry
 * @param {(violation: {instance_location: string}) => void} [actions.choose] Leads to the place of
 *   a fault of a schema or definition.
 * @param {(violation: {instance_location: string}) => string} [actions.describe] Returns its line
 *   and column.
 */
export function errorView(error, { retry, choose, describe }) {
  const again = element("button", { type: "button", onclick: retry }, "Try again");
  if (error instanceof Unreachable) {
    return element(
      "div",
      { class: "problem" },
      element("p", { class: "problem-title" }, "The server does not answer"),
      element("p", {}, "It may have stopped. The next change of the input asks it again."),
      again,
    );
  }
  if (!(error instanceof Problem)) {
    throw error;
  }
  const { title, status, detail, reason, type, violations } = error.details;
  const faults = (violations ?? []).map((fault) =>
    element(
      "li",
      { class: "finding error" },
      element(
        "button",
        { type: "button", class: "finding-place", onclick: () => choose?.(fault) },
        element("span", { class: "finding-code" }, fault.code),
        element("span", { class: "pointer" }, fault.instance_location || "(root)"),
        describe && element("span", { class: "tally" }, describe(fault)),
        element("span", { class: "finding-message" }, fault.message),
      ),
    ),
  );
  const needsToken = status === 401 || status === 403;
  const openToken = () => document.dispatchEvent(new Event("token-needed"));
  return element(
    "div",
    { class: "problem" },
    element("p", { class: "problem-title" }, title),
    element("p", {}, detail),
    faults.length > 0 && element("ul", { class: "findings" }, ...faults),
    element(
      "p",
      { class: "note" },
      `${reason ?? "HTTP"} · status ${status} `,
      webLink(type, "About this error"),
    ),
    (status >= 500 || reason === "OVERLOADED") && again,
    needsToken &&
      element("button", { type: "button", class: "primary", onclick: openToken }, "Enter token"),
  );
}

/**
 * Returns the headline of an error.
 *
 * @param {unknown} error
 */
export function errorHeadline(error) {
  return error instanceof Problem ? `Error: ${error.details.title}` : "The server does not answer";
}

/**
 * Shows a headline with its tone.
 *
 * @param {HTMLElement} status
 * @param {string} text
 * @param {"good" | "bad" | "fair" | ""} tone
 */
export function showStatus(status, text, tone) {
  status.className = tone ? `status ${tone}` : "status";
  status.textContent = text;
}
