/** Causes of calls that no Sidecheck server answered, from the messages of grpc-js. */

import { type ServiceError, status } from "@grpc/grpc-js";

/** @internal The server that a client calls. */
export interface Peer {
  /** The address, as the caller wrote it. */
  readonly address: string;
  readonly hasTls: boolean;
  /** Name that the certificate must have; the host of the address if absent. */
  readonly serverName: string | undefined;
}

/** Prefix of the message if no connection could be made. */
const NOT_CONNECTED = /^No connection established\. Last error: (?:Error(?: \[\w+\])?: )?(.*)$/s;
const HTTP_STATUS = /^Received HTTP status code (\d{3})$/;

/**
 * Causes by parts of the messages, which the first that matches decides. A server with TLS sends
 * nothing to a client in plain text, and closes the connection; one that requires a client
 * certificate may do the same, if there is none.
 */
const CAUSES: readonly (readonly [RegExp, string])[] = [
  [/ECONNREFUSED/, "CONNECTION_REFUSED"],
  [/connect ENOENT/, "NO_SOCKET"],
  [/ENOTFOUND|EAI_AGAIN/, "UNKNOWN_HOST"],
  [/wrong version number|WRONG_VERSION_NUMBER|packet length too long/, "TLS_NOT_SPOKEN"],
  [
    /unable to verify the first certificate|self.signed certificate|unable to get (local )?issuer/,
    "UNTRUSTED_CERTIFICATE",
  ],
  [/does not match certificate's altnames|is not cert's CN/, "MISNAMED_CERTIFICATE"],
  [/Protocol error|ERR_HTTP2/, "HTTP2_NOT_SPOKEN"],
  [
    /Failed to connect|ECONNRESET|EPIPE|socket hang up|disconnected|CERTIFICATE_REQUIRED/,
    "CONNECTION_CLOSED",
  ],
];

/**
 * @internal Returns the message and the metadata for a status that grpc-js itself made, undefined if
 * the cause is unknown. The clients of all languages word the causes alike
 * (tests/cases/clients/connections.json); only the remedies have the names of the language.
 */
export function describeFailure(
  { code, details }: Pick<ServiceError, "code" | "details">,
  peer: Peer,
): { message: string; metadata: Readonly<Record<string, string>> } | undefined {
  const [cause, detail] = findCause(code, details, peer) ?? [];
  if (cause === undefined) {
    return undefined;
  }
  return {
    message: describeCause(cause, detail ?? "", peer),
    metadata: { cause, address: peer.address },
  };
}

/** Returns the cause, and the variable part of its message. */
function findCause(code: status, details: string, peer: Peer): [string, string?] | undefined {
  if (code === status.DEADLINE_EXCEEDED) {
    return ["NO_RESPONSE"];
  }
  const [, httpStatus] = HTTP_STATUS.exec(details) ?? [];
  if (httpStatus !== undefined) {
    return ["HTTP_RESPONSE", httpStatus];
  }
  if (code !== status.UNAVAILABLE) {
    return undefined;
  }
  if (details.startsWith("Name resolution failed for target")) {
    return ["UNKNOWN_HOST"];
  }
  const [, fault] = NOT_CONNECTED.exec(details) ?? [];
  if (fault === undefined) {
    return undefined;
  }
  const cause = CAUSES.find(([part]) => part.test(fault))?.[1] ?? "NOT_CONNECTED";
  return cause === "CONNECTION_CLOSED" && peer.hasTls ? ["TLS_CONNECTION_CLOSED"] : [cause, fault];
}

function describeCause(cause: string, detail: string, peer: Peer): string {
  const place = peer.address.replace(/^dns:\/\/\//, "");
  const name = peer.serverName ?? place.slice(0, place.lastIndexOf(":"));
  switch (cause) {
    case "CONNECTION_REFUSED":
      return `connection refused at ${place}`;
    case "NO_SOCKET":
      return `no socket at ${place}`;
    case "UNKNOWN_HOST":
      return `cannot resolve the host of ${place}`;
    case "CONNECTION_CLOSED":
      return `the server at ${place} closed the connection: if it speaks TLS, set tls`;
    case "TLS_CONNECTION_CLOSED":
      return (
        `the server at ${place} closed the TLS connection:` +
        " if it requires a client certificate, set tls.certificate"
      );
    case "TLS_NOT_SPOKEN":
      return `the server at ${place} does not speak TLS: leave out tls`;
    case "UNTRUSTED_CERTIFICATE":
      return `no trusted authority signed the certificate of ${place}: set tls.ca`;
    case "MISNAMED_CERTIFICATE":
      return `the certificate of ${place} is not for the name ${name}: set tls.serverName`;
    case "HTTP2_NOT_SPOKEN":
      return `the server at ${place} does not speak HTTP/2, which gRPC requires`;
    case "HTTP_RESPONSE":
      return `${place} answered with HTTP status ${detail}, not with gRPC`;
    case "NO_RESPONSE":
      return `no response from ${place} before the deadline`;
    default:
      return `cannot connect to ${place}: ${detail}`;
  }
}
