import assert from "node:assert/strict";
import { test } from "node:test";

import type { SidecheckError } from "sidecheck";

import { connect, skip } from "./servers.js";

const TARGET = { schema: { type: "integer" } };

test("coalesced calls have their own verdicts", { skip }, async (t) => {
  const client = connect(t, "real", { coalesce: true });
  const payloads = Array.from({ length: 600 }, (_, index) => (index % 3 === 0 ? "x" : index));
  const verdicts = await Promise.all(payloads.map((payload) => client.validate(TARGET, payload)));
  assert.deepEqual(
    verdicts.map(({ valid }) => valid),
    payloads.map((payload) => typeof payload === "number"),
  );
});

test("one coalesced call is aborted, the others are not", { skip }, async (t) => {
  const client = connect(t, "real", { coalesce: true });
  const controller = new AbortController();
  const reason = new Error("changed my mind");
  const others = [client.validate(TARGET, 1), client.validate(TARGET, "x")];
  const aborted = client.validate(TARGET, 2, { signal: controller.signal });
  controller.abort(reason);
  await assert.rejects(aborted, (error) => error === reason);
  assert.deepEqual(
    (await Promise.all(others)).map(({ valid }) => valid),
    [true, false],
  );
});

test("coalesced calls wait for the least revision, too", { skip }, async (t) => {
  const client = connect(t, "real", { coalesce: true });
  client.minRevision = Number.MAX_SAFE_INTEGER;
  const calls = [1, 2, 3].map((payload) => client.validate(TARGET, payload));
  for (const call of await Promise.allSettled(calls)) {
    assert.equal(
      call.status === "rejected" && (call.reason as SidecheckError).reason,
      "REVISION_NOT_REACHED",
    );
  }
});

test("closing fails coalesced calls", { skip }, async (t) => {
  const client = connect(t, "silent", { coalesce: true });
  const calls = [1, 2, 3].map((payload) => client.validate(TARGET, payload));
  client.close();
  for (const call of await Promise.allSettled(calls)) {
    assert.equal(
      call.status === "rejected" && (call.reason as SidecheckError).reason,
      "CLIENT_CLOSED",
    );
  }
});
