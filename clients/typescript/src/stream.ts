/** Streams: items are sent and their outcomes read as they come, in order. */

import type { CallOptions, DuplexCall } from "./channel.js";
import { decodeResponse } from "./channel.js";
import { checkTimeout, type Connection } from "./connection.js";
import {
  InvalidResponse,
  SidecheckError,
  StreamClosed,
  StreamUnavailable,
  Unavailable,
} from "./errors.js";
import * as wire from "./gen/sidecheck/v1/validation_service.js";
import type { Limits } from "./info.js";
import { itemNotEncodable, itemTooLarge } from "./statuses.js";
import { encodeTarget, type Target } from "./targets.js";
import {
  decodeOutcome,
  encodeItem,
  encodeOptions,
  type Item,
  type ValidateOutcome,
  type ValidationOptions,
} from "./validation.js";

/** One payload of a stream. */
export type StreamItem = Item & {
  /** Returned with the outcome; need not be unique. */
  readonly id: string;
};

/** Outcome of one item of a stream: a verdict, or the error of the item. */
export interface StreamOutcome {
  readonly id: string;
  readonly outcome: ValidateOutcome;
}

/** Options of a stream. There is no deadline by default. */
export interface StreamOptions extends ValidationOptions, CallOptions {
  /** Target of items that have none of their own. */
  readonly target?: Target | undefined;
  /** Most items taken whose outcomes have not been read, 64 by default. */
  readonly outstanding?: number | undefined;
}

/** Most items without an outcome that was read. */
const OUTSTANDING = 64;

const RPC = wire.ValidationServiceService.validateStream;

/** @internal See {@link Client.validateStream}. */
export async function* streamItems(
  connection: Connection,
  items: Iterable<StreamItem> | AsyncIterable<StreamItem>,
  options: StreamOptions,
): AsyncGenerator<StreamOutcome, void, undefined> {
  const { timeoutMs = Infinity, outstanding = OUTSTANDING, signal } = options;
  if (!(Number.isInteger(outstanding) && outstanding > 0)) {
    throw new TypeError(`outstanding must be a positive integer, not ${outstanding}`);
  }
  const deadline = performance.now() + checkTimeout(timeoutMs);
  // Fetched for each stream: this call is retried while no server responds, unlike the stream.
  const { limits } = await connection.info({
    timeoutMs: Math.min(connection.timeoutMs, timeoutMs),
    signal,
  });
  const defaults = RPC.requestSerialize({
    message: {
      $case: "defaults",
      value: {
        target: encodeTarget(options.target),
        options: encodeOptions(options, connection.protocolVersion),
      },
    },
  });
  if (defaults.length > limits.messageBytes) {
    throw itemTooLarge(defaults.length, limits);
  }
  const remaining = Math.max(deadline - performance.now(), 0);
  const call = connection.channel.stream(RPC, remaining, signal);
  const sender = new Sender(call, limits, connection.protocolVersion, outstanding);
  try {
    call.write(defaults);
    sender.start(items);
    for await (const bytes of call) {
      const response = decodeResponse(RPC, bytes as Buffer);
      yield sender.settle(response);
    }
    sender.checkFinished();
  } catch (error) {
    if (sender.fault) {
      throw sender.fault.error;
    }
    const explained =
      error instanceof SidecheckError || !isServiceError(error)
        ? error
        : connection.channel.explain(error, signal);
    throw explained instanceof SidecheckError ? closeError(explained, sender.unanswered) : explained;
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
class Sender {
  /** What the source of the items threw, if it did. */
  fault: { readonly error: unknown } | undefined;
  readonly #call: DuplexCall;
  readonly #limits: Limits;
  readonly #protocolVersion: string;
  readonly #outstanding: number;
  readonly #pending: Pending[] = [];
  #finished = false;
  #stopped = false;
  #wake: () => void = () => undefined;

  constructor(call: DuplexCall, limits: Limits, protocolVersion: string, outstanding: number) {
    this.#call = call;
    this.#limits = limits;
    this.#protocolVersion = protocolVersion;
    this.#outstanding = outstanding;
    // The error is thrown where the responses are read; an event without a listener would be fatal.
    call.on("error", () => this.stop());
    call.on("drain", () => this.#wake());
  }

  /** Ids of the items that were taken and have no outcome. */
  get unanswered(): string[] {
    return this.#pending.map(({ id }) => id);
  }

  start(items: Iterable<StreamItem> | AsyncIterable<StreamItem>): void {
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
  settle(response: wire.ValidateStreamResponse): StreamOutcome {
    const [oldest] = this.#pending;
    // The id is "" where the server could not read it.
    if (oldest === undefined || (response.id !== "" && response.id !== oldest.id)) {
      throw new InvalidResponse("the server responded out of order");
    }
    const outcome = oldest.error ?? decodeOutcome(response.outcome, response.registryRevision);
    this.#pending.shift();
    this.#wake();
    return { id: oldest.id, outcome };
  }

  /** Checks that all items have outcomes, at the end of the responses. */
  checkFinished(): void {
    if (!this.#finished || this.#pending.length > 0) {
      throw new InvalidResponse("the server ended the stream early");
    }
  }

  private async run(items: Iterable<StreamItem> | AsyncIterable<StreamItem>): Promise<void> {
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

  private encode(item: StreamItem): Buffer {
    const { id } = item;
    if (typeof id !== "string") {
      throw new TypeError(`the id of an item must be a string, not ${typeof id}`);
    }
    const encode = (own: wire.ValidateItem | undefined): Buffer =>
      RPC.requestSerialize({ message: { $case: "item", value: { id, item: own } } });
    let bytes: Buffer;
    let error: SidecheckError | undefined;
    try {
      bytes = encode(encodeItem(item, this.#protocolVersion));
      if (bytes.length > this.#limits.messageBytes) {
        error = itemTooLarge(bytes.length, this.#limits);
        bytes = encode(undefined);
      }
    } catch (failure) {
      if (!(failure instanceof TypeError)) {
        throw failure;
      }
      error = itemNotEncodable(failure);
      bytes = encode(undefined);
    }
    this.#pending.push({ id, error });
    return bytes;
  }
}

function closeError(error: SidecheckError, unanswered: readonly string[]): StreamClosed {
  const kind = error instanceof Unavailable ? StreamUnavailable : StreamClosed;
  return new kind(error.reason, error.message, error, unanswered);
}

function isServiceError(error: unknown): error is import("@grpc/grpc-js").ServiceError {
  return error instanceof Error && "code" in error && "details" in error;
}
