"use strict";
var __importDefault = (this && this.__importDefault) || function (mod) {
    return (mod && mod.__esModule) ? mod : { "default": mod };
};
Object.defineProperty(exports, "__esModule", { value: true });
const strict_1 = __importDefault(require("node:assert/strict"));
const node_test_1 = require("node:test");
const sidecheck_1 = require("sidecheck");
const servers_js_1 = require("./servers.js");
const SCHEMA = { type: "object", required: ["q"], properties: { q: { type: "string" } } };
(0, node_test_1.test)("an address of another form is rejected", () => {
    for (const address of ["", "localhost", "http://localhost:1", "localhost:0", "h:65536", "unix:"]) {
        strict_1.default.throws(() => new sidecheck_1.Client(address), TypeError, address);
    }
});
(0, node_test_1.test)("invalid options are rejected", () => {
    strict_1.default.throws(() => new sidecheck_1.Client("localhost:1", { timeoutMs: 0 }), /timeoutMs must be positive/);
    strict_1.default.throws(() => new sidecheck_1.Client("localhost:1", { onUnavailable: "raise" }), /invalid onUnavailable "raise"/);
    strict_1.default.throws(() => new sidecheck_1.Client("localhost:1", { tls: { key: "pem" } }), /given together/);
});
(0, node_test_1.test)("an invalid argument is rejected before the call", async (t) => {
    const client = new sidecheck_1.Client("127.0.0.1:1");
    t.after(() => client.close());
    await strict_1.default.rejects(client.validate({ schema: true }, { n: Number.NaN }), /cannot be encoded/);
    await strict_1.default.rejects(client.validate({}, 1), /invalid target/);
    await strict_1.default.rejects(client.validate({ schema: true }, 1, { detail: "none" }), /detail/);
    await strict_1.default.rejects(client.validateBatch([{}]), /invalid item/);
    await strict_1.default.rejects(client.register("s", "[]"), /not JSON text/);
});
(0, node_test_1.test)("a closed client rejects calls", async () => {
    const client = new sidecheck_1.Client("127.0.0.1:1");
    client.close();
    client.close();
    await strict_1.default.rejects(client.info(), { name: "SidecheckError", reason: "CLIENT_CLOSED" });
});
(0, node_test_1.test)("an absent server is unavailable", async (t) => {
    const client = new sidecheck_1.Client("127.0.0.1:1", { timeoutMs: servers_js_1.GENEROUS_MS });
    t.after(() => client.close());
    await strict_1.default.rejects(client.validate({ schema: true }, 1), (error) => error instanceof sidecheck_1.Unavailable && error.reason === "UNAVAILABLE");
});
(0, node_test_1.test)("the policy gives a verdict where no server answers", async (t) => {
    for (const onUnavailable of ["allow", "deny"]) {
        const client = new sidecheck_1.Client("127.0.0.1:1", { timeoutMs: servers_js_1.GENEROUS_MS, onUnavailable });
        t.after(() => client.close());
        const verdict = await client.validate({ schema: true }, 1);
        strict_1.default.equal(verdict.valid, onUnavailable === "allow");
        strict_1.default.equal(verdict.violations[0]?.code, "SIDECHECK_UNAVAILABLE");
        strict_1.default.match(verdict.violations[0].message, /^not validated: UNAVAILABLE: /);
        const outcomes = await client.validateBatch([{ arguments: 1 }, { arguments: 2 }]);
        strict_1.default.deepEqual(outcomes, [verdict, verdict]);
        await strict_1.default.rejects(client.info(), sidecheck_1.Unavailable);
    }
});
(0, node_test_1.test)("an invalid payload is returned", { skip: servers_js_1.skip }, async (t) => {
    const client = (0, servers_js_1.connect)(t, "real");
    const valid = await client.validate({ schema: SCHEMA }, { q: "x" });
    strict_1.default.equal(valid.valid, true);
    const invalid = await client.validate({ schema: SCHEMA }, Buffer.from('{"q": 1}'));
    strict_1.default.equal(invalid.valid, false);
    strict_1.default.deepEqual(invalid.violations.map(({ code, instanceLocation }) => [code, instanceLocation]), [["TYPE", "/q"]]);
});
(0, node_test_1.test)("tools are registered, listed and deleted", { skip: servers_js_1.skip }, async (t) => {
    const client = (0, servers_js_1.connect)(t, "real");
    const server = "typescript-registry";
    const definition = { name: "search", inputSchema: SCHEMA };
    const { outcomes } = await client.register(server, [definition]);
    strict_1.default.deepEqual(outcomes.map(({ name, action }) => [name, action]), [["search", "created"]]);
    strict_1.default.deepEqual((await client.get(server, "search")).json.parse(), definition);
    const names = [];
    for await (const tool of client.list(server)) {
        names.push(tool.name);
    }
    strict_1.default.deepEqual(names, ["search"]);
    const params = { name: "search", arguments: { q: "x" } };
    strict_1.default.equal((await client.validateCall({ server }, params)).valid, true);
    await strict_1.default.rejects(client.validateCall({ server }, { name: "other" }), (error) => error instanceof sidecheck_1.SidecheckError &&
        error.reason === "UNKNOWN_TOOL" &&
        error.jsonRpcError?.parse().code === -32602);
    const deletion = await client.delete(server, ["search", "other"]);
    strict_1.default.deepEqual([deletion.deleted, deletion.unknown], [["search"], ["other"]]);
});
(0, node_test_1.test)("a rejected tool rejects the registration, or is returned", { skip: servers_js_1.skip }, async (t) => {
    const client = (0, servers_js_1.connect)(t, "real");
    const tools = [{ name: "bad", inputSchema: { type: "no such type" } }];
    await strict_1.default.rejects(client.register("typescript-rejected", tools), (error) => error instanceof sidecheck_1.ToolsRejected && error.registration.outcomes.length === 1);
    const { outcomes } = await client.register("typescript-rejected", tools, { onRejected: "return" });
    strict_1.default.equal(outcomes[0]?.action, "rejected");
});
(0, node_test_1.test)("an abort rejects with the reason of the signal", { skip: servers_js_1.skip }, async (t) => {
    const client = (0, servers_js_1.connect)(t, "silent");
    const controller = new AbortController();
    const call = client.validate({ schema: true }, 1, { signal: controller.signal });
    const reason = new Error("changed my mind");
    setImmediate(() => controller.abort(reason));
    await strict_1.default.rejects(call, (error) => error === reason);
    await strict_1.default.rejects(client.info({ signal: controller.signal }), (error) => error === reason);
});
(0, node_test_1.test)("a pending call of a client that is closed rejects", { skip: servers_js_1.skip }, async (t) => {
    const client = (0, servers_js_1.connect)(t, "silent");
    const call = client.validate({ schema: true }, 1);
    setImmediate(() => client.close());
    await strict_1.default.rejects(call, { reason: "CLIENT_CLOSED", status: "CANCELLED" });
});
(0, node_test_1.test)("a server that answers garbage is told from one that is lost", { skip: servers_js_1.skip }, async (t) => {
    const client = (0, servers_js_1.connect)(t, "garbage", { onUnavailable: "allow" });
    await strict_1.default.rejects(client.validate({ schema: true }, 1), sidecheck_1.InvalidResponse);
});
(0, node_test_1.test)("a unix socket and TLS work", { skip: servers_js_1.skip }, async (t) => {
    const { version } = await (0, servers_js_1.connect)(t, "unix").info();
    strict_1.default.equal((await (0, servers_js_1.connect)(t, "real").info()).version, version);
});
