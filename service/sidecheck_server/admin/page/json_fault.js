/** Where a text stops being JSON. The messages of JSON.parse have no place in some browsers. */

/** Deeper than any browser's parser is asked to go. */
const DEEPEST = 10_000;

const LITERAL = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*/y;

/**
 * @typedef {object} Fault
 * @property {number} offset
 * @property {string} message What was expected there.
 */

/**
 * Returns the first fault of a text that is to be JSON, null if it is.
 *
 * @param {string} text
 * @returns {Fault | null}
 */
export function findFault(text) {
  /** @type {string[]} Closing brackets of what is open. */
  const open = [];
  /** @type {"value" | "first" | "key" | "colon" | "next" | "end"} */
  let state = "value";
  let at = 0;
  for (;;) {
    at = afterSpace(text, at);
    const character = text[at];
    if (state === "end") {
      return at === text.length ? null : fault(at, "expected the end of the text");
    }
    if (character === undefined) {
      return fault(
        at,
        `it ends before ${open.length ? `the closing "${open.at(-1)}"` : "the value"}`,
      );
    }
    if (state === "first" && character === open.at(-1)) {
      state = "next";
    }
    if (state === "next") {
      if (character === open.at(-1)) {
        open.pop();
        state = open.length ? "next" : "end";
      } else if (character === ",") {
        state = open.at(-1) === "}" ? "key" : "value";
      } else {
        return fault(at, `expected "," or "${open.at(-1)}"`);
      }
      at += 1;
    } else if (state === "colon") {
      if (character !== ":") {
        return fault(at, 'expected ":" after the name of a property');
      }
      state = "value";
      at += 1;
    } else if (state === "key" || (state === "first" && open.at(-1) === "}")) {
      if (character !== '"') {
        return fault(at, 'expected the name of a property, in "double quotes"');
      }
      const end = match(STRING, text, at);
      if (text[end] !== '"') {
        return brokenString(text, end);
      }
      state = "colon";
      at = end + 1;
    } else if (character === "{" || character === "[") {
      if (open.length >= DEEPEST) {
        return fault(at, "it nests too deeply");
      }
      open.push(character === "{" ? "}" : "]");
      state = "first";
      at += 1;
    } else if (character === '"') {
      const end = match(STRING, text, at);
      if (text[end] !== '"') {
        return brokenString(text, end);
      }
      state = open.length ? "next" : "end";
      at = end + 1;
    } else {
      const end = match(LITERAL, text, at);
      if (end === at) {
        return fault(at, "expected a value");
      }
      state = open.length ? "next" : "end";
      at = end;
    }
  }
}

/**
 * Returns the line and the column of an offset, for people: both begin with 1.
 *
 * @param {string} text
 * @param {number} offset
 */
export function describePlace(text, offset) {
  const before = text.slice(0, offset);
  const lineStart = before.lastIndexOf("\n") + 1;
  const line = before.split("\n").length;
  return `line ${line}, column ${[...before.slice(lineStart)].length + 1}`;
}

/**
 * @param {number} offset
 * @param {string} message
 * @returns {Fault}
 */
function fault(offset, message) {
  return { offset, message };
}

/**
 * @param {string} text
 * @param {number} end Offset of what does not belong to a string.
 */
function brokenString(text, end) {
  const character = text[end];
  if (character === undefined) {
    return fault(end, 'a string has no closing "');
  }
  return character === "\\"
    ? fault(end, "unknown escape in a string")
    : fault(end, "a string has a line break or a control character; escape it");
}

/**
 * Returns the offset after what an expression matches at an offset.
 *
 * @param {RegExp} expression
 * @param {string} text
 * @param {number} at
 */
function match(expression, text, at) {
  expression.lastIndex = at;
  return expression.test(text) ? expression.lastIndex : at;
}

/**
 * @param {string} text
 * @param {number} at
 */
function afterSpace(text, at) {
  while (at < text.length && " \n\t\r".includes(text[at] ?? "")) {
    at += 1;
  }
  return at;
}
