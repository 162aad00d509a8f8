package io.sidecheck;

import java.util.List;

/**
 * A definition adapted to a protocol version.
 *
 * @param json the definition
 * @param wrappedProperty property that the output schema was wrapped in, or ""
 * @param droppedProperties properties that the version does not have
 */
public record AdaptedTool(Json json, String wrappedProperty, List<String> droppedProperties) {}
