/** Texts of a server in errors and verdicts, for terminals and logs. */

/**
 * Controls (ECMA-48), lone surrogates, line and paragraph separators, and format characters that
 * show nothing or change the direction of a text. The ranges do not follow the Unicode version of
 * the runtime: the clients of all languages have the same.
 */
const NOT_PRINTABLE =
  // eslint-disable-next-line no-control-regex
  /[\x00-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u{d800}-\u{dfff}\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;

/** @internal Returns a text with a space in place of each character that is not printable. */
export function makePrintable(text: string): string {
  return text.replace(NOT_PRINTABLE, " ");
}

/**
 * @internal Returns a text in quotes, printable, with a backslash before quotes and backslashes.
 */
export function quote(text: string): string {
  return JSON.stringify(makePrintable(text));
}
