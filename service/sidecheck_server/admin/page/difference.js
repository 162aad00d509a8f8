/** The difference of two texts, by their lines. */

import { counted, element } from "./elements.js";

/** Comparisons beyond which a changed part is shown as a whole. */
const MOST_COMPARISONS = 1_000_000;
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
  const most = Math.min(old.length, changed.length);
  let head = 0;
  while (head < most && old[head] === changed[head]) {
    head += 1;
  }
  let tail = 0;
  while (tail < most - head && old.at(-1 - tail) === changed.at(-1 - tail)) {
    tail += 1;
  }
  return [
    ...lines("same", old.slice(0, head)),
    ...compareMiddle(
      old.slice(head, old.length - tail),
      changed.slice(head, changed.length - tail),
    ),
    ...lines("same", old.slice(old.length - tail)),
  ];
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

/**
 * @param {string[]} old
 * @param {string[]} changed
 * @returns {Line[]}
 */
function compareMiddle(old, changed) {
  if (old.length * changed.length > MOST_COMPARISONS) {
    return [...lines("removed", old), ...lines("added", changed)];
  }
  // Lengths of the longest common subsequences of what follows each pair of lines.
  const width = changed.length + 1;
  const lengths = new Uint32Array((old.length + 1) * width);
  for (let i = old.length - 1; i >= 0; i -= 1) {
    for (let j = changed.length - 1; j >= 0; j -= 1) {
      lengths[i * width + j] =
        old[i] === changed[j]
          ? at(lengths, (i + 1) * width + j + 1) + 1
          : Math.max(at(lengths, (i + 1) * width + j), at(lengths, i * width + j + 1));
    }
  }
  /** @type {Line[]} */
  const result = [];
  let i = 0;
  let j = 0;
  while (i < old.length && j < changed.length) {
    if (old[i] === changed[j]) {
      result.push(...lines("same", old.slice(i, i + 1)));
      i += 1;
      j += 1;
    } else if (at(lengths, (i + 1) * width + j) >= at(lengths, i * width + j + 1)) {
      result.push(...lines("removed", old.slice(i, i + 1)));
      i += 1;
    } else {
      result.push(...lines("added", changed.slice(j, j + 1)));
      j += 1;
    }
  }
  return [...result, ...lines("removed", old.slice(i)), ...lines("added", changed.slice(j))];
}

/**
 * @param {Line["kind"]} kind
 * @param {string[]} texts
 * @returns {Line[]}
 */
function lines(kind, texts) {
  return texts.map((text) => ({ kind, text }));
}

/**
 * @param {Uint32Array} array
 * @param {number} index
 */
function at(array, index) {
  return array[index] ?? 0;
}
