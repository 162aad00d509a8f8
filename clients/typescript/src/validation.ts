/** Values of ValidationService: subjects, options and outcomes. */

import { type SidecheckError, type Unavailable } from "./errors.js";
import type { ValidationOptions as WireOptions } from "./gen/sidecheck/v1/options.js";
import type * as targets from "./gen/sidecheck/v1/target.js";
import type * as wire from "./gen/sidecheck/v1/validation_service.js";
import { encodeJson, encodeJsonObject, type JsonInput, type JsonObjectInput } from "./json.js";
import { decodeStatus } from "./statuses.js";
import { encodeTarget, type Target } from "./targets.js";
import { encodeValidationOptions, type ValidationOptions } from "./values/validation-options.js";
import { decodeVerdict, type Verdict } from "./values/verdict.js";

/** Structured content that a result does not have, unlike null, which is JSON's null. */
export const ABSENT: unique symbol = Symbol("sidecheck.ABSENT");

/** Arguments of a tool call, validated against the tool's input schema. */
export interface Arguments {
  readonly arguments: JsonInput;
}

/**
 * Structured content of a tool result, validated against the tool's output schema. `ABSENT` is
 * invalid if the tool has an output schema.
 */
export interface StructuredContent {
  readonly structuredContent: JsonInput | typeof ABSENT;
}

/**
 * The complete `params` of a `tools/call` request. The target must be a tool; a `RegisteredTool` may
 * omit its name, which is then read from the params.
 */
export interface CallParams {
  readonly callParams: JsonObjectInput;
}

/**
 * A complete `CallToolResult`. Its structured content is validated against the tool's output schema,
 * if the tool has one and the result is no error. The target must be a tool.
 */
export interface CallResult {
  readonly callResult: JsonObjectInput;
}

/**
 * A payload and its role. With a bare schema as the target, arguments and structured content are
 * equivalent and the other two are errors.
 */
export type Subject = Arguments | StructuredContent | CallParams | CallResult;

/** One payload of a batch or stream. */
export type Item = Subject & {
  /** Replaces the target of the batch. */
  readonly target?: Target | undefined;
  /** Replaces the options of the batch as a whole, not one by one. */
  readonly options?: ValidationOptions | undefined;
};

/** Outcome of one item of a batch or stream. */
export type ValidateOutcome = Verdict | SidecheckError;

/**
 * Policy for validations that no server answers: reject with `Unavailable`, or return a verdict that
 * is valid or invalid.
 */
export type OnUnavailable = "error" | "allow" | "deny";

/** @internal Returns the verdict that the policy prescribes where no server answered. */
export function fallbackVerdict(error: Unavailable, policy: "allow" | "deny"): Verdict {
  const valid = policy === "allow";
  return {
    valid,
    violations: [
      {
        instanceLocation: "",
        keywordLocation: "",
        keyword: "",
        code: "SIDECHECK_UNAVAILABLE",
        severity: valid ? "warning" : "error",
        message: `not validated: ${error.toString()}`,
        suggestion: "",
        specUrl: "",
      },
    ],
    truncated: false,
    definitionDigest: "",
    schemaDigest: "",
    toolErrorText: valid ? "" : "This could not be validated and was rejected. Try again later.",
    enforced: true,
    repair: undefined,
    callToolResult: undefined,
    jsonRpcError: undefined,
    registryRevision: 0,
  };
}

/** @internal Returns the message for a payload and its role. */
export function encodeSubject(subject: Subject): targets.Subject {
  return { subject: encodeSubjectCase(subject) };
}

function encodeSubjectCase(subject: Subject): targets.Subject["subject"] {
  if ("arguments" in subject) {
    return { $case: "arguments", value: encodeJson(subject.arguments, "arguments") };
  }
  if ("structuredContent" in subject) {
    const { structuredContent } = subject;
    return structuredContent === ABSENT
      ? { $case: "absentStructuredContent", value: {} }
      : { $case: "structuredContent", value: encodeJson(structuredContent, "structuredContent") };
  }
  if ("callParams" in subject) {
    return { $case: "callParams", value: encodeJsonObject(subject.callParams, "callParams") };
  }
  if ("callResult" in subject) {
    return { $case: "callResult", value: encodeJsonObject(subject.callResult, "callResult") };
  }
  throw new TypeError(
    "invalid item; expected an object with arguments, structuredContent, callParams or callResult",
  );
}

/** @internal Returns the message for options; undefined means the server's defaults. */
export function encodeOptions(
  given: ValidationOptions | undefined,
  protocolVersion: string,
): WireOptions | undefined {
  if (given === undefined && protocolVersion === "") {
    return undefined;
  }
  return encodeValidationOptions(given ?? {}, protocolVersion);
}

/** @internal */
export function encodeItem(item: Item, protocolVersion: string): wire.ValidateItem {
  // Own options replace those of the batch as a whole, and so also their version.
  const own = item.options && encodeOptions(item.options, protocolVersion);
  return { target: encodeTarget(item.target), subject: encodeSubject(item), options: own };
}

/** @internal */
export function decodeOutcome(
  message: wire.ValidateOutcome | undefined,
  registryRevision: bigint,
): ValidateOutcome {
  return message?.outcome?.$case === "verdict"
    ? decodeVerdict(message.outcome.value, registryRevision)
    : decodeStatus(message?.outcome?.value);
}
