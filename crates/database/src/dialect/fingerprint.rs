//! The same short form for a statement as it was sent and as an engine's statistics show it.
//!
//! The one idea: whatever an engine rewrites before it counts is rewritten here on both sides: values, parameters and lists of
//! them become `?`, signs of numbers, spaces, comments and the case of words go.
//!
//! What it does not do: two statements that differ only in values are one here, as they are to the engines.

use super::scan::{Piece, pieces};
use study::Engine;
use workload::sql::OPENS;

/// The form of a text by which its costs are found.
pub fn fingerprint(engine: Engine, sql: &str) -> String {
    let mut tokens: Vec<String> = Vec::new();
    for piece in pieces(engine, sql) {
        match piece {
            Piece::Parameter(_) => value(&mut tokens),
            Piece::Word(word) if is_value(word) => value(&mut tokens),
            Piece::Word(word) => tokens.push(word.to_lowercase()),
            Piece::Plain(text) => plain(text, &mut tokens),
        }
    }
    while tokens.last().is_some_and(|last| last == ";") {
        tokens.pop();
    }
    tokens.join(" ")
}

fn is_value(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_digit())
        || ["true", "false", "null"].iter().any(|v| word.eq_ignore_ascii_case(v))
}

fn plain(text: &str, tokens: &mut Vec<String>) {
    let quoted = |quote: char| text.len() > 1 && text.starts_with(quote);
    if text.trim().is_empty() || text.starts_with("--") || text.starts_with("/*") {
        return;
    }
    if text == "?" || quoted('\'') || quoted('$') {
        value(tokens);
    } else if quoted('"') || quoted('`') {
        tokens.push(text.trim_matches(['"', '`']).to_lowercase());
    } else if text == "." && tokens.ends_with(&[".".to_owned(), ".".to_owned()]) {
        // How one engine writes a list of values.
        tokens.truncate(tokens.len() - 2);
        value(tokens);
    } else {
        tokens.push(text.to_owned());
    }
}

/// Adds a value; it swallows its own sign, the point inside of it, and the values before it in a list.
fn value(tokens: &mut Vec<String>) {
    let is = |token: Option<&String>, wanted: &str| token.is_some_and(|token| token == wanted);
    // A quote inside of a text is written twice, so that the text reads as two.
    if is(tokens.last(), "?") {
        return;
    }
    let signed = is(tokens.last(), "-") || is(tokens.last(), "+");
    if signed && !ends_operand(tokens.len().checked_sub(2).and_then(|at| tokens.get(at))) {
        tokens.pop();
    }
    let before = tokens.len().checked_sub(2).and_then(|at| tokens.get(at));
    if is(before, "?") && (is(tokens.last(), ",") || is(tokens.last(), ".")) {
        tokens.pop();
        return;
    }
    tokens.push("?".to_owned());
}

/// Whether a token may be the end of an operand: a sign behind it is an operator.
fn ends_operand(token: Option<&String>) -> bool {
    let Some(token) = token else { return false };
    let named = token.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | ')' | ']' | '?'));
    named && !OPENS.contains(&token.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(sql: &str) -> String {
        fingerprint(Engine::Postgres, sql)
    }

    #[test]
    fn a_text_and_what_statistics_make_of_it_are_the_same() {
        let sent = "SELECT a FROM t\n WHERE b = $1 AND c = 'x' -- why\n  AND d IN (1, 2) LIMIT 10";
        assert_eq!(of(sent), of("select a from t where b = $1 and c = $2 and d in ($3, $4) limit $5"));
        assert_eq!(of(sent), of("SELECT a FROM t WHERE b = 7 AND c = $1 AND d IN ($2 /*, ... */) LIMIT $3;"));
        let digest = "SELECT `a` FROM `t` WHERE `b` = ? AND `c` = ? AND `d` IN (...) LIMIT ?";
        assert_eq!(of(sent), fingerprint(Engine::Mariadb, digest));
    }

    #[test]
    fn a_sign_belongs_to_the_number_only_where_no_operand_stands_before_it() {
        assert_eq!(of("UPDATE t SET a = a - -3.5, b = -1"), of("UPDATE t SET a = a - $1, b = $2"));
        assert_ne!(of("UPDATE t SET a = a - $1"), of("UPDATE t SET a = a + $1"));
        assert_eq!(of("UPDATE t SET a = a + $1"), "update t set a = a + ?");
    }

    #[test]
    fn names_tell_statements_apart_and_values_do_not() {
        assert_ne!(of("SELECT a FROM t WHERE b = 1"), of("SELECT a FROM u WHERE b = 1"));
        assert_eq!(of("SELECT a FROM t WHERE b = 'it''s'"), of("SELECT a FROM \"t\" WHERE b = NULL"));
    }

    proptest::proptest! {
        #[test]
        fn no_text_panics(sql in ".{0,60}") {
            for engine in [Engine::Postgres, Engine::Mariadb, Engine::Sqlite] {
                fingerprint(engine, &sql);
            }
        }
    }
}
