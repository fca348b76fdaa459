//! Words of a command that somebody may paste into a shell.

use std::fmt::Display;

/// A word as a shell reads it back: in quotes, where something in it means something to a shell.
pub fn for_shell(word: impl Display) -> String {
    let word = word.to_string();
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,%+@".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word;
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_with_blanks_or_a_quote_survives_the_shell() {
        assert_eq!(for_shell("it's 4 GiB"), "'it'\\''s 4 GiB'");
        assert_eq!(for_shell("file:/mnt/data"), "file:/mnt/data");
        assert_eq!(for_shell(""), "''");
    }
}
