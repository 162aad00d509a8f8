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
