import assert from "node:assert/strict";
import { join } from "node:path";
import { test, type TestContext } from "node:test";

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

import { GENEROUS_MS, requireEnvironment, serve, skip } from "./servers.js";

const SERVER = join(__dirname, "..", "examples", "weather.js");

async function connect(t: TestContext, address: string): Promise<Client> {
  const client = new Client({ name: "test", version: "1.0.0" });
  t.after(() => client.close());
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [SERVER],
      env: { SIDECHECK_ADDRESS: address },
    }),
  );
  return client;
}

async function forecast(client: Client, args: Record<string, unknown>, name = "get_forecast") {
  const params = { name, arguments: args };
  return client.callTool(params, undefined, { timeout: GENEROUS_MS });
}

test("calls and results of an MCP server are validated", { skip }, async (t) => {
  const client = await connect(t, requireEnvironment().servers["real"] ?? "");
  const good = await forecast(client, { city: "Oslo", days: 2 });
  assert.deepEqual(good["structuredContent"], {
    city: "Oslo",
    days: [
      { day: 1, celsius: 11 },
      { day: 2, celsius: 12 },
    ],
  });
  const bad = await forecast(client, { city: "Oslo", days: "2" });
  assert.equal(bad["isError"], true);
  assert.match(JSON.stringify(bad["content"]), /days: expected an integer/);
  const stopped = await forecast(client, { city: "Atlantis" });
  assert.equal(stopped["isError"], true);
  await assert.rejects(forecast(client, {}, "get_tides"), { code: -32602 });
});

test("an MCP server works as soon as Sidecheck does", { skip }, async (t) => {
  const { address, process: first } = await serve(t);
  first.kill("SIGKILL");
  const client = await connect(t, address);
  const { tools } = await client.listTools();
  assert.deepEqual(
    tools.map(({ name }) => name),
    ["get_forecast"],
  );
  await assert.rejects(forecast(client, { city: "Oslo" }), {
    code: -32603,
    message: /Sidecheck is unavailable/,
  });
  await serve(t, address);
  const result = await forecast(client, { city: "Oslo" });
  assert.deepEqual(result["structuredContent"], { city: "Oslo", days: [{ day: 1, celsius: 11 }] });
});
