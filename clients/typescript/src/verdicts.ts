/** The error for an invalid payload, and texts that describe verdicts. */

import { nameErrors } from "./errors.js";
import { makePrintable, quote } from "./printable.js";
import type { Verdict, Violation } from "./values/verdict.js";

/**
 * A payload is invalid. Thrown only by {@link assertValid}. The message describes the first errors;
 * it contains values of the payload, unless the option `hideValues` was set.
 */
export class InvalidPayload extends Error {
  static {
    nameErrors(this, "InvalidPayload");
  }

  readonly verdict: Verdict;

  constructor(verdict: Verdict) {
    const errors = verdict.violations.filter(({ severity }) => severity === "error");
    super(listLines("the payload is invalid", errors.map(describeViolation), verdict.truncated));
    this.verdict = verdict;
  }
}

/**
 * Throws if a verdict is invalid and enforced. A repair does not matter here: this is about the
 * payload as sent.
 *
 * @throws InvalidPayload
 */
export function assertValid(verdict: Verdict): void {
  if (verdict.enforced && !verdict.valid) {
    throw new InvalidPayload(verdict);
  }
}

/** Most violations in the message of an error, which has all of them beside. */
const MAX_LINES = 10;

/** Longest description of a violation, in characters. */
const MAX_LINE = 600;

/** @internal Returns the location, message, suggestion and code of a violation, in one line. */
export function describeViolation(violation: Violation): string {
  const { suggestion } = violation;
  let text = violation.message;
  // Most messages contain it.
  if (suggestion && !text.includes(suggestion)) {
    text += `; did you mean ${quote(suggestion)}?`;
  }
  let line = makePrintable([violation.instanceLocation, text].filter(Boolean).join(": "));
  const characters = Array.from(line);
  if (characters.length > MAX_LINE) {
    line = `${characters.slice(0, MAX_LINE - 1).join("")}…`;
  }
  return [line, `[${makePrintable(violation.code)}]`].filter(Boolean).join(" ");
}

/** @internal Returns a title and the first lines: one in the same line, several below it. */
export function listLines(title: string, lines: readonly string[], truncated = false): string {
  const more = lines.length - MAX_LINES;
  const listed = lines.slice(0, MAX_LINES);
  if (more > 0) {
    listed.push(`and ${truncated ? "at least " : ""}${more} more`);
  } else if (truncated && listed.length > 0) {
    listed.push("and possibly more");
  }
  return listed.length > 1 ? [`${title}:`, ...listed].join("\n- ") : [title, ...listed].join(": ");
}
