package io.sidecheck;

/** Policy for validations and checks that no server answers. */
public enum OnUnavailable {
    /** {@link UnavailableException} is thrown. */
    ERROR,
    /** A valid verdict with a warning of the code {@code SIDECHECK_UNAVAILABLE} is returned. */
    ALLOW,
    /** An invalid verdict with the code {@code SIDECHECK_UNAVAILABLE} is returned. */
    DENY
}
