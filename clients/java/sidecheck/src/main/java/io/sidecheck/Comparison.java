package io.sidecheck;

import java.util.List;

/**
 * Comparison of two sets of tools.
 *
 * @param tools the new tools in their order, and then those that were removed
 * @param level worst level of all tools, in the reading of the request
 * @param registryRevision revision of the registry in which the tools were resolved
 */
public record Comparison(List<ToolComparison> tools, ChangeLevel level, long registryRevision) {}
