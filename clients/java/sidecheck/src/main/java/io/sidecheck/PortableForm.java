package io.sidecheck;

import java.util.List;
import java.util.Optional;

/**
 * What a portable definition lost, and the mapping that converts its calls back.
 *
 * @param mapping mapping for {@link ConversionClient#convertToolCall}, whose call is the {@code params}
 *     of a {@code tools/call}
 * @param losses all differences from the original definition, ordered by location
 * @param effect worst effect of the losses on the set of accepted calls
 * @param proof proof of the effect; empty unless it was requested
 */
public record PortableForm(Json mapping, List<Loss> losses, Loss.Effect effect, Optional<Proof> proof) {
    /** Relation of the calls that a portable form accepts to those of the original. */
    public enum Outcome {
        /** A value that this release of the client does not know. */
        UNSPECIFIED,
        /** Both provably accept the same calls. */
        EQUIVALENT,
        /** The form provably accepts every call of the original, and maybe others. */
        WIDER,
        /** Neither a proof nor a counterexample was found. */
        UNDECIDED,
        /** The original accepts a call that the form rejects. */
        NARROWER
    }

    /**
     * Comparison of a portable form with its original, with the mapping applied.
     *
     * @param outcome relation of the accepted calls
     * @param message why the outcome is undecided or narrower; "" otherwise. A form that is narrower
     *     although no loss is {@link Loss.Effect#NARROWED} is a defect of the server, which this text
     *     says
     * @param witness arguments that only the original accepts
     */
    public record Proof(Outcome outcome, String message, Optional<Witness> witness) {}
}
