//! A conversation with a MariaDB or MySQL without I/O: calls become packets, packets become answers.
//!
//! The one idea: a batch is cut into segments of one command each, and a segment leaves when the one before it was answered. A
//! statement is prepared when it is first called; what is executed is written down before the server's number for it is known,
//! which is filled in when it leaves.
//!
//! What it does not do: it lets nobody in; it is handed a conversation that is ready for a command.

mod answer;
mod decode;
mod encode;

use super::packet::{self, Front, HEAD, front};
use crate::Failure;
use crate::conversation::{Progress, Wire, lost};
use crate::dialect::{BEGIN, COMMIT, ROLLBACK, Texts};
use crate::session::TOO_LONG;
use decode::Column;
use std::sync::Arc;
use study::{Protocol, Sessions};
use workload::transaction::{Answers, Batch, Call, Names, Value};

/// Flag of the server's state behind an answer: a transaction is open.
const IN_TRANSACTION: u16 = 1;

const TOO_LARGE: &str = "a statement or row is larger than max_allowed_packet of the server";

/// A statement of the workload, and what the server knows of it.
#[derive(Debug, Default)]
struct Known {
    prepared: Prepared,
    columns: Vec<Column>,
    /// What its columns are called, when the workload asks for that.
    names: Option<Names>,
    /// Its text with `$n`, when values are put into it as they are.
    spliced: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Prepared {
    #[default]
    No,
    /// Sent, and not answered yet.
    Asked,
    /// The server's number for it.
    Yes(u32),
}

/// One command on its way.
#[derive(Clone, Copy, Debug)]
struct Segment {
    from: usize,
    end: usize,
    asks: Asks,
}

/// What a command asks for; statements by their place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Asks {
    /// What a text says: of a statement, or of nobody's.
    Text(Option<u16>),
    Prepare(u16),
    Execute(u16),
}

/// What the next packet is.
#[derive(Clone, Copy, Debug)]
enum Hears {
    /// The head of an answer.
    Head,
    /// So many definitions of parameters with what ends them, of a statement that gives so many columns.
    Parameters(u16, u16),
    /// So many definitions of columns.
    Columns(u16),
    /// What ends them.
    Defined,
    /// A row, or the end of rows.
    Row,
}

/// The answer to the call in turn.
#[derive(Debug, Default)]
struct Answering {
    begun: bool,
    /// Columns of its first rows, and whether those that come now are kept.
    width: usize,
    keeps: bool,
    changed: u64,
}

/// One conversation, between a batch and its answers.
#[derive(Debug)]
pub struct MariadbWire {
    texts: Arc<Texts>,
    protocol: Protocol,
    known: Vec<Known>,
    /// Whether the server leaves columns away that it told before.
    keeps_columns: bool,
    /// The longest command that it takes.
    pub(super) packet_max: usize,
    out: Vec<u8>,
    sent: usize,
    segments: Vec<Segment>,
    at: usize,
    /// The statement that the extended protocol prepared last; none has this number at first.
    closing: u32,
    text: String,
    /// The beginning of a packet whose rest has not come.
    rest: Vec<u8>,
    hears: Hears,
    columns: Vec<Column>,
    names: Vec<String>,
    answering: Answering,
    /// Bytes of rows and definitions since the batch was staged.
    taken: usize,
    /// The server's state behind the last answer.
    status: u16,
    failure: Option<Failure>,
    /// Whether what is asked for is the rollback after a failure.
    undoing: bool,
}

impl MariadbWire {
    /// A conversation that is ready for its first command. Statements are prepared when they are first called.
    pub(super) fn new(texts: Arc<Texts>, sessions: &Sessions, keeps_columns: bool, rest: Vec<u8>) -> MariadbWire {
        let spliced = texts.spliced;
        let known = texts.iter().map(|text| Known { spliced: spliced.then(|| text.numbered()), ..Known::default() });
        MariadbWire {
            known: known.collect(),
            protocol: sessions.protocol,
            texts,
            keeps_columns,
            packet_max: usize::MAX,
            out: Vec::with_capacity(4096),
            sent: 0,
            segments: Vec::new(),
            at: 0,
            closing: 0,
            text: String::new(),
            rest,
            hears: Hears::Head,
            columns: Vec::new(),
            names: Vec::new(),
            answering: Answering::default(),
            taken: 0,
            status: 0,
            failure: None,
            undoing: false,
        }
    }

    /// The statements that are prepared now: the server's number for each, and its text.
    pub(super) fn prepared(&self) -> impl Iterator<Item = (u32, &str)> {
        let lasting = self.protocol == Protocol::Prepared;
        let known = self.known.iter().zip(self.texts.iter()).filter(move |_| lasting);
        known.filter_map(|(known, text)| match known.prepared {
            Prepared::Yes(number) => Some((number, text.sql.as_str())),
            _ => None,
        })
    }

    fn reset(&mut self) {
        self.out.clear();
        self.segments.clear();
        (self.sent, self.at, self.taken, self.undoing, self.hears) = (0, 0, 0, false, Hears::Head);
        self.answering = Answering::default();
    }

    fn begin(&mut self, command: u8) -> usize {
        let from = packet::begin(&mut self.out);
        self.out.push(command);
        from
    }

    /// Ends a command, and the segment that began there.
    fn end(&mut self, from: usize, asks: Asks) {
        if self.out.len() - from - HEAD > self.packet_max {
            self.failure.get_or_insert_with(|| Failure::refused(TOO_LARGE));
        }
        packet::end(&mut self.out, from, 0);
        let from = self.segments.last().map_or(0, |last| last.end);
        self.segments.push(Segment { from, end: self.out.len(), asks });
    }

    fn words(&mut self, words: &str, asks: Asks) {
        let from = self.begin(encode::QUERY);
        self.out.extend_from_slice(words.as_bytes());
        self.end(from, asks);
    }

    fn statement(&mut self, statement: u16, parameters: &[Value]) {
        let (slot, texts) = (usize::from(statement), self.texts.clone());
        let text = texts.get(statement).expect("calls name statements of the texts");
        if self.protocol == Protocol::Simple {
            let mut written = std::mem::take(&mut self.text);
            written.clear();
            match &self.known[slot].spliced {
                Some(numbered) => workload::sql::splice(numbered, parameters, &mut written),
                None => text.inline(parameters, &mut written),
            }
            self.words(&written, Asks::Text(Some(statement)));
            self.text = written;
            return;
        }
        if self.protocol == Protocol::Extended || self.known[slot].prepared == Prepared::No {
            self.prepare(&text.sql, statement);
            self.known[slot].prepared = Prepared::Asked;
        }
        let from = self.begin(encode::EXECUTE);
        // The statement's number, no cursor, once.
        self.out.extend_from_slice(b"\0\0\0\0\0\x01\0\0\0");
        encode::parameters(&text.order, parameters, &mut self.out);
        self.end(from, Asks::Execute(statement));
    }

    fn prepare(&mut self, sql: &str, statement: u16) {
        if self.protocol == Protocol::Extended {
            // Of the statement before, whose number is filled in. The server answers nothing to it.
            let from = self.begin(encode::CLOSE);
            self.out.extend_from_slice(&[0; 4]);
            packet::end(&mut self.out, from, 0);
        }
        let from = self.begin(encode::PREPARE);
        self.out.extend_from_slice(sql.as_bytes());
        self.end(from, Asks::Prepare(statement));
    }

    /// Fills in the number of the statement that the segment in turn is about.
    fn fill_in(&mut self) {
        let Some(segment) = self.segments.get(self.at) else { return };
        let number = match segment.asks {
            Asks::Execute(statement) => match self.known[usize::from(statement)].prepared {
                Prepared::Yes(number) => number,
                _ => return,
            },
            Asks::Prepare(_) if self.protocol == Protocol::Extended => self.closing,
            _ => return,
        };
        let at = segment.from + HEAD + 1;
        self.out[at..at + 4].copy_from_slice(&number.to_le_bytes());
    }
}

impl Wire for MariadbWire {
    fn stage(&mut self, batch: &Batch) {
        self.reset();
        self.failure = None;
        for call in batch.calls() {
            match call {
                Call::Begin { .. } => self.words(BEGIN, Asks::Text(None)),
                Call::Commit => self.words(COMMIT, Asks::Text(None)),
                Call::Rollback => self.words(ROLLBACK, Asks::Text(None)),
                Call::Statement { statement, parameters } => self.statement(statement, parameters),
            }
        }
        match self.failure {
            // Nothing of it is sent, so that the failure takes the same way as every other.
            Some(_) => drop(self.undo()),
            None => self.fill_in(),
        }
    }

    fn stage_script(&mut self, sql: &str) {
        self.reset();
        self.failure = None;
        self.words(sql, Asks::Text(None));
        if self.failure.is_some() {
            self.undo();
        }
    }

    fn outgoing(&self) -> &[u8] {
        &self.out[self.sent..self.segments.get(self.at).map_or(self.sent, |segment| segment.end)]
    }

    fn advance(&mut self, count: usize) {
        self.sent += count;
    }

    fn hear(&mut self, bytes: &[u8], answers: &mut Answers) -> (usize, Progress) {
        let mut used = 0;
        loop {
            let (body, number, length) = match front(&bytes[used..]) {
                Front::Packet(body, number, length) => (body, number, length),
                Front::Part => return (used, Progress::More),
                Front::TooLong => return (bytes.len(), Progress::Failed(lost(TOO_LONG))),
            };
            used += length;
            match self.packet(&body, number, answers) {
                Progress::More => {}
                progress => return (used, progress),
            }
        }
    }

    fn unread(&mut self) -> &mut Vec<u8> {
        &mut self.rest
    }

    fn in_transaction(&self) -> bool {
        self.status & IN_TRANSACTION != 0
    }

    fn farewell(&self) -> &'static [u8] {
        encode::QUIT
    }
}

impl Asks {
    fn statement(self) -> Option<u16> {
        match self {
            Asks::Text(statement) => statement,
            Asks::Prepare(statement) | Asks::Execute(statement) => Some(statement),
        }
    }
}
