package io.sidecheck;

/** Requests of comparisons. */
final class ComparisonMessages {
    private ComparisonMessages() {}

    static io.sidecheck.v1.ToolSet toolSet(ToolSet set) {
        var message = io.sidecheck.v1.ToolSet.newBuilder();
        if (set instanceof ToolSet.ServerTools tools) {
            message.setServer(tools.server()).addAllNames(tools.names());
        } else if (set instanceof ToolSet.Definitions definitions) {
            message.addAllTools(definitions.tools().stream()
                    .map(ValidationMessages::inlineTool)
                    .toList());
        }
        return message.build();
    }

    static io.sidecheck.v1.SchemaReading reading(SchemaReading reading) {
        return io.sidecheck.v1.SchemaReading.valueOf("SCHEMA_READING_" + reading);
    }
}
