package io.sidecheck;

import io.grpc.Status;
import java.time.Duration;
import java.util.Map;

/**
 * No Sidecheck server answered, after all retries that the deadline allows: it was lost,
 * overloaded, shutting down, or is not Sidecheck. {@link OnUnavailable} applies to this error only.
 */
public final class UnavailableException extends SidecheckException {
    private static final long serialVersionUID = 1L;

    UnavailableException(
            String reason, String description, Map<String, String> metadata, Status.Code status, Duration retryAfter) {
        super(reason, description, metadata, status, retryAfter);
    }
}
