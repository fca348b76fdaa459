//! An array in virtual time.
//!
//! The one idea: a read asks its module first and then its port, which the data leaves by; a write comes in by the port and
//! then asks the module. Ports and modules serve in order, so an operation is three events: it comes, it is done at the
//! first part, it is done at the second; the latency that nobody waits for stands between them.

use super::path::{Path, READ, WRITE};
use super::raid::Stripe;
use crate::kernel::Agenda;
use crate::machine::{Ended, StationReport, Stepped};
use crate::station::{Bucket, Servers, Turns};
use units::Nanos;
use workload::happening::{Happening, Part};
use workload::{Operation, OperationKind};

/// What a write takes of a module's credit, whatever its size: cleaning follows the places that are written, and a large write
/// fills whole blocks that need none.
const WRITE_CREDIT: f64 = 1.0;

#[derive(Clone, Copy, Debug)]
pub(crate) enum Event {
    /// A write has the credit that its module wanted, or any operation reaches its first part.
    Begin { slot: u32 },
    /// Done at the module.
    Module { slot: u32 },
    /// Done at the port.
    Port { slot: u32 },
    /// The latency after the first part has passed.
    Second { slot: u32 },
    /// The host has waited in vain for what an operation was for.
    Lost { slot: u32 },
    /// A part fails or comes back.
    Change { number: u32 },
}

/// An operation under way.
#[derive(Clone, Copy, Debug, Default)]
struct Flight {
    write: bool,
    module: u32,
    bytes: f64,
    /// Bytes of the sectors that it touches, and how many times as long a module takes.
    sectors: (f64, f64),
    /// The port that it took.
    port: u32,
}

/// A flash array whose modules sit behind ports.
#[derive(Clone, Debug)]
pub struct Array {
    path: Path,
    agenda: Agenda<Event>,
    flights: Vec<Flight>,
    modules: Vec<Servers>,
    /// Direction of the last operation of each module.
    last: Vec<usize>,
    credit: Vec<Bucket>,
    /// Ports, by direction of the data.
    ports: Vec<[Turns; 2]>,
    parts: Parts,
}

/// Parts that failed meanwhile, and what is planned for them.
#[derive(Clone, Debug)]
struct Parts {
    changes: Vec<Happening>,
    /// Whether a module is gone.
    gone: Vec<bool>,
    /// The channels of each module.
    stripes: Vec<Stripe>,
    /// Whether a port is lost.
    lost: Vec<bool>,
    /// The port over which the modules of each port are reached.
    over: Vec<u32>,
}

impl Parts {
    fn new(path: &Path, modules: u32) -> Parts {
        let ports = path.ports();
        Parts {
            changes: Vec::new(),
            gone: vec![false; modules as usize],
            stripes: vec![path.stripe; modules as usize],
            lost: (0..ports).map(|port| port < path.failed_ports).collect(),
            over: (0..ports).map(|port| path.port_of(port * path.modules_per_port)).collect(),
        }
    }

    /// A port fails or comes back: those that are left take one lost port each, in turn. Without any nothing is reached.
    fn port(&mut self, port: usize, lost: bool) {
        let Some(state) = self.lost.get_mut(port) else { return };
        *state = lost;
        let left: Vec<u32> = (0..self.lost.len() as u32).filter(|port| !self.lost[*port as usize]).collect();
        let mut turns = left.iter().cycle();
        for (port, over) in self.over.iter_mut().enumerate() {
            *over = if self.lost[port] { turns.next().copied().unwrap_or(u32::MAX) } else { port as u32 };
        }
    }

    /// How many times as long a module takes as with the channels that it began with.
    fn narrower(&self, module: usize, direction: usize, whole: Stripe) -> f64 {
        let stripe = self.stripes[module];
        if direction == READ { stripe.reading() / whole.reading() } else { stripe.writing() / whole.writing() }
    }
}

impl Array {
    /// The first `modules` modules of an array, at rest, for at most `slots` operations at once.
    pub fn new(path: Path, modules: u32, slots: u32) -> Array {
        let room = slots as usize;
        let modules = modules.clamp(1, path.modules);
        let ports = (0..modules).map(|module| path.port_of(module)).max().unwrap_or(0) + 1;
        let (rate, credit) = path.sustained_writes;
        Array {
            parts: Parts::new(&path, modules),
            path,
            agenda: Agenda::with_capacity(2 * room + 16),
            flights: vec![Flight::default(); room],
            modules: (0..modules).map(|_| Servers::new(1, room)).collect(),
            last: vec![READ; modules as usize],
            credit: (0..modules).map(|_| Bucket::new(rate, credit)).collect(),
            ports: (0..ports).map(|_| [Turns::new(1), Turns::new(1)]).collect(),
        }
    }

    /// A part fails or comes back. What is under way there ends as it would have; what comes finds things changed.
    fn change(&mut self, number: u32) {
        let Parts { changes, gone, stripes, .. } = &mut self.parts;
        match changes[number as usize] {
            // Modules and ports that take no part in a trial are missed by nobody.
            Happening::Fail(Part::Module, module) => {
                gone.iter_mut().skip(module as usize).take(1).for_each(|gone| *gone = true)
            }
            Happening::Restore(Part::Module, module) => {
                gone.iter_mut().skip(module as usize).take(1).for_each(|gone| *gone = false);
            }
            Happening::Fail(Part::Channel, module) => {
                let works = stripes.get_mut(module as usize).is_none_or(Stripe::lose);
                gone.iter_mut().skip(module as usize).take(1).for_each(|gone| *gone |= !works);
            }
            Happening::Fail(Part::Port, port) => self.parts.port(port as usize, true),
            Happening::Restore(Part::Port, port) => self.parts.port(port as usize, false),
            _ => {}
        }
        // Others may be asked from now on.
        self.ports.resize_with(self.parts.lost.len(), || [Turns::new(1), Turns::new(1)]);
    }

    /// Whether nothing leads to what a module holds.
    #[inline]
    fn cut_off(&self, module: u32) -> bool {
        self.parts.gone[module as usize] || self.port_of(module) >= self.parts.lost.len()
    }

    /// The port over which a module is reached.
    #[inline]
    fn port_of(&self, module: u32) -> usize {
        self.parts.over[(module / self.path.modules_per_port) as usize] as usize
    }

    /// Behind the first part comes the latency and then the second part; behind the second it is over.
    #[inline]
    fn behind(&mut self, now: Nanos, slot: u32, flight: Flight, first: bool) -> Option<u32> {
        if !first {
            return Some(slot);
        }
        let latency = self.path.latency_ns(usize::from(flight.write), flight.bytes, flight.sectors);
        self.agenda.at(Nanos(now.0 + libm::round(latency) as u64), Event::Second { slot });
        None
    }

    /// A write passes its port first, a read its module.
    #[inline]
    fn ask(&mut self, now: Nanos, slot: u32, first: bool) -> Option<u32> {
        if self.flights[slot as usize].write == first {
            self.ask_port(now, slot);
        } else {
            self.ask_module(now, slot);
        }
        None
    }

    #[inline]
    fn ask_module(&mut self, now: Nanos, slot: u32) {
        let flight = self.flights[slot as usize];
        let (direction, module) = (usize::from(flight.write), flight.module as usize);
        let turned = if self.last[module] == direction { 0.0 } else { self.path.turnaround_ns };
        self.last[module] = direction;
        let narrower = self.parts.narrower(module, direction, self.path.stripe);
        let turn = self.path.module_ns(direction, flight.sectors.0, narrower * flight.sectors.1) + turned;
        if let Some(end) = self.modules[module].arrive(now, slot, Nanos(libm::round(turn) as u64)) {
            self.agenda.at(end, Event::Module { slot });
        }
    }

    #[inline]
    fn ask_port(&mut self, now: Nanos, slot: u32) {
        let flight = self.flights[slot as usize];
        let port = self.port_of(flight.module);
        self.flights[slot as usize].port = port as u32;
        let turn = libm::round(self.path.port_ns(flight.bytes)) as u64;
        // Data that is read passes the port while the module still reads: the turn began so long ago, if the port was free.
        let began = now.0 - (self.path.head_start_ns(usize::from(flight.write), flight.bytes) as u64).min(now.0);
        let end = self.ports[port][usize::from(flight.write)].arrive(Nanos(began), turn);
        self.agenda.at(end, Event::Port { slot });
    }
}

impl Stepped for Array {
    type Event = Event;

    fn agenda(&mut self) -> &mut Agenda<Event> {
        &mut self.agenda
    }

    #[inline]
    fn step(&mut self, now: Nanos, event: Event, ended: &mut Vec<Ended>) {
        let over = match event {
            Event::Begin { slot } | Event::Second { slot } if self.cut_off(self.flights[slot as usize].module) => {
                let Flight { write, sectors, .. } = self.flights[slot as usize];
                let waits = self.path.single_ns(usize::from(write), sectors);
                self.agenda.at(Nanos(now.0 + libm::round(waits) as u64), Event::Lost { slot });
                None
            }
            Event::Lost { slot } => return ended.push(Ended { slot, at: now, failed: true }),
            Event::Begin { slot } => self.ask(now, slot, true),
            Event::Second { slot } => self.ask(now, slot, false),
            Event::Change { number } => {
                self.change(number);
                None
            }
            Event::Module { slot } => {
                let flight = self.flights[slot as usize];
                if let Some((next, end)) = self.modules[flight.module as usize].depart(now) {
                    self.agenda.at(end, Event::Module { slot: next });
                }
                self.behind(now, slot, flight, !flight.write)
            }
            Event::Port { slot } => {
                let flight = self.flights[slot as usize];
                self.ports[flight.port as usize][usize::from(flight.write)].leave(now);
                self.behind(now, slot, flight, flight.write)
            }
        };
        ended.extend(over.map(|slot| Ended::done(slot, now)));
    }

    fn submit(&mut self, at: Nanos, slot: u32, operation: &Operation) {
        let write = operation.kind != OperationKind::Read;
        let module = u32::from(operation.module) % self.modules.len() as u32;
        let bytes = f64::from(operation.bytes);
        let (touched, times) = self.path.sectors.touched(operation.offset, operation.bytes);
        let sectors = (touched, if write { times } else { 1.0 });
        self.flights[slot as usize] = Flight { write, module, bytes, sectors, port: 0 };
        let begins = match operation.kind {
            OperationKind::Write => self.credit[module as usize].take(at, WRITE_CREDIT),
            _ => at,
        };
        self.agenda.at(begins, Event::Begin { slot });
    }

    fn happen(&mut self, at: Nanos, what: Happening) -> bool {
        use Happening::{Fail, Restore};
        let known = matches!(what, Fail(Part::Module | Part::Channel | Part::Port, _))
            || matches!(what, Restore(Part::Module | Part::Port, _));
        if known {
            self.parts.changes.push(what);
            self.agenda.at(at, Event::Change { number: self.parts.changes.len() as u32 - 1 });
        }
        known
    }

    fn clear(&mut self, now: Nanos) {
        self.modules.iter_mut().for_each(|module| module.watch().clear(now));
        self.ports.iter_mut().flatten().for_each(|port| port.clear(now));
    }

    fn reports(&mut self, now: Nanos) -> Vec<StationReport> {
        let mut all = Vec::new();
        for (number, module) in self.modules.iter_mut().enumerate() {
            all.push(StationReport::of(format!("module {number}"), module.watch(), now));
        }
        let passed = |name: String, port: &Turns| {
            let report = StationReport::of_turns(name, port, now);
            StationReport { utilisation: report.utilisation.min(1.0), ..report }
        };
        for (number, [out, into]) in self.ports.iter().enumerate() {
            all.push(passed(format!("port {number} out"), out));
            all.push(passed(format!("port {number} in"), into));
        }
        all
    }
}

const _: () = assert!(READ == 0 && WRITE == 1, "directions are places in pairs");
