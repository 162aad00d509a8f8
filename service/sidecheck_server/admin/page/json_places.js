/**
 * Places of JSON values in the text that they were read from.
 *
 * The text is scanned as it is, without recursion, and need not be right to its end.
 */

/**
 * @typedef {object} Place
 * @property {number} start Offset of the value.
 * @property {number} end Offset after it.
 * @property {number} keyStart Offset of its key, that of the value where it has none.
 * @property {boolean} isExact Whether the whole pointer was followed, and not its beginning.
 */

/**
 * Returns the place of the value at a JSON Pointer (RFC 6901), or of the last value on the way.
 * Of equal keys the last counts.
 *
 * @param {string} text
 * @param {string} pointer
 * @returns {Place}
 */
export function locate(text, pointer) {
  const start = afterSpace(text, 0);
  let place = { start, end: valueEnd(text, start), keyStart: start, isExact: true };
  for (const token of tokensOf(pointer)) {
    const inner = member(text, place.start, token);
    if (inner === null) {
      return { ...place, isExact: false };
    }
    place = inner;
  }
  return place;
}

/**
 * Returns the text of the value at a JSON Pointer, null if there is none.
 *
 * @param {string} text
 * @param {string} pointer
 */
export function textAt(text, pointer) {
  const place = locate(text, pointer);
  return place.isExact && place.end > place.start ? text.slice(place.start, place.end) : null;
}

/**
 * Returns the texts of the elements of the array at a JSON Pointer.
 *
 * @param {string} text
 * @param {string} pointer
 */
export function elementTexts(text, pointer) {
  const inner = members(text, locate(text, pointer).start);
  return Array.from(inner, ({ place }) => text.slice(place.start, place.end));
}

/**
 * Returns the tokens of a JSON Pointer, unescaped.
 *
 * @param {string} pointer
 */
export function tokensOf(pointer) {
  return pointer
    .split("/")
    .slice(1)
    .map((token) => token.replaceAll("~1", "/").replaceAll("~0", "~"));
}

/**
 * Returns the place of a keyword of a schema, at the location that a verdict has for it. That
 * follows the path of evaluation: behind `$ref` it goes on at what the reference leads to.
 *
 * @param {string} text A text with the schema.
 * @param {string} root JSON Pointer to the schema.
 * @param {string} keywordLocation JSON Pointer into the schema.
 * @returns {Place}
 */
export function locateKeyword(text, root, keywordLocation) {
  let pointer = root;
  const tokens = keywordLocation.split("/").slice(1);
  for (const [index, token] of tokens.entries()) {
    pointer += `/${token}`;
    if (token === "$ref" && index < tokens.length - 1) {
      const target = localTarget(textAt(text, pointer));
      if (target === null) {
        break;
      }
      pointer = root + target;
    }
  }
  return locate(text, pointer);
}

/**
 * Returns the offset after white space.
 *
 * @param {string} text
 * @param {number} at
 */
function afterSpace(text, at) {
  while (at < text.length && isSpace(text[at])) {
    at += 1;
  }
  return at;
}

/** @param {string | undefined} character */
function isSpace(character) {
  return character === " " || character === "\n" || character === "\t" || character === "\r";
}

/**
 * Returns the offset after the string that begins at an offset.
 *
 * @param {string} text
 * @param {number} start
 */
function stringEnd(text, start) {
  let from = start + 1;
  for (;;) {
    const quote = text.indexOf('"', from);
    if (quote < 0) {
      return text.length;
    }
    let escapes = quote;
    while (escapes > from && text[escapes - 1] === "\\") {
      escapes -= 1;
    }
    if ((quote - escapes) % 2 === 0) {
      return quote + 1;
    }
    from = quote + 1;
  }
}

/**
 * Returns the offset after the value that begins at an offset.
 *
 * @param {string} text
 * @param {number} start
 */
function valueEnd(text, start) {
  let depth = 0;
  let at = start;
  while (at < text.length) {
    const character = text[at];
    if (character === '"') {
      at = stringEnd(text, at);
    } else if (character === "{" || character === "[") {
      depth += 1;
      at += 1;
    } else if (character === "}" || character === "]") {
      if (depth === 0) {
        return at;
      }
      depth -= 1;
      at += 1;
    } else if (depth > 0) {
      at += 1;
      continue;
    } else {
      // A number or a word.
      while (at < text.length && !isSpace(text[at]) && !",]}".includes(text[at] ?? "")) {
        at += 1;
      }
    }
    if (depth === 0) {
      return at;
    }
  }
  return at;
}

/**
 * Returns the place of a member of the object or array that begins at an offset.
 *
 * @param {string} text
 * @param {number} start
 * @param {string} token
 * @returns {Place | null}
 */
function member(text, start, token) {
  let found = null;
  for (const { key, place } of members(text, start)) {
    if (key === token) {
      found = place;
    }
  }
  return found;
}

/**
 * Yields the members of the object or array that begins at an offset, as far as they are right.
 *
 * @param {string} text
 * @param {number} start
 * @returns {Generator<{key: string, place: Place}>}
 */
function* members(text, start) {
  const isObject = text[start] === "{";
  if (!isObject && text[start] !== "[") {
    return;
  }
  let at = afterSpace(text, start + 1);
  for (let index = 0; at < text.length && text[at] !== "}" && text[at] !== "]"; index += 1) {
    const keyStart = at;
    let key = String(index);
    if (isObject) {
      if (text[at] !== '"') {
        return;
      }
      at = stringEnd(text, at);
      key = decoded(text.slice(keyStart, at));
      at = afterSpace(text, at);
      if (text[at] !== ":") {
        return;
      }
      at = afterSpace(text, at + 1);
    }
    const end = valueEnd(text, at);
    yield { key, place: { start: at, end, keyStart, isExact: true } };
    at = afterSpace(text, end);
    if (text[at] !== ",") {
      return;
    }
    at = afterSpace(text, at + 1);
  }
}

/**
 * Returns the content of a string of JSON, or its text if it is broken.
 *
 * @param {string} text
 */
function decoded(text) {
  try {
    return String(JSON.parse(text));
  } catch {
    return text;
  }
}

/**
 * Returns the JSON Pointer of a reference within its schema, null if it leads elsewhere.
 *
 * @param {string | null} text The value of `$ref`.
 */
function localTarget(text) {
  const reference = text === null ? "" : decoded(text);
  if (reference !== "#" && !reference.startsWith("#/")) {
    return null;
  }
  try {
    return decodeURIComponent(reference.slice(1));
  } catch {
    return null;
  }
}
