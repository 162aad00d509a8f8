/** The shared cases of all clients; see tests/conformance. */

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import { test } from "node:test";

import {
  Client,
  InvalidPayload,
  InvalidResponse,
  JsonText,
  SidecheckError,
  StreamClosed,
  StreamUnavailable,
  ToolsRejected,
  Unavailable,
} from "sidecheck";

import { CALLS, camel, itemOf, type Json, optionalTarget } from "./conformance-calls.js";
import { type Environment, requireEnvironment, skip } from "./servers.js";

interface Case {
  readonly id: string;
  readonly server: string;
  readonly client: {
    readonly timeout: number;
    readonly on_unavailable: "error" | "allow" | "deny";
    readonly protocol_version: string;
    readonly coalesce: boolean;
    readonly tls: boolean;
    readonly tls_fault: "" | "authority" | "name";
  };
  readonly concurrent: boolean;
  readonly on_rejected?: string;
  readonly call: string;
  readonly request: Json;
  readonly want: Json;
}

interface Result {
  readonly id: string;
  readonly passed?: boolean;
  readonly skipped?: string;
  readonly actual?: Json;
}

/** What a user of this client does, for the placeholders of the cases. */
const REMEDIES: Readonly<Record<string, string>> = {
  "{set TLS}": "set tls",
  "{leave out TLS}": "leave out tls",
  "{set the authorities}": "set tls.ca",
  "{set the name}": "set tls.serverName",
};

function nameRemedies(line: string): string {
  return Object.entries(REMEDIES).reduce(
    (text, [placeholder, remedy]) => text.replaceAll(placeholder, remedy),
    line,
  );
}

/** Failures that the message of the test describes. */
const SHOWN = 10;

test("the shared cases", { skip }, async () => {
  const environment = requireEnvironment();
  const cases = readFileSync(environment.cases, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(nameRemedies(line)) as Case);
  const results: Result[] = [];
  for (const group of groupByClient(cases)) {
    const client = connect(environment, group[0] as Case);
    if (group[0]?.concurrent) {
      results.push(...(await Promise.all(group.map((shared) => run(client, shared)))));
    } else {
      for (const shared of group) {
        results.push(await run(client, shared));
      }
    }
    client.close();
  }
  writeFileSync(
    environment.results,
    results.map((result) => `${JSON.stringify(result)}\n`).join(""),
  );
  const failures = results.filter(({ passed, skipped }) => !passed && skipped === undefined);
  const described = failures.slice(0, SHOWN).map(({ id, actual }) => {
    const want = cases.find((shared) => shared.id === id)?.want;
    return `${id}\n  want   ${JSON.stringify(want)}\n  actual ${JSON.stringify(actual)}`;
  });
  assert.equal(failures.length, 0, `${failures.length} cases failed:\n${described.join("\n")}`);
  assert.notEqual(results.length, 0);
});

/** Returns runs of neighbouring cases with the same server and options of the client. */
function groupByClient(cases: readonly Case[]): Case[][] {
  const groups: Case[][] = [];
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

function connect({ servers, tls }: Environment, { server, client }: Case): Client {
  const fault = client.tls_fault;
  const ca = readFileSync(fault === "authority" ? tls.other_ca : tls.ca);
  const [certificate, key] = [tls.certificate, tls.key].map((path) => readFileSync(path));
  const name = fault === "name" ? { serverName: "elsewhere.example" } : {};
  return new Client(servers[server] ?? "", {
    timeoutMs: client.timeout * 1000,
    onUnavailable: client.on_unavailable,
    protocolVersion: client.protocol_version,
    coalesce: client.coalesce,
    ...(client.tls && { tls: { ca, certificate, key, ...name } }),
  });
}

async function run(client: Client, shared: Case): Promise<Result> {
  const { id, call, want } = shared;
  const request =
    shared.on_rejected === undefined
      ? shared.request
      : { ...shared.request, on_rejected: shared.on_rejected };
  const method = call === "ValidateStream" ? runStream : CALLS[call];
  if (method === undefined) {
    return { id, skipped: `the client has no method for ${call}` };
  }
  let actual: Json;
  try {
    actual = render(await method(client, request));
  } catch (error) {
    actual = render(error);
  }
  const passed = isExpected(want, actual);
  return passed ? { id, passed } : { id, passed, actual };
}

async function runStream(client: Client, { defaults, items }: Json): Promise<Json> {
  const responses: Json[] = [];
  const outcomes = client.validateStream(
    items.map(({ id, item }: Json) => ({ ...itemOf(item), id })),
    { ...camel(defaults?.options), target: optionalTarget(defaults?.target) },
  );
  try {
    for await (const { id, outcome } of outcomes) {
      responses.push({ id, outcome: renderOutcome(outcome) });
    }
  } catch (error) {
    return { responses, ...render(error) };
  }
  return { responses };
}

/** Fields that responses have and cases leave out. */
const OMITTED_FIELDS = new Set(["registryRevision", "revision"]);

/** Fields that are null when they are absent; others are empty texts. */
const NULLABLE = new Set([
  "comparison",
  "newLocation",
  "oldLocation",
  "portable",
  "proof",
  "repair",
  "witness",
]);

function render(value: Json, name = ""): Json {
  if (value === undefined) {
    return NULLABLE.has(name) ? null : "";
  }
  if (value instanceof JsonText) {
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
  return Object.fromEntries(
    Object.entries(value)
      .filter(([field]) => !OMITTED_FIELDS.has(field))
      .map(([field, element]) => [snake(field), render(element, field)]),
  );
}

/** Returns one of `outcomes`: of a batch it is a oneof, of other responses a message. */
function renderOutcome(outcome: Json): Json {
  if (outcome instanceof Error) {
    return render(outcome);
  }
  if ("valid" in outcome) {
    return { verdict: render(outcome) };
  }
  return "errorResponse" in outcome ? { result: render(outcome) } : render(outcome);
}

function renderError(error: Error): Json {
  if (error instanceof InvalidPayload) {
    return { kind: "invalid_payload", text: error.message };
  }
  if (!(error instanceof SidecheckError)) {
    const kind = error instanceof TypeError ? "invalid_argument" : error.name;
    return { kind, message: error.message };
  }
  const kinds: [new (...args: never[]) => SidecheckError, string][] = [
    [StreamUnavailable, "stream_unavailable"],
    [StreamClosed, "stream_closed"],
    [ToolsRejected, "tools_rejected"],
    [InvalidResponse, "invalid_response"],
    [Unavailable, "unavailable"],
  ];
  return {
    kind: kinds.find(([kind]) => error instanceof kind)?.[1] ?? "error",
    reason: error.reason,
    status: error.status,
    message: error.message,
    text: error.toString(),
    metadata: error.metadata,
    retry_after: error.retryAfterMs === undefined ? null : error.retryAfterMs / 1000,
    ...(error instanceof StreamClosed && { unanswered: error.unanswered }),
  };
}

function snake(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** Whether a result is as wanted; of an error only what is wanted counts. */
function isExpected(want: Json, actual: Json): boolean {
  if (Array.isArray(want) && Array.isArray(actual)) {
    return want.length === actual.length && want.every((e, index) => isExpected(e, actual[index]));
  }
  if (isObject(want) && isObject(actual)) {
    return (
      isDeepStrictEqual(Object.keys(want).sort(), Object.keys(actual).sort()) &&
      Object.entries(want).every(([name, value]) =>
        name === "error" && isObject(value) && isObject(actual[name])
          ? Object.entries(value as object).every(([key, e]) =>
              isDeepStrictEqual(e, actual[name][key]),
            )
          : isExpected(value, actual[name]),
      )
    );
  }
  return isDeepStrictEqual(want, actual);
}

function isObject(value: Json): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
