package io.sidecheck;

/**
 * Tool to convert.
 *
 * @param tool the tool
 * @param server server that offers it, used in its name; "" is the one that it is registered under
 */
public record ToolToConvert(Target tool, String server) {
    /**
     * A tool of the server that it is registered under, if any.
     *
     * @param tool the tool
     */
    public ToolToConvert(Target tool) {
        this(tool, "");
    }
}
