package io.sidecheck;

/**
 * Validates payloads one by one: the methods of {@link Client} that code can depend on and tests can
 * replace, as only {@link #validate(Item)} is abstract.
 */
@FunctionalInterface
public interface Validator {
    /**
     * Validates any payload.
     *
     * @param item the payload, its target and its options
     * @return the verdict
     * @throws SidecheckException if no verdict was possible
     */
    Verdict validate(Item item);

    /**
     * Validates the arguments of a tool call.
     *
     * @param target what to validate against
     * @param arguments the arguments
     * @return the verdict
     * @throws SidecheckException if no verdict was possible
     */
    default Verdict validate(Target target, Json arguments) {
        return validate(target, arguments, null);
    }

    /**
     * The same, with options.
     *
     * @param target as above
     * @param arguments as above
     * @param options options; null are the defaults
     * @return the verdict
     * @throws SidecheckException if no verdict was possible
     */
    default Verdict validate(Target target, Json arguments, ValidationOptions options) {
        return validate(new Item(new Subject.Arguments(arguments), target, options));
    }

    /**
     * Validates a tool's structured content; see {@link Subject.AbsentContent} for none.
     *
     * @param target what to validate against
     * @param content the content
     * @return the verdict
     * @throws SidecheckException if no verdict was possible
     */
    default Verdict validateStructuredContent(Target target, Json content) {
        return validateStructuredContent(target, content, null);
    }

    /**
     * The same, with options.
     *
     * @param target as above
     * @param content as above
     * @param options options; null are the defaults
     * @return the verdict
     * @throws SidecheckException if no verdict was possible
     */
    default Verdict validateStructuredContent(Target target, Json content, ValidationOptions options) {
        return validate(new Item(new Subject.StructuredContent(content), target, options));
    }

    /**
     * Validates the complete {@code params} of a {@code tools/call}.
     *
     * @param target a tool, without its name if the params select it
     * @param params the params
     * @return the verdict
     * @throws SidecheckException if no verdict was possible
     */
    default Verdict validateCall(Target target, Json params) {
        return validateCall(target, params, null);
    }

    /**
     * The same, with options.
     *
     * @param target as above
     * @param params as above
     * @param options options; null are the defaults
     * @return the verdict
     * @throws SidecheckException if no verdict was possible
     */
    default Verdict validateCall(Target target, Json params, ValidationOptions options) {
        return validate(new Item(new Subject.CallParams(params), target, options));
    }

    /**
     * Validates a complete {@code CallToolResult}.
     *
     * @param target a tool
     * @param result the result
     * @return the verdict
     * @throws SidecheckException if no verdict was possible
     */
    default Verdict validateCallResult(Target target, Json result) {
        return validateCallResult(target, result, null);
    }

    /**
     * The same, with options.
     *
     * @param target as above
     * @param result as above
     * @param options options; null are the defaults
     * @return the verdict
     * @throws SidecheckException if no verdict was possible
     */
    default Verdict validateCallResult(Target target, Json result, ValidationOptions options) {
        return validate(new Item(new Subject.CallResult(result), target, options));
    }
}
