/** A watch of registered tools, which goes on after a lost connection. */

import { type Channel, decodeResponse } from "./channel.js";
import { checkTimeout, type Connection } from "./connection.js";
import { type StatusName, Unavailable } from "./errors.js";
import { RegistryServiceService } from "./gen/sidecheck/v1/registry_service.js";
import { isServiceError } from "./statuses.js";
import { ChangeJoiner, type Checkpoint, type WatchEvent } from "./watch-events.js";

/** Options of a watch. */
export interface WatchOptions {
  /** Servers whose tools are watched; all that the caller may use if absent or empty. */
  readonly servers?: readonly string[] | undefined;
  /**
   * Position after which changes are told, that of an earlier event. If absent, it is the current
   * one, and the first event is its checkpoint.
   */
  readonly after?: Checkpoint | undefined;
  /**
   * Time without an event after which a lost connection is an error, in milliseconds; 60,000 by
   * default.
   */
  readonly patienceMs?: number | undefined;
  /** Ends the watch, which then rejects with the reason of the signal. */
  readonly signal?: AbortSignal | undefined;
}

const PATIENCE_MS = 60_000;

/** Pauses between two attempts to connect, in milliseconds: they double, up to the longest. */
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5_000;

/** What another attempt would end with, too. */
const LASTING: ReadonlySet<StatusName> = new Set([
  "PERMISSION_DENIED",
  "UNAUTHENTICATED",
  "UNIMPLEMENTED",
]);

const RPC = RegistryServiceService.watchTools;

/** @internal See {@link Client.watch}. */
export async function* watchTools(
  { channel }: Connection,
  options: WatchOptions,
): AsyncGenerator<WatchEvent, void, undefined> {
  const { servers = [], signal } = options;
  if (!Array.isArray(servers)) {
    throw new TypeError("servers must be an array of strings");
  }
  const patienceMs = checkTimeout(options.patienceMs ?? PATIENCE_MS, "patienceMs");
  let after = checkPosition(options.after);
  let heard = performance.now();
  let pauseMs = FIRST_PAUSE_MS;
  for (;;) {
    const request = RPC.requestSerialize({
      servers: [...(servers as readonly string[])],
      afterRevision: after && BigInt(after.revision),
      afterId: after?.id ?? "",
    });
    let lost: Unavailable;
    try {
      for await (const event of readEvents(channel, request, signal)) {
        after = "server" in event ? event.checkpoint : event;
        yield event;
        // Events that were received before the end are not told after it.
        channel.checkOpen(signal);
        heard = performance.now();
        pauseMs = FIRST_PAUSE_MS;
      }
      lost = new Unavailable("UNAVAILABLE", "the server ended the stream", {
        status: "UNAVAILABLE",
      });
    } catch (error) {
      if (!(error instanceof Unavailable)) {
        throw error;
      }
      lost = error;
    }
    // Clients that lost the same server do not come back in step.
    const jitteredMs = pauseMs * (0.5 + Math.random() / 2);
    const delayMs = Math.max(lost.retryAfterMs ?? 0, jitteredMs);
    if (LASTING.has(lost.status) || performance.now() - heard + delayMs > patienceMs) {
      throw lost;
    }
    await channel.pause(delayMs, signal);
    pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS);
  }
}

/** Yields the events of one call, which ends with the iteration. */
async function* readEvents(
  channel: Channel,
  request: Buffer,
  signal: AbortSignal | undefined,
): AsyncGenerator<WatchEvent, void, undefined> {
  // On the wire, a stream of one request is the same as a single request.
  const call = channel.stream(RPC, Infinity, signal);
  // The error is thrown where the responses are read; an event without a listener would be fatal.
  call.on("error", () => undefined);
  const joiner = new ChangeJoiner();
  try {
    call.end(request);
    for await (const bytes of call) {
      const event = joiner.join(decodeResponse(RPC, bytes as Buffer));
      if (event !== undefined) {
        yield event;
      }
    }
  } catch (error) {
    throw isServiceError(error) ? channel.explain(error, call, signal) : error;
  } finally {
    call.cancel();
  }
}

function checkPosition(after: Checkpoint | undefined): Checkpoint | undefined {
  if (after === undefined) {
    return undefined;
  }
  if (!Number.isSafeInteger(after.revision) || after.revision < 0) {
    throw new TypeError(`after.revision must be a whole number from 0, not ${after.revision}`);
  }
  if (typeof after.id !== "string") {
    throw new TypeError(`after.id must be a string, not ${typeof after.id}`);
  }
  return after;
}
