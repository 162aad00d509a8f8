/** Values of comparisons: what changed in a tool, and whether it breaks callers. */

import { decodeEnum } from "./enums.js";
import * as wire from "./gen/sidecheck/v1/comparison.js";
import type { CompareToolsResponse } from "./gen/sidecheck/v1/registry_service.js";
import type { JsonText } from "./json.js";
import { requireField, requireJson } from "./responses.js";

/**
 * How a schema that leaves an object open is read: an object that declares properties admits no
 * others, unless the schema says so ("assume-closed"), or as JSON Schema says ("as-written").
 */
export type SchemaReading = "assume-closed" | "as-written";

/**
 * What a change means for callers, the least first; "unspecified" is what this release does not know.
 *
 * - "cosmetic": only texts, or data that asserts nothing, differ.
 * - "compatible": every payload that passed still passes; this is proved.
 * - "risky": the same payloads pass, and something that callers rely on may differ.
 * - "undecided": neither a proof nor a payload that shows the contrary was found.
 * - "breaking": a payload that was valid no longer is, a result may be what callers do not expect, or
 *   the tool cannot be called any more.
 */
export type ChangeLevel =
  "cosmetic" | "compatible" | "risky" | "undecided" | "breaking" | "unspecified";

/**
 * How the set of values that a schema admits has changed; "unspecified" is what this release does not
 * know.
 *
 * - "equal": the same values.
 * - "widened": all values that it admitted, and maybe others.
 * - "narrowed": no value that it did not admit, and maybe fewer.
 * - "incomparable": neither is proved, and a value was found that only one of the schemas admits.
 * - "undecided": whether the change breaks callers is undecided.
 */
export type SchemaRelation =
  "equal" | "widened" | "narrowed" | "incomparable" | "undecided" | "unspecified";

/**
 * Part of a definition: a schema, or the tool as a whole with its other properties. "unspecified" is
 * one that this release does not know.
 */
export type DefinitionPart = "tool" | "input-schema" | "output-schema" | "unspecified";

/**
 * What became of a tool: only the new tools have it, only the old ones had it, it has another name and
 * is equal otherwise, its definition differs, or is equal. "unspecified" is what this release does not
 * know.
 */
export type ToolStatus = "added" | "removed" | "renamed" | "changed" | "unchanged" | "unspecified";

/** A payload that the validator accepts under one version of a schema and rejects under the other. */
export interface Witness {
  /** The payload, which was valid under the old input schema, or is under the new output schema. */
  readonly payload: JsonText;
  /** Why it is rejected. */
  readonly message: string;
  /** JSON Pointer into the payload. */
  readonly instanceLocation: string;
  /** JSON Pointer into the schema, to the keyword that rejects it. */
  readonly keywordLocation: string;
}

/** Whether the change of a schema breaks callers, in one reading. */
export interface SchemaVerdict {
  /** How the set of values has changed. */
  readonly relation: SchemaRelation;
  /** What that means for callers. */
  readonly level: ChangeLevel;
  /** Why it is undecided, "" if it is not. */
  readonly reason: string;
  /** Shows that it breaks callers; undefined if it does not. */
  readonly witness: Witness | undefined;
}

/** Verdicts on the change of one schema, in both readings. */
export interface SchemaComparison {
  /** The schema. */
  readonly part: DefinitionPart;
  readonly assumeClosed: SchemaVerdict;
  readonly asWritten: SchemaVerdict;
}

/** What a change means in one reading. */
export interface ChangeEffect {
  readonly level: ChangeLevel;
  /** A payload that the change makes invalid; undefined if none was found. */
  readonly witness: Witness | undefined;
}

/** One difference between two definitions. */
export interface DefinitionChange {
  /** Stable code in upper snake case, for example `MAXIMUM_LOWERED`. */
  readonly code: string;
  readonly part: DefinitionPart;
  /** Keyword of the schema, "" if none is involved. */
  readonly keyword: string;
  /** JSON Pointer into the old definition; undefined if it lacks what changed. */
  readonly oldLocation: string | undefined;
  /** JSON Pointer into the new definition; undefined if it lacks what changed. */
  readonly newLocation: string | undefined;
  /** Description for people. */
  readonly message: string;
  /** The old value, shortened, or "". */
  readonly oldValue: string;
  /** The new value, shortened, or "". */
  readonly newValue: string;
  readonly assumeClosed: ChangeEffect;
  readonly asWritten: ChangeEffect;
}

/** Comparison of the definitions of one tool. */
export interface ToolComparison {
  readonly status: ToolStatus;
  /** Name of the tool, of a renamed one the new name. */
  readonly name: string;
  /** The name before, if the tool was renamed, otherwise "". */
  readonly oldName: string;
  /** Digest of the old definition, "" without a readable one. */
  readonly oldDefinitionDigest: string;
  /** Digest of the new definition, "" without a readable one. */
  readonly newDefinitionDigest: string;
  /** Worst level in the reading "assume-closed". */
  readonly assumeClosed: ChangeLevel;
  /** Worst level in the reading "as-written". */
  readonly asWritten: ChangeLevel;
  /** Schemas that differ. */
  readonly schemas: readonly SchemaComparison[];
  /** All differences. */
  readonly changes: readonly DefinitionChange[];
}

/** Comparison of two sets of tools. */
export interface Comparison {
  /** The new tools in their order, and then those that were removed. */
  readonly tools: readonly ToolComparison[];
  /** Worst level of all tools, in the reading of the request. */
  readonly level: ChangeLevel;
  /** Revision of the registry in which the tools were resolved. */
  readonly registryRevision: number;
}

/** @internal */
export function decodeComparison(message: CompareToolsResponse): Comparison {
  return {
    tools: message.tools.map(decodeToolComparison),
    level: decodeLevel(message.level),
    registryRevision: Number(message.registryRevision),
  };
}

/** @internal */
export function decodeToolComparison(message: wire.ToolComparison): ToolComparison {
  return {
    ...message,
    status: decodeEnum<ToolStatus>(wire.ToolComparison_Status, "STATUS_", message.status),
    assumeClosed: decodeLevel(message.assumeClosed),
    asWritten: decodeLevel(message.asWritten),
    schemas: message.schemas.map(({ part, assumeClosed, asWritten }) => ({
      part: decodePart(part),
      assumeClosed: decodeSchemaVerdict(assumeClosed, "SchemaComparison.assume_closed"),
      asWritten: decodeSchemaVerdict(asWritten, "SchemaComparison.as_written"),
    })),
    changes: message.changes.map((change) => ({
      ...change,
      part: decodePart(change.part),
      // Optional in the message.
      oldLocation: change.oldLocation,
      newLocation: change.newLocation,
      assumeClosed: decodeEffect(change.assumeClosed, "DefinitionChange.assume_closed"),
      asWritten: decodeEffect(change.asWritten, "DefinitionChange.as_written"),
    })),
  };
}

function decodeLevel(value: wire.ChangeLevel): ChangeLevel {
  return decodeEnum<ChangeLevel>(wire.ChangeLevel, "CHANGE_LEVEL_", value);
}

function decodePart(value: wire.DefinitionPart): DefinitionPart {
  return decodeEnum<DefinitionPart>(wire.DefinitionPart, "DEFINITION_PART_", value);
}

function decodeSchemaVerdict(message: wire.SchemaVerdict | undefined, name: string): SchemaVerdict {
  const { relation, level, reason, witness } = requireField(message, name);
  return {
    relation: decodeEnum<SchemaRelation>(wire.SchemaRelation, "SCHEMA_RELATION_", relation),
    level: decodeLevel(level),
    reason,
    witness: decodeWitness(witness),
  };
}

function decodeEffect(message: wire.ChangeEffect | undefined, name: string): ChangeEffect {
  const { level, witness } = requireField(message, name);
  return { level: decodeLevel(level), witness: decodeWitness(witness) };
}

/** @internal */
export function decodeWitness(message: wire.Witness | undefined): Witness | undefined {
  return message && { ...message, payload: requireJson(message.payload, "Witness.payload") };
}
