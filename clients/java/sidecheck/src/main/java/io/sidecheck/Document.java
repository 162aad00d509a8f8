package io.sidecheck;

/**
 * A JSON document sent along with a schema, for its references.
 *
 * @param uri absolute URI by which references name the document
 * @param json the document
 */
public record Document(String uri, Json json) {}
