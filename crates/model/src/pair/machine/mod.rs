//! A mirrored pair in virtual time.
//!
//! The one idea: a transaction is as many pieces as it has round trips; each computes, waits for storage, and goes to the other
//! node and back. What a job does outside of the response comes first, as with servers, and [`crate::machine::Machine::outside`] says it.

mod outage;

use super::apart::{Apart, State};
use super::node::Node;
use super::plan::{Mode, PairPlan};
use crate::kernel::Agenda;
use crate::machine::{Ended, Outside, Stand, Standing, StationReport, Stepped};
use crate::server::Factors;
use crate::station::Inside;
use random::Draws;
use units::Nanos;
use workload::Operation;
use workload::happening::{Happening, Mishap};

/// Two servers that mirror, or one.
#[derive(Clone, Debug)]
pub struct Pair {
    plan: PairPlan,
    /// How many times what the plan's transaction asks for one of each class asks for; none where all are alike.
    classes: Vec<Factors>,
    agenda: Agenda<Event>,
    flights: Vec<Flight>,
    nodes: [Node; 2],
    apart: Apart,
    /// Why the nodes are apart, where they are.
    standing: Standing,
    /// Whether what a node sends reaches the other, by the node that sends.
    carries: [bool; 2],
    /// Who was lost on the way, and waits.
    stuck: Vec<u32>,
    /// Until when the first node waits for a mirror that confirms nothing.
    patient_until: Nanos,
    /// Bytes that reached the second node.
    sent_bytes: u64,
    /// How the nodes stood; none where nothing happened to them.
    course: Vec<Stand>,
    /// Whether a time at which rows may be sent again stands on the agenda.
    sending: bool,
    /// Transactions of the second node that may not change anything while the nodes are apart.
    held: Vec<u32>,
    committed: Vec<u32>,
    done: Vec<u32>,
    draws: [Draws; 3],
    inside: Inside,
}

impl Pair {
    /// A pair at rest, for at most `slots` jobs whose transactions are all alike.
    pub fn new(plan: PairPlan, slots: u32, seed: u64) -> Pair {
        Pair::of_classes(plan, Vec::new(), slots, seed)
    }

    /// The same with transactions of such classes.
    pub fn of_classes(plan: PairPlan, classes: Vec<Factors>, slots: u32, seed: u64) -> Pair {
        let room = slots.max(1) as usize;
        let all = room + plan.resync.jobs.max(1) as usize;
        let nodes = [Node::new(&plan, 0, all), Node::new(&plan, 1, all)];
        Pair {
            agenda: Agenda::with_capacity(2 * all + 16),
            classes,
            flights: vec![Flight::default(); room],
            nodes,
            apart: Apart::new(&plan, room as u32, Draws::numbered(seed, 9)),
            standing: Standing::Asked,
            carries: [true; 2],
            stuck: Vec::with_capacity(all),
            patient_until: Nanos::ZERO,
            sent_bytes: 0,
            course: Vec::new(),
            sending: false,
            held: Vec::with_capacity(room),
            committed: Vec::with_capacity(room),
            done: Vec::with_capacity(room),
            draws: [1, 2, 3].map(|stream| Draws::numbered(seed, stream)),
            inside: Inside::default(),
            plan,
        }
    }

    /// Share of all cores of a node, 0 or 1, that was busy.
    pub fn busy(&mut self, node: usize) -> f64 {
        self.nodes[node].processors.busy(self.agenda.now())
    }

    /// Different rows that wait for the mirror.
    pub fn waiting_rows(&self) -> u64 {
        self.apart.waiting()
    }

    /// Seconds from the end of the outage until the pair mirrored again; none as long as it does not.
    pub fn resync_s(&self) -> Option<f64> {
        let (from, to) = (self.apart.resumed?, self.apart.ended?);
        Some((to.0 - from.0) as f64 / 1e9)
    }

    /// As [`Inside::little`].
    pub fn little(&self) -> f64 {
        self.inside.little(self.agenda.now())
    }

    #[inline]
    fn now(&self) -> Nanos {
        self.agenda.now()
    }

    /// A time around a mean, from one of the streams.
    #[inline]
    fn drawn(&mut self, stream: usize, mean_ns: f64) -> Nanos {
        Nanos(libm::round(mean_ns * self.draws[stream].exponential()) as u64)
    }

    /// The response begins.
    fn start(&mut self, slot: u32) {
        self.inside.begin(self.now());
        self.flights[slot as usize].began = self.now().0;
        let changes = self.factors(slot).changes > 0.0;
        let blocked = changes && self.flights[slot as usize].node == 1 && !self.mirrors();
        if blocked { self.held.push(slot) } else { self.begin(slot) }
    }

    /// How many times what the plan's transaction asks for that in a slot asks for.
    #[inline]
    fn factors(&self, slot: u32) -> Factors {
        let class = usize::from(self.flights[slot as usize].class);
        self.classes.get(class).copied().unwrap_or(Factors::ALIKE)
    }

    /// Whether a transaction waits for the other node, which may be silent by now.
    #[inline]
    fn mirrors(&self) -> bool {
        matches!(self.apart.state, State::Mirroring | State::Waiting)
    }

    /// A transaction that may change data begins.
    fn begin(&mut self, slot: u32) {
        let (paired, factors) = (self.plan.mode != Mode::Alone, self.factors(slot));
        let mirrored = paired && self.mirrors();
        let trips = if mirrored { self.draws[2].whole(self.plan.trips * factors.changes) } else { 0 };
        let pieces = trips.max(1);
        let added = match (mirrored, paired) {
            (true, _) => self.plan.source_us,
            (false, true) => self.plan.resync.tracking_us,
            (false, false) => 0.0,
        };
        let flight = &mut self.flights[slot as usize];
        (flight.pieces, flight.mirrored) = (pieces, trips > 0);
        flight.work_ns = 1e3 * (self.plan.demand_us * factors.work + added * factors.changes) / f64::from(pieces);
        flight.wait_ns = 1e3 * self.plan.inside_us * factors.reads / f64::from(pieces);
        self.piece(slot);
    }

    /// The next piece, with as many repetitions as locks of the other node bring.
    fn piece(&mut self, slot: u32) {
        let both = self.plan.mode == Mode::Active && self.flights[slot as usize].mirrored;
        let again = if both { self.draws[2].whole(self.plan.conflicts) } else { 0 };
        self.flights[slot as usize].again = again;
        self.work(slot);
    }

    fn work(&mut self, slot: u32) {
        let flight = self.flights[slot as usize];
        let work = self.drawn(0, flight.work_ns);
        self.flights[slot as usize].stage = Stage::Work;
        let now = self.now();
        self.nodes[flight.node as usize].processors.work.begin(now, slot, work);
    }

    /// A job of a node's processors is done.
    fn computed(&mut self, node: usize) {
        let now = self.now();
        let Some(who) = self.nodes[node].processors.work.end(now) else { return };
        match self.flights.get(who as usize).map(|flight| flight.stage) {
            Some(Stage::Work) => self.store(who),
            Some(_) => self.logged(who),
            None => {
                self.leave(node);
                if self.apart.arrived(now, who) {
                    self.release();
                }
                self.send();
            }
        }
    }

    /// It waits for storage.
    fn store(&mut self, slot: u32) {
        let flight = self.flights[slot as usize];
        self.flights[slot as usize].stage = Stage::Storage;
        let (now, wait) = (self.now(), self.drawn(1, flight.wait_ns));
        if self.plan.disks <= 0.0 {
            return self.agenda.at(Nanos(self.now().0 + wait.0), Event::Next { who: slot });
        }
        // The last disk may be a part of one.
        let disk = libm::floor(self.draws[1].uniform() * self.plan.disks * (1.0 - 1e-12)) as u32;
        if let Some(end) = self.nodes[flight.node as usize].disks[disk as usize].arrive(now, slot, wait) {
            self.agenda.at(end, Event::Disk { node: flight.node, disk, slot });
        }
    }

    /// A wait or a way is over.
    fn next(&mut self, who: u32) {
        if !self.crossed(who) {
            return;
        }
        // A row that changed while the nodes were apart is there.
        let Some(flight) = self.flights.get(who as usize).copied() else { return self.arrive(1, who) };
        match flight.stage {
            Stage::Storage if flight.mirrored => self.cross(who, Stage::Out),
            Stage::Storage | Stage::Back => self.piece_done(who),
            Stage::Out if flight.again > 0 => self.wait(who),
            Stage::Out => self.arrive(1 - flight.node as usize, who),
            Stage::Answer => self.cross(who, Stage::Back),
            Stage::Work | Stage::Target | Stage::Log => {}
        }
    }

    /// Sends a change, or its answer, from a node to the other.
    fn cross(&mut self, slot: u32, stage: Stage) {
        self.flights[slot as usize].stage = stage;
        self.post(slot);
    }

    /// A change is at a node that carries it out, as soon as a job there takes it.
    fn arrive(&mut self, node: usize, who: u32) {
        let now = self.now();
        if self.nodes[node].jobs.enter(now, who) {
            self.carry_out(node, who);
        }
    }

    fn carry_out(&mut self, node: usize, who: u32) {
        let us = match self.flights.get_mut(who as usize) {
            Some(flight) => {
                flight.stage = Stage::Target;
                self.plan.target_us / self.plan.trips.max(1e-12)
            }
            None => self.plan.resync.target_us,
        };
        let (now, work) = (self.now(), self.drawn(0, 1e3 * us));
        self.nodes[node].processors.work.begin(now, who, work);
    }

    /// A job of a node is done with a change, and takes the next.
    fn leave(&mut self, node: usize) {
        let now = self.now();
        if let Some(next) = self.nodes[node].jobs.leave(now) {
            self.carry_out(node, next);
        }
    }

    /// The change was carried out at the target; the last one of a transaction goes into the log there.
    fn logged(&mut self, slot: u32) {
        let flight = self.flights[slot as usize];
        let (now, node) = (self.now(), 1 - flight.node);
        if self.plan.log.is_none() || flight.pieces > 1 {
            return self.answer(node as usize, slot);
        }
        self.flights[slot as usize].stage = Stage::Log;
        let at = &mut self.nodes[node as usize];
        if at.log.ask(slot) {
            at.log_watch.turn(now, 1, 1.0);
            self.write(node);
        }
    }

    fn write(&mut self, node: u32) {
        let us = self.plan.log.map_or(0.0, |log| log.write_us);
        self.agenda.at(Nanos(self.now().0 + libm::round(1e3 * us) as u64), Event::Written { node });
    }

    fn written(&mut self, node: u32) {
        let now = self.now();
        let mut committed = std::mem::take(&mut self.committed);
        let at = &mut self.nodes[node as usize];
        let again = at.log.written(&mut committed);
        at.log_watch.done();
        at.log_watch.turn(now, u32::from(again), f64::from(u8::from(again)));
        if again {
            self.write(node);
        }
        committed.drain(..).for_each(|slot| self.answer(node as usize, slot));
        self.committed = committed;
    }

    /// A job of a node is done with a change, and what a round trip takes beside all of this begins.
    fn answer(&mut self, node: usize, slot: u32) {
        self.leave(node);
        self.wait(slot);
    }

    fn wait(&mut self, slot: u32) {
        self.flights[slot as usize].stage = Stage::Answer;
        let wait = self.drawn(1, 1e3 * self.plan.delay_us / self.plan.trips.max(1e-12));
        self.agenda.at(Nanos(self.now().0 + wait.0), Event::Next { who: slot });
    }

    /// A piece is done, or done again.
    fn piece_done(&mut self, slot: u32) {
        let flight = &mut self.flights[slot as usize];
        if flight.again > 0 {
            flight.again -= 1;
            return self.work(slot);
        }
        flight.pieces -= 1;
        if flight.pieces > 0 { self.piece(slot) } else { self.done.push(slot) }
    }

    /// Sends rows that wait, as long as there are jobs and it is not too early.
    fn send(&mut self) {
        loop {
            match self.apart.send(self.now()) {
                Ok(job) => self.post(job),
                Err(Some(at)) if !self.sending => {
                    self.sending = true;
                    return self.agenda.at(at, Event::Send);
                }
                Err(_) => return,
            }
        }
    }

    /// All who are done leave; what they changed while the nodes were apart is noted.
    fn end(&mut self, ended: &mut Vec<Ended>) {
        if self.done.is_empty() {
            return;
        }
        let now = self.now();
        for slot in std::mem::take(&mut self.done) {
            let flight = self.flights[slot as usize];
            self.inside.end(now, flight.began);
            ended.push(Ended::done(slot, now));
            if !flight.mirrored && self.plan.mode != Mode::Alone && !self.mirrors() {
                let changes = self.draws[2].whole(self.plan.resync.changes * self.factors(slot).changes);
                self.apart.track(changes);
                self.send();
            }
        }
        self.inside.left(now);
    }
}

impl Stepped for Pair {
    type Event = Event;

    fn agenda(&mut self) -> &mut Agenda<Event> {
        &mut self.agenda
    }

    fn step(&mut self, now: Nanos, event: Event, ended: &mut Vec<Ended>) {
        match event {
            Event::Start { slot } => self.start(slot),
            Event::Next { who } => self.next(who),
            Event::Disk { node, disk, slot } => {
                if let Some((next, end)) = self.nodes[node as usize].disks[disk as usize].depart(now) {
                    self.agenda.at(end, Event::Disk { node, disk, slot: next });
                }
                self.next(slot);
            }
            Event::Written { node } => self.written(node),
            Event::Mishap { what } => self.mishap(what),
            Event::Patience => self.lose_patience(),
            Event::Send => {
                self.sending = false;
                self.send();
            }
        }
        self.end(ended);
    }

    fn working(&self) -> u64 {
        self.nodes[0].processors.work.next().min(self.nodes[1].processors.work.next())
    }

    fn worked(&mut self, now: Nanos, ended: &mut Vec<Ended>) {
        self.computed(usize::from(self.nodes[0].processors.work.next() != now.0));
        self.end(ended);
    }

    fn submit(&mut self, at: Nanos, slot: u32, operation: &Operation) {
        let submitted = at.0.max(self.now().0);
        let node = if self.plan.mode == Mode::Active { slot % 2 } else { 0 };
        self.flights[slot as usize] = Flight { node, class: operation.class, submitted, ..Flight::default() };
        let think = self.drawn(2, 1e3 * self.plan.think_us);
        self.agenda.at(Nanos(submitted + think.0), Event::Start { slot });
    }

    fn outside(&self, slot: u32) -> Nanos {
        let flight = &self.flights[slot as usize];
        Nanos(flight.began.saturating_sub(flight.submitted))
    }

    fn outside_is(&self) -> Option<Outside> {
        Some(Outside::Think)
    }

    fn happen(&mut self, at: Nanos, what: Happening) -> bool {
        let Happening::Pair(what) = what else { return false };
        let known = self.plan.mode != Mode::Alone && Pair::MISHAPS.contains(&what);
        if known {
            self.agenda.at(at, Event::Mishap { what });
        }
        known
    }

    fn course(&mut self) -> Vec<Stand> {
        if !self.course.is_empty() {
            self.note();
        }
        std::mem::take(&mut self.course)
    }

    fn clear(&mut self, now: Nanos) {
        self.inside.clear(now);
        self.nodes.iter_mut().for_each(|node| node.clear(now));
    }

    fn reports(&mut self, now: Nanos) -> Vec<StationReport> {
        let paired = self.plan.mode != Mode::Alone;
        let mut all = vec![StationReport::of("transactions", &self.inside.watch, now)];
        for (number, node) in self.nodes.iter_mut().take(1 + usize::from(paired)).enumerate() {
            node.reports(number, &self.plan, now, &mut all);
        }
        all
    }
}

// A transaction of a pair under way, and what happens in a pair.

#[derive(Clone, Copy, Debug)]
pub(crate) enum Event {
    /// A job has thought.
    Start { slot: u32 },
    /// A delay, or a way over the link, is over.
    Next { who: u32 },
    /// A disk is done.
    Disk { node: u32, disk: u32, slot: u32 },
    /// A log write at a node is down.
    Written { node: u32 },
    /// The nodes lose each other, or find each other again.
    Mishap { what: Mishap },
    /// Nothing was confirmed for as long as the first node waits.
    Patience,
    /// Rows may be sent again.
    Send,
}

/// What a transaction does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Stage {
    /// It computes.
    #[default]
    Work,
    /// It waits for storage.
    Storage,
    /// Its change is on its way to the other node,
    Out,
    /// is carried out there,
    Target,
    /// in the log there,
    Log,
    /// answered,
    Answer,
    /// and on its way back.
    Back,
}

/// A transaction under way.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Flight {
    pub node: u32,
    pub class: u16,
    pub stage: Stage,
    /// Pieces that are still to be done, this one included.
    pub pieces: u32,
    /// How often this one is done again, because of locks of the other node.
    pub again: u32,
    pub mirrored: bool,
    pub work_ns: f64,
    pub wait_ns: f64,
    pub submitted: u64,
    pub began: u64,
}
