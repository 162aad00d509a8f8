/** Elements of the page: made of text alone, so that no content of a payload becomes markup. */

/**
 * Returns the element of index.html with an id.
 *
 * @template {HTMLElement} [T=HTMLElement]
 * @param {string} id
 * @param {new () => T} [type] Its class.
 * @returns {T}
 */
export function byId(id, type) {
  const found = document.getElementById(id);
  if (!(found instanceof (type ?? HTMLElement))) {
    throw new Error(`index.html has no such element: ${id}`);
  }
  return /** @type {T} */ (found);
}

/** @typedef {Node | string | null | undefined | false} Child */

/**
 * Returns an element.
 *
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} name
 * @param {Record<string, string | EventListener>} attributes With names that begin with "on":
 *   listeners of events.
 * @param {Child[]} children Strings become text.
 * @returns {HTMLElementTagNameMap[K]}
 */
export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === "function") {
      made.addEventListener(key.slice(2), value);
    } else {
      made.setAttribute(key, value);
    }
  }
  made.append(...present(children));
  return made;
}

/**
 * Replaces the content of an element.
 *
 * @param {Element} parent
 * @param {Child[]} children
 */
export function fill(parent, ...children) {
  parent.replaceChildren(...present(children));
}

/**
 * Returns a link to a page of the web, or its text alone if it has no address.
 *
 * @param {string} url
 * @param {string} text
 * @returns {Child}
 */
export function webLink(url, text) {
  if (!url.startsWith("https://")) {
    return null;
  }
  return element("a", { href: url, target: "_blank", rel: "noopener noreferrer" }, text);
}

/**
 * Returns a section that opens, with a region of code that can be scrolled with the keyboard.
 *
 * @param {string} title
 * @param {string} text
 * @param {boolean} isOpen
 */
export function codeSection(title, text, isOpen = false) {
  return element(
    "details",
    isOpen ? { open: "" } : {},
    element("summary", {}, title),
    codeRegion(title, text),
  );
}

/**
 * Returns a region of code that can be scrolled with the keyboard.
 *
 * @param {string} label
 * @param {string} text
 */
export function codeRegion(label, text) {
  const attributes = { class: "code", tabindex: "0", role: "region", "aria-label": label };
  return element("pre", attributes, text);
}

/**
 * Returns a number with its noun.
 *
 * @param {number} count
 * @param {string} noun
 */
export function counted(count, noun) {
  return `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
}

/** @param {Child[]} children */
function present(children) {
  return /** @type {(Node | string)[]} */ (
    children.filter((child) => child !== null && child !== undefined && child !== false)
  );
}
