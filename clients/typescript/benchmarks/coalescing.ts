/**
 * Load of one client: `node coalescing.js ADDRESS MODE CALLERS SECONDS`, with the mode `unary`,
 * `coalesced`, `lone` or `lone-coalesced`. Validates arguments, from the file that
 * `SIDECHECK_BENCH_ARGUMENTS` names, of the registered tool `git_log` of the server `bench`.
 */

import { readFileSync } from "node:fs";

import { Client } from "sidecheck";

async function measure(address: string, mode: string, callers: number, seconds: number) {
  const client = new Client(address, { coalesce: mode.endsWith("coalesced"), timeoutMs: 30_000 });
  const target = { server: "bench", name: "git_log" };
  const payload = readFileSync(process.env["SIDECHECK_BENCH_ARGUMENTS"] ?? "");
  await client.validate(target, payload);
  const durations: number[] = [];
  const start = performance.now();
  const call = async (): Promise<void> => {
    let now = performance.now();
    while (now - start < seconds * 1000) {
      await client.validate(target, payload);
      const end = performance.now();
      durations.push(end - now);
      now = end;
    }
  };
  await Promise.all(Array.from({ length: mode.startsWith("lone") ? 1 : callers }, call));
  const elapsed = (performance.now() - start) / 1000;
  client.close();
  durations.sort((a, b) => a - b);
  const median = durations[Math.floor(durations.length / 2)] ?? 0;
  return {
    calls: durations.length,
    seconds: elapsed,
    p50_microseconds: Math.round(median * 1000),
  };
}

const [address = "", mode = "", callers = "", seconds = ""] = process.argv.slice(2);
measure(address, mode, Number(callers), Number(seconds)).then(
  (result) => console.log(JSON.stringify(result)),
  (error: unknown) => {
    console.error(`coalescing: ${String(error)}`);
    process.exitCode = 1;
  },
);
