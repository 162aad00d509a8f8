/** What keeps the process alive: sockets with open calls and timers. Nothing of it may stay behind. */

import assert from "node:assert/strict";
import { getEventListeners, setMaxListeners } from "node:events";
import { test, type TestContext } from "node:test";
import { setTimeout as wait } from "node:timers/promises";

import type { Client } from "sidecheck";

import { connect, GENEROUS_MS, skip } from "./servers.js";

const TARGET = { schema: { type: "integer" } };
const PING = { jsonrpc: "2.0", id: 1, method: "ping" };
const TIMES = Array.from({ length: 20 }, (_, index) => index);

function resources(): string[] {
  return process.getActiveResourcesInfo().sort();
}

/** Runs `use` with a client, and checks that the process has the same resources after it. */
async function checkLeaks(
  t: TestContext,
  server: string,
  use: (client: Client, signal: AbortSignal, abort: () => void) => Promise<void>,
  options: { readonly coalesce?: boolean } = {},
): Promise<void> {
  const before = resources();
  const controller = new AbortController();
  setMaxListeners(0, controller.signal);
  const client = connect(t, server, options);
  await use(client, controller.signal, () => controller.abort());
  const listeners = (): number => getEventListeners(controller.signal, "abort").length;
  const deadline = Date.now() + GENEROUS_MS;
  // The status of a call that was cancelled may come after its connection has become idle.
  while ((resources().join() !== before.join() || listeners() > 0) && Date.now() < deadline) {
    await wait(5);
  }
  assert.deepEqual(resources(), before);
  assert.equal(listeners(), 0);
}

function* items(): Generator<{ id: string; arguments: number }> {
  for (;;) {
    yield { id: "", arguments: 1 };
  }
}

async function rejectAll(calls: Promise<unknown>[]): Promise<void> {
  for (const call of await Promise.allSettled(calls)) {
    assert.equal(call.status, "rejected");
  }
}

test("open calls are among the resources", { skip }, async (t) => {
  const before = resources();
  const client = connect(t, "real");
  const session = client.protocol.session();
  await session.check(PING);
  assert.notDeepEqual(resources(), before);
  await session.close();
});

test("a stream that was left leaves nothing", { skip }, async (t) => {
  await checkLeaks(t, "real", async (client, signal) => {
    for (const read of TIMES) {
      const outcomes = client.validateStream(items(), { target: TARGET, signal });
      for (let index = 0; index <= read; index++) {
        assert.equal((await outcomes.next()).done, false);
      }
      await outcomes.return();
    }
  });
});

test("a stream that was aborted leaves nothing", { skip }, async (t) => {
  for (const server of ["real", "silent"]) {
    await checkLeaks(t, server, async (client, signal, abort) => {
      const streams = TIMES.map(async () => {
        for await (const { outcome } of client.validateStream(items(), { signal })) {
          assert.ok(outcome);
        }
      });
      setImmediate(abort);
      await rejectAll(streams);
    });
  }
});

test("a session that was left leaves nothing", { skip }, async (t) => {
  for (const server of ["real", "silent"]) {
    await checkLeaks(t, server, async (client, signal) => {
      for (const index of TIMES) {
        const session = client.protocol.session({ signal });
        const checks = [session.check(PING), session.check(PING)];
        if (server === "real" && index % 2 === 0) {
          await checks[0];
        }
        const ended = Promise.allSettled(checks);
        await session.close();
        await ended;
      }
    });
  }
});

test("a session that was finished leaves nothing", { skip }, async (t) => {
  await checkLeaks(t, "real", async (client, signal) => {
    for (const _ of TIMES) {
      const session = client.protocol.session({ signal });
      await session.check(PING);
      await session.finish();
    }
  });
});

test("a watch that was left leaves nothing", { skip }, async (t) => {
  await checkLeaks(t, "real", async (client, signal) => {
    for (const _ of TIMES) {
      const events = client.watch({ signal });
      assert.equal((await events.next()).done, false);
      await events.return();
    }
  });
});

test("a watch that was aborted leaves nothing", { skip }, async (t) => {
  for (const server of ["real", "silent", "internal"]) {
    await checkLeaks(t, server, async (client, signal, abort) => {
      const watches = TIMES.map(async () => {
        for await (const event of client.watch({ signal })) {
          assert.ok(event);
        }
      });
      setImmediate(abort);
      await rejectAll(watches);
    });
  }
});

test("cancelled calls leave nothing", { skip }, async (t) => {
  for (const coalesce of [false, true]) {
    for (const server of ["real", "silent"]) {
      await checkLeaks(
        t,
        server,
        async (client, signal, abort) => {
          const calls = TIMES.map((payload) => client.validate(TARGET, payload, { signal }));
          if (server === "silent") {
            setImmediate(abort);
            await rejectAll(calls);
          } else {
            await calls[0];
            abort();
            await Promise.allSettled(calls);
          }
        },
        { coalesce },
      );
    }
  }
});

test("calls that exceed their deadline leave nothing", { skip }, async (t) => {
  await checkLeaks(t, "silent", async (client, signal) => {
    const options = { timeoutMs: 20, signal };
    await rejectAll(TIMES.map((payload) => client.validate(TARGET, payload, options)));
  });
});

test("a closed client leaves nothing", { skip }, async (t) => {
  for (const coalesce of [false, true]) {
    for (const server of ["real", "silent", "internal"]) {
      await checkLeaks(
        t,
        server,
        async (client, signal) => {
          const calls: Promise<unknown>[] = TIMES.map((payload) =>
            client.validate(TARGET, payload, { signal }),
          );
          const session = client.protocol.session({ signal });
          calls.push(session.check(PING), client.validateStream(items(), { signal }).next());
          calls.push(client.watch({ signal }).next());
          setImmediate(() => client.close());
          await Promise.allSettled(calls);
        },
        { coalesce },
      );
    }
  }
});
