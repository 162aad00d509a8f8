/** Options with which a client is made. */

import type { TlsOptions } from "./address.js";
import type { TokenOptions } from "./tokens.js";
import type { OnUnavailable } from "./validation.js";

/** Options of a client. */
export interface ClientOptions extends TokenOptions {
  /** Deadline of each call in milliseconds, within which UNAVAILABLE is retried; 2000 by default. */
  readonly timeoutMs?: number | undefined;
  /**
   * Policy for validations that no server answers: reject with `Unavailable` ("error", the default),
   * or return a verdict with a violation of the code `SIDECHECK_UNAVAILABLE` that is valid ("allow")
   * or invalid ("deny").
   */
  readonly onUnavailable?: OnUnavailable | undefined;
  /** MCP protocol version of all requests that name none, for example `2025-11-25`. */
  readonly protocolVersion?: string | undefined;
  /**
   * Whether concurrent single validations share batches, which costs the server less per call. A call
   * waits at most 2 ms for others, and not at all if no other is outstanding.
   */
  readonly coalesce?: boolean | undefined;
  /** Certificates for TLS, `{}` for those of the system; plain text if absent. */
  readonly tls?: TlsOptions | undefined;
}
