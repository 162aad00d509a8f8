/** Streams of items and their outcomes: what streams of payloads and sessions have in common. */

import { type CallOptions, decodeResponse, type DuplexCall, type Rpc } from "./channel.js";
import { checkTimeout, type Connection } from "./connection.js";
import {
  InvalidResponse,
  SidecheckError,
  StreamClosed,
  StreamUnavailable,
  Unavailable,
} from "./errors.js";
import type { Limits } from "./values/info.js";
import { isServiceError, itemNotEncodable, itemTooLarge } from "./statuses.js";

/** Options of a stream. There is no deadline by default. */
export interface OutstandingOptions extends CallOptions {
  /** Most items sent whose outcomes have not been read, 64 by default. */
  readonly outstanding?: number | undefined;
}

/** @internal How a kind of stream encodes its items and decodes its responses. */
export interface StreamKind<Item extends { readonly id: string }, Response, Outcome> {
  readonly rpc: Rpc<never, Response>;
  /** The first message, which has no response. */
  readonly opening: Buffer;
  /** Returns the message for an item. */
  encode(item: Item): Buffer;
  /** Returns the message for the id of an item that cannot be sent. */
  encodeId(id: string): Buffer;
  /** Returns the id and the outcome in a response, undefined if it is to no item. */
  decode(response: Response): { readonly id: string; readonly outcome: Outcome } | undefined;
}

/** Most items without an outcome that was read. */
const OUTSTANDING = 64;

/** @internal Returns the most items without an outcome; throws a TypeError if it is not positive. */
export function checkOutstanding(outstanding: number = OUTSTANDING): number {
  if (!(Number.isInteger(outstanding) && outstanding > 0)) {
    throw new TypeError(`outstanding must be a positive integer, not ${outstanding}`);
  }
  return outstanding;
}

/**
 * @internal Sends items while fewer than `outstanding` are without an outcome that was read, and
 * yields their outcomes in order. Leaving the loop cancels the call.
 */
export async function* streamItems<Item extends { readonly id: string }, Response, Outcome>(
  connection: Connection,
  kind: StreamKind<Item, Response, Outcome>,
  items: Iterable<Item> | AsyncIterable<Item>,
  options: OutstandingOptions,
): AsyncGenerator<{ id: string; outcome: Outcome | SidecheckError }, void, undefined> {
  const { timeoutMs = Infinity, signal } = options;
  const outstanding = checkOutstanding(options.outstanding);
  const deadline = performance.now() + checkTimeout(timeoutMs);
  // Fetched for each stream: this call is retried while no server responds, unlike the stream.
  const { limits } = await connection.info({
    timeoutMs: Math.min(connection.timeoutMs, timeoutMs),
    signal,
  });
  if (kind.opening.length > limits.messageBytes) {
    throw itemTooLarge(kind.opening.length, limits);
  }
  const remaining = Math.max(deadline - performance.now(), 0);
  const call = connection.channel.stream(kind.rpc, remaining, signal);
  const sender = new Sender<Item, Outcome>(call, kind, limits, outstanding);
  try {
    call.write(kind.opening);
    sender.start(items);
    for await (const bytes of call) {
      const response = kind.decode(decodeResponse(kind.rpc, bytes as Buffer));
      if (response !== undefined) {
        yield sender.settle(response);
      }
    }
    sender.checkFinished();
  } catch (error) {
    if (sender.fault) {
      throw sender.fault.error;
    }
    signal?.throwIfAborted();
    const explained = isServiceError(error)
      ? connection.channel.explain(error, call, signal)
      : error;
    throw explained instanceof SidecheckError
      ? closeError(explained, sender.unanswered)
      : explained;
  } finally {
    sender.stop();
    call.cancel();
  }
}

/** An item that was taken, with the error that replaces its outcome if it could not be sent. */
interface Pending {
  readonly id: string;
  readonly error: SidecheckError | undefined;
}

/**
 * Sends items while fewer than a number are without an outcome. For an item that cannot be sent only
 * its id is, and its error replaces the response: so outcomes stay in order.
 */
class Sender<Item extends { readonly id: string }, Outcome> {
  /** What the source of the items threw, if it did. */
  fault: { readonly error: unknown } | undefined;
  readonly #call: DuplexCall;
  readonly #kind: Pick<StreamKind<Item, unknown, Outcome>, "encode" | "encodeId">;
  readonly #limits: Limits;
  readonly #outstanding: number;
  readonly #pending: Pending[] = [];
  #finished = false;
  #stopped = false;
  #wake: () => void = () => undefined;

  constructor(
    call: DuplexCall,
    kind: Pick<StreamKind<Item, unknown, Outcome>, "encode" | "encodeId">,
    limits: Limits,
    outstanding: number,
  ) {
    this.#call = call;
    this.#kind = kind;
    this.#limits = limits;
    this.#outstanding = outstanding;
    // The error is thrown where the responses are read; an event without a listener would be fatal.
    call.on("error", () => this.stop());
    call.on("drain", () => this.#wake());
  }

  /** Ids of the items that were taken and have no outcome. */
  get unanswered(): string[] {
    return this.#pending.map(({ id }) => id);
  }

  start(items: Iterable<Item> | AsyncIterable<Item>): void {
    this.run(items).catch((error: unknown) => {
      this.fault = { error };
      this.#call.cancel();
    });
  }

  /** Stops taking items. */
  stop(): void {
    this.#stopped = true;
    this.#wake();
  }

  /** Returns the outcome in a response, with the id of the oldest item that has none. */
  settle(response: { id: string; outcome: Outcome }): {
    id: string;
    outcome: Outcome | SidecheckError;
  } {
    const [oldest] = this.#pending;
    // The id is "" where the server could not read it.
    if (oldest === undefined || (response.id !== "" && response.id !== oldest.id)) {
      throw new InvalidResponse("the server responded out of order");
    }
    this.#pending.shift();
    this.#wake();
    return { id: oldest.id, outcome: oldest.error ?? response.outcome };
  }

  /** Checks that all items have outcomes, at the end of the responses. */
  checkFinished(): void {
    if (!this.#finished || this.#pending.length > 0) {
      throw new InvalidResponse("the server ended the stream early");
    }
  }

  private async run(items: Iterable<Item> | AsyncIterable<Item>): Promise<void> {
    const source =
      Symbol.asyncIterator in items ? items[Symbol.asyncIterator]() : items[Symbol.iterator]();
    for (;;) {
      while (
        !this.#stopped &&
        (this.#pending.length >= this.#outstanding || this.#call.writableNeedDrain)
      ) {
        await new Promise<void>((resolve) => (this.#wake = resolve));
      }
      const next = this.#stopped ? undefined : await source.next();
      if (next === undefined || this.#stopped) {
        await source.return?.();
        return;
      }
      if (next.done) {
        this.#finished = true;
        this.#call.end();
        return;
      }
      this.#call.write(this.encode(next.value));
    }
  }

  private encode(item: Item): Buffer {
    const { id } = item;
    if (typeof id !== "string") {
      throw new TypeError(`the id of an item must be a string, not ${typeof id}`);
    }
    let bytes: Buffer | undefined;
    let error: SidecheckError | undefined;
    try {
      bytes = this.#kind.encode(item);
      if (bytes.length > this.#limits.messageBytes) {
        error = itemTooLarge(bytes.length, this.#limits);
      }
    } catch (failure) {
      if (!(failure instanceof TypeError)) {
        throw failure;
      }
      error = itemNotEncodable(failure);
    }
    this.#pending.push({ id, error });
    return bytes === undefined || error ? this.#kind.encodeId(id) : bytes;
  }
}

function closeError(error: SidecheckError, unanswered: readonly string[]): StreamClosed {
  const kind = error instanceof Unavailable ? StreamUnavailable : StreamClosed;
  return new kind(error.reason, error.message, error, unanswered);
}
