package io.sidecheck;

import java.time.Duration;

/**
 * Options of a client.
 *
 * @param timeout deadline of each call
 * @param onUnavailable policy for validations and checks that no server answers
 * @param protocolVersion MCP protocol version of requests that name none; "" leaves it to the
 *     server
 * @param tls TLS; null is plain text, for a server on the same machine or network
 */
public record ClientOptions(Duration timeout, OnUnavailable onUnavailable, String protocolVersion, Tls tls) {
    /** A deadline of 2 s, errors thrown, plain text. */
    public static final ClientOptions DEFAULTS =
            new ClientOptions(Duration.ofSeconds(2), OnUnavailable.ERROR, "", null);

    /**
     * Checks the arguments.
     *
     * @param timeout deadline of each call
     * @param onUnavailable policy for validations and checks that no server answers
     * @param protocolVersion protocol version of requests that name none, or ""
     * @param tls TLS, or null
     * @throws IllegalArgumentException if the timeout is not positive
     * @throws NullPointerException if another argument than {@code tls} is null
     */
    public ClientOptions {
        requirePositive(timeout);
        java.util.Objects.requireNonNull(onUnavailable, "onUnavailable");
        java.util.Objects.requireNonNull(protocolVersion, "protocolVersion");
    }

    static void requirePositive(Duration timeout) {
        if (timeout.isNegative() || timeout.isZero()) {
            throw new IllegalArgumentException("timeout must be positive, not " + timeout);
        }
    }

    /**
     * Returns these options with another deadline.
     *
     * @param value deadline of each call
     * @return the options
     */
    public ClientOptions withTimeout(Duration value) {
        return new ClientOptions(value, onUnavailable, protocolVersion, tls);
    }

    /**
     * Returns these options with another policy.
     *
     * @param value policy
     * @return the options
     */
    public ClientOptions withOnUnavailable(OnUnavailable value) {
        return new ClientOptions(timeout, value, protocolVersion, tls);
    }

    /**
     * Returns these options for another protocol version.
     *
     * @param value protocol version
     * @return the options
     */
    public ClientOptions withProtocolVersion(String value) {
        return new ClientOptions(timeout, onUnavailable, value, tls);
    }

    /**
     * Returns these options with TLS.
     *
     * @param value TLS
     * @return the options
     */
    public ClientOptions withTls(Tls value) {
        return new ClientOptions(timeout, onUnavailable, protocolVersion, value);
    }
}
