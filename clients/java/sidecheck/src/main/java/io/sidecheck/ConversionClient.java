package io.sidecheck;

import io.sidecheck.v1.ConversionServiceGrpc;
import io.sidecheck.v1.ConvertToolCallRequest;
import io.sidecheck.v1.ConvertToolCallResponse;
import io.sidecheck.v1.ConvertToolResultRequest;
import io.sidecheck.v1.ConvertToolResultResponse;
import io.sidecheck.v1.ConvertToolsRequest;
import io.sidecheck.v1.ConvertToolsResponse;
import java.time.Duration;
import java.util.List;

/**
 * Converts tools, calls and results for the APIs of model providers: {@link Client#conversion}.
 * What an API cannot express is reported as a {@link Loss}. The client's {@link OnUnavailable} does
 * not apply.
 */
public final class ConversionClient {
    private final Connection connection;
    private final Duration timeout;

    ConversionClient(Connection connection, Duration timeout) {
        this.connection = connection;
        this.timeout = timeout;
    }

    /**
     * Converts tools for one request to a model API, with names that are unique in it. A tool that
     * cannot be converted has its own error.
     *
     * @param api API to convert to
     * @param tools tools
     * @param servers names of servers whose registered tools follow, by name
     * @param options options
     * @return the conversions
     * @throws SidecheckException if nothing was converted
     */
    public ConvertedTools convertTools(
            ModelApi api, List<ToolToConvert> tools, List<String> servers, ConversionOptions options) {
        ConvertedTools converted = ConversionMessages.tools(connection.call(
                ConversionServiceGrpc.getConvertToolsMethod(),
                ConvertToolsRequest.newBuilder()
                        .setApi(ConversionMessages.api(api))
                        .setOptions(options.encode(version()))
                        .addAllTools(
                                tools.stream().map(ConversionMessages::tool).toList())
                        .addAllServers(servers)
                        .setMinRevision(connection.minRevision)
                        .build(),
                ConvertToolsResponse.getDefaultInstance(),
                timeout));
        if (servers.isEmpty()) {
            // The registered tools of servers are as many as the server has.
            Errors.requireCount(converted.conversions().size(), tools.size(), "ConvertToolsResponse.conversions");
        }
        return converted;
    }

    /**
     * Converts a model's call to the {@code params} of a {@code tools/call}, and validates its
     * arguments against the original schema. A call that cannot be read has an invalid verdict.
     *
     * @param call the call as the API returned it: an element of {@code tool_calls}, a {@code
     *     function_call} item, a {@code tool_use} block, a {@code functionCall} or {@code toolUse}
     *     part
     * @param mappings the mapping of the called tool, or those of all tools of the request
     * @param tool the original tool; null is the registered definition that the mapping names
     * @param options options of the validation; null are the defaults
     * @return the converted call
     * @throws SidecheckException with {@code MAPPING_MISMATCH} if no mapping has the name in the
     *     call, or it is of another definition; with another reason if nothing was converted
     */
    public ConvertedCall convertToolCall(Json call, List<Json> mappings, Target tool, ValidationOptions options) {
        var request = ConvertToolCallRequest.newBuilder()
                .setCall(call.raw())
                .addAllMappings(mappings.stream().map(Json::raw).toList())
                .setMinRevision(connection.minRevision);
        if (tool != null) {
            request.setTool(ValidationMessages.target(tool));
        }
        var filled = ValidationMessages.optional(options, version());
        if (filled != null) {
            request.setOptions(filled);
        }
        return ConversionMessages.call(connection.call(
                ConversionServiceGrpc.getConvertToolCallMethod(),
                request.build(),
                ConvertToolCallResponse.getDefaultInstance(),
                timeout));
    }

    /**
     * Converts a {@code CallToolResult} to a message for the model, and checks it. An invalid
     * result becomes a message that the tool failed.
     *
     * @param api API to convert to
     * @param result the result and its tool
     * @param callId id that the API gave the call; required except for Gemini and Ollama
     * @param name name of the tool in the request; required for Gemini and Ollama
     * @param context protocol version and capabilities of the connection
     * @param options amount of detail
     * @return the message
     * @throws SidecheckException if nothing was converted
     */
    public ConvertedResult convertToolResult(
            ModelApi api,
            CheckItem.ToolResult result,
            String callId,
            String name,
            ProtocolContext context,
            CheckOptions options) {
        return ConversionMessages.result(connection.call(
                ConversionServiceGrpc.getConvertToolResultMethod(),
                ConvertToolResultRequest.newBuilder()
                        .setApi(ConversionMessages.api(api))
                        .setResult(ProtocolMessages.toolResult(result))
                        .setCallId(callId)
                        .setName(name)
                        .setContext(ProtocolMessages.context(context, version()))
                        .setOptions(ProtocolMessages.options(options))
                        .setMinRevision(connection.minRevision)
                        .build(),
                ConvertToolResultResponse.getDefaultInstance(),
                timeout));
    }

    private String version() {
        return connection.options.protocolVersion();
    }
}
