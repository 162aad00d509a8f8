/** Concurrent single validations that share batches. */

import type { CallOptions } from "./channel.js";
import { checkTimeout, type Connection, encodeElement } from "./connection.js";
import { InvalidResponse, SidecheckError, Unavailable } from "./errors.js";
import { Detail } from "./gen/sidecheck/v1/options.js";
import { ValidateItem, ValidationServiceService } from "./gen/sidecheck/v1/validation_service.js";
import { clientClosed } from "./statuses.js";
import { decodeOutcome, type ValidateOutcome } from "./validation.js";
import { ErrorReason } from "./values/error-reasons.js";
import type { Verdict } from "./values/verdict.js";

/** Most items of a batch, and their most bytes. */
const BATCH_ITEMS = 256;
const BATCH_BYTES = 256 * 1024;

/** Size in bytes beyond which a call goes alone. */
const LARGE_ITEM = 64 * 1024;

/** Longest time that a call waits for others, in milliseconds. */
const WAIT_MS = 2;

/** Violations of a verdict whose options name no number; the server's default. */
const MAX_VIOLATIONS = 20;

/** Bounds that a batch exceeds as a whole, so that an item may have a verdict of its own. */
const BATCH_BOUNDS = new Set(["request_steps", "offloaded_items"]);

/** A call that waits for its outcome. */
interface Entry {
  readonly item: ValidateItem;
  readonly element: Uint8Array;
  readonly deadline: number;
  readonly signal: AbortSignal | undefined;
  /** Passes on the outcome. The first one counts. */
  settle(outcome: Promise<Verdict>): void;
  settled: boolean;
  /** Is told that the call has left without an outcome. */
  left: () => void;
}

type Single = (item: ValidateItem, options: CallOptions) => Promise<Verdict>;

/**
 * @internal Sends a call at once if none is outstanding. Others queue up, and go as one batch when the
 * outstanding request returns, when there are enough of them, or when the oldest has waited.
 */
export class Coalescer {
  readonly #connection: Connection;
  readonly #single: Single;
  #queue: Entry[] = [];
  #queuedBytes = 0;
  #outstanding = 0;
  /** Number of callers that have just had outcomes, and may call again before the next batch. */
  #returning = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(connection: Connection, single: Single) {
    this.#connection = connection;
    this.#single = single;
  }

  async validate(item: ValidateItem, options: CallOptions): Promise<Verdict> {
    const idle = this.#outstanding === 0 && this.#queue.length === 0 && this.#returning === 0;
    if (idle) {
      return this.track(1, this.#single(item, options));
    }
    const element = encodeElement(3, ValidateItem.encode(item).finish());
    if (element.length > LARGE_ITEM) {
      return this.#single(item, options);
    }
    return this.enqueue(item, element, options);
  }

  /** Fails what waits to be sent. */
  close(): void {
    for (const entry of this.take()) {
      entry.settle(Promise.reject(clientClosed()));
    }
  }

  private async enqueue(
    item: ValidateItem,
    element: Uint8Array,
    { timeoutMs = this.#connection.timeoutMs, signal }: CallOptions,
  ): Promise<Verdict> {
    signal?.throwIfAborted();
    if (this.#connection.channel.closed) {
      throw clientClosed();
    }
    checkTimeout(timeoutMs);
    return new Promise((resolve) => {
      const leave = (reason: unknown): void => {
        entry.settle(Promise.reject(reason));
        entry.left();
      };
      const abort = (): void => leave(signal?.reason);
      // The batch has the latest deadline of its callers.
      const timer = Number.isFinite(timeoutMs)
        ? setTimeout(() => leave(deadlineExceeded(timeoutMs)), timeoutMs)
        : undefined;
      const entry: Entry = {
        item,
        element,
        deadline: performance.now() + timeoutMs,
        signal,
        settled: false,
        settle(outcome) {
          this.settled = true;
          clearTimeout(timer);
          signal?.removeEventListener("abort", abort);
          resolve(outcome);
        },
        left: () => {
          this.#queue = this.#queue.filter((queued) => queued !== entry);
          this.#queuedBytes -= element.length;
        },
      };
      signal?.addEventListener("abort", abort);
      this.#queue.push(entry);
      this.#queuedBytes += element.length;
      const full = this.#queue.length >= BATCH_ITEMS || this.#queuedBytes >= BATCH_BYTES;
      if (full || (this.#returning > 0 && this.#queue.length >= this.#returning)) {
        this.flush();
      } else {
        this.#timer ??= setTimeout(() => this.flush(), WAIT_MS);
      }
    });
  }

  private take(): Entry[] {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#returning = 0;
    const entries = this.#queue;
    this.#queue = [];
    this.#queuedBytes = 0;
    return entries;
  }

  private flush(): void {
    const entries = this.take();
    if (entries.length > 0) {
      void this.track(entries.length, this.sendAll(entries));
    }
  }

  /** Counts a request as outstanding, and sends what queued up meanwhile after it. */
  private async track<T>(callers: number, request: Promise<T>): Promise<T> {
    this.#outstanding += 1;
    try {
      return await request;
    } finally {
      this.#outstanding -= 1;
      if (callers > 1) {
        // Their callers usually call again at once: before the event loop goes on.
        this.#returning = callers;
        setImmediate(() => this.flush());
      } else {
        this.flush();
      }
    }
  }

  /** Sends a batch and settles its entries. Never rejects. */
  private async sendAll(entries: readonly Entry[]): Promise<void> {
    const controller = new AbortController();
    for (const entry of entries) {
      entry.left = () => {
        if (entries.every(({ settled }) => settled)) {
          controller.abort();
        }
      };
    }
    const timeoutMs = Math.max(...entries.map(({ deadline }) => deadline)) - performance.now();
    const rpc = ValidationServiceService.validateBatch;
    const head = rpc.requestSerialize({
      target: undefined,
      options: undefined,
      items: [],
      minRevision: this.#connection.minRevision,
    });
    let outcomes: ValidateOutcome[];
    try {
      outcomes = await this.#connection.send(
        rpc,
        Buffer.concat([head, ...entries.map(({ element }) => element)]),
        (response) =>
          response.outcomes.map((outcome) => decodeOutcome(outcome, response.registryRevision)),
        { timeoutMs: Math.max(timeoutMs, 1), signal: controller.signal },
      );
      if (outcomes.length !== entries.length) {
        throw new InvalidResponse(
          `the response has ${outcomes.length} outcomes for ${entries.length} items`,
        );
      }
    } catch (error) {
      const whole = error instanceof Unavailable || isRevisionNotReached(error);
      for (const entry of entries) {
        this.settle(entry, whole ? Promise.reject(error) : undefined);
      }
      return;
    }
    for (const [index, entry] of entries.entries()) {
      const outcome = outcomes[index];
      if (outcome === undefined || isOfBatch(outcome, entry.item)) {
        this.settle(entry, undefined);
      } else if (outcome instanceof SidecheckError) {
        this.settle(entry, Promise.reject(outcome));
      } else {
        this.settle(entry, Promise.resolve(outcome));
      }
    }
  }

  /** Settles an entry that has not left, by a call of its own if there is no outcome for it. */
  private settle(entry: Entry, outcome: Promise<Verdict> | undefined): void {
    if (entry.settled) {
      outcome?.catch(() => undefined);
      return;
    }
    const timeoutMs = Math.max(entry.deadline - performance.now(), 1);
    entry.settle(outcome ?? this.#single(entry.item, { timeoutMs, signal: entry.signal }));
  }
}

/** Whether a request waited for a revision in vain: calls of their own would wait for the same one. */
function isRevisionNotReached(error: unknown): boolean {
  return error instanceof SidecheckError && error.reason === ErrorReason.REVISION_NOT_REACHED;
}

/** Whether an outcome depends on the other items of the batch. */
function isOfBatch(outcome: ValidateOutcome, { options }: ValidateItem): boolean {
  if (outcome instanceof SidecheckError) {
    const { reason, metadata } = outcome;
    return reason === ErrorReason.LIMIT_EXCEEDED && BATCH_BOUNDS.has(metadata["bound"] ?? "");
  }
  const allowed =
    options?.detail === Detail.DETAIL_VERDICT_ONLY
      ? 0
      : options?.detail === Detail.DETAIL_FIRST
        ? 1
        : options?.maxViolations || MAX_VIOLATIONS;
  return outcome.truncated && outcome.violations.length < allowed;
}

function deadlineExceeded(timeoutMs: number): Unavailable {
  return new Unavailable("DEADLINE_EXCEEDED", `no response within ${timeoutMs} ms`, {
    status: "DEADLINE_EXCEEDED",
  });
}
