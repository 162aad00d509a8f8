/** What tabs have in common. */

/**
 * Text to copy: the same as what is on the screen, to be run elsewhere.
 *
 * @typedef {object} Copy
 * @property {string} method Of the HTTP API, in kebab case.
 * @property {string} body
 * @property {string} python Program for the client, without what opens it.
 * @property {string[]} imports Names of the client that the program needs.
 * @property {string} cli Command, and what it reads.
 * @property {string} [note] What one of them cannot express.
 */

/**
 * A task of the page.
 *
 * @typedef {object} Tab
 * @property {string} name
 * @property {() => void} open Called when the tab is chosen.
 * @property {() => void} ask Asks the server about what is there.
 * @property {() => Record<string, string>} read Returns what a link has of the tab.
 * @property {(fields: Record<string, string>) => void} write Takes what a link has.
 * @property {() => Copy | null} copy Returns what to copy, null if there is nothing.
 */

/**
 * What a tab knows of the page around it.
 *
 * @typedef {object} Page
 * @property {import("./tools_pane.js").ToolsPane} tools
 * @property {() => string} version Protocol version, "" for the server's default.
 * @property {() => void} changed Must be called when what a link has was changed.
 */

/**
 * Sets controls to the fields of a link; those without a field get their first value.
 *
 * @param {Record<string, string>} fields
 * @param {Record<string, HTMLSelectElement | HTMLInputElement>} controls By the names of fields.
 */
export function writeControls(fields, controls) {
  for (const [name, control] of Object.entries(controls)) {
    const value = fields[name];
    if (control instanceof HTMLSelectElement) {
      const initial = [...control.options].find((option) => option.defaultSelected);
      control.value = value ?? initial?.value ?? control.options[0]?.value ?? "";
    } else if (control.type === "checkbox") {
      control.checked = value === undefined ? control.defaultChecked : value === "yes";
    } else {
      control.value = value ?? "";
    }
  }
}

/**
 * Returns the values of controls that are not the initial ones, for a link.
 *
 * @param {Record<string, HTMLSelectElement | HTMLInputElement>} controls
 */
export function readControls(controls) {
  /** @type {Record<string, string>} */
  const fields = {};
  for (const [name, control] of Object.entries(controls)) {
    if (control instanceof HTMLSelectElement) {
      const initial = [...control.options].find((option) => option.defaultSelected);
      if (control.value !== (initial ?? control.options[0])?.value) {
        fields[name] = control.value;
      }
    } else if (control.type === "checkbox") {
      if (control.checked !== control.defaultChecked) {
        fields[name] = control.checked ? "yes" : "no";
      }
    } else if (control.value !== "") {
      fields[name] = control.value;
    }
  }
  return fields;
}
