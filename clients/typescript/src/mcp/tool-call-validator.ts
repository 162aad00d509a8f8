/** Validation of tool calls and their results on behalf of an MCP server. */

import type { Client } from "../client.js";
import { SidecheckError, Unavailable } from "../errors.js";
import type { JsonText } from "../json.js";
import { itemNotEncodable } from "../statuses.js";
import type { ValidateOptions } from "../validation-calls.js";
import { ErrorReason } from "../values/error-reasons.js";
import type { ValidationOptions } from "../values/validation-options.js";
import type { Verdict } from "../values/verdict.js";
import { type ListTools, type RegisteredTools, ToolRegistrar } from "./tool-registrar.js";

/** Code of JSON-RPC for a failure inside of the server. */
const INTERNAL_ERROR = -32603;

/** An error of JSON-RPC: the SDK sends the code, message and data of what a handler throws. */
class JsonRpcError extends Error {
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }

  static parse(text: JsonText): JsonRpcError {
    const { code, message, data } = text.parse<{ code: number; message: string; data?: unknown }>();
    return new JsonRpcError(code, message, data);
  }
}

/** @internal One `tools/call` request. */
export interface ToolCall {
  /** The complete params. */
  readonly params: object & { readonly name: string };
  /** Protocol version of the connection, "" if unknown. */
  readonly version: string;
  readonly signal: AbortSignal | undefined;
  readonly listTools: ListTools;
  /** Calls the handler. */
  readonly run: (params: object) => Promise<unknown>;
  /** Returns a result as the SDK will send it. */
  readonly complete: (result: object) => object;
}

/** @internal What a validator needs beside the client. */
export interface ValidatorOptions {
  readonly name: string;
  readonly options: ValidationOptions | undefined;
  readonly onError: (error: SidecheckError) => void;
  readonly onReport: (tool: string, verdict: Verdict) => void;
}

/** @internal Validates the tool calls of one MCP server and the results of its handler. */
export class ToolCallValidator {
  readonly registrar: ToolRegistrar;
  readonly #client: Client;
  readonly #options: ValidatorOptions;

  constructor(client: Client, options: ValidatorOptions) {
    this.#client = client;
    this.#options = options;
    this.registrar = new ToolRegistrar(client, options.name, options.onError);
  }

  /**
   * Returns the handler's result, or the `CallToolResult` that replaces it. Throws a
   * {@link JsonRpcError} if the call is a protocol error or could not be validated.
   */
  async handle(request: ToolCall): Promise<unknown> {
    const { name: server, options } = this.#options;
    const protocolVersion = options?.protocolVersion || request.version;
    const call = { ...request, version: protocolVersion };
    const { signal } = call;
    // The tools may be registered again for a call once.
    const renewal = { isAllowed: true };
    const callOptions: ValidateOptions = {
      ...options,
      protocolVersion,
      // Every tool of the server is registered, so an unknown one is an error.
      onUnknownTool: "error",
      signal,
    };
    const verdict = await this.verdictOn(call, renewal, () =>
      this.#client.validateCall({ server }, call.params, callOptions),
    );
    const { enforced, repair } = verdict;
    if (enforced && !verdict.valid && !repair?.valid) {
      return replacement(verdict);
    }
    const params = enforced && repair?.valid ? repair.payload.parse<object>() : call.params;
    const result = await call.run(params);
    if (isStandIn(verdict) || !isCallToolResult(result)) {
      return result;
    }
    const target = { server, name: call.params.name };
    // The repairs of arguments are none of a result.
    const { assertFormats, hideValues } = options ?? {};
    const resultOptions = { protocolVersion, assertFormats, hideValues, signal };
    const outcome = await this.verdictOn(call, renewal, () =>
      this.#client.validateCallResult(target, call.complete(result), resultOptions),
    );
    return outcome.valid || !outcome.enforced ? result : replacement(outcome);
  }

  /** Returns the verdict of `validate`, with the client's policy applied. */
  private async verdictOn(
    call: ToolCall,
    renewal: { isAllowed: boolean },
    validate: () => Promise<Verdict>,
  ): Promise<Verdict> {
    let verdict: Verdict;
    try {
      verdict = await this.validateRegistered(call, renewal, validate);
    } catch (error) {
      verdict = this.fallBack(error instanceof TypeError ? itemNotEncodable(error) : error);
    }
    if (isStandIn(verdict) || !(verdict.valid || verdict.enforced)) {
      this.#options.onReport(call.params.name, verdict);
    }
    return verdict;
  }

  /** Returns the policy's verdict for an error, or throws what the client of the server gets. */
  private fallBack(error: unknown): Verdict {
    if (!(error instanceof SidecheckError)) {
      throw error;
    }
    if (error.jsonRpcError) {
      throw JsonRpcError.parse(error.jsonRpcError);
    }
    this.#options.onError(error);
    if (!(error instanceof Unavailable)) {
      const text = `Sidecheck could not validate the call: ${error.reason}`;
      throw new JsonRpcError(INTERNAL_ERROR, text);
    }
    if (this.#client.connection.onUnavailable === "error") {
      throw new JsonRpcError(INTERNAL_ERROR, `Sidecheck is unavailable: ${error.reason}`);
    }
    return this.#client.fallbackVerdict(error);
  }

  /**
   * Returns the verdict of `validate`, with the tools registered. Sidecheck may have lost them, by a
   * restart with an empty registry: a tool that it does not know and that the server lists is
   * registered again, once per call.
   */
  private async validateRegistered(
    call: ToolCall,
    renewal: { isAllowed: boolean },
    validate: () => Promise<Verdict>,
  ): Promise<Verdict> {
    const { version, listTools } = call;
    const { name } = call.params;
    const registered = await this.registrar.register(version, listTools);
    checkRejected(name, registered);
    try {
      return await validate();
    } catch (error) {
      const isUnknown =
        error instanceof SidecheckError &&
        [ErrorReason.UNKNOWN_TOOL, "NOT_FOUND"].includes(error.reason);
      if (!isUnknown || !renewal.isAllowed) {
        throw error;
      }
      renewal.isAllowed = false;
      const renewed = await this.registrar.registerAgain(version, listTools, name, registered);
      if (renewed === undefined) {
        throw error;
      }
      checkRejected(name, renewed);
      return validate();
    }
  }
}

function checkRejected(name: string, { rejected }: RegisteredTools): void {
  const violation = rejected.get(name);
  if (violation !== undefined) {
    const tool = `Sidecheck rejected the definition of the tool ${JSON.stringify(name)}`;
    throw new JsonRpcError(INTERNAL_ERROR, `${tool}: ${violation}`);
  }
}

/** Whether the client's policy made a verdict, because no server answered. */
function isStandIn({ violations }: Verdict): boolean {
  return violations.some(({ code }) => code === "SIDECHECK_UNAVAILABLE");
}

/** Whether a handler returned a `CallToolResult`, rather than the task of one or a request of input. */
function isCallToolResult(result: unknown): result is object {
  if (typeof result !== "object" || result === null || "task" in result) {
    return false;
  }
  return (result as { resultType?: unknown }).resultType !== "input_required";
}

/** Returns the result that replaces an invalid call or result. */
function replacement(verdict: Verdict): object {
  if (verdict.callToolResult) {
    return verdict.callToolResult.parse<object>();
  }
  if (verdict.jsonRpcError) {
    throw JsonRpcError.parse(verdict.jsonRpcError);
  }
  return { content: [{ type: "text", text: verdict.toolErrorText }], isError: true };
}
