package io.sidecheck;

/**
 * Result of one check.
 *
 * @param verdict verdict on the JSON; instance locations point into it
 * @param errorResponse for an invalid message: the JSON-RPC response for its sender; empty if none
 *     is due
 */
public record CheckResult(Verdict verdict, Json errorResponse) {}
