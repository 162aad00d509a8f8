/** Normalization: what a tool returned, as a conforming result. */

import * as wire from "./gen/sidecheck/v1/protocol_service.js";
import {
  encodeJson,
  encodeJsonObject,
  type JsonInput,
  type JsonObjectInput,
  type JsonText,
} from "./json.js";
import { requireField, requireJson } from "./responses.js";
import { decodeVerdict, type Verdict } from "./values/verdict.js";

/** What a tool returned: data, content blocks, a complete result, or the text of an error. */
export type ReturnValue =
  | { readonly value: JsonInput }
  | { readonly content: JsonObjectInput }
  | { readonly result: JsonObjectInput }
  | { readonly error: string | Error };

/** A conforming `CallToolResult`. */
export interface NormalizedResult {
  readonly result: JsonText;
  readonly verdict: Verdict;
}

/** @internal Returns the value as the oneof of the request has it. */
export function encodeReturnValue(
  returned: ReturnValue,
): NonNullable<wire.NormalizeToolResultRequest["returned"]> {
  if ("value" in returned) {
    return { $case: "value", value: encodeJson(returned.value, "value") };
  }
  if ("content" in returned) {
    return { $case: "content", value: encodeJsonObject(returned.content, "content") };
  }
  if ("result" in returned) {
    return { $case: "result", value: encodeJsonObject(returned.result, "result") };
  }
  if ("error" in returned) {
    const { error } = returned;
    return { $case: "error", value: error instanceof Error ? error.message || error.name : error };
  }
  throw new TypeError(
    "invalid return value; expected an object with value, content, result or error",
  );
}

/** @internal */
export function decodeNormalized(message: wire.NormalizeToolResultResponse): NormalizedResult {
  return {
    result: requireJson(message.result, "NormalizeToolResultResponse.result"),
    verdict: decodeVerdict(requireField(message.verdict, "NormalizeToolResultResponse.verdict")),
  };
}
