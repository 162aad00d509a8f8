/** Calls on one gRPC channel, with deadlines and cancellation. */

import {
  Client as GrpcClient,
  type ChannelInterface,
  type CallOptions as GrpcCallOptions,
  type ClientDuplexStream,
  Metadata,
  type ServiceError,
  status,
} from "@grpc/grpc-js";

import { channelCredentials, channelOptions, checkAddress, type TlsOptions } from "./address.js";
import type { Peer } from "./connection-failures.js";
import { InvalidResponse, Unavailable } from "./errors.js";
import { clientClosed, decodeCallError } from "./statuses.js";
import { CallToken, checkTokenOptions, type Token, type TokenOptions } from "./tokens.js";

/** @internal A method of the API, as ts-proto describes it. */
export interface Rpc<Request, Response> {
  readonly path: string;
  requestSerialize(message: Request): Buffer;
  responseDeserialize(bytes: Buffer): Response;
}

/** Deadline and cancellation of a call. */
export interface CallOptions {
  /** Deadline of the call in milliseconds from now, instead of that of the client. */
  readonly timeoutMs?: number | undefined;
  /** Cancels the call, which then rejects with the reason of the signal. */
  readonly signal?: AbortSignal | undefined;
}

/** @internal What ends a gRPC call, or a pause between two. */
interface Cancellable {
  cancel(): void;
}

/** @internal */
export type DuplexCall = ClientDuplexStream<Buffer, Buffer>;

/** Message of grpc-js for a stream that the server refused. */
const REFUSED = "Stream refused by server";

/** Longest delay of a timer; one that is longer would be none. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** @internal A gRPC channel to one address. It connects at the first call. */
export class Channel {
  readonly #client: GrpcClient;
  readonly #peer: Peer;
  readonly #token: Token | undefined;
  readonly #calls = new Set<Cancellable>();
  readonly #callTokens = new WeakMap<Cancellable, CallToken>();
  #closed = false;

  constructor(address: string, tls: TlsOptions | undefined, tokenOptions: TokenOptions) {
    checkAddress(address);
    checkTokenOptions(address, tls, tokenOptions);
    this.#peer = { address, hasTls: tls !== undefined, serverName: tls?.serverName };
    this.#token = tokenOptions.token;
    const options = channelOptions(address, tls);
    this.#client = new GrpcClient(address, channelCredentials(tls), options);
  }

  /** The channel itself, for calls that have no method here. */
  get grpc(): ChannelInterface {
    return this.#client.getChannel();
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** Sends a request in its wire format and returns the response. */
  async call<Response>(
    rpc: Rpc<never, Response>,
    request: Buffer,
    timeoutMs: number,
    signal: AbortSignal | undefined,
  ): Promise<Response> {
    const deadline = Date.now() + timeoutMs;
    for (;;) {
      this.checkOpen(signal);
      try {
        return decodeResponse(rpc, await this.send(rpc.path, request, deadline, signal));
      } catch (error) {
        // A server at its limit of streams refuses one before any work on it, so that it may be sent
        // again as often as the deadline allows (RFC 9113, section 8.7). It happens to clients with
        // as many calls as the limit, because a server may count a stream for longer than its client
        // does. Each of these calls has the retries and pauses of the service config.
        if (
          !(error instanceof Unavailable && error.message === REFUSED) ||
          Date.now() >= deadline
        ) {
          throw error;
        }
      }
    }
  }

  private async send(
    path: string,
    request: Buffer,
    deadline: number,
    signal: AbortSignal | undefined,
  ): Promise<Buffer> {
    return new Promise<Buffer>((resolve, reject) => {
      const callback = (error: ServiceError | null, response?: Buffer): void => {
        this.#calls.delete(call);
        signal?.removeEventListener("abort", cancel);
        if (response !== undefined && !error) {
          resolve(response);
        } else {
          reject(this.explain(error, call, signal));
        }
      };
      const [options, token] = this.callOptions(deadline);
      // The same on the wire as a unary request, for which grpc-js reads only one response: if there
      // were another, the call would wait for its deadline.
      const call = this.#client.makeClientStreamRequest(
        path,
        keepBytes,
        // Decoded later: grpc-js reports bytes that do not decode as an INTERNAL of the server.
        keepBytes,
        new Metadata(),
        options,
        callback,
      );
      this.track(call, token);
      call.end(request);
      const cancel = (): void => call.cancel();
      signal?.addEventListener("abort", cancel);
    });
  }

  /** Starts a call with a stream of requests and a stream of responses, in their wire format. */
  stream(rpc: Rpc<never, unknown>, timeoutMs: number, signal: AbortSignal | undefined): DuplexCall {
    this.checkOpen(signal);
    const [options, token] = this.callOptions(Date.now() + timeoutMs);
    const call = this.#client.makeBidiStreamRequest(
      rpc.path,
      keepBytes,
      keepBytes,
      new Metadata(),
      options,
    );
    this.track(call, token);
    const cancel = (): void => call.cancel();
    signal?.addEventListener("abort", cancel);
    call.once("status", () => {
      this.#calls.delete(call);
      signal?.removeEventListener("abort", cancel);
    });
    return call;
  }

  /** Returns the error of a failed call: the caller's own reason, or what the server reported. */
  explain(error: ServiceError | null, call: Cancellable, signal: AbortSignal | undefined): unknown {
    if (signal?.aborted) {
      return signal.reason;
    }
    const unsent = this.#callTokens.get(call)?.failure;
    if (unsent) {
      return unsent.error;
    }
    if (this.#closed && error?.code === status.CANCELLED) {
      return clientClosed();
    }
    return error
      ? decodeCallError(error, this.#peer)
      : new InvalidResponse("the call ended without an error and without a response");
  }

  /** Waits for a time in milliseconds, unless the signal is aborted or the client is closed. */
  async pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
    this.checkOpen(signal);
    await new Promise<void>((resolve) => {
      const end = (): void => {
        clearTimeout(timer);
        this.#calls.delete(pause);
        signal?.removeEventListener("abort", end);
        resolve();
      };
      const timer = setTimeout(end, Math.min(ms, LONGEST_TIMER_MS));
      const pause = { cancel: end };
      this.#calls.add(pause);
      signal?.addEventListener("abort", end);
    });
    this.checkOpen(signal);
  }

  /** Throws the reason of the signal if it is aborted, or an error if the client is closed. */
  checkOpen(signal: AbortSignal | undefined): void {
    signal?.throwIfAborted();
    if (this.#closed) {
      throw clientClosed();
    }
  }

  /** Closes the connection. Pending calls are cancelled. */
  close(): void {
    this.#closed = true;
    for (const call of this.#calls) {
      call.cancel();
    }
    this.#client.close();
  }

  private callOptions(deadline: number): [GrpcCallOptions, CallToken | undefined] {
    if (this.#token === undefined) {
      return [{ deadline }, undefined];
    }
    const token = new CallToken(this.#token);
    return [{ deadline, credentials: token.credentials }, token];
  }

  private track(call: Cancellable, token: CallToken | undefined): void {
    this.#calls.add(call);
    if (token) {
      this.#callTokens.set(call, token);
    }
  }
}

/**
 * @internal Returns the message in a response.
 *
 * @throws InvalidResponse if the bytes do not decode.
 */
export function decodeResponse<Response>(rpc: Rpc<never, Response>, bytes: Buffer): Response {
  try {
    return rpc.responseDeserialize(bytes);
  } catch {
    throw new InvalidResponse(`the response, of ${bytes.length} bytes, does not decode`);
  }
}

function keepBytes(bytes: Buffer): Buffer {
  return bytes;
}
