//! An array in virtual time.
//!
//! The one idea: a read asks its module first and then its port, which the data leaves by; a write comes in by the port and
//! then asks the module. Ports and modules serve in order, so an operation is three events: it comes, it is done at the
//! first part, it is done at the second; the latency that nobody waits for stands between them.

use super::path::{Path, READ, WRITE};
use crate::kernel::Agenda;
use crate::machine::{Ended, StationReport, Stepped};
use crate::station::{Bucket, Servers, Turns};
use units::Nanos;
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
}

/// An operation under way.
#[derive(Clone, Copy, Debug, Default)]
struct Flight {
    write: bool,
    module: u32,
    bytes: f64,
    /// Bytes of the sectors that it touches, and how many times as long a module takes.
    sectors: (f64, f64),
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
}

impl Array {
    /// The first `modules` modules of an array, at rest, for at most `slots` operations at once.
    pub fn new(path: Path, modules: u32, slots: u32) -> Array {
        let room = slots as usize;
        let modules = modules.clamp(1, path.modules);
        let ports = (0..modules).map(|module| path.port_of(module)).max().unwrap_or(0) + 1;
        let (rate, credit) = path.sustained_writes;
        Array {
            path,
            agenda: Agenda::with_capacity(2 * room + 16),
            flights: vec![Flight::default(); room],
            modules: (0..modules).map(|_| Servers::new(1, room)).collect(),
            last: vec![READ; modules as usize],
            credit: (0..modules).map(|_| Bucket::new(rate, credit)).collect(),
            ports: (0..ports).map(|_| [Turns::new(1), Turns::new(1)]).collect(),
        }
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
        let turn = self.path.module_ns(direction, flight.sectors.0, flight.sectors.1) + turned;
        if let Some(end) = self.modules[module].arrive(now, slot, Nanos(libm::round(turn) as u64)) {
            self.agenda.at(end, Event::Module { slot });
        }
    }

    #[inline]
    fn ask_port(&mut self, now: Nanos, slot: u32) {
        let flight = self.flights[slot as usize];
        let port = self.path.port_of(flight.module) as usize;
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
            Event::Begin { slot } => self.ask(now, slot, true),
            Event::Second { slot } => self.ask(now, slot, false),
            Event::Module { slot } => {
                let flight = self.flights[slot as usize];
                if let Some((next, end)) = self.modules[flight.module as usize].depart(now) {
                    self.agenda.at(end, Event::Module { slot: next });
                }
                self.behind(now, slot, flight, !flight.write)
            }
            Event::Port { slot } => {
                let flight = self.flights[slot as usize];
                let port = self.path.port_of(flight.module) as usize;
                self.ports[port][usize::from(flight.write)].leave(now);
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
        self.flights[slot as usize] = Flight { write, module, bytes, sectors };
        let begins = match operation.kind {
            OperationKind::Write => self.credit[module as usize].take(at, WRITE_CREDIT),
            _ => at,
        };
        self.agenda.at(begins, Event::Begin { slot });
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
