//! Texts of errors and verdicts, for terminals and logs.

/// Most lines of the text of an error.
const MOST_LINES: usize = 10;

/// The text of a server with a space in place of each character that is not printable.
pub(crate) fn make_printable(text: &str) -> String {
    text.replace(is_not_printable, " ")
}

/// Whether a character is a control (ECMA-48), a line or paragraph separator, or a format
/// character that shows nothing or changes the direction of a text. The ranges do not follow the
/// Unicode version of the tool chain: the clients of all languages have the same.
fn is_not_printable(character: char) -> bool {
    matches!(
        character,
        '\0'..='\x1f'
            | '\x7f'..='\u{9f}'
            | '\u{ad}'
            | '\u{61c}'
            | '\u{180e}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}'
    )
}

/// The text in quotes, printable, with a backslash before quotes and backslashes.
pub(crate) fn quote(text: &str) -> String {
    let escaped = make_printable(text)
        .replace('\\', r"\\")
        .replace('"', r#"\""#);
    format!("\"{escaped}\"")
}

/// A title and the first lines: one in the same line, several below it. If they are truncated,
/// there may be more of them.
pub(crate) fn list_lines(title: &str, mut lines: Vec<String>, truncated: bool) -> String {
    let more = lines.len().saturating_sub(MOST_LINES);
    if more > 0 {
        lines.truncate(MOST_LINES);
        let least = if truncated { "at least " } else { "" };
        lines.push(format!("and {least}{more} more"));
    } else if truncated && !lines.is_empty() {
        lines.push("and possibly more".to_owned());
    }
    match lines.as_slice() {
        [] => title.to_owned(),
        [line] => format!("{title}: {line}"),
        _ => format!("{title}:\n- {}", lines.join("\n- ")),
    }
}

/// The parts that are not empty, with the separator between them.
pub(crate) fn join(parts: [&str; 2], separator: &str) -> String {
    let parts: Vec<_> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    parts.join(separator)
}
