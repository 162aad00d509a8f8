package io.sidecheck.mcp;

import io.sidecheck.SidecheckException;
import io.sidecheck.Verdict;
import io.sidecheck.Violation;
import java.util.stream.Collectors;

/** Is told what kept a call from being validated. The default logs reasons and codes. */
public interface ToolCallListener {
    /**
     * Called when a call could not be validated, or when tools were rejected ({@link
     * io.sidecheck.ToolsRejectedException}).
     *
     * @param error the error; its message may have values of the payload, its reason has none
     */
    default void onError(SidecheckException error) {
        System.getLogger("io.sidecheck.mcp")
                .log(
                        System.Logger.Level.WARNING,
                        () -> "Sidecheck did not validate a call: " + ToolMessages.loggable(error));
    }

    /**
     * Called for a verdict that does not decide: one that is invalid and not enforced, or that
     * stands in for a server that did not answer.
     *
     * @param tool name of the tool
     * @param verdict the verdict
     */
    default void onReport(String tool, Verdict verdict) {
        System.getLogger("io.sidecheck.mcp")
                .log(
                        System.Logger.Level.WARNING,
                        () -> "Sidecheck verdict not enforced for a call of " + tool + ": "
                                + verdict.violations().stream()
                                        .map(Violation::code)
                                        .distinct()
                                        .sorted()
                                        .collect(Collectors.joining(", ")));
    }
}
