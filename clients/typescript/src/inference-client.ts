/** Inference of definitions from source text, and their adaptation to protocol versions. */

import type { Connection } from "./connection.js";
import * as wire from "./gen/sidecheck/v1/inference_service.js";
import type { InferOptions } from "./inference.js";
import type { JsonObjectInput } from "./json.js";
import { type AdaptOptions, encodePortability } from "./portability.js";
import { encodeToolTarget, type Target } from "./targets.js";
import {
  type AdaptedTool,
  decodeAdaptedTool,
  decodeInferredTools,
  type InferredTools,
} from "./values/inference.js";
import { encodeInferenceOptions } from "./values/inference-options.js";

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
        ...encodeInferenceOptions(options),
      },
      decodeInferredTools,
      options,
    );
  }

  /**
   * Adapts a tool, a target or a definition, to a protocol version; "" is that of the client. With
   * `portable`, also rewrites it so that model APIs and clients accept it as it is.
   */
  async adaptTool(
    tool: Target | JsonObjectInput,
    protocolVersion: string,
    options: AdaptOptions = {},
  ): Promise<AdaptedTool> {
    return this.#connection.call(
      wire.InferenceServiceService.adaptTool,
      {
        tool: encodeToolTarget(tool, "tool"),
        protocolVersion: protocolVersion || this.#connection.protocolVersion,
        minRevision: this.#connection.minRevision,
        portable: encodePortability(options.portable),
      },
      decodeAdaptedTool,
      options,
    );
  }
}
