/** JSON, as callers give it and as the server returns it. */

/**
 * JSON in a request. A `Uint8Array` (a `Buffer` too) is JSON text in UTF-8 and is sent unchanged;
 * prefer it for what came over a network, because parsing hides duplicate keys and rounds numbers.
 * Any other value is encoded by `JSON.stringify`; a string is a JSON string, not JSON text.
 */
export type JsonInput = JsonObjectInput | string | number | boolean | null;

/** JSON in a request, of an object or array; see {@link JsonInput}. */
export type JsonObjectInput = Uint8Array | JsonText | object;

/** JSON text as the server wrote it. */
export class JsonText {
  /** The text in UTF-8. */
  readonly bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }

  /**
   * Returns the parsed text, parsed at each call. JavaScript rounds numbers beyond 2^53; use the
   * bytes where every digit counts.
   */
  parse<T = unknown>(): T {
    return JSON.parse(this.toString()) as T;
  }

  /** Returns the text. */
  toString(): string {
    return Buffer.from(this.bytes.buffer, this.bytes.byteOffset, this.bytes.byteLength).toString();
  }

  /** Returns the parsed text, so that a value which contains it can be passed to `JSON.stringify`. */
  toJSON(): unknown {
    return this.parse();
  }
}

/** @internal Returns the JSON text in a field, undefined if the field is empty. */
export function decodeJson(bytes: Uint8Array): JsonText | undefined {
  return bytes.length === 0 ? undefined : new JsonText(bytes);
}

/**
 * @internal Returns the JSON text of `value`, which is called `name` in errors.
 *
 * @throws TypeError if JSON cannot express a value in it: undefined, a function or a symbol (also
 * as an element), a bigint, a number that is not finite, binary data, or a cycle.
 */
export function encodeJson(value: JsonInput, name: string): Buffer {
  if (value instanceof Uint8Array) {
    return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  }
  if (value instanceof JsonText) {
    return encodeJson(value.bytes, name);
  }
  let text: string | undefined;
  try {
    text = JSON.stringify(value, rejectInexpressible);
  } catch (error) {
    // Messages of JSON.stringify itself, of a cycle for example, may have several lines.
    const fault = error instanceof Error ? error.message.split("\n", 1)[0] : String(error);
    throw new TypeError(`${name} cannot be encoded as JSON: ${fault}`, { cause: error });
  }
  if (text === undefined) {
    throw new TypeError(`${name} cannot be encoded as JSON: it is ${typeof value}`);
  }
  return Buffer.from(text);
}

/**
 * @internal Returns the JSON text of an object or array, as {@link encodeJson}.
 *
 * @throws TypeError if it is a string, number, boolean or null, or JSON cannot express it.
 */
export function encodeJsonObject(value: JsonObjectInput, name: string): Buffer {
  if (typeof value === "string") {
    throw new TypeError(
      `${name} must be an object, or JSON text as a Uint8Array, not a string; use Buffer.from(text)`,
    );
  }
  if (typeof value !== "object" || value === null) {
    throw new TypeError(
      `${name} must be an object, or JSON text as a Uint8Array, not ${value === null ? "null" : typeof value}`,
    );
  }
  return encodeJson(value, name);
}

function rejectInexpressible(this: unknown, key: string, value: unknown): unknown {
  // `value` is what toJSON returned: the value itself is in the object that contains it.
  const original = (this as Record<string, unknown>)[key];
  if (original instanceof Uint8Array || ArrayBuffer.isView(value)) {
    throw new TypeError(
      `${describeKey(key)} is binary data; encode it as text, in Base64 for example`,
    );
  }
  switch (typeof value) {
    case "number":
      if (!Number.isFinite(value)) {
        throw new TypeError(`${describeKey(key)} is ${value}`);
      }
      break;
    case "bigint":
    case "function":
    case "symbol":
      throw new TypeError(`${describeKey(key)} is a ${typeof value}`);
    case "undefined":
      // Optional properties may be undefined, and are left out; in an array it would become null.
      if (Array.isArray(this)) {
        throw new TypeError(`${describeKey(key)} is undefined`);
      }
  }
  return value;
}

function describeKey(key: string): string {
  return key === "" ? "it" : `its property ${JSON.stringify(key)}`;
}
