/** Conversions of tools, calls and results for the APIs of model providers. */

import type { CallOptions } from "./channel.js";
import type { Connection } from "./connection.js";
import { encodeEnum } from "./enums.js";
import type { SidecheckError } from "./errors.js";
import * as wire from "./gen/sidecheck/v1/conversion_service.js";
import { decodeJson, encodeJsonObject, type JsonObjectInput, JsonText } from "./json.js";
import { decodeLoss, type Loss } from "./values/losses.js";
import {
  encodeCheckOptions,
  encodeContext,
  encodeToolResult,
  type ResultProfile,
} from "./protocol.js";
import type { CheckOptions } from "./protocol-client.js";
import { requireCount, requireField, requireJson } from "./responses.js";
import { decodeStatus } from "./statuses.js";
import { encodeTarget, encodeToolTarget, type Target } from "./targets.js";
import { encodeOptions } from "./validation.js";
import {
  type ConversionOptions,
  encodeConversionOptions,
  type ModelApi,
} from "./values/conversion-options.js";
import type { ValidationOptions } from "./values/validation-options.js";
import { type Change, decodeVerdict, type Verdict } from "./values/verdict.js";

/** A tool to convert, with the server that offers it. */
export interface ToolToConvert {
  readonly target: Target;
  /** The server, for the tool name; by default the one that the tool is registered for. */
  readonly server?: string | undefined;
}

/** A tool in the form of an API. */
export interface ConvertedTool {
  /** The tool, an element of the tools of a request. */
  readonly json: JsonText;
  /** The name by which the model calls the tool. */
  readonly name: string;
  /** Whether the tool requests the strict mode of the API. */
  readonly strict: boolean;
  /** The data that {@link ConversionClient.convertToolCall} needs, without payload values. */
  readonly mapping: JsonText;
  /** All differences from the original, ordered by pointer. */
  readonly losses: readonly Loss[];
  /** Why the tool is not strict although the mode prefers it, "" otherwise. */
  readonly notStrictReason: string;
}

/** Outcome of the conversion of one tool. */
export interface ToolConversion {
  /** The server that offers the tool, or "". */
  readonly server: string;
  /** Name of the tool, "" if it cannot be read. */
  readonly name: string;
  readonly outcome: ConvertedTool | SidecheckError;
}

/** Result of a conversion of tools. */
export interface ConvertedTools {
  readonly conversions: readonly ToolConversion[];
  /** Verdict on the converted tools as one request; locations point into their list. */
  readonly request: Verdict;
}

/** A model's call in the form of MCP. */
export interface ConvertedCall {
  /** The server that offers the tool, or "". */
  readonly server: string;
  /** Original name of the tool. */
  readonly tool: string;
  /** The id that the API gave the call, or "". */
  readonly callId: string;
  /** The `params` of the `tools/call`; absent if the arguments are not a JSON object. */
  readonly callParams: JsonText | undefined;
  /** Verdict on the arguments, validated against the original input schema. */
  readonly verdict: Verdict;
  /** Changes of the arguments other than renames. */
  readonly changes: readonly Change[];
  /** The name by which the model called the tool, or "". */
  readonly name: string;
}

/** A tool result in the form of an API. */
export interface ConvertedResult {
  /** A message, item or part of a message, as the API has it. */
  readonly message: JsonText;
  readonly losses: readonly Loss[];
  /** Verdict on the result. If it is invalid, the message reports the failure. */
  readonly verdict: Verdict;
}

/**
 * Converts tools, calls and results for the APIs of model providers: `client.conversion`. All methods
 * reject as those of {@link Client}; its `onUnavailable` does not apply.
 */
export class ConversionClient {
  readonly #connection: Connection;

  /** @internal */
  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** Converts tools: targets, definitions, or with their server as `{ target, server }`. */
  async convertTools(
    api: ModelApi,
    tools: readonly (ToolToConvert | Target | JsonObjectInput)[],
    options: ConversionOptions &
      CallOptions & {
        /** Servers of whose registered tools all are converted. */
        readonly servers?: readonly string[] | undefined;
      } = {},
  ): Promise<ConvertedTools> {
    const { servers = [] } = options;
    const request = {
      api: encodeApi(api),
      options: encodeConversionOptions(options, this.#connection.protocolVersion),
      tools: tools.map((tool, index) =>
        isToolToConvert(tool)
          ? { tool: encodeTarget(tool.target), server: tool.server ?? "" }
          : { tool: encodeToolTarget(tool, `tools[${index}]`), server: "" },
      ),
      servers: [...servers],
      minRevision: this.#connection.minRevision,
    };
    return this.#connection.call(
      wire.ConversionServiceService.convertTools,
      request,
      (response) => {
        if (servers.length === 0) {
          requireCount(response.conversions, tools.length, "ConvertToolsResponse.conversions");
        }
        return {
          conversions: response.conversions.map(decodeConversion),
          request: decodeVerdict(requireField(response.request, "ConvertToolsResponse.request")),
        };
      },
      options,
    );
  }

  /** Converts a model's call to the `params` of a `tools/call`, and validates its arguments. */
  async convertToolCall(
    call: JsonObjectInput,
    mappings: readonly JsonObjectInput[],
    options: ValidationOptions & CallOptions & { readonly tool?: Target | undefined } = {},
  ): Promise<ConvertedCall> {
    const request = {
      call: encodeJsonObject(call, "call"),
      mappings: mappings.map((mapping, index) => encodeJsonObject(mapping, `mappings[${index}]`)),
      tool: encodeTarget(options.tool),
      minRevision: this.#connection.minRevision,
      options: encodeOptions(options, this.#connection.protocolVersion),
    };
    return this.#connection.call(
      wire.ConversionServiceService.convertToolCall,
      request,
      (response) => ({
        ...response,
        callParams: decodeJson(response.callParams),
        verdict: decodeVerdict(requireField(response.verdict, "ConvertToolCallResponse.verdict")),
      }),
      options,
    );
  }

  /** Converts a `CallToolResult` to a message for the model. `callId` and `name` are of its call. */
  async convertToolResult(
    api: ModelApi,
    result: JsonObjectInput,
    options: CheckOptions & {
      readonly callId?: string | undefined;
      readonly name?: string | undefined;
      readonly tool?: Target | undefined;
      readonly profile?: ResultProfile | undefined;
    } = {},
  ): Promise<ConvertedResult> {
    const { callId = "", name = "", tool, profile } = options;
    const request = {
      api: encodeApi(api),
      result: encodeToolResult({ toolResult: { json: result, profile, tool } }),
      callId,
      name,
      minRevision: this.#connection.minRevision,
      context: encodeContext(options.context, this.#connection.protocolVersion),
      options: encodeCheckOptions(options),
    };
    return this.#connection.call(
      wire.ConversionServiceService.convertToolResult,
      request,
      (response) => ({
        message: requireJson(response.message, "ConvertToolResultResponse.message"),
        losses: response.losses.map(decodeLoss),
        verdict: decodeVerdict(requireField(response.verdict, "ConvertToolResultResponse.verdict")),
      }),
      options,
    );
  }
}

function isToolToConvert(tool: ToolToConvert | Target | JsonObjectInput): tool is ToolToConvert {
  return "target" in tool && Object.keys(tool).every((key) => key === "target" || key === "server");
}

function encodeApi(api: ModelApi): wire.ModelApi {
  return encodeEnum(wire.ModelApi, "MODEL_API_", api, "api");
}

function decodeConversion({ server, name, outcome }: wire.ToolConversion): ToolConversion {
  if (outcome?.$case !== "converted") {
    return { server, name, outcome: decodeStatus(outcome?.value) };
  }
  const converted = {
    ...outcome.value,
    json: requireJson(outcome.value.json, "ConvertedTool.json"),
    mapping: new JsonText(outcome.value.mapping),
    losses: outcome.value.losses.map(decodeLoss),
  };
  return { server, name, outcome: converted };
}
