/** The client, with the calls of ValidationService, RegistryService and InfoService. */

import type { ChannelInterface } from "@grpc/grpc-js";

import { type CallOptions, Channel } from "./channel.js";
import type { ClientOptions } from "./client-options.js";
import { Coalescer } from "./coalescing.js";
import { type CompareOptions, compareTools, type ServerTools } from "./compare-tools.js";
import type { Comparison } from "./values/comparison.js";
import { Connection } from "./connection.js";
import { ConversionClient } from "./conversion.js";
import type { Unavailable } from "./errors.js";
import type { ServerInfo } from "./values/info.js";
import { InferenceClient } from "./inference-client.js";
import type { JsonInput, JsonObjectInput } from "./json.js";
import { ProtocolClient } from "./protocol-client.js";
import { type RegisterOptions, registerTools } from "./registration.js";
import type { GetOptions, Tool } from "./registry.js";
import type { Deletion, Registration } from "./values/registry.js";
import { deleteAllTools, deleteTools, getTool, listTools } from "./registry-calls.js";
import type { Target } from "./targets.js";
import type { Tools } from "./tool-lists.js";
import {
  type StreamItem,
  type StreamOptions,
  type StreamOutcome,
  validateStream,
} from "./validate-stream.js";
import {
  type ABSENT,
  encodeItem,
  fallbackVerdict,
  type Item,
  type Subject,
  type ValidateOutcome,
} from "./validation.js";
import {
  type BatchOptions,
  validateBatch,
  validateItem,
  type ValidateOptions,
} from "./validation-calls.js";
import type { Verdict } from "./values/verdict.js";
import type { WatchEvent } from "./watch-events.js";
import { type WatchOptions, watchTools } from "./watch-tools.js";

/** Default deadline of a call, in milliseconds. */
const TIMEOUT_MS = 2_000;

/**
 * A client of a Sidecheck server. It may be shared: calls are concurrent. It connects at its first
 * call, and holds a connection until {@link Client.close}.
 *
 * All methods reject with a `SidecheckError` if they have no result, with the reason of the signal
 * if the call is aborted, and with a `TypeError` if an argument is invalid or contains a value that
 * JSON cannot express. An invalid payload is returned.
 */
export class Client {
  /** Checks of tool names, definitions, messages and results against the MCP rules. */
  readonly protocol: ProtocolClient;
  /** Conversions of tools, calls and results for the APIs of model providers. */
  readonly conversion: ConversionClient;
  /** Inference of definitions from source text, and their adaptation to protocol versions. */
  readonly inference: InferenceClient;
  /** @internal */
  readonly connection: Connection;
  readonly #coalescer: Coalescer | undefined;

  /**
   * @param address `host:port`, `dns:///host:port` for all addresses of a host, `unix:/path` or
   *   `unix:path`
   * @throws TypeError if the address or an option is invalid
   */
  constructor(address: string, options: ClientOptions = {}) {
    const { timeoutMs = TIMEOUT_MS, onUnavailable = "error", protocolVersion = "" } = options;
    if (!["error", "allow", "deny"].includes(onUnavailable)) {
      const given = JSON.stringify(onUnavailable);
      throw new TypeError(`invalid onUnavailable ${given}; expected "error", "allow" or "deny"`);
    }
    const channel = new Channel(address, options.tls, options);
    this.connection = new Connection(channel, timeoutMs, onUnavailable, protocolVersion);
    this.#coalescer = options.coalesce
      ? new Coalescer(this.connection, (item, call) => validateItem(this.connection, item, call))
      : undefined;
    this.protocol = new ProtocolClient(this.connection);
    this.conversion = new ConversionClient(this.connection);
    this.inference = new InferenceClient(this.connection);
  }

  /**
   * The gRPC channel, for calls that have no method here: pass it to a generated client of
   * `sidecheck/v1/*.js` as its option `channelOverride`. Its calls have the token of the client only
   * if they send it as metadata themselves.
   */
  get channel(): ChannelInterface {
    return this.connection.channel.grpc;
  }

  /**
   * Least revision of the registry that later requests read; 0, the default, is any.
   *
   * Several servers may share a registry, and follow it. Given the revision that a registration or
   * deletion returned, through whatever client, a request waits until its server has it. It rejects
   * with `REVISION_NOT_REACHED` if the server does not have it after 5 seconds, and by the deadline if
   * that is earlier.
   *
   * @throws TypeError if it is set to what is no revision
   */
  get minRevision(): number {
    return Number(this.connection.minRevision);
  }

  set minRevision(revision: number) {
    if (!Number.isSafeInteger(revision) || revision < 0) {
      throw new TypeError(`minRevision must be a whole number from 0, not ${revision}`);
    }
    this.connection.minRevision = BigInt(revision);
  }

  /** Validates the arguments of a tool call against the input schema of the tool, or a schema. */
  async validate(target: Target, args: JsonInput, options?: ValidateOptions): Promise<Verdict> {
    return this.validateSubject(target, { arguments: args }, options);
  }

  /**
   * Validates the structured content of a tool result against the output schema of the tool, or a
   * schema. `ABSENT` is invalid if the tool has an output schema.
   */
  async validateStructuredContent(
    target: Target,
    content: JsonInput | typeof ABSENT,
    options?: ValidateOptions,
  ): Promise<Verdict> {
    return this.validateSubject(target, { structuredContent: content }, options);
  }

  /**
   * Validates the complete `params` of a `tools/call` request. A `RegisteredTool` as the target may
   * omit the name, which the params have. If the tool is unknown, the `jsonRpcError` of the error is
   * what to send.
   */
  async validateCall(
    target: Target,
    params: JsonObjectInput,
    options?: ValidateOptions,
  ): Promise<Verdict> {
    return this.validateSubject(target, { callParams: params }, options);
  }

  /** Validates a complete `CallToolResult` against the output schema of the tool. */
  async validateCallResult(
    target: Target,
    result: JsonObjectInput,
    options?: ValidateOptions,
  ): Promise<Verdict> {
    return this.validateSubject(target, { callResult: result }, options);
  }

  /**
   * Validates many payloads and returns their outcomes in order: a verdict, or the error of the item.
   * A batch beyond the server's limits is sent in several calls, each with the deadline.
   */
  async validateBatch(
    items: Iterable<Item>,
    options: BatchOptions = {},
  ): Promise<ValidateOutcome[]> {
    return validateBatch(this.connection, items, options);
  }

  /**
   * Validates payloads as they come, and yields their outcomes in order, each with the id of its item.
   * Items are taken while fewer than `outstanding` are without an outcome that was read. Leaving the
   * loop cancels the call. An item that is too large or cannot be encoded has its error in its place.
   *
   * @throws StreamClosed if the stream ends early, StreamUnavailable if its server was lost; both
   *   list the ids of the items without an outcome
   */
  validateStream(
    items: Iterable<StreamItem> | AsyncIterable<StreamItem>,
    options: StreamOptions = {},
  ): AsyncGenerator<StreamOutcome, void, undefined> {
    return validateStream(this.connection, items, options);
  }

  /**
   * Registers the tools of a server: a `tools/list` result, or definitions; see {@link Tools}.
   *
   * Tools without an error are registered, whatever becomes of the others. Tools that do not fit in
   * one message are sent in several, each with the deadline, 30 seconds by default; if one fails, the
   * tools of earlier ones stay registered.
   *
   * @throws ToolsRejected if a tool was rejected, unless `onRejected` is "return"
   * @throws TypeError if `tools` is no list of tools, or a single page of several with `replace`; or a
   *   tool, or a replacement as a whole, does not fit in a message; nothing was sent
   */
  async register(
    server: string,
    tools: Tools,
    options: RegisterOptions = {},
  ): Promise<Registration> {
    return registerTools(this.connection, server, tools, options);
  }

  /**
   * Tells what changed from the tools `before` to the tools `after`, and whether it breaks callers.
   *
   * Each is `{ server, names }` for registered tools, or tools as {@link Client.register} takes them,
   * at most `Limits.batchItems`. The reading decides the level of the result; its tools have the
   * levels of both readings.
   *
   * @throws TypeError if a set of tools is none, or a single page of several; nothing was sent
   */
  async compare(
    before: ServerTools | Tools,
    after: ServerTools | Tools,
    options: CompareOptions = {},
  ): Promise<Comparison> {
    return compareTools(this.connection, before, after, options);
  }

  /** Returns a registered tool. */
  async get(server: string, name: string, options: GetOptions = {}): Promise<Tool> {
    return getTool(this.connection, server, name, options);
  }

  /**
   * Yields the registered tools of one server, or of all, by server and name. They are fetched in
   * pages, each with the deadline.
   */
  list(server?: string, options: GetOptions = {}): AsyncGenerator<Tool, void, undefined> {
    return listTools(this.connection, server, options);
  }

  /**
   * Yields the changes of registered tools as they are made: those of some servers, or of all.
   *
   * A {@link ToolsChange} has all that one revision changed, in the order of revisions, each at least
   * once. A `Checkpoint` says that there are no others up to a revision: first of all without the
   * option `after`, whenever all were told, and every few seconds.
   *
   * A lost connection is made again, and the watch goes on where it was. There is no deadline. Leaving
   * the loop ends the watch; so do the option `signal`, while an event is awaited, and
   * {@link Client.close}.
   *
   * To mirror the registry, take the first checkpoint, list the tools, and apply what follows.
   *
   * @throws Unavailable if no server was reached for `patienceMs`
   * @throws SidecheckError with the reason `COMPACTED` if changes since `after` are not kept, or the
   *   registry is another one since: mirror it again; or if the call failed otherwise
   */
  watch(options: WatchOptions = {}): AsyncGenerator<WatchEvent, void, undefined> {
    return watchTools(this.connection, options);
  }

  /** Deletes tools of a server by name, at least one. */
  async delete(server: string, names: readonly string[], options?: CallOptions): Promise<Deletion> {
    return deleteTools(this.connection, server, names, options);
  }

  /** Deletes all tools of a server. */
  async deleteAll(server: string, options?: CallOptions): Promise<Deletion> {
    return deleteAllTools(this.connection, server, options);
  }

  /** Returns the server's version, limits and capabilities. */
  async info(options?: CallOptions): Promise<ServerInfo> {
    return this.connection.info(options);
  }

  /** Closes the connection. Pending calls reject with the reason `CLIENT_CLOSED`. */
  close(): void {
    this.connection.channel.close();
    this.#coalescer?.close();
  }

  /** @internal Returns the policy's verdict for an error; throws it if the policy is "error". */
  fallbackVerdict(error: Unavailable): Verdict {
    if (this.connection.onUnavailable === "error") {
      throw error;
    }
    return fallbackVerdict(error, this.connection.onUnavailable);
  }

  private async validateSubject(
    target: Target,
    subject: Subject,
    options: ValidateOptions = {},
  ): Promise<Verdict> {
    const item = encodeItem({ ...subject, target, options }, this.connection.protocolVersion);
    const result = this.#coalescer
      ? this.#coalescer.validate(item, options)
      : validateItem(this.connection, item, options);
    return this.connection.orFallBack(result, (verdict) => verdict);
  }
}
