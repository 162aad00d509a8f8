/**
 * Validation of an MCP server of `@modelcontextprotocol/sdk` 1 or `@modelcontextprotocol/server` 2: its
 * calls and their results.
 */

import { Client } from "./client.js";
import { type SidecheckError, Unavailable } from "./errors.js";
import {
  completeParams,
  completeResult,
  type Extra,
  type Request,
  signalOf,
  versionOf,
  withArguments,
} from "./mcp/sdk-requests.js";
import { ToolCallValidator } from "./mcp/tool-call-validator.js";
import type { ToolEntry } from "./mcp/tool-registrar.js";
import type { ValidationOptions } from "./values/validation-options.js";
import type { Verdict } from "./values/verdict.js";

/** Options of {@link withSidecheck}. */
export interface SidecheckOptions {
  /**
   * A client, or the address of a Sidecheck server, whose client then has the default options and
   * lives as long as the process.
   */
  readonly client: Client | string;
  /** Name under which the server's tools are registered: of the server alone, 1 to 256 characters. */
  readonly name: string;
  /**
   * Options of the validations. With those that repair, the handler gets the repaired params. Without
   * a protocol version, the one that the session negotiated applies.
   */
  readonly options?: ValidationOptions | undefined;
  /**
   * Is told what kept a call from being validated, and the tools that were rejected. By default the
   * reason is written to the standard error.
   */
  readonly onError?: ((error: SidecheckError) => void) | undefined;
  /**
   * Is told the verdicts that do not decide: those that are invalid and not enforced, and those of
   * `onUnavailable`. By default their codes are written to the standard error.
   */
  readonly onReport?: ((tool: string, verdict: Verdict) => void) | undefined;
}

/**
 * The low-level `Server` of an SDK, as far as it matters here: its classes for ECMAScript modules and
 * for CommonJS are different types.
 */
export interface McpServerLike {
  connect(transport: never): Promise<void>;
  /** `method` is a schema of zod in SDK 1, and a string in SDK 2. */
  setRequestHandler(method: never, handler: never): void;
  assertCanSetRequestHandler(method: string): void;
  /** Of SDK 2 only. */
  getNegotiatedProtocolVersion?(): string | undefined;
}

type Handler = (request: Request, extra: Extra) => unknown;

/** What the SDK sends messages with. */
interface Transport {
  send(message: { readonly result?: unknown }, options: unknown): Promise<void>;
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
 * the server's own `tools/list`, and when they have changed: it starts and lists its tools without
 * Sidecheck. Calls that could not be validated are treated as the client's `onUnavailable` says.
 *
 * @throws Error if the server has a handler for `tools/list` or `tools/call`
 */
export function withSidecheck<S extends McpServerLike>(server: S, options: SidecheckOptions): S {
  checkNoHandlers(server);
  const { client, name, onError = logError, onReport = logReport } = options;
  const validator = new ToolCallValidator(
    typeof client === "string" ? new Client(client) : client,
    { name, options: options.options, onError, onReport },
  );
  const negotiatedVersion = trackVersion(server);
  let list: Handler = () => {
    throw new Error("the server has no handler for tools/list, whose tools Sidecheck needs");
  };
  const wrap = (method: string, handler: Handler): Handler => {
    switch (method) {
      case "tools/list":
        list = handler;
        return async (request, extra) => {
          const page = await handler(request, extra);
          validator.registrar.observe(toolsOf(page));
          return page;
        };
      case "tools/call":
        return (request, extra) => {
          const { params = {} } = request;
          return validator.handle({
            params: completeParams(params, extra) as { name: string },
            version: versionOf(extra) || negotiatedVersion(),
            signal: signalOf(extra),
            listTools: () => listAll(list, extra),
            run: async (complete) =>
              await handler({ ...request, params: withArguments(params, complete) }, extra),
            complete: (result) => completeResult(result, extra),
          });
        };
      default:
        return handler;
    }
  };
  const setRequestHandler = server.setRequestHandler.bind(server) as (...values: unknown[]) => void;
  server.setRequestHandler = (schema: unknown, ...values: unknown[]): void => {
    const method = methodOf(schema);
    const handler = values.pop() as Handler;
    if (values.length === 0) {
      setRequestHandler(schema, wrap(method, handler));
      return;
    }
    // SDK 2 takes schemas before the handler, and then passes it the params alone.
    const withParams = handler as unknown as (params: unknown, extra: Extra) => unknown;
    const wrapped = wrap(method, ({ params }, extra) => withParams(params, extra));
    setRequestHandler(schema, ...values, (params: object, extra: Extra) =>
      wrapped({ method, params }, extra),
    );
  };
  return server;
}

function checkNoHandlers(server: McpServerLike): void {
  try {
    server.assertCanSetRequestHandler("tools/list");
    server.assertCanSetRequestHandler("tools/call");
  } catch (cause) {
    const text =
      "wrap the server before its handlers of tools/list and tools/call are set; " +
      "an McpServer sets them when it is created with capabilities.tools, which it does not need";
    throw new Error(text, { cause });
  }
}

/** Returns a function that returns the protocol version that the server negotiated, "" before. */
function trackVersion(server: McpServerLike): () => string {
  if (server.getNegotiatedProtocolVersion !== undefined) {
    return () => server.getNegotiatedProtocolVersion?.() ?? "";
  }
  let version = "";
  const connect = server.connect.bind(server) as (transport: Transport) => Promise<void>;
  // SDK 1 does not tell the version. It is in the response to `initialize`, the only one with it.
  server.connect = async (transport: Transport) => {
    const send = transport.send.bind(transport);
    transport.send = async (message, options) => {
      const { protocolVersion } = (message.result ?? {}) as { protocolVersion?: unknown };
      if (typeof protocolVersion === "string") {
        version = protocolVersion;
      }
      await send(message, options);
    };
    await connect(transport);
  };
  return () => version;
}

/** Returns the tools of all pages. */
async function listAll(list: Handler, extra: Extra): Promise<ToolEntry[]> {
  const tools: ToolEntry[] = [];
  const seen = new Set<unknown>();
  let cursor: unknown;
  do {
    seen.add(cursor);
    const params = cursor === undefined ? {} : { cursor };
    const page = await list({ method: "tools/list", params }, extra);
    tools.push(...toolsOf(page));
    cursor = (page as { nextCursor?: unknown } | undefined)?.nextCursor;
    // A cursor that comes again would be followed for ever.
  } while (cursor && !seen.has(cursor));
  return tools;
}

function toolsOf(page: unknown): ToolEntry[] {
  return (page as { tools?: ToolEntry[] } | undefined)?.tools ?? [];
}

/** Returns a method, or that of the requests that a schema of zod 3 or 4 describes. */
function methodOf(schema: unknown): string {
  const { shape } = schema as { shape?: { method?: { value?: unknown } } };
  return String(shape === undefined ? schema : shape.method?.value);
}

/** Writes the reason of an error; its message may have values of the payload. */
function logError(error: SidecheckError): void {
  // The client itself wrote the cause of a failed connection.
  const isOwn = error instanceof Unavailable && "cause" in error.metadata;
  console.error(`sidecheck: a call was not validated: ${isOwn ? String(error) : error.reason}`);
}

/** Writes the codes of a verdict that does not decide. */
function logReport(tool: string, { violations }: Verdict): void {
  const codes = [...new Set(violations.map(({ code }) => code))].join(", ");
  console.error(
    `sidecheck: the verdict on a call of ${JSON.stringify(tool)} is not enforced: ${codes}`,
  );
}
