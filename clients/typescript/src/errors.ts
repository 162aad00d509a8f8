/**
 * Errors of the client: everything that keeps it from returning a result.
 *
 * ```text
 * Error
 * ├── SidecheckError             no result was possible; `reason` is the error reason
 * │   ├── Unavailable            no server answered: lost, overloaded, or not Sidecheck
 * │   ├── InvalidResponse        a server answered, but not with what the API defines
 * │   ├── StreamClosed           a stream ended early; `unanswered` lists the pending ids
 * │   │   └── StreamUnavailable  the server of a stream was lost; also an instance of Unavailable
 * │   └── ToolsRejected          tools were not registered; `registration` has the outcomes
 * └── InvalidPayload             thrown only by `assertValid`
 * ```
 *
 * An invalid payload is not an error: it is returned as a verdict with violations. A call that is
 * aborted rejects with the reason of its `AbortSignal`.
 */

import type { status } from "@grpc/grpc-js";

import { JsonText } from "./json.js";
import { makePrintable } from "./printable.js";
import { ErrorReason } from "./values/error-reasons.js";

/** Name of a gRPC status code, for example `NOT_FOUND`. */
export type StatusName = keyof typeof status;

/** What an error has beside its reason and message. */
export interface ErrorDetails {
  /** Variable parts of the message, by name. */
  readonly metadata?: Readonly<Record<string, string>>;
  /** Name of the gRPC status code; `UNKNOWN` if absent. */
  readonly status?: StatusName;
  /** Time after which the server suggests to try again, in milliseconds, if it does. */
  readonly retryAfterMs?: number | undefined;
}

/**
 * A request that has no result, with the reason. Its message has a space in place of each character
 * that is not printable, because a server may be hostile and Node.js prints it as it is.
 */
export class SidecheckError extends Error {
  static {
    nameErrors(this, "SidecheckError");
  }

  /**
   * Stable error reason in upper snake case, for example `UNKNOWN_TOOL`; for errors of gRPC itself
   * the name of the status code.
   */
  readonly reason: string;
  /** Variable parts of the message, by name. */
  readonly metadata: Readonly<Record<string, string>>;
  /** Name of the gRPC status code. */
  readonly status: StatusName;
  /** Time after which the server suggests to try again, in milliseconds, if it does. */
  readonly retryAfterMs: number | undefined;

  constructor(reason: string, message: string, details: ErrorDetails = {}) {
    super(message);
    this.reason = reason;
    this.metadata = details.metadata ?? {};
    this.status = details.status ?? "UNKNOWN";
    this.retryAfterMs = details.retryAfterMs;
  }

  /** The `error` of the JSON-RPC response to send, if the server gives one: of an unknown tool. */
  get jsonRpcError(): JsonText | undefined {
    const text = this.metadata["json_rpc_error"];
    return text === undefined ? undefined : new JsonText(Buffer.from(text));
  }

  /** Returns the reason and the message. */
  override toString(): string {
    return `${makePrintable(this.reason)}: ${this.message}`;
  }
}

/**
 * No Sidecheck server answered, after all retries that the deadline allows.
 *
 * Either the reason is `SHUTTING_DOWN` or `OVERLOADED`, or the status has no reason of Sidecheck: a
 * connection, a proxy or gRPC itself ended the call, and the reason is the name of the status code.
 * The client's `onUnavailable` applies to this error only. `OVERLOADED` is not retried.
 */
export class Unavailable extends SidecheckError {
  static {
    nameErrors(this, "Unavailable");
  }

  static override [Symbol.hasInstance](value: unknown): boolean {
    // A StreamUnavailable is of two classes, which JavaScript cannot express by inheritance.
    return (
      Function.prototype[Symbol.hasInstance].call(this, value) ||
      (this === Unavailable && value instanceof StreamUnavailable)
    );
  }
}

/**
 * A server answered, but not with what the API defines: there is no message, or bytes that do not
 * decode, or a message without what the request was for. The reason is `INVALID_RESPONSE`. The
 * client's `onUnavailable` does not apply.
 */
export class InvalidResponse extends SidecheckError {
  static {
    nameErrors(this, "InvalidResponse");
  }

  constructor(message: string) {
    super(ErrorReason.INVALID_RESPONSE, message, { status: "INTERNAL" });
  }
}

/**
 * A stream ended before it was finished or before all results had arrived. The pending items are
 * not retried; the caller may send them again in another stream.
 */
export class StreamClosed extends SidecheckError {
  static {
    nameErrors(this, "StreamClosed");
  }

  /** Ids of the accepted items without a result, in order. */
  readonly unanswered: readonly string[];

  constructor(
    reason: string,
    message: string,
    details: ErrorDetails = {},
    unanswered: readonly string[] = [],
  ) {
    super(reason, message, details);
    this.unanswered = unanswered;
  }

  /** Returns the reason, the message, and the number of items without an outcome. */
  override toString(): string {
    return `${super.toString()} (items without an outcome: ${this.unanswered.length})`;
  }
}

/**
 * A stream ended because its server stopped, was lost or did not respond in time. Thrown whatever
 * the client's `onUnavailable` is: only the caller can decide about the remaining items.
 */
export class StreamUnavailable extends StreamClosed {
  static {
    nameErrors(this, "StreamUnavailable");
  }
}

/** @internal Sets the name of the errors of a class where their stack is captured: on its prototype. */
export function nameErrors(kind: { prototype: Error }, name: string): void {
  Object.defineProperty(kind.prototype, "name", {
    value: name,
    configurable: true,
    writable: true,
  });
}
