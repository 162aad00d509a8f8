/** The list of registered tools, page by page. */

import { call } from "./api.js";
import { byId, counted, element, fill } from "./elements.js";
import { errorHeadline } from "./findings.js";
import { plainProperty, objectText } from "./json_text.js";
import { textAt } from "./json_places.js";

const PAGE_SIZE = 50;

/** @typedef {{server: string, name: string, text: string}} RegisteredTool */

/** Lets a person choose one of them. */
export class RegisteredTools {
  #server = byId("registered-server", HTMLInputElement);
  #list = byId("registered-tools", HTMLSelectElement);
  #more = byId("registered-more", HTMLButtonElement);
  #note = byId("registered-note");
  /** @type {RegisteredTool[]} */
  #tools = [];
  #pageToken = "";
  /** @type {AbortController | null} */
  #running = null;
  #timer = 0;
  #onChoose;
  /** @type {{server: string, name: string} | null} What a link asks for. */
  #wanted = null;

  /** @param {() => void} onChoose Called when the choice has changed. */
  constructor(onChoose) {
    this.#onChoose = onChoose;
    this.#list.addEventListener("change", onChoose);
    this.#more.addEventListener("click", () => void this.#load());
    this.#server.addEventListener("input", () => {
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => void this.reload(), 250);
    });
  }

  /** The tool that is chosen, if any. */
  get chosen() {
    return this.#tools[this.#list.selectedIndex] ?? null;
  }

  /**
   * Chooses a tool once it is listed.
   *
   * @param {string} server
   * @param {string} name
   */
  want(server, name) {
    this.#wanted = { server, name };
    this.#server.value = server;
  }

  /** Lists the first page anew. */
  async reload() {
    const { chosen } = this;
    this.#wanted ??= chosen && { server: chosen.server, name: chosen.name };
    this.#tools = [];
    this.#pageToken = "";
    await this.#load();
  }

  async #load() {
    this.#running?.abort();
    const running = new AbortController();
    this.#running = running;
    const body = objectText(
      plainProperty("server", this.#server.value.trim()),
      plainProperty("page_size", PAGE_SIZE),
      plainProperty("page_token", this.#pageToken),
    );
    try {
      const { value, text } = await call("list-tools", body, running.signal);
      const tools = value.tools.map(
        (
          /** @type {{server: string, name: string}} */ { server, name },
          /** @type {number} */ i,
        ) => ({
          server,
          name,
          text: textAt(text, `/tools/${i}/tool`) ?? "",
        }),
      );
      this.#tools.push(...tools);
      this.#pageToken = value.next_page_token;
      this.#show();
    } catch (error) {
      if (!running.signal.aborted) {
        fill(this.#list);
        this.#more.hidden = true;
        this.#note.textContent = errorHeadline(error);
        this.#onChoose();
      }
    }
  }

  #show() {
    const index = this.#list.selectedIndex;
    const options = this.#tools.map(({ server, name }) =>
      element("option", {}, `${server} / ${name}`),
    );
    fill(this.#list, ...options);
    const wanted = this.#wanted;
    const found = this.#tools.findIndex(
      ({ server, name }) => server === wanted?.server && name === wanted.name,
    );
    this.#list.selectedIndex = found >= 0 ? found : Math.max(index, this.#tools.length ? 0 : -1);
    if (found >= 0) {
      this.#wanted = null;
    }
    this.#more.hidden = this.#pageToken === "";
    const count = counted(this.#tools.length, "tool");
    this.#note.textContent = this.#pageToken ? `The first ${count}` : count;
    this.#onChoose();
  }
}
