"use strict";
/** The shared cases of all clients; see tests/conformance. */
var __importDefault = (this && this.__importDefault) || function (mod) {
    return (mod && mod.__esModule) ? mod : { "default": mod };
};
Object.defineProperty(exports, "__esModule", { value: true });
const strict_1 = __importDefault(require("node:assert/strict"));
const node_fs_1 = require("node:fs");
const node_util_1 = require("node:util");
const node_test_1 = require("node:test");
const sidecheck_1 = require("sidecheck");
const conformance_calls_js_1 = require("./conformance-calls.js");
const servers_js_1 = require("./servers.js");
/** Failures that the message of the test describes. */
const SHOWN = 10;
(0, node_test_1.test)("the shared cases", { skip: servers_js_1.skip }, async () => {
    const environment = (0, servers_js_1.requireEnvironment)();
    const cases = (0, node_fs_1.readFileSync)(environment.cases, "utf8")
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => JSON.parse(line));
    const results = [];
    for (const group of groupByClient(cases)) {
        const client = connect(environment, group[0]);
        if (group[0]?.concurrent) {
            results.push(...(await Promise.all(group.map((shared) => run(client, shared)))));
        }
        else {
            for (const shared of group) {
                results.push(await run(client, shared));
            }
        }
        client.close();
    }
    (0, node_fs_1.writeFileSync)(environment.results, results.map((result) => `${JSON.stringify(result)}\n`).join(""));
    const failures = results.filter(({ passed, skipped }) => !passed && skipped === undefined);
    const described = failures.slice(0, SHOWN).map(({ id, actual }) => {
        const want = cases.find((shared) => shared.id === id)?.want;
        return `${id}\n  want   ${JSON.stringify(want)}\n  actual ${JSON.stringify(actual)}`;
    });
    strict_1.default.equal(failures.length, 0, `${failures.length} cases failed:\n${described.join("\n")}`);
    strict_1.default.notEqual(results.length, 0);
});
/** Returns runs of neighbouring cases with the same server and options of the client. */
function groupByClient(cases) {
    const groups = [];
    let last = "";
    for (const shared of cases) {
        const key = JSON.stringify([shared.server, shared.client, shared.concurrent]);
        if (key !== last) {
            groups.push([]);
            last = key;
        }
        groups.at(-1)?.push(shared);
    }
    return groups;
}
function connect({ servers, tls }, { server, client }) {
    const [ca, certificate, key] = [tls.ca, tls.certificate, tls.key].map((path) => (0, node_fs_1.readFileSync)(path));
    return new sidecheck_1.Client(servers[server] ?? "", {
        timeoutMs: client.timeout * 1000,
        onUnavailable: client.on_unavailable,
        protocolVersion: client.protocol_version,
        coalesce: client.coalesce,
        ...(client.tls && { tls: { ca, certificate, key } }),
    });
}
async function run(client, shared) {
    const { id, call, want } = shared;
    const request = shared.on_rejected === undefined
        ? shared.request
        : { ...shared.request, on_rejected: shared.on_rejected };
    const method = call === "ValidateStream" ? runStream : conformance_calls_js_1.CALLS[call];
    if (method === undefined) {
        return { id, skipped: `the client has no method for ${call}` };
    }
    let actual;
    try {
        actual = render(await method(client, request));
    }
    catch (error) {
        actual = render(error);
    }
    const passed = isExpected(want, actual);
    return passed ? { id, passed } : { id, passed, actual };
}
async function runStream(client, { defaults, items }) {
    const responses = [];
    const outcomes = client.validateStream(items.map(({ id, item }) => ({ ...(0, conformance_calls_js_1.itemOf)(item), id })), { ...(0, conformance_calls_js_1.camel)(defaults?.options), target: (0, conformance_calls_js_1.optionalTarget)(defaults?.target) });
    try {
        for await (const { id, outcome } of outcomes) {
            responses.push({ id, outcome: renderOutcome(outcome) });
        }
    }
    catch (error) {
        return { responses, ...render(error) };
    }
    return { responses };
}
/** Fields that responses have and cases leave out. */
const LEFT_OUT = new Set(["registryRevision", "revision"]);
/** Messages that may be absent; other absent fields are texts. */
const MESSAGES = new Set(["repair"]);
function render(value, name = "") {
    if (value === undefined) {
        return MESSAGES.has(name) ? null : "";
    }
    if (value instanceof sidecheck_1.JsonText) {
        return value.toString();
    }
    if (value instanceof Error) {
        return { error: renderError(value) };
    }
    if (Array.isArray(value)) {
        return value.map((element) => (name === "outcomes" ? renderOutcome(element) : render(element)));
    }
    if (typeof value !== "object" || value === null) {
        return value;
    }
    if (name === "" && "outcome" in value && "server" in value) {
        const { outcome, ...conversion } = value;
        const field = outcome instanceof Error ? render(outcome) : { converted: render(outcome) };
        return { ...conversion, ...field };
    }
    return Object.fromEntries(Object.entries(value)
        .filter(([field]) => !LEFT_OUT.has(field))
        .map(([field, element]) => [snake(field), render(element, field)]));
}
/** Returns one of `outcomes`: of a batch it is a oneof, of other responses a message. */
function renderOutcome(outcome) {
    if (outcome instanceof Error) {
        return render(outcome);
    }
    if ("valid" in outcome) {
        return { verdict: render(outcome) };
    }
    return "errorResponse" in outcome ? { result: render(outcome) } : render(outcome);
}
function renderError(error) {
    if (!(error instanceof sidecheck_1.SidecheckError)) {
        return { kind: error.name, message: error.message };
    }
    const kinds = [
        [sidecheck_1.StreamUnavailable, "stream_unavailable"],
        [sidecheck_1.StreamClosed, "stream_closed"],
        [sidecheck_1.ToolsRejected, "tools_rejected"],
        [sidecheck_1.InvalidResponse, "invalid_response"],
        [sidecheck_1.Unavailable, "unavailable"],
    ];
    return {
        kind: kinds.find(([kind]) => error instanceof kind)?.[1] ?? "error",
        reason: error.reason,
        status: error.status,
        message: error.message,
        metadata: error.metadata,
        retry_after: error.retryAfterMs === undefined ? null : error.retryAfterMs / 1000,
        ...(error instanceof sidecheck_1.StreamClosed && { unanswered: error.unanswered }),
    };
}
function snake(name) {
    return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
/** Whether a result is as wanted; of an error only what is wanted counts. */
function isExpected(want, actual) {
    if (Array.isArray(want) && Array.isArray(actual)) {
        return want.length === actual.length && want.every((e, index) => isExpected(e, actual[index]));
    }
    if (isObject(want) && isObject(actual)) {
        return ((0, node_util_1.isDeepStrictEqual)(Object.keys(want).sort(), Object.keys(actual).sort()) &&
            Object.entries(want).every(([name, value]) => name === "error" && isObject(value) && isObject(actual[name])
                ? Object.entries(value).every(([key, e]) => (0, node_util_1.isDeepStrictEqual)(e, actual[name][key]))
                : isExpected(value, actual[name])));
    }
    return (0, node_util_1.isDeepStrictEqual)(want, actual);
}
function isObject(value) {
    return typeof value === "object" && value !== null && !Array.isArray(value);
}
