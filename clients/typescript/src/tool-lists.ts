/**
 * Tool definitions in the forms in which callers have them: one, many, or a `tools/list` result as a
 * server sent it. JSON text is split into the text of each definition, byte for byte, because the
 * registry keeps it so.
 */

import { encodeJsonObject, JsonText } from "./json.js";
import { type Definition, hasDefinition } from "./targets.js";

/**
 * Tools to register: definitions, one or an iterable of them; or, as JSON text or an object, a
 * `tools/list` result, bare or in its JSON-RPC response, or an array of definitions.
 */
export type Tools = Definition | Iterable<Definition>;

/**
 * @internal Returns tools as an array of definitions.
 *
 * @param whole whether they must be all tools of a server, and not one page of several
 * @throws TypeError if they cannot be read as a list of tools
 */
export function listDefinitions(tools: Tools, whole: boolean): Definition[] {
  if (
    typeof tools === "object" &&
    tools !== null &&
    !(tools instanceof Uint8Array || tools instanceof JsonText)
  ) {
    if (hasDefinition(tools)) {
      return [tools];
    }
    if (Symbol.iterator in tools) {
      return [...tools];
    }
  }
  return splitDefinitions(encodeJsonObject(tools, "tools"), whole);
}

/** Returns the text of each definition in a text. */
function splitDefinitions(text: Buffer, whole: boolean): Buffer[] {
  const outer = readOuter(text);
  if (outer[0] === ARRAY) {
    return readElements(outer);
  }
  const names = outer[0] === OBJECT ? readProperties(outer).map(([name]) => name) : [];
  // A definition may have any other property, but nothing else has an input schema.
  const lists = ["tools", "result", "jsonrpc"].some((name) => names.includes(name));
  if (names.includes("inputSchema") || !lists) {
    return [outer];
  }
  let result = readContainer(outer);
  if (!result.has("tools")) {
    const inner = result.get("result");
    if (inner?.[0] !== OBJECT) {
      throw new TypeError("tools is a JSON-RPC message without a result that lists tools");
    }
    result = readContainer(inner);
  }
  const tools = result.get("tools");
  if (tools?.[0] !== ARRAY) {
    throw new TypeError('tools is a result whose "tools" is not an array of definitions');
  }
  if (whole && (result.get("nextCursor") ?? "null").toString() !== "null") {
    throw new TypeError(
      "tools is one page of several (it has a nextCursor), and the tools of the other pages would" +
        " count as removed; pass the definitions of all pages",
    );
  }
  return readElements(tools);
}

/** Returns the values of an object by name; throws a TypeError if two have the same name. */
function readContainer(text: Buffer): Map<string, Buffer> {
  const properties = readProperties(text);
  const container = new Map(properties);
  if (container.size < properties.length) {
    throw new TypeError("tools has two properties of the same name");
  }
  return container;
}

const ARRAY = 0x5b;
const OBJECT = 0x7b;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
/** The bracket that closes what another one opens. */
const CLOSING: ReadonlyMap<number | undefined, number> = new Map([
  [ARRAY, 0x5d],
  [OBJECT, 0x7d],
]);
const SPACES: ReadonlySet<number | undefined> = new Set([0x20, 0x09, 0x0a, 0x0d]);

/** Characters that end a number or literal. */
const DELIMITERS: ReadonlySet<number | undefined> = new Set([...SPACES, ...Buffer.from('[]{},:"')]);

/** Returns the value that a text contains, without the space around it. */
function readOuter(text: Buffer): Buffer {
  const start = skipSpace(text, 0);
  const end = skipValue(text, start);
  const outer = text.subarray(start, end);
  if (skipSpace(text, end) < text.length) {
    throw notJson(end);
  }
  if (!CLOSING.has(outer[0])) {
    parse(outer);
  }
  return outer;
}

function readElements(text: Buffer): Buffer[] {
  return readItems(text, (start) => {
    const end = skipValue(text, start);
    return [text.subarray(start, end), end];
  });
}

function readProperties(text: Buffer): [name: string, value: Buffer][] {
  return readItems(text, (start) => {
    const end = skipValue(text, start);
    const colon = skipSpace(text, end);
    const value = skipSpace(text, colon + 1);
    if (text[start] !== QUOTE || text[colon] !== COLON) {
      throw notJson(start);
    }
    const after = skipValue(text, value);
    return [[parse(text.subarray(start, end)) as string, text.subarray(value, after)], after];
  });
}

/** Returns what `read` returns for each item of an array or object, from its index to its end. */
function readItems<T>(text: Buffer, read: (start: number) => [item: T, end: number]): T[] {
  const items: T[] = [];
  const last = text.length - 1;
  let index = skipSpace(text, 1);
  while (index < last) {
    const [item, end] = read(index);
    items.push(item);
    index = skipSpace(text, end);
    if (index < last) {
      const next = skipSpace(text, index + 1);
      if (text[index] !== COMMA || next === last) {
        throw notJson(index);
      }
      index = next;
    }
  }
  return items;
}

function parse(text: Buffer): unknown {
  try {
    return JSON.parse(text.toString()) as unknown;
  } catch (cause) {
    throw new TypeError("tools is not JSON text", { cause });
  }
}

function skipSpace(text: Buffer, start: number): number {
  let index = start;
  while (SPACES.has(text[index])) {
    index += 1;
  }
  return index;
}

/** Returns the end of the value at an index. */
function skipValue(text: Buffer, start: number): number {
  if (CLOSING.has(text[start])) {
    return skipContainer(text, start);
  }
  if (text[start] === QUOTE) {
    return skipString(text, start);
  }
  let end = start;
  while (end < text.length && !DELIMITERS.has(text[end])) {
    end += 1;
  }
  if (end === start) {
    throw notJson(start);
  }
  return end;
}

/**
 * Returns the end of the array or object at an index. Only brackets and strings matter: the server
 * finds what else is wrong in it, and rejects only the definition that contains it.
 */
function skipContainer(text: Buffer, start: number): number {
  const open: number[] = [];
  let index = start;
  while (index < text.length) {
    const byte = text[index];
    const closing = CLOSING.get(byte);
    if (closing !== undefined) {
      open.push(closing);
    } else if (byte === open.at(-1)) {
      open.pop();
    } else if (byte === 0x5d || byte === 0x7d) {
      break;
    }
    index = byte === QUOTE ? skipString(text, index) : index + 1;
    if (open.length === 0) {
      return index;
    }
  }
  throw notJson(index);
}

/** Returns the end of the string at an index. */
function skipString(text: Buffer, start: number): number {
  for (let index = start + 1; index < text.length; index++) {
    if (text[index] === BACKSLASH) {
      index += 1;
    } else if (text[index] === QUOTE) {
      return index + 1;
    }
  }
  throw notJson(text.length);
}

function notJson(index: number): TypeError {
  return new TypeError(`tools is not JSON text: unexpected text or end at byte ${index}`);
}
