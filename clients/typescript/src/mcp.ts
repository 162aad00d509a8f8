/** Validation of an MCP server of `@modelcontextprotocol/sdk`: calls before, results after its handler. */

import type { Server } from "@modelcontextprotocol/sdk/server/index.js";

import { Client } from "./client.js";
import { SidecheckError, ToolsRejected, Unavailable } from "./errors.js";
import type { JsonText } from "./json.js";
import type { RegistrationOutcome } from "./registry.js";
import type { RegisteredTool } from "./targets.js";
import type { ValidationOptions } from "./validation.js";
import type { Verdict } from "./verdicts.js";

/** Options of {@link withSidecheck}. */
export interface SidecheckOptions {
  /** A client, or the address of a Sidecheck server, whose client then has the default options. */
  readonly client: Client | string;
  /** Name under which the server's tools are registered: of the server alone, 1 to 256 characters. */
  readonly name: string;
  /**
   * Options of the validations. With those that repair, the handler gets the repaired params. The SDK
   * does not tell which protocol version was negotiated: name one here, or that of the client applies.
   */
  readonly options?: ValidationOptions | undefined;
  /**
   * Is told what went wrong or was let pass: the error of a call or registration, or an invalid
   * verdict that is not enforced. Payloads may be in verdicts; log their codes.
   */
  readonly onError?: ((event: SidecheckError | Verdict, tool: string) => void) | undefined;
}

/** What the SDK passes to a handler, as far as it matters here. */
type Handler = (request: { method: string; params?: object }, extra: unknown) => unknown;

interface CallRequest {
  readonly method: string;
  readonly params: { readonly name: string; readonly arguments?: unknown };
}

/**
 * Validates the calls and results of an MCP server. Call it before the handlers are set, and set
 * them on the server that it returns, which is the same:
 *
 * ```ts
 * const server = withSidecheck(new Server(info, capabilities), { client: address, name: "weather" });
 * ```
 *
 * An invalid call gets the result or JSON-RPC error of the verdict, and its handler is not called. A
 * result that breaks the output schema is replaced. The tools are registered at the first call, from
 * the server's own `tools/list`: it starts and lists its tools without Sidecheck.
 */
export function withSidecheck<S extends Server>(server: S, options: SidecheckOptions): S {
  const validator = new CallValidator(options);
  const setRequestHandler = server.setRequestHandler.bind(server) as (
    schema: unknown,
    handler: Handler,
  ) => void;
  server.setRequestHandler = ((schema: unknown, handler: Handler) => {
    const method = readMethod(schema);
    if (method === "tools/list") {
      setRequestHandler(schema, validator.wrapList(handler));
    } else if (method === "tools/call") {
      setRequestHandler(schema, validator.wrapCall(handler));
    } else {
      setRequestHandler(schema, handler);
    }
  }) as S["setRequestHandler"];
  return server;
}

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

class CallValidator {
  readonly #client: Client;
  readonly #options: SidecheckOptions;
  #list: Handler | undefined;
  /** The registration of the tools, and of which list of them; shared by concurrent calls. */
  #registered: Promise<void> | undefined;
  #listing = "";
  /** What is wrong with the tools that were rejected, by name. */
  #rejected = new Map<string, RegistrationOutcome>();

  constructor(options: SidecheckOptions) {
    this.#options = options;
    this.#client = typeof options.client === "string" ? new Client(options.client) : options.client;
  }

  /** Keeps the handler of `tools/list`, and notices pages with other tools than were registered. */
  wrapList(handler: Handler): Handler {
    this.#list = handler;
    return async (request, extra) => {
      const result = (await handler(request, extra)) as { tools?: object[] };
      const known = this.#listing;
      if (known && !result.tools?.every((tool) => known.includes(JSON.stringify(tool)))) {
        this.#registered = undefined;
      }
      return result;
    };
  }

  wrapCall(handler: Handler): Handler {
    return async (request, extra) => {
      const { params } = request as CallRequest;
      const call = await this.explain(params.name, () => this.checkCall(params, extra));
      if ("answer" in call) {
        return call.answer;
      }
      const result = (await handler({ ...request, params: call.params }, extra)) as object;
      return this.explain(params.name, () => this.checkResult(params.name, result));
    };
  }

  /** Returns the params for the handler, or the result to return instead of calling it. */
  private async checkCall(
    params: CallRequest["params"],
    extra: unknown,
  ): Promise<{ params: object } | { answer: unknown }> {
    const validate = (): Promise<Verdict> =>
      this.#client.validateCall({ server: this.#options.name }, params, this.#options.options);
    let verdict: Verdict;
    try {
      await this.register(extra);
      verdict = await validate();
    } catch (error) {
      if (error instanceof Unavailable) {
        const answer = this.fallBack(error, params.name);
        return answer ? { answer } : { params };
      }
      const unknown =
        error instanceof SidecheckError && ["UNKNOWN_TOOL", "NOT_FOUND"].includes(error.reason);
      if (!unknown || !this.#listing.includes(`"name":${JSON.stringify(params.name)}`)) {
        throw error;
      }
      if (!this.#rejected.has(params.name)) {
        // Sidecheck may have been restarted with an empty registry.
        this.#registered = undefined;
        await this.register(extra);
      }
      this.throwIfRejected(params.name);
      verdict = await validate();
    }
    if (verdict.repair?.valid) {
      return { params: verdict.repair.payload.parse<object>() };
    }
    const answer = verdict.valid ? undefined : this.rejection(verdict, params.name);
    return answer ? { answer } : { params };
  }

  /** Returns a result, or what to return in its place. */
  private async checkResult(name: string, result: object): Promise<object> {
    const target: RegisteredTool = { server: this.#options.name, name };
    const verdict = await this.#client.validateCallResult(target, result, this.#options.options);
    return verdict.valid ? result : (this.rejection(verdict, name) ?? result);
  }

  /** Registers all tools that the server lists, unless they are registered already. */
  private async register(extra: unknown): Promise<void> {
    this.#registered ??= this.registerAll(extra);
    const registered = this.#registered;
    try {
      await registered;
    } catch (error) {
      if (this.#registered === registered) {
        this.#registered = undefined;
      }
      throw error;
    }
  }

  private async registerAll(extra: unknown): Promise<void> {
    const tools: object[] = [];
    let cursor: string | undefined;
    do {
      const params = cursor === undefined ? {} : { cursor };
      const page = (await this.#list?.({ method: "tools/list", params }, extra)) as
        { tools: object[]; nextCursor?: string } | undefined;
      tools.push(...(page?.tools ?? []));
      cursor = page?.nextCursor;
    } while (cursor !== undefined);
    this.#listing = JSON.stringify(tools);
    const registration = await this.#client.register(this.#options.name, tools, {
      onRejected: "return",
      protocolVersion: this.#options.options?.protocolVersion,
    });
    const rejected = registration.outcomes.filter(({ action }) => action === "rejected");
    this.#rejected = new Map(rejected.map((outcome) => [outcome.name, outcome]));
    if (rejected.length > 0) {
      this.#options.onError?.(new ToolsRejected(registration), "");
    }
  }

  private throwIfRejected(name: string): void {
    const outcome = this.#rejected.get(name);
    if (outcome) {
      const fault = outcome.violations.find(({ severity }) => severity === "error");
      const tool = `The definition of the tool ${JSON.stringify(name)} is invalid`;
      throw new JsonRpcError(INTERNAL_ERROR, `${tool}: ${fault?.message ?? "no reason given"}`);
    }
  }

  /** Returns what to answer for an invalid verdict, undefined if it is not enforced. */
  private rejection(verdict: Verdict, tool: string): object | undefined {
    if (!verdict.enforced) {
      this.#options.onError?.(verdict, tool);
      return undefined;
    }
    if (verdict.callToolResult) {
      return verdict.callToolResult.parse<object>();
    }
    if (verdict.jsonRpcError) {
      throw JsonRpcError.parse(verdict.jsonRpcError);
    }
    return { content: [{ type: "text", text: verdict.toolErrorText }], isError: true };
  }

  /** Returns what the policy prescribes if the tools could not be registered; undefined to pass. */
  private fallBack(error: Unavailable, tool: string): object | undefined {
    const verdict = this.#client.fallbackVerdict(error);
    this.#options.onError?.(error, tool);
    return verdict.valid ? undefined : this.rejection(verdict, tool);
  }

  /** Runs a check; its errors become JSON-RPC errors. */
  private async explain<T>(tool: string, check: () => Promise<T>): Promise<T> {
    try {
      return await check();
    } catch (error) {
      if (!(error instanceof SidecheckError)) {
        throw error;
      }
      this.#options.onError?.(error, tool);
      if (error.jsonRpcError) {
        throw JsonRpcError.parse(error.jsonRpcError);
      }
      const message =
        error instanceof Unavailable
          ? `Sidecheck is unavailable: ${error.reason}`
          : `Sidecheck could not validate this: ${error.reason}`;
      throw new JsonRpcError(INTERNAL_ERROR, message);
    }
  }
}

/** Returns the method of the requests that a schema of zod 3 or 4 describes. */
function readMethod(schema: unknown): unknown {
  const { shape } = schema as { shape?: { method?: { value?: unknown } } };
  return shape?.method?.value;
}
