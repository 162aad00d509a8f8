import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { inspect } from "node:util";

import { Server, type sendUnaryData, type ServerUnaryCall } from "@grpc/grpc-js";
import {
  Client,
  type ClientOptions,
  SidecheckError,
  type StreamOutcome,
  type Token,
  Unavailable,
} from "sidecheck";
import {
  type ValidateBatchRequest,
  ValidateBatchResponse,
  type ValidateRequest,
  ValidateResponse,
  ValidationServiceService,
} from "sidecheck/v1/validation_service.js";
import { Verdict } from "sidecheck/v1/verdict.js";

import { GENEROUS_MS, listen, requireEnvironment, serve, skip } from "./servers.js";

const TARGET = { schema: { type: "integer" } };
const PING = { jsonrpc: "2.0", id: 1, method: "ping" };

/** Tokens of the server of {@link serveWithTokens}, with a role each. */
const VALIDATOR = `sct_${"v".repeat(43)}`;
const REGISTRAR = `sct_${"r".repeat(43)}`;

/** Starts a real server that requires tokens, and returns its address. */
async function serveWithTokens(t: TestContext): Promise<string> {
  const entries = Object.entries({ validate: VALIDATOR, register: REGISTRAR }).map(
    ([role, token]) => {
      const hash = createHash("sha256").update(token).digest("hex");
      return `[[tokens]]\nname = "${role}"\nsha256 = "${hash}"\nroles = ["${role}"]\n`;
    },
  );
  const folder = mkdtempSync(join(tmpdir(), "sidecheck-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "tokens.toml");
  writeFileSync(file, entries.join("\n"));
  const { address } = await serve(t, undefined, {}, ["--tokens-file", file]);
  return address;
}

/** Returns a client whose policy passes what no server answers. */
function open(t: TestContext, address: string, options: ClientOptions): Client {
  const client = new Client(address, {
    timeoutMs: GENEROUS_MS,
    onUnavailable: "allow",
    ...options,
  });
  t.after(() => client.close());
  return client;
}

/** Returns a source of the tokens one after the other, with the number of its calls. */
function tokens(...values: string[]): { token: () => string; calls: number } {
  const source = { calls: 0, token: () => values[source.calls++] ?? "sct_none" };
  return source;
}

/** Starts a server that finds everything valid, and records method and token of each validation. */
async function serveRecorder(t: TestContext): Promise<{ address: string; headers: string[] }> {
  const headers: string[] = [];
  const verdict = Verdict.fromPartial({ valid: true, enforced: true });
  const record = (call: ServerUnaryCall<unknown, unknown>, method: string): void => {
    headers.push(`${method} ${call.metadata.get("authorization").join()}`);
  };
  const server = new Server();
  const { validate, validateBatch } = ValidationServiceService;
  server.addService(
    { validate, validateBatch },
    {
      validate: (
        call: ServerUnaryCall<ValidateRequest, ValidateResponse>,
        callback: sendUnaryData<ValidateResponse>,
      ) => {
        record(call, "Validate");
        callback(null, ValidateResponse.fromPartial({ verdict }));
      },
      validateBatch: (
        call: ServerUnaryCall<ValidateBatchRequest, ValidateBatchResponse>,
        callback: sendUnaryData<ValidateBatchResponse>,
      ) => {
        record(call, "ValidateBatch");
        const outcomes = call.request.items.map(() => ({
          outcome: { $case: "verdict" as const, value: verdict },
        }));
        callback(null, ValidateBatchResponse.fromPartial({ outcomes }));
      },
    },
  );
  return { address: await listen(t, server), headers };
}

/** A check for an error with the reason that is not about an absent server. */
function refused(reason: string, role?: string): (error: unknown) => boolean {
  return (error) =>
    error instanceof SidecheckError &&
    !(error instanceof Unavailable) &&
    error.reason === reason &&
    error.metadata["role"] === role;
}

test("a server that requires tokens", { skip }, async (t) => {
  const address = await serveWithTokens(t);

  await t.test("calls, streams and sessions carry the token", async (t) => {
    const token: Token[] = [VALIDATOR, () => VALIDATOR, async () => Promise.resolve(VALIDATOR)];
    for (const each of token) {
      const client = open(t, address, { token: each });
      assert.equal((await client.validate(TARGET, "x")).valid, false);
      const outcomes: StreamOutcome[] = [];
      for await (const outcome of client.validateStream([{ id: "1", arguments: 1 }], {
        target: TARGET,
      })) {
        outcomes.push(outcome);
      }
      assert.equal(outcomes.length, 1);
      const session = client.protocol.session();
      assert.equal((await session.check(PING, { sender: "client" })).verdict.enforced, true);
      await session.finish();
    }
  });

  await t.test("each call has the token of that time", async (t) => {
    const source = tokens("old", VALIDATOR);
    const client = open(t, address, source);
    await assert.rejects(client.info(), refused("UNAUTHENTICATED"));
    assert.ok((await client.info()).version);
    assert.equal(source.calls, 2);
  });

  await t.test("refused calls are not retried", async (t) => {
    const wrong = tokens("sct_wrong", VALIDATOR);
    const call = open(t, address, wrong).validate(TARGET, 1);
    await assert.rejects(call, refused("UNAUTHENTICATED"));
    assert.equal(wrong.calls, 1);
    const other = tokens(REGISTRAR, VALIDATOR);
    const forbidden = open(t, address, other).validate(TARGET, 1);
    await assert.rejects(forbidden, refused("PERMISSION_DENIED", "validate"));
    assert.equal(other.calls, 1);
  });

  await t.test("no token", async (t) => {
    const call = open(t, address, {}).validate(TARGET, 1);
    await assert.rejects(call, refused("UNAUTHENTICATED"));
  });

  await t.test("a refused stream", async (t) => {
    // The first token is for the limits of the server.
    const session = open(t, address, tokens(VALIDATOR, "sct_wrong")).protocol.session();
    t.after(() => session.close());
    await assert.rejects(session.check(PING, { sender: "client" }), refused("UNAUTHENTICATED"));
  });
});

test("shared batches carry the token", async (t) => {
  const { address, headers } = await serveRecorder(t);
  const client = open(t, address, { token: VALIDATOR, coalesce: true });
  await Promise.all([1, 2, 3].map((payload) => client.validate(TARGET, payload)));
  assert.deepEqual(headers.sort(), [
    `Validate Bearer ${VALIDATOR}`,
    `ValidateBatch Bearer ${VALIDATOR}`,
  ]);
});

test("a token passes TLS", { skip }, async (t) => {
  const { servers, tls } = requireEnvironment();
  const source = tokens(VALIDATOR);
  const [ca, certificate, key] = [tls.ca, tls.certificate, tls.key].map((path) =>
    readFileSync(path),
  );
  const client = open(t, servers["tls"] ?? "", { ...source, tls: { ca, certificate, key } });
  assert.ok((await client.info()).version);
  assert.equal(source.calls, 1);
});

test("a call without a token is not sent", async (t) => {
  const { address, headers } = await serveRecorder(t);
  // gRPC would retry an error with this code.
  const failure = Object.assign(new Error("no token today"), { code: 14 });
  let calls = 0;
  const fail = (): never => {
    calls += 1;
    throw failure;
  };
  const malformed = (error: unknown): boolean =>
    error instanceof TypeError &&
    /visible ASCII|not undefined/.test(error.message) &&
    !inspect(error).includes(VALIDATOR);
  const failed = (error: unknown): boolean => error === failure;
  const cases: [Token, (error: unknown) => boolean][] = [
    [fail, failed],
    [async () => Promise.reject(failure), failed],
    [() => `${VALIDATOR}\n`, malformed],
    [() => undefined as unknown as string, malformed],
  ];
  for (const [token, expected] of cases) {
    const client = open(t, address, { token });
    await assert.rejects(client.validate(TARGET, 1), expected);
    const session = client.protocol.session();
    await assert.rejects(session.check(PING, { sender: "client" }), expected);
    await session.close();
  }
  assert.equal(calls, 2);
  assert.deepEqual(headers, []);
});

test("a stream without a token is not sent", { skip }, async (t) => {
  const failure = new Error("no token today");
  let calls = 0;
  const token = (): string => {
    calls += 1;
    if (calls > 1) {
      throw failure;
    }
    return VALIDATOR;
  };
  // The first token is for the limits of the server, which does not ask for it.
  const session = open(t, requireEnvironment().servers["real"] ?? "", { token }).protocol.session();
  await assert.rejects(session.check(PING, { sender: "client" }), (error) => error === failure);
  await session.close();
});

test("a call does not wait for its token beyond its deadline, signal or client", async (t) => {
  const { address } = await serveRecorder(t);
  let asked: () => void = () => undefined;
  const token = async (): Promise<string> => {
    asked();
    return new Promise(() => undefined);
  };
  const client = open(t, address, { token });
  const reason = new Error("changed my mind");
  const controller = new AbortController();
  asked = () => controller.abort(reason);
  const aborted = client.validate(TARGET, 1, { signal: controller.signal });
  await assert.rejects(aborted, (error) => error === reason);
  asked = () => undefined;
  await assert.rejects(client.info({ timeoutMs: 50 }), { reason: "DEADLINE_EXCEEDED" });
  asked = () => client.close();
  await assert.rejects(client.info(), { reason: "CLIENT_CLOSED" });
});

test("a malformed token is rejected without its text", () => {
  for (const token of ["", "a b", "a\n", "é", `${VALIDATOR} `, 1 as unknown as string]) {
    assert.throws(
      () => new Client("localhost:1", { token }),
      (error) =>
        error instanceof TypeError &&
        /visible ASCII|not number/.test(error.message) &&
        !error.message.includes(VALIDATOR),
    );
  }
});

test("a token needs TLS beyond this machine", (t) => {
  const local =
    "127.0.0.1:1 127.8.8.8:1 [::1]:1 localhost:1 dns:///localhost:1 unix:/run/sidecheck.sock unix:sidecheck.sock";
  const remote =
    "sidecheck:1 dns:///sidecheck:1 localhost.example:1 192.0.2.1:1 [2001:db8::1]:1 0.0.0.0:1";
  for (const token of [VALIDATOR, () => VALIDATOR]) {
    for (const address of local.split(" ")) {
      open(t, address, { token });
    }
    for (const address of remote.split(" ")) {
      assert.throws(
        () => new Client(address, { token }),
        (error) =>
          error instanceof TypeError &&
          error.message.includes("in plain text") &&
          !error.message.includes(VALIDATOR),
      );
      open(t, address, { token, tls: {} });
      open(t, address, { token, tokenWithoutTls: true });
    }
  }
});

test("a client is inspected without its token", (t) => {
  const client = open(t, "localhost:1", { token: VALIDATOR });
  assert.ok(!inspect(client, { depth: Infinity, showHidden: true }).includes(VALIDATOR));
});
