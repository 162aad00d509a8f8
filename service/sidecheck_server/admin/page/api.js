/** Calls of the HTTP API of the server that serves this page. */

/**
 * @typedef {object} Violation
 * @property {string} instance_location
 * @property {string} keyword_location
 * @property {string} code
 * @property {"error" | "warning" | "info"} severity
 * @property {string} message
 * @property {string} suggestion
 * @property {string} spec_url
 */

/**
 * @typedef {object} Change
 * @property {string} instance_location
 * @property {string} code
 * @property {string} message
 */

/**
 * @typedef {object} Verdict
 * @property {boolean} valid
 * @property {Violation[]} violations
 * @property {boolean} truncated
 * @property {string} tool_error_text
 * @property {boolean} enforced
 * @property {{valid: boolean, violations: Violation[], changes: Change[]} | null} repair
 * @property {unknown} call_tool_result
 * @property {unknown} json_rpc_error
 */

/**
 * Problem details (RFC 9457) of an error.
 *
 * @typedef {object} ProblemDetails
 * @property {string} type
 * @property {string} title
 * @property {number} status
 * @property {string} detail
 * @property {string} [reason]
 * @property {Record<string, string>} [metadata]
 * @property {Pick<Violation, "instance_location" | "code" | "message">[]} [violations]
 */

/**
 * @typedef {object} Answer
 * @property {any} value The response.
 * @property {string} text Its text, which has the spelling of JSON in it.
 */

/** The server answered with an error. */
export class Problem extends Error {
  /** @param {ProblemDetails} details */
  constructor(details) {
    super(details.detail);
    this.details = details;
  }
}

/** No server answered. */
export class Unreachable extends Error {}

/**
 * Tells whether the server answers: events "answered" and "unreachable".
 */
export const connection = new EventTarget();

/** Lives as long as the page does, and is stored nowhere. */
let token = "";

/** @param {string} value Token of all further calls, "" for none. */
export function setToken(value) {
  token = value;
}

/** Returns whether calls have a token. */
export function hasToken() {
  return token !== "";
}

/**
 * Calls a method.
 *
 * @param {string} method Its name in kebab case.
 * @param {string} body JSON text.
 * @param {AbortSignal} [signal]
 * @returns {Promise<Answer>}
 * @throws {Problem | Unreachable} Or the reason of the signal, if it was aborted.
 */
export async function call(method, body, signal) {
  /** @type {Record<string, string>} */
  const headers = { "content-type": "application/json" };
  if (token) {
    headers.authorization = `Bearer ${token}`;
  }
  let response;
  let text;
  try {
    response = await fetch(`v1/${method}`, {
      method: "POST",
      headers,
      body,
      cache: "no-store",
      credentials: "omit",
      redirect: "error",
      signal: signal ?? null,
    });
    text = await response.text();
  } catch {
    signal?.throwIfAborted();
    connection.dispatchEvent(new Event("unreachable"));
    throw new Unreachable();
  }
  connection.dispatchEvent(new Event("answered"));
  const value = parsed(text, response);
  if (!response.ok) {
    throw new Problem(value);
  }
  return { value, text };
}

/**
 * Returns the JSON of a response; problem details if it is none, as from a proxy between.
 *
 * @param {string} text
 * @param {Response} response
 */
function parsed(text, response) {
  const { status, statusText } = response;
  const other = {
    type: "about:blank",
    title: statusText,
    status,
    detail: "not a response of the API",
  };
  let value;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Problem(other);
  }
  return response.ok || typeof value?.detail === "string" ? value : other;
}
