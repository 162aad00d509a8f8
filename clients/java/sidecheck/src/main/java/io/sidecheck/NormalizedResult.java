package io.sidecheck;

/**
 * A conforming {@code CallToolResult}.
 *
 * @param result the result; if what the tool returned breaks the protocol or the output schema, one
 *     with {@code isError} that describes the violations
 * @param verdict verdict on what the tool returned
 */
public record NormalizedResult(Json result, Verdict verdict) {}
