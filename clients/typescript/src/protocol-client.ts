/** The calls of ProtocolService. */

import type { CallOptions, Rpc } from "./channel.js";
import { type Connection, encodeElement } from "./connection.js";
import * as wire from "./gen/sidecheck/v1/protocol_service.js";
import { encodeJsonObject, type JsonObjectInput } from "./json.js";
import {
  decodeNormalized,
  encodeReturnValue,
  type NormalizedResult,
  type ReturnValue,
} from "./normalization.js";
import {
  type CheckDetailOptions,
  type CheckedNames,
  type CheckedTools,
  type CheckItem,
  type CheckOutcome,
  type CheckResult,
  decodeCheckOutcome,
  decodeCheckResponse,
  decodeNames,
  decodeRule,
  decodeTools,
  encodeCheckItem,
  encodeCheckOptions,
  encodeContext,
  encodeProfile,
  type ProtocolContext,
  type ProtocolMessage,
  type ResultProfile,
  type Rule,
} from "./protocol.js";
import { requireCount } from "./responses.js";
import { Session, type SessionOptions } from "./session.js";
import {
  type Definition,
  type Document,
  encodeDefinition,
  encodeDocuments,
  encodeTarget,
  type Target,
} from "./targets.js";
import type { Verdict } from "./values/verdict.js";

/** Options of a check. */
export interface CheckOptions extends CheckDetailOptions, CallOptions {
  /** Protocol version and capabilities of the connection. */
  readonly context?: ProtocolContext | undefined;
}

/**
 * Checks messages and definitions against the MCP rules: `client.protocol`. Violations are returned.
 * The client's `onUnavailable` applies to methods that return a {@link CheckResult}. All methods
 * reject as those of {@link Client}.
 */
export class ProtocolClient {
  readonly #connection: Connection;

  /** @internal */
  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** Yields the rules of a protocol version, or of all, by code. They are fetched in pages. */
  async *listRules(
    protocolVersion = "",
    options?: CallOptions,
  ): AsyncGenerator<Rule, void, undefined> {
    let pageToken = "";
    do {
      const page = await this.#connection.call(
        wire.ProtocolServiceService.listRules,
        { protocolVersion, pageSize: 0, pageToken },
        (response) => ({ ...response, rules: response.rules.map(decodeRule) }),
        options,
      );
      yield* page.rules;
      pageToken = page.nextPageToken;
    } while (pageToken !== "");
  }

  /** Checks tool names, separately and against each other; at most `Limits.batchItems`. */
  async checkNames(names: readonly string[], options: CheckOptions = {}): Promise<CheckedNames> {
    if (!Array.isArray(names)) {
      throw new TypeError("names must be an array of strings");
    }
    return this.#connection.call(
      wire.ProtocolServiceService.checkToolNames,
      { ...this.head(options), names: [...(names as readonly string[])] },
      (response) => {
        requireCount(response.outcomes, names.length, "CheckToolNamesResponse.outcomes");
        return decodeNames(response);
      },
      options,
    );
  }

  /**
   * Checks a tools list, as JSON text or an object: a `tools/list` result, bare or in its JSON-RPC
   * response, or an array of definitions. `documents` are those that its schemas refer to.
   */
  async checkTools(
    toolsList: JsonObjectInput,
    options: CheckOptions & { readonly documents?: readonly Document[] } = {},
  ): Promise<CheckedTools> {
    return this.#connection.call(
      wire.ProtocolServiceService.checkTools,
      {
        ...this.head(options),
        toolsList: encodeJsonObject(toolsList, "toolsList"),
        tools: [],
        documents: encodeDocuments(options.documents),
      },
      decodeTools,
      options,
    );
  }

  /** Checks tool definitions, separately and against each other. */
  async checkDefinitions(
    definitions: readonly Definition[],
    options: CheckOptions = {},
  ): Promise<CheckedTools> {
    const tools = definitions.map((tool, index) => encodeDefinition(tool, `definitions[${index}]`));
    return this.#connection.call(
      wire.ProtocolServiceService.checkTools,
      { ...this.head(options), toolsList: Buffer.alloc(0), tools, documents: [] },
      (response) => {
        requireCount(response.outcomes, tools.length, "CheckToolsResponse.outcomes");
        return decodeTools(response);
      },
      options,
    );
  }

  /** Checks the `params` of an `elicitation/create` request. */
  async checkElicitation(
    params: JsonObjectInput,
    options: CheckOptions = {},
  ): Promise<CheckResult> {
    return this.check({ elicitation: { params } }, options);
  }

  /**
   * Checks the result of an `elicitation/create` request. With `params`, those of the request, its
   * content is validated against the requested schema.
   */
  async checkElicitationResult(
    result: JsonObjectInput,
    options: CheckOptions & { readonly params?: JsonObjectInput | undefined } = {},
  ): Promise<CheckResult> {
    return this.check({ elicitationResult: { result, params: options.params } }, options);
  }

  /** Checks the `params` of a `sampling/createMessage` request, with the complete history. */
  async checkSampling(params: JsonObjectInput, options: CheckOptions = {}): Promise<CheckResult> {
    return this.check({ sampling: { params } }, options);
  }

  /** Checks a `CallToolResult`. With `tool`, its structured content is validated too. */
  async checkToolResult(
    result: JsonObjectInput,
    options: CheckOptions & {
      readonly profile?: ResultProfile | undefined;
      readonly tool?: Target | undefined;
    } = {},
  ): Promise<CheckResult> {
    const { profile, tool } = options;
    return this.check({ toolResult: { json: result, profile, tool } }, options);
  }

  /** Checks a JSON-RPC message or a JSON-RPC batch. */
  async checkMessage(
    message: JsonObjectInput,
    options: CheckOptions & Partial<Omit<ProtocolMessage["message"], "json">> = {},
  ): Promise<CheckResult> {
    const { sender, requestMethod, request } = options;
    return this.check({ message: { json: message, sender, requestMethod, request } }, options);
  }

  /**
   * Checks items of any kind and returns their outcomes in order. A batch beyond the server's limits
   * is sent in several calls, each with the deadline.
   */
  async checkBatch(
    items: Iterable<CheckItem>,
    options: CheckOptions = {},
  ): Promise<CheckOutcome[]> {
    const rpc = wire.ProtocolServiceService.checkBatch;
    const elements = Array.from(items, (item) =>
      encodeElement(3, wire.CheckItem.encode({ item: encodeCheckItem(item) }).finish()),
    );
    return this.#connection.callInParts<wire.CheckBatchResponse, CheckResult>(
      rpc,
      rpc.requestSerialize({
        ...this.head(options),
        items: [],
        minRevision: this.#connection.minRevision,
      }),
      elements,
      (response) => response.outcomes.map(decodeCheckOutcome),
      checkResult,
      options,
    );
  }

  /**
   * Makes a conforming `CallToolResult` of what a tool returned. It is checked last: if it breaks the
   * protocol, or the output schema of `tool`, it is replaced with one that has `isError` and
   * describes the violations. The client's `onUnavailable` does not apply.
   */
  async normalizeToolResult(
    returned: ReturnValue,
    options: CheckOptions & {
      readonly profile?: ResultProfile | undefined;
      readonly tool?: Target | undefined;
    } = {},
  ): Promise<NormalizedResult> {
    return this.#connection.call(
      wire.ProtocolServiceService.normalizeToolResult,
      {
        ...this.head(options),
        returned: encodeReturnValue(returned),
        tool: encodeTarget(options.tool),
        profile: encodeProfile(options.profile),
        minRevision: this.#connection.minRevision,
      },
      decodeNormalized,
      options,
    );
  }

  /**
   * Returns a session: the messages of a connection, checked in order, also against the rules that
   * span messages.
   *
   * @throws TypeError if an option is invalid
   */
  session(options: SessionOptions = {}): Session {
    return new Session(this.#connection, options);
  }

  private async check(item: CheckItem, options: CheckOptions): Promise<CheckResult> {
    const { $case, value } = encodeCheckItem(item);
    const request = {
      ...this.head(options),
      minRevision: this.#connection.minRevision,
      [$case]: value,
    };
    const rpc = CHECKS[$case] as Rpc<object, { result: wire.CheckResult | undefined }>;
    const result = this.#connection.call(rpc, request, decodeCheckResponse, options);
    return this.#connection.orFallBack(result, checkResult);
  }

  private head(options: CheckOptions): {
    context: wire.ProtocolContext | undefined;
    options: wire.CheckOptions;
  } {
    return {
      context: encodeContext(options.context, this.#connection.protocolVersion),
      options: encodeCheckOptions(options),
    };
  }
}

/** Methods that check one item, by the name of the field for the item. */
const CHECKS = {
  elicitation: wire.ProtocolServiceService.checkElicitation,
  elicitationResult: wire.ProtocolServiceService.checkElicitationResult,
  sampling: wire.ProtocolServiceService.checkSampling,
  toolResult: wire.ProtocolServiceService.checkToolResult,
  message: wire.ProtocolServiceService.checkMessage,
} as const;

function checkResult(verdict: Verdict): CheckResult {
  return { verdict, errorResponse: undefined };
}
