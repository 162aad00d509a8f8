package io.sidecheck;

/** Sender of a message. */
public enum Sender {
    /** Unknown: what either peer may send is accepted. */
    UNSPECIFIED,
    /** The client. */
    CLIENT,
    /** The server. */
    SERVER
}
