/** The dialogs of the page: examples, text to copy, and the token. */

import { hasToken, setToken } from "./api.js";
import { curlCommand, pythonProgram } from "./commands.js";
import { byId, element, fill } from "./elements.js";

/**
 * An input of the page to look at.
 *
 * @typedef {object} Example
 * @property {string} title
 * @property {string} description
 * @property {string} tab
 * @property {Record<string, unknown>} fields Values that are no strings are JSON.
 */

/** Lets dialogs be closed by their buttons, and by a click beside them. */
export function prepareDialogs() {
  for (const dialog of document.querySelectorAll("dialog")) {
    for (const button of dialog.querySelectorAll("[data-close]")) {
      button.addEventListener("click", () => dialog.close());
    }
    dialog.addEventListener("click", (event) => {
      if (event.target === dialog) {
        dialog.close();
      }
    });
  }
}

/**
 * Fills the dialog of examples.
 *
 * @param {Example[]} examples
 * @param {(example: Example) => void} onChoose
 */
export function prepareExamples(examples, onChoose) {
  const dialog = byId("examples", HTMLDialogElement);
  const choices = examples.map((example) =>
    element(
      "li",
      {},
      element(
        "button",
        {
          type: "button",
          onclick: () => {
            dialog.close();
            onChoose(example);
          },
        },
        element("strong", {}, example.title),
        element("span", {}, example.description),
      ),
    ),
  );
  fill(byId("example-list"), ...choices);
  byId("open-examples").addEventListener("click", () => dialog.showModal());
}

/**
 * Prepares the dialog of what is on the screen, as text that runs elsewhere.
 *
 * @param {() => import("./tab.js").Copy | null} copy
 */
export function prepareCopy(copy) {
  const dialog = byId("copy", HTMLDialogElement);
  const text = byId("copy-text");
  const status = byId("copy-status");
  const languages = /** @type {HTMLInputElement[]} */ ([
    ...dialog.querySelectorAll("input[name=copy-language]"),
  ]);
  const show = () => {
    const copied = copy();
    const language = languages.find(({ checked }) => checked)?.value ?? "curl";
    text.textContent = copied ? textOf(copied, language) : "There is nothing to copy yet.";
    byId("copy-note").textContent = (language !== "curl" && copied?.note) || "";
    byId("copy-now", HTMLButtonElement).disabled = copied === null;
    status.textContent = "";
  };
  for (const language of languages) {
    language.addEventListener("change", show);
  }
  byId("open-copy").addEventListener("click", () => {
    show();
    dialog.showModal();
  });
  byId("copy-now").addEventListener("click", async () => {
    status.textContent = await toClipboard(text.textContent ?? "", text);
  });
}

/**
 * Prepares the dialog of the token.
 *
 * @param {() => void} onChanged Called when calls have another token.
 */
export function prepareToken(onChanged) {
  const dialog = byId("token", HTMLDialogElement);
  const value = byId("token-value", HTMLInputElement);
  const open = byId("open-token");
  const show = () => {
    value.value = "";
    dialog.returnValue = "";
    dialog.showModal();
  };
  open.addEventListener("click", show);
  document.addEventListener("token-needed", show);
  const [cancel] = dialog.querySelectorAll("button[value=cancel]");
  cancel?.addEventListener("click", (event) => {
    event.preventDefault();
    dialog.close();
  });
  byId("token-form", HTMLFormElement).addEventListener("submit", () => {
    setToken(value.value.trim());
    value.value = "";
    open.textContent = hasToken() ? "Token ✓" : "Token";
    onChanged();
  });
}

/**
 * Puts a text into the clipboard; if the browser forbids that, selects it.
 *
 * @param {string} text
 * @param {HTMLElement} [shown] Where it is on the page.
 * @returns {Promise<string>} What to tell.
 */
export async function toClipboard(text, shown) {
  try {
    // Absent where the page came over plain HTTP from another machine.
    await navigator.clipboard.writeText(text);
    return "Copied";
  } catch {
    if (shown) {
      getSelection()?.selectAllChildren(shown);
    }
    return shown ? "Selected: copy it with the keyboard" : "The browser allows no copying here";
  }
}

/**
 * @param {import("./tab.js").Copy} copied
 * @param {string} language
 */
function textOf(copied, language) {
  switch (language) {
    case "python":
      return pythonProgram(copied.imports, copied.python, hasToken());
    case "cli":
      return copied.cli;
    default:
      return curlCommand(copied.method, copied.body, hasToken());
  }
}
