/** The comparison of two sets of tools. */

import type { CallOptions } from "./channel.js";
import { type Comparison, decodeComparison, type SchemaReading } from "./values/comparison.js";
import type { Connection } from "./connection.js";
import { encodeEnum } from "./enums.js";
import { SchemaReading as SchemaReadings } from "./gen/sidecheck/v1/comparison.js";
import { RegistryServiceService, type ToolSet } from "./gen/sidecheck/v1/registry_service.js";
import { encodeDefinition } from "./targets.js";
import { listDefinitions, type Tools } from "./tool-lists.js";

/** Registered tools, to compare. */
export interface ServerTools {
  /** Namespace of the server. If it has no tools, the comparison is an error. */
  readonly server: string;
  /** Names of the tools; all if absent or empty. */
  readonly names?: readonly string[] | undefined;
}

/** Options of a comparison. */
export interface CompareOptions extends CallOptions {
  /** Reading of the schemas by which `Comparison.level` is told, "assume-closed" by default. */
  readonly reading?: SchemaReading | undefined;
}

/** @internal See {@link Client.compare}. */
export async function compareTools(
  connection: Connection,
  before: ServerTools | Tools,
  after: ServerTools | Tools,
  options: CompareOptions,
): Promise<Comparison> {
  const request = {
    old: encodeToolSet(before, "before"),
    new: encodeToolSet(after, "after"),
    reading: encodeEnum<SchemaReadings>(
      SchemaReadings,
      "SCHEMA_READING_",
      options.reading,
      "reading",
    ),
    minRevision: connection.minRevision,
  };
  return connection.call(RegistryServiceService.compareTools, request, decodeComparison, options);
}

function encodeToolSet(tools: ServerTools | Tools, name: string): ToolSet {
  if (!isServerTools(tools)) {
    const definitions = listDefinitions(tools, true).map((tool, index) =>
      encodeDefinition(tool, `${name}[${index}]`),
    );
    return { server: "", names: [], tools: definitions };
  }
  // In the message, a set without a server is that of its definitions.
  if (tools.server === "") {
    throw new TypeError(`${name}.server must not be empty`);
  }
  return { server: tools.server, names: [...(tools.names ?? [])], tools: [] };
}

/** Whether a value names registered tools; a tool of the registry itself has its definition. */
function isServerTools(tools: ServerTools | Tools): tools is ServerTools {
  return (
    typeof tools === "object" &&
    tools !== null &&
    "server" in tools &&
    Object.keys(tools).every((key) => key === "server" || key === "names")
  );
}
