package io.sidecheck;

import io.grpc.Status;
import java.util.Map;

/**
 * A server answered, but not with what the API defines. The reason is {@code INVALID_RESPONSE};
 * {@link OnUnavailable} does not apply.
 */
public final class InvalidResponseException extends SidecheckException {
    private static final long serialVersionUID = 1L;

    InvalidResponseException(String fault) {
        super(ErrorReason.INVALID_RESPONSE, fault, Map.of(), Status.Code.INTERNAL, null);
    }
}
