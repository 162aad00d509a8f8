package io.sidecheck;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import tools.jackson.databind.JsonNode;

/** Requests of the shared cases as values of the client; see {@code tests/conformance}. */
final class ConformanceRequests {
    private ConformanceRequests() {}

    static Item item(JsonNode item) {
        return new Item(subject(item.get("subject")), target(item.get("target")), options(item.get("options")));
    }

    static Subject subject(JsonNode subject) {
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

    static Target target(JsonNode target) {
        if (target == null) {
            return null;
        }
        String kind = target.propertyNames().iterator().next();
        JsonNode value = target.get(kind);
        return switch (kind) {
            case "registered_tool" ->
                new Target.RegisteredTool(text(value, "server"), text(value, "name"), text(value, "definition_digest"));
            case "definition_digest" -> new Target.DefinitionDigest(value.asString());
            case "schema_digest" -> new Target.SchemaDigest(value.asString());
            case "inline_tool" -> definition(value);
            case "inline_schema" ->
                new Target.Schema(json(value, "json"), documents(value), text(value, "default_dialect"));
            default -> throw new IllegalArgumentException(kind);
        };
    }

    static Target.ToolDefinition definition(JsonNode tool) {
        return new Target.ToolDefinition(json(tool, "json"), documents(tool));
    }

    static List<Document> documents(JsonNode holder) {
        return list(holder, "documents", document -> new Document(text(document, "uri"), json(document, "json")));
    }

    static ValidationOptions options(JsonNode fields) {
        if (fields == null) {
            return null;
        }
        var defaults = ValidationOptions.DEFAULTS;
        return new ValidationOptions(
                text(fields, "protocol_version"),
                constant(ValidationOptions.Detail.class, fields.get("detail"), defaults.detail()),
                fields.path("max_violations").asInt(defaults.maxViolations()),
                constant(
                        ValidationOptions.UnknownArguments.class,
                        fields.get("unknown_arguments"),
                        defaults.unknownArguments()),
                constant(ValidationOptions.Coercion.class, fields.get("coercion"), defaults.coercion()),
                flag(fields, "apply_defaults"),
                flag(fields, "assert_formats"),
                constant(
                        ValidationOptions.OnUnknownTool.class, fields.get("on_unknown_tool"), defaults.onUnknownTool()),
                flag(fields, "hide_values"));
    }

    static RegistrationOptions registrationOptions(JsonNode request, JsonNode testCase) {
        var defaults = RegistrationOptions.DEFAULTS;
        return new RegistrationOptions(
                text(request, "mode").equals("replace"),
                constant(RegistrationOptions.ChangePolicy.class, request.get("change_policy"), defaults.changePolicy()),
                flag(request, "validate_only"),
                text(request, "protocol_version"),
                !text(testCase, "on_rejected").equals("error"),
                constant(
                        RegistrationOptions.Compatibility.class,
                        request.get("compatibility"),
                        defaults.compatibility()),
                reading(request));
    }

    static SchemaReading reading(JsonNode request) {
        return constant(SchemaReading.class, request.get("reading"), SchemaReading.ASSUME_CLOSED);
    }

    static ToolSet toolSet(JsonNode set) {
        return set.has("server")
                ? new ToolSet.ServerTools(text(set, "server"), texts(set, "names"))
                : new ToolSet.Definitions(list(set, "tools", ConformanceRequests::definition));
    }

    static ConversionOptions conversionOptions(JsonNode fields) {
        var defaults = ConversionOptions.DEFAULTS;
        return new ConversionOptions(
                constant(ConversionOptions.Mode.class, fields.get("mode"), defaults.mode()),
                constant(ConversionOptions.ServerPrefix.class, fields.get("server_prefix"), defaults.serverPrefix()),
                flag(fields, "assume_closed"),
                fields.path("description_length").asInt(0),
                flag(fields, "include_output_schema"),
                flag(fields, "drop_defaults"),
                text(fields, "protocol_version"));
    }

    static ProtocolContext context(JsonNode fields) {
        return new ProtocolContext(
                text(fields, "protocol_version"),
                fields.has("client_capabilities") ? json(fields, "client_capabilities") : null,
                fields.has("server_capabilities") ? json(fields, "server_capabilities") : null);
    }

    static CheckOptions checkOptions(JsonNode fields) {
        var defaults = CheckOptions.DEFAULTS;
        return new CheckOptions(
                fields.path("max_violations").asInt(defaults.maxViolations()),
                flag(fields, "hide_values"),
                constant(Severity.class, fields.get("min_severity"), defaults.minSeverity()));
    }

    static CheckItem checkItem(JsonNode holder) {
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
                            constant(Sender.class, item.get("sender"), Sender.UNSPECIFIED),
                            text(item, "request_method"),
                            json(item, "request"));
                default:
                // The context and the options.
            }
        }
        throw new IllegalArgumentException(holder.toString());
    }

    static CheckItem.ToolResult toolResult(JsonNode item) {
        return new CheckItem.ToolResult(json(item, "json"), profile(item), target(item.get("tool")));
    }

    static ResultProfile profile(JsonNode holder) {
        return constant(ResultProfile.class, holder.get("profile"), ResultProfile.SPECIFICATION);
    }

    static ReturnValue returned(JsonNode request) {
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

    static <T extends Enum<T>> T constant(Class<T> type, JsonNode word, T absent) {
        if (word == null) {
            return absent;
        }
        for (T constant : type.getEnumConstants()) {
            if (ConformanceResults.word(constant).equals(word.asString())) {
                return constant;
            }
        }
        throw new IllegalArgumentException(type.getSimpleName() + ": " + word);
    }

    static Json json(JsonNode holder, String field) {
        return Json.text(text(holder, field));
    }

    static String text(JsonNode holder, String field) {
        return holder.path(field).asString("");
    }

    static boolean flag(JsonNode holder, String field) {
        return holder.path(field).asBoolean(false);
    }

    static List<String> texts(JsonNode holder, String field) {
        return list(holder, field, JsonNode::asString);
    }

    static <T> List<T> list(JsonNode holder, String field, Function<JsonNode, T> element) {
        return holder.path(field).valueStream().map(element).toList();
    }

    static <T> List<T> collected(Iterable<T> elements) {
        List<T> list = new ArrayList<>();
        elements.forEach(list::add);
        return list;
    }
}
