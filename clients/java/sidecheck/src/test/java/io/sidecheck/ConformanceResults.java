package io.sidecheck;

import java.lang.reflect.RecordComponent;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import tools.jackson.databind.JsonNode;

/** Results of the client in the form of the shared cases: the records' components by reflection. */
final class ConformanceResults {
    /** They depend on what else the server has done. */
    private static final Set<String> VARIABLE = Set.of("registry_revision", "revision");

    private ConformanceResults() {}

    static Object render(Object value) {
        if (value instanceof Optional<?> optional) {
            return optional.map(ConformanceResults::render).orElse(null);
        }
        if (value instanceof List<?> list) {
            return list.stream().map(ConformanceResults::render).toList();
        }
        if (value instanceof Map<?, ?> map) {
            Map<Object, Object> rendered = new LinkedHashMap<>();
            map.forEach((key, element) ->
                    rendered.put(key, element instanceof SidecheckException error ? error(error) : render(element)));
            return rendered;
        }
        if (value instanceof SidecheckException error) {
            return Map.of("error", error(error));
        }
        if (value instanceof Outcome.Failure<?> failure) {
            return render(failure.error());
        }
        if (value instanceof Outcome.Success<?> success) {
            String name = success.value() instanceof Verdict
                    ? "verdict"
                    : success.value() instanceof CheckResult ? "result" : "converted";
            return Map.of(name, render(success.value()));
        }
        if (value instanceof Enum<?> constant) {
            return word(constant);
        }
        if (value instanceof Json json) {
            return json.toString();
        }
        return value instanceof Record object ? record(object) : value;
    }

    /** Returns the word of the API for a value of an enumeration. */
    static String word(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    private static Map<String, Object> record(Record object) {
        Map<String, Object> rendered = new LinkedHashMap<>();
        for (RecordComponent component : object.getClass().getRecordComponents()) {
            String name = component.getName().replaceAll("([A-Z])", "_$1").toLowerCase(Locale.ROOT);
            if (VARIABLE.contains(name)) {
                continue;
            }
            try {
                Object value = render(component.getAccessor().invoke(object));
                if (object instanceof ConvertedTools.Conversion && name.equals("outcome")) {
                    ((Map<?, ?>) value).forEach((key, part) -> rendered.put((String) key, part));
                } else {
                    rendered.put(name, value);
                }
            } catch (ReflectiveOperationException error) {
                throw new AssertionError(error);
            }
        }
        return rendered;
    }

    private static Map<String, Object> error(SidecheckException error) {
        Map<String, Object> rendered = new LinkedHashMap<>();
        rendered.put("kind", kind(error));
        rendered.put("reason", error.reason());
        rendered.put("status", error.status());
        rendered.put("message", error.description());
        rendered.put("text", error.getMessage());
        rendered.put("metadata", error.metadata());
        rendered.put(
                "retry_after",
                error.retryAfter().map(Duration::toMillis).map(m -> m / 1e3).orElse(null));
        if (error instanceof StreamClosedException closed) {
            rendered.put("unanswered", closed.unanswered());
        }
        return rendered;
    }

    private static String kind(SidecheckException error) {
        return Map.of(
                        SidecheckException.class, "error",
                        UnavailableException.class, "unavailable",
                        InvalidResponseException.class, "invalid_response",
                        StreamClosedException.class, "stream_closed",
                        StreamUnavailableException.class, "stream_unavailable",
                        ToolsRejectedException.class, "tools_rejected")
                .get(error.getClass());
    }

    /** Returns whether a result is as wanted; of an error only the keys of {@code want} count. */
    static boolean isExpected(JsonNode want, JsonNode actual) {
        if (want.isObject() && actual.isObject()) {
            return want.size() == actual.size()
                    && want.propertyStream()
                            .allMatch(entry -> actual.has(entry.getKey())
                                    && (entry.getKey().equals("error")
                                                    && entry.getValue().isObject()
                                            ? isExpectedError(entry.getValue(), actual.get("error"))
                                            : isExpected(entry.getValue(), actual.get(entry.getKey()))));
        }
        if (want.isArray() && actual.isArray()) {
            for (int index = 0; index < want.size(); index++) {
                if (index >= actual.size() || !isExpected(want.get(index), actual.get(index))) {
                    return false;
                }
            }
            return want.size() == actual.size();
        }
        return want.equals(actual);
    }

    private static boolean isExpectedError(JsonNode want, JsonNode actual) {
        return want.propertyStream().allMatch(entry -> entry.getValue().equals(actual.get(entry.getKey())));
    }
}
