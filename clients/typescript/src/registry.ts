/** Values of RegistryService: registered tools and the results of changes. */

import type { CallOptions } from "./channel.js";
import { decodeToolComparison, type ToolComparison } from "./values/comparison.js";
import { decodeEnum } from "./enums.js";
import { InvalidResponse } from "./errors.js";
import * as wire from "./gen/sidecheck/v1/registry_service.js";
import { JsonText } from "./json.js";
import { requireCount, requireField, requireJson } from "./responses.js";
import { decodeViolation, type Violation } from "./values/verdict.js";

/**
 * Policy for a definition that differs from the registered one: bind the name to the new definition,
 * also with a warning, or keep the old one and reject the new one.
 */
export type ChangePolicy = "accept" | "report" | "reject";

/**
 * Policy for a definition that breaks the callers of the registered one: do not compare them, register
 * it with a warning, keep the registered one, or keep it also if this is undecided.
 */
export type CompatibilityPolicy = "ignore" | "report" | "reject-breaking" | "reject-undecided";

/** Effect of a registration on one name; "unspecified" is one that this release does not know. */
export type RegistrationAction = "created" | "changed" | "unchanged" | "rejected" | "unspecified";

/** Outcome of the registration of one definition. */
export interface RegistrationOutcome {
  /** Name of the tool, "" if the definition has none. */
  readonly name: string;
  readonly action: RegistrationAction;
  /** Violations of the definition. Only one of severity error rejects it. */
  readonly violations: readonly Violation[];
  /** Digest of the definition, "" if it is not JSON. */
  readonly definitionDigest: string;
  /** Digest of the input schema, "" if rejected. */
  readonly inputSchemaDigest: string;
  /** Digest of the output schema, "" if rejected or if there is none. */
  readonly outputSchemaDigest: string;
  /** Digest of the definition that the name was bound to before, "" if there was none. */
  readonly previousDefinitionDigest: string;
  /**
   * Comparison with the definition that the name was bound to before; undefined if there was none, if
   * it is the same, or without the option `compatibility`.
   */
  readonly comparison: ToolComparison | undefined;
}

/** Result of a registration. */
export interface Registration {
  /** Outcomes of the definitions, in the order given. */
  readonly outcomes: readonly RegistrationOutcome[];
  /** Names that a replacement removed. */
  readonly removed: readonly string[];
  /** Names that a replacement would have removed, if that did not break callers. */
  readonly kept: readonly string[];
  /** Revision of the registry afterwards. */
  readonly registryRevision: number;
}

/** A document registered with a tool. */
export interface RegisteredDocument {
  /** Absolute URI by which references name the document. */
  readonly uri: string;
  readonly json: JsonText;
}

/** A tool of the registry. */
export interface Tool {
  /** Namespace of its server. */
  readonly server: string;
  readonly name: string;
  /** The definition, byte for byte as registered, unless it was adapted. */
  readonly json: JsonText;
  /** Documents registered with it. */
  readonly documents: readonly RegisteredDocument[];
  readonly definitionDigest: string;
  readonly inputSchemaDigest: string;
  /** "" if it has no output schema. */
  readonly outputSchemaDigest: string;
  /** Revision of the registry at which the name was bound to the definition. */
  readonly revision: number;
  /** Protocol version that the tool was registered under. */
  readonly protocolVersion: string;
}

/** Result of a deletion. */
export interface Deletion {
  /** Names that were deleted, in order. */
  readonly deleted: readonly string[];
  /** Names that were not registered. */
  readonly unknown: readonly string[];
  /** Revision of the registry afterwards. */
  readonly registryRevision: number;
}

/** Options of the calls that return registered tools. */
export interface GetOptions extends CallOptions {
  /** Protocol version in whose form the definitions are returned; as registered if absent. */
  readonly adaptToVersion?: string | undefined;
}

/** @internal Returns the result of a registration of `count` tools. */
export function decodeRegistration(
  message: wire.RegisterToolsResponse,
  count: number,
): Registration {
  requireCount(message.outcomes, count, "RegisterToolsResponse.outcomes");
  return {
    outcomes: message.outcomes.map((outcome) => ({
      ...outcome,
      action: decodeEnum<RegistrationAction>(
        wire.RegistrationOutcome_Action,
        "ACTION_",
        outcome.action,
      ),
      violations: outcome.violations.map(decodeViolation),
      comparison: outcome.comparison && decodeToolComparison(outcome.comparison),
    })),
    removed: message.removed,
    kept: message.kept,
    registryRevision: Number(message.registryRevision),
  };
}

/** @internal Returns the result of a registration that was sent in parts. */
export function joinRegistrations(parts: readonly Registration[]): Registration {
  return {
    outcomes: parts.flatMap((part) => part.outcomes),
    removed: parts.flatMap((part) => part.removed),
    kept: parts.flatMap((part) => part.kept),
    registryRevision: parts.at(-1)?.registryRevision ?? 0,
  };
}

/** @internal */
export function decodeTool(response: wire.GetToolResponse): Tool {
  return decodeRegisteredTool(requireField(response.tool, "GetToolResponse.tool"));
}

/** @internal */
export function decodeRegisteredTool(message: wire.Tool): Tool {
  return {
    ...message,
    json: requireJson(message.json, "Tool.json"),
    documents: message.documents.map(({ uri, json }) => ({ uri, json: new JsonText(json) })),
    revision: Number(message.revision),
  };
}

/** @internal Returns the result of a deletion, of tools that the request named or of all. */
export function decodeDeletion(message: wire.DeleteToolsResponse, named: boolean): Deletion {
  if (named && message.deleted.length + message.unknown.length === 0) {
    throw new InvalidResponse("DeleteToolsResponse has no names for those of the request");
  }
  return { ...message, registryRevision: Number(message.registryRevision) };
}
