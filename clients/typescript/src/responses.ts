/** Parts that a response must have. */

import { InvalidResponse } from "./errors.js";
import { JsonText } from "./json.js";

/**
 * @internal Returns a message that a response must have.
 *
 * @throws InvalidResponse if it is absent.
 */
export function requireField<T>(message: T | undefined, name: string): T {
  if (message === undefined) {
    throw new InvalidResponse(`${name} is missing in the response`);
  }
  return message;
}

/**
 * @internal Checks that a response has as many elements as the request has items.
 *
 * @throws InvalidResponse if it has more or fewer.
 */
export function requireCount(elements: readonly unknown[], expected: number, name: string): void {
  if (elements.length !== expected) {
    throw new InvalidResponse(`${name} has ${elements.length} elements for ${expected} items`);
  }
}

/**
 * @internal Returns the JSON text in a field that a response must have.
 *
 * @throws InvalidResponse if the field is empty.
 */
export function requireJson(bytes: Uint8Array, name: string): JsonText {
  if (bytes.length === 0) {
    throw new InvalidResponse(`${name} is missing in the response`);
  }
  return new JsonText(bytes);
}
