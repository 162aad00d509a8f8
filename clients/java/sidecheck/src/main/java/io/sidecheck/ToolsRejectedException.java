package io.sidecheck;

import io.grpc.Status;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** Tools were not registered, because their definitions have errors. All others were. */
public final class ToolsRejectedException extends SidecheckException {
    private static final long serialVersionUID = 1L;
    private static final int MAX_LINES = 10;

    private final transient Registration registration;

    ToolsRejectedException(Registration registration) {
        super(
                "TOOLS_REJECTED",
                describe(registration),
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
        List<Registration.Outcome> rejected = registration.rejected();
        String lines = rejected.stream()
                .limit(MAX_LINES)
                .map(outcome -> outcome.name()
                        + outcome.violations().stream()
                                .filter(violation -> violation.severity() == Severity.ERROR)
                                .findFirst()
                                .map(violation -> ": " + violation)
                                .orElse(""))
                .collect(Collectors.joining("; "));
        return rejected.size() + " of " + registration.outcomes().size() + " tools rejected: " + lines;
    }
}
