/** Text that runs: for shells, and for Python. */

/** Longest text of a Python literal on one line. */
const SHORT = 60;

/**
 * Returns a call of the HTTP API with curl.
 *
 * @param {string} method
 * @param {string} body
 * @param {boolean} hasToken
 */
export function curlCommand(method, body, hasToken) {
  const token = hasToken ? ' -H "Authorization: Bearer $SIDECHECK_TOKEN"' : "";
  return `curl -sS ${location.origin}/v1/${method}${token} --json @- ${hereDocument(body)}`;
}

/**
 * Returns a program for the Python client.
 *
 * @param {string[]} imports
 * @param {string} statements Of a block in which `client` is open.
 * @param {boolean} hasToken
 */
export function pythonProgram(imports, statements, hasToken) {
  const names = [...new Set(["BlockingClient", ...imports])].sort().join(", ");
  const token = hasToken ? ', token=os.environ["SIDECHECK_TOKEN"]' : "";
  const lines = [
    ...(hasToken ? ["import os", ""] : []),
    `from sidecheck import ${names}`,
    "",
    `with BlockingClient("${location.hostname}:50151"${token}) as client:`,
    ...statements.split("\n").map((line) => (line ? `    ${line}` : line)),
  ];
  return lines.join("\n");
}

/**
 * Returns the member of an enumeration in Python for its word.
 *
 * @param {string} word
 */
export function pythonMember(word) {
  return word.toUpperCase().replaceAll("-", "_");
}

/**
 * Returns an expression of Python for JSON text, as bytes.
 *
 * @param {string} text
 */
export function pythonBytes(text) {
  return `${pythonText(text)}.encode()`;
}

/**
 * Returns an expression of Python for a text. What JSON escapes, Python escapes alike.
 *
 * @param {string} text
 */
export function pythonText(text) {
  const literal = JSON.stringify(text);
  if (literal.length <= SHORT || !text.includes("\n")) {
    return literal;
  }
  const lines = text.split("\n").map((line, index, all) => {
    const end = index < all.length - 1 ? "\n" : "";
    return `    ${JSON.stringify(line + end)}`;
  });
  return `(\n${lines.join("\n")}\n)`;
}

/**
 * Returns a command that writes a text to a file of its own, whose name is in a variable.
 *
 * @param {string} variable
 * @param {string} text
 */
export function shellFile(variable, text) {
  return `${variable}=$(mktemp)\ncat >"$${variable}" ${hereDocument(text)}\n`;
}

/**
 * Returns a word of a shell with exactly this content.
 *
 * @param {string} text
 */
export function shellWord(text) {
  return /^[\w./:@-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/**
 * Returns options of a command; those without a value are left out.
 *
 * @param {Record<string, string | boolean>} options
 */
export function shellOptions(options) {
  return Object.entries(options)
    .filter(([, value]) => value !== "" && value !== false)
    .map(([name, value]) =>
      value === true ? ` --${name}` : ` --${name} ${shellWord(String(value))}`,
    )
    .join("");
}

/**
 * Returns a text as the standard input of a command: no character of it means anything there.
 *
 * @param {string} text
 */
export function hereDocument(text) {
  const lines = new Set(text.split("\n"));
  let end = "JSON";
  for (let count = 2; lines.has(end); count += 1) {
    end = `JSON${count}`;
  }
  return `<<'${end}'\n${text}\n${end}`;
}
