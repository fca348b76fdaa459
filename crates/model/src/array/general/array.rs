//! The array as a machine: its parts, and how time passes in it.

use super::cache::WriteCache;
use super::changes::{Change, State};
use super::paths::Paths;
use super::spec::{Spec, SpecError};
use crate::array::raid::{Piece, Raid, Stripe};
use crate::kernel::Agenda;
use crate::machine::{Ended, StationReport, Stepped};
use crate::station::{Bucket, Link, Priority, Shares, Turns};
use random::Draws;
use units::Nanos;
use workload::happening::Happening;
use workload::{Operation, OperationKind};

/// A module with its own chance.
#[derive(Clone, Debug)]
pub(super) struct Module {
    pub(super) station: Priority,
    pub(super) stripe: Stripe,
    pub(super) random: Draws,
}

/// A controller.
#[derive(Clone, Debug)]
pub(super) struct Controller {
    pub(super) up: bool,
    pub(super) station: Shares,
    pub(super) mirror: Link,
    pub(super) hits: Draws,
}

/// A general array.
#[derive(Clone, Debug)]
pub struct General {
    pub(super) spec: Spec,
    pub(super) raid: Raid,
    pub(super) agenda: Agenda<Event>,
    pub(super) flights: Vec<Flight>,
    pub(super) spare_slots: Vec<u32>,
    pub(super) host: Turns,
    pub(super) processors: Turns,
    pub(super) paths: Paths,
    pub(super) controllers: Vec<Controller>,
    pub(super) cache: WriteCache,
    pub(super) modules: Vec<Module>,
    /// Lost members of each group, as bits.
    pub(super) lost: Vec<u64>,
    pub(super) state: State,
    pub(super) pace: Bucket,
    pub(super) pieces: Vec<Piece>,
    /// The operation that ended in the event of now, and whether it failed.
    pub(super) ended: Option<(u32, bool)>,
    pub(super) front: Turnover,
}

/// What went in and came out, for Little's law.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Turnover {
    watch: Area,
    done: u64,
    response_ns: u64,
}

/// Operations over time.
#[derive(Clone, Copy, Debug, Default)]
struct Area {
    since: u64,
    sum: u64,
    here: u64,
}

/// Streams of random numbers: modules from 0, controllers from here.
const CONTROLLER_STREAMS: u64 = 1 << 32;

impl General {
    /// An array at rest, for at most `slots` operations at once.
    ///
    /// # Errors
    /// When the description makes no sense.
    pub fn new(spec: Spec, slots: u32, seed: u64) -> Result<General, SpecError> {
        let raid = spec.check()?;
        let own = spec.cache.destages + spec.rebuild.rows;
        let room = (slots + own) as usize;
        let starts = [2, 1, 0].map(|rank| Nanos(rank * spec.modules.head_start_ns));
        let module = |number: u32| Module {
            station: Priority::new(spec.modules.overlap, &starts, room),
            stripe: Stripe::new(spec.modules.channels),
            random: Draws::numbered(seed, u64::from(number)),
        };
        let controller = |number: u32| Controller {
            up: true,
            station: Shares::new(spec.controller.0, &spec.shares, slots as usize),
            mirror: Link::new(spec.cache.mirror_bytes_per_s, 0.0),
            hits: Draws::numbered(seed, CONTROLLER_STREAMS + u64::from(number)),
        };
        let rate = spec.rebuild.bytes_per_s;
        Ok(General {
            agenda: Agenda::with_capacity(64 * room + 64),
            flights: vec![Flight::default(); room],
            spare_slots: (slots..slots + own).rev().collect(),
            host: Turns::new(spec.host.0),
            processors: Turns::new(spec.processors.0),
            paths: Paths::new(spec.paths, spec.controllers, spec.policy, spec.link_bytes_per_s, spec.link_km),
            controllers: (0..spec.controllers).map(controller).collect(),
            cache: WriteCache::new(&spec.cache, slots as usize),
            modules: (0..spec.groups * spec.members).map(module).collect(),
            lost: vec![0; spec.groups as usize],
            state: State::new(slots as usize),
            pace: Bucket::new(rate, f64::from(spec.unit_bytes)),
            pieces: Vec::with_capacity(1_024),
            ended: None,
            front: Turnover::default(),
            raid,
            spec,
        })
    }

    /// Something that will change at a time.
    pub fn plan(&mut self, at: Nanos, change: Change) {
        let number = self.state.add(change);
        self.agenda.at(at, Event::Change { number });
    }

    /// What Little's law leaves over in the watched time: mean number under way, rate times mean response, both exact for
    /// what ended in it.
    pub fn little(&self) -> (f64, f64) {
        let now = self.agenda.now().0;
        let passed = (now - self.front.watch.since).max(1) as f64;
        let there = self.front.watch.sum.wrapping_add(now.wrapping_mul(self.front.watch.here)) as f64;
        (there / passed, self.front.response_ns as f64 / passed)
    }

    /// Gives a slot back to whoever submitted it.
    #[inline]
    pub(super) fn finish(&mut self, now: Nanos, slot: u32, failed: bool) {
        self.ended = Some((slot, failed));
        self.front.watch.sum = self.front.watch.sum.wrapping_add(now.0);
        self.front.watch.here -= 1;
        self.front.done += 1;
        self.front.response_ns += now.0 - self.flights[slot as usize].since.0;
    }
}

impl Stepped for General {
    type Event = Event;

    fn agenda(&mut self) -> &mut Agenda<Event> {
        &mut self.agenda
    }

    #[inline]
    fn step(&mut self, now: Nanos, event: Event, ended: &mut Vec<Ended>) {
        match event {
            Event::Host { slot } => self.host_done(now, slot),
            Event::Processor { slot } => self.processor_done(now, slot),
            Event::Channel { slot } => self.channel_done(now, slot),
            Event::Port { slot } => self.port_done(now, slot),
            Event::Arrived { slot } => self.arrived(now, slot),
            Event::Controller { slot } => self.controller_done(now, slot),
            Event::Mirrored { slot } => self.answer(now, slot),
            Event::Module { module, slot } => self.module_done(now, module, slot),
            Event::Back { slot } => self.back(now, slot),
            Event::Refused { slot } => self.finish(now, slot, true),
            Event::Rebuild => self.rebuild(now),
            Event::Change { number } => self.change(now, number),
        }
        if let Some((slot, failed)) = self.ended.take() {
            ended.push(Ended { slot, at: now, failed });
        }
    }

    fn submit(&mut self, at: Nanos, slot: u32, operation: &Operation) {
        let work = match operation.kind {
            OperationKind::Read => Work::Read,
            OperationKind::Write => Work::Write,
            // No machine takes trims: a plan refuses the key.
            OperationKind::Sync | OperationKind::Trim => Work::Sync,
        };
        let classes = self.spec.shares.len().min(256) - 1;
        self.flights[slot as usize] = Flight {
            address: operation.offset,
            since: at,
            bytes: operation.bytes,
            group: (u32::from(operation.module) % self.spec.groups) as u16,
            class: usize::from(operation.class).min(classes) as u8,
            work,
            ..Flight::default()
        };
        self.front.watch.sum = self.front.watch.sum.wrapping_sub(at.0);
        self.front.watch.here += 1;
        let end = self.host.arrive(at, self.spec.host.1);
        self.agenda.at(end, Event::Host { slot });
    }

    fn happen(&mut self, at: Nanos, what: Happening) -> bool {
        self.plan_happening(at, what)
    }

    fn clear(&mut self, now: Nanos) {
        self.host.clear(now);
        self.processors.clear(now);
        self.paths.clear(now);
        for controller in &mut self.controllers {
            controller.station.watch.clear(now);
            controller.mirror.watch.clear(now);
        }
        self.modules.iter_mut().for_each(|module| module.station.watch.clear(now));
        let here = self.front.watch.here;
        let sum = now.0.wrapping_mul(here).wrapping_neg();
        self.front = Turnover { watch: Area { since: now.0, sum, here }, ..Turnover::default() };
    }

    fn reports(&mut self, now: Nanos) -> Vec<StationReport> {
        let mut all = vec![
            StationReport::of_turns("host", &self.host, now),
            StationReport::of_turns("processors", &self.processors, now),
        ];
        for (number, path) in self.paths.all.iter_mut().enumerate() {
            all.push(StationReport::of_turns(format!("channel {number}"), &path.channel, now));
            all.push(StationReport::of_turns(format!("port {number}"), &path.port, now));
            all.push(StationReport::of(format!("link {number} there"), &path.there.watch, now));
            all.push(StationReport::of(format!("link {number} back"), &path.back.watch, now));
        }
        for (number, controller) in self.controllers.iter_mut().enumerate() {
            all.push(StationReport::of(format!("controller {number}"), &controller.station.watch, now));
            all.push(StationReport::of(format!("mirror {number}"), &controller.mirror.watch, now));
        }
        for (number, module) in self.modules.iter_mut().enumerate() {
            all.push(StationReport::of(format!("module {number}"), &module.station.watch, now));
        }
        all
    }
}

// Operations under way, and what happens to them.

/// What is still to happen. Small, for the agenda moves it about.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Event {
    /// The host's processor is done.
    Host { slot: u32 },
    /// The I/O processor is done.
    Processor { slot: u32 },
    /// The channel is done.
    Channel { slot: u32 },
    /// The port is done.
    Port { slot: u32 },
    /// It reached its controller.
    Arrived { slot: u32 },
    /// The controller is done.
    Controller { slot: u32 },
    /// Both controllers hold the write.
    Mirrored { slot: u32 },
    /// A module is done with one of a slot's parts.
    Module { module: u16, slot: u32 },
    /// The answer is back at the host.
    Back { slot: u32 },
    /// No path was left for it.
    Refused { slot: u32 },
    /// The rebuild may take its next row.
    Rebuild,
    /// Something that was planned changes.
    Change { number: u32 },
}

/// What a slot is used for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Work {
    #[default]
    Read,
    Write,
    Sync,
    Destage,
    Rebuild,
}

/// An operation under way.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Flight {
    pub(super) address: u64,
    /// When it was submitted.
    pub(super) since: Nanos,
    pub(super) bytes: u32,
    /// Parts at modules that are not done.
    pub(super) pending: u32,
    pub(super) path: u16,
    /// The losses of its path when it took it: another number says that its answer never comes.
    pub(super) losses: u16,
    pub(super) group: u16,
    pub(super) class: u8,
    pub(super) work: Work,
    /// Whether the reads of a write are done.
    pub(super) writing: bool,
    pub(super) failed: bool,
    /// Whether it is behind the host: it took a path and its answer is not back.
    pub(super) inside: bool,
    /// Whether the write cache holds it. It is promised once, however often its answer is lost.
    pub(super) held: bool,
}

impl Flight {
    /// Bytes that travel to the array, and back.
    pub(super) fn travels(&self) -> (u64, u64) {
        const COMMAND: u64 = 64;
        match self.work {
            Work::Read => (COMMAND, u64::from(self.bytes)),
            Work::Write => (u64::from(self.bytes), COMMAND),
            _ => (COMMAND, COMMAND),
        }
    }

    /// The class at the modules: foreground, destage, rebuild.
    pub(super) fn rank(&self) -> usize {
        match self.work {
            Work::Destage => 1,
            Work::Rebuild => 2,
            _ => 0,
        }
    }
}
