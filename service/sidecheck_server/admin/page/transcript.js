/** Transcripts: text with one protocol message per line, as `sidecheck lint-messages` reads it. */

import { isJson, jsonProperty, objectText, plainProperty } from "./json_text.js";
import { textAt } from "./json_places.js";

/** Senders by the value of "direction". */
const SENDERS = Object.freeze({
  client: "client",
  "client-to-server": "client",
  server: "server",
  "server-to-client": "server",
});

/**
 * @typedef {object} Line
 * @property {number} number From 1.
 * @property {number} start Offset of the line.
 * @property {string} text
 * @property {string} pointer To the message in the line.
 * @property {string} message Its text.
 * @property {string} sender
 * @property {string} requestMethod
 * @property {number} httpStatus 0 if there is none.
 * @property {string} summary What the message is, for people.
 */

/**
 * Returns the lines of a transcript that are not blank.
 *
 * @param {string} text
 * @returns {Line[]}
 */
export function readTranscript(text) {
  const lines = [];
  let start = 0;
  for (const [index, line] of text.split("\n").entries()) {
    if (line.trim() !== "") {
      lines.push(readLine(index + 1, start, line));
    }
    start += line.length + 1;
  }
  return lines;
}

/**
 * Returns a message as an item of a request to check a session.
 *
 * @param {Line} line
 */
export function sessionItem({ message, sender, requestMethod, httpStatus }) {
  return objectText(
    jsonProperty("message", message),
    plainProperty("sender", sender),
    plainProperty("request_method", requestMethod),
    plainProperty("http_status", httpStatus || ""),
  );
}

/**
 * @param {number} number
 * @param {number} start
 * @param {string} text
 * @returns {Line}
 */
function readLine(number, start, text) {
  const value = isJson(text) ? JSON.parse(text) : null;
  const isWrapped =
    value !== null && typeof value === "object" && "message" in value && !("jsonrpc" in value);
  const bare = { sender: "", requestMethod: "", httpStatus: 0 };
  if (!isWrapped) {
    return { number, start, text, pointer: "", message: text, ...bare, summary: summary(value) };
  }
  const { direction, request_method: method, http } = value;
  const sender = Object.entries(SENDERS).find(([name]) => name === direction)?.[1] ?? "";
  const status = Number.isInteger(http?.status) && http.status >= 100 && http.status < 600;
  return {
    number,
    start,
    text,
    pointer: "/message",
    message: textAt(text, "/message") ?? "",
    sender,
    requestMethod: typeof method === "string" ? method : "",
    httpStatus: status ? http.status : 0,
    summary: summary(value.message),
  };
}

/** @param {any} message */
function summary(message) {
  if (message === null || typeof message !== "object") {
    return "not a message";
  }
  if (Array.isArray(message)) {
    return `batch of ${message.length}`;
  }
  const id = "id" in message ? ` #${JSON.stringify(message.id)}` : "";
  if (typeof message.method === "string") {
    return message.method + id;
  }
  return ("error" in message ? "error" : "result" in message ? "result" : "message") + id;
}
