/** Registration of tools, in as many requests as the limits require. */

import type { CallOptions } from "./channel.js";
import { type Connection, encodeElement, splitElements } from "./connection.js";
import { nameErrors, SidecheckError } from "./errors.js";
import * as wire from "./gen/sidecheck/v1/registry_service.js";
import { InlineTool } from "./gen/sidecheck/v1/target.js";
import { quote } from "./printable.js";
import { joinRegistrations } from "./registry.js";
import { requireCount } from "./responses.js";
import { encodeDefinition } from "./targets.js";
import { listDefinitions, type Tools } from "./tool-lists.js";
import { ErrorReason } from "./values/error-reasons.js";
import {
  encodeRegistrationOptions,
  type RegistrationOptions,
} from "./values/registration-options.js";
import { decodeRegistration, type Registration } from "./values/registry.js";
import { describeViolation, listLines } from "./verdicts.js";

/** Options of a registration. */
export interface RegisterOptions extends RegistrationOptions, CallOptions {
  /** Whether the tools are the complete set: other tools of the server are deleted. */
  readonly replace?: boolean | undefined;
  /** Whether to reject with `ToolsRejected` if a tool is rejected (the default), or to return. */
  readonly onRejected?: "error" | "return" | undefined;
}

/**
 * Tools were not registered, because their definitions have errors; all others were. The message
 * describes the first error of each, for up to ten. The reason is `TOOLS_REJECTED`.
 */
export class ToolsRejected extends SidecheckError {
  static {
    nameErrors(this, "ToolsRejected");
  }

  /** The outcomes of all tools. */
  readonly registration: Registration;

  constructor(registration: Registration) {
    const total = registration.outcomes.length;
    const lines = registration.outcomes.flatMap((outcome, index) => {
      if (outcome.action !== "rejected") {
        return [];
      }
      const name = `tools[${index}]${outcome.name && ` ${quote(outcome.name)}`}`;
      const errors = outcome.violations.filter(({ severity }) => severity === "error");
      const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : "";
      return [[name, ...errors.slice(0, 1).map(describeViolation)].join(": ") + more];
    });
    const others = lines.length === total ? "" : ", the others are unaffected";
    super(
      ErrorReason.TOOLS_REJECTED,
      listLines(`${lines.length} of ${total} tools rejected${others}`, lines),
      {
        metadata: { rejected: String(lines.length), tools: String(total) },
        status: "INVALID_ARGUMENT",
      },
    );
    this.registration = registration;
  }
}

/** Deadline of each request by default, in milliseconds: the server compiles the schemas. */
const TIMEOUT_MS = 30_000;

const RPC = wire.RegistryServiceService.registerTools;

/** @internal See {@link Client.register}. */
export async function registerTools(
  connection: Connection,
  server: string,
  tools: Tools,
  options: RegisterOptions,
): Promise<Registration> {
  const { replace = false, onRejected = "error" } = options;
  if (!["error", "return"].includes(onRejected)) {
    const given = JSON.stringify(onRejected);
    throw new TypeError(`invalid onRejected ${given}; expected "error" or "return"`);
  }
  const call = { ...options, timeoutMs: options.timeoutMs ?? TIMEOUT_MS };
  const mode = replace ? "REGISTRATION_MODE_REPLACE" : "REGISTRATION_MODE_UPSERT";
  const head = RPC.requestSerialize({
    server,
    tools: [],
    mode: wire.RegistrationMode[mode],
    ...encodeRegistrationOptions(options, connection.protocolVersion),
  });
  const elements = listDefinitions(tools, replace).map((tool, index) =>
    encodeElement(2, InlineTool.encode(encodeDefinition(tool, `tools[${index}]`)).finish()),
  );
  const room = (await connection.limits(call)).messageBytes - head.length;
  const registrations: Registration[] = [];
  for (const part of splitTools(elements, room, replace)) {
    const request = Buffer.concat([head, ...part]);
    const decode = (response: wire.RegisterToolsResponse): Registration => {
      requireCount(response.outcomes, part.length, "RegisterToolsResponse.outcomes");
      return decodeRegistration(response);
    };
    registrations.push(await connection.send(RPC, request, decode, call));
  }
  const registration = joinRegistrations(registrations);
  const rejected = registration.outcomes.some(({ action }) => action === "rejected");
  if (rejected && onRejected === "error") {
    throw new ToolsRejected(registration);
  }
  return registration;
}

/** Returns tools in parts that fit in `room` bytes each, at least one part. */
function splitTools(
  elements: readonly Uint8Array[],
  room: number,
  replace: boolean,
): (readonly Uint8Array[])[] {
  const large = elements.findIndex(({ length }) => length > room);
  if (large >= 0) {
    throw new TypeError(
      `tools[${large}] takes ${elements[large]?.length} bytes and one message holds ${room}`,
    );
  }
  const parts = [...splitElements(elements, room)];
  if (replace && parts.length > 1) {
    throw new TypeError(
      `the tools do not fit in one message, which holds ${room} bytes, and a replacement cannot be split: register without replace, then delete`,
    );
  }
  return parts.length === 0 ? [[]] : parts;
}
