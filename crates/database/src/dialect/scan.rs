//! Finds parameters and row locks in a statement, and nothing inside of its strings, names and comments.

use study::Engine;
use workload::sql::between_dollars;

/// A stretch of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Piece<'a> {
    /// Text that is passed on.
    Plain(&'a str),
    /// A word of SQL: letters, digits and underscores.
    Word(&'a str),
    /// A parameter, counted from 1.
    Parameter(u16),
}

/// The stretches of a statement in order; together they are all of it.
pub(super) fn pieces(engine: Engine, sql: &str) -> Vec<Piece<'_>> {
    let (mut pieces, mut at) = (Vec::new(), 0);
    while at < sql.len() {
        let rest = &sql[at..];
        let length = skipped(engine, rest);
        if length > 0 {
            pieces.push(Piece::Plain(&rest[..length]));
            at += length;
        } else if let Some((number, length)) = parameter(rest) {
            pieces.push(Piece::Parameter(number));
            at += length;
        } else {
            let word = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
            let one = rest.chars().next().map_or(1, char::len_utf8);
            pieces.push(if word > 0 { Piece::Word(&rest[..word]) } else { Piece::Plain(&rest[..one]) });
            at += word.max(one);
        }
    }
    pieces
}

/// Length of the string, quoted name or comment that begins here; 0 when none does.
fn skipped(engine: Engine, rest: &str) -> usize {
    let end = |at: Option<usize>, length: usize| at.map_or(rest.len(), |at| at + length);
    match rest.as_bytes() {
        [quote @ (b'\'' | b'"' | b'`'), ..] => quoted(engine, rest, *quote),
        [b'-', b'-', ..] => end(rest.find('\n'), 1),
        [b'/', b'*', ..] => end(rest[2..].find("*/").map(|at| at + 2), 2),
        [b'$', next, ..] if engine == Engine::Postgres && !next.is_ascii_digit() => between_dollars(rest).unwrap_or(0),
        _ => 0,
    }
}

/// Length of what is between quotes. A doubled quote ends and begins it anew, which comes to the same.
fn quoted(engine: Engine, rest: &str, quote: u8) -> usize {
    let escapes = engine == Engine::Mariadb && quote != b'`';
    let mut bytes = rest.bytes().enumerate().skip(1);
    while let Some((at, byte)) = bytes.next() {
        if escapes && byte == b'\\' {
            bytes.next();
        } else if byte == quote {
            return at + 1;
        }
    }
    rest.len()
}

/// The parameter that begins here, and its length.
fn parameter(rest: &str) -> Option<(u16, usize)> {
    let digits = rest.strip_prefix('$')?;
    let length = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    let number: u16 = digits[..length].parse().ok().filter(|number| *number > 0)?;
    Some((number, length + 1))
}

/// The words of a statement in capitals, each with its place among the stretches.
pub(super) fn words(pieces: &[Piece<'_>]) -> Vec<(usize, String)> {
    let word = |(place, piece): (usize, &Piece<'_>)| match piece {
        Piece::Word(word) => Some((place, word.to_ascii_uppercase())),
        _ => None,
    };
    pieces.iter().enumerate().filter_map(word).collect()
}

/// Takes `FOR UPDATE` and its like away, for an engine that has no row locks.
pub(super) fn without_locks(pieces: Vec<Piece<'_>>) -> Vec<Piece<'_>> {
    let words = words(&pieces);
    let word = |place: usize| words.get(place).map_or("", |(_, word)| word.as_str());
    let locks = |place: &usize| word(*place) == "FOR" && matches!(word(*place + 1), "UPDATE" | "SHARE" | "NO" | "KEY");
    let Some(place) = (0..words.len()).find(locks) else { return pieces };
    // A locking clause is the end of a SELECT: everything from it on goes, up to what closes a bracket.
    let from = words[place].0;
    let closed = pieces[from..].iter().position(|piece| matches!(piece, Piece::Plain(")" | ";")));
    let mut kept = pieces[..from].to_vec();
    kept.extend(closed.map(|at| &pieces[from + at..]).unwrap_or_default());
    without_locks(kept)
}
