package io.sidecheck;

import java.util.List;

/**
 * Version, limits and capabilities of a server.
 *
 * @param version version of the server
 * @param limits limits beyond which requests fail with {@code LIMIT_EXCEEDED}
 * @param dialects URIs of the supported JSON Schema dialects, the default first
 * @param protocolVersions supported MCP protocol versions, oldest first
 * @param defaultProtocolVersion protocol version of requests that name none
 * @param engines validation engines
 * @param registryRevision revision of the registry
 */
public record ServerInfo(
        String version,
        Limits limits,
        List<String> dialects,
        List<String> protocolVersions,
        String defaultProtocolVersion,
        List<Engine> engines,
        long registryRevision) {
    /**
     * A validation engine.
     *
     * @param name its role: {@code fast} or {@code complete}
     * @param library the library it is built on
     * @param version version of that library
     */
    public record Engine(String name, String library, String version) {}

    /**
     * Limits that a caller can act on. Sizes are in bytes.
     *
     * @param messageBytes largest gRPC message that the server receives
     * @param batchItems most items in a batch, and most tools in a registration
     * @param violations most violations in a verdict
     * @param payloadBytes largest payload
     * @param payloadDepth deepest nesting of a payload
     * @param schemaBytes largest schema
     * @param schemaDepth deepest nesting of a schema
     * @param subschemas most subschemas in a schema
     * @param documents most documents sent along with a schema
     * @param documentsBytes total size of these documents
     * @param patternLength longest pattern, in characters
     * @param steps most evaluation steps for one payload
     * @param offloadedItems most items of a batch that may need a worker process
     * @param batchViolations most violations in a batch
     * @param verdictCharacters longest text of the violations, in characters
     * @param patternInstructions largest size of all compiled patterns of a schema
     * @param allowBacktracking whether look-around and back-references are accepted
     * @param sourceBytes largest source text to infer tools from
     * @param patternRepetitions most copies of a part that a pattern repeats
     * @param requestSteps most steps for one request in all
     */
    public record Limits(
            long messageBytes,
            long batchItems,
            long violations,
            long payloadBytes,
            long payloadDepth,
            long schemaBytes,
            long schemaDepth,
            long subschemas,
            long documents,
            long documentsBytes,
            long patternLength,
            long steps,
            long offloadedItems,
            long batchViolations,
            long verdictCharacters,
            long patternInstructions,
            boolean allowBacktracking,
            long sourceBytes,
            long patternRepetitions,
            long requestSteps) {}
}
