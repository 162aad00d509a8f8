/** The state of the page in the fragment of its address, which no browser sends to a server. */

/** Longer addresses are cut by mail programs and chats. */
const LONGEST = 8_000;

/** @typedef {{tab: string, fields: Record<string, string>}} State */

/**
 * Writes the state into the address; only the tab if all of it would be too long.
 *
 * @param {State} state
 * @returns {boolean} Whether all of it is there.
 */
export function writeLink({ tab, fields }) {
  const all = new URLSearchParams({ tab, ...fields }).toString();
  const isWhole = all.length <= LONGEST;
  const fragment = isWhole ? all : new URLSearchParams({ tab }).toString();
  // Without an entry in the history: the way back leads out of the page.
  history.replaceState(null, "", `#${fragment}`);
  return isWhole;
}

/**
 * Returns the state in the address, null if it has none.
 *
 * @returns {State | null}
 */
export function readLink() {
  const { tab, ...fields } = Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
  return tab === undefined ? null : { tab, fields };
}
