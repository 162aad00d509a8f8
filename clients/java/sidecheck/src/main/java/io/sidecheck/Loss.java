package io.sidecheck;

/**
 * Difference between a definition or result and its converted form.
 *
 * @param pointer location in the definition or result, as a JSON Pointer
 * @param keyword keyword or property; "" if the location says it
 * @param action treatment of the keyword or property
 * @param effect effect on the accepted payloads
 * @param message description, for people
 */
public record Loss(String pointer, String keyword, Action action, Effect effect, String message) {
    /** Treatment of a keyword or property. */
    public enum Action {
        /** A value that this release of the client does not know. */
        UNSPECIFIED,
        /** Kept, although the API ignores it. */
        KEPT,
        /** Moved to the description. */
        DESCRIBED,
        /** Expressed in another way. */
        REWRITTEN,
        /** Payloads have another form, which the mapping decodes. */
        ENCODED,
        /** Removed. */
        DROPPED
    }

    /** Effect on the set of accepted payloads, with the mapping applied. */
    public enum Effect {
        /** A value that this release of the client does not know. */
        UNSPECIFIED,
        /** The same payloads are accepted. */
        EQUIVALENT,
        /** More payloads are accepted; converting the call back detects them. */
        WIDENED,
        /** Fewer payloads are accepted. */
        NARROWED
    }
}
