package io.sidecheck;

import static io.sidecheck.ConformanceRequests.checkItem;
import static io.sidecheck.ConformanceRequests.checkOptions;
import static io.sidecheck.ConformanceRequests.collected;
import static io.sidecheck.ConformanceRequests.constant;
import static io.sidecheck.ConformanceRequests.context;
import static io.sidecheck.ConformanceRequests.conversionOptions;
import static io.sidecheck.ConformanceRequests.documents;
import static io.sidecheck.ConformanceRequests.flag;
import static io.sidecheck.ConformanceRequests.item;
import static io.sidecheck.ConformanceRequests.json;
import static io.sidecheck.ConformanceRequests.list;
import static io.sidecheck.ConformanceRequests.options;
import static io.sidecheck.ConformanceRequests.profile;
import static io.sidecheck.ConformanceRequests.reading;
import static io.sidecheck.ConformanceRequests.registrationOptions;
import static io.sidecheck.ConformanceRequests.returned;
import static io.sidecheck.ConformanceRequests.target;
import static io.sidecheck.ConformanceRequests.text;
import static io.sidecheck.ConformanceRequests.texts;
import static io.sidecheck.ConformanceRequests.toolResult;
import static io.sidecheck.ConformanceRequests.toolSet;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
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
            case "Validate" -> Map.of("verdict", client.validate(item(request)));
            // No procedure: the verdict as an error.
            case "RequireValid" ->
                Map.of("verdict", client.validate(item(request)).orThrow());
            case "ValidateBatch" ->
                Map.of(
                        "outcomes",
                        client.validateBatch(
                                list(request, "items", ConformanceRequests::item),
                                target(request.get("target")),
                                options(request.get("options"))));
            case "ValidateStream" -> stream(request);
            case "RegisterTools" ->
                client.register(
                        text(request, "server"),
                        list(request, "tools", ConformanceRequests::definition),
                        registrationOptions(request, testCase));
            case "GetTool" ->
                Map.of(
                        "tool",
                        client.get(text(request, "server"), text(request, "name"), text(request, "adapt_to_version")));
            case "ListTools" ->
                Map.of("tools", collected(client.list(text(request, "server"), text(request, "adapt_to_version"))));
            case "DeleteTools" ->
                flag(request, "all")
                        ? client.deleteAll(text(request, "server"))
                        : client.delete(text(request, "server"), texts(request, "names"));
            case "CompareTools" ->
                client.compare(toolSet(request.path("old")), toolSet(request.path("new")), reading(request));
            case "GetServerInfo" -> client.info();
            case "ListRules" ->
                Map.of("rules", collected(client.protocol().listRules(text(request, "protocol_version"))));
            case "CheckToolNames" -> protocol(request).checkNames(texts(request, "names"));
            case "CheckTools" ->
                request.has("tools_list")
                        ? protocol(request).checkTools(json(request, "tools_list"), documents(request))
                        : protocol(request).checkDefinitions(list(request, "tools", ConformanceRequests::definition));
            case "CheckElicitation", "CheckElicitationResult", "CheckSampling", "CheckToolResult", "CheckMessage" ->
                Map.of("result", check(request));
            case "CheckSession" -> session(request);
            case "CheckBatch" ->
                Map.of(
                        "outcomes",
                        protocol(request).checkBatch(list(request, "items", ConformanceRequests::checkItem)));
            case "NormalizeToolResult" ->
                protocol(request).normalizeToolResult(returned(request), target(request.get("tool")), profile(request));
            case "ConvertTools" ->
                client.conversion()
                        .convertTools(
                                constant(ModelApi.class, request.get("api"), null),
                                list(
                                        request,
                                        "tools",
                                        tool -> new ToolToConvert(target(tool.get("tool")), text(tool, "server"))),
                                texts(request, "servers"),
                                conversionOptions(request.path("options")));
            case "ConvertToolCall" ->
                client.conversion()
                        .convertToolCall(
                                json(request, "call"),
                                texts(request, "mappings").stream()
                                        .map(Json::text)
                                        .toList(),
                                target(request.get("tool")),
                                options(request.get("options")));
            case "ConvertToolResult" ->
                client.conversion()
                        .convertToolResult(
                                constant(ModelApi.class, request.get("api"), null),
                                toolResult(request.get("result")),
                                text(request, "call_id"),
                                text(request, "name"),
                                context(request.path("context")),
                                checkOptions(request.path("options")));
            case "InferTools" ->
                client.inference()
                        .inferTools(
                                text(request, "source"),
                                new InferenceOptions(
                                        texts(request, "functions"),
                                        constant(
                                                InferenceOptions.OnUnsupported.class,
                                                request.get("on_unsupported"),
                                                InferenceOptions.OnUnsupported.ERROR),
                                        texts(request, "injected_types"),
                                        texts(request, "injected_parameters")));
            case "AdaptTool" ->
                client.inference()
                        .adaptTool(
                                target(request.get("tool")), text(request, "protocol_version"), portability(request));
            default -> null;
        };
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

    private static Portability portability(JsonNode request) {
        JsonNode portable = request.path("portable");
        return portable.isMissingNode() ? null : new Portability(texts(portable, "targets"), flag(portable, "prove"));
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

    private CheckResult check(JsonNode request) {
        ProtocolClient checks = protocol(request);
        CheckItem item = checkItem(request);
        if (item instanceof CheckItem.Elicitation elicitation) {
            return checks.checkElicitation(elicitation.params());
        }
        if (item instanceof CheckItem.ElicitationResult result) {
            return checks.checkElicitationResult(result.result(), result.params());
        }
        if (item instanceof CheckItem.Sampling sampling) {
            return checks.checkSampling(sampling.params());
        }
        if (item instanceof CheckItem.ToolResult result) {
            return checks.checkToolResult(result.result(), result.profile(), result.tool());
        }
        var message = (CheckItem.Message) item;
        return checks.checkMessage(message.json(), message.sender(), message.requestMethod(), message.request());
    }

    private Object session(JsonNode request) {
        List<Object> responses = new ArrayList<>();
        try (Session session = protocol(request.path("defaults")).session()) {
            for (JsonNode item : request.get("items")) {
                JsonNode message = item.get("message");
                CheckResult result =
                        session.check(json(message, "json"), constant(Sender.class, message.get("sender"), null));
                responses.add(Map.of("id", text(item, "id"), "outcome", Map.of("result", result)));
            }
            return Map.of("responses", responses, "summary", session.finish());
        }
    }

    private ProtocolClient protocol(JsonNode request) {
        return client.protocol()
                .withContext(context(request.path("context")))
                .withOptions(checkOptions(request.path("options")));
    }
}
