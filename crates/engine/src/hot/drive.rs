//! The loop between load, system and recorder: the same for a ring, a blocking thread and a simulated clock.
//!
//! Two readings of the clock go round with every batch: one when completions were seen, one right before the next
//! operations leave. So service time holds the system and the way to it; what the generator needs between a completion
//! and the next issue is lateness, and shows.

use crate::hot::cpu::ThreadCpu;
use crate::hot::lane::{Lane, Work};
use load::{Load, Next, Pacing};
use observation::Window;
use std::sync::atomic::{AtomicBool, Ordering};
use system::{Completion, Port, PortError, Wait};
use units::Nanos;

/// How a drive ends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ending<'a> {
    /// Operations still out at this moment are censored.
    pub(crate) deadline: Nanos,
    /// Set from outside to end at once.
    pub(crate) stop: &'a AtomicBool,
    /// How an open load waits.
    pub(crate) pacing: Pacing,
    /// The measured window: at both ends the CPU clock of this thread is read.
    pub(crate) window: Window,
}

/// What became of a drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Driven {
    /// The load finished; `at` is when the last operation ended or was given up.
    Finished {
        /// On the port's clock.
        at: Nanos,
    },
    /// It was told to stop.
    Stopped,
    /// The system is gone: every further operation would fail with this errno.
    Gone {
        /// Positive errno.
        errno: i32,
    },
}

/// Drives the lanes over one port until their loads are finished and everything came back, or the deadline passes.
pub(crate) fn drive<P: Port, L: Load, W: Work<P>>(
    port: &mut P,
    lanes: &mut [Lane<L, W>],
    ending: Ending<'_>,
    cpu: &mut ThreadCpu,
) -> Result<Driven, PortError> {
    let mut completions: Vec<Completion> = Vec::with_capacity(lanes.iter().map(Lane::slots).sum::<u32>() as usize + 1);
    let mut flying: u32 = 0;
    loop {
        let now = port.now();
        cpu.look(now, ending.window);
        let mut round = Round { wait: Wait::Completion, finished: true, staged: 0 };
        for lane in lanes.iter_mut() {
            issue_due(port, lane, now, &mut round)?;
        }
        if round.staged > 0 {
            let issued = port.now();
            for lane in lanes.iter_mut() {
                lane.stamp_issued(issued);
            }
            port.submit(false)?;
        }
        flying += round.staged;
        if flying == 0 && round.finished {
            return Ok(close(port, lanes, now));
        }
        port.reap(patience(round, flying, now, ending), &mut completions)?;
        flying -= completions.len() as u32;
        if let Some(errno) = settle(port, lanes, &mut completions) {
            let at = port.now();
            close(port, lanes, at);
            return Ok(if errno == libc::ECANCELED { Driven::Stopped } else { Driven::Gone { errno } });
        }
        if ending.stop.load(Ordering::Relaxed) {
            close(port, lanes, now);
            return Ok(Driven::Stopped);
        }
        if now >= ending.deadline {
            return Ok(close(port, lanes, ending.deadline));
        }
        for lane in lanes.iter_mut() {
            lane.recorder.roll(now);
        }
    }
}

/// What one pass over the lanes asks for.
#[derive(Clone, Copy)]
struct Round {
    wait: Wait,
    finished: bool,
    staged: u32,
}

#[inline]
fn issue_due<P: Port, L: Load, W: Work<P>>(
    port: &mut P,
    lane: &mut Lane<L, W>,
    now: Nanos,
    round: &mut Round,
) -> Result<(), PortError> {
    while lane.work.owes_upkeep() {
        if lane.staged() >= lane.batch {
            lane.stamp_issued(port.now());
            port.submit(true)?;
        }
        lane.stage_upkeep(port);
        round.staged += 1;
        round.finished = false;
    }
    loop {
        match lane.load.next(now) {
            Next::Issue(arrival) => {
                // A full batch leaves only when there is more: the last one goes with the wait, in one call. A port that
                // sends in batches serves a single lane, so that everything staged is this lane's.
                if lane.staged() >= lane.batch {
                    lane.stamp_issued(port.now());
                    port.submit(true)?;
                }
                lane.stage(port, &arrival);
                round.staged += 1;
                round.finished = false;
            }
            Next::WaitUntil(at) => {
                round.finished = false;
                round.wait = match round.wait {
                    Wait::Until(earlier) if earlier <= at => round.wait,
                    _ => Wait::Until(at),
                };
                return Ok(());
            }
            Next::Blocked => {
                round.finished = false;
                return Ok(());
            }
            Next::Finished => return Ok(()),
        }
    }
}

/// How long the port may wait: never beyond the deadline, and not at all when the load is paced by spinning.
#[inline]
fn patience(round: Round, flying: u32, now: Nanos, ending: Ending<'_>) -> Wait {
    match round.wait {
        Wait::Until(_) if ending.pacing == Pacing::Spin => Wait::Poll,
        Wait::Until(at) => Wait::Until(at.min(ending.deadline)),
        Wait::Completion if round.finished => Wait::Until(ending.deadline.max(now)),
        // Nothing is out and nothing is due: only a load that is blocked by its own bound gets here, once.
        Wait::Completion if flying == 0 => Wait::Poll,
        other => other,
    }
}

/// Hands completions to their lanes; answers with an errno when the system is gone.
#[inline]
fn settle<P: Port, L: Load, W: Work<P>>(
    port: &mut P,
    lanes: &mut [Lane<L, W>],
    completions: &mut Vec<Completion>,
) -> Option<i32> {
    let mut gone = None;
    for completion in completions.iter() {
        // One lane is the rule, and the search is for simulated systems that several share.
        let index = match lanes.len() {
            1 => 0,
            _ => lanes.iter().position(|lane| lane.holds(completion.slot)).expect("every slot belongs to a lane"),
        };
        gone = gone.or(lanes[index].settle(port, completion));
    }
    completions.clear();
    gone
}

fn close<P: Port, L: Load, W: Work<P>>(port: &mut P, lanes: &mut [Lane<L, W>], at: Nanos) -> Driven {
    for lane in lanes {
        lane.give_up(port, at);
    }
    Driven::Finished { at }
}
