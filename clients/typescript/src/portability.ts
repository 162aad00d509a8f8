/** Portable forms: definitions that model APIs and clients accept as they are. */

import type { CallOptions } from "./channel.js";
import type * as wire from "./gen/sidecheck/v1/inference_service.js";

/** Options of a portable form. */
export interface Portability {
  /**
   * Model APIs and clients that must accept the definition, named as for `sidecheck check --for`, for
   * example "openai" or "claude-code". By default all but "openai-strict".
   */
  readonly targets?: readonly string[] | undefined;
  /** Whether to prove that the form accepts every call that the original accepts. */
  readonly prove?: boolean | undefined;
}

/** Options of an adaptation. */
export interface AdaptOptions extends CallOptions {
  /** Rewrites the definition so that model APIs and clients accept it as it is. */
  readonly portable?: Portability | undefined;
}

/** @internal */
export function encodePortability(portable: Portability | undefined): wire.Portability | undefined {
  return portable && { targets: [...(portable.targets ?? [])], prove: portable.prove ?? false };
}
