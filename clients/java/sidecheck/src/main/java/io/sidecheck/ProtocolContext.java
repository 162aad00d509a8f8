package io.sidecheck;

/**
 * Protocol version and negotiated capabilities of a connection.
 *
 * @param protocolVersion MCP protocol version whose rules apply; "" is that of the client
 * @param clientCapabilities capabilities of the client; null if unknown, so that no rule requires one
 * @param serverCapabilities capabilities of the server; null as for those of the client
 */
public record ProtocolContext(String protocolVersion, Json clientCapabilities, Json serverCapabilities) {
    /** Nothing is known. */
    public static final ProtocolContext UNKNOWN = new ProtocolContext("", null, null);
}
