package io.sidecheck;

import java.time.Duration;
import java.util.function.Supplier;

/**
 * Options of a client.
 *
 * @param timeout deadline of each call
 * @param onUnavailable policy for validations and checks that no server answers
 * @param protocolVersion MCP protocol version of requests that name none; "" leaves it to the
 *     server
 * @param tls TLS; null is plain text, for a server on the same machine or network
 * @param token bearer token of all calls; null sends none
 * @param tokenWithoutTls whether the token may be sent in plain text beyond this machine, where the
 *     network itself is encrypted
 */
public record ClientOptions(
        Duration timeout,
        OnUnavailable onUnavailable,
        String protocolVersion,
        Tls tls,
        Token token,
        boolean tokenWithoutTls) {
    /** A deadline of 2 s, errors thrown, plain text, no token. */
    public static final ClientOptions DEFAULTS =
            new ClientOptions(Duration.ofSeconds(2), OnUnavailable.ERROR, "", null, null, false);

    /**
     * Checks the arguments.
     *
     * @param timeout deadline of each call
     * @param onUnavailable policy for validations and checks that no server answers
     * @param protocolVersion protocol version of requests that name none, or ""
     * @param tls TLS, or null
     * @param token token, or null
     * @param tokenWithoutTls whether the token may be sent in plain text beyond this machine
     * @throws IllegalArgumentException if the timeout is not positive
     * @throws NullPointerException if another argument than {@code tls} or {@code token} is null
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
        return new ClientOptions(value, onUnavailable, protocolVersion, tls, token, tokenWithoutTls);
    }

    /**
     * Returns these options with another policy.
     *
     * @param value policy
     * @return the options
     */
    public ClientOptions withOnUnavailable(OnUnavailable value) {
        return new ClientOptions(timeout, value, protocolVersion, tls, token, tokenWithoutTls);
    }

    /**
     * Returns these options for another protocol version.
     *
     * @param value protocol version
     * @return the options
     */
    public ClientOptions withProtocolVersion(String value) {
        return new ClientOptions(timeout, onUnavailable, value, tls, token, tokenWithoutTls);
    }

    /**
     * Returns these options with TLS.
     *
     * @param value TLS
     * @return the options
     */
    public ClientOptions withTls(Tls value) {
        return new ClientOptions(timeout, onUnavailable, protocolVersion, value, token, tokenWithoutTls);
    }

    /**
     * Returns these options with a bearer token, which is sent with every call and stream.
     *
     * @param value token
     * @return the options
     * @throws IllegalArgumentException if it has other characters than visible ASCII, or none; the
     *     message does not show it
     */
    public ClientOptions withToken(String value) {
        return withToken(Token.of(value));
    }

    /**
     * Returns these options with a bearer token that may change.
     *
     * @param value is called for each call and stream, by any thread, and must not block
     * @return the options
     */
    public ClientOptions withToken(Supplier<String> value) {
        return withToken(Token.from(value));
    }

    private ClientOptions withToken(Token value) {
        return new ClientOptions(timeout, onUnavailable, protocolVersion, tls, value, tokenWithoutTls);
    }

    /**
     * Returns these options with the permission to send the token in plain text, or without it.
     *
     * @param value whether the token may be sent in plain text beyond this machine
     * @return the options
     */
    public ClientOptions withTokenWithoutTls(boolean value) {
        return new ClientOptions(timeout, onUnavailable, protocolVersion, tls, token, value);
    }
}
