//! From a trace to the transactions of each session.

use super::business::Replay;
use super::spelled::spelled;
use super::{Asked, Heard, Trace, shape, told};
use crate::dataset::Language;
use crate::kind::{Around, Ready, Share};
use crate::transaction::{Business, Statement, Value};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use units::Nanos;

/// Beyond so many texts with values in them a server would keep a plan for each.
const TEXTS_MAX: usize = 1_000;

/// Letters of a statement's text that stand for its name.
const NAME: usize = 60;

/// What one statement of a transaction says.
#[derive(Clone, Debug, PartialEq)]
pub enum Said {
    /// That one begins.
    Begin,
    /// That it ends, and what it did stays.
    Commit,
    /// That it ends, and nothing that it did stays.
    Rollback,
    /// Anything else: the number of its text, and its values.
    Statement(u16, Vec<Value>),
}

/// One transaction of a session.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Transaction {
    /// When it begins, from the beginning of the window, at the speed that was asked for.
    pub(super) at: Nanos,
    /// Each statement, and how long its client paused before it.
    pub(super) said: Vec<(Nanos, Said)>,
}

/// What is sent again.
#[derive(Debug, PartialEq)]
pub(super) struct Program {
    pub(super) paced: bool,
    /// How long one pass over the trace takes.
    pub(super) window: Nanos,
    /// By session, in order; those of all sessions in one, where no moment is kept.
    pub(super) sessions: Vec<Vec<Transaction>>,
    pub(super) statements: Vec<Statement>,
    textual: bool,
}

/// The texts that were met.
#[derive(Default)]
struct Texts {
    /// Whose words they are.
    server: String,
    places: HashMap<String, u16>,
    statements: Vec<Statement>,
    /// How many of them have values in them.
    valued: usize,
}

impl Program {
    /// # Errors
    /// When the trace has fewer sessions than are asked for, or more texts than can be kept, in words.
    pub(super) fn new(asked: &Asked, trace: &Trace, around: &Around<'_>) -> Result<Program, String> {
        let scaled = |time: Nanos| Nanos((time.0 as f64 / asked.speed) as u64);
        let mut texts = Texts { server: trace.server.clone(), ..Texts::default() };
        let mut open: HashMap<u32, (Transaction, Nanos)> = HashMap::new();
        let mut sessions: BTreeMap<u32, Vec<Transaction>> = BTreeMap::new();
        for heard in &spelled(trace) {
            let ended = heard.at + heard.took.unwrap_or_default();
            let said = texts.said(heard, around.textual)?;
            let ends = matches!(said, Said::Commit | Said::Rollback);
            let mut transaction = match (open.remove(&heard.session), &said) {
                // What it ended began before anybody listened.
                (None, Said::Commit | Said::Rollback) => continue,
                (Some(begun), _) if said != Said::Begin => begun,
                _ => (Transaction { at: scaled(heard.at), said: Vec::new() }, heard.at),
            };
            let pause = if asked.paced { scaled(heard.at.saturating_sub(transaction.1)) } else { Nanos::ZERO };
            let goes_on = said == Said::Begin || (!transaction.0.said.is_empty() && !ends);
            transaction.0.said.push((pause, said));
            transaction.1 = ended;
            if goes_on {
                open.insert(heard.session, transaction);
            } else {
                sessions.entry(heard.session).or_default().push(transaction.0);
            }
        }
        if sessions.is_empty() {
            return Err("none of its sessions has a whole transaction: capture a longer window".to_owned());
        }
        // Where no moment is kept, everybody draws from one queue.
        let wanted = if asked.paced { around.sessions as usize } else { 1 };
        if sessions.len() < wanted {
            let known = sessions.len();
            return Err(format!(
                "{known} of its sessions have whole transactions, got `sessions={wanted}`: take {known} or fewer"
            ));
        }
        let mut folded: Vec<Vec<Transaction>> = vec![Vec::new(); wanted];
        sessions.into_values().enumerate().for_each(|(at, session)| folded[at % wanted].extend(session));
        // Where several are one, theirs come in the order in which they began.
        folded.iter_mut().for_each(|session| session.sort_by_key(|transaction| transaction.at));
        let window = scaled(trace.window);
        Ok(Program {
            paced: asked.paced,
            window,
            sessions: folded,
            statements: texts.statements,
            textual: around.textual,
        })
    }
}

impl Texts {
    fn said(&mut self, heard: &Heard, textual: bool) -> Result<Said, String> {
        let text = ended(&heard.sql);
        if let Some(bound) = bound(text) {
            return Ok(bound);
        }
        let (sent, values) = match (&heard.parameters, textual) {
            (Some(values), _) => {
                let written = |text: &String| match textual {
                    true => format!("'{}'", text.replace('\'', "''")),
                    false => text.clone(),
                };
                let value =
                    |value: &Option<String>| value.as_ref().map_or(Value::Null, |text| Value::Text(written(text)));
                (text.to_owned(), values.iter().map(value).collect())
            }
            (None, true) => {
                let (shape, values) = shape(text, &self.server);
                (shape, values.into_iter().map(Value::Text).collect())
            }
            (None, false) => (text.to_owned(), Vec::new()),
        };
        Ok(Said::Statement(self.place(sent, text, !textual && heard.parameters.is_none())?, values))
    }

    /// The place of what is sent; it is called after what was heard, with no value of a client: the name goes into files that are passed on.
    fn place(&mut self, sql: String, heard: &str, valued: bool) -> Result<u16, String> {
        if let Some(place) = self.places.get(&sql) {
            return Ok(*place);
        }
        self.valued += usize::from(valued);
        if self.valued > TEXTS_MAX {
            return Err(format!(
                "more than {TEXTS_MAX} different texts with values in them, each of which would be prepared: add `--set protocol=simple`"
            ));
        }
        let place =
            u16::try_from(self.statements.len()).map_err(|_| format!("at most {} different statements", u16::MAX))?;
        let told = told(heard, &self.server);
        let name: String = told.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(NAME).collect();
        self.statements.push(Statement { name, rows: gives_rows(&sql), sql: sql.clone() });
        self.places.insert(sql, place);
        Ok(place)
    }
}

/// A text without what ends it.
pub(super) fn ended(sql: &str) -> &str {
    sql.trim().trim_end_matches(';').trim_end()
}

/// Whether a statement begins or ends a transaction, and says no more than how it begins.
pub fn bound(sql: &str) -> Option<Said> {
    let words: Vec<String> = ended(sql).split_whitespace().map(str::to_ascii_lowercase).collect();
    let words: Vec<&str> = words.iter().map(|word| word.trim_end_matches(',')).collect();
    let (first, rest) = words.split_first()?;
    let rest = if let ["transaction" | "work", rest @ ..] = rest { rest } else { rest };
    match (*first, rest) {
        (
            "begin" | "start",
            [] | ["isolation" | "read" | "deferrable", ..] | ["not", "deferrable", ..] | ["with", "consistent", ..],
        ) => Some(Said::Begin),
        ("commit" | "end", []) => Some(Said::Commit),
        ("rollback" | "abort", []) => Some(Said::Rollback),
        _ => None,
    }
}

fn gives_rows(sql: &str) -> bool {
    let text = sql.to_ascii_lowercase();
    let first = text.split(|letter: char| !letter.is_alphanumeric()).find(|word| !word.is_empty()).unwrap_or_default();
    matches!(first, "select" | "with" | "values" | "show" | "table" | "explain" | "fetch")
        || text.contains(" returning ")
}

/// A program, shared by all workers, and how many of its transactions were drawn from the one queue.
pub(super) struct Compiled(pub(super) Arc<Program>, pub(super) Arc<AtomicUsize>);

impl Ready for Compiled {
    fn statements(&self, _language: Option<Language>) -> Vec<Statement> {
        self.0.statements.clone()
    }

    fn spliced(&self) -> bool {
        self.0.textual
    }

    fn business(&self, share: &Share) -> Box<dyn Business> {
        let of =
            |slot: u32| if self.0.paced { slot as usize * share.workers as usize + share.worker as usize } else { 0 };
        Box::new(Replay::new(self.0.clone(), self.1.clone(), (0..share.slots).map(of).collect()))
    }
}
