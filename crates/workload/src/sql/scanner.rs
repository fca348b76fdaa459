//! Where a statement begins and ends in a script.
//!
//! The one idea: psql's rules, byte by byte. A semicolon ends a statement unless it stands in quotes, a comment,
//! parentheses or the body of an SQL function; a backslash ends it and begins a command; `\;` joins statements that travel
//! together, and `\:` is a colon.
//!
//! What it does not do: it knows no SQL beyond quotes, comments and parentheses, and it replaces no variable.

use super::names::{begins_name, continues_name};
use super::token::Misread;
use std::ops::Range;

/// What ended a stretch of SQL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    Semicolon,
    /// The scanner stands behind it.
    Backslash,
    End,
}

/// One statement as it is written, without the semicolon.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Written {
    /// The byte of the script where it begins.
    pub(super) at: usize,
    pub(super) sql: String,
    /// Bytes of `sql` that lie in quotes or comments.
    pub(super) quoted: Vec<Range<usize>>,
    /// The words outside of quotes, in lower case: the first, and whether `returning` is among them.
    pub(super) words: Vec<String>,
}

/// Statements that travel together, and what ended them.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Stretch {
    pub(super) statements: Vec<Written>,
    pub(super) stop: Stop,
}

pub(super) struct Scanner<'a> {
    text: &'a str,
    pub(super) at: usize,
    parentheses: u32,
    body: Body,
    pub(super) problems: Vec<Misread>,
}

impl<'a> Scanner<'a> {
    pub(super) fn new(text: &'a str) -> Scanner<'a> {
        Scanner { text, at: 0, parentheses: 0, body: Body::default(), problems: Vec::new() }
    }

    /// The next stretch of SQL, which may be empty.
    pub(super) fn stretch(&mut self) -> Stretch {
        let mut statements = Vec::new();
        let mut now = Written::default();
        self.body = Body::default();
        let stop = loop {
            let rest = &self.text.as_bytes()[self.at..];
            match rest {
                [] => break Stop::End,
                [b'\\', b';', ..] => {
                    self.at += 2;
                    self.body = Body::default();
                    statements.push(std::mem::take(&mut now));
                }
                [b'\\', b':', ..] => {
                    self.at += 1;
                    self.take(&mut now, 1, false);
                }
                [b'\\', ..] => {
                    self.at += 1;
                    break Stop::Backslash;
                }
                [b';', ..] if self.parentheses == 0 && self.body.depth == 0 => {
                    self.at += 1;
                    break Stop::Semicolon;
                }
                _ => self.piece(&mut now),
            }
        };
        statements.push(now);
        finish(&mut statements, stop, self.at);
        Stretch { statements, stop }
    }

    /// Takes one word, quotation, comment or sign.
    fn piece(&mut self, now: &mut Written) {
        let rest = &self.text.as_bytes()[self.at..];
        match rest {
            [byte, ..] if byte.is_ascii_whitespace() || *byte == 0x0b => self.skip_or_take(now, 1, false),
            [b'-', b'-', ..] => {
                let length = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
                self.skip_or_take(now, length, true);
            }
            [b'/', b'*', ..] => self.quotation(now, comment(rest), "comment"),
            [b'\'', ..] => self.quotation(now, quote(rest, false), "quoted string"),
            [b'e' | b'E', b'\'', ..] => {
                let length = quote(&rest[1..], true).map(|length| length + 1);
                self.quotation(now, length, "quoted string");
            }
            [b'"', ..] => self.quotation(now, quote(rest, false), "quoted identifier"),
            [b'$', ..] => match dollar_tag(rest) {
                Some(tag) => self.quotation(now, dollar(rest, tag), "dollar-quoted string"),
                None => self.take(now, 1, false),
            },
            [b'(', ..] => {
                self.parentheses += 1;
                self.take(now, 1, false);
            }
            [b')', ..] => {
                self.parentheses = self.parentheses.saturating_sub(1);
                self.take(now, 1, false);
            }
            [byte, ..] if begins_name(*byte) => self.word(now),
            _ => self.take(now, 1, false),
        }
    }

    fn word(&mut self, now: &mut Written) {
        let rest = &self.text.as_bytes()[self.at..];
        let length = rest.iter().position(|byte| !continues_name(*byte) && *byte != b'$').unwrap_or(rest.len());
        let word = self.text[self.at..self.at + length].to_ascii_lowercase();
        self.body.see(&word, self.parentheses);
        // A name behind a colon is a variable, or the type of a cast.
        if !now.sql.ends_with(':') {
            now.words.push(word);
        }
        self.take(now, length, false);
    }

    fn quotation(&mut self, now: &mut Written, length: Option<usize>, called: &str) {
        let length = length.unwrap_or_else(|| {
            self.problems.push(Misread { at: self.at, text: format!("unterminated {called}") });
            self.text.len() - self.at
        });
        self.take(now, length, true);
    }

    /// Blanks and line comments ahead of a statement are no part of it.
    fn skip_or_take(&mut self, now: &mut Written, length: usize, quoted: bool) {
        if now.sql.is_empty() { self.at += length } else { self.take(now, length, quoted) }
    }

    fn take(&mut self, now: &mut Written, length: usize, quoted: bool) {
        if now.sql.is_empty() {
            now.at = self.at;
        }
        let start = now.sql.len();
        now.sql.push_str(&self.text[self.at..self.at + length]);
        if quoted {
            now.quoted.push(start..now.sql.len());
        }
        self.at += length;
    }
}

/// Drops what is empty, unless the stretch is nothing but a semicolon: that is the empty query.
fn finish(statements: &mut Vec<Written>, stop: Stop, end: usize) {
    for statement in statements.iter_mut() {
        statement.sql.truncate(statement.sql.trim_end().len());
    }
    statements.retain(|statement| !statement.sql.is_empty());
    if statements.is_empty() && stop == Stop::Semicolon {
        statements.push(Written { at: end.saturating_sub(1), sql: ";".to_owned(), ..Written::default() });
    }
}

/// The length of a quotation that begins with its quote; a quote inside is written twice, or behind a backslash where
/// those escape.
pub(crate) fn quote(bytes: &[u8], escapes: bool) -> Option<usize> {
    let quote = bytes[0];
    let mut at = 1;
    loop {
        match bytes.get(at)? {
            b'\\' if escapes => at += 2,
            byte if *byte == quote => match bytes.get(at + 1) {
                Some(next) if *next == quote => at += 2,
                _ => return Some(at + 1),
            },
            _ => at += 1,
        }
    }
}

/// The length of a comment, which may hold others; none where it does not end.
pub(crate) fn comment(bytes: &[u8]) -> Option<usize> {
    let (mut at, mut depth) = (2, 1);
    while depth > 0 {
        match bytes.get(at..)? {
            [b'/', b'*', ..] => (at, depth) = (at + 2, depth + 1),
            [b'*', b'/', ..] => (at, depth) = (at + 2, depth - 1),
            [] => return None,
            _ => at += 1,
        }
    }
    Some(at)
}

/// Words behind which an expression begins, so that a sign there belongs to a number.
pub const OPENS: &[&str] = &[
    "select",
    "and",
    "or",
    "not",
    "then",
    "else",
    "when",
    "case",
    "between",
    "by",
    "in",
    "limit",
    "offset",
    "returning",
];

/// Bytes of the dollar-quoted string that begins here; none where none does. One without an end reaches to the end.
pub fn between_dollars(sql: &str) -> Option<usize> {
    let tag = dollar_tag(sql.as_bytes()).filter(|_| sql.starts_with('$'))?;
    Some(dollar(sql.as_bytes(), tag).unwrap_or(sql.len()))
}

/// Bytes of the string, quoted name or comment of PostgreSQL's SQL that begins here, as [`between_dollars`].
pub fn passed(sql: &str) -> Option<usize> {
    let length = match sql.as_bytes() {
        rest @ [b'\'' | b'"', ..] => quote(rest, false),
        [b'e' | b'E', rest @ ..] if rest.starts_with(b"'") => quote(rest, true).map(|length| length + 1),
        [b'-', b'-', ..] => sql.find('\n').map(|at| at + 1),
        rest @ [b'/', b'*', ..] => comment(rest),
        _ => return between_dollars(sql),
    };
    Some(length.unwrap_or(sql.len()))
}

/// The length of `$tag$`.
fn dollar_tag(bytes: &[u8]) -> Option<usize> {
    let length = 1 + bytes[1..].iter().position(|byte| !continues_name(*byte)).unwrap_or(bytes.len() - 1);
    let named = length == 1 || begins_name(bytes[1]);
    (named && bytes.get(length) == Some(&b'$')).then_some(length + 1)
}

/// The length of a dollar-quoted string with its tags.
fn dollar(bytes: &[u8], tag: usize) -> Option<usize> {
    let (open, rest) = bytes.split_at(tag);
    rest.windows(tag).position(|window| window == open).map(|at| at + 2 * tag)
}

/// Whether we are inside the body of an SQL function (BEGIN ATOMIC ... END), where semicolons end nothing.
#[derive(Clone, Debug, Default)]
struct Body {
    /// How many of the first words were seen.
    seen: u32,
    /// The initials of those of the first four words that make a CREATE FUNCTION.
    initials: String,
    depth: u32,
}

impl Body {
    fn see(&mut self, word: &str, parentheses: u32) {
        if self.seen < 4 && matches!(word, "create" | "or" | "replace" | "function" | "procedure") {
            self.initials.push_str(&word[..1]);
        }
        self.seen += 1;
        if parentheses > 0 || !matches!(self.initials.as_str(), "cf" | "cp" | "corf" | "corp") {
            return;
        }
        match word {
            "begin" => self.depth += 1,
            "case" if self.depth > 0 => self.depth += 1,
            "end" => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
    }
}
