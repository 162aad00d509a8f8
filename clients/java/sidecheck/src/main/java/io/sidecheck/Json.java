package io.sidecheck;

import com.google.protobuf.ByteString;
import java.util.Objects;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.core.util.JsonGeneratorDelegate;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.json.JsonMapper;

/**
 * JSON text in UTF-8.
 *
 * <p>{@link #text(byte[])} is sent unchanged; prefer it for what was received over a network,
 * because decoding and encoding hide duplicate keys and other faults. {@link #of(Object)} encodes
 * any other value with Jackson. The text is not checked: the server does that.
 */
public final class Json {
    /** No text, as where the server sent none. */
    public static final Json EMPTY = new Json(ByteString.EMPTY);

    private static final JsonMapper MAPPER = JsonMapper.builder(JsonFactory.builder()
                    .addDecorator((factory, generator) -> new FiniteNumbers(generator))
                    .build())
            // An object whose properties Jackson does not see would pass for an empty one.
            .enable(SerializationFeature.FAIL_ON_EMPTY_BEANS)
            .build();

    private final ByteString text;

    Json(ByteString text) {
        this.text = text;
    }

    /**
     * Returns JSON text as it is.
     *
     * @param text JSON text
     * @return the same text
     */
    public static Json text(String text) {
        return new Json(ByteString.copyFromUtf8(text));
    }

    /**
     * Returns JSON text in UTF-8 as it is.
     *
     * @param text JSON text; it is copied
     * @return the same text
     */
    public static Json text(byte[] text) {
        return new Json(ByteString.copyFrom(text));
    }

    /**
     * Encodes a value: maps, collections, records, strings, numbers and whatever else Jackson can.
     *
     * @param value the value; null is JSON's null, and a {@code Json} is returned unchanged
     * @return its JSON text
     * @throws IllegalArgumentException if JSON cannot express the value
     */
    public static Json of(Object value) {
        if (value instanceof Json json) {
            return json;
        }
        try {
            return new Json(ByteString.copyFrom(MAPPER.writeValueAsBytes(value)));
        } catch (JacksonException error) {
            throw new IllegalArgumentException("JSON cannot express the value: " + error.getOriginalMessage(), error);
        }
    }

    /**
     * Returns whether there is no text.
     *
     * @return whether there is no text
     */
    public boolean isEmpty() {
        return text.isEmpty();
    }

    /**
     * Returns the text in UTF-8.
     *
     * @return a copy of the bytes
     */
    public byte[] bytes() {
        return text.toByteArray();
    }

    /**
     * Decodes the text at each call.
     *
     * @param type class of the result; {@code Object} for maps, lists, strings, numbers
     * @param <T> type of the result
     * @return the value, null if there is no text
     * @throws IllegalArgumentException if the text is not JSON of this type
     */
    public <T> T as(Class<T> type) {
        if (isEmpty()) {
            return null;
        }
        try {
            return MAPPER.readValue(bytes(), type);
        } catch (JacksonException error) {
            throw new IllegalArgumentException("not JSON of " + type.getName(), error);
        }
    }

    /** Rejects NaN and the infinities, which Jackson would write as strings or invalid JSON. */
    private static final class FiniteNumbers extends JsonGeneratorDelegate {
        FiniteNumbers(JsonGenerator generator) {
            super(generator, false);
        }

        @Override
        public JsonGenerator writeNumber(double number) {
            if (!Double.isFinite(number)) {
                throw new IllegalArgumentException("JSON has no number " + number);
            }
            return super.writeNumber(number);
        }

        @Override
        public JsonGenerator writeNumber(float number) {
            if (!Float.isFinite(number)) {
                throw new IllegalArgumentException("JSON has no number " + number);
            }
            return super.writeNumber(number);
        }

        @Override
        public JsonGenerator writeArray(double[] numbers, int offset, int length) {
            writeStartArray();
            for (int index = offset; index < offset + length; index++) {
                writeNumber(numbers[index]);
            }
            return writeEndArray();
        }
    }

    ByteString raw() {
        return text;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Json json && text.equals(json.text);
    }

    @Override
    public int hashCode() {
        return Objects.hash(text);
    }

    /** Returns the text. */
    @Override
    public String toString() {
        return text.toStringUtf8();
    }
}
