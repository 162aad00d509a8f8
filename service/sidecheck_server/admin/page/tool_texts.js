/** Texts of tool definitions: alone, in an array, in a result, or in a response. */

import { counted } from "./elements.js";
import { describePlace, findFault } from "./json_fault.js";
import { elementTexts, locate } from "./json_places.js";

/**
 * A definition, and what it is registered under, if it is.
 *
 * @typedef {object} Tool
 * @property {string} name
 * @property {string} text
 * @property {string} pointer Where it is in the text of the pane.
 * @property {string | null} server
 */

/** Where definitions may be in a text: alone, in an array, in a result, in a response. */
const LISTS = Object.freeze(["/result/tools", "/tools", ""]);

/**
 * Returns the tools in a text; none if it is not JSON.
 *
 * @param {string} text
 * @returns {Tool[]}
 */
export function findTools(text) {
  let value;
  try {
    value = JSON.parse(text);
  } catch {
    return [];
  }
  for (const pointer of LISTS) {
    const list = pointer
      .split("/")
      .slice(1)
      .reduce((inner, key) => inner?.[key], value);
    if (Array.isArray(list)) {
      const texts = elementTexts(text, pointer);
      return list.map((tool, index) => toolOf(tool, texts[index] ?? "", `${pointer}/${index}`));
    }
  }
  return value !== null && typeof value === "object" ? [toolOf(value, text.trim(), "")] : [];
}

/**
 * @param {any} value
 * @param {string} text
 * @param {string} pointer
 * @returns {Tool}
 */
function toolOf(value, text, pointer) {
  const name = typeof value?.name === "string" ? value.name : "";
  return { name, text, pointer, server: null };
}

/**
 * Returns what a text of definitions has, or where it is broken.
 *
 * @param {string} text
 * @param {Tool[]} tools
 * @param {import("./json_fault.js").Fault | null} fault
 */
export function describeDefinitions(text, tools, fault) {
  if (text.trim() === "") {
    return "Paste a tools/list result, an array of tools, or one tool.";
  }
  if (fault !== null) {
    return `Not JSON at ${describePlace(text, fault.offset)}: ${fault.message}`;
  }
  return tools.length === 0 ? "There is no tool in this JSON." : counted(tools.length, "tool");
}

/**
 * Returns a mark at the fault of a text that is to be JSON, if it has one.
 *
 * @param {string} text
 * @returns {import("./editor.js").Mark[]}
 */
export function markFault(text) {
  const fault = text.trim() === "" ? null : findFault(text);
  if (fault === null) {
    return [];
  }
  // At the end of a line there is no character to mark but the one before.
  const isAtEnd = (text[fault.offset] ?? "\n") === "\n";
  const start = isAtEnd ? Math.max(0, fault.offset - 1) : fault.offset;
  return [{ start, end: start + 1, kind: "error" }];
}

/**
 * Returns the place of a fault of a definition, whose location is relative to its schema or to the
 * definition.
 *
 * @param {string} text
 * @param {string[]} roots JSON Pointers to the schemas, and to the definition at last.
 * @param {string} location JSON Pointer.
 */
export function locateFault(text, roots, location) {
  const places = roots.map((root) => locate(text, root + location));
  const last = /** @type {import("./json_places.js").Place} */ (places.at(-1));
  return (location !== "" && places.find(({ isExact }) => isExact)) || last;
}
