//! Behind the controllers: what RAID makes of an operation, at the modules; destaging and rebuilding.

use super::array::General;
use super::array::{Event, Flight, Work};
use crate::array::raid::Piece;
use units::Nanos;

impl General {
    /// Sends the parts of a slot's work to modules: reads first, then writes. With none to send it is over.
    pub(super) fn dispatch(&mut self, now: Nanos, slot: u32) {
        let flight = self.flights[slot as usize];
        let whole = self.pieces_of(&flight);
        let pieces = std::mem::take(&mut self.pieces);
        let any = pieces.iter().any(|piece| piece.reads != 0);
        let writing = flight.writing || !any;
        self.flights[slot as usize].writing = writing;
        let mut sent = 0;
        for piece in &pieces {
            sent += self.send(now, slot, if writing { piece.writes } else { piece.reads }, piece.bytes, writing);
        }
        self.pieces = pieces;
        self.flights[slot as usize].pending = sent;
        self.flights[slot as usize].failed |= !whole;
        if sent == 0 {
            self.done_behind(now, slot);
        }
    }

    /// The rows of a slot's work, in `pieces`. Whether all of it can be done with the modules that are left.
    fn pieces_of(&mut self, flight: &Flight) -> bool {
        let (raid, lost) = (self.raid, self.lost[usize::from(flight.group)]);
        let pieces = &mut self.pieces;
        pieces.clear();
        match flight.work {
            Work::Read => raid.read(flight.address, flight.bytes, lost, |piece| pieces.push(piece)),
            Work::Rebuild => {
                let piece = raid.rebuild(flight.address, u32::from(flight.class), lost);
                pieces.extend(piece.map(|piece| Piece { bytes: flight.bytes, ..piece }));
                piece.is_some()
            }
            _ => raid.write(flight.address, flight.bytes, lost, |piece| pieces.push(piece)),
        }
    }

    #[inline]
    fn send(&mut self, now: Nanos, slot: u32, mut members: u64, bytes: u32, write: bool) -> u32 {
        let flight = self.flights[slot as usize];
        let first = u32::from(flight.group) * self.spec.members;
        let (count, rank) = (members.count_ones(), flight.rank());
        while members != 0 {
            let number = first + members.trailing_zeros();
            members &= members - 1;
            let service = self.service(number as usize, bytes, write);
            let station = &mut self.modules[number as usize].station;
            if let Some(end) = station.arrive(now, rank, slot, service) {
                self.agenda.at(end, Event::Module { module: number as u16, slot });
            }
        }
        count
    }

    #[inline]
    fn service(&mut self, number: usize, bytes: u32, write: bool) -> Nanos {
        let (module, times) = (&mut self.modules[number], &self.spec.modules);
        let side = usize::from(write);
        let ns = times.fixed_ns[side] as f64 + times.byte_ns[side] * f64::from(bytes);
        let narrower = if write { module.stripe.writing() } else { module.stripe.reading() };
        let varied = if times.variation > 0.0 { module.random.varied(times.variation) } else { 1.0 };
        Nanos((ns * narrower * varied + 0.5) as u64)
    }

    #[inline]
    pub(super) fn module_done(&mut self, now: Nanos, module: u16, slot: u32) {
        if let Some((next, end)) = self.modules[usize::from(module)].station.depart(now) {
            self.agenda.at(end, Event::Module { module, slot: next });
        }
        let flight = &mut self.flights[slot as usize];
        flight.pending -= 1;
        if flight.pending == 0 {
            if flight.writing || flight.work == Work::Read {
                self.done_behind(now, slot);
            } else {
                self.flights[slot as usize].writing = true;
                self.dispatch(now, slot);
            }
        }
    }

    /// All parts are done.
    fn done_behind(&mut self, now: Nanos, slot: u32) {
        match self.flights[slot as usize].work {
            Work::Destage => {
                self.spare_slots.push(slot);
                self.cache.destaged(self.flights[slot as usize].bytes);
                while let Some(waiting) = self.cache.relieve(&self.flights) {
                    // Whoever lost his path meanwhile is not promised anything here: he goes again over another.
                    if !self.lost_path(now, waiting) {
                        self.cache.hold(&self.flights[waiting as usize]);
                        self.mirror(now, waiting);
                    }
                }
                self.state.destages -= 1;
                self.destage(now);
            }
            Work::Rebuild => self.row_done(now, slot),
            _ => self.answer(now, slot),
        }
    }

    /// Begins to destage as much as may be under way at once.
    pub(super) fn destage(&mut self, now: Nanos) {
        while self.state.destages < self.spec.cache.destages {
            let Some(entry) = self.cache.next() else { return };
            let Some(slot) = self.spare_slots.pop() else { return };
            let (address, bytes, group) = (entry.address, entry.bytes, entry.group);
            self.flights[slot as usize] =
                Flight { address, bytes, group, work: Work::Destage, since: now, ..Flight::default() };
            self.state.destages += 1;
            self.dispatch(now, slot);
        }
    }

    /// Takes the next rows of the rebuild, as fast as its pace allows.
    pub(super) fn rebuild(&mut self, now: Nanos) {
        self.state.paced = false;
        let Some(job) = self.state.job else { return };
        if job.row >= job.rows || job.under_way >= self.spec.rebuild.rows {
            return;
        }
        let Some(slot) = self.spare_slots.pop() else { return };
        let (bytes, class) = (self.raid.unit(), job.member as u8);
        self.flights[slot as usize] = Flight {
            address: job.row,
            bytes,
            group: job.group,
            class,
            work: Work::Rebuild,
            since: now,
            ..Flight::default()
        };
        self.state.job = Some(super::changes::Job { row: job.row + 1, under_way: job.under_way + 1, ..job });
        self.pace_rebuild(now);
        self.dispatch(now, slot);
    }

    /// Plans the next row, unless it is planned.
    pub(super) fn pace_rebuild(&mut self, now: Nanos) {
        let may = !self.state.dark
            && self.state.job.is_some_and(|job| job.row < job.rows && job.under_way < self.spec.rebuild.rows);
        if may && !self.state.paced {
            self.state.paced = true;
            let at = self.pace.take(now, f64::from(self.raid.unit()));
            self.agenda.at(at, Event::Rebuild);
        }
    }

    fn row_done(&mut self, now: Nanos, slot: u32) {
        self.spare_slots.push(slot);
        let Some(job) = self.state.job.as_mut() else { return };
        job.under_way -= 1;
        job.stuck |= self.flights[slot as usize].failed;
        let job = *job;
        if job.row >= job.rows && job.under_way == 0 {
            if !job.stuck {
                self.lost[usize::from(job.group)] &= !(1 << job.member);
                self.state.rebuilt.push(now);
            }
            self.state.job = None;
            self.next_rebuild(now);
        }
        self.pace_rebuild(now);
    }
}
