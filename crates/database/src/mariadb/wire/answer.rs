//! Packets of answers, one after the other: what each means depends on what was asked and on what came before.

use super::{Answering, Asks, Hears, IN_TRANSACTION, MariadbWire, Prepared, Segment, decode};
use crate::conversation::{Fields, Progress, lost};
use crate::dialect::ROLLBACK;
use crate::mariadb::failure::{EMPTY_QUERY, Said};
use crate::mariadb::packet;
use crate::session::{ANSWER_MAX, TOO_LONG};
use crate::{Failure, FailureKind};
use workload::transaction::Answers;

/// What a row or a definition without any value takes.
const ROW: usize = 32;

/// Flag of the server's state behind an answer: another answer to the same command follows.
const MORE_FOLLOWS: u16 = 8;

const NONSENSE: &str = "the server said what is not understood";
const UNSAID: &str = "the server had ended the transaction without saying so, and carried a statement out by itself";
const NO_FILE: &str = "the server asks for a file of this machine, which no statement is given";

impl MariadbWire {
    pub(super) fn packet(&mut self, body: &[u8], number: u8, answers: &mut Answers) -> Progress {
        if body.first() == Some(&0xff) {
            return self.refused(&Said::of(body), answers);
        }
        let Some(Segment { asks, .. }) = self.segments.get(self.at).copied() else { return nonsense() };
        match self.hears {
            Hears::Head => self.head(asks, body, number, answers),
            Hears::Parameters(0, columns) => self.define(columns, asks, answers),
            Hears::Parameters(left, columns) => self.hears(Hears::Parameters(left - 1, columns)),
            Hears::Columns(left) => self.column(left, asks, body),
            Hears::Defined if ends(body) => self.defined(asks, answers),
            Hears::Defined => nonsense(),
            Hears::Row => self.row(asks, body, answers),
        }
    }

    fn head(&mut self, asks: Asks, body: &[u8], number: u8, answers: &mut Answers) -> Progress {
        let mut fields = Fields(body);
        match (asks, body.first()) {
            (Asks::Prepare(statement), Some(0)) => self.was_prepared(statement, &mut fields, answers),
            (Asks::Prepare(_), _) => nonsense(),
            (_, Some(0)) => {
                fields.take(1);
                let (changed, _, status) = (fields.count(), fields.count(), fields.little(2));
                let (Some(changed), Some(status)) = (changed, status) else { return nonsense() };
                self.answered(changed, status as u16, answers)
            }
            (_, Some(0xfb)) => self.refuse_file(number),
            _ => {
                let count = fields.count().and_then(|count| u16::try_from(count).ok()).filter(|count| *count > 0);
                let Some(count) = count else { return nonsense() };
                if !(self.keeps_columns && fields.u8() == Some(0)) {
                    return self.define(count, asks, answers);
                }
                let Asks::Execute(statement) = asks else { return nonsense() };
                self.columns.clone_from(&self.known[usize::from(statement)].columns);
                if self.columns.len() == usize::from(count) { self.hears(Hears::Defined) } else { nonsense() }
            }
        }
    }

    fn was_prepared(&mut self, statement: u16, fields: &mut Fields<'_>, answers: &mut Answers) -> Progress {
        fields.take(1);
        let (number, columns, parameters) = (fields.little(4), fields.little(2), fields.little(2));
        let (Some(number), Some(columns), Some(parameters)) = (number, columns, parameters) else { return nonsense() };
        self.closing = number as u32;
        let ours = self.texts.get(statement).map_or(0, |text| text.order.len());
        match parameters == ours as u64 {
            true => self.known[usize::from(statement)].prepared = Prepared::Yes(number as u32),
            false => {
                let text = format!("the statement takes {parameters} parameters there, and it has {ours} here");
                self.failure.get_or_insert_with(|| Failure::refused(text));
            }
        }
        match parameters {
            0 => self.define(columns as u16, Asks::Prepare(statement), answers),
            _ => self.hears(Hears::Parameters(parameters as u16, columns as u16)),
        }
    }

    fn hears(&mut self, next: Hears) -> Progress {
        self.hears = next;
        Progress::More
    }

    /// So many definitions of columns follow.
    fn define(&mut self, count: u16, asks: Asks, answers: &mut Answers) -> Progress {
        self.columns.clear();
        self.names.clear();
        if count == 0 { self.defined(asks, answers) } else { self.hears(Hears::Columns(count)) }
    }

    fn column(&mut self, left: u16, asks: Asks, body: &[u8]) -> Progress {
        self.taken += body.len() + ROW;
        if self.taken > ANSWER_MAX {
            return lost_for(TOO_LONG);
        }
        let Some((column, name)) = decode::column(body) else { return nonsense() };
        self.columns.push(column);
        let wants =
            |statement| self.texts.names_columns(statement) && self.known[usize::from(statement)].names.is_none();
        if asks.statement().is_some_and(wants) {
            self.names.push(String::from_utf8_lossy(name).into_owned());
        }
        self.hears(if left > 1 { Hears::Columns(left - 1) } else { Hears::Defined })
    }

    /// All columns are known.
    fn defined(&mut self, asks: Asks, answers: &mut Answers) -> Progress {
        let known = asks.statement().and_then(|statement| self.known.get_mut(usize::from(statement)));
        let first = !self.answering.begun;
        if let Some(known) = known.filter(|_| first) {
            if !self.names.is_empty() {
                known.names = Some(self.names.drain(..).collect());
            }
            known.columns.clone_from(&self.columns);
        }
        if let Asks::Prepare(_) = asks {
            return if self.failure.is_some() { self.undo() } else { self.next() };
        }
        let (columns, fails) = (self.columns.len(), self.failure.is_some());
        self.answering.keeps = !fails && (first || (self.texts.gathering && columns == self.answering.width));
        if first && !fails {
            self.begin_answer(asks, columns, answers);
        }
        self.hears(Hears::Row)
    }

    fn begin_answer(&mut self, asks: Asks, columns: usize, answers: &mut Answers) {
        answers.begin(columns);
        (self.answering.begun, self.answering.width) = (true, columns);
        let named = asks.statement().filter(|statement| columns > 0 && self.texts.names_columns(*statement));
        let names = named.and_then(|statement| self.known[usize::from(statement)].names.clone());
        names.into_iter().for_each(|names| answers.named(names));
    }

    fn row(&mut self, asks: Asks, body: &[u8], answers: &mut Answers) -> Progress {
        if ends(body) {
            let status = Fields(&body[1..]).little(4).unwrap_or(0) >> 16;
            return self.answered(0, status as u16, answers);
        }
        self.taken += body.len() + ROW;
        if self.taken > ANSWER_MAX {
            return lost_for(TOO_LONG);
        }
        let read = match asks {
            _ if !self.answering.keeps => true,
            Asks::Execute(_) => decode::binary_row(body, &self.columns, answers),
            _ => decode::text_row(body, &self.columns, answers),
        };
        if read { Progress::More } else { nonsense() }
    }

    /// One answer has ended, and with it the command unless another follows.
    fn answered(&mut self, changed: u64, status: u16, answers: &mut Answers) -> Progress {
        let ended = self.ended_unsaid(status);
        self.status = status;
        if ended && !self.undoing {
            self.failure.get_or_insert_with(|| Failure::new(FailureKind::Serialization, UNSAID));
        }
        self.answering.changed = self.answering.changed.max(changed);
        if self.failure.is_none() && !self.answering.begun {
            answers.begin(0);
            self.answering.begun = true;
        }
        if status & MORE_FOLLOWS != 0 {
            // A server could go on like this for ever.
            self.taken += ROW;
            return if self.taken > ANSWER_MAX { lost_for(TOO_LONG) } else { self.hears(Hears::Head) };
        }
        if self.undoing {
            self.reset();
            return Progress::Failed(self.failure.take().unwrap_or_else(|| lost(NONSENSE)));
        }
        if self.failure.is_some() {
            return self.undo();
        }
        answers.end(self.answering.changed);
        self.next()
    }

    /// Whether the server had ended the transaction in which this statement was meant to be, without a failure that said so: then what it
    /// did is kept by itself. Statements that define something end a transaction as they should.
    fn ended_unsaid(&self, status: u16) -> bool {
        let open = |status: u16| status & IN_TRANSACTION != 0;
        let statement = self.segments.get(self.at).and_then(|segment| segment.asks.statement());
        let text = statement.and_then(|statement| self.texts.get(statement)).map_or("", |text| text.sql.trim_start());
        let word = text.split(|letter: char| !letter.is_ascii_alphabetic()).next().unwrap_or_default();
        let changes = ["insert", "update", "delete", "replace"].iter().any(|one| one.eq_ignore_ascii_case(word));
        open(self.status) && !open(status) && status & MORE_FOLLOWS == 0 && changes
    }

    /// Goes on with the next segment.
    fn next(&mut self) -> Progress {
        self.at += 1;
        (self.hears, self.answering) = (Hears::Head, Answering::default());
        if self.at < self.segments.len() {
            self.fill_in();
            return Progress::SendMore;
        }
        self.reset();
        Progress::Complete
    }

    fn refused(&mut self, said: &Said, answers: &mut Answers) -> Progress {
        let asks = self.segments.get(self.at).map(|segment| segment.asks);
        if said.code == EMPTY_QUERY && asks == Some(Asks::Text(None)) && self.failure.is_none() {
            // A script may end with a comment.
            return self.answered(0, self.status & !MORE_FOLLOWS, answers);
        }
        let failure = said.failure();
        if self.undoing {
            let text = self.failure.take().map_or(failure.text, |failure| failure.text);
            return Progress::Failed(Failure::new(FailureKind::Lost, format!("{text}; and the connection is gone")));
        }
        if failure.kind == FailureKind::Lost {
            return Progress::Failed(failure);
        }
        self.failure.get_or_insert(failure);
        self.undo()
    }

    /// Undoes what a failed batch began. The server ends the transaction only after a deadlock; after any other failure it would
    /// stand open.
    pub(super) fn undo(&mut self) -> Progress {
        // What was to be prepared and was not answered is not there.
        let asked = self.known.iter_mut().filter(|known| known.prepared == Prepared::Asked);
        asked.for_each(|known| known.prepared = Prepared::No);
        self.reset();
        self.words(ROLLBACK, Asks::Text(None));
        self.undoing = true;
        Progress::SendMore
    }

    /// A statement asks for a file. An empty one ends it, and it fails the usual way.
    fn refuse_file(&mut self, number: u8) -> Progress {
        if self.failure.is_some() {
            return nonsense();
        }
        self.failure = Some(Failure::refused(NO_FILE));
        self.reset();
        self.out = packet::packet(number.wrapping_add(1), b"");
        self.segments.push(Segment { from: 0, end: self.out.len(), asks: Asks::Text(None) });
        Progress::SendMore
    }
}

/// Whether a packet ends definitions or rows.
fn ends(body: &[u8]) -> bool {
    body.first() == Some(&0xfe) && body.len() < 9
}

fn nonsense() -> Progress {
    lost_for(NONSENSE)
}

fn lost_for(what: &str) -> Progress {
    Progress::Failed(lost(what))
}
