package io.sidecheck;

/** What a change of a tool means for its callers, the least first. */
public enum ChangeLevel {
    /** A value that this release of the client does not know. */
    UNSPECIFIED,
    /** Only texts, or data that asserts nothing, differ. */
    COSMETIC,
    /** Every payload that passed still passes: this is proved. */
    COMPATIBLE,
    /** The same payloads pass, and something that callers rely on may differ. */
    RISKY,
    /** Neither a proof nor a payload that shows the contrary was found. */
    UNDECIDED,
    /**
     * A payload that was valid no longer is, a result may be what callers do not expect, or the
     * tool cannot be called any more.
     */
    BREAKING
}
