package io.sidecheck;

/**
 * Options of a validation; {@link #DEFAULTS} are those of the server.
 *
 * @param protocolVersion MCP protocol version whose rules apply; "" is that of the client, or else
 *     of the registered tool, or else of the server
 * @param detail amount of detail in the verdict
 * @param maxViolations maximum number of violations; the server lowers it to its own limit
 * @param unknownArguments treatment of properties that the schema does not declare
 * @param coercion conversions of values of the wrong type in the repaired payload
 * @param applyDefaults whether the repaired payload gets the schema's defaults
 * @param assertFormats whether {@code format} is an assertion
 * @param onUnknownTool treatment of calls to tools that are not registered
 * @param hideValues whether messages omit values of the payload
 */
public record ValidationOptions(
        String protocolVersion,
        Detail detail,
        int maxViolations,
        UnknownArguments unknownArguments,
        Coercion coercion,
        boolean applyDefaults,
        boolean assertFormats,
        OnUnknownTool onUnknownTool,
        boolean hideValues) {
    /** The defaults of the server. */
    public static final ValidationOptions DEFAULTS = new ValidationOptions(
            "", Detail.ALL, 20, UnknownArguments.SCHEMA, Coercion.NONE, false, false, OnUnknownTool.ERROR, false);

    /**
     * Returns these options for another protocol version.
     *
     * @param value protocol version
     * @return the options
     */
    public ValidationOptions withProtocolVersion(String value) {
        return new ValidationOptions(
                value,
                detail,
                maxViolations,
                unknownArguments,
                coercion,
                applyDefaults,
                assertFormats,
                onUnknownTool,
                hideValues);
    }

    /**
     * Returns these options with another amount of detail.
     *
     * @param value amount of detail
     * @return the options
     */
    public ValidationOptions withDetail(Detail value) {
        return new ValidationOptions(
                protocolVersion,
                value,
                maxViolations,
                unknownArguments,
                coercion,
                applyDefaults,
                assertFormats,
                onUnknownTool,
                hideValues);
    }

    /**
     * Returns these options with another maximum number of violations.
     *
     * @param value maximum
     * @return the options
     */
    public ValidationOptions withMaxViolations(int value) {
        return new ValidationOptions(
                protocolVersion,
                detail,
                value,
                unknownArguments,
                coercion,
                applyDefaults,
                assertFormats,
                onUnknownTool,
                hideValues);
    }

    /**
     * Returns these options with another treatment of unknown properties.
     *
     * @param value treatment
     * @return the options
     */
    public ValidationOptions withUnknownArguments(UnknownArguments value) {
        return new ValidationOptions(
                protocolVersion,
                detail,
                maxViolations,
                value,
                coercion,
                applyDefaults,
                assertFormats,
                onUnknownTool,
                hideValues);
    }

    /**
     * Returns these options with other conversions.
     *
     * @param value conversions
     * @return the options
     */
    public ValidationOptions withCoercion(Coercion value) {
        return new ValidationOptions(
                protocolVersion,
                detail,
                maxViolations,
                unknownArguments,
                value,
                applyDefaults,
                assertFormats,
                onUnknownTool,
                hideValues);
    }

    /**
     * Returns these options with or without the schema's defaults in the repaired payload.
     *
     * @param value whether it gets them
     * @return the options
     */
    public ValidationOptions withApplyDefaults(boolean value) {
        return new ValidationOptions(
                protocolVersion,
                detail,
                maxViolations,
                unknownArguments,
                coercion,
                value,
                assertFormats,
                onUnknownTool,
                hideValues);
    }

    /**
     * Returns these options with or without assertion of formats.
     *
     * @param value whether {@code format} is an assertion
     * @return the options
     */
    public ValidationOptions withAssertFormats(boolean value) {
        return new ValidationOptions(
                protocolVersion,
                detail,
                maxViolations,
                unknownArguments,
                coercion,
                applyDefaults,
                value,
                onUnknownTool,
                hideValues);
    }

    /**
     * Returns these options with another treatment of unknown tools.
     *
     * @param value treatment
     * @return the options
     */
    public ValidationOptions withOnUnknownTool(OnUnknownTool value) {
        return new ValidationOptions(
                protocolVersion,
                detail,
                maxViolations,
                unknownArguments,
                coercion,
                applyDefaults,
                assertFormats,
                value,
                hideValues);
    }

    /**
     * Returns these options with or without values of the payload in messages.
     *
     * @param value whether messages omit them
     * @return the options
     */
    public ValidationOptions withHideValues(boolean value) {
        return new ValidationOptions(
                protocolVersion,
                detail,
                maxViolations,
                unknownArguments,
                coercion,
                applyDefaults,
                assertFormats,
                onUnknownTool,
                value);
    }

    /** Amount of detail in a verdict. */
    public enum Detail {
        /** Validity only. */
        VERDICT_ONLY,
        /** The first violation. */
        FIRST,
        /** All violations up to the maximum. */
        ALL
    }

    /** Treatment of properties that the schema does not declare. */
    public enum UnknownArguments {
        /** The schema alone decides. */
        SCHEMA,
        /** They are violations with the code {@code UNKNOWN_PROPERTY}. */
        REJECT,
        /** They are removed from the repaired payload. */
        STRIP,
        /** They are violations of severity warning. */
        REPORT
    }

    /** Conversions of values of the wrong type, in the repaired payload only. */
    public enum Coercion {
        /** No conversion. */
        NONE,
        /** Strings with the JSON text of an object or array, where the schema requires one. */
        JSON_STRINGS,
        /**
         * Also scalars whose value survives exactly. A property with null, {@code ""} or
         * {@code "null"} is removed if the schema rejects that value and does not require the
         * property.
         */
        SAFE_SCALARS
    }

    /** Treatment of calls to tools that are not registered. */
    public enum OnUnknownTool {
        /** The error {@code UNKNOWN_TOOL}. */
        ERROR,
        /** A valid verdict with a warning. */
        SKIP
    }
}
