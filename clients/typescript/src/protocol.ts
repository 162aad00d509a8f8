/** Values of ProtocolService: what is checked against the MCP rules, and the results. */

import { decodeEnum, encodeEnum } from "./enums.js";
import type { SidecheckError } from "./errors.js";
import * as wire from "./gen/sidecheck/v1/protocol_service.js";
import { Severity as WireSeverity } from "./gen/sidecheck/v1/verdict.js";
import { decodeJson, encodeJsonObject, type JsonObjectInput, type JsonText } from "./json.js";
import { requireField } from "./responses.js";
import { decodeStatus } from "./statuses.js";
import { encodeTarget, type Target } from "./targets.js";
import { encodeCount } from "./counts.js";
import { decodeSeverity, decodeVerdict, type Severity, type Verdict } from "./values/verdict.js";

/** Protocol version and negotiated capabilities of a connection. */
export interface ProtocolContext {
  /** MCP protocol version whose rules apply; by default that of the client, or else the server's. */
  readonly protocolVersion?: string | undefined;
  /** Capabilities that the client declared; if absent they are unknown, and no rule requires one. */
  readonly clientCapabilities?: JsonObjectInput | undefined;
  /** Capabilities that the server declared; if absent as for those of the client. */
  readonly serverCapabilities?: JsonObjectInput | undefined;
}

/** Amount of detail in the result of a check; the defaults are those of the server. */
export interface CheckDetailOptions {
  /** Maximum number of violations in a verdict, 20 by default; the server has its own limit. */
  readonly maxViolations?: number | undefined;
  /** Whether to omit values from messages. */
  readonly hideValues?: boolean | undefined;
  /** Violations below this severity are omitted, "info" by default. */
  readonly minSeverity?: Severity | undefined;
}

/** Requirements on a tool result: of the specification (the default), or also text for models. */
export type ResultProfile = "specification" | "text";

/** The `params` of an `elicitation/create` request. */
export interface Elicitation {
  readonly elicitation: { readonly params: JsonObjectInput };
}

/** The result of an `elicitation/create` request; with `params`, its content is validated too. */
export interface ElicitationResult {
  readonly elicitationResult: {
    readonly result: JsonObjectInput;
    readonly params?: JsonObjectInput | undefined;
  };
}

/** The `params` of a `sampling/createMessage` request, with the complete history. */
export interface Sampling {
  readonly sampling: { readonly params: JsonObjectInput };
}

/** A `CallToolResult`; with `tool`, its structured content is validated too. */
export interface ToolResult {
  readonly toolResult: {
    readonly json: JsonObjectInput;
    readonly profile?: ResultProfile | undefined;
    readonly tool?: Target | undefined;
  };
}

/** A JSON-RPC message or a JSON-RPC batch. */
export interface ProtocolMessage {
  readonly message: {
    readonly json: JsonObjectInput;
    /** Sender, if known; otherwise what either side may send is admitted. */
    readonly sender?: "client" | "server" | undefined;
    /** Method of the request that the message responds to, if known. */
    readonly requestMethod?: string | undefined;
    /** The request that the message responds to, if known. */
    readonly request?: JsonObjectInput | undefined;
  };
}

/** One item of {@link ProtocolClient.checkBatch}, told by the property that it has. */
export type CheckItem = Elicitation | ElicitationResult | Sampling | ToolResult | ProtocolMessage;

/** Result of a check. */
export interface CheckResult {
  readonly verdict: Verdict;
  /** The JSON-RPC error response to an invalid request, if there is one to send. */
  readonly errorResponse: JsonText | undefined;
}

/** Outcome of one item of a batch. */
export type CheckOutcome = CheckResult | SidecheckError;

/** A rule of the protocol. */
export interface Rule {
  /** Code of its violations. */
  readonly code: string;
  readonly severity: Severity;
  /** Protocol versions that have the rule, oldest first. */
  readonly protocolVersions: readonly string[];
  /** URL of the section that states the rule, in the newest of these versions. */
  readonly specUrl: string;
  /** The requirement, in one sentence. */
  readonly requirement: string;
  /** Types of the protocol schema whose values are checked. */
  readonly subjects: readonly string[];
}

/** Outcome of the check of one tool name. */
export interface ToolNameOutcome {
  readonly verdict: Verdict;
  /** Whether the official SDKs accept the name. */
  readonly sdkValid: boolean;
  /** Warnings of the official SDKs. */
  readonly sdkWarnings: readonly string[];
  /** The name in a form that model providers accept. */
  readonly sanitized: string;
}

/** Names that are the same in a form that model providers accept. */
export interface NameCollision {
  readonly sanitized: string;
  /** Indexes of the names. */
  readonly indexes: readonly number[];
}

/** Result of a check of tool names. */
export interface CheckedNames {
  /** Outcomes of the names, in the order given. */
  readonly outcomes: readonly ToolNameOutcome[];
  readonly collisions: readonly NameCollision[];
}

/** What a client does with a tool; "unspecified" is a value that this release does not know. */
export type Disposition = "keep" | "warn" | "drop" | "unspecified";

/** Outcome of the check of one definition. */
export interface ToolOutcome {
  /** Name of the tool, "" if it has none. */
  readonly name: string;
  /** JSON Pointer to the definition in the tools list, "" for a separate one. */
  readonly pointer: string;
  readonly disposition: Disposition;
  readonly verdict: Verdict;
}

/** Result of a check of tool definitions. */
export interface CheckedTools {
  readonly outcomes: readonly ToolOutcome[];
  /** Verdict on the tools as a list. */
  readonly toolsListVerdict: Verdict;
}

/** @internal */
export function encodeContext(
  context: ProtocolContext | undefined,
  protocolVersion: string,
): wire.ProtocolContext | undefined {
  if (context === undefined && protocolVersion === "") {
    return undefined;
  }
  return {
    protocolVersion: context?.protocolVersion || protocolVersion,
    clientCapabilities: encodeOptional(context?.clientCapabilities, "clientCapabilities"),
    serverCapabilities: encodeOptional(context?.serverCapabilities, "serverCapabilities"),
  };
}

/** @internal */
export function encodeCheckOptions(options: CheckDetailOptions): wire.CheckOptions {
  return {
    maxViolations: encodeCount(options.maxViolations, "maxViolations"),
    hideValues: options.hideValues ?? false,
    minSeverity: encodeEnum(WireSeverity, "SEVERITY_", options.minSeverity, "minSeverity"),
  };
}

/** @internal */
export function encodeProfile(profile: ResultProfile | undefined): wire.ResultProfile {
  return encodeEnum(wire.ResultProfile, "RESULT_PROFILE_", profile, "profile");
}

/** @internal Returns an absent text as an empty one. */
export function encodeOptionalText(value: JsonObjectInput | undefined, name: string): Buffer {
  return encodeOptional(value, name) ?? Buffer.alloc(0);
}

function encodeOptional(value: JsonObjectInput | undefined, name: string): Buffer | undefined {
  return value === undefined ? undefined : encodeJsonObject(value, name);
}

/** @internal */
export function encodeToolResult({ toolResult }: ToolResult): wire.ToolResult {
  return {
    json: encodeJsonObject(toolResult.json, "result"),
    profile: encodeProfile(toolResult.profile),
    tool: encodeTarget(toolResult.tool),
  };
}

/** @internal */
export function encodeMessage(message: ProtocolMessage["message"]): wire.ProtocolMessage {
  return {
    json: encodeJsonObject(message.json, "message"),
    sender: encodeEnum<wire.Sender>(wire.Sender, "SENDER_", message.sender, "sender"),
    requestMethod: message.requestMethod ?? "",
    request: encodeOptionalText(message.request, "request"),
  };
}

/** @internal Returns the message for an item, as the oneof of a batch has it. */
export function encodeCheckItem(item: CheckItem): NonNullable<wire.CheckItem["item"]> {
  if ("elicitation" in item) {
    const params = encodeJsonObject(item.elicitation.params, "params");
    return { $case: "elicitation", value: { params } };
  }
  if ("elicitationResult" in item) {
    const value = {
      result: encodeJsonObject(item.elicitationResult.result, "result"),
      params: encodeOptionalText(item.elicitationResult.params, "params"),
    };
    return { $case: "elicitationResult", value };
  }
  if ("sampling" in item) {
    const params = encodeJsonObject(item.sampling.params, "params");
    return { $case: "sampling", value: { params } };
  }
  if ("toolResult" in item) {
    return { $case: "toolResult", value: encodeToolResult(item) };
  }
  if ("message" in item) {
    return { $case: "message", value: encodeMessage(item.message) };
  }
  throw new TypeError(
    "invalid item; expected an object with elicitation, elicitationResult, sampling, toolResult or message",
  );
}

/** @internal */
export function decodeCheckResponse(response: {
  result: wire.CheckResult | undefined;
}): CheckResult {
  return decodeCheckResult(requireField(response.result, "result"));
}

function decodeCheckResult(message: wire.CheckResult): CheckResult {
  return {
    verdict: decodeVerdict(requireField(message.verdict, "CheckResult.verdict")),
    errorResponse: decodeJson(message.errorResponse),
  };
}

/** @internal */
export function decodeCheckOutcome({ outcome }: wire.CheckOutcome): CheckOutcome {
  return outcome?.$case === "result"
    ? decodeCheckResult(outcome.value)
    : decodeStatus(outcome?.value);
}

/** @internal */
export function decodeRule(message: wire.Rule): Rule {
  return { ...message, severity: decodeSeverity(message.severity) };
}

/** @internal */
export function decodeNames(message: wire.CheckToolNamesResponse): CheckedNames {
  return {
    outcomes: message.outcomes.map((outcome) => ({
      ...outcome,
      verdict: decodeVerdict(requireField(outcome.verdict, "ToolNameOutcome.verdict")),
    })),
    collisions: message.collisions,
  };
}

/** @internal */
export function decodeTools(message: wire.CheckToolsResponse): CheckedTools {
  return {
    outcomes: message.outcomes.map((outcome) => ({
      ...outcome,
      disposition: decodeEnum<Disposition>(
        wire.ToolOutcome_Disposition,
        "DISPOSITION_",
        outcome.disposition,
      ),
      verdict: decodeVerdict(requireField(outcome.verdict, "ToolOutcome.verdict")),
    })),
    toolsListVerdict: decodeVerdict(
      requireField(message.toolsListVerdict, "CheckToolsResponse.tools_list_verdict"),
    ),
  };
}
