/** The forms in which tools can be registered. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { Client, type Tool, type Tools } from "sidecheck";

import { connect, skip } from "./servers.js";

const FORECAST = '{"name":  "get_forecast", "inputSchema": {"type": "object"}}';
const ALERTS = '{ "inputSchema":{"type":"object","title":"}\\"]"}, "name":"get_alerts"}';

async function registered(client: Client, server: string, tools: Tools): Promise<string[]> {
  await client.deleteAll(server);
  await client.register(server, tools);
  const texts: string[] = [];
  for await (const tool of client.list(server)) {
    texts.push(tool.json.toString());
  }
  return texts;
}

test("JSON text is registered byte for byte, in any form of a list", { skip }, async (t) => {
  const client = connect(t, "real");
  const list = `[ ${FORECAST} ,\n${ALERTS} ]`;
  const result = `\t{"_meta": {}, "tools": ${list}, "nextCursor": "2"}\n`;
  for (const text of [
    list,
    result,
    `{"jsonrpc": "2.0", "id": 1, "result": ${result}}`,
    `{"\\u0074ools": ${list}}`,
  ]) {
    const texts = await registered(client, "typescript-forms", Buffer.from(text));
    assert.deepEqual(texts, [ALERTS, FORECAST], text);
  }
  assert.deepEqual(await registered(client, "typescript-forms", Buffer.from(ALERTS)), [ALERTS]);
  assert.deepEqual(await registered(client, "typescript-forms", Buffer.from(" [ ] ")), []);
});

test("objects are registered, in any form of a list", { skip }, async (t) => {
  const client = connect(t, "real");
  const [forecast, alerts] = [FORECAST, ALERTS].map((text) => JSON.parse(text) as object);
  assert.ok(forecast && alerts);
  const texts = [alerts, forecast].map((tool) => JSON.stringify(tool));
  const tools = [forecast, alerts];
  for (const form of [
    tools,
    new Set(tools),
    { tools },
    { jsonrpc: "2.0", id: 1, result: { tools } },
    [{ tool: forecast }, Buffer.from(JSON.stringify(alerts))],
  ]) {
    assert.deepEqual(await registered(client, "typescript-objects", form), texts);
  }
  assert.deepEqual(await registered(client, "typescript-objects", alerts), [texts[0]]);
  assert.deepEqual(await registered(client, "typescript-objects", { tool: alerts }), [texts[0]]);
});

test("a tool of the client is registered with its documents", { skip }, async (t) => {
  const client = connect(t, "real");
  const uri = "https://example.com/city";
  const tool = {
    name: "get_forecast",
    inputSchema: { type: "object", properties: { city: { $ref: uri } } },
  };
  await client.register("typescript-source", {
    tool,
    documents: [{ uri, json: { minLength: 1 } }],
  });
  const original: Tool = await client.get("typescript-source", "get_forecast");
  for (const form of [original, [original]]) {
    await client.deleteAll("typescript-copy");
    await client.register("typescript-copy", form);
    const copy = await client.get("typescript-copy", "get_forecast");
    assert.equal(copy.definitionDigest, original.definitionDigest);
    assert.deepEqual(copy.json, original.json);
    assert.deepEqual(copy.documents, original.documents);
  }
  const { toolsListVerdict, outcomes } = await client.protocol.checkDefinitions([original]);
  assert.equal(toolsListVerdict.valid, true);
  assert.deepEqual(
    outcomes.map(({ name }) => name),
    ["get_forecast"],
  );
});

test("inferred and adapted tools are registered", { skip }, async (t) => {
  const client = connect(t, "real");
  const source = "@tool\ndef add(a: int, b: int) -> int:\n    return a + b\n";
  const { tools } = await client.inference.inferTools(source);
  const [inferred] = tools;
  assert.ok(inferred);
  const adapted = await client.inference.adaptTool(inferred, "2025-06-18");
  for (const tool of [inferred, adapted]) {
    const texts = await registered(client, "typescript-inferred", [tool]);
    assert.deepEqual(texts, [tool.json.toString()]);
  }
});

test("what is no list of tools is rejected before it is sent", async (t) => {
  const client = new Client("127.0.0.1:1");
  t.after(() => client.close());
  const faults: [unknown, RegExp][] = [
    [FORECAST, /not a string/],
    [1, /not number/],
    [null, /not null/],
    [Buffer.from(""), /not JSON text/],
    [Buffer.from("tools"), /not JSON text/],
    [Buffer.from("[{}"), /not JSON text/],
    [Buffer.from("[{}] {}"), /not JSON text/],
    [Buffer.from("[{},]"), /not JSON text/],
    [Buffer.from("[{} {}]"), /not JSON text/],
    [Buffer.from('["]'), /not JSON text/],
    [Buffer.from("[[}]"), /not JSON text/],
    [Buffer.from('{"tools" []}'), /not JSON text/],
    [Buffer.from('{"tools":}'), /not JSON text/],
    [Buffer.from("{tools: []}"), /not JSON text/],
    [{ tools: {} }, /not an array of definitions/],
    [{ jsonrpc: "2.0", error: {} }, /without a result that lists tools/],
    [Buffer.from('{"tools": [], "tools": []}'), /two properties of the same name/],
  ];
  for (const [tools, message] of faults) {
    await assert.rejects(client.register("s", tools as Tools), { name: "TypeError", message });
  }
  const onRejected = "raise" as "return";
  await assert.rejects(client.register("s", [], { onRejected }), /invalid onRejected/);
});

test("a page replaces nothing", { skip }, async (t) => {
  const client = connect(t, "real");
  const server = "typescript-pages";
  const page = `{"tools": [${FORECAST}], "nextCursor": "x"}`;
  await assert.rejects(
    client.register(server, Buffer.from(page), { replace: true }),
    /one page of several/,
  );
  const last = Buffer.from(page.replace('"x"', "null"));
  assert.equal((await client.register(server, last, { replace: true })).outcomes.length, 1);
});
