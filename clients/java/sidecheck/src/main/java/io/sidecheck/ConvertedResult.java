package io.sidecheck;

import java.util.List;

/**
 * A tool result as a message for the model.
 *
 * @param message the message; of an invalid result, one that the tool failed
 * @param losses parts of the result that the API cannot express
 * @param verdict verdict on the result
 */
public record ConvertedResult(Json message, List<Loss> losses, Verdict verdict) {}
