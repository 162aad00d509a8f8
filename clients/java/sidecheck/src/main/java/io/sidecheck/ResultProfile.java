package io.sidecheck;

/** Contract that a tool result must fulfil. */
public enum ResultProfile {
    /** The specification of the protocol version. */
    SPECIFICATION,
    /** Only text blocks and {@code isError}. */
    TEXT
}
