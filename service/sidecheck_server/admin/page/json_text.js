/** JSON text: written with line breaks, and as a part of a request, each with its own spelling. */

const INDENT = "  ";

/** An escape of half of a surrogate pair, which a body of the API may not have alone. */
const SURROGATE = /\\u[dD][89a-fA-F]/;

/**
 * Returns JSON text with a line for each member. Spellings of numbers and strings stay.
 *
 * @param {string} text Valid JSON.
 */
export function format(text) {
  const parts = [];
  let depth = 0;
  for (const [token] of text.matchAll(/"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],:]|[^\s{}[\],:"]+/gs)) {
    const previous = parts.at(-1);
    if (token === "}" || token === "]") {
      depth -= 1;
      // An empty object or array stays on its line.
      if (previous === lineBreak(depth + 1)) {
        parts.pop();
        parts.push(token);
      } else {
        parts.push(lineBreak(depth), token);
      }
    } else if (token === "{" || token === "[") {
      depth += 1;
      parts.push(token, lineBreak(depth));
    } else if (token === ",") {
      parts.push(token, lineBreak(depth));
    } else {
      parts.push(token === ":" ? ": " : token);
    }
  }
  return parts.join("");
}

/**
 * Returns whether a text is JSON.
 *
 * @param {string} text
 */
export function isJson(text) {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/**
 * Returns a property of a request with JSON text as itself, or in a string if it is not JSON.
 *
 * @param {string} name
 * @param {string} text
 */
export function jsonProperty(name, text) {
  return isJson(text) && !SURROGATE.test(text)
    ? `"${name}": ${text.trim()}`
    : `"${name}_text": ${JSON.stringify(text)}`;
}

/**
 * Returns a property of a request with a plain value; "" if the value is empty.
 *
 * @param {string} name
 * @param {unknown} value
 */
export function plainProperty(name, value) {
  const isEmpty = value === "" || value === undefined || value === false;
  return isEmpty ? "" : `"${name}": ${JSON.stringify(value)}`;
}

/**
 * Returns the text of an object with properties as above; those that are "" are left out.
 *
 * @param {string[]} properties
 */
export function objectText(...properties) {
  return `{${properties.filter(Boolean).join(", ")}}`;
}

/** @param {number} depth */
function lineBreak(depth) {
  return `\n${INDENT.repeat(depth)}`;
}
