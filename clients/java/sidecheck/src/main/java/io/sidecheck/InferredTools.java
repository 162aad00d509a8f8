package io.sidecheck;

import java.util.List;

/**
 * Tools inferred from source text.
 *
 * @param tools tools, in the order of the text
 * @param diagnostics what the text does not define
 */
public record InferredTools(List<Inferred> tools, List<Diagnostic> diagnostics) {
    /**
     * One inferred tool.
     *
     * @param json the definition
     * @param function name of the function
     * @param line line of the function, from 1
     * @param definitionDigest digest of the definition
     */
    public record Inferred(Json json, String function, int line, String definitionDigest) {}

    /**
     * A fault or remark, with its place in the text.
     *
     * @param code stable code
     * @param severity severity
     * @param message description, for people
     * @param line first line, from 1; 0 without a place
     * @param column first column
     * @param endLine last line
     * @param endColumn column after the last one
     * @param function name of the function, or ""
     * @param parameter name of the parameter, or ""
     */
    public record Diagnostic(
            String code,
            Severity severity,
            String message,
            int line,
            int column,
            int endLine,
            int endColumn,
            String function,
            String parameter) {}
}
