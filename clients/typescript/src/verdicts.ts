/** Verdicts: the outcome of a validation, with its violations and repairs. */

import { Severity as WireSeverity } from "./gen/sidecheck/v1/verdict.js";
import type * as wire from "./gen/sidecheck/v1/verdict.js";
import { decodeJson, JsonText } from "./json.js";
import { makePrintable, quote } from "./printable.js";

/** Severity of a violation. Only an error makes a verdict invalid. */
export type Severity = "error" | "warning" | "info";

/** One failed rule, with the location where it failed. */
export interface Violation {
  /**
   * JSON Pointer (RFC 6901) into the validated value, "" for the whole value. A missing property is
   * reported at its object, an unknown property at itself.
   */
  readonly instanceLocation: string;
  /**
   * JSON Pointer to the failed keyword along the evaluation path, so it passes through `$ref`. ""
   * where no schema is involved.
   */
  readonly keywordLocation: string;
  /** JSON Schema keyword that failed, "" where no schema is involved. */
  readonly keyword: string;
  /** Stable code of the rule in upper snake case, for programs. */
  readonly code: string;
  readonly severity: Severity;
  /** Expected and actual value, for people and models. */
  readonly message: string;
  /** Nearest known name or value, "" where none is near. */
  readonly suggestion: string;
  /** URL of the section of the specification, "" for rules of the schema itself. */
  readonly specUrl: string;
}

/** One change of a payload, or one that was skipped, with the reason. */
export interface Change {
  /** JSON Pointer (RFC 6901) into the payload before this change. */
  readonly instanceLocation: string;
  /** Stable code in upper snake case, for example `STRING_TO_INTEGER` or `DEFAULT_SKIPPED`. */
  readonly code: string;
  /** JSON Pointer to the part of the schema that calls for the change, "" if unknown. */
  readonly keywordLocation: string;
  /** Description for people. */
  readonly message: string;
}

/**
 * A payload after the options `coercion`, `unknownArguments` and `applyDefaults`, applied in this
 * order. The server never replaces a payload: the caller decides whether to use the repaired one.
 */
export interface Repair {
  /** The repaired payload. */
  readonly payload: JsonText;
  /** Whether the repaired payload is valid. */
  readonly valid: boolean;
  /** Violations of the repaired payload, as in {@link Verdict.violations}. */
  readonly violations: readonly Violation[];
  /** Whether more violations may exist than are listed. */
  readonly truncated: boolean;
  /** All changes; nothing else differs from the original payload. */
  readonly changes: readonly Change[];
}

/** Outcome of a validation. An invalid payload is a normal outcome, and returned. */
export interface Verdict {
  /** Whether there is no violation of severity `error`. */
  readonly valid: boolean;
  /** Violations, ordered by instance location, keyword location and code. */
  readonly violations: readonly Violation[];
  /** Whether more violations may exist than are listed. */
  readonly truncated: boolean;
  /** Digest of the tool definition validated against, "" for a bare schema. */
  readonly definitionDigest: string;
  /** Digest of the schema validated against. */
  readonly schemaDigest: string;
  /**
   * Text for the model whose arguments were invalid, for a `CallToolResult` with `isError: true`.
   * "" if the verdict is valid.
   */
  readonly toolErrorText: string;
  /**
   * Whether to act on the verdict. False for servers that the service is configured to report on
   * only: their payloads pass, valid or not.
   */
  readonly enforced: boolean;
  /**
   * The payload after the options that change payloads, if any of them was set and there was
   * something to change. `valid` and `violations` of the verdict are about the payload as sent.
   */
  readonly repair: Repair | undefined;
  /**
   * For an invalid call or result: the `CallToolResult` to return instead, with `isError: true`.
   */
  readonly callToolResult: JsonText | undefined;
  /** For a fault of the protocol rather than of the tool: the `error` of the JSON-RPC response. */
  readonly jsonRpcError: JsonText | undefined;
  /** Revision of the registry in which the target was resolved, 0 if the call has none. */
  readonly registryRevision: number;
}

/** @internal */
export function decodeVerdict(message: wire.Verdict, registryRevision = 0n): Verdict {
  return {
    ...message,
    violations: message.violations.map(decodeViolation),
    repair: message.repair && decodeRepair(message.repair),
    callToolResult: decodeJson(message.callToolResult),
    jsonRpcError: decodeJson(message.jsonRpcError),
    registryRevision: Number(registryRevision),
  };
}

/** @internal */
export function decodeViolation(message: wire.Violation): Violation {
  return { ...message, severity: decodeSeverity(message.severity) };
}

/**
 * @internal Returns a severity. One that this release does not know counts as `info`, because the
 * server itself decides whether the verdict is valid.
 */
export function decodeSeverity(value: WireSeverity): Severity {
  switch (value) {
    case WireSeverity.SEVERITY_ERROR:
      return "error";
    case WireSeverity.SEVERITY_WARNING:
      return "warning";
    default:
      return "info";
  }
}

function decodeRepair(message: wire.Repair): Repair {
  return {
    ...message,
    payload: new JsonText(message.payload),
    violations: message.violations.map(decodeViolation),
  };
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
