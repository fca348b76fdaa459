//! Inserts that add to a row that is there, as MariaDB writes them.
//!
//! The one idea: a workload writes `on conflict (..) do update set ..` with `excluded` for the row that was to be inserted, which
//! PostgreSQL and SQLite understand.
//!
//! What it does not do: it keeps no list of columns; MariaDB looks at all unique keys of the table.

use super::scan::{Piece, words};

/// The stretches of a statement with MariaDB's words for such an insert; all others as they are.
pub(super) fn on_duplicate_key(pieces: Vec<Piece<'_>>) -> Vec<Piece<'_>> {
    let words = words(&pieces);
    let is = |place: usize, wanted: &str| words.get(place).is_some_and(|(_, word)| word == wanted);
    let follow = |from: usize, wanted: &[&str]| (from..).zip(wanted).all(|(place, word)| is(place, word));
    let Some(on) = (0..words.len()).find(|place| follow(*place, &["ON", "CONFLICT"])) else { return pieces };
    let Some(update) = (on..words.len()).find(|place| follow(*place, &["DO", "UPDATE", "SET"])) else { return pieces };
    let (from, to) = (words[on].0, words[update + 2].0 + 1);
    let mut kept = pieces[..from].to_vec();
    kept.push(Piece::Plain("on duplicate key update"));
    let mut rest = &pieces[to..];
    while let [first, others @ ..] = rest {
        rest = match (first, others) {
            (Piece::Word(word), [Piece::Plain("."), column @ Piece::Word(_), behind @ ..])
                if word.eq_ignore_ascii_case("excluded") =>
            {
                kept.extend([Piece::Plain("values("), *column, Piece::Plain(")")]);
                behind
            }
            _ => {
                kept.push(*first);
                others
            }
        };
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::super::scan::pieces;
    use super::*;
    use study::Engine;

    fn written(sql: &str) -> String {
        let text = |piece: Piece<'_>| match piece {
            Piece::Plain(text) | Piece::Word(text) => text.to_owned(),
            Piece::Parameter(number) => format!("${number}"),
        };
        on_duplicate_key(pieces(Engine::Mariadb, sql)).into_iter().map(text).collect()
    }

    #[test]
    fn an_insert_that_adds_to_what_is_there_is_written_in_the_words_of_mariadb() {
        let sql = "insert into t (a, b) select a, $1 from s group by a on conflict (a) do update set b = t.b + excluded.b, \
                   c = EXCLUDED.c";
        assert_eq!(
            written(sql),
            "insert into t (a, b) select a, $1 from s group by a on duplicate key update b = t.b + values(b), c = values(c)"
        );
    }

    #[test]
    fn what_is_no_such_insert_stays_as_it_is() {
        for sql in
            ["select a from t join s on conflict = 1", "insert into t values ('on conflict (a) do update set b')"]
        {
            assert_eq!(written(sql), sql);
        }
    }
}
