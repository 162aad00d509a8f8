package io.sidecheck;

/** Severity of a violation. Only an error makes a verdict invalid. */
public enum Severity {
    /** A value that this release of the client does not know. */
    UNSPECIFIED,
    /** A requirement (MUST) is broken. */
    ERROR,
    /** A recommendation (SHOULD) is not followed. */
    WARNING,
    /** Advice; no rule is broken. */
    INFO
}
