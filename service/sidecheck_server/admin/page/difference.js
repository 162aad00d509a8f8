/** The difference of two texts, by their lines. */

import { counted, element } from "./elements.js";
import { diffArrays } from "./vendor/diff/array.js";

/** Lines removed and added beyond which both texts are shown as a whole. */
const MOST_EDITS = 1_000;
const CONTEXT_LINES = 3;
const MOST_SHOWN_LINES = 400;

/** @typedef {{kind: "same" | "removed" | "added", text: string}} Line */

/**
 * Returns the lines of both texts, in order.
 *
 * @param {string} before
 * @param {string} after
 * @returns {Line[]}
 */
export function compareLines(before, after) {
  const old = before.split("\n");
  const changed = after.split("\n");
  const parts = diffArrays(old, changed, { maxEditLength: MOST_EDITS }) ?? [
    { removed: true, added: false, value: old },
    { removed: false, added: true, value: changed },
  ];
  return parts.flatMap(({ added, removed, value }) => {
    /** @type {Line["kind"]} */
    const kind = added ? "added" : removed ? "removed" : "same";
    return value.map((text) => ({ kind, text }));
  });
}

/**
 * Returns an element with the changed lines and some around them.
 *
 * @param {Line[]} all
 * @param {string} label
 */
export function renderDifference(all, label) {
  const near = new Uint8Array(all.length);
  for (const [index, line] of all.entries()) {
    if (line.kind !== "same") {
      near.fill(1, Math.max(0, index - CONTEXT_LINES), index + CONTEXT_LINES + 1);
    }
  }
  const attributes = {
    class: "code difference",
    tabindex: "0",
    role: "region",
    "aria-label": label,
  };
  const region = element("div", attributes);
  let hidden = 0;
  let shown = 0;
  const flush = () => {
    if (hidden > 0) {
      region.append(element("div", { class: "line gap" }, `⋯ ${counted(hidden, "line")}`));
      hidden = 0;
    }
  };
  for (const [index, line] of all.entries()) {
    if (near[index] && shown < MOST_SHOWN_LINES) {
      flush();
      region.append(renderLine(line));
      shown += 1;
    } else {
      hidden += 1;
    }
  }
  flush();
  return region;
}

/** @param {Line} line */
function renderLine(line) {
  const sign = { same: " ", removed: "−", added: "+" }[line.kind];
  const name = line.kind === "same" ? "span" : line.kind === "removed" ? "del" : "ins";
  return element(
    "div",
    { class: `line ${line.kind}` },
    element("span", { class: "sign" }, sign),
    element(name, {}, line.text),
  );
}
