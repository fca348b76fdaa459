//! What takes the mirror of a pair away in the middle of a trial, and what becomes of whoever waits for it.
//!
//! The one idea: a wire that carries nothing is seen by nobody but those who wait. Once patience is lost the first node goes on
//! alone, and whoever waited is done without the mirror. A mirror that is gone, or suspended, is missed at once.
//!
//! What it does not do: what a mirror that is killed has begun it ends, though its answers reach nobody.

use super::{Event, Pair, Stage};
use crate::machine::{Stand, Standing};
use crate::pair::apart::State;
use units::Nanos;
use workload::happening::Mishap;

impl Pair {
    /// What can happen to a pair of two nodes.
    pub const MISHAPS: [Mishap; 6] =
        [Mishap::KillMirror, Mishap::StopMirror, Mishap::Cut, Mishap::HalfOpen, Mishap::Suspend, Mishap::Resume];

    pub(super) fn mishap(&mut self, what: Mishap) {
        if self.course.is_empty() {
            self.note();
            self.course[0] = Stand { at: Nanos::ZERO, kept_bytes: 0, sent_bytes: 0, ..self.course[0] };
        }
        match what {
            Mishap::Resume => self.resume(),
            Mishap::Suspend => self.part(Standing::Asked),
            Mishap::KillMirror | Mishap::StopMirror => {
                self.carries = [false; 2];
                self.part(Standing::Gone);
            }
            wire => {
                self.carries = [false, wire == Mishap::HalfOpen];
                self.fall_silent();
            }
        }
    }

    fn fall_silent(&mut self) {
        match self.apart.state {
            State::Mirroring => {
                self.apart.state = State::Waiting;
                self.patient_until = self.now() + self.plan.patience;
                self.agenda.at(self.patient_until, Event::Patience);
            }
            // Nobody waits for rows that come late.
            State::Resyncing => self.part(Standing::Silent),
            State::Waiting | State::Apart => {}
        }
    }

    /// A time to be patient is over, unless that was for an earlier silence.
    pub(super) fn lose_patience(&mut self) {
        if self.apart.state == State::Waiting && self.now() >= self.patient_until {
            self.part(Standing::Silent);
        }
    }

    /// The first node goes on alone.
    fn part(&mut self, standing: Standing) {
        if self.apart.state == State::Apart {
            return;
        }
        (self.apart.state, self.standing) = (State::Apart, standing);
        self.note();
        std::mem::take(&mut self.stuck).into_iter().for_each(|who| self.miss(who));
    }

    fn resume(&mut self) {
        self.carries = [true; 2];
        let now = self.now();
        match self.apart.state {
            State::Waiting => self.apart.state = State::Mirroring,
            State::Apart => (self.apart.state, self.apart.resumed) = (State::Resyncing, Some(now)),
            State::Mirroring | State::Resyncing => return,
        }
        self.note();
        std::mem::take(&mut self.stuck).into_iter().for_each(|who| self.post(who));
        if self.apart.settle(now) {
            self.release();
        }
        self.send();
    }

    /// The pair mirrors again: whoever was held goes on.
    pub(super) fn release(&mut self) {
        self.note();
        std::mem::take(&mut self.held).into_iter().for_each(|slot| self.begin(slot));
    }

    /// From which node somebody is on his way to the other, and his bytes; none of who is not between them.
    fn message(&self, who: u32) -> Option<(usize, u64)> {
        let [out, back] = self.plan.trip_bytes;
        match self.flights.get(who as usize) {
            None => Some((0, self.plan.resync.row_bytes)),
            Some(flight) if flight.stage == Stage::Out => Some((flight.node as usize, out)),
            Some(flight) if flight.stage == Stage::Back => Some((1 - flight.node as usize, back)),
            Some(_) => None,
        }
    }

    /// Puts a change, its answer or a row that comes late on the link.
    pub(super) fn post(&mut self, who: u32) {
        if let Some((from, bytes)) = self.message(who) {
            let (_, there) = self.nodes[from].link.send(self.agenda.now(), bytes);
            self.agenda.at(there, Event::Next { who });
        }
    }

    /// Whether somebody whose wait or way is over has come across; else he waits, or goes on without the mirror.
    pub(super) fn crossed(&mut self, who: u32) -> bool {
        let Some((from, bytes)) = self.message(who) else { return true };
        if self.carries[from] {
            self.sent_bytes += if from == 0 { bytes } else { 0 };
        } else if self.apart.state == State::Apart {
            self.miss(who);
        } else {
            self.stuck.push(who);
        }
        self.carries[from]
    }

    /// Whoever waited for a mirror that was given up: what the first node changes stands without it, and what the second does is
    /// undone until they mirror again. A row that was on its way waits for that, too.
    fn miss(&mut self, who: u32) {
        let Some(flight) = self.flights.get_mut(who as usize) else { return self.stuck.push(who) };
        flight.mirrored = false;
        if flight.node == 0 { self.piece_done(who) } else { self.held.push(who) }
    }

    /// Notes how the nodes stand from now on.
    pub(super) fn note(&mut self) {
        let standing = match self.apart.state {
            State::Mirroring | State::Waiting => Standing::Follows,
            State::Apart => self.standing,
            State::Resyncing => Standing::CatchesUp,
        };
        self.course.push(Stand {
            at: self.now(),
            standing,
            waiting: self.stuck.iter().filter(|who| **who < self.flights.len() as u32).count() as u32,
            kept_bytes: self.apart.waiting() * self.plan.resync.row_bytes,
            sent_bytes: self.sent_bytes,
        });
    }
}
