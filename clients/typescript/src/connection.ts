/** Calls to a server, with the deadline and the policy of a client and the server's limits. */

import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";

import type { CallOptions, Channel, Rpc } from "./channel.js";
import { InvalidResponse, SidecheckError, Unavailable } from "./errors.js";
import { InfoServiceService } from "./gen/sidecheck/v1/info_service.js";
import { decodeServerInfo, type Limits, type ServerInfo } from "./values/info.js";
import { itemTooLarge } from "./statuses.js";
import { fallbackVerdict, type OnUnavailable } from "./validation.js";
import { ErrorReason } from "./values/error-reasons.js";
import type { Verdict } from "./values/verdict.js";

/** @internal The calls of one client; its groups of methods share it. */
export class Connection {
  readonly channel: Channel;
  /** Deadline of calls that have none of their own, in milliseconds. */
  readonly timeoutMs: number;
  readonly onUnavailable: OnUnavailable;
  /** Protocol version of requests that name none, "" leaves it to the server. */
  readonly protocolVersion: string;
  /** Least revision of the registry that requests read; 0 is any. */
  minRevision = 0n;
  #limits: Limits | undefined;

  constructor(
    channel: Channel,
    timeoutMs: number,
    onUnavailable: OnUnavailable,
    protocolVersion: string,
  ) {
    this.channel = channel;
    this.timeoutMs = checkTimeout(timeoutMs);
    this.onUnavailable = onUnavailable;
    this.protocolVersion = protocolVersion;
  }

  /** Returns the decoded response to a request. */
  async call<Request, Response, Value>(
    rpc: Rpc<Request, Response>,
    request: Request,
    decode: (response: Response) => Value,
    options: CallOptions = {},
  ): Promise<Value> {
    return this.send(rpc, rpc.requestSerialize(request), decode, options);
  }

  /** Returns the decoded response to a request in its wire format. */
  async send<Response, Value>(
    rpc: Rpc<never, Response>,
    request: Buffer,
    decode: (response: Response) => Value,
    { timeoutMs = this.timeoutMs, signal }: CallOptions,
  ): Promise<Value> {
    try {
      return decode(await this.channel.call(rpc, request, checkTimeout(timeoutMs), signal));
    } catch (error) {
      if (error instanceof SidecheckError && error.reason === ErrorReason.LIMIT_EXCEEDED) {
        // The server may have been replaced by one with lower limits.
        this.#limits = undefined;
      }
      throw error;
    }
  }

  /** Returns the result, or `fallBack` of the policy's verdict if no server answered. */
  async orFallBack<Value>(
    result: Promise<Value>,
    fallBack: (verdict: Verdict) => Value,
  ): Promise<Value> {
    try {
      return await result;
    } catch (error) {
      if (error instanceof Unavailable && this.onUnavailable !== "error") {
        return fallBack(fallbackVerdict(error, this.onUnavailable));
      }
      throw error;
    }
  }

  /**
   * Returns the outcomes of items, sent in as many requests as the limits require. If the server is
   * lost in the middle, the remaining items have the error or the policy's verdict.
   *
   * @param head the request without items, in its wire format
   * @param elements the items, each as {@link encodeElement} returns it
   */
  async callInParts<Response, Value>(
    rpc: Rpc<never, Response>,
    head: Buffer,
    elements: readonly Uint8Array[],
    decode: (response: Response) => (Value | SidecheckError)[],
    fallBack: (verdict: Verdict) => Value,
    options: CallOptions,
  ): Promise<(Value | SidecheckError)[]> {
    const outcomes: (Value | SidecheckError)[] = [];
    if (elements.length === 0) {
      return outcomes;
    }
    try {
      const limits = await this.limits(options);
      const room = limits.messageBytes - head.length;
      for (const part of splitElements(elements, room, limits.batchItems)) {
        const [first] = part;
        if (first !== undefined && first.length > room) {
          outcomes.push(itemTooLarge(first.length, limits));
          continue;
        }
        const decoded = await this.sendPart(rpc, head, part, decode, options);
        for (const outcome of decoded) {
          outcomes.push(outcome instanceof Unavailable ? this.settle(outcome, fallBack) : outcome);
        }
      }
    } catch (error) {
      if (!(error instanceof Unavailable)) {
        throw error;
      }
      // The remaining parts are not tried: each would cost another deadline.
      while (outcomes.length < elements.length) {
        outcomes.push(this.settle(error, fallBack));
      }
    }
    return outcomes;
  }

  /** Returns the outcomes of items; those whose worker crashed are sent once again. */
  private async sendPart<Response, Value>(
    rpc: Rpc<never, Response>,
    head: Buffer,
    part: readonly Uint8Array[],
    decode: (response: Response) => (Value | SidecheckError)[],
    options: CallOptions,
  ): Promise<(Value | SidecheckError)[]> {
    const send = async (elements: readonly Uint8Array[]) => {
      const outcomes = await this.send(rpc, Buffer.concat([head, ...elements]), decode, options);
      if (outcomes.length !== elements.length) {
        throw new InvalidResponse(
          `the response has ${outcomes.length} outcomes for ${elements.length} items`,
        );
      }
      return outcomes;
    };
    const outcomes = await send(part);
    const crashed = [...outcomes.keys()].filter((index) => {
      const outcome = outcomes[index];
      return outcome instanceof SidecheckError && outcome.reason === ErrorReason.WORKER_CRASHED;
    });
    if (crashed.length === 0) {
      return outcomes;
    }
    try {
      const again = new Set(crashed);
      const answers = await send(part.filter((_, index) => again.has(index)));
      crashed.forEach((index, position) => {
        outcomes[index] = answers[position] as Value | SidecheckError;
      });
    } catch (error) {
      if (!(error instanceof Unavailable)) {
        throw error;
      }
    }
    return outcomes;
  }

  /** Returns the server's version, limits and capabilities, and stores the limits. */
  async info(options?: CallOptions): Promise<ServerInfo> {
    const info = await this.call(InfoServiceService.getServerInfo, {}, decodeServerInfo, options);
    this.#limits = info.limits;
    return info;
  }

  /** Returns the server's limits, which are fetched once. */
  async limits(options?: CallOptions): Promise<Limits> {
    return this.#limits ?? (await this.info(options)).limits;
  }

  /** Returns the outcome of an item that no server answered: the error, or the policy's verdict. */
  private settle<Value>(
    error: Unavailable,
    fallBack: (verdict: Verdict) => Value,
  ): Value | Unavailable {
    return this.onUnavailable === "error"
      ? error
      : fallBack(fallbackVerdict(error, this.onUnavailable));
  }
}

/** @internal Returns a message as an element of a repeated field. */
export function encodeElement(field: number, message: Uint8Array): Uint8Array {
  return new BinaryWriter().tag(field, WireType.LengthDelimited).bytes(message).finish();
}

/** @internal Yields the elements in parts within both limits; one over `maxBytes` gets its own. */
export function* splitElements(
  elements: readonly Uint8Array[],
  maxBytes: number,
  maxItems = Infinity,
): Generator<readonly Uint8Array[]> {
  let start = 0;
  let total = 0;
  for (const [index, { length }] of elements.entries()) {
    if (index > start && (total + length > maxBytes || index - start >= maxItems)) {
      yield elements.slice(start, index);
      start = index;
      total = 0;
    }
    total += length;
  }
  if (start < elements.length) {
    yield elements.slice(start);
  }
}

/** @internal Returns a time in milliseconds; throws a TypeError, with its name, if not positive. */
export function checkTimeout(timeoutMs: number, name = "timeoutMs"): number {
  if (!(timeoutMs > 0)) {
    throw new TypeError(`${name} must be positive, not ${timeoutMs}`);
  }
  return timeoutMs;
}
