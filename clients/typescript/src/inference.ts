/** Values of InferenceService: options, inferred and adapted definitions, diagnostics. */

import type { CallOptions } from "./channel.js";
import type { JsonText } from "./json.js";
import type { PortableForm } from "./portability.js";
import type { InferenceOptions } from "./values/inference-options.js";
import type { Severity } from "./verdicts.js";

/** Options of an inference. */
export interface InferOptions extends InferenceOptions, CallOptions {}

/** A definition inferred from a function. */
export interface InferredTool {
  /** The definition. */
  readonly json: JsonText;
  /** Name of the function. */
  readonly function: string;
  /** Line of the function, from 1. */
  readonly line: number;
  readonly definitionDigest: string;
}

/** Something in the source text that has no schema. */
export interface Diagnostic {
  /** Stable code in upper snake case. */
  readonly code: string;
  readonly severity: Severity;
  readonly message: string;
  /** Lines count from 1, columns from 0. */
  readonly line: number;
  readonly column: number;
  readonly endLine: number;
  readonly endColumn: number;
  /** Name of the function, or "". */
  readonly function: string;
  /** Name of the parameter, or "". */
  readonly parameter: string;
}

/** Result of an inference. */
export interface InferredTools {
  readonly tools: readonly InferredTool[];
  readonly diagnostics: readonly Diagnostic[];
}

/** A definition in the form for a protocol version. */
export interface AdaptedTool {
  readonly json: JsonText;
  /** Property under which a result that is no object is wrapped, or "". */
  readonly wrappedProperty: string;
  /** Properties of the definition that the version does not have. */
  readonly droppedProperties: readonly string[];
  /** The losses and the mapping, if the definition was made portable. */
  readonly portable: PortableForm | undefined;
}
