/** Watches of registered tools: their events, and what becomes of them when a server is lost. */

import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { setTimeout as wait } from "node:timers/promises";

import { Metadata, Server, type ServerWritableStream, status } from "@grpc/grpc-js";
import {
  type Checkpoint,
  Client,
  type ClientOptions,
  type StatusName,
  type Tool,
  type ToolsChange,
  type WatchEvent,
  type WatchOptions,
} from "sidecheck";
import { RetryInfo } from "sidecheck/google/rpc/error_details.js";
import { Status } from "sidecheck/google/rpc/status.js";
import {
  RegistryServiceService,
  WatchToolsRequest,
  WatchToolsResponse,
} from "sidecheck/v1/registry_service.js";

import { connect, listen, skip } from "./servers.js";

/** A response, or the status that ends a stream. */
type Step = WatchToolsResponse | StatusName;

/** A server whose streams respond with their steps, one stream after the other. */
interface Script {
  readonly client: Client;
  readonly requests: WatchToolsRequest[];
  readonly tokens: string[];
}

/** A way to end a watch. */
type End = (client: Client, controller: AbortController) => void;

type WatchCall = ServerWritableStream<WatchToolsRequest, WatchToolsResponse>;

const TOOL = { name: "a", inputSchema: { type: "object" } };

function checkpoint(revision: number): WatchToolsResponse {
  return WatchToolsResponse.fromPartial({
    event: { $case: "checkpoint", value: { revision: BigInt(revision), id: `id ${revision}` } },
  });
}

/** Returns the response for a change that registered a tool, and deleted one in its last part. */
function change(revision: number, name: string, continued = false): WatchToolsResponse {
  const value = {
    revision: BigInt(revision),
    id: `id ${revision}`,
    server: "s",
    registered: [{ server: "s", name, json: Buffer.from("{}") }],
    deleted: continued ? [] : ["gone"],
    continued,
  };
  return WatchToolsResponse.fromPartial({ event: { $case: "change", value } });
}

/** Serves streams with their steps, and returns a client of the server. */
async function play(
  t: TestContext,
  streams: readonly (readonly Step[])[],
  trailers = new Metadata(),
  options: ClientOptions = {},
): Promise<Script> {
  const requests: WatchToolsRequest[] = [];
  const tokens: string[] = [];
  const respond = async (call: WatchCall): Promise<void> => {
    const steps = streams[requests.length] ?? [];
    requests.push(call.request);
    tokens.push(call.metadata.get("authorization").join());
    for (const step of steps) {
      if (typeof step === "string") {
        call.emit("error", { code: status[step], details: "scripted", metadata: trailers });
        return;
      }
      // Written before the next step: a status overtakes responses that wait.
      await new Promise((resolve) => call.write(step, resolve));
    }
    call.end();
  };
  const server = new Server();
  const { watchTools } = RegistryServiceService;
  server.addService({ watchTools }, { watchTools: (call: WatchCall) => void respond(call) });
  const client = new Client(await listen(t, server), options);
  t.after(() => client.close());
  return { client, requests, tokens };
}

/** Returns the first events of a watch. */
async function watch(
  client: Client,
  count: number,
  options: WatchOptions = {},
): Promise<WatchEvent[]> {
  const events: WatchEvent[] = [];
  for await (const event of client.watch(options)) {
    events.push(event);
    if (events.length === count) {
      break;
    }
  }
  return events;
}

function isChange(event: WatchEvent): event is ToolsChange {
  return "server" in event;
}

function describe(event: WatchEvent): unknown {
  if (!isChange(event)) {
    return event;
  }
  return { ...event, registered: event.registered.map(({ name }) => name) };
}

function position(revision: number): Checkpoint {
  return { revision, id: `id ${revision}` };
}

test("a lost watch goes on where it was", async (t) => {
  const streams: Step[][] = [
    // A change of which a part was received is received again as a whole.
    [checkpoint(3), change(4, "a"), change(5, "b", true), "UNAVAILABLE"],
    ["INTERNAL"],
    [change(5, "b", true), change(5, "c"), change(6, "d")],
    [checkpoint(6)],
  ];
  let calls = 0;
  const token = (): string => `sct_${(calls += 1)}`;
  const script = await play(t, streams, new Metadata(), { token, timeoutMs: 1 });
  const changed = { server: "s", deleted: ["gone"] };
  assert.deepEqual((await watch(script.client, 5, { servers: ["s"] })).map(describe), [
    position(3),
    { ...position(4), ...changed, registered: ["a"], checkpoint: position(4) },
    { ...position(5), ...changed, registered: ["b", "c"], checkpoint: position(5) },
    { ...position(6), ...changed, registered: ["d"], checkpoint: position(6) },
    position(6),
  ]);
  assert.deepEqual(
    script.requests,
    [
      {},
      { afterRevision: 4n, afterId: "id 4" },
      { afterRevision: 4n, afterId: "id 4" },
      { afterRevision: 6n, afterId: "id 6" },
    ].map((after) => WatchToolsRequest.fromPartial({ servers: ["s"], ...after })),
  );
  assert.deepEqual(script.tokens, ["Bearer sct_1", "Bearer sct_2", "Bearer sct_3", "Bearer sct_4"]);
});

test("errors that would come again end it", async (t) => {
  const faults: [Step, string][] = [
    ["OUT_OF_RANGE", "SidecheckError"],
    ["PERMISSION_DENIED", "Unavailable"],
    ["UNAUTHENTICATED", "Unavailable"],
    ["UNIMPLEMENTED", "Unavailable"],
    [WatchToolsResponse.create(), "InvalidResponse"],
  ];
  for (const [step, name] of faults) {
    const { client, requests } = await play(t, [[checkpoint(3), step]]);
    await assert.rejects(watch(client, 2), { name });
    assert.equal(requests.length, 1);
  }
});

test("a server that is not found again is an error", async (t) => {
  const client = new Client("127.0.0.1:1", { onUnavailable: "allow" });
  t.after(() => client.close());
  await assert.rejects(watch(client, 1, { patienceMs: 200 }), { reason: "UNAVAILABLE" });
  const { client: ending } = await play(t, []);
  await assert.rejects(watch(ending, 1, { patienceMs: 200 }), {
    name: "Unavailable",
    message: "the server ended the stream",
  });
});

test("invalid options are rejected", async (t) => {
  const client = new Client("127.0.0.1:1");
  t.after(() => client.close());
  const faults: [unknown, RegExp][] = [
    [{ patienceMs: 0 }, /patienceMs must be positive, not 0/],
    [{ patienceMs: Number.NaN }, /patienceMs must be positive, not NaN/],
    [{ servers: "s" }, /servers must be an array of strings/],
    [{ after: { revision: -1, id: "" } }, /after.revision must be a whole number from 0, not -1/],
    [{ after: { revision: 1 } }, /after.id must be a string, not undefined/],
  ];
  for (const [options, message] of faults) {
    await assert.rejects(watch(client, 1, options as WatchOptions), { name: "TypeError", message });
  }
});

/** Trailers of a server that asks to be left alone for an hour. */
function retryInAnHour(): Metadata {
  const retry = {
    typeUrl: "type.googleapis.com/google.rpc.RetryInfo",
    value: Buffer.from(RetryInfo.encode({ retryDelay: { seconds: 3600n, nanos: 0 } }).finish()),
  };
  const details = Status.encode({ code: status.UNAVAILABLE, message: "", details: [retry] });
  const trailers = new Metadata();
  trailers.set("grpc-status-details-bin", Buffer.from(details.finish()));
  return trailers;
}

test("a delay beyond the patience is not waited for in vain", async (t) => {
  const { client } = await play(t, [["UNAVAILABLE"]], retryInAnHour());
  await assert.rejects(watch(client, 1), { reason: "UNAVAILABLE", retryAfterMs: 3_600_000 });
});

test("a watch that waits to connect again ends at once", async (t) => {
  const reason = new Error("changed my mind");
  const ends: [End, object][] = [
    [(_, controller) => controller.abort(reason), reason],
    [(client) => client.close(), { name: "SidecheckError", reason: "CLIENT_CLOSED" }],
  ];
  for (const [end, error] of ends) {
    const { client, requests } = await play(t, [["UNAVAILABLE"]], retryInAnHour());
    const controller = new AbortController();
    const options = { signal: controller.signal, patienceMs: Infinity };
    setTimeout(() => end(client, controller), 500);
    await assert.rejects(watch(client, 1, options), error);
    assert.equal(requests.length, 1);
  }
});

test("what was received is not told after the end", async (t) => {
  const ends: End[] = [(client) => client.close(), (_, controller) => controller.abort()];
  for (const end of ends) {
    const { client } = await play(t, [[checkpoint(1), checkpoint(2), checkpoint(3)]]);
    const controller = new AbortController();
    const seen: WatchEvent[] = [];
    await assert.rejects(async () => {
      for await (const event of client.watch({ signal: controller.signal })) {
        seen.push(event);
        await wait(100); // for the others
        end(client, controller);
      }
    });
    assert.deepEqual(seen, [position(1)]);
  }
});

test(
  "a registry is mirrored by a checkpoint, a list, and the changes since",
  { skip },
  async (t) => {
    const client = connect(t, "real");
    const server = "typescript-watch";
    const changes: ToolsChange[] = [];
    const mirror = new Map<string, Tool>();
    let last = Infinity;
    for await (const event of client.watch({ servers: [server] })) {
      if (isChange(event)) {
        changes.push(event);
        event.registered.forEach((tool) => mirror.set(tool.name, tool));
        event.deleted.forEach((name) => mirror.delete(name));
      } else if (last === Infinity) {
        await client.register(server, [TOOL, { ...TOOL, name: "b" }]);
        await client.register("typescript-watch-other", TOOL);
        for await (const tool of client.list(server)) {
          mirror.set(tool.name, tool);
        }
        await client.delete(server, ["b"]);
        const changed = { ...TOOL, description: "Changed." };
        last = (await client.register(server, changed)).registryRevision;
      } else if (event.revision >= last) {
        break;
      }
    }
    assert.deepEqual([...mirror.values()], [await client.get(server, "a")]);
    assert.deepEqual(
      changes.map(({ server, registered, deleted }) => [
        server,
        registered.map((tool) => tool.name),
        deleted,
      ]),
      [
        [server, ["a", "b"], []],
        [server, [], ["b"]],
        [server, ["a"], []],
      ],
    );
    // Another watch continues this one.
    const [first, second, third] = changes;
    assert.deepEqual(await watch(client, 2, { servers: [server], after: first?.checkpoint }), [
      second,
      third,
    ]);
  },
);

test("changes that are not kept", { skip }, async (t) => {
  const client = connect(t, "real");
  const after = { revision: 0, id: "of another registry" };
  await assert.rejects(watch(client, 1, { after }), {
    name: "SidecheckError",
    reason: "COMPACTED",
    status: "OUT_OF_RANGE",
  });
});
