//! Lines of a given width. Widths count characters; the names in a report are all but never wider than that.

/// Takes out what a terminal would obey: a name from a run file must not move the cursor or change colours.
pub(super) fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// How many columns a text takes.
pub(super) fn columns(text: &str) -> usize {
    text.chars().count()
}

/// Breaks at spaces; lines after the first begin with `indent`. A word longer than a line is left whole: a path that is
/// cut in two cannot be copied.
pub fn wrap(text: &str, width: usize, indent: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        let fits = columns(&line) + 1 + columns(word) <= width;
        if line.trim().is_empty() {
            line.push_str(word);
        } else if fits {
            line.push(' ');
            line.push_str(word);
        } else {
            lines.push(std::mem::replace(&mut line, format!("{indent}{word}")));
        }
    }
    if !line.trim().is_empty() {
        lines.push(line);
    }
    lines
}

/// At most `width` columns, the end replaced by an ellipsis.
pub(super) fn cut(text: &str, width: usize) -> String {
    if columns(text) <= width {
        return text.to_owned();
    }
    let kept: String = text.chars().take(width.saturating_sub(1)).collect();
    format!("{kept}…")
}

/// At most `width` columns; an ellipsis stands for the middle, since levels of a factor differ at their ends.
pub(super) fn cut_inside(text: &str, width: usize) -> String {
    let over = columns(text).saturating_sub(width);
    if over == 0 {
        return text.to_owned();
    }
    let kept = width.saturating_sub(1);
    let head: String = text.chars().take(kept - kept / 2).collect();
    let tail: String = text.chars().skip(columns(text) - kept / 2).collect();
    format!("{head}…{tail}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn no_line_is_wider_than_asked_unless_one_word_is(text in "[a-z ]{0,200}", width in 10usize..80) {
            for line in wrap(&text, width, "  ") {
                prop_assert!(columns(&line) <= width || !line.trim().contains(' '));
            }
        }

        #[test]
        fn a_text_that_is_cut_inside_has_the_width_that_was_asked_and_keeps_its_end(text in "[a-z ]{12,60}", width in 10usize..60) {
            let cut = cut_inside(&text, width);
            prop_assert!(columns(&cut) == width.min(columns(&text)));
            prop_assert_eq!(cut.chars().next_back(), text.chars().next_back());
        }

        #[test]
        fn wrapping_loses_no_word(text in "[a-z ]{0,200}", width in 10usize..80) {
            let joined = wrap(&text, width, "  ").join(" ");
            let words: Vec<&str> = joined.split_whitespace().collect();
            prop_assert_eq!(words, text.split_whitespace().collect::<Vec<_>>());
        }

        #[test]
        fn no_control_character_reaches_the_terminal(text: String) {
            prop_assert!(!printable(&text).chars().any(char::is_control));
        }
    }
}
