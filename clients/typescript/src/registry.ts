/** Values of RegistryService: registered tools and the results of changes. */

import type { CallOptions } from "./channel.js";
import type * as wire from "./gen/sidecheck/v1/registry_service.js";
import { JsonText } from "./json.js";
import { requireField, requireJson } from "./responses.js";
import type { Registration } from "./values/registry.js";

/** A document registered with a tool. */
export interface RegisteredDocument {
  /** Absolute URI by which references name the document. */
  readonly uri: string;
  readonly json: JsonText;
}

/** A tool of the registry. */
export interface Tool {
  /** Namespace of its server. */
  readonly server: string;
  readonly name: string;
  /** The definition, byte for byte as registered, unless it was adapted. */
  readonly json: JsonText;
  /** Documents registered with it. */
  readonly documents: readonly RegisteredDocument[];
  readonly definitionDigest: string;
  readonly inputSchemaDigest: string;
  /** "" if it has no output schema. */
  readonly outputSchemaDigest: string;
  /** Revision of the registry at which the name was bound to the definition. */
  readonly revision: number;
  /** Protocol version that the tool was registered under. */
  readonly protocolVersion: string;
}

/** Options of the calls that return registered tools. */
export interface GetOptions extends CallOptions {
  /** Protocol version in whose form the definitions are returned; as registered if absent. */
  readonly adaptToVersion?: string | undefined;
}

/** @internal Returns the result of a registration that was sent in parts. */
export function joinRegistrations(parts: readonly Registration[]): Registration {
  return {
    outcomes: parts.flatMap((part) => part.outcomes),
    removed: parts.flatMap((part) => part.removed),
    kept: parts.flatMap((part) => part.kept),
    registryRevision: parts.at(-1)?.registryRevision ?? 0,
  };
}

/** @internal */
export function decodeTool(response: wire.GetToolResponse): Tool {
  return decodeRegisteredTool(requireField(response.tool, "GetToolResponse.tool"));
}

/** @internal */
export function decodeRegisteredTool(message: wire.Tool): Tool {
  return {
    ...message,
    json: requireJson(message.json, "Tool.json"),
    documents: message.documents.map(({ uri, json }) => ({ uri, json: new JsonText(json) })),
    revision: Number(message.revision),
  };
}
