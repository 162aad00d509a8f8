package io.sidecheck;

import java.util.List;

/** Tools to compare. */
public sealed interface ToolSet {
    /**
     * Registered tools. A server without tools is an error.
     *
     * @param server namespace of the server
     * @param names names of the tools; none means all
     */
    record ServerTools(String server, List<String> names) implements ToolSet {
        /**
         * All tools of a server.
         *
         * @param server namespace of the server
         */
        public ServerTools(String server) {
            this(server, List.of());
        }
    }

    /**
     * Tools sent with the request.
     *
     * @param tools definitions, of which there may be none
     */
    record Definitions(List<Target.ToolDefinition> tools) implements ToolSet {}
}
