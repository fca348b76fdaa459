//! A tiered store in virtual time.
//!
//! The one idea: disks and parts of flash are servers with a queue for operations and one for the mover, which waits behind
//! operations until it has waited long enough. Times are exponential, as the closed form takes them.

use super::cache::Cache;
use super::heat::Heat;
use super::mover::{Mover, PIECE};
use super::spec::{Place, Spec};
use crate::kernel::Agenda;
use crate::machine::{Ended, StationReport, Stepped};
use crate::station::{Bucket, Priority};
use random::Draws;
use units::Nanos;
use workload::{Operation, OperationKind};

#[derive(Clone, Copy, Debug)]
pub(crate) enum Event {
    /// An operation comes.
    Begin { slot: u32 },
    /// A place is done with somebody.
    Done { place: u32, who: u32 },
    /// The mover may go on.
    Move,
    /// The mover looks at what it has counted.
    Period,
    /// Two extents change their heat.
    Drift,
}

/// An operation under way.
#[derive(Clone, Copy, Debug, Default)]
struct Flight {
    sync: bool,
    offset: u64,
    bytes: u32,
}

/// Disks and flash with data that is moved between them.
#[derive(Clone, Debug)]
pub struct Tiered {
    spec: Spec,
    agenda: Agenda<Event>,
    flights: Vec<Flight>,
    /// Disks, and behind them the parts of flash.
    places: Vec<Priority>,
    heat: Heat,
    /// What flash holds, where it is a cache.
    cache: Option<Cache>,
    mover: Mover,
    bucket: Bucket,
    /// Whether a piece is on its way, or the mover waits for its rate.
    moving: bool,
    times: Draws,
    spots: Draws,
    hits: u64,
    operations: u64,
}

/// The queue of operations, and that of the mover.
const FOREGROUND: usize = 0;
const MOVER: usize = 1;

impl Tiered {
    /// A store with its data where the description says, for at most `slots` operations at once.
    pub fn new(spec: Spec, slots: u32, seed: u64) -> Tiered {
        let room = slots.max(1) as usize;
        let place = || Priority::new(1, &[Nanos(spec.head_start_ns), Nanos(0)], room + 1);
        let places = (0..spec.disks.count + spec.flash.count).map(|_| place()).collect();
        let mut store = Tiered {
            agenda: Agenda::with_capacity(2 * room + 16),
            flights: vec![Flight::default(); room],
            places,
            heat: Heat::new(&spec, seed),
            cache: spec.cache.then(|| Cache::new(u64::from(spec.fast) * spec.extent_bytes)),
            mover: Mover::new(spec.extent_bytes),
            bucket: Bucket::new(spec.mover_bytes_per_s.max(1.0), PIECE as f64),
            moving: false,
            times: Draws::numbered(seed, 1),
            spots: Draws::numbered(seed, 2),
            hits: 0,
            operations: 0,
            spec,
        };
        if store.moves() {
            store.agenda.at(Nanos(store.period_ns()), Event::Period);
        }
        store.drift_later(Nanos(0));
        store
    }

    /// Share of the operations so far that lay on flash, since the last `clear`.
    pub fn hit_share(&self) -> f64 {
        self.hits as f64 / self.operations.max(1) as f64
    }

    /// Extents that were moved so far.
    pub fn moved(&self) -> u64 {
        self.mover.moved
    }

    /// How many extents lie on flash.
    pub fn on_flash(&self) -> u32 {
        self.heat.fast.iter().filter(|fast| **fast).count() as u32
    }

    /// Whether there is anything that could be moved, and somebody to do it.
    fn moves(&self) -> bool {
        !self.spec.cache
            && self.spec.mover_bytes_per_s > 0.0
            && self.spec.fast > 0
            && self.spec.fast < self.spec.extents
    }

    fn period_ns(&self) -> u64 {
        libm::round(1e9 * self.spec.period_s).max(1.0) as u64
    }

    fn drift_later(&mut self, now: Nanos) {
        // Each change is of two extents.
        let each_s = 2.0 / self.spec.drifting_per_s().max(1e-300);
        if each_s < 1e9 {
            self.agenda.at(Nanos(now.0 + libm::round(1e9 * each_s).max(1.0) as u64), Event::Drift);
        }
    }

    /// An operation goes to the extent that its heat says, and to a place of its tier.
    fn begin(&mut self, now: Nanos, slot: u32, ended: &mut Vec<Ended>) {
        let flight = self.flights[slot as usize];
        if flight.sync {
            return ended.push(Ended::done(slot, now));
        }
        let extent = match self.spec.skew > 0.0 {
            true => self.heat.draw(),
            false => (flight.offset / self.spec.extent_bytes.max(1) % u64::from(self.spec.extents)) as u32,
        };
        let fast = match &mut self.cache {
            Some(cache) => {
                let within = flight.offset % self.spec.extent_bytes.max(1) / u64::from(flight.bytes.max(1));
                cache.asked(u64::from(extent) << 32 | within, u64::from(flight.bytes))
            }
            None => self.heat.count(extent),
        };
        self.operations += 1;
        self.hits += u64::from(fast);
        self.ask(now, fast, FOREGROUND, slot, f64::from(flight.bytes));
    }

    /// Somebody asks for a place of a tier; extents are spread over all of them.
    fn ask(&mut self, now: Nanos, fast: bool, class: usize, who: u32, bytes: f64) {
        let (tier, first): (Place, u32) =
            if fast { (self.spec.flash, self.spec.disks.count) } else { (self.spec.disks, 0) };
        let place = first + self.spots.below(u64::from(tier.count)) as u32;
        let service = Nanos(libm::round(tier.mean_ns(bytes) * self.times.exponential()).max(1.0) as u64);
        if let Some(end) = self.places[place as usize].arrive(now, class, who, service) {
            self.agenda.at(end, Event::Done { place, who });
        }
    }

    fn done(&mut self, now: Nanos, place: u32, who: u32, ended: &mut Vec<Ended>) {
        if let Some((next, end)) = self.places[place as usize].depart(now) {
            self.agenda.at(end, Event::Done { place, who: next });
        }
        if (who as usize) < self.flights.len() {
            return ended.push(Ended::done(who, now));
        }
        self.moving = false;
        if self.mover.done(&mut self.heat) {
            // What was moved is paid for before the next piece begins.
            let at = self.bucket.take(now, PIECE as f64);
            if at > now {
                self.moving = true;
                return self.agenda.at(at, Event::Move);
            }
        }
        self.go_on(now);
    }

    /// The next piece, when the mover is free and has something to do.
    fn go_on(&mut self, now: Nanos) {
        if self.moving {
            return;
        }
        if let Some(next) = self.mover.begin() {
            self.moving = true;
            let mover = self.flights.len() as u32;
            self.ask(now, next.on_flash(), MOVER, mover, PIECE as f64);
        }
    }
}

impl Stepped for Tiered {
    type Event = Event;

    fn agenda(&mut self) -> &mut Agenda<Event> {
        &mut self.agenda
    }

    fn step(&mut self, now: Nanos, event: Event, ended: &mut Vec<Ended>) {
        match event {
            Event::Begin { slot } => self.begin(now, slot, ended),
            Event::Done { place, who } => self.done(now, place, who, ended),
            Event::Move => {
                self.moving = false;
                self.go_on(now);
            }
            Event::Period => {
                self.mover.look(&self.heat);
                self.heat.fade(1.0 - 1.0 / self.spec.memory.max(1.0));
                self.agenda.at(Nanos(now.0 + self.period_ns()), Event::Period);
                self.go_on(now);
            }
            Event::Drift => {
                self.heat.drift();
                self.drift_later(now);
            }
        }
    }

    fn submit(&mut self, at: Nanos, slot: u32, operation: &Operation) {
        let sync = operation.kind == OperationKind::Sync;
        self.flights[slot as usize] = Flight { sync, offset: operation.offset, bytes: operation.bytes };
        self.agenda.at(at, Event::Begin { slot });
    }

    fn clear(&mut self, now: Nanos) {
        (self.hits, self.operations) = (0, 0);
        self.places.iter_mut().for_each(|place| place.watch.clear(now));
    }

    fn reports(&mut self, now: Nanos) -> Vec<StationReport> {
        let (disks, ways) = (self.spec.disks.count as usize, self.spec.ways.max(1) as usize);
        let name = |at: usize| match at.checked_sub(disks) {
            None => format!("disk {at}"),
            Some(part) => format!("flash {} way {}", part / ways, part % ways),
        };
        let places = self.places.iter_mut().enumerate();
        places.map(|(at, place)| StationReport::of(name(at), &place.watch, now)).collect()
    }
}
