/** Errors from `google.rpc.Status` messages and from failed gRPC calls. */

import { type ServiceError, status } from "@grpc/grpc-js";

import { describeFailure, type Peer } from "./connection-failures.js";
import { InvalidResponse, SidecheckError, type StatusName, Unavailable } from "./errors.js";
import { ErrorInfo, RetryInfo } from "./gen/google/rpc/error_details.js";
import { Status } from "./gen/google/rpc/status.js";
import { ErrorReason, UNAVAILABLE_REASONS } from "./values/error-reasons.js";
import type { Limits } from "./values/info.js";
import { makePrintable } from "./printable.js";

/** Domain of the `google.rpc.ErrorInfo` messages whose reasons are Sidecheck's. */
const DOMAIN = "sidecheck";

/**
 * Status codes that gRPC libraries and proxies set by themselves. Without a reason of Sidecheck they
 * mean that no Sidecheck server answered. All other codes are only ever set by an application (gRPC,
 * doc/statuscodes.md). The comments name origins beside those in that document: HTTP statuses
 * (doc/http-grpc-status-mapping.md) and codes of RST_STREAM (doc/PROTOCOL-HTTP2.md, "Errors").
 */
const UNAVAILABLE_CODES: ReadonlySet<number> = new Set([
  status.CANCELLED, // RST_STREAM with CANCEL
  status.UNKNOWN, // HTTP statuses that are not listed here, such as 500
  status.DEADLINE_EXCEEDED,
  status.PERMISSION_DENIED, // HTTP 403; INADEQUATE_SECURITY
  status.RESOURCE_EXHAUSTED, // ENHANCE_YOUR_CALM
  status.UNIMPLEMENTED, // HTTP 404
  status.INTERNAL, // HTTP 400; most codes of RST_STREAM
  status.UNAVAILABLE, // HTTP 429, 502, 503, 504; REFUSED_STREAM; GOAWAY
  status.UNAUTHENTICATED, // HTTP 401
]);

/**
 * Messages for a request that a server or proxy finds too large: those of gRPC for C++ and Go
 * ("message larger than max"), of gRPC for Java, and HTTP status 413 as gRPC's C core and grpc-js
 * report it. Whoever writes the payload can bring these about, so they must never pass for an
 * unavailable server.
 */
const TOO_LARGE =
  /message larger than max|message exceeds maximum size|http2 header with status: 413|Received HTTP status code 413/;

/** What grpc-js says of calls that have no response, or several, and the status OK. */
const NOT_ONE_RESPONSE: ReadonlyMap<string, string> = new Map([
  ["No message received", "the call ended without an error and without a response"],
  ["Too many responses received", "the call ended with several responses"],
]);

/** @internal Whether an error is that of a failed call, as grpc-js reports it. */
export function isServiceError(error: unknown): error is ServiceError {
  return error instanceof Error && "code" in error && "details" in error;
}

/**
 * @internal Returns the error of a failed call to a peer that the caller did not cancel. Details that do not
 * decode are ignored: the code and the message suffice.
 */
export function decodeCallError(error: ServiceError, peer: Peer): SidecheckError {
  const details = error.metadata?.get("grpc-status-details-bin") ?? [];
  const found = Status.create({
    code: error.code,
    message: error.details,
    details: details.flatMap((trailer) => tryDecode(Status, Buffer.from(trailer))?.details ?? []),
  });
  if (findErrorInfo(found)) {
    return decodeStatus(found);
  }
  const message = makePrintable(found.message) || "the status has no message";
  if (TOO_LARGE.test(message)) {
    return new SidecheckError(ErrorReason.LIMIT_EXCEEDED, message, {
      metadata: { bound: "message_bytes" },
      status: "RESOURCE_EXHAUSTED",
    });
  }
  const fault = NOT_ONE_RESPONSE.get(message);
  if (error.code === status.UNIMPLEMENTED && fault !== undefined) {
    return new InvalidResponse(fault);
  }
  const name = statusName(found.code);
  const retryAfterMs = findRetryDelay(found);
  if (!UNAVAILABLE_CODES.has(status[name])) {
    return new SidecheckError(name, message, { status: name, retryAfterMs });
  }
  const described = describeFailure(error, peer);
  return new Unavailable(name, makePrintable(described?.message ?? message), {
    ...(described && { metadata: described.metadata }),
    status: name,
    retryAfterMs,
  });
}

/** @internal Returns the error that a server reports for a call, or for one item. */
export function decodeStatus(message: Status | undefined): SidecheckError {
  if (message === undefined || message.code === Number(status.OK)) {
    throw new InvalidResponse("an outcome has neither a result nor an error");
  }
  const name = statusName(message.code);
  const info = findErrorInfo(message);
  const reason = info?.reason ?? name;
  const kind = UNAVAILABLE_REASONS.has(reason) ? Unavailable : SidecheckError;
  return new kind(reason, makePrintable(message.message), {
    metadata: { ...info?.metadata },
    status: name,
    retryAfterMs: findRetryDelay(message),
  });
}

/** @internal Returns the error for a call of a client that is closed, before the call or during it. */
export function clientClosed(): SidecheckError {
  return new SidecheckError(ErrorReason.CLIENT_CLOSED, "the client was closed", {
    status: "CANCELLED",
  });
}

/** @internal Returns the error for an item of `size` bytes, too large for a message to the server. */
export function itemTooLarge(size: number, limits: Limits): SidecheckError {
  const limit = limits.messageBytes;
  return new SidecheckError(
    ErrorReason.LIMIT_EXCEEDED,
    `item too large: ${size} bytes exceed the limit of ${limit} (message_bytes)`,
    {
      metadata: { bound: "message_bytes", limit: String(limit), found: String(size) },
      status: "RESOURCE_EXHAUSTED",
    },
  );
}

/** @internal Returns the error for an item with a payload that JSON cannot express. */
export function itemNotEncodable(error: TypeError): SidecheckError {
  return new SidecheckError(
    ErrorReason.INVALID_REQUEST,
    `cannot encode the item: ${error.message}`,
    {
      metadata: { field: "subject" },
      status: "INVALID_ARGUMENT",
    },
  );
}

interface MessageType<T> {
  decode(bytes: Uint8Array): T;
}

function tryDecode<T>(type: MessageType<T>, bytes: Uint8Array): T | undefined {
  try {
    return type.decode(bytes);
  } catch {
    return undefined;
  }
}

function findDetails<T>(message: Status, type: MessageType<T>, name: string): T[] {
  return message.details
    .filter((detail) => detail.typeUrl.endsWith(`/${name}`))
    .map((detail) => tryDecode(type, detail.value))
    .filter((detail) => detail !== undefined);
}

function findErrorInfo(message: Status): ErrorInfo | undefined {
  return findDetails(message, ErrorInfo, "google.rpc.ErrorInfo").find(
    (info) => info.domain === DOMAIN,
  );
}

function findRetryDelay(message: Status): number | undefined {
  const [retry] = findDetails(message, RetryInfo, "google.rpc.RetryInfo");
  const delay = retry?.retryDelay;
  return delay && Number(delay.seconds) * 1000 + delay.nanos / 1e6;
}

function statusName(code: number): StatusName {
  return (status[code] as StatusName | undefined) ?? "UNKNOWN";
}
