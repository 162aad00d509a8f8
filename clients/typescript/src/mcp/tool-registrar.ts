/** Registration of an MCP server's tools, when a call first needs them. */

import type { Client } from "../client.js";
import type { SidecheckError } from "../errors.js";
import { ToolsRejected } from "../registration.js";
import type { Registration } from "../values/registry.js";
import { describeViolation } from "../verdicts.js";

/** @internal Definition of a tool, as an entry of a `tools/list` result. */
export type ToolEntry = object & { readonly name?: unknown };

/** @internal Returns the server's own tools, those of all pages. */
export type ListTools = () => Promise<readonly ToolEntry[]>;

/** @internal A registration of a server's tools; another one is another object. */
export interface RegisteredTools {
  /** Number of changes of the definitions that preceded it. */
  readonly changes: number;
  /** The first violation of each rejected tool, in one line, by name. */
  readonly rejected: ReadonlyMap<string, string>;
}

/** Deadline of a registration in milliseconds: the server compiles the schemas of all tools. */
const TIMEOUT_MS = 10_000;

/**
 * @internal Registers the tools of one MCP server. Tools are added and never removed: several
 * processes may serve the same name, and `tools/list` may differ between users. Each protocol version
 * is registered by itself, because a definition may be rejected under one and not under another.
 */
export class ToolRegistrar {
  readonly #client: Client;
  readonly #server: string;
  readonly #onError: (error: SidecheckError) => void;
  /** JSON text of the definitions, by name. */
  readonly #definitions = new Map<unknown, string>();
  #changes = 0;
  /** Registrations by protocol version, and those that are under way, which calls share. */
  readonly #registered = new Map<string, RegisteredTools>();
  readonly #pending = new Map<string, Promise<RegisteredTools>>();

  constructor(client: Client, server: string, onError: (error: SidecheckError) => void) {
    this.#client = client;
    this.#server = server;
    this.#onError = onError;
  }

  /** Notes tools that the server lists. What differs is registered at the next call. */
  observe(tools: readonly ToolEntry[]): void {
    const texts = tools.map((tool) => [tool.name, JSON.stringify(tool)] as const);
    if (texts.some(([name, text]) => this.#definitions.get(name) !== text)) {
      texts.forEach(([name, text]) => this.#definitions.set(name, text));
      this.#changes += 1;
    }
  }

  /** Returns the registration for a protocol version, made if there is none yet. */
  async register(version: string, listTools: ListTools): Promise<RegisteredTools> {
    const current = this.#registered.get(version);
    return current?.changes === this.#changes ? current : this.share(version, listTools);
  }

  /** Returns a registration later than `previous`, undefined if no tool is called `name`. */
  async registerAgain(
    version: string,
    listTools: ListTools,
    name: string,
    previous: RegisteredTools,
  ): Promise<RegisteredTools | undefined> {
    const tools = await listTools();
    if (!tools.some((tool) => tool.name === name)) {
      return undefined;
    }
    const current = this.#registered.get(version);
    return current === undefined || current === previous
      ? this.share(version, () => Promise.resolve(tools))
      : current;
  }

  /** Returns the registration that is under way, or begins one. */
  private share(version: string, listTools: ListTools): Promise<RegisteredTools> {
    let pending = this.#pending.get(version);
    if (pending === undefined) {
      pending = this.send(version, listTools).finally(() => this.#pending.delete(version));
      this.#pending.set(version, pending);
    }
    return pending;
  }

  private async send(version: string, listTools: ListTools): Promise<RegisteredTools> {
    const tools = await listTools();
    this.observe(tools);
    const changes = this.#changes;
    const registration = await this.#client.register(this.#server, tools, {
      protocolVersion: version,
      onRejected: "return",
      timeoutMs: TIMEOUT_MS,
    });
    const registered = { changes, rejected: findRejected(registration) };
    this.#registered.set(version, registered);
    if (registered.rejected.size > 0) {
      this.#onError(new ToolsRejected(registration));
    }
    return registered;
  }
}

function findRejected({ outcomes }: Registration): Map<string, string> {
  const rejected = outcomes.filter(({ action }) => action === "rejected");
  return new Map(
    rejected.map(({ name, violations }) => {
      const fault = violations.find(({ severity }) => severity === "error");
      return [name, fault ? describeViolation(fault) : "the definition is invalid"];
    }),
  );
}
