/** The wrapper of an MCP server, in process: what it registers, rejects, repairs and lets pass. */

import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";

import { Client as McpClient } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import {
  CallToolRequestSchema,
  CallToolResultSchema,
  ListToolsRequestSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { Client, type ClientOptions, type SidecheckError, ToolsRejected } from "sidecheck";
import { type SidecheckOptions, withSidecheck } from "sidecheck/mcp";

import { connect, GENEROUS_MS, kill, serve, skip } from "./servers.js";

const ADD = {
  name: "add",
  inputSchema: {
    type: "object",
    properties: { a: { type: "integer" }, b: { type: "integer" } },
    required: ["a"],
  },
  outputSchema: { type: "object", properties: { sum: { type: "integer" } }, required: ["sum"] },
};
const BROKEN = { name: "broken", inputSchema: { type: "object", required: 1 } };

interface Wrapped {
  /** The client of the MCP server. */
  readonly mcp: McpClient;
  /** The arguments that reached the handler. */
  readonly calls: unknown[];
  readonly errors: SidecheckError[];
  readonly reports: string[];
  readonly call: (args: object, name?: string) => ReturnType<McpClient["callTool"]>;
}

interface Setup extends Partial<SidecheckOptions> {
  readonly tools?: object[];
  /** What the handler returns as structured content. */
  readonly result?: object;
}

async function start(t: TestContext, client: Client, setup: Setup = {}): Promise<Wrapped> {
  const { tools = [ADD], result = { sum: 3 }, ...options } = setup;
  const [calls, errors, reports] = [[] as unknown[], [] as SidecheckError[], [] as string[]];
  const server = withSidecheck(
    new Server({ name: "test", version: "1.0.0" }, { capabilities: { tools: {} } }),
    {
      client,
      // The tests share a server.
      name: `typescript: ${t.name}`,
      onError: (error) => errors.push(error),
      onReport: (tool, { violations }) => reports.push(`${tool} ${violations[0]?.code ?? ""}`),
      ...options,
    },
  );
  // In pages of one tool.
  server.setRequestHandler(ListToolsRequestSchema, ({ params }) => {
    const page = Number(params?.cursor ?? 0);
    const next = page + 1 < tools.length ? { nextCursor: String(page + 1) } : {};
    return { tools: tools.slice(page, page + 1), ...next };
  });
  server.setRequestHandler(CallToolRequestSchema, ({ params }) => {
    calls.push(params.arguments);
    return { content: [{ type: "text", text: "done" }], structuredContent: { ...result } };
  });
  const mcp = new McpClient({ name: "test", version: "1.0.0" });
  const [near, far] = InMemoryTransport.createLinkedPair();
  await Promise.all([server.connect(far), mcp.connect(near)]);
  t.after(() => mcp.close());
  const call: Wrapped["call"] = (args, name = "add") =>
    mcp.callTool({ name, arguments: { ...args } }, undefined, { timeout: GENEROUS_MS });
  return { mcp, calls, errors, reports, call };
}

function absent(t: TestContext, options: ClientOptions = {}): Client {
  const client = new Client("127.0.0.1:1", { timeoutMs: GENEROUS_MS, ...options });
  t.after(() => client.close());
  return client;
}

test("an invalid call does not reach the handler", { skip }, async (t) => {
  const { call, calls, errors } = await start(t, connect(t, "real"));
  const bad = await call({ a: "1" });
  assert.equal(bad.isError, true);
  assert.match(JSON.stringify(bad.content), /expected an integer/);
  assert.deepEqual((await call({ a: 1 })).structuredContent, { sum: 3 });
  assert.deepEqual(calls, [{ a: 1 }]);
  assert.deepEqual(errors, []);
});

test("an invalid result does not reach the client", { skip }, async (t) => {
  const { call, calls } = await start(t, connect(t, "real"), { result: { sum: "3" } });
  const result = await call({ a: 1 });
  assert.equal(result.isError, true);
  assert.equal(result.structuredContent, undefined);
  assert.deepEqual(calls, [{ a: 1 }]);
});

test("a repaired call reaches the handler", { skip }, async (t) => {
  const options = { coercion: "safe-scalars" } as const;
  const { call, calls } = await start(t, connect(t, "real"), { options });
  assert.deepEqual((await call({ a: "1" })).structuredContent, { sum: 3 });
  assert.equal((await call({ a: "one" })).isError, true);
  assert.deepEqual(calls, [{ a: 1 }]);
});

test("an unknown tool is an error of the protocol", { skip }, async (t) => {
  const options = { onUnknownTool: "skip" } as const;
  const { call, calls, errors } = await start(t, connect(t, "real"), { options });
  await assert.rejects(call({}, "subtract"), { code: -32602 });
  assert.deepEqual([calls, errors], [[], []]);
});

test("the call of a rejected tool is an error, others pass", { skip }, async (t) => {
  const tools = [ADD, BROKEN];
  const { call, calls, errors } = await start(t, connect(t, "real"), { tools });
  const message = /Sidecheck rejected the definition of the tool "broken": .+\[[A-Z_]+\]/;
  await assert.rejects(call({}, "broken"), { code: -32603, message });
  assert.equal((await call({ a: 1 })).isError, undefined);
  assert.deepEqual(calls, [{ a: 1 }]);
  assert.equal(errors.length, 1);
  assert.ok(errors[0] instanceof ToolsRejected);
});

test("the policy decides while Sidecheck is down", async (t) => {
  for (const onUnavailable of ["error", "allow", "deny"] as const) {
    // The result breaks the schema: a call that was not validated has one that is not, either.
    const setup = { result: { sum: "3" } };
    const wrapped = await start(t, absent(t, { onUnavailable }), setup);
    const { tools } = await wrapped.mcp.listTools();
    assert.deepEqual(
      tools.map(({ name }) => name),
      ["add"],
    );
    const reports = onUnavailable === "error" ? [] : ["add SIDECHECK_UNAVAILABLE"];
    if (onUnavailable === "error") {
      const message = /Sidecheck is unavailable: UNAVAILABLE/;
      await assert.rejects(wrapped.call({ a: 1 }), { code: -32603, message });
    } else {
      // Without the output schema, which the SDK's client would check itself.
      const result = await wrapped.mcp.request(
        { method: "tools/call", params: { name: "add", arguments: { a: 1 } } },
        CallToolResultSchema,
        { timeout: GENEROUS_MS },
      );
      assert.equal(result.isError, onUnavailable === "deny" ? true : undefined);
      const text = onUnavailable === "deny" ? /could not be validated/ : /done/;
      assert.match(JSON.stringify(result.content), text);
    }
    assert.deepEqual(wrapped.calls, onUnavailable === "allow" ? [{ a: 1 }] : []);
    assert.deepEqual(wrapped.reports, reports);
    assert.deepEqual(
      wrapped.errors.map(({ reason }) => reason),
      ["UNAVAILABLE"],
    );
  }
});

test("a registry that was lost is filled again, once for all calls", { skip }, async (t) => {
  const { address, process } = await serve(t);
  const client = new Client(address, { timeoutMs: GENEROUS_MS });
  t.after(() => client.close());
  const { call, calls, errors } = await start(t, client);
  assert.equal((await call({ a: 1 })).isError, undefined);
  await kill(process);
  await serve(t, address);
  const results = await Promise.all([call({ a: 2 }), call({ a: 3 }), call({ a: "4" })]);
  assert.deepEqual(
    results.map(({ isError }) => isError),
    [undefined, undefined, true],
  );
  await assert.rejects(call({}, "subtract"), { code: -32602 });
  assert.deepEqual([calls.length, errors], [3, []]);
});

test("what is not enforced passes and is reported", { skip }, async (t) => {
  const { address } = await serve(t, "127.0.0.1:0", { SIDECHECK_REPORT_ONLY: "observed" });
  const client = new Client(address, { timeoutMs: GENEROUS_MS });
  t.after(() => client.close());
  const options = { coercion: "safe-scalars" } as const;
  const { call, calls, reports } = await start(t, client, { name: "observed", options });
  assert.equal((await call({ a: "1" })).isError, undefined);
  assert.deepEqual(calls, [{ a: "1" }]);
  assert.deepEqual(reports, ["add TYPE"]);
});

test("changed tools are registered at the next call", { skip }, async (t) => {
  const tools = [ADD];
  const { mcp, call } = await start(t, connect(t, "real"), { tools });
  assert.equal((await call({ a: "1" })).isError, true);
  const changed = { ...ADD.inputSchema, properties: { a: { type: "string" } } };
  tools[0] = { ...ADD, inputSchema: changed } as unknown as typeof ADD;
  await mcp.listTools();
  assert.equal((await call({ a: "1" })).isError, undefined);
});

test("tools are registered under the version that was negotiated", { skip }, async (t) => {
  const client = connect(t, "real");
  const { call } = await start(t, client);
  await call({ a: 1 });
  const { protocolVersion } = await client.get(`typescript: ${t.name}`, "add");
  assert.equal(protocolVersion, "2025-11-25");
  const older = await start(t, client, {
    name: "typescript: older",
    options: { protocolVersion: "2025-06-18" },
  });
  await older.call({ a: 1 });
  assert.equal((await client.get("typescript: older", "add")).protocolVersion, "2025-06-18");
});

test("a server that has handlers is not wrapped", (t) => {
  const server = new Server({ name: "test", version: "1" }, { capabilities: { tools: {} } });
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: [] }));
  const client = absent(t);
  assert.throws(() => withSidecheck(server, { client, name: "s" }), /before its handlers/);
});

test("the tools of an McpServer are validated too", { skip }, async (t) => {
  const server = new McpServer({ name: "test", version: "1.0.0" });
  withSidecheck(server.server, { client: connect(t, "real"), name: "typescript: McpServer" });
  server.registerTool("hello", { description: "Greets" }, () => ({
    content: [{ type: "text", text: "hello" }],
  }));
  const mcp = new McpClient({ name: "test", version: "1.0.0" });
  t.after(() => mcp.close());
  const [near, far] = InMemoryTransport.createLinkedPair();
  await Promise.all([server.connect(far), mcp.connect(near)]);
  assert.equal((await mcp.callTool({ name: "hello" })).isError, undefined);
  await assert.rejects(mcp.callTool({ name: "bye" }), { code: -32602 });
});
