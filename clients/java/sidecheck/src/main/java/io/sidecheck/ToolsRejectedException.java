package io.sidecheck;

import io.grpc.Status;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/** Tools were not registered, because their definitions have errors. All others were. */
public final class ToolsRejectedException extends SidecheckException {
    private static final long serialVersionUID = 1L;

    private final transient Registration registration;

    ToolsRejectedException(Registration registration) {
        this(registration, describe(registration));
    }

    private ToolsRejectedException(Registration registration, String description) {
        super(
                "TOOLS_REJECTED: " + description,
                ErrorReason.TOOLS_REJECTED,
                description,
                Map.of(
                        "rejected", String.valueOf(registration.rejected().size()),
                        "tools", String.valueOf(registration.outcomes().size())),
                Status.Code.INVALID_ARGUMENT,
                null);
        this.registration = registration;
    }

    /**
     * Returns the outcomes of all tools.
     *
     * @return the registration; null after deserialization
     */
    public Registration registration() {
        return registration;
    }

    private static String describe(Registration registration) {
        List<RegistrationOutcome> outcomes = registration.outcomes();
        List<String> lines = IntStream.range(0, outcomes.size())
                .filter(index -> outcomes.get(index).action() == Action.REJECTED)
                .mapToObj(index -> describe(index, outcomes.get(index)))
                .toList();
        String others = lines.size() == outcomes.size() ? "" : ", the others are unaffected";
        return Texts.list(lines.size() + " of " + outcomes.size() + " tools rejected" + others, lines, false);
    }

    private static String describe(int index, RegistrationOutcome outcome) {
        String name = outcome.name().isEmpty() ? "" : " " + Texts.quote(outcome.name());
        List<String> errors = Texts.errors(outcome.violations());
        return "tools[" + index + "]" + name
                + (errors.isEmpty() ? "" : ": " + errors.get(0))
                + (errors.size() > 1 ? " (and " + (errors.size() - 1) + " more)" : "");
    }
}
