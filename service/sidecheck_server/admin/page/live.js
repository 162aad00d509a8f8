/** Requests that follow what somebody types. */

import { call } from "./api.js";

const PAUSE_MILLISECONDS = 180;

/** @typedef {{method: string, body: string}} Request */

/**
 * Asks when nothing was typed for a moment, and shows the answer to the latest request only: an
 * earlier one is aborted, so that answers cannot come out of order.
 */
export class Live {
  #timer = 0;
  /** @type {AbortController | null} */
  #running = null;
  #requests;
  #views;

  /**
   * @param {() => Request[]} requests What to ask; nothing if there is nothing to ask about.
   * @param {object} views
   * @param {(answers: PromiseSettledResult<import("./api.js").Answer>[]) => void} views.show
   *   Shows an answer, or an error, for each of the requests.
   * @param {(isPending: boolean) => void} views.setPending Marks what is shown as outdated.
   */
  constructor(requests, views) {
    this.#requests = requests;
    this.#views = views;
  }

  /** Asks after a pause. */
  soon() {
    this.#stop();
    this.#views.setPending(true);
    this.#timer = setTimeout(() => void this.now(), PAUSE_MILLISECONDS);
  }

  /** Asks at once. */
  async now() {
    this.#stop();
    const running = new AbortController();
    this.#running = running;
    this.#views.setPending(true);
    const calls = this.#requests().map(({ method, body }) => call(method, body, running.signal));
    const answers = await Promise.allSettled(calls);
    if (!running.signal.aborted) {
      this.#views.setPending(false);
      this.#views.show(answers);
    }
  }

  #stop() {
    clearTimeout(this.#timer);
    this.#running?.abort();
  }
}
