package io.sidecheck;

import io.grpc.Status;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;

/**
 * A request that has no result, with the reason.
 *
 * <p>An invalid payload is not an error: it is returned as a {@link Verdict}. The message has the
 * reason and the description, with a space in place of each character that is not printable: a
 * server may be hostile.
 */
public class SidecheckException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** Stable reason. */
    private final String reason;

    /** Message without the reason. */
    private final String description;

    private final transient Map<String, String> metadata;

    /** Status code of gRPC. */
    private final Status.Code status;

    /** Delay that the server suggests, or null. */
    private final Duration retryAfter;

    SidecheckException(
            String reason, String description, Map<String, String> metadata, Status.Code status, Duration retryAfter) {
        this(Texts.makePrintable(reason + ": " + description), reason, description, metadata, status, retryAfter);
    }

    SidecheckException(
            String text,
            String reason,
            String description,
            Map<String, String> metadata,
            Status.Code status,
            Duration retryAfter) {
        super(text);
        this.reason = reason;
        this.description = description;
        this.metadata = Map.copyOf(metadata);
        this.status = status;
        this.retryAfter = retryAfter;
    }

    /**
     * Returns the stable reason in upper snake case, for example {@code UNKNOWN_TOOL}. For errors
     * of gRPC itself it is the name of the status code.
     *
     * @return the reason
     */
    public String reason() {
        return reason;
    }

    /**
     * Returns the message without the reason, as it was sent.
     *
     * @return the message
     */
    public String description() {
        return description;
    }

    /**
     * Returns the variable parts of the message by name.
     *
     * @return the metadata; empty after deserialization
     */
    public Map<String, String> metadata() {
        return metadata == null ? Map.of() : metadata;
    }

    /**
     * Returns the name of the gRPC status code.
     *
     * @return the name, for example {@code NOT_FOUND}
     */
    public String status() {
        return status.name();
    }

    /**
     * Returns the time after which the server suggests to try again.
     *
     * @return the time, if the server suggests one
     */
    public Optional<Duration> retryAfter() {
        return Optional.ofNullable(retryAfter);
    }

    /**
     * Returns the {@code error} of the JSON-RPC response to send to the MCP client, for example for
     * an unknown tool.
     *
     * @return JSON text, empty if there is none
     */
    public Json jsonRpcError() {
        String text = metadata().get("json_rpc_error");
        return text == null ? Json.EMPTY : Json.text(text);
    }

    Status.Code code() {
        return status;
    }
}
