package io.sidecheck;

import com.google.protobuf.ByteString;
import io.sidecheck.v1.InlineSchema;
import io.sidecheck.v1.InlineTool;
import io.sidecheck.v1.ValidateItem;
import io.sidecheck.v1.ValidateOutcome;
import java.util.List;
import java.util.Optional;

/** Messages of ValidationService, and those that several services have in common. */
final class ValidationMessages {
    private ValidationMessages() {}

    static io.sidecheck.v1.Target target(Target target) {
        io.sidecheck.v1.Target.Builder message = io.sidecheck.v1.Target.newBuilder();
        if (target instanceof Target.RegisteredTool tool) {
            message.setRegisteredTool(io.sidecheck.v1.RegisteredTool.newBuilder()
                    .setServer(tool.server())
                    .setName(tool.name())
                    .setDefinitionDigest(tool.definitionDigest()));
        } else if (target instanceof Target.DefinitionDigest digest) {
            message.setDefinitionDigest(digest.digest());
        } else if (target instanceof Target.SchemaDigest digest) {
            message.setSchemaDigest(digest.digest());
        } else if (target instanceof Target.ToolDefinition definition) {
            message.setInlineTool(inlineTool(definition));
        } else if (target instanceof Target.Schema schema) {
            message.setInlineSchema(InlineSchema.newBuilder()
                    .setJson(schema.json().raw())
                    .addAllDocuments(documents(schema.documents()))
                    .setDefaultDialect(schema.defaultDialect()));
        }
        return message.build();
    }

    static InlineTool inlineTool(Target.ToolDefinition tool) {
        return InlineTool.newBuilder()
                .setJson(tool.json().raw())
                .addAllDocuments(documents(tool.documents()))
                .build();
    }

    static List<io.sidecheck.v1.Document> documents(List<Document> documents) {
        return documents.stream()
                .map(document -> io.sidecheck.v1.Document.newBuilder()
                        .setUri(document.uri())
                        .setJson(document.json().raw())
                        .build())
                .toList();
    }

    static ValidateItem item(Item item, String version) {
        ValidateItem.Builder message = ValidateItem.newBuilder().setSubject(subject(item.subject()));
        if (item.target() != null) {
            message.setTarget(target(item.target()));
        }
        if (item.options() != null) {
            message.setOptions(item.options().encode(version));
        }
        return message.build();
    }

    static io.sidecheck.v1.Subject subject(Subject subject) {
        io.sidecheck.v1.Subject.Builder message = io.sidecheck.v1.Subject.newBuilder();
        if (subject instanceof Subject.Arguments arguments) {
            message.setArguments(arguments.json().raw());
        } else if (subject instanceof Subject.StructuredContent content) {
            message.setStructuredContent(content.json().raw());
        } else if (subject instanceof Subject.CallParams params) {
            message.setCallParams(params.json().raw());
        } else if (subject instanceof Subject.CallResult result) {
            message.setCallResult(result.json().raw());
        } else {
            message.setAbsentStructuredContent(io.sidecheck.v1.AbsentContent.getDefaultInstance());
        }
        return message.build();
    }

    /** Null without options and version: the defaults of the server. */
    static io.sidecheck.v1.ValidationOptions optional(ValidationOptions options, String version) {
        if (options == null && version.isEmpty()) {
            return null;
        }
        return (options == null ? ValidationOptions.DEFAULTS : options).encode(version);
    }

    static Outcome<Verdict> outcome(ValidateOutcome outcome, long revision) {
        return outcome.hasVerdict()
                ? new Outcome.Success<>(verdict(outcome.getVerdict(), revision))
                : new Outcome.Failure<>(Errors.ofItem(outcome.getError()));
    }

    static Verdict verdict(io.sidecheck.v1.Verdict message, long revision) {
        return new Verdict(
                message.getValid(),
                violations(message.getViolationsList()),
                message.getTruncated(),
                message.getDefinitionDigest(),
                message.getSchemaDigest(),
                message.getToolErrorText(),
                message.getEnforced(),
                message.hasRepair() ? Optional.of(repair(message.getRepair())) : Optional.empty(),
                json(message.getCallToolResult()),
                json(message.getJsonRpcError()),
                revision);
    }

    static List<Violation> violations(List<io.sidecheck.v1.Violation> messages) {
        return messages.stream()
                .map(message -> new Violation(
                        message.getInstanceLocation(),
                        message.getKeywordLocation(),
                        message.getKeyword(),
                        message.getCode(),
                        severity(message.getSeverity()),
                        message.getMessage(),
                        message.getSuggestion(),
                        message.getSpecUrl()))
                .toList();
    }

    static Severity severity(io.sidecheck.v1.Severity severity) {
        return switch (severity) {
            case SEVERITY_ERROR -> Severity.ERROR;
            case SEVERITY_WARNING -> Severity.WARNING;
            default -> Severity.INFO;
        };
    }

    static List<Verdict.Change> changes(List<io.sidecheck.v1.Change> messages) {
        return messages.stream()
                .map(message -> new Verdict.Change(
                        message.getInstanceLocation(),
                        message.getCode(),
                        message.getKeywordLocation(),
                        message.getMessage()))
                .toList();
    }

    static Json json(ByteString text) {
        return text.isEmpty() ? Json.EMPTY : new Json(text);
    }

    private static Verdict.Repair repair(io.sidecheck.v1.Repair message) {
        return new Verdict.Repair(
                json(message.getPayload()),
                message.getValid(),
                violations(message.getViolationsList()),
                message.getTruncated(),
                changes(message.getChangesList()));
    }
}
