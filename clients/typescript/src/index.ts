/** Client for Sidecheck, the validation sidecar for the Model Context Protocol. */

export type { TlsOptions } from "./address.js";
export type { CallOptions } from "./channel.js";
export {
  type BatchOptions,
  Client,
  type ClientOptions,
  type GetOptions,
  type RegisterOptions,
  type ValidateOptions,
} from "./client.js";
export * from "./errors.js";
export type { EngineInfo, Limits, ServerInfo } from "./info.js";
export { type JsonInput, type JsonObjectInput, JsonText } from "./json.js";
export type {
  ChangePolicy,
  Deletion,
  RegisteredDocument,
  Registration,
  RegistrationAction,
  RegistrationOutcome,
  Tool,
} from "./registry.js";
export type {
  Definition,
  DefinitionDigest,
  Document,
  RegisteredTool,
  Schema,
  SchemaDigest,
  Target,
  ToolDefinition,
} from "./targets.js";
export {
  ABSENT,
  type Arguments,
  type CallParams,
  type CallResult,
  type Item,
  type OnUnavailable,
  type StructuredContent,
  type Subject,
  type ValidateOutcome,
  type ValidationOptions,
} from "./validation.js";
export type { Change, Repair, Severity, Verdict, Violation } from "./verdicts.js";
