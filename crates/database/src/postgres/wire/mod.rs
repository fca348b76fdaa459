//! A conversation with a PostgreSQL without I/O: calls become bytes, bytes become answers.
//!
//! The one idea: a batch is cut into segments. The calls of a segment travel together and end with one point of
//! synchronisation; a segment leaves when the one before it was answered. Inside a transaction all calls may share a
//! segment, because the first that fails keeps the server from those behind it. Outside of one, and without pipelining,
//! each call is its own.
//!
//! What it does not do: it opens no connection and reads no socket; it is handed a conversation that is ready for a query.

mod decode;
mod encode;
mod failure;
mod message;

use crate::conversation::{Progress, Wire};
use crate::dialect::Texts;
use crate::session::{ANSWER_MAX, TOO_LONG};
use crate::{Failure, FailureKind};
use bytes::BytesMut;
pub(super) use decode::Kind;
pub(super) use failure::Said;
use message::Message;
pub(super) use message::{Front, front};
use postgres_protocol::message::frontend;
use std::sync::Arc;
use study::{Protocol, Sessions};
use workload::transaction::{Answers, Batch, Call, Names, Value};

/// A segment that grew to so many bytes is ended, so that neither end waits for the other to read.
const SEGMENT: usize = 48 << 10;

/// What a row without any value takes.
const ROW: usize = 32;

/// What is known of a statement on the server.
#[derive(Debug)]
enum Prepared {
    No,
    /// Sent, and not described yet.
    Asked,
    /// What its rows hold, and how their columns are called when the workload asks for that.
    Yes(Vec<Kind>, Option<Names>),
}

/// What a statement does to the transaction around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Control {
    None,
    Begins,
    Ends,
}

/// Where a batch is on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// A staged batch: each call has one answer.
    Calls,
    /// One text of any number of statements; the rows of the last are kept.
    Script,
    /// The rollback after a failure, whose answer nobody wants.
    Undo,
}

/// One conversation, between a batch and its answers.
#[derive(Debug)]
pub struct PostgresWire {
    texts: Arc<Texts>,
    protocol: Protocol,
    pipeline: bool,
    names: Vec<String>,
    controls: Vec<Control>,
    prepared: Vec<Prepared>,
    out: BytesMut,
    sent: usize,
    /// Ends of segments in `out`; the one that is travelling is `at`.
    segments: Vec<usize>,
    at: usize,
    /// Statements of the calls, and how many are answered.
    calls: Vec<u16>,
    answered: usize,
    /// Whether the answer of the call in turn was begun.
    begun: bool,
    columns: Vec<Kind>,
    text: String,
    /// The beginning of a message whose rest has not come.
    rest: Vec<u8>,
    /// Bytes of rows since the batch was staged.
    taken: usize,
    /// Of the last point of synchronisation: idle, in a transaction, in a failed one.
    status: u8,
    mode: Mode,
    failure: Option<Failure>,
}

impl PostgresWire {
    /// A conversation that is ready for its first query. Statements are prepared when they are first called.
    pub fn new(texts: Arc<Texts>, sessions: &Sessions) -> PostgresWire {
        let count = texts.len() + 3;
        let mut controls: Vec<Control> = texts.iter().map(|text| control(&text.sql)).collect();
        controls.extend([Control::Begins, Control::Ends, Control::Ends]);
        PostgresWire {
            protocol: sessions.protocol,
            pipeline: sessions.pipeline,
            names: (0..count).map(|slot| format!("s{slot}")).collect(),
            controls,
            prepared: (0..count).map(|_| Prepared::No).collect(),
            texts,
            out: BytesMut::with_capacity(4096),
            sent: 0,
            segments: Vec::new(),
            at: 0,
            calls: Vec::new(),
            answered: 0,
            begun: false,
            columns: Vec::new(),
            text: String::new(),
            rest: Vec::new(),
            taken: 0,
            status: b'I',
            mode: Mode::Calls,
            failure: None,
        }
    }

    /// The columns of the last rows that a script gave.
    pub(crate) fn columns(&self) -> &[Kind] {
        &self.columns
    }

    fn slot(&self, call: &Call) -> u16 {
        let own = self.texts.len() as u16;
        match call {
            Call::Statement { statement, .. } => *statement,
            Call::Begin { .. } => own,
            Call::Commit => own + 1,
            Call::Rollback => own + 2,
        }
    }

    fn reset(&mut self, mode: Mode) {
        self.out.clear();
        self.text.clear();
        self.segments.clear();
        self.calls.clear();
        (self.sent, self.at, self.answered, self.begun, self.mode) = (0, 0, 0, false, mode);
        self.taken = 0;
    }

    fn encode(&mut self, slot: u16, parameters: &[Value]) -> std::io::Result<()> {
        let index = slot as usize;
        let sql = sql(&self.texts, slot);
        match self.protocol {
            Protocol::Simple => {
                if !self.text.is_empty() {
                    // On a line of its own, because the statement before may end with a comment.
                    self.text.push_str("\n;");
                }
                match self.texts.get(slot) {
                    Some(text) if self.texts.spliced => workload::sql::splice(&text.sql, parameters, &mut self.text),
                    Some(text) => text.inline(parameters, &mut self.text),
                    None => self.text.push_str(sql),
                }
                Ok(())
            }
            Protocol::Extended => encode::anew(sql, parameters, &mut self.out),
            Protocol::Prepared => {
                if matches!(self.prepared[index], Prepared::No) {
                    encode::prepare(&self.names[index], sql, &mut self.out)?;
                    self.prepared[index] = Prepared::Asked;
                }
                encode::execute(&self.names[index], parameters, &mut self.out)
            }
        }
    }

    fn open_segment(&self) -> bool {
        !self.text.is_empty() || self.out.len() > self.segments.last().copied().unwrap_or(0)
    }

    fn end_segment(&mut self) -> std::io::Result<()> {
        if self.protocol == Protocol::Simple || self.mode != Mode::Calls {
            frontend::query(&self.text, &mut self.out)?;
            self.text.clear();
        } else {
            frontend::sync(&mut self.out);
        }
        self.segments.push(self.out.len());
        Ok(())
    }

    /// The protocol cannot carry what was staged: nothing of it is sent, and the server is asked for nothing, so that the
    /// failure takes the same way as every other.
    fn unsendable(&mut self) {
        self.forget_asked();
        self.reset(Mode::Undo);
        self.failure = Some(Failure::new(FailureKind::Refused, "a text holds a zero byte or is over a gigabyte"));
        self.query_alone("ROLLBACK");
    }

    fn query_alone(&mut self, sql: &str) {
        // A constant has no zero byte.
        let _ = frontend::query(sql, &mut self.out);
        self.segments.push(self.out.len());
    }

    fn message(&mut self, message: Message, answers: &mut Answers) -> Progress {
        match message.tag {
            b'D' => return self.row(message.body, answers),
            b'2' if self.protocol == Protocol::Prepared => self.bound(answers),
            b'C' | b'I' => return self.complete(message.body, answers),
            b'Z' => return self.synchronised(message.body),
            b'T' => return self.described(message.body, answers),
            b'n' => self.described_as_empty(),
            b'E' => return self.refused(message.body),
            b'G' => return self.refuse_copy(),
            // Parsed, parameters described, bound, notices, settings, notifications, rows of a copy: nothing to do.
            _ => {}
        }
        Progress::More
    }

    fn row(&mut self, body: &[u8], answers: &mut Answers) -> Progress {
        let kinds = match (self.mode, self.protocol) {
            (Mode::Undo, _) => return Progress::More,
            (Mode::Calls, Protocol::Prepared) => match self.turn().map(|slot| &self.prepared[slot]) {
                Some(Prepared::Yes(kinds, _)) => kinds,
                _ => return lost("the server sent a row before it described any"),
            },
            _ => &self.columns,
        };
        self.taken += body.len() + ROW;
        if self.taken > ANSWER_MAX {
            return lost(TOO_LONG);
        }
        if decode::row(body, kinds, answers) { Progress::More } else { lost("the server sent a row that is none") }
    }

    /// The statement of the call in turn.
    fn turn(&self) -> Option<usize> {
        self.calls.get(self.answered).map(|slot| *slot as usize)
    }

    fn bound(&mut self, answers: &mut Answers) {
        match self.turn().map(|slot| &self.prepared[slot]) {
            Some(Prepared::Yes(kinds, names)) => {
                answers.begin(kinds.len());
                names.iter().for_each(|names| answers.named(names.clone()));
            }
            _ => answers.begin(0),
        }
        self.begun = true;
    }

    fn described(&mut self, body: &[u8], answers: &mut Answers) -> Progress {
        if !decode::columns(body, &mut self.columns) {
            return lost("the server described rows in a way that PostgreSQL does not");
        }
        let slot = self.turn().filter(|_| self.mode == Mode::Calls);
        let names = slot.filter(|slot| self.texts.names_columns(*slot as u16)).map(|_| decode::names(body));
        match slot {
            _ if self.mode == Mode::Undo => {}
            Some(slot) if self.protocol == Protocol::Prepared => {
                self.prepared[slot] = Prepared::Yes(self.columns.clone(), names);
            }
            _ => {
                self.begin(answers);
                names.into_iter().for_each(|names| answers.named(names));
            }
        }
        Progress::More
    }

    fn described_as_empty(&mut self) {
        if let (Some(slot), Protocol::Prepared, Mode::Calls) = (self.turn(), self.protocol, self.mode) {
            self.prepared[slot] = Prepared::Yes(Vec::new(), None);
        }
    }

    fn begin(&mut self, answers: &mut Answers) {
        if self.mode == Mode::Script {
            answers.clear();
        }
        answers.begin(self.columns.len());
        self.begun = true;
    }

    fn complete(&mut self, body: &[u8], answers: &mut Answers) -> Progress {
        match self.mode {
            Mode::Undo => return Progress::More,
            Mode::Calls if self.answered == self.calls.len() => {
                let text = "a statement's text holds more than one statement; write each as its own";
                self.failure.get_or_insert_with(|| Failure::new(FailureKind::Refused, text));
                return Progress::More;
            }
            // A statement without rows leaves a script's rows as they are.
            Mode::Script if !self.begun => return Progress::More,
            _ => {}
        }
        if !self.begun {
            self.columns.clear();
            self.begin(answers);
        }
        answers.end(decode::changed(body));
        self.answered += 1;
        self.begun = false;
        Progress::More
    }

    fn refused(&mut self, body: &[u8]) -> Progress {
        let said = Said::of(body);
        let failure = || match (self.mode, self.turn()) {
            (Mode::Calls, Some(slot)) => said.failure(Some(name(&self.texts, slot as u16))),
            _ => said.failure(None),
        };
        if said.last() {
            return Progress::Failed(failure());
        }
        if self.failure.is_none() {
            self.failure = Some(failure());
        }
        Progress::More
    }

    /// A statement asks for rows that we do not have. It ends with an error, which takes the usual way.
    fn refuse_copy(&mut self) -> Progress {
        let from = self.segments.get(self.at).copied().unwrap_or(0);
        let later = self.out.split_off(from);
        let refused = frontend::copy_fail("COPY FROM STDIN has no rows here", &mut self.out);
        if refused.is_ok() && self.mode == Mode::Calls && self.protocol != Protocol::Simple {
            // The server ignored the first one while it waited for rows.
            frontend::sync(&mut self.out);
        }
        let more = self.out.len() - from;
        self.out.unsplit(later);
        self.segments.iter_mut().skip(self.at).for_each(|end| *end += more);
        Progress::SendMore
    }

    fn synchronised(&mut self, body: &[u8]) -> Progress {
        self.status = body.first().copied().unwrap_or(b'I');
        if self.failure.is_some() {
            return self.failed();
        }
        if self.segments.is_empty() {
            return Progress::More;
        }
        if self.mode == Mode::Calls && self.at + 1 == self.segments.len() && self.answered < self.calls.len() {
            self.failure = Some(Failure::new(FailureKind::Refused, "the server left a statement without an answer"));
            return self.failed();
        }
        self.at += 1;
        if self.at < self.segments.len() {
            return Progress::SendMore;
        }
        self.reset_outgoing();
        Progress::Complete
    }

    fn failed(&mut self) -> Progress {
        if self.status != b'I' && self.mode != Mode::Undo {
            self.forget_asked();
            self.reset(Mode::Undo);
            self.query_alone("ROLLBACK");
            return Progress::SendMore;
        }
        self.forget_asked();
        self.reset_outgoing();
        let none = || Failure::new(FailureKind::Lost, "the server failed without a word");
        Progress::Failed(self.failure.take().unwrap_or_else(none))
    }

    fn reset_outgoing(&mut self) {
        self.out.clear();
        self.segments.clear();
        (self.sent, self.at) = (0, 0);
    }

    /// What was to be prepared and was not described is not there, or would be twice.
    fn forget_asked(&mut self) {
        for slot in &self.calls {
            let prepared = &mut self.prepared[*slot as usize];
            if matches!(prepared, Prepared::Asked) {
                *prepared = Prepared::No;
            }
        }
    }
}

impl Wire for PostgresWire {
    fn stage(&mut self, batch: &Batch) {
        self.reset(Mode::Calls);
        let mut inside = self.status != b'I';
        for call in batch.calls() {
            let slot = self.slot(&call);
            let parameters = if let Call::Statement { parameters, .. } = call { parameters } else { &[] };
            let encoded = self.encode(slot, parameters);
            match self.controls[slot as usize] {
                Control::Begins => inside = true,
                Control::Ends => inside = false,
                Control::None => {}
            }
            self.calls.push(slot);
            let long = self.out.len() + self.text.len() - self.segments.last().copied().unwrap_or(0) > SEGMENT;
            let ended = if !self.pipeline || !inside || long { self.end_segment() } else { Ok(()) };
            if encoded.and(ended).is_err() {
                return self.unsendable();
            }
        }
        if self.open_segment() && self.end_segment().is_err() {
            self.unsendable();
        }
    }

    fn stage_script(&mut self, sql: &str) {
        self.reset(Mode::Script);
        self.text.push_str(sql);
        if self.end_segment().is_err() {
            self.unsendable();
        }
    }

    fn outgoing(&self) -> &[u8] {
        &self.out[self.sent..self.segments.get(self.at).copied().unwrap_or(self.sent)]
    }

    fn advance(&mut self, count: usize) {
        self.sent += count;
    }

    fn hear(&mut self, bytes: &[u8], answers: &mut Answers) -> (usize, Progress) {
        let mut used = 0;
        loop {
            match front(&bytes[used..]) {
                Front::Message(message, length) => {
                    used += length;
                    match self.message(message, answers) {
                        Progress::More => {}
                        progress => return (used, progress),
                    }
                }
                Front::Part => return (used, Progress::More),
                Front::Garbage => return (bytes.len(), lost("the server sent what is no message of PostgreSQL")),
            }
        }
    }

    fn unread(&mut self) -> &mut Vec<u8> {
        &mut self.rest
    }

    fn in_transaction(&self) -> bool {
        self.status != b'I'
    }
}

fn sql(texts: &Texts, slot: u16) -> &str {
    let own = texts.len() as u16;
    match texts.get(slot) {
        Some(text) => &text.sql,
        None => [crate::dialect::BEGIN, crate::dialect::COMMIT, crate::dialect::ROLLBACK][(slot - own) as usize],
    }
}

fn name(texts: &Texts, slot: u16) -> &str {
    texts.get(slot).map_or_else(|| sql(texts, slot), |text| &text.name)
}

/// What a text that a user wrote does to the transaction around it, by its first word.
fn control(sql: &str) -> Control {
    let words = sql.trim_start().split(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or_default();
    match words.to_ascii_lowercase().as_str() {
        "begin" | "start" => Control::Begins,
        "commit" | "end" | "rollback" | "abort" => Control::Ends,
        _ => Control::None,
    }
}

fn lost(text: &str) -> Progress {
    Progress::Failed(Failure::new(FailureKind::Lost, text))
}
