//! A mirrored pair in virtual time.
//!
//! The one idea: a transaction is as many pieces as it has round trips; each computes, waits for storage, and goes to the other
//! node and back. What a job does outside of the response comes first, as with servers, and [`crate::machine::Machine::outside`] says it.

use super::apart::{Apart, State};
use super::node::Node;
use super::plan::{Mode, PairPlan};
use crate::kernel::Agenda;
use crate::machine::{Ended, Outside, StationReport, Stepped};
use crate::station::Inside;
use random::Draws;
use units::Nanos;
use workload::Operation;

/// Two servers that mirror, or one.
#[derive(Clone, Debug)]
pub struct Pair {
    plan: PairPlan,
    agenda: Agenda<Event>,
    flights: Vec<Flight>,
    nodes: [Node; 2],
    apart: Apart,
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
    /// A pair at rest, for at most `slots` jobs.
    pub fn new(plan: PairPlan, slots: u32, seed: u64) -> Pair {
        let room = slots.max(1) as usize;
        let all = room + plan.resync.jobs.max(1) as usize;
        let nodes = [Node::new(&plan, 0, all), Node::new(&plan, 1, all)];
        let mut agenda = Agenda::with_capacity(2 * all + 16);
        if let Some(outage) = plan.outage {
            agenda.at(at_s(outage.from_s), Event::Suspend);
            if outage.to_s.is_finite() {
                agenda.at(at_s(outage.to_s), Event::Resume);
            }
        }
        Pair {
            agenda,
            flights: vec![Flight::default(); room],
            nodes,
            apart: Apart::new(plan.resync, room as u32, Draws::numbered(seed, 9)),
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
        let blocked = self.flights[slot as usize].node == 1 && self.apart.state != State::Mirroring;
        if blocked { self.held.push(slot) } else { self.begin(slot) }
    }

    /// A transaction that may change data begins.
    fn begin(&mut self, slot: u32) {
        let paired = self.plan.mode != Mode::Alone;
        let mirrored = paired && self.apart.state == State::Mirroring;
        let trips = if mirrored { self.draws[2].whole(self.plan.trips) } else { 0 };
        let pieces = trips.max(1);
        let added = match (mirrored, paired) {
            (true, _) => self.plan.source_us,
            (false, true) => self.plan.resync.tracking_us,
            (false, false) => 0.0,
        };
        let flight = &mut self.flights[slot as usize];
        (flight.pieces, flight.mirrored) = (pieces, trips > 0);
        flight.work_ns = 1e3 * (self.plan.demand_us + added) / f64::from(pieces);
        flight.wait_ns = 1e3 * self.plan.inside_us / f64::from(pieces);
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
        if who as usize >= self.flights.len() {
            if self.apart.arrived(now, who) {
                self.release();
            }
            return self.send();
        }
        match self.flights[who as usize].stage {
            Stage::Work => self.store(who),
            _ => self.logged(who),
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
        if who as usize >= self.flights.len() {
            // A row that changed while the nodes were apart is there, and is carried out.
            let (now, work) = (self.now(), self.drawn(0, 1e3 * self.plan.resync.target_us));
            return self.nodes[1].processors.work.begin(now, who, work);
        }
        let flight = self.flights[who as usize];
        let other = 1 - flight.node as usize;
        let each_ns = |us: f64| 1e3 * us / self.plan.trips.max(1e-12);
        match flight.stage {
            Stage::Storage if flight.mirrored => self.cross(who, flight.node as usize, Stage::Out),
            Stage::Storage | Stage::Back => self.piece_done(who),
            Stage::Out if flight.again > 0 => self.answer(who),
            Stage::Out => {
                let (now, work) = (self.now(), self.drawn(0, each_ns(self.plan.target_us)));
                self.flights[who as usize].stage = Stage::Target;
                self.nodes[other].processors.work.begin(now, who, work);
            }
            Stage::Answer => self.cross(who, other, Stage::Back),
            Stage::Work | Stage::Target | Stage::Log => {}
        }
    }

    /// Sends a change, or its answer, from a node to the other.
    fn cross(&mut self, slot: u32, from: usize, stage: Stage) {
        let bytes = self.plan.trip_bytes[usize::from(stage == Stage::Back)];
        self.flights[slot as usize].stage = stage;
        let (_, there) = self.nodes[from].link.send(self.agenda.now(), bytes);
        self.agenda.at(there, Event::Next { who: slot });
    }

    /// The change was carried out at the target; the last one of a transaction goes into the log there.
    fn logged(&mut self, slot: u32) {
        let flight = self.flights[slot as usize];
        if self.plan.log.is_none() || flight.pieces > 1 {
            return self.answer(slot);
        }
        self.flights[slot as usize].stage = Stage::Log;
        let (now, node) = (self.now(), 1 - flight.node);
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
        committed.drain(..).for_each(|slot| self.answer(slot));
        self.committed = committed;
    }

    /// What a round trip takes beside all of this.
    fn answer(&mut self, slot: u32) {
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

    /// The pair mirrors again: whoever was held goes on.
    fn release(&mut self) {
        for slot in std::mem::take(&mut self.held) {
            self.begin(slot);
        }
    }

    /// Sends rows that wait, as long as there are jobs and it is not too early.
    fn send(&mut self) {
        loop {
            match self.apart.send(self.now()) {
                Ok(job) => {
                    let (_, there) = self.nodes[0].link.send(self.agenda.now(), self.plan.resync.row_bytes);
                    self.agenda.at(there, Event::Next { who: job });
                }
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
            if !flight.mirrored && self.plan.mode != Mode::Alone && self.apart.state != State::Mirroring {
                let changes = self.draws[2].whole(self.plan.resync.changes);
                self.apart.track(changes);
                self.send();
            }
        }
        self.inside.left(now);
    }
}

fn at_s(seconds: f64) -> Nanos {
    Nanos(libm::round(1e9 * seconds) as u64)
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
            Event::Suspend => self.apart.state = State::Apart,
            Event::Resume => {
                (self.apart.state, self.apart.resumed) = (State::Resyncing, Some(now));
                if self.apart.settle(now) {
                    self.release();
                }
                self.send();
            }
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

    fn submit(&mut self, at: Nanos, slot: u32, _operation: &Operation) {
        let submitted = at.0.max(self.now().0);
        let node = if self.plan.mode == Mode::Active { slot % 2 } else { 0 };
        self.flights[slot as usize] = Flight { node, submitted, ..Flight::default() };
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

    fn clear(&mut self, now: Nanos) {
        self.inside.clear(now);
        self.nodes.iter_mut().for_each(|node| node.clear(now));
    }

    fn reports(&mut self, now: Nanos) -> Vec<StationReport> {
        let paired = self.plan.mode != Mode::Alone;
        let mut all = vec![StationReport::of("transactions", &self.inside.watch, now)];
        for (number, node) in self.nodes.iter_mut().take(1 + usize::from(paired)).enumerate() {
            node.reports(number, (paired, self.plan.log.is_some()), now, &mut all);
        }
        all
    }
}

// A transaction of a pair under way, and what happens in a pair.

#[derive(Clone, Copy, Debug)]
pub(crate) enum Event {
    /// A job has thought.
    Start {
        slot: u32,
    },
    /// A delay, or a way over the link, is over.
    Next {
        who: u32,
    },
    /// A disk is done.
    Disk {
        node: u32,
        disk: u32,
        slot: u32,
    },
    /// A log write at a node is down.
    Written {
        node: u32,
    },
    /// The nodes lose each other, and find each other again.
    Suspend,
    Resume,
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
