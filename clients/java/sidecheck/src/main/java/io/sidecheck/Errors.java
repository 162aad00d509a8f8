package io.sidecheck;

import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Message;
import com.google.rpc.ErrorInfo;
import com.google.rpc.RetryInfo;
import io.grpc.Metadata;
import io.grpc.Status;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;

/** Errors from {@code google.rpc.Status} messages, failed calls and invalid responses. */
final class Errors {
    private static final Metadata.Key<byte[]> DETAILS =
            Metadata.Key.of("grpc-status-details-bin", Metadata.BINARY_BYTE_MARSHALLER);

    /**
     * Codes that gRPC libraries and proxies set by themselves (gRPC, doc/statuscodes.md and
     * doc/http-grpc-status-mapping.md). Without a reason of Sidecheck they mean that no Sidecheck
     * server answered.
     */
    private static final Set<Status.Code> UNAVAILABLE_CODES = EnumSet.of(
            Status.Code.CANCELLED,
            Status.Code.UNKNOWN,
            Status.Code.DEADLINE_EXCEEDED,
            Status.Code.PERMISSION_DENIED,
            Status.Code.RESOURCE_EXHAUSTED,
            Status.Code.UNIMPLEMENTED,
            Status.Code.INTERNAL,
            Status.Code.UNAVAILABLE,
            Status.Code.UNAUTHENTICATED);

    /**
     * Messages for a request that a server or proxy finds too large: gRPC for C++, Go and Java, and
     * HTTP status 413. Whoever writes the payload can bring these about, so they must never pass
     * for an unavailable server.
     */
    private static final Pattern TOO_LARGE =
            Pattern.compile("message larger than max|message exceeds maximum size|http2 header with status: 413"
                    + "|HTTP status code 413");

    /** How gRPC reports a stream that the server refused. */
    private static final String REFUSED = "HTTP/2 error code: REFUSED_STREAM";

    private Errors() {}

    /** Whether a call failed because the server refused it before any work on it. */
    static boolean isRefused(SidecheckException error) {
        return error.description().contains(REFUSED);
    }

    /** The error of a failed call to a peer. */
    static SidecheckException ofCall(Status status, Metadata trailers, Peer peer) {
        com.google.rpc.Status.Builder decoded = com.google.rpc.Status.newBuilder()
                .setCode(status.getCode().value())
                .setMessage(status.getDescription() == null ? "" : status.getDescription());
        byte[] details = trailers == null ? null : trailers.get(DETAILS);
        if (details != null) {
            try {
                decoded.addAllDetails(com.google.rpc.Status.parseFrom(details).getDetailsList());
            } catch (InvalidProtocolBufferException error) {
                // The code and the message suffice.
                decoded.clearDetails();
            }
        }
        if (errorInfo(decoded.build()) != null) {
            return ofItem(decoded.build());
        }
        String message = decoded.getMessage().isEmpty() ? "the status has no message" : decoded.getMessage();
        if (TOO_LARGE.matcher(message).find()) {
            return new SidecheckException(
                    ErrorReason.LIMIT_EXCEEDED,
                    message,
                    Map.of("bound", "message_bytes"),
                    Status.Code.RESOURCE_EXHAUSTED,
                    null);
        }
        Status.Code code = status.getCode();
        Duration delay = retryAfter(decoded.build());
        if (!UNAVAILABLE_CODES.contains(code)) {
            return new SidecheckException(code.name(), message, Map.of(), code, delay);
        }
        Peer.Described described = peer.describe(status);
        return described == null
                ? new UnavailableException(code.name(), message, Map.of(), code, delay)
                : new UnavailableException(code.name(), described.message(), described.metadata(), code, delay);
    }

    static SidecheckException ofItem(com.google.rpc.Status status) {
        if (status.getCode() == 0) {
            throw new InvalidResponseException("an outcome has neither a result nor an error");
        }
        Status.Code code = Status.fromCodeValue(status.getCode()).getCode();
        ErrorInfo info = errorInfo(status);
        String reason = info == null ? code.name() : info.getReason();
        Map<String, String> metadata = info == null ? Map.of() : info.getMetadataMap();
        Duration delay = retryAfter(status);
        return ErrorReason.UNAVAILABLE.contains(reason)
                ? new UnavailableException(reason, status.getMessage(), metadata, code, delay)
                : new SidecheckException(reason, status.getMessage(), metadata, code, delay);
    }

    private static ErrorInfo errorInfo(com.google.rpc.Status status) {
        for (var any : status.getDetailsList()) {
            ErrorInfo info = unpack(any, ErrorInfo.class);
            if (info != null && info.getDomain().equals("sidecheck")) {
                return info;
            }
        }
        return null;
    }

    private static Duration retryAfter(com.google.rpc.Status status) {
        for (var any : status.getDetailsList()) {
            RetryInfo info = unpack(any, RetryInfo.class);
            if (info != null) {
                var delay = info.getRetryDelay();
                return Duration.ofSeconds(delay.getSeconds(), delay.getNanos());
            }
        }
        return null;
    }

    private static <T extends Message> T unpack(com.google.protobuf.Any any, Class<T> type) {
        try {
            return any.is(type) ? any.unpack(type) : null;
        } catch (InvalidProtocolBufferException error) {
            // A detail that does not decode is as good as absent.
            return null;
        }
    }

    static SidecheckException clientClosed() {
        return new SidecheckException(
                ErrorReason.CLIENT_CLOSED, "the client was closed", Map.of(), Status.Code.CANCELLED, null);
    }

    static SidecheckException streamLeft() {
        return new SidecheckException("CANCELLED", "the stream was left", Map.of(), Status.Code.CANCELLED, null);
    }

    static UnavailableException streamEnded() {
        return new UnavailableException(
                "UNAVAILABLE", "the server ended the stream", Map.of(), Status.Code.UNAVAILABLE, null);
    }

    static SidecheckException tooLarge(long size, long limit) {
        return new SidecheckException(
                ErrorReason.LIMIT_EXCEEDED,
                "item too large: " + size + " bytes exceed the limit of " + limit + " (message_bytes)",
                Map.of("bound", "message_bytes", "limit", String.valueOf(limit), "found", String.valueOf(size)),
                Status.Code.RESOURCE_EXHAUSTED,
                null);
    }

    static SidecheckException notEncodable(RuntimeException failure) {
        return new SidecheckException(
                ErrorReason.INVALID_REQUEST,
                "cannot encode the item: " + failure.getMessage(),
                Map.of("field", "subject"),
                Status.Code.INVALID_ARGUMENT,
                null);
    }

    static Json requireJson(ByteString text, String field) {
        require(!text.isEmpty(), field);
        return new Json(text);
    }

    static void require(boolean present, String field) {
        if (!present) {
            throw new InvalidResponseException(field + " is missing in the response");
        }
    }

    static void requireOutcomes(int found, int expected) {
        if (found != expected) {
            throw new InvalidResponseException("the response has " + found + " outcomes for " + expected + " items");
        }
    }

    static void requireCount(int found, int expected, String field) {
        if (found != expected) {
            throw new InvalidResponseException(field + " has " + found + " elements for " + expected + " items");
        }
    }
}
