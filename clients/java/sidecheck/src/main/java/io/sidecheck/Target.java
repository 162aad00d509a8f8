package io.sidecheck;

import java.util.List;

/** What a payload is validated against. */
public sealed interface Target {
    /**
     * A tool of the registry, by server and name.
     *
     * @param server namespace of the server that offers the tool
     * @param name name of the tool; "" with {@link Subject.CallParams}, which contain it
     * @param definitionDigest if not "", the digest that the registered definition must have
     */
    record RegisteredTool(String server, String name, String definitionDigest) implements Target {
        /**
         * A tool with any definition.
         *
         * @param server namespace of the server
         * @param name name of the tool
         */
        public RegisteredTool(String server, String name) {
            this(server, name, "");
        }

        /**
         * The tool that {@link Subject.CallParams} name.
         *
         * @param server namespace of the server
         */
        public RegisteredTool(String server) {
            this(server, "", "");
        }
    }

    /**
     * A tool definition of the registry, by its digest.
     *
     * @param digest {@code sha256:} and 64 hexadecimal digits
     */
    record DefinitionDigest(String digest) implements Target {}

    /**
     * A schema of a registered tool, by its digest.
     *
     * @param digest {@code sha256:} and 64 hexadecimal digits
     */
    record SchemaDigest(String digest) implements Target {}

    /**
     * A tool definition sent inline, as an entry of an MCP {@code tools/list} result.
     *
     * @param json the definition
     * @param documents documents that its schemas refer to
     */
    record ToolDefinition(Json json, List<Document> documents) implements Target {
        /**
         * A definition without documents.
         *
         * @param json the definition
         */
        public ToolDefinition(Json json) {
            this(json, List.of());
        }
    }

    /**
     * A JSON Schema sent inline.
     *
     * @param json the schema
     * @param documents documents that it refers to; one may be the meta-schema of its {@code
     *     $schema}
     * @param defaultDialect URI of the dialect of a schema without {@code $schema}; "" is JSON
     *     Schema 2020-12
     */
    record Schema(Json json, List<Document> documents, String defaultDialect) implements Target {
        /**
         * A schema without documents.
         *
         * @param json the schema
         */
        public Schema(Json json) {
            this(json, List.of(), "");
        }
    }
}
