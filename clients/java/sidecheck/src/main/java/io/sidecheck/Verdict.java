package io.sidecheck;

import java.util.List;
import java.util.Optional;

/**
 * Outcome of a validation. An invalid payload is a normal outcome and is returned.
 *
 * @param valid whether there is no violation of severity error
 * @param violations violations, ordered by instance location, keyword location and code
 * @param truncated whether more violations may exist than are listed
 * @param definitionDigest digest of the tool definition validated against; "" for a bare schema
 * @param schemaDigest digest of the schema validated against
 * @param toolErrorText text for the model whose arguments were invalid; "" if the verdict is valid
 * @param enforced whether to act on the verdict; false for servers that the operator only reports
 *     on, whose payloads pass, valid or not
 * @param repair the payload after the options that change payloads; empty if none of them was set
 *     or there was nothing to change
 * @param callToolResult the {@code CallToolResult} to return in place of an invalid call or result;
 *     empty if there is none
 * @param jsonRpcError {@code error} of the JSON-RPC response to send if the fault is one of the
 *     protocol; empty if it is not
 * @param registryRevision revision of the registry in which the target was resolved; 0 if unknown
 */
public record Verdict(
        boolean valid,
        List<Violation> violations,
        boolean truncated,
        String definitionDigest,
        String schemaDigest,
        String toolErrorText,
        boolean enforced,
        Optional<Repair> repair,
        Json callToolResult,
        Json jsonRpcError,
        long registryRevision) {

    private static final String UNAVAILABLE = "SIDECHECK_UNAVAILABLE";

    /**
     * Returns the verdict that stands in for a server that did not answer.
     *
     * @param error the reason
     * @param policy the policy
     * @return the verdict, valid if the policy is to allow
     * @throws UnavailableException {@code error}, if the policy is to throw
     */
    public static Verdict ofUnavailable(UnavailableException error, OnUnavailable policy) {
        if (policy == OnUnavailable.ERROR) {
            throw error;
        }
        boolean allowed = policy == OnUnavailable.ALLOW;
        Violation violation = new Violation(
                "",
                "",
                "",
                UNAVAILABLE,
                allowed ? Severity.WARNING : Severity.ERROR,
                "not validated: " + error.getMessage(),
                "",
                "");
        String text = allowed ? "" : "This could not be validated and was rejected. Try again later.";
        return new Verdict(
                allowed, List.of(violation), false, "", "", text, true, Optional.empty(), Json.EMPTY, Json.EMPTY, 0);
    }

    /**
     * Returns whether this verdict stands in for a server that did not answer.
     *
     * @return whether the client's {@link OnUnavailable} made it
     */
    public boolean isFallback() {
        return violations.stream().anyMatch(violation -> violation.code().equals(UNAVAILABLE));
    }

    /**
     * Throws if the verdict is invalid and enforced.
     *
     * @return this verdict
     * @throws InvalidPayloadException if it is invalid and enforced
     */
    public Verdict orThrow() {
        if (enforced && !valid) {
            throw new InvalidPayloadException(this);
        }
        return this;
    }

    /**
     * A payload after coercion, treatment of unknown arguments and defaults, in this order. The
     * server never replaces a payload: the caller decides whether to use the repaired one.
     *
     * @param payload the repaired payload
     * @param valid whether it is valid
     * @param violations violations of the repaired payload
     * @param truncated whether more violations may exist than are listed
     * @param changes all changes; nothing else differs from the original
     */
    public record Repair(
            Json payload, boolean valid, List<Violation> violations, boolean truncated, List<Change> changes) {}

    /**
     * One change of a payload, or one that was skipped, with the reason.
     *
     * @param instanceLocation JSON Pointer into the payload before this change
     * @param code stable code, for example {@code STRING_TO_INTEGER}
     * @param keywordLocation JSON Pointer to the keyword that called for it; "" where unknown
     * @param message description, for people
     */
    public record Change(String instanceLocation, String code, String keywordLocation, String message) {}
}
