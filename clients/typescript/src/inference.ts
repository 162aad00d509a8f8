/** Options of an inference. */

import type { CallOptions } from "./channel.js";

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
