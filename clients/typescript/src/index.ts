/** Client for Sidecheck, the validation sidecar for the Model Context Protocol. */

export type { TlsOptions } from "./address.js";
export type { CallOptions } from "./channel.js";
export { Client } from "./client.js";
export type { ClientOptions } from "./client-options.js";
export type { CompareOptions, ServerTools } from "./compare-tools.js";
export type {
  ChangeEffect,
  ChangeLevel,
  Comparison,
  DefinitionChange,
  DefinitionPart,
  SchemaComparison,
  SchemaReading,
  SchemaRelation,
  SchemaVerdict,
  ToolComparison,
  ToolStatus,
  Witness,
} from "./values/comparison.js";
export type {
  ConversionClient,
  ConvertedCall,
  ConvertedResult,
  ConvertedTool,
  ConvertedTools,
  ToolConversion,
  ToolToConvert,
} from "./conversion.js";
export {
  type ErrorDetails,
  InvalidResponse,
  SidecheckError,
  type StatusName,
  StreamClosed,
  StreamUnavailable,
  Unavailable,
} from "./errors.js";
export type { InferOptions } from "./inference.js";
export type { InferenceClient } from "./inference-client.js";
export type { Effect, Loss, LossAction } from "./values/losses.js";
export type { AdaptOptions, Portability } from "./portability.js";
export type {
  CheckDetailOptions,
  CheckedNames,
  CheckedTools,
  CheckItem,
  CheckOutcome,
  CheckResult,
  Disposition,
  Elicitation,
  ElicitationResult,
  NameCollision,
  ProtocolContext,
  ProtocolMessage,
  ResultProfile,
  Rule,
  Sampling,
  ToolNameOutcome,
  ToolOutcome,
  ToolResult,
} from "./protocol.js";
export type { CheckOptions, ProtocolClient } from "./protocol-client.js";
export type { NormalizedResult, ReturnValue } from "./normalization.js";
export { ErrorReason } from "./values/error-reasons.js";
export type { AdaptedTool, Diagnostic, InferredTool, InferredTools } from "./values/inference.js";
export type { PortabilityProof, PortableForm, ProofOutcome } from "./values/portability.js";
export type { Action, Deletion, Registration, RegistrationOutcome } from "./values/registry.js";
export type { EngineInfo, Limits, ServerInfo } from "./values/info.js";
export type { OutstandingOptions } from "./item-stream.js";
export { type JsonInput, type JsonObjectInput, JsonText } from "./json.js";
export { type RegisterOptions, ToolsRejected } from "./registration.js";
export type { GetOptions, RegisteredDocument, Tool } from "./registry.js";
export type {
  RepeatedViolation,
  Session,
  SessionMessageOptions,
  SessionOptions,
  SessionSummary,
} from "./session.js";
export type { StreamItem, StreamOptions, StreamOutcome } from "./validate-stream.js";
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
export type { Token, TokenOptions } from "./tokens.js";
export type { Tools } from "./tool-lists.js";
export type { BatchOptions, ValidateOptions } from "./validation-calls.js";
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
} from "./validation.js";
export type {
  ConversionMode,
  ConversionOptions,
  ModelApi,
  ServerPrefix,
} from "./values/conversion-options.js";
export type { InferenceOptions, OnUnsupported } from "./values/inference-options.js";
export type {
  ChangePolicy,
  CompatibilityPolicy,
  RegistrationOptions,
} from "./values/registration-options.js";
export type {
  Coercion,
  Detail,
  OnUnknownTool,
  UnknownArguments,
  ValidationOptions,
} from "./values/validation-options.js";
export type { Change, Repair, Severity, Verdict, Violation } from "./values/verdict.js";
export type { Checkpoint, ToolsChange, WatchEvent } from "./watch-events.js";
export type { WatchOptions } from "./watch-tools.js";
export { assertValid, InvalidPayload } from "./verdicts.js";
