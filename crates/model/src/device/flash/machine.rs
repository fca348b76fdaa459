//! Flash devices in virtual time.
//!
//! The one idea: an operation passes the controller and the link, and is then one task for each of its pages on the dies
//! that hold them. A write that finds room in the buffer ends there; its pages follow.

use super::die::{Begun, Die, Task};
use super::shape::{Pace, Refused, Shape, Start};
use super::translation::Translation;
use crate::device::Lane;
use crate::kernel::Agenda;
use crate::machine::{Ended, StationReport, Stepped};
use crate::station::Watch;
use random::Draws;
use std::collections::VecDeque;
use units::Nanos;
use workload::{Operation, OperationKind};

#[derive(Clone, Copy, Debug)]
pub(crate) enum Event {
    /// An operation reaches the controller.
    Begin { slot: u32 },
    /// It has passed controller and link.
    Arrive { slot: u32 },
    /// A die has pages in its registers that are to leave by the channel.
    Sensed { die: u32 },
    /// A die is free again.
    Done { die: u32 },
    /// An operation is over.
    End { slot: u32 },
}

/// An operation under way.
#[derive(Clone, Copy, Debug, Default)]
struct Flight {
    write: bool,
    sync: bool,
    device: u32,
    offset: u64,
    bytes: u32,
    /// Pages that are not done.
    left: u32,
}

/// One device.
#[derive(Clone, Debug)]
struct Device {
    maps: Translation,
    dies: Vec<Die>,
    channels: Vec<Lane>,
    controller: Lane,
    /// The link, by direction of the data: out, in.
    link: [Lane; 2],
    /// Pages of the write buffer that are free.
    room: u32,
    /// Writes that wait for the buffer.
    waiting: VecDeque<u32>,
    /// Operations inside.
    watch: Watch,
    inside: u32,
}

/// Regions of equal size that keep their share of the addresses when a device is simulated with fewer blocks.
pub(super) const REGIONS: u64 = 64;

/// Flash devices, all alike.
#[derive(Clone, Debug)]
pub struct Flash {
    shape: Shape,
    pace: Pace,
    agenda: Agenda<Event>,
    flights: Vec<Flight>,
    devices: Vec<Device>,
}

impl Flash {
    /// So many devices in the state that they begin in, for at most `slots` operations at once.
    ///
    /// # Errors
    /// When a device of this shape cannot be.
    pub fn new(shape: Shape, pace: Pace, start: Start, devices: u32, slots: u32, seed: u64) -> Result<Flash, Refused> {
        shape.check()?;
        let (Start::Rested(share) | Start::Worn(share)) = start;
        if !(0.0..=1.0).contains(&share) {
            return Err(Refused::Filled((100.0 * share) as i64));
        }
        let room = slots as usize;
        let device = |number: u32| Device {
            maps: Translation::new(shape, start, Draws::numbered(seed, u64::from(number))),
            dies: (0..shape.all_dies()).map(|die| Die::new(die, &shape, 64)).collect(),
            channels: vec![Lane::default(); shape.channels as usize],
            controller: Lane::default(),
            link: [Lane::default(); 2],
            room: shape.buffer_pages,
            waiting: VecDeque::with_capacity(room),
            watch: Watch::default(),
            inside: 0,
        };
        let devices: Vec<Device> = (0..devices.max(1)).map(device).collect();
        let dies = devices.len() * shape.all_dies() as usize;
        Ok(Flash {
            shape,
            pace,
            agenda: Agenda::with_capacity(2 * room + dies + 16),
            flights: vec![Flight::default(); room],
            devices,
        })
    }

    /// Pages that hosts wrote, and pages that cleaning copied, since the beginning.
    pub fn written(&self) -> (u64, u64) {
        self.devices.iter().fold((0, 0), |sum, device| (sum.0 + device.maps.written, sum.1 + device.maps.copied))
    }

    /// Erase counts of the least and of the most worn block.
    pub fn wear_span(&self) -> (u32, u32) {
        let spans = self.devices.iter().map(|device| device.maps.wear_span());
        spans.fold((u32::MAX, 0), |a, b| (a.0.min(b.0), a.1.max(b.1)))
    }

    /// Bytes of state of the maps and blocks of all devices.
    pub fn state_bytes(&self) -> u64 {
        self.shape.state_bytes() * self.devices.len() as u64
    }

    fn controller(&mut self, now: Nanos, slot: u32) {
        let (flight, pace) = (self.flights[slot as usize], self.pace);
        let pages = self.pages(&flight);
        let device = &mut self.devices[flight.device as usize];
        device.inside += 1;
        device.watch.turn(now, device.inside, 1.0);
        let mut at = device.controller.take(now, pace.command_ns);
        if flight.write {
            at = device.link[1].take(at, pace.link_ns * u64::from(pages));
        }
        self.agenda.at(Nanos(at.0 + pace.latency_ns), Event::Arrive { slot });
    }

    fn arrive(&mut self, now: Nanos, slot: u32) {
        let flight = self.flights[slot as usize];
        if flight.sync {
            self.agenda.at(now, Event::End { slot });
        } else if flight.write && self.shape.buffer_pages > 0 {
            self.devices[flight.device as usize].waiting.push_back(slot);
            self.admit(now, flight.device);
        } else {
            self.scatter(now, slot);
        }
    }

    /// Lets writes into the buffer, in order, as long as there is room. One that is larger than the buffer takes all of it.
    fn admit(&mut self, now: Nanos, device: u32) {
        while let Some(slot) = self.devices[device as usize].waiting.front().copied() {
            let pages = self.pages(&self.flights[slot as usize]);
            let inside = &mut self.devices[device as usize];
            if inside.room < pages && inside.room < self.shape.buffer_pages {
                break;
            }
            inside.room = inside.room.saturating_sub(pages);
            inside.waiting.pop_front();
            self.scatter(now, slot);
            self.agenda.at(now, Event::End { slot });
        }
    }

    /// Hands the pages of an operation to their dies.
    fn scatter(&mut self, now: Nanos, slot: u32) {
        let flight = self.flights[slot as usize];
        let size = u64::from(self.shape.page_bytes);
        let end = flight.offset + u64::from(flight.bytes.max(1));
        let (first, last) = (flight.offset / size, (end - 1) / size);
        self.flights[slot as usize].left = (last - first + 1) as u32;
        for number in first..=last {
            let page = self.fold(number);
            let part = flight.write && (number * size < flight.offset || (number + 1) * size > end);
            let device = &mut self.devices[flight.device as usize];
            if !flight.write && !device.maps.holds(page) {
                self.read_one(now, slot);
                continue;
            }
            let unit = device.maps.plane_of(page);
            let die = unit / self.shape.planes;
            device.dies[die as usize].waiting.push_back(Task { write: flight.write, part, page, slot });
            self.begin(now, flight.device * self.shape.all_dies() + die);
        }
    }

    /// The page of the simulated device that stands for a page of the real one: each of equal regions of the addresses is
    /// folded onto its own share, so a hot region stays as large a part as it is.
    #[inline]
    fn fold(&self, page: u64) -> u32 {
        let all = (self.shape.capacity_bytes / u64::from(self.shape.page_bytes)).max(1);
        let logical = u64::from(self.shape.logical());
        let page = page % all;
        if all <= logical || logical < REGIONS {
            return (page % logical) as u32;
        }
        let (large, small) = (all.div_ceil(REGIONS), logical / REGIONS);
        ((page / large) * small + (page % large) % small) as u32
    }

    fn pages(&self, flight: &Flight) -> u32 {
        let size = u64::from(self.shape.page_bytes);
        ((flight.offset + u64::from(flight.bytes.max(1))).div_ceil(size) - flight.offset / size) as u32
    }

    /// A free die begins what comes next.
    fn begin(&mut self, now: Nanos, number: u32) {
        let (count, pace) = (self.shape.all_dies(), self.pace);
        let device = &mut self.devices[(number / count) as usize];
        let die = &mut device.dies[(number % count) as usize];
        if !die.busy {
            let channel = &mut device.channels[(number % count % self.shape.channels) as usize];
            let begun = die.begin(&mut device.maps, &self.shape);
            die.busy = begun != Begun::Nothing;
            let next = match begun {
                Begun::Nothing => None,
                Begun::Reads(_) => Some((now.0 + pace.read_ns, Event::Sensed { die: number })),
                Begun::Writes(pages, part) => {
                    let there = channel.take(now, pace.transfer_ns * u64::from(pages));
                    let read = if part { pace.read_ns } else { 0 };
                    Some((there.0 + read + pace.program_ns, Event::Done { die: number }))
                }
                Begun::Cleaning(copies, erased) => {
                    let erase = if erased { pace.erase_ns } else { 0 };
                    let copy = (pace.read_ns + pace.program_ns) * u64::from(copies);
                    Some((now.0 + copy + erase, Event::Done { die: number }))
                }
            };
            if let Some((at, event)) = next {
                self.agenda.at(Nanos(at), event);
            }
        }
        die.note(now);
    }

    fn sensed(&mut self, now: Nanos, number: u32) {
        let count = self.shape.all_dies();
        let device = &mut self.devices[(number / count) as usize];
        let pages = device.dies[(number % count) as usize].doing.len() as u64;
        let channel = &mut device.channels[(number % count % self.shape.channels) as usize];
        let out = channel.take(now, self.pace.transfer_ns * pages);
        self.agenda.at(out, Event::Done { die: number });
    }

    fn done(&mut self, now: Nanos, number: u32) {
        let count = self.shape.all_dies();
        let (device, die) = (number / count, number % count);
        let mut freed = 0;
        while let Some(task) = self.devices[device as usize].dies[die as usize].doing.pop() {
            self.devices[device as usize].dies[die as usize].watch.done();
            if !task.write {
                self.read_one(now, task.slot);
            } else if self.shape.buffer_pages > 0 {
                freed += 1;
            } else if self.one_less(task.slot) {
                self.agenda.at(now, Event::End { slot: task.slot });
            }
        }
        let inside = &mut self.devices[device as usize];
        inside.room = (inside.room + freed).min(self.shape.buffer_pages);
        inside.dies[die as usize].busy = false;
        self.begin(now, number);
        if freed > 0 {
            self.admit(now, device);
        }
    }

    /// A page was read; behind the last of an operation its data leaves by the link.
    fn read_one(&mut self, now: Nanos, slot: u32) {
        if self.one_less(slot) {
            let flight = self.flights[slot as usize];
            let pages = u64::from(self.pages(&flight));
            let out = self.devices[flight.device as usize].link[0].take(now, self.pace.link_ns * pages);
            self.agenda.at(out, Event::End { slot });
        }
    }

    #[inline]
    fn one_less(&mut self, slot: u32) -> bool {
        let flight = &mut self.flights[slot as usize];
        flight.left -= 1;
        flight.left == 0
    }
}

impl Stepped for Flash {
    type Event = Event;

    fn agenda(&mut self) -> &mut Agenda<Event> {
        &mut self.agenda
    }

    #[inline]
    fn step(&mut self, now: Nanos, event: Event, ended: &mut Vec<Ended>) {
        match event {
            Event::Begin { slot } => self.controller(now, slot),
            Event::Arrive { slot } => self.arrive(now, slot),
            Event::Sensed { die } => self.sensed(now, die),
            Event::Done { die } => self.done(now, die),
            Event::End { slot } => {
                let device = &mut self.devices[self.flights[slot as usize].device as usize];
                device.inside -= 1;
                device.watch.turn(now, device.inside, f64::from(u8::from(device.inside > 0)));
                device.watch.done();
                ended.push(Ended::done(slot, now));
            }
        }
    }

    fn submit(&mut self, at: Nanos, slot: u32, operation: &Operation) {
        self.flights[slot as usize] = Flight {
            write: operation.kind == OperationKind::Write,
            sync: matches!(operation.kind, OperationKind::Sync | OperationKind::Transaction),
            device: u32::from(operation.module) % self.devices.len() as u32,
            offset: operation.offset,
            bytes: operation.bytes,
            left: 0,
        };
        self.agenda.at(at, Event::Begin { slot });
    }

    fn clear(&mut self, now: Nanos) {
        for device in &mut self.devices {
            device.watch.clear(now);
            device.dies.iter_mut().for_each(|die| die.watch.clear(now));
            let lanes = device.channels.iter_mut().chain(&mut device.link);
            lanes.chain([&mut device.controller]).for_each(|lane| lane.clear(now));
        }
    }

    fn reports(&mut self, now: Nanos) -> Vec<StationReport> {
        let mut all = Vec::new();
        for (number, device) in self.devices.iter().enumerate() {
            all.push(StationReport::of(format!("device {number}"), &device.watch, now));
            all.push(device.controller.report(format!("device {number} controller"), now));
            all.push(device.link[0].report(format!("device {number} link out"), now));
            all.push(device.link[1].report(format!("device {number} link in"), now));
            for (at, channel) in device.channels.iter().enumerate() {
                all.push(channel.report(format!("device {number} channel {at}"), now));
            }
            for (at, die) in device.dies.iter().enumerate() {
                all.push(StationReport::of(format!("device {number} die {at}"), &die.watch, now));
            }
        }
        all
    }
}
