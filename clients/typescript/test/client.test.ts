import assert from "node:assert/strict";
import { test } from "node:test";

import { Client, InvalidResponse, SidecheckError, ToolsRejected, Unavailable } from "sidecheck";

import { connect, GENEROUS_MS, skip } from "./servers.js";

const SCHEMA = { type: "object", required: ["q"], properties: { q: { type: "string" } } };

test("an address of another form is rejected", () => {
  for (const address of [
    "",
    "localhost",
    "http://localhost:1",
    "localhost:0",
    "h:65536",
    "unix:",
    "unix://host/path",
  ]) {
    assert.throws(() => new Client(address), TypeError, address);
  }
});

test("invalid options are rejected", () => {
  assert.throws(() => new Client("localhost:1", { timeoutMs: 0 }), /timeoutMs must be positive/);
  assert.throws(
    () => new Client("localhost:1", { onUnavailable: "raise" as "error" }),
    /invalid onUnavailable "raise"/,
  );
  assert.throws(() => new Client("localhost:1", { tls: { key: "pem" } }), /given together/);
});

test("what is no revision is rejected", (t) => {
  const client = new Client("127.0.0.1:1");
  t.after(() => client.close());
  for (const revision of [-1, 1.5, Number.NaN, Infinity]) {
    assert.throws(() => (client.minRevision = revision), /minRevision must be a whole number/);
  }
  assert.equal(client.minRevision, 0);
});

test("an invalid argument is rejected before the call", async (t) => {
  const client = new Client("127.0.0.1:1");
  t.after(() => client.close());
  await assert.rejects(client.validate({ schema: true }, { n: Number.NaN }), /cannot be encoded/);
  await assert.rejects(client.validate({} as { schema: true }, 1), /invalid target/);
  await assert.rejects(client.validate({ schema: true }, 1, { detail: "none" as "all" }), /detail/);
  await assert.rejects(client.validateBatch([{} as { arguments: 1 }]), /invalid item/);
  await assert.rejects(client.register("s", "[]" as unknown as []), /not a string/);
});

test("a closed client rejects calls", async () => {
  const client = new Client("127.0.0.1:1");
  client.close();
  client.close();
  await assert.rejects(client.info(), { name: "SidecheckError", reason: "CLIENT_CLOSED" });
});

test("an absent server is unavailable", async (t) => {
  const client = new Client("127.0.0.1:1", { timeoutMs: GENEROUS_MS });
  t.after(() => client.close());
  await assert.rejects(
    client.validate({ schema: true }, 1),
    (error) => error instanceof Unavailable && error.reason === "UNAVAILABLE",
  );
});

test("the policy gives a verdict where no server answers", async (t) => {
  for (const onUnavailable of ["allow", "deny"] as const) {
    const client = new Client("127.0.0.1:1", { timeoutMs: GENEROUS_MS, onUnavailable });
    t.after(() => client.close());
    const verdict = await client.validate({ schema: true }, 1);
    assert.equal(verdict.valid, onUnavailable === "allow");
    assert.equal(verdict.violations[0]?.code, "SIDECHECK_UNAVAILABLE");
    assert.match(verdict.violations[0].message, /^not validated: UNAVAILABLE: /);
    const outcomes = await client.validateBatch([{ arguments: 1 }, { arguments: 2 }]);
    assert.deepEqual(outcomes, [verdict, verdict]);
    await assert.rejects(client.info(), Unavailable);
  }
});

test("an invalid payload is returned", { skip }, async (t) => {
  const client = connect(t, "real");
  const valid = await client.validate({ schema: SCHEMA }, { q: "x" });
  assert.equal(valid.valid, true);
  const invalid = await client.validate({ schema: SCHEMA }, Buffer.from('{"q": 1}'));
  assert.equal(invalid.valid, false);
  assert.deepEqual(
    invalid.violations.map(({ code, instanceLocation }) => [code, instanceLocation]),
    [["TYPE", "/q"]],
  );
});

test("tools are registered, listed and deleted", { skip }, async (t) => {
  const client = connect(t, "real");
  const server = "typescript-registry";
  const definition = { name: "search", inputSchema: SCHEMA };
  const { outcomes } = await client.register(server, [definition]);
  assert.deepEqual(
    outcomes.map(({ name, action }) => [name, action]),
    [["search", "created"]],
  );
  assert.deepEqual((await client.get(server, "search")).json.parse(), definition);
  const names: string[] = [];
  for await (const tool of client.list(server)) {
    names.push(tool.name);
  }
  assert.deepEqual(names, ["search"]);
  const params = { name: "search", arguments: { q: "x" } };
  assert.equal((await client.validateCall({ server }, params)).valid, true);
  await assert.rejects(
    client.validateCall({ server }, { name: "other" }),
    (error) =>
      error instanceof SidecheckError &&
      error.reason === "UNKNOWN_TOOL" &&
      error.jsonRpcError?.parse<{ code: number }>().code === -32602,
  );
  const deletion = await client.delete(server, ["search", "other"]);
  assert.deepEqual([deletion.deleted, deletion.unknown], [["search"], ["other"]]);
});

test("a rejected tool rejects the registration, or is returned", { skip }, async (t) => {
  const client = connect(t, "real");
  const tools = [{ name: "bad", inputSchema: { type: "no such type" } }];
  await assert.rejects(
    client.register("typescript-rejected", tools),
    (error) => error instanceof ToolsRejected && error.registration.outcomes.length === 1,
  );
  const { outcomes } = await client.register("typescript-rejected", tools, {
    onRejected: "return",
  });
  assert.equal(outcomes[0]?.action, "rejected");
});

test("an abort rejects with the reason of the signal", { skip }, async (t) => {
  const client = connect(t, "silent");
  const controller = new AbortController();
  const call = client.validate({ schema: true }, 1, { signal: controller.signal });
  const reason = new Error("changed my mind");
  setImmediate(() => controller.abort(reason));
  await assert.rejects(call, (error) => error === reason);
  await assert.rejects(client.info({ signal: controller.signal }), (error) => error === reason);
});

test("a pending call of a client that is closed rejects", { skip }, async (t) => {
  const client = connect(t, "silent");
  const call = client.validate({ schema: true }, 1);
  setImmediate(() => client.close());
  await assert.rejects(call, { reason: "CLIENT_CLOSED", status: "CANCELLED" });
});

test("a server that answers garbage is told from one that is lost", { skip }, async (t) => {
  const client = connect(t, "garbage", { onUnavailable: "allow" });
  await assert.rejects(client.validate({ schema: true }, 1), InvalidResponse);
});

test("a unix socket and TLS work", { skip }, async (t) => {
  const { version } = await connect(t, "unix").info();
  assert.equal((await connect(t, "real").info()).version, version);
});
