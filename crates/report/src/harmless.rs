//! What a name may not do: move a cursor, speak to a terminal, or turn the direction in which what stands beside it is read.

/// Whether a character is obeyed where it should be read: control characters but for line ends and tabs, and those that turn the
/// direction of writing.
pub fn harms(c: char) -> bool {
    (c.is_control() && !matches!(c, '\n' | '\t')) || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// A character as it may be shown: `\u001b`.
pub fn shown(c: char) -> String {
    format!("\\u{:04x}", u32::from(c))
}

/// A text with each of them shown in place of being obeyed.
pub(crate) fn harmless(text: String) -> String {
    if !text.contains(harms) {
        return text;
    }
    let mut clean = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match harms(c) {
            true => clean.push_str(&shown(c)),
            false => clean.push(c),
        }
    }
    clean
}
