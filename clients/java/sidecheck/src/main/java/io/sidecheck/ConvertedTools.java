package io.sidecheck;

import java.util.List;

/**
 * Tools in the format of a model API.
 *
 * @param conversions one conversion per tool, in order
 * @param request verdict on the converted tools as one request to the API
 */
public record ConvertedTools(List<Conversion> conversions, Verdict request) {
    /**
     * Conversion of one tool.
     *
     * @param server server that offers the tool, or ""
     * @param name name of the tool, "" if it cannot be read
     * @param outcome the converted tool, or its error
     */
    public record Conversion(String server, String name, Outcome<Converted> outcome) {}

    /**
     * One converted tool.
     *
     * @param json the tool, as an element of the request
     * @param name name of the tool in the request
     * @param strict whether it uses the strict mode of the API
     * @param mapping mapping for {@link ConversionClient#convertToolCall}; it belongs to this
     *     definition and has no payload values
     * @param losses differences from the definition, by location
     * @param notStrictReason reason why it is not strict although the mode prefers it, or ""
     */
    public record Converted(
            Json json, String name, boolean strict, Json mapping, List<Loss> losses, String notStrictReason) {}
}
