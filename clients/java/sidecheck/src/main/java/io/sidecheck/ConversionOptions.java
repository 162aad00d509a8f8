package io.sidecheck;

/**
 * Options of a conversion of tools.
 *
 * @param mode use of the strict mode of the API
 * @param serverPrefix use of the server name and {@code __} as a prefix of tool names
 * @param assumeClosed whether an object schema that declares properties and does not mention others
 *     counts as closed, so that closing it does not prevent strict mode
 * @param descriptionLength maximum length of a tool description in characters; 0 is that of the API
 * @param includeOutputSchema whether to include the output schema, for APIs that accept one
 * @param dropDefaults whether to drop every {@code default} of the input schema
 * @param protocolVersion protocol version that output schemas are adapted to; "" is that of the
 *     client
 */
public record ConversionOptions(
        Mode mode,
        ServerPrefix serverPrefix,
        boolean assumeClosed,
        int descriptionLength,
        boolean includeOutputSchema,
        boolean dropDefaults,
        String protocolVersion) {
    /** The defaults of the server. */
    public static final ConversionOptions DEFAULTS =
            new ConversionOptions(Mode.COMPATIBLE, ServerPrefix.AUTOMATIC, false, 0, false, false, "");

    /**
     * Returns these options with another use of the strict mode.
     *
     * @param value use
     * @return the options
     */
    public ConversionOptions withMode(Mode value) {
        return new ConversionOptions(
                value,
                serverPrefix,
                assumeClosed,
                descriptionLength,
                includeOutputSchema,
                dropDefaults,
                protocolVersion);
    }

    /** Use of the strict mode (structured outputs) of an API. */
    public enum Mode {
        /** Never strict; keywords that the API rejects are widened. */
        COMPATIBLE,
        /** Strict for each tool whose strict form accepts the same arguments. */
        STRICT_IF_LOSSLESS,
        /** Always strict; the error {@code NOT_CONVERTIBLE} for a tool without a strict form. */
        STRICT
    }

    /** Use of the server name as a prefix. */
    public enum ServerPrefix {
        /** If the request has tools of several servers. */
        AUTOMATIC,
        /** For every tool that has a server. */
        ALWAYS,
        /** Never. */
        NEVER
    }
}
