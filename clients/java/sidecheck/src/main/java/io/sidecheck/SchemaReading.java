package io.sidecheck;

/** How a schema that leaves an object open is read. */
public enum SchemaReading {
    /** An object that declares properties admits no others, unless the schema says so. */
    ASSUME_CLOSED,
    /** As JSON Schema says: an open object admits properties that it does not declare. */
    AS_WRITTEN
}
