import assert from "node:assert/strict";
import { test } from "node:test";

import { Client, type StreamItem, StreamUnavailable, Unavailable } from "sidecheck";

import { connect, GENEROUS_MS, kill, serve, skip } from "./servers.js";

const TARGET = { schema: { type: "integer" } };

function* count(total: number, taken: string[] = []): Generator<StreamItem> {
  for (let index = 0; index < total; index++) {
    taken.push(String(index));
    yield { id: String(index), arguments: index };
  }
}

test("outcomes come in order, local errors in their place", { skip }, async (t) => {
  const client = connect(t, "real");
  const items: StreamItem[] = [
    ...count(100),
    { id: "nan", arguments: Number.NaN },
    { id: "text", arguments: "x" },
  ];
  const outcomes: string[] = [];
  for await (const { id, outcome } of client.validateStream(items, { target: TARGET })) {
    outcomes.push(`${id} ${outcome instanceof Error ? outcome.reason : outcome.valid}`);
  }
  const expected = Array.from({ length: 100 }, (_, index) => `${index} true`);
  assert.deepEqual(outcomes, [...expected, "nan INVALID_REQUEST", "text false"]);
});

test("the source is not read ahead of the outcomes, and leaving ends it", { skip }, async (t) => {
  const client = connect(t, "real");
  const taken: string[] = [];
  let closed = false;
  const source = (function* () {
    try {
      yield* count(10_000, taken);
    } finally {
      closed = true;
    }
  })();
  const options = { target: TARGET, outstanding: 4 };
  let read = 0;
  for await (const _ of client.validateStream(source, options)) {
    read += 1;
    assert.ok(taken.length <= read + 4, `${taken.length} taken, ${read} read`);
    if (read === 20) {
      break;
    }
  }
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(closed, true);
});

test("a server killed in mid-stream and back", { skip }, async (t) => {
  const { address, process } = await serve(t);
  const client = new Client(address, { timeoutMs: GENEROUS_MS });
  t.after(() => client.close());
  let tell: () => void = () => undefined;
  const killed = new Promise<void>((resolve) => (tell = resolve));
  const source = (async function* () {
    yield* count(1);
    // Taken when the first outcome was read; its outcome never comes.
    await killed;
    yield { id: "last", arguments: 1 };
  })();
  const ids: string[] = [];
  await assert.rejects(
    async () => {
      for await (const { id } of client.validateStream(source, { target: TARGET })) {
        ids.push(id);
        await kill(process);
        tell();
      }
    },
    (error) => error instanceof StreamUnavailable && error instanceof Unavailable,
  );
  assert.deepEqual(ids, ["0"]);
  await serve(t, address);
  assert.equal((await client.validate(TARGET, 1)).valid, true);
});

test("what the source throws ends the stream", { skip }, async (t) => {
  const client = connect(t, "real");
  const fault = new Error("no more items");
  const source = (function* (): Generator<StreamItem> {
    yield* count(1);
    throw fault;
  })();
  await assert.rejects(
    async () => {
      for await (const _ of client.validateStream(source, { target: TARGET }));
    },
    (error) => error === fault,
  );
});

test("aborting a stream rejects with the reason", { skip }, async (t) => {
  const client = connect(t, "real");
  const controller = new AbortController();
  const reason = new Error("changed my mind");
  const source = (async function* (): AsyncGenerator<StreamItem> {
    yield* count(1);
    await new Promise(() => undefined);
  })();
  const options = { target: TARGET, signal: controller.signal };
  await assert.rejects(
    async () => {
      for await (const _ of client.validateStream(source, options)) {
        controller.abort(reason);
      }
    },
    (error) => error === reason,
  );
});
