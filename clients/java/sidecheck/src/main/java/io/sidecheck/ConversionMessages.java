package io.sidecheck;

import io.sidecheck.v1.ConvertToolCallResponse;
import io.sidecheck.v1.ConvertToolResultResponse;
import io.sidecheck.v1.ConvertToolsResponse;
import io.sidecheck.v1.ConvertedTool;
import io.sidecheck.v1.ToolConversion;

/** Messages of ConversionService. */
final class ConversionMessages {
    private ConversionMessages() {}

    static io.sidecheck.v1.ModelApi api(ModelApi api) {
        return io.sidecheck.v1.ModelApi.valueOf("MODEL_API_" + api);
    }

    static io.sidecheck.v1.ToolToConvert tool(ToolToConvert tool) {
        return io.sidecheck.v1.ToolToConvert.newBuilder()
                .setTool(ValidationMessages.target(tool.tool()))
                .setServer(tool.server())
                .build();
    }

    static ConvertedTools tools(ConvertToolsResponse response) {
        return new ConvertedTools(
                response.getConversionsList().stream()
                        .map(conversion -> new ConvertedTools.Conversion(
                                conversion.getServer(), conversion.getName(), outcome(conversion)))
                        .toList(),
                ProtocolMessages.verdict(response.hasRequest(), response.getRequest(), "ConvertToolsResponse.request"));
    }

    private static Outcome<ConvertedTools.Converted> outcome(ToolConversion conversion) {
        if (!conversion.hasConverted()) {
            return new Outcome.Failure<>(Errors.ofItem(conversion.getError()));
        }
        ConvertedTool tool = conversion.getConverted();
        return new Outcome.Success<>(new ConvertedTools.Converted(
                ProtocolMessages.requiredJson(tool.getJson(), "ConvertedTool.json"),
                tool.getName(),
                tool.getStrict(),
                ValidationMessages.json(tool.getMapping()),
                Messages.decodeAll(tool.getLossesList(), LossesDecoders::loss),
                tool.getNotStrictReason()));
    }

    static ConvertedCall call(ConvertToolCallResponse response) {
        return new ConvertedCall(
                response.getServer(),
                response.getTool(),
                response.getCallId(),
                ValidationMessages.json(response.getCallParams()),
                ProtocolMessages.verdict(
                        response.hasVerdict(), response.getVerdict(), "ConvertToolCallResponse.verdict"),
                Messages.decodeAll(response.getChangesList(), VerdictDecoders::change),
                response.getName());
    }

    static ConvertedResult result(ConvertToolResultResponse response) {
        return new ConvertedResult(
                ProtocolMessages.requiredJson(response.getMessage(), "ConvertToolResultResponse.message"),
                Messages.decodeAll(response.getLossesList(), LossesDecoders::loss),
                ProtocolMessages.verdict(
                        response.hasVerdict(), response.getVerdict(), "ConvertToolResultResponse.verdict"));
    }
}
