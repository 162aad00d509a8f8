/** Tabs, as the ARIA Authoring Practices have them: arrow keys move, and choose at once. */

import { byId } from "./elements.js";

/** @type {Readonly<Record<string, (index: number, count: number) => number>>} */
const MOVES = Object.freeze({
  ArrowLeft: (index, count) => (index + count - 1) % count,
  ArrowRight: (index, count) => (index + 1) % count,
  Home: () => 0,
  End: (_index, count) => count - 1,
});

/** A list of tabs; each has the id "tab-" and its name. */
export class Tabs {
  #names;
  #onChoose;
  #chosen = "";

  /**
   * @param {string[]} names
   * @param {(name: string) => void} onChoose Called when another tab was chosen.
   */
  constructor(names, onChoose) {
    this.#names = names;
    this.#onChoose = onChoose;
    for (const [index, name] of names.entries()) {
      const tab = byId(`tab-${name}`);
      tab.addEventListener("click", () => this.choose(name));
      tab.addEventListener("keydown", (event) => {
        const move = MOVES[event.key];
        if (move) {
          event.preventDefault();
          const next = names[move(index, names.length)] ?? name;
          this.choose(next);
          byId(`tab-${next}`).focus();
        }
      });
    }
  }

  get chosen() {
    return this.#chosen;
  }

  /**
   * Shows a tab.
   *
   * @param {string} name
   */
  choose(name) {
    if (name === this.#chosen) {
      return;
    }
    this.#chosen = name;
    for (const other of this.#names) {
      const tab = byId(`tab-${other}`);
      tab.setAttribute("aria-selected", String(other === name));
      tab.tabIndex = other === name ? 0 : -1;
      byId(`panel-${other}`).hidden = other !== name;
    }
    byId(`tab-${name}`).scrollIntoView({ block: "nearest", inline: "nearest" });
    this.#onChoose(name);
  }
}
