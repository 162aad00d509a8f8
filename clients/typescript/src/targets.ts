/** Targets of a validation: registered tools, digests, and tools or schemas sent inline. */

import type * as wire from "./gen/sidecheck/v1/target.js";
import type { AdaptedTool, InferredTool } from "./values/inference.js";
import { encodeJson, encodeJsonObject, JsonText, type JsonObjectInput } from "./json.js";
import type { Tool } from "./registry.js";

/** A JSON document sent along with a schema, for its references. */
export interface Document {
  /** Absolute URI by which references name the document. */
  readonly uri: string;
  /** The document: JSON text, an object, or a boolean. */
  readonly json: JsonObjectInput | boolean;
}

/** A tool of the registry, by server and name. */
export interface RegisteredTool {
  /** Namespace of the server that offers the tool. */
  readonly server: string;
  /** Name of the tool, exactly as registered; may be absent with call params, which contain it. */
  readonly name?: string | undefined;
  /** The digest that the registered definition must have, or the error is `DEFINITION_MISMATCH`. */
  readonly definitionDigest?: string | undefined;
}

/** A tool definition of the registry, by its digest: `sha256:` and 64 hexadecimal digits. */
export interface DefinitionDigest {
  readonly definitionDigest: string;
}

/** A schema of a registered tool, by its digest: `sha256:` and 64 hexadecimal digits. */
export interface SchemaDigest {
  readonly schemaDigest: string;
}

/** A tool definition sent inline, as an entry of an MCP `tools/list` result. */
export interface ToolDefinition {
  /** The definition: JSON text or an object. */
  readonly tool: JsonObjectInput;
  /** Documents that the schemas of the tool refer to. */
  readonly documents?: readonly Document[] | undefined;
}

/** A JSON Schema sent inline. */
export interface Schema {
  /** The schema: JSON text, an object, or a boolean. */
  readonly schema: JsonObjectInput | boolean;
  /** Documents that it refers to; one may be the meta-schema of its `$schema`. */
  readonly documents?: readonly Document[] | undefined;
  /** URI of the dialect of a schema without `$schema`; JSON Schema 2020-12 if absent. */
  readonly defaultDialect?: string | undefined;
}

/**
 * What a payload is validated against. The kind is told by the property that it has: `server`,
 * `definitionDigest`, `schemaDigest`, `tool` or `schema`.
 */
export type Target = RegisteredTool | DefinitionDigest | SchemaDigest | ToolDefinition | Schema;

/**
 * A definition: JSON text or an object, with documents as a `ToolDefinition`, or as this client
 * returns it.
 */
export type Definition = ToolDefinition | Tool | InferredTool | AdaptedTool | JsonObjectInput;

/** @internal */
export function encodeDocuments(documents: readonly Document[] = []): wire.Document[] {
  return documents.map(({ uri, json }) => ({ uri, json: encodeJsonSchema(json, "json") }));
}

/** @internal Returns the message for a definition, called `name` in errors. */
export function encodeDefinition(definition: Definition, name: string): wire.InlineTool {
  if (isToolDefinition(definition)) {
    const json = encodeJsonObject(definition.tool, `${name}.tool`);
    return { json, documents: encodeDocuments(definition.documents) };
  }
  if (isReturnedTool(definition)) {
    const documents = "documents" in definition ? definition.documents : [];
    return { json: encodeJsonObject(definition.json, name), documents: encodeDocuments(documents) };
  }
  return { json: encodeJsonObject(definition, name), documents: [] };
}

/** @internal Whether a value is a definition that is not bare JSON. */
export function hasDefinition(value: unknown): value is ToolDefinition | Tool {
  return isToolDefinition(value) || isReturnedTool(value);
}

/** Whether a value is a tool that this client returned, with its definition in `json`. */
function isReturnedTool(value: unknown): value is Tool | InferredTool | AdaptedTool {
  return isPlainObject(value) && "json" in value && value.json instanceof JsonText;
}

/** Whether a definition has its JSON in the property `tool`. */
function isToolDefinition(value: unknown): value is ToolDefinition {
  return (
    isPlainObject(value) &&
    "tool" in value &&
    Object.keys(value).every((key) => key === "tool" || key === "documents")
  );
}

/** @internal */
export function encodeTarget(target: Target | undefined): wire.Target | undefined {
  return target === undefined ? undefined : { target: encodeTargetCase(target) };
}

/** @internal Returns the message for a target, or for a definition as bare JSON. */
export function encodeToolTarget(tool: Target | JsonObjectInput, name: string): wire.Target {
  return isTarget(tool)
    ? { target: encodeTargetCase(tool) }
    : { target: { $case: "inlineTool", value: encodeDefinition(tool, name) } };
}

/** Names of the properties that a target of each kind must and may have. */
const TARGET_PROPERTIES = [
  ["server", "name", "definitionDigest"],
  ["definitionDigest"],
  ["schemaDigest"],
  ["tool", "documents"],
  ["schema", "documents", "defaultDialect"],
] as const;

/** @internal Whether a value is a target rather than a definition, which has other properties. */
export function isTarget(value: unknown): value is Target {
  return (
    isPlainObject(value) &&
    TARGET_PROPERTIES.some(
      (names) =>
        names[0] in value &&
        Object.keys(value).every((key) => (names as readonly string[]).includes(key)),
    )
  );
}

function isPlainObject(value: unknown): value is object {
  return (
    typeof value === "object" &&
    value !== null &&
    !(value instanceof Uint8Array || value instanceof JsonText || Array.isArray(value))
  );
}

function encodeTargetCase(target: Target): NonNullable<wire.Target["target"]> {
  if (isPlainObject(target)) {
    if ("server" in target) {
      const { server, name = "", definitionDigest = "" } = target;
      return { $case: "registeredTool", value: { server, name, definitionDigest } };
    }
    if ("definitionDigest" in target) {
      return { $case: "definitionDigest", value: target.definitionDigest };
    }
    if ("schemaDigest" in target) {
      return { $case: "schemaDigest", value: target.schemaDigest };
    }
    if ("tool" in target) {
      return { $case: "inlineTool", value: encodeDefinition(target, "target") };
    }
    if ("schema" in target) {
      const value = {
        json: encodeJsonSchema(target.schema, "schema"),
        documents: encodeDocuments(target.documents),
        defaultDialect: target.defaultDialect ?? "",
      };
      return { $case: "inlineSchema", value };
    }
  }
  throw new TypeError(
    "invalid target; expected an object with server, definitionDigest, schemaDigest, tool or schema",
  );
}

function encodeJsonSchema(value: JsonObjectInput | boolean, name: string): Buffer {
  return typeof value === "boolean" ? encodeJson(value, name) : encodeJsonObject(value, name);
}
