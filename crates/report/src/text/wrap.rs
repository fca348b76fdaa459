//! Lines of a given width. Widths count characters; the names in a report are all but never wider than that.

use crate::kept::kept;

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
    at_spaces(&kept(text), width, indent).iter().map(|line| line.replace('\u{a0}', " ")).collect()
}

fn at_spaces(text: &str, width: usize, indent: &str) -> Vec<String> {
    lines(text.split(' ').filter(|word| !word.is_empty()).map(|word| (" ", word)), width, indent)
}

/// The same of a name in a table, which goes on behind a comma or a hyphen, too, where a word is longer than a line.
pub(super) fn fold(name: &str, width: usize, indent: &str) -> Vec<String> {
    let words = at_spaces(name, width, indent);
    if words.iter().all(|line| columns(line) <= width) { words } else { lines(pieces(name), width, indent) }
}

/// The least width at which [`fold`] leaves all words whole.
pub(super) fn wrap_least(name: &str, indent: &str) -> usize {
    at_spaces(name, 0, indent).iter().map(|line| columns(line)).max().unwrap_or(0)
}

/// The least width at which [`fold`] leaves all pieces whole.
pub(super) fn fold_least(name: &str, indent: &str) -> usize {
    lines(pieces(name), 0, indent).iter().map(|line| columns(line)).max().unwrap_or(0)
}

fn lines<'a>(pieces: impl Iterator<Item = (&'static str, &'a str)>, width: usize, indent: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    for (between, piece) in pieces {
        if line.is_empty() {
            line.push_str(piece);
        } else if columns(&line) + columns(between) + columns(piece) <= width {
            line.extend([between, piece]);
        } else {
            lines.push(std::mem::replace(&mut line, format!("{indent}{piece}")));
        }
    }
    lines.extend((!line.is_empty()).then_some(line));
    lines
}

/// What stays together of a name, each piece with what stands before it.
fn pieces(name: &str) -> impl Iterator<Item = (&'static str, &str)> {
    let words = name.split(' ').filter(|word| !word.is_empty());
    words.flat_map(|word| parts(word).enumerate().map(|(at, part)| (if at == 0 { " " } else { "" }, part)))
}

/// A word, divided behind hyphens and commas that stand within it.
fn parts(word: &str) -> impl Iterator<Item = &str> {
    let within = |at: usize| {
        let before = word[..at].chars().next_back().is_some_and(char::is_alphanumeric);
        before && word[at + 1..].chars().next().is_some_and(char::is_alphanumeric)
    };
    let ends: Vec<usize> = word.match_indices(['-', ',']).map(|(at, _)| at).filter(|at| within(*at)).collect();
    let begins = std::iter::once(0).chain(ends.clone().into_iter().map(|at| at + 1));
    begins.zip(ends.into_iter().map(|at| at + 1).chain([word.len()])).map(|(from, to)| &word[from..to])
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

    #[test]
    fn no_option_is_parted_from_what_it_sets_and_no_number_from_its_unit() {
        let told = wrap("the window needs --set measure=5min, or 48 ms of it are lost", 24, "");
        assert_eq!(told, ["the window needs", "--set measure=5min, or", "48 ms of it are lost"]);
        assert_eq!(wrap("a wait of 48 ms", 13, "  "), ["a wait of", "  48 ms"]);
    }

    #[test]
    fn a_name_goes_on_behind_spaces_commas_and_hyphens_inside_it() {
        assert_eq!(fold("target-disk-slow", 12, "  "), ["target-disk-", "  slow"]);
        assert_eq!(fold("bank (8 sessions,4 MiB)", 10, ""), ["bank (8", "sessions,4", "MiB)"]);
        assert_eq!(fold("all of target-slow", 11, ""), ["all of", "target-slow"], "words that fit stay whole");
        assert_eq!(fold("all of target-slow", 10, ""), ["all of", "target-", "slow"]);
        assert_eq!(fold("-5 --set a", 4, ""), ["-5", "--set", "a"], "no hyphen that begins a word");
        assert_eq!(fold_least("ab customer-position", "  "), 11);
    }

    proptest! {
        #[test]
        fn no_line_is_wider_than_asked_unless_one_word_is(text in "[a-z ]{0,200}", width in 10usize..80) {
            for line in wrap(&text, width, "  ") {
                prop_assert!(columns(&line) <= width || !line.trim().contains(' '));
            }
        }

        #[test]
        fn a_name_that_is_folded_keeps_every_letter_and_no_line_is_wider_than_asked(text in "[a-z0-9 ,-]{0,60}", width in 4usize..40) {
            let letters = |text: &str| text.chars().filter(|c| *c != ' ').collect::<String>();
            let folded = fold(&text, width, "  ");
            prop_assert_eq!(letters(&folded.concat()), letters(&text));
            let least = fold_least(&text, "  ");
            prop_assert!(folded.iter().all(|line| columns(line) <= width.max(least)));
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
