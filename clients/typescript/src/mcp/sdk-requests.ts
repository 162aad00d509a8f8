/** Requests as the SDKs 1 and 2 pass them to handlers. */

/** @internal The request of a handler. */
export interface Request {
  readonly method: string;
  readonly params?: object;
}

/** @internal What an SDK passes to a handler beside the request. */
export type Extra = Extra1 | Context2;

/** Of `@modelcontextprotocol/sdk` 1. */
interface Extra1 {
  readonly signal?: AbortSignal;
  readonly requestInfo?: { readonly headers: Readonly<Record<string, unknown>> };
}

/** Of `@modelcontextprotocol/server` 2, which moves what it reads itself from the params to here. */
interface Context2 {
  readonly mcpReq: {
    readonly signal: AbortSignal;
    /** The reserved keys of `_meta`, with protocol version 2026-07-28. */
    readonly envelope?: Readonly<Record<string, unknown>>;
    readonly inputResponses?: object;
    /** The state as text or, if the server has a function that verifies it, what that returned. */
    readonly requestState?: () => unknown;
  };
  readonly http?: { readonly req?: { readonly headers: Headers } };
}

const VERSION_KEY = "io.modelcontextprotocol/protocolVersion";
const VERSION_HEADER = "mcp-protocol-version";

/** @internal Returns the signal that cancels a request. */
export function signalOf(extra: Extra): AbortSignal | undefined {
  return "mcpReq" in extra ? extra.mcpReq.signal : extra.signal;
}

/** @internal Returns the protocol version that a request or its HTTP header names, or "". */
export function versionOf(extra: Extra): string {
  const version =
    "mcpReq" in extra
      ? (extra.mcpReq.envelope?.[VERSION_KEY] ?? extra.http?.req?.headers.get(VERSION_HEADER))
      : extra.requestInfo?.headers[VERSION_HEADER];
  return typeof version === "string" ? version : "";
}

/** @internal Returns the params of a request as its client sent them. */
export function completeParams(params: object, extra: Extra): object {
  if (!("mcpReq" in extra)) {
    return params;
  }
  const { envelope, inputResponses, requestState } = extra.mcpReq;
  const { _meta: meta } = params as { _meta?: object };
  const state = requestState?.();
  return {
    ...params,
    ...(envelope && { _meta: { ...meta, ...envelope } }),
    ...(inputResponses && { inputResponses }),
    ...(typeof state === "string" && { requestState: state }),
  };
}

/** @internal Returns the params of a handler, with the arguments of complete ones. */
export function withArguments(params: object, complete: object): object {
  return "arguments" in complete ? { ...params, arguments: complete.arguments } : params;
}

/** @internal Returns a result of a handler with the members that SDK 2 adds before it sends it. */
export function completeResult(result: object, extra: Extra): object {
  if (!("mcpReq" in extra)) {
    return result;
  }
  const resultType = extra.mcpReq.envelope && { resultType: "complete" };
  return { content: [], ...resultType, ...result };
}
