package io.sidecheck;

import com.google.protobuf.ByteString;
import io.sidecheck.v1.InlineSchema;
import io.sidecheck.v1.InlineTool;
import io.sidecheck.v1.ValidateItem;
import io.sidecheck.v1.ValidateOutcome;
import java.util.List;

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
                ? new Outcome.Success<>(VerdictDecoders.verdict(outcome.getVerdict(), revision))
                : new Outcome.Failure<>(Errors.ofItem(outcome.getError()));
    }

    static Json json(ByteString text) {
        return text.isEmpty() ? Json.EMPTY : new Json(text);
    }
}
