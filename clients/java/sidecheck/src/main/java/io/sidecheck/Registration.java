package io.sidecheck;

import java.util.List;
import java.util.Optional;

/**
 * Result of a registration.
 *
 * @param outcomes outcomes of the definitions, in the order given
 * @param removed names that a replacement removed, in order
 * @param kept names that a replacement would have removed, in order, and that
 *     {@link RegistrationOptions#compatibility} kept
 * @param registryRevision revision of the registry afterwards
 */
public record Registration(List<Outcome> outcomes, List<String> removed, List<String> kept, long registryRevision) {
    /**
     * Returns the outcomes of the tools that were rejected.
     *
     * @return the outcomes, in order
     */
    public List<Outcome> rejected() {
        return outcomes.stream()
                .filter(outcome -> outcome.action() == Action.REJECTED)
                .toList();
    }

    /** Effect of a registration on one name. */
    public enum Action {
        /** A value that this release of the client does not know. */
        UNSPECIFIED,
        /** The name was not bound before. */
        CREATED,
        /** The name was bound to another definition. */
        CHANGED,
        /** The name was bound to this definition. */
        UNCHANGED,
        /** The definition was not registered; the violations say why. */
        REJECTED
    }

    /**
     * Outcome of the registration of one definition.
     *
     * @param name name of the tool; "" if the definition has none
     * @param action effect on the registry
     * @param violations violations of the definition; only one of severity error rejects it
     * @param definitionDigest digest of the definition; "" if it is not JSON
     * @param inputSchemaDigest digest of the input schema; "" if rejected
     * @param outputSchemaDigest digest of the output schema; "" if rejected or if there is none
     * @param previousDefinitionDigest digest of the definition registered before; "" if none was
     * @param comparison comparison with the definition registered before; empty if there was none,
     *     if it is the same, or without {@link RegistrationOptions#compatibility}
     */
    public record Outcome(
            String name,
            Action action,
            List<Violation> violations,
            String definitionDigest,
            String inputSchemaDigest,
            String outputSchemaDigest,
            String previousDefinitionDigest,
            Optional<ToolComparison> comparison) {}
}
