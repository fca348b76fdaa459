//! A server in virtual time.
//!
//! The one idea: a transaction computes between its reads, and waits for the log with all who commit meanwhile. The load
//! driver works before it, on the same processors: that time lies between submission and end, so it holds the slot and lowers
//! the throughput, but it is no part of the response; [`crate::machine::Machine::outside`] says how much it was.

use super::hold::Hold;
use super::profile::{Log, Plan, Profile};
use super::storage::{NOBODY, Storage, after};
use crate::kernel::Agenda;
use crate::machine::{Cores, Ended, Outside, StationReport, Stepped};
use crate::station::{Commit, Inside, Pool, Watch};
use random::Draws;
use units::Nanos;
use workload::Operation;

#[derive(Clone, Copy, Debug)]
pub(crate) enum Event {
    /// A transaction is asked for.
    Begin { slot: u32 },
    /// Work that is a delay is done.
    Worked { slot: u32 },
    /// A read, or a write that nobody waits for, is done at a place of the storage.
    Read { slot: u32, place: u32 },
    /// The log write is down.
    Written,
}

/// What a transaction does when its piece of work is done.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Then {
    /// It begins: this was the driver's work.
    #[default]
    Start,
    /// It goes on with its reads.
    Go,
    /// It commits: this was the last piece.
    Commit,
}

/// A transaction under way.
#[derive(Clone, Copy, Debug, Default)]
struct Flight {
    class: u16,
    then: Then,
    /// Reads that are still to be asked for, one after the other.
    reads: u32,
    /// Mean of a piece of work, nanoseconds.
    piece_ns: f64,
    submitted: u64,
    began: u64,
}

/// A server that carries out transactions.
#[derive(Clone, Debug)]
pub struct Server {
    agenda: Agenda<Event>,
    flights: Vec<Flight>,
    hold: Hold,
    storage: Storage,
    pub(super) log: Option<(Log, Commit, Watch)>,
    /// Bytes that wait to leave with the next write of the log.
    log_bytes: f64,
    /// Jobs that carry transactions, where they are fewer than those who come.
    pool: Option<Pool>,
    classes: Vec<Profile>,
    driver_ns: f64,
    draws: Streams,
    /// Those whose commit is down.
    committed: Vec<u32>,
    /// Work of the driver and of transactions since the last `clear`, nanoseconds.
    work_ns: [f64; 2],
    /// Transactions between the driver's work and their end.
    inside: Inside,
}

/// One stream for each part.
#[derive(Clone, Debug)]
struct Streams {
    work: Draws,
    storage: Draws,
    counts: Draws,
}

impl Server {
    /// A server at rest, for at most `slots` transactions at once.
    pub fn new(plan: &Plan, slots: u32, seed: u64) -> Server {
        let room = slots.max(1) as usize;
        let log = plan.log.map(|log| (log, Commit::new(room), Watch::default()));
        let stream = |number| Draws::numbered(seed, number);
        Server {
            agenda: Agenda::with_capacity(4 * room + 16),
            flights: vec![Flight::default(); room],
            hold: Hold::new(plan.work, room),
            storage: Storage::new(plan.reads, room),
            log,
            log_bytes: 0.0,
            pool: (plan.jobs > 0).then(|| Pool::new(plan.jobs, room)),
            classes: if plan.classes.is_empty() { vec![Profile::default()] } else { plan.classes.clone() },
            driver_ns: 1e3 * plan.driver_us,
            draws: Streams { work: stream(1), storage: stream(2), counts: stream(3) },
            committed: Vec::with_capacity(room),
            work_ns: [0.0; 2],
            inside: Inside::default(),
        }
    }

    /// As [`Inside::little`].
    pub fn little(&self) -> f64 {
        self.inside.little(self.agenda.now())
    }

    fn profile(&self, class: u16) -> &Profile {
        &self.classes[usize::from(class).min(self.classes.len() - 1)]
    }

    /// The driver works first, if it works at all.
    #[inline]
    fn begin(&mut self, slot: u32) {
        if self.driver_ns > 0.0 {
            self.flights[slot as usize].then = Then::Start;
            self.work(slot, self.driver_ns);
        } else {
            self.start(slot);
        }
    }

    /// The response begins; a job must be free to carry it.
    fn start(&mut self, slot: u32) {
        let now = self.agenda.now();
        self.inside.begin(now);
        self.flights[slot as usize].began = now.0;
        if self.pool.as_mut().is_none_or(|pool| pool.enter(now, slot)) {
            self.carry(slot);
        }
    }

    /// A job carries it.
    fn carry(&mut self, slot: u32) {
        let profile = *self.profile(self.flights[slot as usize].class);
        let (flight, counts) = (&mut self.flights[slot as usize], &mut self.draws.counts);
        flight.reads = counts.whole(profile.reads);
        flight.piece_ns = 1e6 * profile.cpu_ms / f64::from(1 + flight.reads);
        let writes = counts.whole(profile.writes);
        if matches!(self.storage, Storage::Disks { .. }) {
            (0..writes).for_each(|_| self.ask(NOBODY));
        }
        self.go(slot);
    }

    /// The next piece of work.
    #[inline]
    fn go(&mut self, slot: u32) {
        let flight = &mut self.flights[slot as usize];
        flight.then = if flight.reads > 0 { Then::Go } else { Then::Commit };
        let piece_ns = flight.piece_ns;
        self.work(slot, piece_ns);
    }

    #[inline]
    fn work(&mut self, slot: u32, mean_ns: f64) {
        let work = Nanos(libm::round(mean_ns * self.draws.work.exponential()) as u64);
        self.work_ns[usize::from(self.flights[slot as usize].then != Then::Start)] += work.0 as f64;
        if let Some(end) = self.hold.begin(self.agenda.now(), slot, work) {
            self.agenda.at(end, Event::Worked { slot });
        }
    }

    /// A piece of work is done.
    #[inline]
    fn done(&mut self, slot: u32) {
        let flight = &mut self.flights[slot as usize];
        match flight.then {
            Then::Start => self.start(slot),
            Then::Go => {
                flight.reads -= 1;
                self.ask(slot);
            }
            Then::Commit => self.commit(slot),
        }
    }

    #[inline]
    fn ask(&mut self, slot: u32) {
        if let Some((end, place)) = self.storage.ask(self.agenda.now(), slot, &mut self.draws.storage) {
            self.agenda.at(end, Event::Read { slot, place });
        }
    }

    #[inline]
    fn read(&mut self, slot: u32, place: u32) {
        if let Some((next, end)) = self.storage.ended(self.agenda.now(), place) {
            self.agenda.at(end, Event::Read { slot: next, place });
        }
        if slot != NOBODY {
            self.go(slot);
        }
    }

    #[inline]
    fn commit(&mut self, slot: u32) {
        let profile = *self.profile(self.flights[slot as usize].class);
        let Some((_, commit, watch)) = &mut self.log else { return self.committed.push(slot) };
        if profile.changes <= 0.0 {
            return self.committed.push(slot);
        }
        self.log_bytes += profile.log_bytes;
        if commit.ask(slot) {
            watch.turn(self.agenda.now(), 1, 1.0);
            self.write_log();
        }
    }

    /// A write of the log begins.
    fn write_log(&mut self) {
        let Some((log, _, _)) = &self.log else { return };
        let ns = 1e3 * log.write_us + 1e9 * std::mem::take(&mut self.log_bytes) / log.bytes_per_s;
        self.agenda.at(after(self.agenda.now(), ns), Event::Written);
    }

    fn written(&mut self) {
        let Some((_, commit, watch)) = &mut self.log else { return };
        let again = commit.written(&mut self.committed);
        watch.done();
        watch.turn(self.agenda.now(), u32::from(again), if again { 1.0 } else { 0.0 });
        if again {
            self.write_log();
        }
    }

    /// All whose commit is down are done, and their jobs are free for others.
    #[inline]
    fn end(&mut self, ended: &mut Vec<Ended>) {
        if self.committed.is_empty() {
            return;
        }
        let now = self.agenda.now();
        for place in 0..self.committed.len() {
            let slot = self.committed[place];
            self.inside.end(now, self.flights[slot as usize].began);
            ended.push(Ended::done(slot, now));
            if let Some(next) = self.pool.as_mut().and_then(|pool| pool.leave(now)) {
                self.carry(next);
            }
        }
        self.inside.left(now);
        self.committed.clear();
    }
}

impl Stepped for Server {
    type Event = Event;

    fn agenda(&mut self) -> &mut Agenda<Event> {
        &mut self.agenda
    }

    #[inline]
    fn step(&mut self, now: Nanos, event: Event, ended: &mut Vec<Ended>) {
        match event {
            Event::Begin { slot } => self.begin(slot),
            Event::Worked { slot } => {
                self.hold.delay_end(now);
                self.done(slot);
            }
            Event::Read { slot, place } => self.read(slot, place),
            Event::Written => self.written(),
        }
        self.end(ended);
    }

    #[inline]
    fn working(&self) -> u64 {
        self.hold.next()
    }

    #[inline]
    fn worked(&mut self, now: Nanos, ended: &mut Vec<Ended>) {
        if let Some(slot) = self.hold.shared_end(now) {
            self.done(slot);
        }
        self.end(ended);
    }

    fn submit(&mut self, at: Nanos, slot: u32, operation: &Operation) {
        let submitted = at.max(self.agenda.now());
        self.flights[slot as usize] = Flight { class: operation.class, submitted: submitted.0, ..Flight::default() };
        if submitted == self.agenda.now() {
            self.begin(slot);
        } else {
            self.agenda.at(submitted, Event::Begin { slot });
        }
    }

    fn outside(&self, slot: u32) -> Nanos {
        let flight = &self.flights[slot as usize];
        Nanos(flight.began.saturating_sub(flight.submitted))
    }

    fn outside_is(&self) -> Option<Outside> {
        Some(Outside::Driver)
    }

    fn clear(&mut self, now: Nanos) {
        self.hold.clear(now);
        self.work_ns = [0.0; 2];
        self.storage.clear(now);
        self.inside.clear(now);
        if let Some(pool) = &mut self.pool {
            pool.watch.clear(now);
        }
        if let Some((_, _, watch)) = &mut self.log {
            watch.clear(now);
        }
    }

    fn reports(&mut self, now: Nanos) -> Vec<StationReport> {
        let mut all = vec![
            StationReport::of("transactions", &self.inside.watch, now),
            StationReport::of("processors", self.hold.watch(), now),
        ];
        if let Some(pool) = &mut self.pool {
            all.push(StationReport::of("jobs", &pool.watch, now));
        }
        self.storage.reports(now, &mut all);
        if let Some((_, _, watch)) = &self.log {
            all.push(StationReport::of("log", watch, now));
        }
        all
    }

    fn cores(&self, now: Nanos) -> Option<Cores> {
        let (count, busy) = self.hold.cores(now)?;
        let [driver, transactions] = self.work_ns;
        Some(Cores { count, busy: busy * transactions / (driver + transactions).max(1.0) })
    }
}
