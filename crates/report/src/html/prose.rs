//! Sentences in HTML: commands as code, other words between backticks in quotes, options never broken at their hyphens or before what
//! they set.
//!
//! The one idea: a sentence may hold a name that somebody chose, and no name may add an element. So only what looks like a
//! command of ours becomes code, wherever other backticks stand.

use crate::kept::kept;
use maud::{Markup, html};

/// How commands begin.
const COMMANDS: [&str; 2] = ["`prony ", "`--"];

/// A sentence.
pub(super) fn prose(text: &str) -> Markup {
    let (mut rest, mut parts) = (text, Vec::new());
    while let Some((before, command, after)) = command(rest) {
        parts.push((false, before));
        parts.push((true, command));
        rest = after;
    }
    parts.push((false, rest));
    let mut open = false;
    html! {
        @for (command, part) in parts {
            @if command { code { (whole_options(&kept(part), true)) } } @else { (whole_options(&kept(&quoted(part, &mut open)), false)) }
        }
    }
}

/// Parts up to this long are not broken inside: a number stays with its unit.
const PART_MAX: usize = 34;

/// A list of short parts, broken between them.
pub(super) fn unbroken(text: &str) -> String {
    let whole =
        |part: &str| if part.chars().count() <= PART_MAX { part.replace(' ', "\u{a0}") } else { part.to_owned() };
    text.split(", ").map(whole).collect::<Vec<_>>().join(", ")
}

/// The first command in a text, with what stands before and behind it.
fn command(text: &str) -> Option<(&str, &str, &str)> {
    let at = COMMANDS.iter().filter_map(|begins| text.find(begins)).min()?;
    let (command, after) = text[at + 1..].split_once('`')?;
    Some((&text[..at], command, after))
}

fn quoted(text: &str, open: &mut bool) -> String {
    let mut quote = || {
        *open = !*open;
        if *open { '‘' } else { '’' }
    };
    text.chars().map(|c| if c == '`' { quote() } else { c }).collect()
}

/// A command is copied from the page: its spaces are plain, and the style keeps an option with what it sets.
fn whole_options(text: &str, inside: bool) -> Markup {
    let is_option =
        |word: &str| word.strip_prefix("--").is_some_and(|name| name.starts_with(|c: char| c.is_ascii_lowercase()));
    html! {
        @for (at, word) in text.split(' ').enumerate() {
            @if at > 0 { " " }
            @if !is_option(word) { (word) }
            @else if inside { span class="option" { (word.replace('\u{a0}', " ")) } }
            @else {
                @let (option, ends) = word.split_at(word.trim_end_matches(['.', ',', ';', ':', ')']).len());
                code class="option" { (option.replace('\u{a0}', " ")) } (ends)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_code_and_options_stay_whole() {
        let told = prose("run `prony show x` with --set measure=5s").into_string();
        assert_eq!(told, "run <code>prony show x</code> with <code class=\"option\">--set measure=5s</code>");
        let told = prose("`--resume` <b>").into_string();
        assert_eq!(told, "<code><span class=\"option\">--resume</span></code> &lt;b&gt;");
    }

    #[test]
    fn other_backticks_are_quotes_wherever_they_stand() {
        assert_eq!(
            prose("threshold `elapsed > 3 s`: 4 s").into_string(),
            "threshold ‘elapsed &gt; 3\u{a0}s’: 4\u{a0}s"
        );
        assert_eq!(prose("a ` b, `prony show x` c ` d").into_string(), "a ‘ b, <code>prony show x</code> c ’ d");
        assert_eq!(prose("`prony has no end").into_string(), "‘prony has no end");
        assert_eq!(prose("").into_string(), "");
    }
}
