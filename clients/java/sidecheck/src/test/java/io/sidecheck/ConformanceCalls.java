package io.sidecheck;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import tools.jackson.databind.JsonNode;

/** Requests of the shared cases as calls of the client; see {@code tests/conformance}. */
final class ConformanceCalls {
    private final Client client;

    ConformanceCalls(Client client) {
        this.client = client;
    }

    /** Returns the rendered response to the request of a case. */
    Object result(JsonNode testCase) throws InterruptedException {
        JsonNode request = testCase.get("request");
        return switch (testCase.get("call").asString()) {
            case "Validate" -> Map.of("verdict", validate(item(request)));
            case "ValidateBatch" -> Map.of("outcomes", client.validateBatch(
                    list(request, "items", ConformanceCalls::item),
                    target(request.get("target")),
                    options(request.get("options"))));
            case "ValidateStream" -> stream(request);
            case "RegisterTools" -> client.register(
                    text(request, "server"),
                    list(request, "tools", ConformanceCalls::definition),
                    registrationOptions(request, testCase));
            case "GetTool" -> Map.of("tool", client.get(
                    text(request, "server"), text(request, "name"), text(request, "adapt_to_version")));
            case "ListTools" -> Map.of("tools", collected(
                    client.list(text(request, "server"), text(request, "adapt_to_version"))));
            case "DeleteTools" -> flag(request, "all")
                    ? client.deleteAll(text(request, "server"))
                    : client.delete(text(request, "server"), texts(request, "names"));
            case "GetServerInfo" -> client.info();
            case "ListRules" -> Map.of("rules",
                    collected(client.protocol().listRules(text(request, "protocol_version"))));
            case "CheckToolNames" -> protocol(request).checkNames(texts(request, "names"));
            case "CheckTools" -> request.has("tools_list")
                    ? protocol(request).checkTools(json(request, "tools_list"), documents(request))
                    : protocol(request)
                            .checkDefinitions(list(request, "tools", ConformanceCalls::definition));
            case "CheckElicitation", "CheckElicitationResult", "CheckSampling", "CheckToolResult",
                    "CheckMessage" -> Map.of("result", protocol(request).check(checkItem(request)));
            case "CheckBatch" -> Map.of("outcomes", protocol(request)
                    .checkBatch(list(request, "items", ConformanceCalls::checkItem)));
            case "NormalizeToolResult" -> protocol(request).normalizeToolResult(
                    returned(request), target(request.get("tool")), profile(request));
            case "ConvertTools" -> client.conversion().convertTools(
                    constant(ModelApi.class, request.get("api"), null),
                    list(request, "tools", tool -> new ToolToConvert(
                            target(tool.get("tool")), text(tool, "server"))),
                    texts(request, "servers"),
                    conversionOptions(request.path("options")));
            case "ConvertToolCall" -> client.conversion().convertToolCall(
                    json(request, "call"),
                    texts(request, "mappings").stream().map(Json::text).toList(),
                    target(request.get("tool")),
                    options(request.get("options")));
            case "ConvertToolResult" -> client.conversion().convertToolResult(
                    constant(ModelApi.class, request.get("api"), null),
                    toolResult(request.get("result")),
                    text(request, "call_id"),
                    text(request, "name"),
                    context(request.path("context")),
                    checkOptions(request.path("options")));
            case "InferTools" -> client.inference().inferTools(
                    text(request, "source"),
                    new InferenceOptions(
                            texts(request, "functions"),
                            constant(InferenceOptions.OnUnsupported.class,
                                    request.get("on_unsupported"),
                                    InferenceOptions.OnUnsupported.ERROR),
                            texts(request, "injected_types"),
                            texts(request, "injected_parameters")));
            case "AdaptTool" -> client.inference()
                    .adaptTool(target(request.get("tool")), text(request, "protocol_version"));
            default -> null;
        };
    }

    private Verdict validate(Item item) {
        return client.validate(item);
    }

    private Object stream(JsonNode request) throws InterruptedException {
        JsonNode defaults = request.path("defaults");
        List<Object> responses = new ArrayList<>();
        Map<String, Object> result = new LinkedHashMap<>();
        result.put("responses", responses);
        try (ValidationStream stream =
                client.stream(target(defaults.get("target")), options(defaults.get("options")))) {
            JsonNode items = request.get("items");
            int index = 0;
            for (; index < Math.min(items.size(), 64); index++) {
                // Before any outcome is received, so that a fault meets items that were all sent.
                send(stream, items.get(index));
            }
            Thread sender = sender(stream, items, index);
            sender.start();
            try {
                stream.forEach(responses::add);
            } finally {
                // It ends with the stream, which both threads see.
                sender.join();
            }
        } catch (SidecheckException error) {
            result.put("error", error);
        }
        return result;
    }

    private static Thread sender(ValidationStream stream, JsonNode items, int start) {
        return new Thread(() -> {
            try {
                for (int index = start; index < items.size(); index++) {
                    send(stream, items.get(index));
                }
                stream.finish();
            } catch (StreamClosedException closed) {
                // The receiver gets it too.
                return;
            } catch (InterruptedException interrupt) {
                Thread.currentThread().interrupt();
            }
        });
    }

    private static void send(ValidationStream stream, JsonNode item) throws InterruptedException {
        stream.send(text(item, "id"), item(item.get("item")));
    }

    private ProtocolClient protocol(JsonNode request) {
        return client.protocol()
                .withContext(context(request.path("context")))
                .withOptions(checkOptions(request.path("options")));
    }

    static Item item(JsonNode item) {
        return new Item(subject(item.get("subject")), target(item.get("target")), options(item.get("options")));
    }

    private static Subject subject(JsonNode subject) {
        String kind = subject.propertyNames().iterator().next();
        return switch (kind) {
            case "arguments" -> new Subject.Arguments(json(subject, kind));
            case "structured_content" -> new Subject.StructuredContent(json(subject, kind));
            case "absent_structured_content" -> new Subject.AbsentContent();
            case "call_params" -> new Subject.CallParams(json(subject, kind));
            case "call_result" -> new Subject.CallResult(json(subject, kind));
            default -> throw new IllegalArgumentException(kind);
        };
    }

    private static Target target(JsonNode target) {
        if (target == null) {
            return null;
        }
        String kind = target.propertyNames().iterator().next();
        JsonNode value = target.get(kind);
        return switch (kind) {
            case "registered_tool" -> new Target.RegisteredTool(
                    text(value, "server"), text(value, "name"), text(value, "definition_digest"));
            case "definition_digest" -> new Target.DefinitionDigest(value.asString());
            case "schema_digest" -> new Target.SchemaDigest(value.asString());
            case "inline_tool" -> definition(value);
            case "inline_schema" -> new Target.Schema(
                    json(value, "json"), documents(value), text(value, "default_dialect"));
            default -> throw new IllegalArgumentException(kind);
        };
    }

    private static Target.ToolDefinition definition(JsonNode tool) {
        return new Target.ToolDefinition(json(tool, "json"), documents(tool));
    }

    private static List<Document> documents(JsonNode holder) {
        return list(holder, "documents",
                document -> new Document(text(document, "uri"), json(document, "json")));
    }

    private static ValidationOptions options(JsonNode fields) {
        if (fields == null) {
            return null;
        }
        var defaults = ValidationOptions.DEFAULTS;
        return new ValidationOptions(
                text(fields, "protocol_version"),
                constant(ValidationOptions.Detail.class, fields.get("detail"), defaults.detail()),
                fields.path("max_violations").asInt(defaults.maxViolations()),
                constant(ValidationOptions.UnknownArguments.class, fields.get("unknown_arguments"),
                        defaults.unknownArguments()),
                constant(ValidationOptions.Coercion.class, fields.get("coercion"),
                        defaults.coercion()),
                flag(fields, "apply_defaults"),
                flag(fields, "assert_formats"),
                constant(ValidationOptions.OnUnknownTool.class, fields.get("on_unknown_tool"),
                        defaults.onUnknownTool()),
                flag(fields, "hide_values"));
    }

    private static RegistrationOptions registrationOptions(JsonNode request, JsonNode testCase) {
        return new RegistrationOptions(
                text(request, "mode").equals("replace"),
                constant(RegistrationOptions.ChangePolicy.class, request.get("change_policy"),
                        RegistrationOptions.ChangePolicy.ACCEPT),
                flag(request, "validate_only"),
                text(request, "protocol_version"),
                !text(testCase, "on_rejected").equals("error"));
    }

    private static ConversionOptions conversionOptions(JsonNode fields) {
        var defaults = ConversionOptions.DEFAULTS;
        return new ConversionOptions(
                constant(ConversionOptions.Mode.class, fields.get("mode"), defaults.mode()),
                constant(ConversionOptions.ServerPrefix.class, fields.get("server_prefix"),
                        defaults.serverPrefix()),
                flag(fields, "assume_closed"),
                fields.path("description_length").asInt(0),
                flag(fields, "include_output_schema"),
                flag(fields, "drop_defaults"),
                text(fields, "protocol_version"));
    }

    private static ProtocolContext context(JsonNode fields) {
        return new ProtocolContext(
                text(fields, "protocol_version"),
                fields.has("client_capabilities") ? json(fields, "client_capabilities") : null,
                fields.has("server_capabilities") ? json(fields, "server_capabilities") : null);
    }

    private static CheckOptions checkOptions(JsonNode fields) {
        var defaults = CheckOptions.DEFAULTS;
        return new CheckOptions(
                fields.path("max_violations").asInt(defaults.maxViolations()),
                flag(fields, "hide_values"),
                constant(Severity.class, fields.get("min_severity"), defaults.minSeverity()));
    }

    private static CheckItem checkItem(JsonNode holder) {
        for (String kind : holder.propertyNames()) {
            JsonNode item = holder.get(kind);
            switch (kind) {
                case "elicitation":
                    return new CheckItem.Elicitation(json(item, "params"));
                case "elicitation_result":
                    return new CheckItem.ElicitationResult(json(item, "result"), json(item, "params"));
                case "sampling":
                    return new CheckItem.Sampling(json(item, "params"));
                case "tool_result":
                    return toolResult(item);
                case "message":
                    return new CheckItem.Message(
                            json(item, "json"),
                            constant(CheckItem.Sender.class, item.get("sender"),
                                    CheckItem.Sender.UNSPECIFIED),
                            text(item, "request_method"),
                            json(item, "request"));
                default:
                    // The context and the options.
            }
        }
        throw new IllegalArgumentException(holder.toString());
    }

    private static CheckItem.ToolResult toolResult(JsonNode item) {
        return new CheckItem.ToolResult(json(item, "json"), profile(item), target(item.get("tool")));
    }

    private static CheckItem.Profile profile(JsonNode holder) {
        return constant(CheckItem.Profile.class, holder.get("profile"),
                CheckItem.Profile.SPECIFICATION);
    }

    private static ReturnValue returned(JsonNode request) {
        if (request.has("value")) {
            return new ReturnValue.Value(json(request, "value"));
        }
        if (request.has("content")) {
            return new ReturnValue.Content(json(request, "content"));
        }
        return request.has("result")
                ? new ReturnValue.Result(json(request, "result"))
                : new ReturnValue.Failure(text(request, "error"));
    }

    private static <T extends Enum<T>> T constant(Class<T> type, JsonNode word, T absent) {
        return word == null ? absent : Enum.valueOf(type, word.asString().toUpperCase(Locale.ROOT));
    }

    private static Json json(JsonNode holder, String field) {
        return Json.text(text(holder, field));
    }

    private static String text(JsonNode holder, String field) {
        return holder.path(field).asString("");
    }

    private static boolean flag(JsonNode holder, String field) {
        return holder.path(field).asBoolean(false);
    }

    private static List<String> texts(JsonNode holder, String field) {
        return list(holder, field, JsonNode::asString);
    }

    private static <T> List<T> list(JsonNode holder, String field, Function<JsonNode, T> element) {
        return holder.path(field).valueStream().map(element).toList();
    }

    private static <T> List<T> collected(Iterable<T> elements) {
        List<T> list = new ArrayList<>();
        elements.forEach(list::add);
        return list;
    }
}
