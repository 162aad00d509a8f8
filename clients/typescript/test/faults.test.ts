/** Calls beside the shared cases that go wrong: refused, closed, answered twice, or large. */

import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";

import { Metadata, Server, type ServerWritableStream } from "@grpc/grpc-js";
import { Client, InvalidResponse } from "sidecheck";

import { connect, GENEROUS_MS, listen, skip } from "./servers.js";

const TARGET = { schema: { type: "integer" } };

/** Serves `Validate` by a handler that may write several responses, and returns the address. */
async function serveValidate(
  t: TestContext,
  handler: (call: ServerWritableStream<Buffer, Buffer>) => void,
): Promise<string> {
  const server = new Server();
  const keep = (bytes: Buffer): Buffer => bytes;
  const method = {
    path: "/sidecheck.v1.ValidationService/Validate",
    requestStream: false,
    responseStream: true,
    requestSerialize: keep,
    requestDeserialize: keep,
    responseSerialize: keep,
    responseDeserialize: keep,
  } as const;
  server.addService({ validate: method }, { validate: handler });
  return listen(t, server);
}

test("more calls than a connection may have all succeed", { skip }, async (t) => {
  for (const callers of [64, 256]) {
    const client = connect(t, "real");
    const call = async (_: unknown, caller: number): Promise<void> => {
      for (let index = 0; index < 10; index++) {
        const payload = index % 2 === 0 ? caller : "x";
        assert.equal((await client.validate(TARGET, payload)).valid, index % 2 === 0);
      }
    };
    await Promise.all(Array.from({ length: callers }, call));
  }
});

test("a refused call is sent again until the server takes it", async (t) => {
  let attempts = 0;
  const address = await serveValidate(t, (call) => {
    attempts += 1;
    if (attempts <= 12) {
      const trailers = new Metadata();
      const refused = { code: 14, details: "Stream refused by server", metadata: trailers };
      call.emit("error", refused);
    } else {
      // A ValidateResponse with an empty verdict.
      call.write(Buffer.from([0x0a, 0x00]));
      call.end();
    }
  });
  const client = new Client(address, { timeoutMs: GENEROUS_MS });
  t.after(() => client.close());
  assert.equal((await client.validate(TARGET, 1)).valid, false);
  assert.equal(attempts, 13);
});

test("a refused call ends with its deadline", async (t) => {
  const address = await serveValidate(t, (call) => {
    const trailers = new Metadata();
    call.emit("error", { code: 14, details: "Stream refused by server", metadata: trailers });
  });
  const client = new Client(address, { timeoutMs: 200 });
  t.after(() => client.close());
  await assert.rejects(client.validate(TARGET, 1), { name: "Unavailable" });
});

test("several responses to one call are no response", async (t) => {
  const address = await serveValidate(t, (call) => {
    call.write(Buffer.from([0x0a, 0x00]));
    call.write(Buffer.from([0x0a, 0x00]));
    call.end();
  });
  const client = new Client(address, { timeoutMs: GENEROUS_MS, onUnavailable: "allow" });
  t.after(() => client.close());
  await assert.rejects(client.validate(TARGET, 1), InvalidResponse);
});

test("large requests are retried too", { skip }, async (t) => {
  const client = connect(t, "flaky");
  const items = Array.from({ length: 40 }, () => ({ arguments: "x".repeat(50_000) }));
  const outcomes = await client.validateBatch(items, { target: { schema: { type: "string" } } });
  assert.ok(outcomes.every((outcome) => "valid" in outcome && outcome.valid));
});
