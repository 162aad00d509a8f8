/** Values of InferenceService: options, inferred and adapted definitions, diagnostics. */

import type { CallOptions } from "./channel.js";
import type { JsonText } from "./json.js";
import type { PortableForm } from "./portability.js";
import type { Severity } from "./values/verdict.js";

/** Options of an inference. */
export interface InferOptions extends CallOptions {
  /** Names of the functions that are tools; by default those with a decorator called `tool`. */
  readonly functions?: readonly string[] | undefined;
  /** Whether an annotation without a schema is an error (the default), or admits any value. */
  readonly onUnsupported?: "error" | "any" | undefined;
  /** Names of types whose parameters are not arguments, in addition to `Context` etc. */
  readonly injectedTypes?: readonly string[] | undefined;
  /** Names of parameters that are not arguments. */
  readonly injectedParameters?: readonly string[] | undefined;
}

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
