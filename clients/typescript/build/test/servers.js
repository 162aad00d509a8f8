"use strict";
/** Servers of the tests: those that `python -m conformance` started, and ones of a test's own. */
Object.defineProperty(exports, "__esModule", { value: true });
exports.GENEROUS_MS = exports.skip = exports.environment = void 0;
exports.requireEnvironment = requireEnvironment;
exports.connect = connect;
exports.serve = serve;
exports.kill = kill;
const node_child_process_1 = require("node:child_process");
const node_events_1 = require("node:events");
const node_fs_1 = require("node:fs");
const node_readline_1 = require("node:readline");
const sidecheck_1 = require("sidecheck");
const path = process.env["SIDECHECK_CONFORMANCE"];
/** The environment; undefined outside of `python -m conformance`. */
exports.environment = path === undefined ? undefined : JSON.parse((0, node_fs_1.readFileSync)(path, "utf8"));
/** Why tests that need servers are skipped, false if they are not. */
exports.skip = exports.environment !== undefined || process.env["SIDECHECK_REQUIRE_ALL"] === "1"
    ? false
    : "SIDECHECK_CONFORMANCE is not set; see tests/conformance";
/** Deadline for whatever is expected to succeed on a busy machine. */
exports.GENEROUS_MS = 60_000;
/** Returns the environment; fails the test without one. */
function requireEnvironment() {
    if (exports.environment === undefined) {
        throw new Error("SIDECHECK_CONFORMANCE is not set; see tests/conformance");
    }
    return exports.environment;
}
/** Returns a client of the server called `name`, closed at the end of the test. */
function connect(t, name, options = {}) {
    const address = requireEnvironment().servers[name];
    if (address === undefined) {
        throw new Error(`there is no server called ${name}`);
    }
    const client = new sidecheck_1.Client(address, { timeoutMs: exports.GENEROUS_MS, ...options });
    t.after(() => client.close());
    return client;
}
/** Starts a server, and returns it when it is ready. It is killed at the end of the test. */
async function serve(t, listen = "127.0.0.1:0") {
    const [command = "", ...args] = requireEnvironment().serve;
    const child = (0, node_child_process_1.spawn)(command, [...args, "--listen", listen, "--log-format", "json"], {
        stdio: ["ignore", "ignore", "pipe"],
    });
    t.after(() => kill(child));
    for await (const line of (0, node_readline_1.createInterface)({ input: child.stderr })) {
        const address = readyAddress(line);
        if (address !== undefined) {
            // The pipe must not fill up.
            child.stderr.resume();
            return { address, process: child };
        }
    }
    throw new Error("the server ended before it was ready");
}
/** Kills a server and waits for its end. */
async function kill(child) {
    if (child.exitCode === null && child.signalCode === null) {
        child.kill("SIGKILL");
        await (0, node_events_1.once)(child, "exit");
    }
}
function readyAddress(line) {
    if (!line.includes("server.ready")) {
        return undefined;
    }
    const record = JSON.parse(line);
    return record.addresses.find((address) => !address.startsWith("unix:"));
}
