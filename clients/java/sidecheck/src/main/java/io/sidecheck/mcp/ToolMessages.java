package io.sidecheck.mcp;

import io.modelcontextprotocol.json.McpJsonDefaults;
import io.modelcontextprotocol.spec.McpError;
import io.modelcontextprotocol.spec.McpSchema.CallToolResult;
import io.modelcontextprotocol.spec.McpSchema.JSONRPCResponse.JSONRPCError;
import io.sidecheck.Json;
import io.sidecheck.SidecheckException;
import io.sidecheck.UnavailableException;
import io.sidecheck.Verdict;
import java.io.IOException;
import java.io.UncheckedIOException;

/** Messages of the SDK as JSON text, and back. */
final class ToolMessages {
    static final int INTERNAL_ERROR = -32603;

    private ToolMessages() {}

    static Json encode(Object message) {
        try {
            return Json.text(McpJsonDefaults.getMapper().writeValueAsBytes(message));
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
    }

    static <T> T decode(Json text, Class<T> type) {
        try {
            return McpJsonDefaults.getMapper().readValue(text.bytes(), type);
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
    }

    /** Returns the result in place of an invalid call or result, or throws the protocol's error. */
    static CallToolResult replacement(Verdict verdict) {
        if (!verdict.callToolResult().isEmpty()) {
            return decode(verdict.callToolResult(), CallToolResult.class);
        }
        if (!verdict.jsonRpcError().isEmpty()) {
            throw protocolError(verdict.jsonRpcError());
        }
        return CallToolResult.builder()
                .addTextContent(verdict.toolErrorText())
                .isError(true)
                .build();
    }

    static McpError protocolError(Json error) {
        return new McpError(decode(error, JSONRPCError.class));
    }

    /** The reason of an error, and the cause of a failed connection; messages of servers may have payloads. */
    static String loggable(SidecheckException error) {
        boolean isOwn =
                error instanceof UnavailableException && error.metadata().containsKey("cause");
        return isOwn ? error.getMessage() : error.reason();
    }

    static McpError internalError(String message) {
        return new McpError(new JSONRPCError(INTERNAL_ERROR, message));
    }
}
