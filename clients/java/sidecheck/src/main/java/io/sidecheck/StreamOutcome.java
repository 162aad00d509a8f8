package io.sidecheck;

/**
 * Outcome of one item of a stream.
 *
 * @param id id of the item
 * @param outcome the verdict on it, or its error
 */
public record StreamOutcome(String id, Outcome<Verdict> outcome) {}
