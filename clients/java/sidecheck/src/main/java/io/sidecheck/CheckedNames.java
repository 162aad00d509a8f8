package io.sidecheck;

import java.util.List;

/**
 * Result of a check of tool names.
 *
 * @param outcomes one outcome per name, in order
 * @param collisions names that become the same name when sanitized
 */
public record CheckedNames(List<Outcome> outcomes, List<Collision> collisions) {
    /**
     * Outcome for one name.
     *
     * @param verdict verdict by the specification
     * @param sdkValid whether the SDKs accept the name
     * @param sdkWarnings warnings of the SDKs
     * @param sanitized nearest name that model APIs accept
     */
    public record Outcome(Verdict verdict, boolean sdkValid, List<String> sdkWarnings, String sanitized) {}

    /**
     * Names with the same sanitized name.
     *
     * @param sanitized the sanitized name
     * @param indexes indexes of the names
     */
    public record Collision(String sanitized, List<Integer> indexes) {}
}
