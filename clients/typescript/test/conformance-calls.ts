/** Requests of the shared cases as calls of the client. */

import {
  ABSENT,
  assertValid,
  type CheckItem,
  type CheckOptions,
  type Client,
  type Document,
  type Item,
  type ModelApi,
  type ProtocolContext,
  type ReturnValue,
  type ServerTools,
  type Target,
  type ToolDefinition,
} from "sidecheck";

/** A message of the API as JSON, with the names of its fields. */
export type Json = any;

/** Returns JSON text of a field. */
function text(value: string | undefined): Buffer {
  return Buffer.from(value ?? "");
}

function optionalText(value: string | undefined): Buffer | undefined {
  return value === undefined ? undefined : Buffer.from(value);
}

/** Returns a message without texts of JSON, with the names of its fields in camel case. */
export function camel(message: Json): Json {
  const entries = Object.entries(message ?? {});
  return Object.fromEntries(
    entries.map(([name, value]) => [
      name.replace(/_(\w)/g, (_, c: string) => c.toUpperCase()),
      value,
    ]),
  );
}

function documents(holder: Json): Document[] {
  return (holder.documents ?? []).map((document: Json) => ({
    uri: document.uri,
    json: text(document.json),
  }));
}

function definition(tool: Json): ToolDefinition {
  return { tool: text(tool.json), documents: documents(tool) };
}

export function targetOf(target: Json): Target {
  const [[kind, value]] = Object.entries(target) as [[string, Json]];
  switch (kind) {
    case "registered_tool":
      return { server: "", ...camel(value) };
    case "inline_tool":
      return definition(value);
    case "inline_schema":
      return {
        schema: text(value.json),
        documents: documents(value),
        defaultDialect: value.default_dialect,
      };
    default:
      return camel(target);
  }
}

export function optionalTarget(target: Json): Target | undefined {
  return target === undefined ? undefined : targetOf(target);
}

export function itemOf(item: Json): Item {
  const [[kind, value]] = Object.entries(item.subject) as [[string, string]];
  const content: Json =
    kind === "absent_structured_content"
      ? { structuredContent: ABSENT }
      : camel({ [kind]: text(value) });
  return {
    ...content,
    target: optionalTarget(item.target),
    options: item.options === undefined ? undefined : camel(item.options),
  };
}

function contextOf(context: Json): ProtocolContext | undefined {
  return context === undefined
    ? undefined
    : {
        protocolVersion: context.protocol_version,
        clientCapabilities: optionalText(context.client_capabilities),
        serverCapabilities: optionalText(context.server_capabilities),
      };
}

function checkOptions(request: Json): CheckOptions {
  return { ...camel(request.options), context: contextOf(request.context) };
}

function checkItem(item: Json): CheckItem {
  const [[kind, value]] = Object.entries(item) as [[string, Json]];
  switch (kind) {
    case "tool_result":
      return {
        toolResult: {
          json: text(value.json),
          profile: value.profile,
          tool: optionalTarget(value.tool),
        },
      };
    case "message":
      return {
        message: {
          json: text(value.json),
          sender: value.sender,
          requestMethod: value.request_method,
          request: optionalText(value.request),
        },
      };
    default: {
      const texts = Object.entries(value).map(([name, json]) => [name, text(json as string)]);
      return camel({ [kind]: Object.fromEntries(texts) });
    }
  }
}

function toolSet(set: Json): ServerTools | ToolDefinition[] {
  return set?.server ? set : (set?.tools ?? []).map(definition);
}

function returnValue(request: Json): ReturnValue {
  if (request.error !== undefined) {
    return { error: request.error };
  }
  for (const name of ["value", "content", "result"]) {
    if (request[name] !== undefined) {
      return { [name]: text(request[name]) } as ReturnValue;
    }
  }
  throw new Error("the request has no value");
}

async function all<T>(elements: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const element of elements) {
    list.push(element);
  }
  return list;
}

type Call = (client: Client, request: Json) => Promise<Json>;

/** The calls that have one result, which is returned in the form of the response. */
export const CALLS: Readonly<Record<string, Call>> = {
  Validate: async (client, request) => {
    const item = itemOf(request) as Json;
    const { target, options } = item;
    if ("arguments" in item) {
      return { verdict: await client.validate(target, item.arguments, options) };
    }
    if ("structuredContent" in item) {
      const { structuredContent } = item;
      return {
        verdict: await client.validateStructuredContent(target, structuredContent, options),
      };
    }
    return {
      verdict:
        "callParams" in item
          ? await client.validateCall(target, item.callParams, options)
          : await client.validateCallResult(target, item.callResult, options),
    };
  },
  /** No procedure: the verdict as an error. */
  RequireValid: async (client, request) => {
    const { target, options, ...subject } = itemOf(request) as Json;
    const verdict = await client.validate(target, subject.arguments, options);
    assertValid(verdict);
    return { verdict };
  },
  ValidateBatch: async (client, request) => ({
    outcomes: await client.validateBatch(request.items.map(itemOf), {
      ...camel(request.options),
      target: optionalTarget(request.target),
    }),
  }),
  RegisterTools: (client, request) =>
    client.register(request.server ?? "", (request.tools ?? []).map(definition), {
      replace: request.mode === "replace",
      changePolicy: request.change_policy,
      compatibility: request.compatibility,
      reading: request.reading,
      validateOnly: request.validate_only,
      protocolVersion: request.protocol_version,
      onRejected: request.on_rejected ?? "return",
    }),
  CompareTools: (client, request) =>
    client.compare(toolSet(request.old), toolSet(request.new), { reading: request.reading }),
  GetTool: async (client, request) => ({
    tool: await client.get(request.server, request.name, camel(request)),
  }),
  ListTools: async (client, request) => ({
    tools: await all(client.list(request.server, camel(request))),
  }),
  DeleteTools: (client, request) =>
    request.all ? client.deleteAll(request.server) : client.delete(request.server, request.names),
  GetServerInfo: (client) => client.info(),
  ListRules: async (client, request) => ({
    rules: await all(client.protocol.listRules(request.protocol_version)),
  }),
  CheckToolNames: (client, request) =>
    client.protocol.checkNames(request.names, checkOptions(request)),
  CheckTools: (client, request) =>
    request.tools_list === undefined
      ? client.protocol.checkDefinitions(
          (request.tools ?? []).map(definition),
          checkOptions(request),
        )
      : client.protocol.checkTools(text(request.tools_list), {
          ...checkOptions(request),
          documents: documents(request),
        }),
  CheckElicitation: async (client, request) => ({
    result: await client.protocol.checkElicitation(
      text(request.elicitation.params),
      checkOptions(request),
    ),
  }),
  CheckElicitationResult: async (client, request) => ({
    result: await client.protocol.checkElicitationResult(text(request.elicitation_result.result), {
      ...checkOptions(request),
      params: optionalText(request.elicitation_result.params),
    }),
  }),
  CheckSampling: async (client, request) => ({
    result: await client.protocol.checkSampling(
      text(request.sampling.params),
      checkOptions(request),
    ),
  }),
  CheckToolResult: async (client, { tool_result: result, ...request }) => ({
    result: await client.protocol.checkToolResult(text(result.json), {
      ...checkOptions(request),
      profile: result.profile,
      tool: optionalTarget(result.tool),
    }),
  }),
  CheckMessage: async (client, { message, ...request }) => ({
    result: await client.protocol.checkMessage(text(message.json), {
      ...checkOptions(request),
      sender: message.sender,
      requestMethod: message.request_method,
      request: optionalText(message.request),
    }),
  }),
  CheckBatch: async (client, request) => ({
    outcomes: await client.protocol.checkBatch(request.items.map(checkItem), checkOptions(request)),
  }),
  CheckSession: async (client, { defaults, items }) => {
    const session = client.protocol.session(checkOptions(defaults));
    const responses: Json[] = [];
    for (const { id, message, http_status: httpStatus } of items) {
      const { json, sender } = message;
      const outcome = await session.check(text(json), { sender, httpStatus });
      responses.push({ id, outcome: { result: outcome } });
    }
    return { responses, summary: await session.finish() };
  },
  NormalizeToolResult: (client, request) =>
    client.protocol.normalizeToolResult(returnValue(request), {
      ...checkOptions(request),
      profile: request.profile,
      tool: optionalTarget(request.tool),
    }),
  ConvertTools: (client, request) =>
    client.conversion.convertTools(
      request.api as ModelApi,
      (request.tools ?? []).map((tool: Json) => ({
        target: targetOf(tool.tool),
        server: tool.server,
      })),
      { ...camel(request.options), servers: request.servers },
    ),
  ConvertToolCall: (client, request) =>
    client.conversion.convertToolCall(text(request.call), (request.mappings ?? []).map(text), {
      ...camel(request.options),
      tool: optionalTarget(request.tool),
    }),
  ConvertToolResult: (client, { result, ...request }) =>
    client.conversion.convertToolResult(request.api as ModelApi, text(result.json), {
      ...checkOptions(request),
      callId: request.call_id,
      name: request.name,
      profile: result.profile,
      tool: optionalTarget(result.tool),
    }),
  InferTools: (client, { source, ...request }) =>
    client.inference.inferTools(source, camel(request)),
  AdaptTool: (client, request) =>
    client.inference.adaptTool(targetOf(request.tool), request.protocol_version ?? "", {
      portable: request.portable,
    }),
};
