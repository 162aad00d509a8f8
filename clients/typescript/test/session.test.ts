import assert from "node:assert/strict";
import { test } from "node:test";

import { Client, SidecheckError, StreamClosed, StreamUnavailable } from "sidecheck";

import { connect, GENEROUS_MS, kill, serve, skip } from "./servers.js";

function request(id: number, method = "ping"): object {
  return { jsonrpc: "2.0", id, method };
}

test("messages are checked in order, against those before them", { skip }, async (t) => {
  const session = connect(t, "real").protocol.session();
  const checks = [1, 2, 1].map((id) => session.check(request(id), { sender: "client" }));
  const results = await Promise.all(checks);
  assert.deepEqual(
    results.map(({ verdict }) =>
      verdict.violations.some(({ code }) => code === "REQUEST_ID_REUSED"),
    ),
    [false, false, true],
  );
  assert.deepEqual(await session.finish(), { repeatedViolations: [] });
  await assert.rejects(session.check(request(3)), /is finished/);
  assert.deepEqual(await session.finish(), { repeatedViolations: [] });
  await session.close();
});

test("a rejected message of HTTP takes no part in a session", { skip }, async (t) => {
  const session = connect(t, "real").protocol.session({ fromBeginning: false });
  t.after(() => session.close());
  await session.check(request(1), { sender: "client", httpStatus: 400 });
  const { verdict } = await session.check(request(1), { sender: "client" });
  assert.deepEqual(verdict.violations, []);
});

test("a summary counts what many messages have", { skip }, async (t) => {
  const client = connect(t, "real", { protocolVersion: "2026-07-28" });
  const session = client.protocol.session({ fromBeginning: false });
  for (let index = 0; index < 3; index++) {
    const params = { level: "info", data: "x" };
    const message = { jsonrpc: "2.0", method: "notifications/message", params };
    await session.check(message, { sender: "server" });
  }
  const { repeatedViolations } = await session.finish();
  assert.deepEqual(repeatedViolations, [
    { code: "LOGGING_DEPRECATED", tool: "", count: 3, firstItem: 0 },
  ]);
});

test("a message that cannot be checked rejects alone", { skip }, async (t) => {
  const client = connect(t, "real");
  const { messageBytes } = (await client.info()).limits;
  const session = client.protocol.session({ fromBeginning: false });
  const large = session.check({ ...request(1), params: { text: "x".repeat(messageBytes) } });
  const next = session.check(request(2));
  await assert.rejects(
    large,
    (error) => error instanceof SidecheckError && error.metadata["bound"] === "message_bytes",
  );
  assert.equal((await next).verdict.valid, true);
  await session.finish();
});

test("invalid arguments of a session are rejected before it begins", async (t) => {
  const client = new Client("127.0.0.1:1");
  t.after(() => client.close());
  const { protocol } = client;
  assert.throws(() => protocol.session({ outstanding: 0 }), /outstanding must be a positive/);
  assert.throws(() => protocol.session({ timeoutMs: 0 }), /timeoutMs must be positive/);
  const session = protocol.session();
  await assert.rejects(session.check("{}" as unknown as object), TypeError);
  await assert.rejects(session.check({}, { sender: "me" as "client" }), /invalid sender/);
  await assert.rejects(session.check({}, { httpStatus: -1 }), /invalid httpStatus/);
});

test("leaving a session rejects what is pending", { skip }, async (t) => {
  for (const server of ["real", "silent"]) {
    const session = connect(t, server).protocol.session();
    const check = session.check(request(1));
    await session.close();
    await assert.rejects(
      check,
      (error) =>
        error instanceof StreamClosed &&
        error.reason === "CANCELLED" &&
        error.unanswered.join() === "1",
    );
    await assert.rejects(session.check(request(2)), StreamClosed);
    await assert.rejects(session.finish(), StreamClosed);
  }
});

test("a session is left at the end of its block", { skip }, async (t) => {
  const client = connect(t, "real");
  let pending: Promise<unknown>;
  {
    await using session = client.protocol.session();
    await session.check(request(1));
    pending = session.check(request(2));
  }
  await assert.rejects(pending, { reason: "CANCELLED" });
});

test("aborting a session rejects with the reason", { skip }, async (t) => {
  const controller = new AbortController();
  const reason = new Error("changed my mind");
  const session = connect(t, "real").protocol.session({ signal: controller.signal });
  await session.check(request(1));
  const check = session.check(request(2));
  controller.abort(reason);
  await assert.rejects(check, (error) => error === reason);
  await assert.rejects(session.finish(), (error) => error === reason);
});

test("closing the client ends its sessions", { skip }, async (t) => {
  const client = connect(t, "real");
  const session = client.protocol.session();
  await session.check(request(1));
  const check = session.check(request(2));
  client.close();
  await assert.rejects(
    check,
    (error) => error instanceof StreamClosed && error.reason === "CLIENT_CLOSED",
  );
});

test("a session whose server is lost says so", { skip }, async (t) => {
  const { address, process } = await serve(t);
  const client = new Client(address, { timeoutMs: GENEROUS_MS });
  t.after(() => client.close());
  const session = client.protocol.session();
  await session.check(request(1));
  await kill(process);
  await assert.rejects(session.check(request(2)), StreamUnavailable);
  await assert.rejects(session.finish(), StreamUnavailable);
});

test("a session without a server is unavailable", async (t) => {
  const client = new Client("127.0.0.1:1", { timeoutMs: GENEROUS_MS });
  t.after(() => client.close());
  await assert.rejects(client.protocol.session().check(request(1)), { reason: "UNAVAILABLE" });
});
