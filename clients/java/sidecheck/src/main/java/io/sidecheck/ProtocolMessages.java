package io.sidecheck;

import com.google.protobuf.ByteString;
import io.sidecheck.v1.CheckOutcome;
import io.sidecheck.v1.CheckToolNamesResponse;
import io.sidecheck.v1.CheckToolsResponse;
import io.sidecheck.v1.Elicitation;
import io.sidecheck.v1.ElicitationResult;
import io.sidecheck.v1.NormalizeToolResultRequest;
import io.sidecheck.v1.NormalizeToolResultResponse;
import io.sidecheck.v1.ProtocolMessage;
import io.sidecheck.v1.Sampling;
import io.sidecheck.v1.ToolOutcome;
import io.sidecheck.v1.ToolResult;
import java.util.List;

/** Messages of ProtocolService. */
final class ProtocolMessages {
    private ProtocolMessages() {}

    static io.sidecheck.v1.ProtocolContext context(ProtocolContext context, String version) {
        var message = io.sidecheck.v1.ProtocolContext.newBuilder()
                .setProtocolVersion(context.protocolVersion().isEmpty() ? version : context.protocolVersion());
        if (context.clientCapabilities() != null) {
            message.setClientCapabilities(context.clientCapabilities().raw());
        }
        if (context.serverCapabilities() != null) {
            message.setServerCapabilities(context.serverCapabilities().raw());
        }
        return message.build();
    }

    static io.sidecheck.v1.CheckOptions options(CheckOptions options) {
        return io.sidecheck.v1.CheckOptions.newBuilder()
                .setMaxViolations(options.maxViolations())
                .setHideValues(options.hideValues())
                .setMinSeverity(io.sidecheck.v1.Severity.valueOf("SEVERITY_" + options.minSeverity()))
                .build();
    }

    static io.sidecheck.v1.CheckItem item(CheckItem item) {
        var message = io.sidecheck.v1.CheckItem.newBuilder();
        if (item instanceof CheckItem.Elicitation elicitation) {
            message.setElicitation(
                    Elicitation.newBuilder().setParams(elicitation.params().raw()));
        } else if (item instanceof CheckItem.ElicitationResult result) {
            message.setElicitationResult(ElicitationResult.newBuilder()
                    .setResult(result.result().raw())
                    .setParams(result.params().raw()));
        } else if (item instanceof CheckItem.Sampling sampling) {
            message.setSampling(
                    Sampling.newBuilder().setParams(sampling.params().raw()));
        } else if (item instanceof CheckItem.ToolResult result) {
            message.setToolResult(toolResult(result));
        } else if (item instanceof CheckItem.Message sent) {
            message.setMessage(message(sent));
        }
        return message.build();
    }

    static ToolResult toolResult(CheckItem.ToolResult result) {
        ToolResult.Builder message =
                ToolResult.newBuilder().setJson(result.result().raw()).setProfile(profile(result.profile()));
        if (result.tool() != null) {
            message.setTool(ValidationMessages.target(result.tool()));
        }
        return message.build();
    }

    static ProtocolMessage message(CheckItem.Message sent) {
        return ProtocolMessage.newBuilder()
                .setJson(sent.json().raw())
                .setSender(sender(sent.sender()))
                .setRequestMethod(sent.requestMethod())
                .setRequest(sent.request().raw())
                .build();
    }

    static io.sidecheck.v1.Sender sender(Sender sender) {
        return io.sidecheck.v1.Sender.valueOf("SENDER_" + sender);
    }

    static io.sidecheck.v1.ResultProfile profile(ResultProfile profile) {
        return io.sidecheck.v1.ResultProfile.valueOf("RESULT_PROFILE_" + profile);
    }

    static void returned(NormalizeToolResultRequest.Builder message, ReturnValue returned) {
        if (returned instanceof ReturnValue.Value value) {
            message.setValue(value.json().raw());
        } else if (returned instanceof ReturnValue.Content content) {
            message.setContent(content.json().raw());
        } else if (returned instanceof ReturnValue.Result result) {
            message.setResult(result.json().raw());
        } else if (returned instanceof ReturnValue.Failure failure) {
            message.setError(failure.message());
        }
    }

    static Outcome<CheckResult> outcome(CheckOutcome outcome) {
        return outcome.hasResult()
                ? new Outcome.Success<>(result(true, outcome.getResult()))
                : new Outcome.Failure<>(Errors.ofItem(outcome.getError()));
    }

    static CheckResult result(boolean present, io.sidecheck.v1.CheckResult result) {
        Errors.require(present, "result");
        return new CheckResult(
                verdict(result.hasVerdict(), result.getVerdict(), "CheckResult.verdict"),
                ValidationMessages.json(result.getErrorResponse()));
    }

    static SessionSummary summary(io.sidecheck.v1.SessionSummary summary) {
        return new SessionSummary(summary.getRepeatedViolationsList().stream()
                .map(repeated -> new SessionSummary.RepeatedViolation(
                        repeated.getCode(), repeated.getTool(), repeated.getCount(), repeated.getFirstItem()))
                .toList());
    }

    static Verdict verdict(boolean present, io.sidecheck.v1.Verdict verdict, String field) {
        Errors.require(present, field);
        return VerdictDecoders.verdict(verdict, 0);
    }

    static Json requiredJson(ByteString text, String field) {
        Errors.require(!text.isEmpty(), field);
        return new Json(text);
    }

    static NormalizedResult normalized(NormalizeToolResultResponse response) {
        return new NormalizedResult(
                requiredJson(response.getResult(), "NormalizeToolResultResponse.result"),
                verdict(response.hasVerdict(), response.getVerdict(), "NormalizeToolResultResponse.verdict"));
    }

    static CheckedNames names(CheckToolNamesResponse response, int count) {
        Errors.requireCount(response.getOutcomesCount(), count, "CheckToolNamesResponse.outcomes");
        return new CheckedNames(
                response.getOutcomesList().stream()
                        .map(outcome -> new CheckedNames.Outcome(
                                verdict(outcome.hasVerdict(), outcome.getVerdict(), "ToolNameOutcome.verdict"),
                                outcome.getSdkValid(),
                                List.copyOf(outcome.getSdkWarningsList()),
                                outcome.getSanitized()))
                        .toList(),
                response.getCollisionsList().stream()
                        .map(collision -> new CheckedNames.Collision(
                                collision.getSanitized(), List.copyOf(collision.getIndexesList())))
                        .toList());
    }

    static CheckedTools tools(CheckToolsResponse response) {
        return new CheckedTools(
                response.getOutcomesList().stream()
                        .map(outcome -> new CheckedTools.Outcome(
                                outcome.getName(),
                                outcome.getPointer(),
                                disposition(outcome.getDisposition()),
                                verdict(outcome.hasVerdict(), outcome.getVerdict(), "ToolOutcome.verdict")))
                        .toList(),
                verdict(
                        response.hasToolsListVerdict(),
                        response.getToolsListVerdict(),
                        "CheckToolsResponse.tools_list_verdict"));
    }

    private static CheckedTools.Disposition disposition(ToolOutcome.Disposition disposition) {
        return switch (disposition) {
            case DISPOSITION_KEEP -> CheckedTools.Disposition.KEEP;
            case DISPOSITION_WARN -> CheckedTools.Disposition.WARN;
            case DISPOSITION_DROP -> CheckedTools.Disposition.DROP;
            default -> CheckedTools.Disposition.UNSPECIFIED;
        };
    }

    static List<Rule> rules(List<io.sidecheck.v1.Rule> rules) {
        return rules.stream()
                .map(rule -> new Rule(
                        rule.getCode(),
                        VerdictDecoders.severity(rule.getSeverity()),
                        List.copyOf(rule.getProtocolVersionsList()),
                        rule.getSpecUrl(),
                        rule.getRequirement(),
                        List.copyOf(rule.getSubjectsList())))
                .toList();
    }
}
