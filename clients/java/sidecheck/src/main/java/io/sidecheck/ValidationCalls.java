package io.sidecheck;

import io.sidecheck.v1.StreamDefaults;
import io.sidecheck.v1.ValidateBatchRequest;
import io.sidecheck.v1.ValidateBatchResponse;
import io.sidecheck.v1.ValidateItem;
import io.sidecheck.v1.ValidateRequest;
import io.sidecheck.v1.ValidateResponse;
import io.sidecheck.v1.ValidateStreamRequest;
import io.sidecheck.v1.ValidationServiceGrpc;
import java.time.Duration;
import java.util.List;
import java.util.function.Function;

/** The calls of ValidationService. */
record ValidationCalls(Connection connection, Duration timeout) {
    Verdict validate(Item item) {
        ValidateRequest.Builder request = ValidateRequest.newBuilder()
                .setSubject(ValidationMessages.subject(item.subject()))
                .setMinRevision(connection.minRevision);
        if (item.target() != null) {
            request.setTarget(ValidationMessages.target(item.target()));
        }
        var options = ValidationMessages.optional(item.options(), version());
        if (options != null) {
            request.setOptions(options);
        }
        return connection.orFallBack(
                () -> {
                    ValidateResponse response = connection.call(
                            ValidationServiceGrpc.getValidateMethod(),
                            request.build(),
                            ValidateResponse.getDefaultInstance(),
                            timeout);
                    Errors.require(response.hasVerdict(), "ValidateResponse.verdict");
                    return VerdictDecoders.verdict(response.getVerdict(), response.getRegistryRevision());
                },
                Function.identity());
    }

    List<Outcome<Verdict>> validateBatch(List<Item> items, Target target, ValidationOptions options) {
        ValidateBatchRequest.Builder shared = ValidateBatchRequest.newBuilder().setMinRevision(connection.minRevision);
        if (target != null) {
            shared.setTarget(ValidationMessages.target(target));
        }
        var filled = ValidationMessages.optional(options, version());
        if (filled != null) {
            shared.setOptions(filled);
        }
        ValidateBatchRequest empty = shared.build();
        List<ValidateItem> messages = items.stream()
                .map(item -> ValidationMessages.item(item, version()))
                .toList();
        return connection.callInParts(
                messages,
                empty.getSerializedSize(),
                part -> {
                    ValidateBatchResponse response = connection.call(
                            ValidationServiceGrpc.getValidateBatchMethod(),
                            empty.toBuilder().addAllItems(part).build(),
                            ValidateBatchResponse.getDefaultInstance(),
                            timeout);
                    return response.getOutcomesList().stream()
                            .map(outcome -> ValidationMessages.outcome(outcome, response.getRegistryRevision()))
                            .toList();
                },
                Function.identity(),
                timeout);
    }

    ValidationStream stream(Target target, ValidationOptions options, int outstanding) {
        StreamDefaults.Builder defaults = StreamDefaults.newBuilder().setMinRevision(connection.minRevision);
        if (target != null) {
            defaults.setTarget(ValidationMessages.target(target));
        }
        var filled = ValidationMessages.optional(options, version());
        if (filled != null) {
            defaults.setOptions(filled);
        }
        return new ValidationStream(
                connection,
                ValidateStreamRequest.newBuilder().setDefaults(defaults).build(),
                outstanding,
                timeout);
    }

    private String version() {
        return connection.options.protocolVersion();
    }
}
