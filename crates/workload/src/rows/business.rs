//! The jobs of one worker as step machines.
//!
//! The one idea: an arrival is what lies between two commits. Updates go row by row: the update of one row travels with
//! the read of the next. A copy is one statement a block.
//!
//! What it does not do: a slot keeps its place when an arrival fails; those rows are passed over until the next round.

use super::statements::Said;
use super::{Mode, Spec};
use crate::transaction::{Answers, Batch, Begun, Business, Caused, Ending, Step};
use units::Nanos;

/// What a worker knows of the work of one job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// The job.
    pub job: u32,
    /// Rows whose commit was acknowledged.
    pub done: u64,
    /// Rows of which it is not known.
    pub unknown: u64,
}

impl Tally {
    /// Whether the database holds the work, by the answers of [`tally_statement`](super::tally_statement) before and
    /// after it.
    pub fn agrees(&self, before: i64, after: i64) -> bool {
        let grown = after - before;
        (self.done as i64..=(self.done + self.unknown) as i64).contains(&grown)
    }
}

/// One slot's job.
#[derive(Clone, Copy, Debug, Default)]
struct Job {
    tally: Tally,
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
        let tally = |slot: u32| Tally { job: (first_job + slot) % spec.jobs.max(1), ..Tally::default() };
        Rows { spec, jobs: (0..slots).map(|slot| Job { tally: tally(slot), ..Job::default() }).collect() }
    }

    /// What was done, one entry a slot. Of an arrival that is still under way nothing is known.
    pub fn tallies(&self) -> Vec<Tally> {
        let tally = |job: &Job| {
            let open = if job.running { self.rows(job) } else { 0 };
            Tally { unknown: job.tally.unknown + open, ..job.tally }
        };
        self.jobs.iter().map(tally).collect()
    }

    /// The number of a row of this arrival.
    fn row(&self, job: &Job, place: u64) -> i64 {
        1 + ((job.first + place) % self.spec.rows_per_job.max(1)) as i64
    }

    /// Rows of this arrival: a block ends with the table.
    fn rows(&self, job: &Job) -> u64 {
        match self.spec.mode {
            Mode::Update { .. } => self.spec.rows_per_arrival(),
            Mode::Copy { .. } => self.spec.rows_per_arrival().min(self.spec.rows_per_job - job.first),
        }
    }

    fn update(&mut self, slot: usize, read_first: bool, answers: &Answers, batch: &mut Batch) -> Step {
        let job = self.jobs[slot];
        let number = job.tally.job;
        if job.ended {
            return Step::Done { rolled_back: false };
        }
        match job.asked {
            0 => batch.begin(true),
            asked => {
                let counter = answers.last().int(0, 0) + 1;
                batch.call(Said::Update.of(number), [counter.into(), self.row(&job, asked - 1).into()]);
            }
        }
        if job.asked == self.rows(&job) {
            batch.commit();
            self.jobs[slot].ended = true;
            return Step::Send;
        }
        let row = self.row(&job, job.asked);
        if read_first {
            batch.call(Said::Read.of(number), [row.into()]);
        }
        batch.call(Said::Lock.of(number), [row.into()]);
        self.jobs[slot].asked += 1;
        Step::Send
    }

    fn copy(&mut self, slot: usize, batch: &mut Batch) -> Step {
        let job = self.jobs[slot];
        if job.ended {
            return Step::Done { rolled_back: false };
        }
        let first = self.row(&job, 0);
        let parameters = [(job.first_round as i64).into(), first.into(), (first + self.rows(&job) as i64).into()];
        batch.begin(true);
        batch.call(Said::Copy.of(job.tally.job), parameters);
        batch.commit();
        self.jobs[slot].ended = true;
        Step::Send
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
        if job.next >= self.spec.rows_per_job {
            job.next -= self.spec.rows_per_job;
            job.round += 1;
        }
    }

    fn step(&mut self, slot: u32, answers: &Answers, batch: &mut Batch) -> Step {
        match self.spec.mode {
            Mode::Update { read_first } => self.update(slot as usize, read_first, answers, batch),
            Mode::Copy { .. } => self.copy(slot as usize, batch),
        }
    }

    fn restart(&mut self, slot: u32) {
        let job = &mut self.jobs[slot as usize];
        (job.asked, job.ended) = (0, false);
    }

    fn ended(&mut self, slot: u32, ending: Ending, _at: Nanos, _caused: &mut Vec<Caused>) {
        let rows = self.rows(&self.jobs[slot as usize]);
        self.jobs[slot as usize].running = false;
        let tally = &mut self.jobs[slot as usize].tally;
        match ending {
            Ending::Done => tally.done += rows,
            Ending::Unknown => tally.unknown += rows,
            Ending::Failed => {}
        }
    }
}
