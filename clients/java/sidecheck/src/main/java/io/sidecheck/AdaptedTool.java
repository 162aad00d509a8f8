package io.sidecheck;

import java.util.List;
import java.util.Optional;

/**
 * A definition adapted to a protocol version.
 *
 * @param json the definition
 * @param wrappedProperty property that the output schema was wrapped in, or ""
 * @param droppedProperties properties that the version does not have
 * @param portable losses and mapping; empty if the definition was not made portable
 */
public record AdaptedTool(
        Json json, String wrappedProperty, List<String> droppedProperties, Optional<PortableForm> portable) {}
