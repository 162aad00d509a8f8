/** Numbers of requests. */

/**
 * @internal Returns a number for a field of 32 bits without a sign, 0 for undefined.
 *
 * @throws TypeError if the field cannot hold it.
 */
export function encodeCount(value: number | undefined, name: string): number {
  if (value !== undefined && !(Number.isInteger(value) && value >= 0 && value < 2 ** 32)) {
    throw new TypeError(`invalid ${name} ${value}; expected an integer from 0 to ${2 ** 32 - 1}`);
  }
  return value ?? 0;
}
