package io.sidecheck;

import java.util.List;

/**
 * Options of an inference.
 *
 * @param functions names of the functions, {@code Class.method} for methods; none are all with a
 *     decorator named {@code tool} or, if there is none, the public functions
 * @param onUnsupported treatment of annotations that have no schema
 * @param injectedTypes names of further types whose parameters the server injects
 * @param injectedParameters names of parameters that the server injects
 */
public record InferenceOptions(
        List<String> functions,
        OnUnsupported onUnsupported,
        List<String> injectedTypes,
        List<String> injectedParameters) {
    /** The defaults of the server. */
    public static final InferenceOptions DEFAULTS =
            new InferenceOptions(List.of(), OnUnsupported.ERROR, List.of(), List.of());

    /** Treatment of an annotation that has no schema. */
    public enum OnUnsupported {
        /** The tool is not inferred, and a diagnostic gives the reason. */
        ERROR,
        /** It accepts any value, with a warning. */
        ANY
    }
}
