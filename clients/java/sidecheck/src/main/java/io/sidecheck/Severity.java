package io.sidecheck;

/** Severity of a violation. Only an error makes a verdict invalid. */
public enum Severity {
    /** A requirement (MUST) is broken. */
    ERROR,
    /** A recommendation (SHOULD) is not followed. */
    WARNING,
    /**
     * Advice, and the severity of violations that this release of the client does not know: the
     * server itself decides whether a verdict is valid.
     */
    INFO
}
