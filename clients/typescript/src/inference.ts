/** Inference of definitions from source text, and their adaptation to protocol versions. */

import type { CallOptions } from "./channel.js";
import type { Connection } from "./connection.js";
import { encodeEnum } from "./enums.js";
import * as wire from "./gen/sidecheck/v1/inference_service.js";
import { type JsonObjectInput, type JsonText, requireJson } from "./json.js";
import { encodeToolTarget, type Target } from "./targets.js";
import { decodeSeverity, type Severity } from "./verdicts.js";

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
}

/** Infers and adapts definitions: `client.inference`. Its methods reject as those of {@link Client}. */
export class InferenceClient {
  readonly #connection: Connection;

  /** @internal */
  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** Infers tool definitions from Python source text, which is not run. */
  async inferTools(
    source: string | Uint8Array,
    options: InferOptions = {},
  ): Promise<InferredTools> {
    return this.#connection.call(
      wire.InferenceServiceService.inferTools,
      {
        source: Buffer.from(source),
        functions: [...(options.functions ?? [])],
        onUnsupported: encodeEnum<wire.OnUnsupported>(
          wire.OnUnsupported,
          "ON_UNSUPPORTED_",
          options.onUnsupported,
          "onUnsupported",
        ),
        injectedTypes: [...(options.injectedTypes ?? [])],
        injectedParameters: [...(options.injectedParameters ?? [])],
      },
      (response) => ({
        tools: response.tools.map((tool) => ({
          ...tool,
          json: requireJson(tool.json, "InferredTool.json"),
        })),
        diagnostics: response.diagnostics.map((diagnostic) => ({
          ...diagnostic,
          severity: decodeSeverity(diagnostic.severity),
        })),
      }),
      options,
    );
  }

  /** Adapts a tool, a target or a definition, to a protocol version. */
  async adaptTool(
    tool: Target | JsonObjectInput,
    protocolVersion: string,
    options?: CallOptions,
  ): Promise<AdaptedTool> {
    return this.#connection.call(
      wire.InferenceServiceService.adaptTool,
      {
        tool: encodeToolTarget(tool, "tool"),
        protocolVersion,
        minRevision: this.#connection.minRevision,
      },
      (response) => ({ ...response, json: requireJson(response.json, "AdaptToolResponse.json") }),
      options,
    );
  }
}
