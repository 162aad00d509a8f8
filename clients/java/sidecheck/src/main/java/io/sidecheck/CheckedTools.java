package io.sidecheck;

import java.util.List;

/**
 * Result of a check of tool definitions.
 *
 * @param outcomes one outcome per tool, in order
 * @param toolsListVerdict verdict on what concerns the list as a whole
 */
public record CheckedTools(List<Outcome> outcomes, Verdict toolsListVerdict) {
    /**
     * Outcome for one tool.
     *
     * @param name name of the tool, "" if it cannot be read
     * @param pointer location of the definition in the tools list, as a JSON Pointer
     * @param disposition what a host should do with the tool
     * @param verdict verdict on the definition
     */
    public record Outcome(String name, String pointer, Disposition disposition, Verdict verdict) {}

    /** What a host should do with a tool. */
    public enum Disposition {
        /** A value that this release of the client does not know. */
        UNSPECIFIED,
        /** Offer it. */
        KEEP,
        /** Offer it, and tell the user or operator of the violations. */
        WARN,
        /** Do not offer it. */
        DROP
    }
}
