package io.sidecheck;

import java.util.List;

/**
 * Result of a deletion.
 *
 * @param deleted names that were deleted, in order
 * @param unknown names that were not registered
 * @param registryRevision revision of the registry afterwards
 */
public record Deletion(List<String> deleted, List<String> unknown, long registryRevision) {}
