//! Articles about companies: headlines, and bodies of six to eight thousand characters.
//!
//! The one idea: sentences from a short list of plain words, so that a body compresses as prose does, roughly threefold,
//! and no two are the same.
//!
//! What it does not do: it means nothing.

use random::{GOLDEN, below, mix};
use std::sync::LazyLock;

static NOUNS: LazyLock<Vec<&str>> = LazyLock::new(|| include_str!("article_nouns.txt").split_whitespace().collect());
static VERBS: LazyLock<Vec<&str>> = LazyLock::new(|| include_str!("article_verbs.txt").split_whitespace().collect());
static QUALITIES: LazyLock<Vec<&str>> =
    LazyLock::new(|| include_str!("article_qualities.txt").split_whitespace().collect());
const LINKS: [&str; 8] = ["while", "because", "although", "after", "before", "and", "but", "so"];

/// Characters of the longest body.
pub(super) const LONGEST: usize = 8_000;

fn word(list: &[&'static str], random: u64) -> &'static str {
    list[below(random, list.len() as u64) as usize]
}

/// Adds a clause of up to 60 characters: the northern depot doubled a modest order.
fn push_clause(random: u64, to: &mut String) {
    let draw = |k: u64| mix(random.wrapping_add(k));
    for (at, text) in [
        "the",
        word(&QUALITIES, draw(1)),
        word(&NOUNS, draw(2)),
        word(&VERBS, draw(3)),
        "the",
        word(&QUALITIES, draw(4)),
        word(&NOUNS, draw(5)),
    ]
    .into_iter()
    .enumerate()
    {
        if at > 0 {
            to.push(' ');
        }
        to.push_str(text);
    }
}

/// Adds the headline of an article.
pub(super) fn push_headline(article: u64, to: &mut String) {
    push_clause(mix(article ^ 0x6865_6164), to);
}

/// Adds the summary of an article: two clauses.
pub(super) fn push_summary(article: u64, to: &mut String) {
    push_clause(mix(article ^ 0x7375_6d31), to);
    to.push_str(", and ");
    push_clause(mix(article ^ 0x7375_6d32), to);
    to.push('.');
}

/// Adds the body of an article: at most [`LONGEST`] characters.
pub(super) fn push_body(article: u64, to: &mut String) {
    let mut random = mix(article ^ 0x626f_6479);
    let length = LONGEST - 200 - below(random, 1_800) as usize;
    to.reserve(LONGEST);
    while to.len() < length {
        random = mix(random.wrapping_add(GOLDEN));
        push_clause(random, to);
        if !random.is_multiple_of(3) {
            to.push(' ');
            to.push_str(word(&LINKS, mix(random ^ 3)));
            to.push(' ');
            push_clause(mix(random ^ 4), to);
        }
        to.push_str(if random.is_multiple_of(7) { ".\n" } else { ". " });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn articles_keep_their_bounds_and_bodies_compress_but_not_to_nothing() {
        for article in 1..200 {
            let (mut headline, mut summary, mut body) = (String::new(), String::new(), String::new());
            push_headline(article, &mut headline);
            push_summary(article, &mut summary);
            push_body(article, &mut body);
            assert!(headline.len() <= 80 && summary.len() <= 255, "{headline} / {summary}");
            assert!((6_000..=LONGEST).contains(&body.len()), "{}", body.len());
            let packed = lz4_flex::block::compress(body.as_bytes()).len();
            assert!((body.len() / 6..body.len() * 2 / 3).contains(&packed), "{packed} of {}", body.len());
        }
    }
}
