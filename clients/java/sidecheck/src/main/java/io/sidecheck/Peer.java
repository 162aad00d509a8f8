package io.sidecheck;

import io.grpc.Status;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The server that a client calls, which words the causes of calls that it did not answer. The clients
 * of all languages word them alike (tests/cases/clients/connections.json); only the remedies have
 * the names of the language.
 */
final class Peer {
    private static final Pattern HTTP_STATUS = Pattern.compile("^HTTP status code (\\d{3})");

    /**
     * Causes by parts of the messages of gRPC and of the exceptions behind them; the first that
     * matches decides. A server with TLS sends nothing to a client in plain text, and closes the
     * connection; one that requires a client certificate may do the same, if there is none.
     */
    private static final List<Map.Entry<Pattern, Cause>> CAUSES = List.of(
            cause("Connection refused", Cause.CONNECTION_REFUSED),
            cause("FileNotFoundException|No such file or directory", Cause.NO_SOCKET),
            cause("UnknownHostException|Unable to resolve host", Cause.UNKNOWN_HOST),
            cause("NotSslRecordException", Cause.TLS_NOT_SPOKEN),
            cause("No subject alternative|No name matching", Cause.MISNAMED_CERTIFICATE),
            cause(
                    "unable to find valid certification path|trust anchors|signature check failed",
                    Cause.UNTRUSTED_CERTIFICATE),
            cause("First received frame was not SETTINGS", Cause.HTTP2_NOT_SPOKEN),
            cause(
                    "Network closed for unknown reason|Connection reset|Broken pipe|ClosedChannelException"
                            + "|CERTIFICATE_REQUIRED",
                    Cause.CONNECTION_CLOSED));

    private final String address;
    private final Tls tls;
    private volatile boolean hasAnswered;

    Peer(String address, Tls tls) {
        this.address = address;
        this.tls = tls;
    }

    /** Keeps that a server responded here, after which a lost connection says nothing about TLS. */
    void noteResponse() {
        hasAnswered = true;
    }

    /** Returns the message and the metadata for a status that gRPC itself made; null if the cause is unknown. */
    Described describe(Status status) {
        String description = status.getDescription() == null ? "" : status.getDescription();
        Matcher http = HTTP_STATUS.matcher(description);
        if (status.getCode() == Status.Code.DEADLINE_EXCEEDED) {
            return described(Cause.NO_RESPONSE, "");
        }
        if (http.find()) {
            return described(Cause.HTTP_RESPONSE, http.group(1));
        }
        StringBuilder chain = new StringBuilder(description);
        for (Throwable cause = status.getCause(); cause != null; cause = cause.getCause()) {
            chain.append('\n').append(cause);
        }
        for (Map.Entry<Pattern, Cause> known : CAUSES) {
            if (known.getKey().matcher(chain).find()) {
                boolean isTls = known.getValue() == Cause.CONNECTION_CLOSED && tls != null;
                return described(isTls ? Cause.TLS_CONNECTION_CLOSED : known.getValue(), "");
            }
        }
        return description.startsWith("io exception") && status.getCause() != null
                ? described(Cause.NOT_CONNECTED, String.valueOf(status.getCause()))
                : null;
    }

    private Described described(Cause cause, String detail) {
        String place = address.startsWith("dns:///") ? address.substring("dns:///".length()) : address;
        String name = tls == null || tls.serverName().isEmpty()
                ? place.substring(0, Math.max(place.lastIndexOf(':'), 0))
                : tls.serverName();
        String text = switch (cause) {
            case CONNECTION_REFUSED -> "connection refused at " + place;
            case NO_SOCKET -> "no socket at " + place;
            case UNKNOWN_HOST -> "cannot resolve the host of " + place;
            case CONNECTION_CLOSED ->
                "the server at " + place + " closed the connection"
                        + (hasAnswered ? "" : ": if it speaks TLS, set tls");
            case TLS_CONNECTION_CLOSED ->
                "the server at " + place + " closed the TLS connection"
                        + (hasAnswered ? "" : ": if it requires a client certificate, set certificate of tls");
            case TLS_NOT_SPOKEN -> "the server at " + place + " does not speak TLS: leave out tls";
            case UNTRUSTED_CERTIFICATE ->
                "no trusted authority signed the certificate of " + place + ": set certificateAuthorities of tls";
            case MISNAMED_CERTIFICATE ->
                "the certificate of " + place + " is not for the name " + name + ": set serverName of tls";
            case HTTP2_NOT_SPOKEN -> "the server at " + place + " does not speak HTTP/2, which gRPC requires";
            case HTTP_RESPONSE -> place + " answered with HTTP status " + detail + ", not with gRPC";
            case NO_RESPONSE -> "no response from " + place + " before the deadline";
            case NOT_CONNECTED -> "cannot connect to " + place + ": " + detail;
        };
        return new Described(text, Map.of("cause", cause.name(), "address", address));
    }

    private static Map.Entry<Pattern, Cause> cause(String part, Cause cause) {
        return Map.entry(Pattern.compile(part), cause);
    }

    /** Message and metadata of an error. */
    record Described(String message, Map<String, String> metadata) {}

    private enum Cause {
        CONNECTION_REFUSED,
        NO_SOCKET,
        UNKNOWN_HOST,
        CONNECTION_CLOSED,
        TLS_CONNECTION_CLOSED,
        TLS_NOT_SPOKEN,
        UNTRUSTED_CERTIFICATE,
        MISNAMED_CERTIFICATE,
        HTTP2_NOT_SPOKEN,
        HTTP_RESPONSE,
        NO_RESPONSE,
        NOT_CONNECTED
    }
}
