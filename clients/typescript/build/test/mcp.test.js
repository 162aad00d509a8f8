"use strict";
var __importDefault = (this && this.__importDefault) || function (mod) {
    return (mod && mod.__esModule) ? mod : { "default": mod };
};
Object.defineProperty(exports, "__esModule", { value: true });
const strict_1 = __importDefault(require("node:assert/strict"));
const node_path_1 = require("node:path");
const node_test_1 = require("node:test");
const index_js_1 = require("@modelcontextprotocol/sdk/client/index.js");
const stdio_js_1 = require("@modelcontextprotocol/sdk/client/stdio.js");
const servers_js_1 = require("./servers.js");
const SERVER = (0, node_path_1.join)(__dirname, "..", "examples", "weather.js");
async function connect(t, address) {
    const client = new index_js_1.Client({ name: "test", version: "1.0.0" });
    t.after(() => client.close());
    await client.connect(new stdio_js_1.StdioClientTransport({
        command: process.execPath,
        args: [SERVER],
        env: { SIDECHECK_ADDRESS: address },
    }));
    return client;
}
async function forecast(client, args, name = "get_forecast") {
    const params = { name, arguments: args };
    return client.callTool(params, undefined, { timeout: servers_js_1.GENEROUS_MS });
}
(0, node_test_1.test)("calls and results of an MCP server are validated", { skip: servers_js_1.skip }, async (t) => {
    const client = await connect(t, (0, servers_js_1.requireEnvironment)().servers["real"] ?? "");
    const good = await forecast(client, { city: "Oslo", days: 2 });
    strict_1.default.deepEqual(good["structuredContent"], {
        city: "Oslo",
        days: [
            { day: 1, celsius: 11 },
            { day: 2, celsius: 12 },
        ],
    });
    const bad = await forecast(client, { city: "Oslo", days: "2" });
    strict_1.default.equal(bad["isError"], true);
    strict_1.default.match(JSON.stringify(bad["content"]), /days: expected an integer/);
    const stopped = await forecast(client, { city: "Atlantis" });
    strict_1.default.equal(stopped["isError"], true);
    await strict_1.default.rejects(forecast(client, {}, "get_tides"), { code: -32602 });
});
(0, node_test_1.test)("an MCP server works as soon as Sidecheck does", { skip: servers_js_1.skip }, async (t) => {
    const { address, process: first } = await (0, servers_js_1.serve)(t);
    first.kill("SIGKILL");
    const client = await connect(t, address);
    const { tools } = await client.listTools();
    strict_1.default.deepEqual(tools.map(({ name }) => name), ["get_forecast"]);
    await strict_1.default.rejects(forecast(client, { city: "Oslo" }), {
        code: -32603,
        message: /Sidecheck is unavailable/,
    });
    await (0, servers_js_1.serve)(t, address);
    const result = await forecast(client, { city: "Oslo" });
    strict_1.default.deepEqual(result["structuredContent"], { city: "Oslo", days: [{ day: 1, celsius: 11 }] });
});
