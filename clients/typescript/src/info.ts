/** Values of InfoService: version, limits and capabilities of a server. */

import type * as wire from "./gen/sidecheck/v1/info_service.js";
import { requireField } from "./responses.js";

/** Limits of a server. To exceed one is the error `LIMIT_EXCEEDED`. */
export interface Limits {
  /** Largest gRPC message that the server receives, in bytes. */
  readonly messageBytes: number;
  /** Most items in a batch, and most tools in a registration. */
  readonly batchItems: number;
  /** Most violations in a verdict. */
  readonly violations: number;
  /** Largest payload, in bytes. */
  readonly payloadBytes: number;
  /** Deepest nesting of arrays and objects in a payload. */
  readonly payloadDepth: number;
  /** Largest schema, in bytes. The schemas of one tool may have twice as many together. */
  readonly schemaBytes: number;
  /** Deepest nesting of arrays and objects in a schema. */
  readonly schemaDepth: number;
  /** Most subschemas in a schema. */
  readonly subschemas: number;
  /** Most documents sent along with a schema. */
  readonly documents: number;
  /** Total size of the documents sent along with a schema, in bytes. */
  readonly documentsBytes: number;
  /** Longest pattern, in characters. */
  readonly patternLength: number;
  /** Most evaluation steps for one payload. A step is about the work of one comparison. */
  readonly steps: number;
  /** Most items of a batch that may need a worker process. */
  readonly offloadedItems: number;
  /** Most violations in a batch. */
  readonly batchViolations: number;
  /** Longest text of the violations in a verdict or a batch, in characters. */
  readonly verdictCharacters: number;
  /** Largest size of all compiled patterns of a schema, in instructions. */
  readonly patternInstructions: number;
  /** Whether patterns with look-around and back-references are accepted. */
  readonly allowBacktracking: boolean;
  /** Largest source text to infer tools from, in bytes. */
  readonly sourceBytes: number;
  /** Most copies of a part that a pattern repeats, with nested repetitions multiplied. */
  readonly patternRepetitions: number;
  /** Most steps for one request in all. Items beyond it are not reached. */
  readonly requestSteps: number;
}

/** A validation engine of a server. */
export interface EngineInfo {
  /** Its role: `fast` decides validity, `complete` explains violations. */
  readonly name: string;
  /** The library it is built on. */
  readonly library: string;
  /** Version of that library. */
  readonly version: string;
}

/** Version, limits and capabilities of a server. */
export interface ServerInfo {
  /** Version of the server. */
  readonly version: string;
  readonly limits: Limits;
  /** URIs of the supported JSON Schema dialects, the default first. */
  readonly dialects: readonly string[];
  /** Supported MCP protocol versions, oldest first. */
  readonly protocolVersions: readonly string[];
  /** Protocol version of requests that name none. */
  readonly defaultProtocolVersion: string;
  readonly engines: readonly EngineInfo[];
  /** Revision of the registry. */
  readonly registryRevision: number;
}

/** @internal */
export function decodeInfo(message: wire.GetServerInfoResponse): ServerInfo {
  const limits = requireField(message.limits, "GetServerInfoResponse.limits");
  return {
    ...message,
    limits: {
      ...limits,
      steps: Number(limits.steps),
      requestSteps: Number(limits.requestSteps),
    },
    registryRevision: Number(message.registryRevision),
  };
}
