/** Bearer tokens of a client's calls (RFC 6750). */

import { BlockList, isIP, isIPv6 } from "node:net";

import { CallCredentials, Metadata } from "@grpc/grpc-js";

import type { TlsOptions } from "./address.js";

/** A token, or what returns that of each call. */
export type Token = string | (() => string | Promise<string>);

/** Options of the token of a client. */
export interface TokenOptions {
  /**
   * Bearer token of all calls, for servers that require tokens. A function is called for each call,
   * and again if the call is retried, so that the token may be replaced while the client is in use;
   * if it fails, the call rejects with its error. Without `tls` a token is sent to loopback addresses
   * and unix sockets only.
   */
  readonly token?: Token | undefined;
  /** Whether a token may be sent in plain text, because the network is itself encrypted. */
  readonly tokenWithoutTls?: boolean | undefined;
}

/** @internal The token of one call. */
export class CallToken {
  /** Why the call has no token and was not sent, if so. gRPC would keep only the message. */
  failure: { readonly error: unknown } | undefined;
  readonly credentials: CallCredentials;

  constructor(token: Token) {
    this.credentials = CallCredentials.createFromMetadataGenerator((_, callback) => {
      authorization(token).then(
        (metadata) => callback(null, metadata),
        (error: unknown) => {
          this.failure = { error };
          callback(new Error("there is no token for the call"));
        },
      );
    });
  }
}

/**
 * @internal Checks the token of a client of `address`.
 *
 * @throws TypeError if it is malformed, or would pass a network in plain text; the message does not
 *   have the token
 */
export function checkTokenOptions(
  address: string,
  tls: TlsOptions | undefined,
  { token, tokenWithoutTls = false }: TokenOptions,
): void {
  if (token === undefined) {
    return;
  }
  if (typeof token !== "function") {
    checkToken(token);
  }
  if (tls === undefined && !tokenWithoutTls && !isLocal(address)) {
    throw new TypeError(
      `the token would be sent to ${address} in plain text; set tls, or set tokenWithoutTls where the network itself is encrypted`,
    );
  }
}

async function authorization(token: Token): Promise<Metadata> {
  const value = typeof token === "function" ? await token() : token;
  checkToken(value);
  const metadata = new Metadata();
  metadata.set("authorization", `Bearer ${value}`);
  return metadata;
}

function checkToken(token: unknown): void {
  if (typeof token !== "string") {
    throw new TypeError(`a token must be a string, not ${typeof token}`);
  }
  if (!/^[\x21-\x7e]+$/.test(token)) {
    throw new TypeError("a token must have one or more visible ASCII characters, and no spaces");
  }
}

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet("127.0.0.0", 8);
LOOPBACK.addAddress("::1", "ipv6");

/** Whether an address is certainly of this machine. */
function isLocal(address: string): boolean {
  if (address.startsWith("unix:")) {
    return true;
  }
  const host = address
    .replace(/^dns:\/\/\//, "")
    .replace(/:\d+$/, "")
    .replace(/^\[|\]$/g, "");
  return (
    host.toLowerCase() === "localhost" ||
    (isIP(host) !== 0 && LOOPBACK.check(host, isIPv6(host) ? "ipv6" : "ipv4"))
  );
}
