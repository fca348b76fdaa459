//! The jobs of one worker as step machines.
//!
//! The one idea: an arrival is what lies between two commits, whatever it does with its rows.
//!
//! What it does not do: a slot keeps its place when an arrival fails; those rows are passed over until the next round.

use super::data_set::text;
use super::statements::Said;
use super::{Access, Mode, Spec, Update};
use crate::kind::Told;
use crate::transaction::{Answers, Batch, Begun, Business, Caused, Ending, Step, Value};
use units::Nanos;

/// One slot's job.
#[derive(Clone, Copy, Debug, Default)]
struct Job {
    /// Which job it is, and the rows whose change was acknowledged.
    job: u32,
    told: Told,
    /// Where the next arrival begins, from 0; and how often the table was gone through.
    next: u64,
    round: u64,
    /// Where this arrival begins, in which round, and how many of its rows were asked for.
    first: u64,
    first_round: u64,
    asked: u64,
    ended: bool,
    /// Whether an arrival began whose end was not told.
    running: bool,
}

/// Jobs of one worker; a slot is a job.
#[derive(Clone, Debug)]
pub struct Rows {
    spec: Spec,
    jobs: Vec<Job>,
}

impl Rows {
    /// The jobs from `first_job` on, one a slot. With more slots than there are jobs, slots share tables and wait for each
    /// other.
    pub fn new(spec: Spec, first_job: u32, slots: u32) -> Rows {
        let job = |slot: u32| Job { job: (first_job + slot) % spec.jobs.max(1), ..Job::default() };
        Rows { spec, jobs: (0..slots).map(job).collect() }
    }

    /// Each job with what was done of it, one entry a slot. Of an arrival that is still under way nothing is known.
    pub fn tallies(&self) -> Vec<(u32, Told)> {
        let tally = |job: &Job| (job.job, job.told.open(if job.running { self.counted(job) } else { 0 }));
        self.jobs.iter().map(tally).collect()
    }

    /// The number of a row of this arrival.
    fn row(&self, job: &Job, place: u64) -> i64 {
        1 + ((job.first + place) % self.spec.rows_per_round()) as i64
    }

    /// Rows of this arrival.
    fn rows(&self, job: &Job) -> u64 {
        let all = self.spec.rows_per_arrival();
        if self.spec.ends_with_table() { all.min(self.spec.rows_per_round() - job.first) } else { all }
    }

    /// Whether one of the rows of this arrival is updated, by its place.
    fn changes(&self, update: Update, job: &Job, place: u64) -> bool {
        update.changes(self.row(job, place))
    }

    /// What of an arrival counts as done: all rows, or those that are updated.
    fn counted(&self, job: &Job) -> u64 {
        let rows = self.rows(job);
        match self.spec.mode {
            Mode::Update(update) => (0..rows).filter(|place| self.changes(update, job, *place)).count() as u64,
            _ => rows,
        }
    }

    /// Where the rows of this arrival begin and end, as statements over all of them say it.
    fn range(&self, job: &Job) -> [Value; 2] {
        let first = self.row(job, 0);
        [first.into(), (first + self.rows(job) as i64).into()]
    }

    fn place(&self, said: Said, job: &Job) -> u16 {
        said.of(&self.spec, job.job)
    }

    /// Row by row: the update of one travels with the read of the next.
    fn update(&mut self, slot: usize, update: Update, answers: &Answers, batch: &mut Batch) {
        let job = self.jobs[slot];
        match job.asked {
            0 => batch.begin(update.locks || self.counted(&job) > 0),
            asked if self.changes(update, &job, asked - 1) => {
                let counter = answers.last().int(0, 0) + 1;
                batch.call(self.place(Said::Update, &job), [counter.into(), self.row(&job, asked - 1).into()]);
            }
            _ => {}
        }
        if job.asked == self.rows(&job) {
            batch.commit();
            self.jobs[slot].ended = true;
            return;
        }
        let row = self.row(&job, job.asked);
        if update.read_first {
            batch.call(self.place(Said::Read, &job), [row.into()]);
        }
        batch.call(self.place(if update.locks { Said::Lock } else { Said::Read }, &job), [row.into()]);
        self.jobs[slot].asked += 1;
    }

    /// All rows by one statement: read, then updated.
    fn set(&mut self, slot: usize, update: Update, batch: &mut Batch) {
        let job = self.jobs[slot];
        let changes = self.counted(&job) > 0;
        if job.asked == 0 {
            batch.begin(update.locks || changes);
            if update.read_first {
                batch.call(self.place(Said::Read, &job), self.range(&job));
            }
            batch.call(self.place(if update.locks { Said::Lock } else { Said::Read }, &job), self.range(&job));
            self.jobs[slot].asked = self.rows(&job);
            return;
        }
        if changes {
            batch.call(self.place(Said::Update, &job), self.range(&job));
        }
        batch.commit();
        self.jobs[slot].ended = true;
    }

    /// One call that does all of it.
    fn call(&mut self, slot: usize, update: Update, batch: &mut Batch) {
        let job = self.jobs[slot];
        let [first, end] = self.range(&job);
        batch.begin(true);
        let how = [i64::from(update.share).into(), i64::from(update.locks).into()];
        batch.call(self.place(Said::WORK, &job), [first, end].into_iter().chain(how));
        batch.commit();
        self.jobs[slot].ended = true;
    }

    fn copy(&mut self, slot: usize, batch: &mut Batch) {
        let job = self.jobs[slot];
        batch.begin(true);
        let range = self.range(&job);
        batch.call(self.place(Said::WORK, &job), [Value::Int(job.first_round as i64)].into_iter().chain(range));
        batch.commit();
        self.jobs[slot].ended = true;
    }

    /// Inserts or deletes, one statement behind the other; what ends a round before comes first.
    fn change(&mut self, slot: usize, block: Option<u32>, batch: &mut Batch) {
        let job = self.jobs[slot];
        let round = Value::Int(job.first_round as i64);
        if job.asked == 0 {
            batch.begin(true);
            if job.first == 0 && (block.is_none() || job.first_round > 0) {
                self.turn(&job, block.is_none(), batch);
            }
        }
        let first = self.row(&job, job.asked);
        let rows = block.map_or(1, i64::from);
        let filler = self.spec.filler() as usize;
        let new = (first..first + rows).flat_map(|id| [id.into(), text(job.job, id, filler)]);
        match block {
            Some(_) => batch.call(self.place(Said::WORK, &job), [round].into_iter().chain(new)),
            None => batch.call(self.place(Said::WORK, &job), [round, first.into()]),
        }
        self.jobs[slot].asked += rows as u64;
        if self.jobs[slot].asked >= self.rows(&job) {
            batch.commit();
            self.jobs[slot].ended = true;
        }
    }

    /// From one round to the next: all rows are brought back, or taken away; either way it is noted how many were there.
    fn turn(&self, job: &Job, brings: bool, batch: &mut Batch) {
        let rows = self.spec.rows_per_round() as i64;
        let counted = brings.then_some(Value::Int(rows));
        batch.call(self.place(Said::COUNTED, job), counted);
        let bring = [(job.first_round as i64).into(), 1.into(), (rows + 1).into()];
        batch.call(self.place(Said::ROUND, job), bring.into_iter().filter(|_| brings));
    }
}

impl Business for Rows {
    fn class(&mut self, _n: u64, _payload: u64) -> u16 {
        0
    }

    fn begin(&mut self, slot: u32, _begun: Begun) {
        let slot = slot as usize;
        let job = &mut self.jobs[slot];
        (job.first, job.first_round) = (job.next, job.round);
        (job.asked, job.ended) = (0, false);
        job.running = true;
        let rows = self.rows(&self.jobs[slot]);
        let job = &mut self.jobs[slot];
        job.next += rows;
        let all = self.spec.rows_per_round();
        if job.next >= all {
            job.next -= all;
            job.round += 1;
        }
    }

    fn step(&mut self, slot: u32, answers: &Answers, batch: &mut Batch) -> Step {
        let slot = slot as usize;
        if self.jobs[slot].ended {
            return Step::Done { rolled_back: false };
        }
        match self.spec.mode {
            Mode::Update(update) => match update.access {
                Access::Row => self.update(slot, update, answers, batch),
                Access::Set => self.set(slot, update, batch),
                Access::Procedure => self.call(slot, update, batch),
            },
            Mode::Copy { .. } => self.copy(slot, batch),
            Mode::Insert { block } => self.change(slot, Some(block.max(1)), batch),
            Mode::Delete => self.change(slot, None, batch),
        }
        Step::Send
    }

    fn restart(&mut self, slot: u32) {
        let job = &mut self.jobs[slot as usize];
        (job.asked, job.ended) = (0, false);
    }

    fn ended(&mut self, slot: u32, ending: Ending, _at: Nanos, _caused: &mut Vec<Caused>) {
        let rows = self.counted(&self.jobs[slot as usize]);
        let job = &mut self.jobs[slot as usize];
        job.running = false;
        if job.first == 0 && ending != Ending::Done && self.spec.mode == Mode::Delete {
            // Nobody knows that the rows of this round were brought: the next one brings its own.
            (job.next, job.round) = (0, job.first_round + 1);
        }
        job.told.count(rows, ending);
    }
}
