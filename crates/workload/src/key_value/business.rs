//! One worker's share: draws operations, steps them, and counts what was acknowledged.

use super::choose::{Choose, Inserted};
use super::data_set::letters;
use super::history::{self, History};
use super::spec::Class;
use super::statements::Said;
use super::{Mix, Spec};
use crate::kind::numbers::{on_half, share_at};
use crate::kind::{Share, Told};
use crate::transaction::{Answers, Batch, Begun, Business, Caused, Ending, Step, Value};
use random::Lane;
use units::Nanos;

/// What the draws of an operation are for.
#[derive(Clone, Copy)]
enum Purpose {
    Class = 1,
    Key,
    Length,
    Field,
    Value,
    Other,
}

fn lane(seed: u64, purpose: Purpose) -> Lane {
    Lane::new(seed, 0, purpose as u64)
}

/// What was acknowledged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Acknowledged {
    pub(super) changes: Told,
    pub(super) inserts: Told,
}

impl Acknowledged {
    /// A transaction of a class ended.
    fn count(&mut self, class: Class, ending: Ending) {
        match class {
            Class::Update | Class::Modify | Class::Count | Class::Append => self.changes.count(1, ending),
            Class::Insert => self.inserts.count(1, ending),
            Class::Read | Class::Scan | Class::Look => {}
        }
    }
}

/// What a slot carries.
#[derive(Clone, Copy, Debug)]
struct Slot {
    n: u64,
    class: Class,
    key: i64,
    /// The other record, of those that are about two.
    other: i64,
    /// Place of an insert.
    place: u64,
    /// Batches sent.
    sent: u32,
    running: bool,
}

/// A worker of the workload.
#[derive(Clone, Debug)]
pub struct KeyValue {
    spec: Spec,
    seed: u64,
    half: Option<u32>,
    choose: Choose,
    inserted: Inserted,
    slots: Vec<Slot>,
    acknowledged: Acknowledged,
    /// What transactions on lists saw.
    pub(super) history: History,
    /// Which worker it is, and what tells the lists of this trial apart.
    pub(super) worker: u32,
    epoch: u64,
}

impl KeyValue {
    /// One worker's share; the epoch of a trial is the greatest key before it.
    pub fn new(spec: Spec, share: &Share) -> KeyValue {
        let idle = Slot { n: 0, class: Class::Read, key: 1, other: 1, place: 0, sent: 0, running: false };
        KeyValue {
            spec,
            seed: share.seed,
            half: share.half,
            choose: Choose::new(&spec, lane(share.seed, Purpose::Key)),
            inserted: Inserted::new(spec.rows.max(1), share.epoch, share.worker, share.workers),
            slots: vec![idle; share.slots as usize],
            acknowledged: Acknowledged::default(),
            history: History::new(share.first, share.slots),
            worker: share.worker,
            epoch: share.epoch,
        }
    }

    /// What was acknowledged; of what is still under way nothing is known.
    pub(super) fn acknowledged(&self) -> Acknowledged {
        let mut all = self.acknowledged;
        for (at, slot) in self.slots.iter().enumerate().filter(|(_, slot)| slot.running) {
            if slot.class != Class::Append || self.history.has_appended(at as u32) {
                all.count(slot.class, Ending::Unknown);
            }
        }
        all
    }

    fn place(&self, n: u64) -> usize {
        let parts = self.spec.mix.parts();
        let drawn = random::below(lane(self.seed, Purpose::Class).at(n), 100);
        share_at(drawn, parts.iter().map(|part| part.1)).unwrap_or(0)
    }

    /// A key of the half that is this worker's. What a trial inserts is its worker's own.
    fn mine(&self, key: i64) -> i64 {
        let filled = key <= self.spec.rows as i64;
        if filled { on_half(key as u64, self.half, self.spec.rows) as i64 } else { key }
    }

    fn value(&self, n: u64, field: u32) -> Value {
        let bits = lane(self.seed, Purpose::Value).at(n).wrapping_add(u64::from(field));
        Value::Text(letters(bits, self.spec.field_bytes))
    }

    fn update(&self, slot: &Slot, batch: &mut Batch) {
        let field = random::below(lane(self.seed, Purpose::Field).at(slot.n), u64::from(self.spec.fields)) as u32;
        batch.call(Said::Update(field).place(), [self.value(slot.n, field), Value::Int(slot.key)]);
    }

    fn insert(&self, slot: &Slot, batch: &mut Batch) {
        let values = (0..self.spec.fields).map(|field| self.value(slot.n, field));
        batch.call(Said::Insert.place(), [Value::Int(slot.key)].into_iter().chain(values));
    }

    fn scan(&self, slot: &Slot, batch: &mut Batch) {
        let length = 1 + random::below(lane(self.seed, Purpose::Length).at(slot.n), self.spec.scan);
        batch.call(Said::Scan.place(), [Value::Int(slot.key), Value::Int(length as i64)]);
    }

    /// Whether what was answered last is about the record that was asked for. Statements of a batch come in their order.
    fn met(slot: &Slot, answers: &Answers) -> bool {
        match (slot.class, slot.sent) {
            (Class::Insert, _) => true,
            (Class::Update, _) | (Class::Modify | Class::Count, 2) => answers.get(0).changed > 0,
            (Class::Look, _) | (Class::Append, 1) => (1..3).all(|at| answers.get(at).row_count() > 0),
            // A list that has no room for one number more is only read.
            (Class::Append, _) => answers.len() < 2 || answers.get(0).changed > 0,
            (Class::Read | Class::Scan | Class::Modify | Class::Count, _) => answers.last().row_count() > 0,
        }
    }

    /// Reads and locks, and then changes what was read.
    fn modify(&self, slot: &Slot, batch: &mut Batch) {
        if slot.sent == 0 {
            batch.begin(true);
            batch.call(Said::Lock.place(), [Value::Int(slot.key)]);
        } else {
            self.update(slot, batch);
            batch.commit();
        }
    }

    /// Takes in what two lists held.
    fn saw(&mut self, slot: u32, answers: &Answers) -> Vec<u64> {
        let held = self.slots[slot as usize];
        let lists = [1, 2].map(|at| history::read(answers.get(at).text(0, 0), self.epoch));
        let [first, second] = lists;
        self.history.saw(slot, held.key, first);
        self.history.saw(slot, held.other, second.clone());
        second
    }

    /// Reads two lists, the second under a lock where it is appended to.
    fn look(held: &Slot, batch: &mut Batch) {
        let append = held.class == Class::Append;
        batch.begin(append);
        batch.call(Said::Read.place(), [Value::Int(held.key)]);
        let second = if append { Said::Lock } else { Said::Read };
        batch.call(second.place(), [Value::Int(held.other)]);
        if !append {
            batch.commit();
        }
    }

    /// Appends to what was read, where there is room and it is noted.
    fn append(&mut self, slot: u32, list: &[u64], batch: &mut Batch) {
        let held = self.slots[slot as usize];
        let text = history::appended(list, held.n, self.epoch, self.spec.field_bytes);
        if let Some(text) = text.filter(|_| self.history.notes(slot)) {
            self.history.appends(slot, held.other, held.n);
            batch.call(Said::Update(0).place(), [text, Value::Int(held.other)]);
        }
        batch.commit();
    }

    /// Reads the number of changes under a lock, and then writes the next: where the lock does not hold, a change is lost.
    fn count(&self, slot: &Slot, answers: &Answers, batch: &mut Batch) {
        if slot.sent == 0 {
            batch.begin(true);
            batch.call(Said::Number(self.spec.fields).place(), [Value::Int(slot.key)]);
        } else {
            let next = answers.last().int(0, 0) + 1;
            batch.call(Said::Next(self.spec.fields).place(), [Value::Int(next), Value::Int(slot.key)]);
            batch.commit();
        }
    }
}

impl Business for KeyValue {
    fn class(&mut self, n: u64, _payload: u64) -> u16 {
        self.place(n) as u16
    }

    fn begin(&mut self, slot: u32, begun: Begun) {
        let class = self.spec.mix.parts()[self.place(begun.n)].0;
        let (place, key) = match class {
            Class::Insert => self.inserted.take(),
            _ => (0, self.mine(self.choose.key(begun.n, &self.inserted))),
        };
        let other = 1 + random::below(lane(self.seed, Purpose::Other).at(begun.n), self.spec.rows.max(1));
        let other = self.mine(other as i64);
        self.history.begin(slot, begun.at);
        self.slots[slot as usize] = Slot { n: begun.n, class, key, other, place, sent: 0, running: true };
    }

    fn step(&mut self, slot: u32, answers: &Answers, batch: &mut Batch) -> Step {
        let held = self.slots[slot as usize];
        if held.sent > 0 && !KeyValue::met(&held, answers) {
            return Step::Fail;
        }
        let batches = if matches!(held.class, Class::Modify | Class::Count | Class::Append) { 2 } else { 1 };
        let lists =
            (held.sent == 1 && matches!(held.class, Class::Look | Class::Append)).then(|| self.saw(slot, answers));
        if held.sent == batches {
            return Step::Done { rolled_back: false };
        }
        match held.class {
            Class::Read => batch.call(Said::Read.place(), [Value::Int(held.key)]),
            Class::Update => self.update(&held, batch),
            Class::Insert => self.insert(&held, batch),
            Class::Scan => self.scan(&held, batch),
            Class::Modify => self.modify(&held, batch),
            Class::Count => self.count(&held, answers, batch),
            Class::Look => KeyValue::look(&held, batch),
            Class::Append if held.sent == 0 => KeyValue::look(&held, batch),
            Class::Append => self.append(slot, &lists.unwrap_or_default(), batch),
        }
        self.slots[slot as usize].sent += 1;
        Step::Send
    }

    fn complaint(&mut self, slot: u32) -> Option<String> {
        Some(format!("record {} is not there", self.slots[slot as usize].key))
    }

    fn restart(&mut self, slot: u32) {
        self.slots[slot as usize].sent = 0;
        self.history.restart(slot);
    }

    fn ended(&mut self, slot: u32, ending: Ending, at: Nanos, _caused: &mut Vec<Caused>) {
        let held = &mut self.slots[slot as usize];
        held.running = false;
        let (class, place) = (held.class, held.place);
        if class == Class::Insert {
            self.inserted.end(place, ending == Ending::Done);
        }
        if self.spec.mix == Mix::Lists {
            self.history.end(slot, ending, at);
            if !self.history.has_appended(slot) {
                return;
            }
        }
        self.acknowledged.count(class, ending);
    }
}
