/** Options of an inference. */

import type { CallOptions } from "./channel.js";
import type { InferenceOptions } from "./values/inference-options.js";

/** Options of an inference. */
export interface InferOptions extends InferenceOptions, CallOptions {}
