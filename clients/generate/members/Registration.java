    /**
     * Returns the outcomes of the tools that were rejected.
     *
     * @return the outcomes, in order
     */
    public List<RegistrationOutcome> rejected() {
        return outcomes.stream()
                .filter(outcome -> outcome.action() == Action.REJECTED)
                .toList();
    }
