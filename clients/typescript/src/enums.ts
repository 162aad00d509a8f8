/** Enums of the API as lower-case words: `DETAIL_FIRST` is `"first"`. */

/** An enum that ts-proto generates: numbers by name, and names by number. */
type WireEnum = Record<string, string | number>;

/**
 * @internal Returns the number of the value called `word`, 0 for undefined.
 *
 * @throws TypeError if the enum has no such value. The message calls it `name`.
 */
export function encodeEnum<E extends number>(
  values: WireEnum,
  prefix: string,
  word: string | undefined,
  name: string,
): E {
  if (word === undefined) {
    return 0 as E;
  }
  const value = values[prefix + String(word).toUpperCase()];
  if (typeof value !== "number" || value === 0 || word !== String(word).toLowerCase()) {
    const words = Object.keys(values)
      .filter((key) => key.startsWith(prefix) && values[key] !== 0)
      .map((key) => JSON.stringify(key.slice(prefix.length).toLowerCase()));
    throw new TypeError(
      `invalid ${name} ${JSON.stringify(word)}; expected one of ${words.join(", ")}`,
    );
  }
  return value as E;
}

/** @internal Returns the word for a number, "unspecified" for one that this release does not know. */
export function decodeEnum<W extends string>(
  values: WireEnum,
  prefix: string,
  value: number,
): W | "unspecified" {
  const name = values[value];
  return typeof name === "string" && name.startsWith(prefix)
    ? (name.slice(prefix.length).toLowerCase() as W)
    : "unspecified";
}
