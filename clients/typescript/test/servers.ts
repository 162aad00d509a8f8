/** Servers of the tests: those that `python -m conformance` started, and ones of a test's own. */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import type { TestContext } from "node:test";

import { type Server, ServerCredentials } from "@grpc/grpc-js";
import { Client, type ClientOptions } from "sidecheck";

/** What `python -m conformance` writes to the file that `SIDECHECK_CONFORMANCE` names. */
export interface Environment {
  readonly servers: Readonly<Record<string, string>>;
  readonly tls: Readonly<Record<"ca" | "other_ca" | "certificate" | "key", string>>;
  readonly cases: string;
  readonly results: string;
  readonly serve: readonly string[];
}

const path = process.env["SIDECHECK_CONFORMANCE"];

/** The environment; undefined outside of `python -m conformance`. */
export const environment: Environment | undefined =
  path === undefined ? undefined : (JSON.parse(readFileSync(path, "utf8")) as Environment);

/** Why tests that need servers are skipped, false if they are not. */
export const skip: string | false =
  environment !== undefined || process.env["SIDECHECK_REQUIRE_ALL"] === "1"
    ? false
    : "SIDECHECK_CONFORMANCE is not set; see tests/conformance";

/** Deadline for whatever is expected to succeed on a busy machine. */
export const GENEROUS_MS = 60_000;

/** Returns the environment; fails the test without one. */
export function requireEnvironment(): Environment {
  if (environment === undefined) {
    throw new Error("SIDECHECK_CONFORMANCE is not set; see tests/conformance");
  }
  return environment;
}

/** Returns a client of the server called `name`, closed at the end of the test. */
export function connect(t: TestContext, name: string, options: ClientOptions = {}): Client {
  const address = requireEnvironment().servers[name];
  if (address === undefined) {
    throw new Error(`there is no server called ${name}`);
  }
  const client = new Client(address, { timeoutMs: GENEROUS_MS, ...options });
  t.after(() => client.close());
  return client;
}

/** A server that a test started. */
export interface OwnServer {
  readonly address: string;
  readonly process: ChildProcess;
}

/**
 * Starts a server with settings of the environment and further flags, and returns it when it is ready.
 * It is killed at the end of the test.
 */
export async function serve(
  t: TestContext,
  listen = "127.0.0.1:0",
  settings: Readonly<Record<string, string>> = {},
  flags: readonly string[] = [],
): Promise<OwnServer> {
  const [command = "", ...args] = requireEnvironment().serve;
  const child = spawn(command, [...args, "--listen", listen, "--log-format", "json", ...flags], {
    env: { ...process.env, ...settings },
    stdio: ["ignore", "ignore", "pipe"],
  });
  t.after(() => kill(child));
  for await (const line of createInterface({ input: child.stderr })) {
    const address = readyAddress(line);
    if (address !== undefined) {
      // The pipe must not fill up.
      child.stderr.resume();
      return { address, process: child };
    }
  }
  throw new Error("the server ended before it was ready");
}

/** Starts a server of gRPC, and returns its address. It is shut down at the end of the test. */
export async function listen(t: TestContext, server: Server): Promise<string> {
  t.after(() => server.forceShutdown());
  const port = await new Promise<number>((resolve, reject) => {
    const credentials = ServerCredentials.createInsecure();
    server.bindAsync("127.0.0.1:0", credentials, (error, bound) =>
      error ? reject(error) : resolve(bound),
    );
  });
  return `127.0.0.1:${port}`;
}

/** Kills a server and waits for its end. */
export async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) {
    child.kill("SIGKILL");
    await once(child, "exit");
  }
}

function readyAddress(line: string): string | undefined {
  if (!line.includes("server.ready")) {
    return undefined;
  }
  const record = JSON.parse(line) as { addresses: string[] };
  return record.addresses.find((address) => !address.startsWith("unix:"));
}
