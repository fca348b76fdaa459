//! What sessions say, with what they leave unsaid about their transactions.
//!
//! The one idea: whoever sends a transaction again begins and ends it himself, so that each has to begin and end by a statement that says
//! nothing else. What else the client said with it becomes a statement of its own.
//!
//! What it does not do: it guesses nothing. A session that switched `autocommit` off before anybody listened commits each statement here.

use super::program::{Said, bound, ended};
use super::{Heard, Trace};
use std::collections::HashMap;

/// How far a session has come: whether a transaction is open, and whether one begins by itself.
#[derive(Default)]
struct Course {
    open: bool,
    unsaid: bool,
}

/// Everything that was heard, in its order.
pub(super) fn spelled(trace: &Trace) -> Vec<Heard> {
    let postgres = trace.server.starts_with("PostgreSQL");
    let mut sessions: HashMap<u32, Course> = HashMap::new();
    let mut all = Vec::with_capacity(trace.heard.len());
    for heard in &trace.heard {
        let course = sessions.entry(heard.session).or_default();
        match bound(&heard.sql) {
            Some(said) => {
                course.open = said == Said::Begin;
                all.push(heard.clone());
                let modes = modes(&heard.sql).filter(|_| postgres && course.open);
                let at = heard.at + heard.took.unwrap_or_default();
                all.extend(modes.map(|sql| Heard { sql, at, took: None, ..heard.clone() }));
            }
            None if postgres => all.push(heard.clone()),
            None => course.follows(heard, &mut all),
        }
    }
    all
}

impl Course {
    /// A statement of a MariaDB, which may begin a transaction without saying so.
    fn follows(&mut self, heard: &Heard, all: &mut Vec<Heard>) {
        let mut says =
            |sql: &str| all.push(Heard { sql: sql.to_owned(), took: None, parameters: None, ..heard.clone() });
        match autocommit(&heard.sql) {
            Some((on, rest)) => {
                self.unsaid = !on;
                if on && std::mem::take(&mut self.open) {
                    says("COMMIT");
                }
                if let Some(rest) = rest {
                    says(&rest);
                }
            }
            None => {
                if self.unsaid && !std::mem::replace(&mut self.open, true) {
                    says("BEGIN");
                }
                all.push(heard.clone());
            }
        }
    }
}

/// What a statement that begins a transaction of PostgreSQL says beside that, such as that it only reads. Others take no such statement
/// within a transaction.
fn modes(sql: &str) -> Option<String> {
    let kind = |word: &&str| ["transaction", "work"].iter().any(|kind| word.eq_ignore_ascii_case(kind));
    let words: Vec<&str> = ended(sql).split_whitespace().skip(1).skip_while(kind).collect();
    (!words.is_empty()).then(|| format!("SET TRANSACTION {}", words.join(" ")))
}

/// Whether a statement switches on that each statement commits by itself, or off, and what else it sets.
fn autocommit(sql: &str) -> Option<(bool, Option<String>)> {
    let (first, rest) = ended(sql).split_at_checked(3)?;
    let set =
        first.eq_ignore_ascii_case("set") && rest.starts_with(|letter: char| letter.is_whitespace() || letter == '@');
    let (mut on, mut others) = (None, Vec::new());
    for piece in rest.split(',').filter(|_| set) {
        let word: String = piece.to_ascii_lowercase().split_whitespace().collect();
        let word = ["session", "local", "@@session.", "@@local.", "@@"]
            .iter()
            .fold(&word[..], |word, scope| word.strip_prefix(scope).unwrap_or(word));
        match word.replace(":=", "=").strip_prefix("autocommit=") {
            Some("0" | "off" | "false") => on = Some(false),
            Some("1" | "on" | "true") => on = Some(true),
            _ => others.push(piece),
        }
    }
    Some((on?, (!others.is_empty()).then(|| format!("SET {}", others.join(",").trim()))))
}
