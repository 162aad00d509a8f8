"use strict";
var __importDefault = (this && this.__importDefault) || function (mod) {
    return (mod && mod.__esModule) ? mod : { "default": mod };
};
Object.defineProperty(exports, "__esModule", { value: true });
const strict_1 = __importDefault(require("node:assert/strict"));
const node_test_1 = require("node:test");
const sidecheck_1 = require("sidecheck");
const servers_js_1 = require("./servers.js");
const TARGET = { schema: { type: "integer" } };
function* count(total, taken = []) {
    for (let index = 0; index < total; index++) {
        taken.push(String(index));
        yield { id: String(index), arguments: index };
    }
}
(0, node_test_1.test)("outcomes come in order, local errors in their place", { skip: servers_js_1.skip }, async (t) => {
    const client = (0, servers_js_1.connect)(t, "real");
    const items = [
        ...count(100),
        { id: "nan", arguments: Number.NaN },
        { id: "text", arguments: "x" },
    ];
    const outcomes = [];
    for await (const { id, outcome } of client.validateStream(items, { target: TARGET })) {
        outcomes.push(`${id} ${outcome instanceof Error ? outcome.reason : outcome.valid}`);
    }
    const expected = Array.from({ length: 100 }, (_, index) => `${index} true`);
    strict_1.default.deepEqual(outcomes, [...expected, "nan INVALID_REQUEST", "text false"]);
});
(0, node_test_1.test)("the source is not read ahead of the outcomes, and leaving ends it", { skip: servers_js_1.skip }, async (t) => {
    const client = (0, servers_js_1.connect)(t, "real");
    const taken = [];
    let closed = false;
    const source = (function* () {
        try {
            yield* count(10_000, taken);
        }
        finally {
            closed = true;
        }
    })();
    const options = { target: TARGET, outstanding: 4 };
    let read = 0;
    for await (const _ of client.validateStream(source, options)) {
        read += 1;
        strict_1.default.ok(taken.length <= read + 4, `${taken.length} taken, ${read} read`);
        if (read === 20) {
            break;
        }
    }
    await new Promise((resolve) => setImmediate(resolve));
    strict_1.default.equal(closed, true);
});
(0, node_test_1.test)("a server killed in mid-stream and back", { skip: servers_js_1.skip }, async (t) => {
    const { address, process } = await (0, servers_js_1.serve)(t);
    const client = new sidecheck_1.Client(address, { timeoutMs: servers_js_1.GENEROUS_MS });
    t.after(() => client.close());
    let tell = () => undefined;
    const killed = new Promise((resolve) => (tell = resolve));
    const source = (async function* () {
        yield* count(1);
        // Taken when the first outcome was read; its outcome never comes.
        await killed;
        yield { id: "last", arguments: 1 };
    })();
    const ids = [];
    await strict_1.default.rejects(async () => {
        for await (const { id } of client.validateStream(source, { target: TARGET })) {
            ids.push(id);
            await (0, servers_js_1.kill)(process);
            tell();
        }
    }, (error) => error instanceof sidecheck_1.StreamUnavailable && error instanceof sidecheck_1.Unavailable);
    strict_1.default.deepEqual(ids, ["0"]);
    await (0, servers_js_1.serve)(t, address);
    strict_1.default.equal((await client.validate(TARGET, 1)).valid, true);
});
(0, node_test_1.test)("what the source throws ends the stream", { skip: servers_js_1.skip }, async (t) => {
    const client = (0, servers_js_1.connect)(t, "real");
    const fault = new Error("no more items");
    const source = (function* () {
        yield* count(1);
        throw fault;
    })();
    await strict_1.default.rejects(async () => {
        for await (const _ of client.validateStream(source, { target: TARGET }))
            ;
    }, (error) => error === fault);
});
(0, node_test_1.test)("aborting a stream rejects with the reason", { skip: servers_js_1.skip }, async (t) => {
    const client = (0, servers_js_1.connect)(t, "real");
    const controller = new AbortController();
    const reason = new Error("changed my mind");
    const source = (async function* () {
        yield* count(1);
        await new Promise(() => undefined);
    })();
    const options = { target: TARGET, signal: controller.signal };
    await strict_1.default.rejects(async () => {
        for await (const _ of client.validateStream(source, options)) {
            controller.abort(reason);
        }
    }, (error) => error === reason);
});
