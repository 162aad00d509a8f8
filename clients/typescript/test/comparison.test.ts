/** Comparisons, and registrations that they decide. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { Client } from "sidecheck";

import { connect, skip } from "./servers.js";

function limited(maximum: number): object {
  const n = { type: "integer", maximum };
  return { name: "f", inputSchema: { type: "object", properties: { n } } };
}

test("a comparison has the payload that breaks callers", { skip }, async (t) => {
  const client = connect(t, "real");
  const server = "typescript-comparison";
  await client.deleteAll(server);
  const { registryRevision } = await client.register(server, limited(9));
  client.minRevision = registryRevision;
  const comparison = await client.compare({ server, names: ["f"] }, [limited(5)], {
    reading: "as-written",
  });
  assert.equal(comparison.level, "breaking");
  assert.equal(comparison.registryRevision, registryRevision);
  const [tool] = comparison.tools;
  assert.ok(tool);
  assert.equal(tool.status, "changed");
  assert.equal(tool.name, "f");
  assert.equal(tool.oldName, "");
  assert.match(tool.oldDefinitionDigest, /^sha256:/);
  assert.match(tool.newDefinitionDigest, /^sha256:/);
  const [schema] = tool.schemas;
  assert.equal(schema?.part, "input-schema");
  for (const verdict of [schema?.assumeClosed, schema?.asWritten]) {
    assert.equal(verdict?.relation, "narrowed");
    assert.equal(verdict.level, "breaking");
    const payload = verdict.witness?.payload.parse<{ n: number }>();
    assert.ok(payload && payload.n > 5 && payload.n <= 9);
    assert.equal(verdict.witness?.instanceLocation, "/n");
  }
  const [change] = tool.changes;
  assert.equal(change?.code, "MAXIMUM_LOWERED");
  assert.equal(change.oldLocation, "/inputSchema/properties/n/maximum");
  assert.deepEqual([change.oldValue, change.newValue], ["9", "5"]);
  assert.equal(change.assumeClosed.level, "breaking");
});

test("both sets may be definitions, or what the registry returned", { skip }, async (t) => {
  const client = connect(t, "real");
  const server = "typescript-comparison-sets";
  await client.register(server, limited(5));
  const registered = await client.get(server, "f");
  assert.equal((await client.compare(registered, { tools: [limited(9)] })).level, "compatible");
  const { tools } = await client.compare([], { server });
  assert.deepEqual(
    tools.map(({ status, schemas }) => [status, schemas]),
    [["added", []]],
  );
  await assert.rejects(client.compare({ server: "typescript-comparison-none" }, []), {
    name: "SidecheckError",
  });
});

test("a set that is none is rejected before it is sent", async (t) => {
  const client = new Client("127.0.0.1:1");
  t.after(() => client.close());
  const page = { tools: [limited(5)], nextCursor: "2" };
  await assert.rejects(client.compare({ server: "" }, []), /before\.server must not be empty/);
  await assert.rejects(client.compare([], page), /one page of several/);
  await assert.rejects(client.compare([], [null as unknown as object]), /after\[0\] must be/);
  const reading = "closed" as "as-written";
  await assert.rejects(client.compare([], [], { reading }), /invalid reading "closed"/);
});

test("a change that breaks callers is kept out, with its comparison", { skip }, async (t) => {
  const client = connect(t, "real");
  const server = "typescript-compatibility";
  await client.deleteAll(server);
  await client.register(server, limited(9));
  const compatibility = "reject-breaking";
  const onRejected = "return";
  const rejected = await client.register(server, limited(5), { compatibility, onRejected });
  const [outcome] = rejected.outcomes;
  assert.equal(outcome?.action, "rejected");
  assert.equal(outcome.comparison?.status, "changed");
  assert.equal(outcome.comparison.assumeClosed, "breaking");
  const replaced = await client.register(server, [], { compatibility, replace: true });
  assert.deepEqual([replaced.kept, replaced.removed], [["f"], []]);
  const [same] = (await client.register(server, limited(9), { compatibility })).outcomes;
  assert.equal(same?.comparison, undefined);
});
