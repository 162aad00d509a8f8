/** Sessions: the messages of a connection, checked in order with the rules that need state. */

import { checkTimeout, type Connection } from "./connection.js";
import { InvalidResponse, SidecheckError, StreamClosed } from "./errors.js";
import * as wire from "./gen/sidecheck/v1/protocol_service.js";
import {
  checkOutstanding,
  type OutstandingOptions,
  type StreamKind,
  streamItems,
} from "./item-stream.js";
import type { JsonObjectInput } from "./json.js";
import {
  type CheckDetailOptions,
  type CheckOutcome,
  type CheckResult,
  decodeCheckOutcome,
  encodeCheckOptions,
  encodeContext,
  encodeMessage,
  type ProtocolContext,
  type ProtocolMessage,
} from "./protocol.js";
import { encodeCount } from "./counts.js";

/** Options of a session. Its deadline is that of the session as a whole; by default it has none. */
export interface SessionOptions extends CheckDetailOptions, OutstandingOptions {
  /**
   * What is known before the first message. Without a protocol version, in it or of the client, the
   * one that the session negotiates applies.
   */
  readonly context?: ProtocolContext | undefined;
  /**
   * Whether the first message to check is the first of the session, true by default. Otherwise rules
   * that need the whole session are not applied.
   */
  readonly fromBeginning?: boolean | undefined;
}

/** What is known of a message of a session. */
export interface SessionMessageOptions {
  /** Sender of the message: without it, requests of the two sides cannot be told apart. */
  readonly sender?: ProtocolMessage["message"]["sender"];
  /**
   * Status of the HTTP response to the message, if there is one: a message of the client that was
   * rejected (400 or more) takes no part in the session.
   */
  readonly httpStatus?: number | undefined;
}

/** A violation that several messages have and the verdict on the first of them reports. */
export interface RepeatedViolation {
  /** Code of the violation. */
  readonly code: string;
  /** Tool that it is about, or "" if it is about a side of the session. */
  readonly tool: string;
  /** Number of messages that have it. */
  readonly count: number;
  /** Index of the first of them among the checked messages, from 0. */
  readonly firstItem: number;
}

/** What a session found in more than one message. */
export interface SessionSummary {
  /** In the order of the first messages. */
  readonly repeatedViolations: readonly RepeatedViolation[];
}

/** A call of {@link Session.check} that waits for its outcome. */
interface Caller {
  resolve(result: CheckResult): void;
  reject(error: unknown): void;
}

/**
 * One MCP session, with the messages of both sides: of `client.protocol.session`. Messages are
 * checked in the order of the calls of {@link check}, which may be concurrent, also against the rules
 * that depend on earlier messages. What is true of many messages, such as that logging is deprecated,
 * is in the verdict on the first of them; {@link finish} counts the others.
 *
 * The session begins at its first call, and holds a call to the server until it is finished or left:
 * leave it with {@link close}, or declare it with `await using`.
 */
export class Session implements AsyncDisposable {
  readonly #connection: Connection;
  readonly #options: SessionOptions;
  readonly #defaults: wire.SessionDefaults;
  readonly #items = new ItemQueue();
  /** The callers without an outcome, by the ids of their messages and in the order of these. */
  readonly #callers = new Map<string, Caller>();
  readonly #leaving = new AbortController();
  #messages = 0;
  #finished = false;
  #summary: Promise<SessionSummary> | undefined;
  #failure: { readonly error: unknown } | undefined;

  /** @internal */
  constructor(connection: Connection, options: SessionOptions) {
    checkOutstanding(options.outstanding);
    checkTimeout(options.timeoutMs ?? Infinity);
    this.#connection = connection;
    this.#options = options;
    this.#defaults = {
      context: encodeContext(options.context, connection.protocolVersion),
      options: encodeCheckOptions(options),
      fromBeginning: options.fromBeginning ?? true,
    };
  }

  /**
   * Checks the next message of the session. If it alone could not be checked, this rejects with its
   * error, and the session continues.
   *
   * @throws StreamClosed if the session has ended
   * @throws TypeError if an argument is invalid or the session is finished; nothing was sent
   */
  async check(message: JsonObjectInput, options: SessionMessageOptions = {}): Promise<CheckResult> {
    const encoded = encodeMessage({ json: message, sender: options.sender });
    const httpStatus = encodeCount(options.httpStatus, "httpStatus");
    this.throwIfEnded();
    if (this.#finished) {
      throw new TypeError("the session is finished and takes no more messages");
    }
    this.#messages += 1;
    const id = String(this.#messages);
    this.#items.push({ id, message: encoded, httpStatus });
    const outcome = new Promise<CheckResult>((resolve, reject) => {
      this.#callers.set(id, { resolve, reject });
    });
    void this.start();
    return outcome;
  }

  /**
   * Ends the session, and returns what several of its messages have in common.
   *
   * @throws StreamClosed if the session ended early
   */
  async finish(): Promise<SessionSummary> {
    this.throwIfEnded();
    this.#finished = true;
    this.#items.end();
    return this.start();
  }

  /** Leaves the session. What is pending rejects with a `StreamClosed` of the reason `CANCELLED`. */
  async close(): Promise<void> {
    const ids = [...this.#callers.keys()];
    const details = { status: "CANCELLED" } as const;
    const error = new StreamClosed("CANCELLED", "the session was left", details, ids);
    if (this.#summary === undefined) {
      this.#failure ??= { error };
      return;
    }
    this.#leaving.abort(error);
    await this.#summary.catch(() => undefined);
  }

  /** Leaves the session, as {@link close}. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  private throwIfEnded(): void {
    if (this.#failure) {
      throw this.#failure.error;
    }
  }

  private start(): Promise<SessionSummary> {
    if (this.#summary === undefined) {
      this.#summary = this.run();
      // Each caller is told of a failure.
      this.#summary.catch(() => undefined);
    }
    return this.#summary;
  }

  /** Passes on the outcomes until the session ends. */
  private async run(): Promise<SessionSummary> {
    const { signal } = this.#options;
    const abort = (): void => this.#leaving.abort(signal?.reason);
    signal?.addEventListener("abort", abort);
    try {
      signal?.throwIfAborted();
      const kind = new SessionKind(this.#defaults);
      const options = { ...this.#options, signal: this.#leaving.signal };
      for await (const { id, outcome } of streamItems(
        this.#connection,
        kind,
        this.#items,
        options,
      )) {
        const caller = this.#callers.get(id);
        this.#callers.delete(id);
        if (outcome instanceof SidecheckError) {
          caller?.reject(outcome);
        } else {
          caller?.resolve(outcome);
        }
      }
      if (kind.summary === undefined) {
        throw new InvalidResponse("the server sent no summary of the session");
      }
      return kind.summary;
    } catch (error) {
      this.#failure = { error };
      for (const caller of this.#callers.values()) {
        caller.reject(error);
      }
      this.#callers.clear();
      throw error;
    } finally {
      this.#items.end();
      signal?.removeEventListener("abort", abort);
    }
  }
}

const RPC = wire.ProtocolServiceService.checkSession;

/** Messages of one session. */
class SessionKind implements StreamKind<wire.SessionItem, wire.CheckSessionResponse, CheckOutcome> {
  readonly rpc = RPC;
  readonly opening: Buffer;
  /** What the server says of the session as a whole, in its last response. */
  summary: SessionSummary | undefined;

  constructor(defaults: wire.SessionDefaults) {
    this.opening = RPC.requestSerialize({ message: { $case: "defaults", value: defaults } });
  }

  encode(item: wire.SessionItem): Buffer {
    return RPC.requestSerialize({ message: { $case: "item", value: item } });
  }

  encodeId(id: string): Buffer {
    return this.encode({ id, message: undefined, httpStatus: 0 });
  }

  decode({
    id,
    outcome,
    summary,
  }: wire.CheckSessionResponse): { id: string; outcome: CheckOutcome } | undefined {
    if (summary === undefined) {
      return { id, outcome: decodeCheckOutcome(outcome ?? { outcome: undefined }) };
    }
    this.summary = {
      repeatedViolations: summary.repeatedViolations.map((violation) => ({
        ...violation,
        count: Number(violation.count),
        firstItem: Number(violation.firstItem),
      })),
    };
    return undefined;
  }
}

/** Messages that wait to be sent, in order. */
class ItemQueue implements AsyncIterable<wire.SessionItem> {
  readonly #items: wire.SessionItem[] = [];
  #ended = false;
  #wake: () => void = () => undefined;

  push(item: wire.SessionItem): void {
    this.#items.push(item);
    this.#wake();
  }

  end(): void {
    this.#ended = true;
    this.#wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<wire.SessionItem, void, undefined> {
    for (;;) {
      yield* this.#items.splice(0);
      if (this.#ended && this.#items.length === 0) {
        return;
      }
      if (this.#items.length === 0) {
        await new Promise<void>((resolve) => (this.#wake = resolve));
      }
    }
  }
}
