//! What a statement is to a pair, by its first words.
//!
//! The one idea: rows are mirrored as they were changed, so that only three kinds of statements matter: those that end transactions, those
//! that define, and those that cannot be kept in lock step, which are refused with the reason. All others are work.

use workload::sql::passed;

/// What is to be done with a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// It may change rows: it needs a transaction around it.
    Work,
    /// It begins a transaction.
    Begin,
    /// It commits one.
    Commit,
    /// It undoes one.
    Rollback,
    /// It sets, releases or goes back to a savepoint.
    Savepoint,
    /// It defines something on both nodes, inside of a transaction.
    Define,
    /// The same for what belongs to no database, which the nodes do not tell of by themselves.
    Global,
    /// It defines something on both nodes, and cannot be inside of a transaction.
    Outside,
    /// It keeps a table in order, on both nodes where both are there.
    Upkeep,
    /// It says something about the session alone.
    Local,
    /// It cannot be kept in lock step.
    Refused(&'static str),
}

/// The statements of a text, without the semicolons between them.
pub(super) fn statements(sql: &str) -> Vec<&str> {
    let (bytes, mut found, mut from, mut at, mut depth) = (sql.as_bytes(), Vec::new(), 0, 0, 0_usize);
    while at < bytes.len() {
        let length = skipped(&sql[at..]);
        if length > 0 {
            at += length;
            continue;
        }
        match bytes[at] {
            b'(' => depth += 1,
            b')' => depth = depth.saturating_sub(1),
            // Bodies of functions in SQL's own form hold semicolons.
            b';' if depth == 0 && !is_atomic(&sql[from..at]) => {
                found.push(&sql[from..at]);
                from = at + 1;
            }
            _ => {}
        }
        at += 1;
    }
    found.push(&sql[from..]);
    found.retain(|text| !words(text, 1).is_empty());
    found
}

fn is_atomic(text: &str) -> bool {
    let upper = text.to_ascii_uppercase();
    upper.trim_start().starts_with("CREATE") && upper.contains("ATOMIC") && !upper.trim_end().ends_with("END")
}

/// Length of the string, quoted name or comment that begins here; 0 when none does.
fn skipped(rest: &str) -> usize {
    if let Some(length) = passed(rest) {
        return length;
    }
    // The whole of a word, so that none begins in its middle; and of a letter beyond ASCII.
    let ends = |byte: u8| !(byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$') || byte > 127);
    if rest.starts_with('$') { 0 } else { rest.bytes().position(ends).unwrap_or(rest.len()) }
}

/// Whether a statement reads, by its first word, and asks nothing of its session or server. What it may do all the same, a session that is
/// read-only refuses.
pub(super) fn is_read(sql: &str) -> bool {
    let first = words(sql, 1);
    let lower = sql.to_ascii_lowercase();
    let own = ["pg_", "set_config", "txid_", "current_setting", "prony"];
    first.first().is_some_and(|word| matches!(word.as_str(), "SELECT" | "TABLE" | "VALUES" | "WITH"))
        && !own.iter().any(|word| lower.contains(word))
        && class(sql) == Class::Work
}

/// The first words of a statement, in capitals, outside of strings and comments.
fn words(sql: &str, most: usize) -> Vec<String> {
    let (mut found, mut at) = (Vec::new(), 0);
    while at < sql.len() && found.len() < most {
        let (rest, length) = (&sql[at..], skipped(&sql[at..]));
        if rest.as_bytes()[0].is_ascii_alphabetic() && !rest[1..].starts_with('\'') {
            found.push(rest[..length].to_ascii_uppercase());
        } else if length == 0 && !matches!(rest.as_bytes()[0], b' ' | b'\t' | b'\r' | b'\n' | 12 | b'(' | b';') {
            // A sign counts as a word, so that nothing is found behind it.
            found.push(rest[..1].to_owned());
        } else if matches!(rest.as_bytes()[0], b'"' | b'\'' | b'$') {
            found.push(String::new());
        }
        at += length.max(1);
    }
    found
}

/// What a statement is.
pub(super) fn class(sql: &str) -> Class {
    let words = words(sql, 8);
    let word = |at: usize| words.get(at).map_or("", String::as_str);
    let has = |wanted: &str| words.iter().any(|word| word == wanted);
    let large = |word: &String| word.starts_with("LO_") || matches!(word.as_str(), "LOWRITE" | "LOREAD" | "LOOPEN");
    match (word(0), word(1)) {
        ("BEGIN", _) | ("START", "TRANSACTION") => Class::Begin,
        ("COMMIT" | "ROLLBACK", "PREPARED") | ("PREPARE", "TRANSACTION") => {
            Class::Refused("PREPARE TRANSACTION: the pair itself commits in two phases")
        }
        ("COMMIT" | "END" | "ROLLBACK" | "ABORT", _) if has("CHAIN") && !has("NO") => {
            Class::Refused("AND CHAIN: a commit on both nodes ends the transaction; begin the next one by BEGIN")
        }
        ("COMMIT" | "END", _) => Class::Commit,
        ("ROLLBACK", _) if has("TO") => Class::Savepoint,
        ("ROLLBACK" | "ABORT", _) => Class::Rollback,
        ("SAVEPOINT" | "RELEASE", _) => Class::Savepoint,
        ("LISTEN" | "UNLISTEN" | "NOTIFY", _) => {
            Class::Refused("LISTEN and NOTIFY: a notification cannot be part of a commit on both nodes")
        }
        ("SET" | "RESET", _) if has("SESSION_REPLICATION_ROLE") => {
            Class::Refused("session_replication_role: changes would not be told to the other node")
        }
        ("SET" | "RESET" | "SHOW" | "DISCARD" | "DEALLOCATE" | "PREPARE" | "LOAD" | "CHECKPOINT", _) => Class::Local,
        ("ALTER", "SYSTEM") => Class::Refused("ALTER SYSTEM: settings of a node are those of its role"),
        (_, "TABLESPACE") => Class::Refused("tablespaces: both nodes lie in the folder of the pair"),
        ("CREATE" | "DROP", "DATABASE") => Class::Outside,
        ("CREATE" | "DROP" | "ALTER", _) if has("CONCURRENTLY") => Class::Outside,
        ("CREATE" | "ALTER" | "DROP", "SUBSCRIPTION") => {
            Class::Refused("subscriptions: what comes from elsewhere would not go through the pair")
        }
        ("CREATE" | "ALTER" | "DROP", "USER") if word(2) == "MAPPING" => Class::Define,
        ("CREATE" | "ALTER" | "DROP", "ROLE" | "USER" | "GROUP" | "DATABASE") | ("REASSIGN", _) => Class::Global,
        ("GRANT" | "REVOKE", _) if !sql.to_ascii_uppercase().contains(" ON ") => Class::Global,
        ("COMMENT", "ON") if matches!(word(2), "ROLE" | "DATABASE") => Class::Global,
        ("CREATE" | "ALTER" | "DROP" | "GRANT" | "REVOKE" | "COMMENT" | "SECURITY" | "IMPORT" | "REFRESH", _) => {
            Class::Define
        }
        ("VACUUM" | "ANALYZE" | "ANALYSE" | "CLUSTER" | "REINDEX", _) => Class::Upkeep,
        _ if words.iter().any(large) => Class::Refused("large objects: they are no rows of a table; use bytea"),
        _ => Class::Work,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_text_is_cut_at_semicolons_outside_of_strings_names_comments_and_bodies() {
        let sql = "INSERT INTO t VALUES (';', E'\\';', $a$;$a$, \";\"); -- ;\n/* ; /* ; */ ; */ SELECT 1;;";
        assert_eq!(statements(sql).len(), 2, "{:?}", statements(sql));
        assert_eq!(statements("CREATE RULE r AS ON INSERT TO t DO (DELETE FROM a; DELETE FROM b); SELECT 1").len(), 2);
        assert_eq!(
            statements("CREATE FUNCTION f() RETURNS int BEGIN ATOMIC SELECT 1; SELECT 2; END; SELECT 3").len(),
            2
        );
        assert!(statements(" ; -- nothing\n").is_empty());
        assert_eq!(statements("SELECT a$b FROM t; SELECT 1").len(), 2);
    }

    #[test]
    fn a_statement_is_known_by_its_first_words() {
        for (sql, expected) in [
            ("/* a */ begin isolation level serializable", Class::Begin),
            ("start transaction", Class::Begin),
            ("END;", Class::Commit),
            ("rollback to savepoint a", Class::Savepoint),
            ("ROLLBACK", Class::Rollback),
            ("(SELECT 1)", Class::Work),
            ("with x as (insert into t values (1)) select", Class::Work),
            ("create unique index concurrently i on t (a)", Class::Outside),
            ("create table t (a int)", Class::Define),
            ("GRANT SELECT ON t TO PUBLIC", Class::Define),
            ("GRANT a TO b", Class::Global),
            ("alter role a with password 'x'", Class::Global),
            ("vacuum analyze t", Class::Upkeep),
            ("show all", Class::Local),
            ("copy t from stdin with (freeze on)", Class::Work),
        ] {
            assert_eq!(class(sql), expected, "{sql}");
        }
        for sql in [
            "prepare transaction 'x'",
            "commit prepared 'x'",
            "commit and chain",
            "listen a",
            "set session_replication_role = replica",
            "select lo_create(0)",
            "alter system set a = 1",
            "create tablespace t location '/x'",
        ] {
            assert!(matches!(class(sql), Class::Refused(_)), "{sql}");
        }
        assert_eq!(class("insert into t values ('lo_create(0)')"), Class::Work);
    }

    proptest! {
        #[test]
        fn whatever_is_said_is_cut_and_classed_without_a_panic(sql in "[a-z'\"$;/*\\-( )\\\\é\n]{0,60}") {
            for text in statements(&sql) {
                class(text);
            }
        }
    }
}
