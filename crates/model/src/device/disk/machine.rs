//! A disk in virtual time.
//!
//! The one idea: one operation at a time; the next is chosen when the last is done, by where arm and platter then are. Behind
//! a read the platter goes on into the disk's memory, up to a cylinder, so that the next in order loses no turn; a write in
//! order loses none when it was there before the last one ended. Whoever was passed by too often goes first, however far it
//! is: a stream in order would otherwise keep it waiting for as long as it lasts.

use super::shape::{Order, Place, Refused, Shape};
use crate::asked::Values;
use crate::kernel::Agenda;
use crate::machine::{Ended, StationReport, Stepped};
use crate::station::Watch;
use units::Nanos;
use workload::{Operation, OperationKind};

#[derive(Clone, Copy, Debug)]
pub(crate) enum Event {
    Begin { slot: u32 },
    Done { disk: u32, slot: u32 },
}

#[derive(Clone, Copy, Debug, Default)]
struct Flight {
    disk: u32,
    sync: bool,
    write: bool,
    came: u64,
    /// How many were served before it while it waited.
    passed: u32,
    offset: u64,
    bytes: u64,
    place: Place,
}

/// A request goes first that was passed by this many times as many others as wait. Of random requests one in four hundred is: each
/// service takes one of those that wait, so that the share which is passed by `k` times as many falls as `e^-k`.
const PASSED: u32 = 6;

/// Where and when the last operation left the platter.
#[derive(Clone, Copy, Debug)]
struct Trail {
    /// The byte behind the last.
    offset: u64,
    /// When the last passed the head, nanoseconds.
    at: f64,
    write: bool,
}

/// One disk with those that wait for it, in the order in which they came.
#[derive(Clone, Debug)]
struct Spindle {
    waiting: Vec<u32>,
    arm: u32,
    busy: bool,
    trail: Option<Trail>,
    watch: Watch,
}

/// Disks, all alike.
#[derive(Clone, Debug)]
pub struct Disk {
    shape: Shape,
    agenda: Agenda<Event>,
    flights: Vec<Flight>,
    disks: Vec<Spindle>,
}

impl Disk {
    /// So many disks for at most `slots` operations at once.
    ///
    /// # Errors
    /// When a disk of this shape cannot be.
    pub fn new(shape: Shape, disks: u32, slots: u32) -> Result<Disk, Refused> {
        shape.check()?;
        let room = slots as usize;
        let spindle =
            Spindle { waiting: Vec::with_capacity(room), arm: 0, busy: false, trail: None, watch: Watch::default() };
        Ok(Disk {
            shape,
            agenda: Agenda::with_capacity(room + disks as usize + 16),
            flights: vec![Flight::default(); room],
            disks: vec![spindle; disks.max(1) as usize],
        })
    }

    /// So many disks as described by a `disk`.
    ///
    /// # Errors
    /// When such a disk cannot be.
    pub fn of(values: &Values, order: Order, disks: u32, slots: u32) -> Result<Disk, Refused> {
        Disk::new(Shape::of(values, order), disks, slots)
    }

    fn begin(&mut self, now: Nanos, disk: u32) {
        if !self.disks[disk as usize].busy
            && let Some(at) = self.chosen(now, disk)
        {
            let slot = self.disks[disk as usize].waiting.remove(at);
            for left in &self.disks[disk as usize].waiting {
                self.flights[*left as usize].passed += 1;
            }
            let end = self.serve(now, disk, slot);
            self.disks[disk as usize].busy = true;
            self.agenda.at(end, Event::Done { disk, slot });
        }
        let spindle = &mut self.disks[disk as usize];
        let here = spindle.waiting.len() as u32 + u32::from(spindle.busy);
        spindle.watch.turn(now, here, f64::from(u8::from(spindle.busy)));
    }

    /// The place in the queue of the one that is served next; of equals the one that came first. The first was passed by most.
    fn chosen(&self, now: Nanos, disk: u32) -> Option<usize> {
        let (shape, spindle) = (&self.shape, &self.disks[disk as usize]);
        let oldest = &self.flights[*spindle.waiting.first()? as usize];
        if shape.order == Order::Fifo || oldest.passed >= PASSED * spindle.waiting.len() as u32 {
            return Some(0);
        }
        let from = (now.0 + shape.command_ns) as f64;
        let reached = |slot: &u32| {
            let flight = &self.flights[*slot as usize];
            if follows(shape, spindle.trail, flight, now).is_some() {
                return -1.0;
            }
            shape.reach_ns(from, spindle.arm, &flight.place)
        };
        let times = spindle.waiting.iter().map(reached).enumerate();
        times.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(at, _)| at)
    }

    /// When an operation that begins now is done; the arm stands where it ends.
    fn serve(&mut self, now: Nanos, disk: u32, slot: u32) -> Nanos {
        let (shape, flight) = (&self.shape, self.flights[slot as usize]);
        let commanded = (now.0 + shape.command_ns) as f64;
        if flight.sync {
            return Nanos(commanded as u64);
        }
        let mut at = follows(shape, self.disks[disk as usize].trail, &flight, now).unwrap_or(commanded);
        let (mut arm, mut place, mut offset) = (self.disks[disk as usize].arm, flight.place, flight.offset);
        let mut bytes = flight.bytes.max(1) as f64;
        loop {
            at += shape.reach_ns(at, arm, &place);
            arm = place.cylinder;
            let here = bytes.min(place.left);
            at += here * place.byte_ns;
            bytes -= here;
            if bytes <= 0.0 {
                break;
            }
            // A change of the head takes as long as the shortest move; a move of the arm pays for itself.
            at += if place.last_head { 0.0 } else { shape.switch_ns() };
            offset += here as u64;
            place = shape.place(offset);
        }
        let spindle = &mut self.disks[disk as usize];
        spindle.arm = arm;
        let offset = flight.offset + flight.bytes.max(1);
        spindle.trail = Some(Trail { offset, at, write: flight.write });
        Nanos(libm::round(at.max(commanded)) as u64)
    }
}

/// From when on the platter passes the head for an operation that goes on where the last one ended; none when it does not.
/// What was read ahead came up to a cylinder earlier than it was asked for.
fn follows(shape: &Shape, trail: Option<Trail>, flight: &Flight, now: Nanos) -> Option<f64> {
    let trail = trail.filter(|trail| trail.offset == flight.offset && trail.write == flight.write)?;
    if flight.write {
        return (((flight.came + shape.command_ns) as f64) <= trail.at).then_some(trail.at);
    }
    let cylinder_ns = f64::from(shape.heads) * (shape.turn_ns as f64 + shape.switch_ns());
    Some(trail.at.max(now.0 as f64 - cylinder_ns))
}

impl Stepped for Disk {
    type Event = Event;

    fn agenda(&mut self) -> &mut Agenda<Event> {
        &mut self.agenda
    }

    fn step(&mut self, now: Nanos, event: Event, ended: &mut Vec<Ended>) {
        match event {
            Event::Begin { slot } => {
                let disk = self.flights[slot as usize].disk;
                self.disks[disk as usize].waiting.push(slot);
                self.begin(now, disk);
            }
            Event::Done { disk, slot } => {
                self.disks[disk as usize].busy = false;
                self.disks[disk as usize].watch.done();
                self.begin(now, disk);
                ended.push(Ended::done(slot, now));
            }
        }
    }

    fn submit(&mut self, at: Nanos, slot: u32, operation: &Operation) {
        self.flights[slot as usize] = Flight {
            disk: u32::from(operation.module) % self.disks.len() as u32,
            sync: operation.kind == OperationKind::Sync,
            write: operation.kind == OperationKind::Write,
            came: at.0,
            passed: 0,
            offset: operation.offset,
            bytes: u64::from(operation.bytes),
            place: self.shape.place(operation.offset),
        };
        self.agenda.at(at, Event::Begin { slot });
    }

    fn clear(&mut self, now: Nanos) {
        self.disks.iter_mut().for_each(|disk| disk.watch.clear(now));
    }

    fn reports(&mut self, now: Nanos) -> Vec<StationReport> {
        let disks = self.disks.iter().enumerate();
        disks.map(|(number, disk)| StationReport::of(format!("disk {number}"), &disk.watch, now)).collect()
    }
}
