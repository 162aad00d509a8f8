/** Enums of the API as words: `MODEL_API_OPENAI_CHAT` is `"openai-chat"`. */

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
  const key = prefix + String(word).toUpperCase().replaceAll("-", "_");
  const value = values[key];
  if (typeof value !== "number" || value === 0 || word !== wordOf(key, prefix)) {
    const words = Object.keys(values)
      .filter((other) => other.startsWith(prefix) && values[other] !== 0)
      .map((other) => JSON.stringify(wordOf(other, prefix)));
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
    ? (wordOf(name, prefix) as W)
    : "unspecified";
}

function wordOf(name: string, prefix: string): string {
  return name.slice(prefix.length).toLowerCase().replaceAll("_", "-");
}
