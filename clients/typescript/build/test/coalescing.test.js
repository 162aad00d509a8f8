"use strict";
var __importDefault = (this && this.__importDefault) || function (mod) {
    return (mod && mod.__esModule) ? mod : { "default": mod };
};
Object.defineProperty(exports, "__esModule", { value: true });
const strict_1 = __importDefault(require("node:assert/strict"));
const node_test_1 = require("node:test");
const servers_js_1 = require("./servers.js");
const TARGET = { schema: { type: "integer" } };
(0, node_test_1.test)("coalesced calls have their own verdicts", { skip: servers_js_1.skip }, async (t) => {
    const client = (0, servers_js_1.connect)(t, "real", { coalesce: true });
    const payloads = Array.from({ length: 600 }, (_, index) => (index % 3 === 0 ? "x" : index));
    const verdicts = await Promise.all(payloads.map((payload) => client.validate(TARGET, payload)));
    strict_1.default.deepEqual(verdicts.map(({ valid }) => valid), payloads.map((payload) => typeof payload === "number"));
});
(0, node_test_1.test)("one coalesced call is aborted, the others are not", { skip: servers_js_1.skip }, async (t) => {
    const client = (0, servers_js_1.connect)(t, "real", { coalesce: true });
    const controller = new AbortController();
    const reason = new Error("changed my mind");
    const others = [client.validate(TARGET, 1), client.validate(TARGET, "x")];
    const aborted = client.validate(TARGET, 2, { signal: controller.signal });
    controller.abort(reason);
    await strict_1.default.rejects(aborted, (error) => error === reason);
    strict_1.default.deepEqual((await Promise.all(others)).map(({ valid }) => valid), [true, false]);
});
(0, node_test_1.test)("closing fails coalesced calls", { skip: servers_js_1.skip }, async (t) => {
    const client = (0, servers_js_1.connect)(t, "silent", { coalesce: true });
    const calls = [1, 2, 3].map((payload) => client.validate(TARGET, payload));
    client.close();
    for (const call of await Promise.allSettled(calls)) {
        strict_1.default.equal(call.status === "rejected" && call.reason.reason, "CLIENT_CLOSED");
    }
});
