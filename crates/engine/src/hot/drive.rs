//! The loop between load, system and recorder: the same for a ring, a blocking thread and a simulated clock.
//!
//! Two readings of the clock go round with every batch: one when completions were seen, one right before the next
//! operations leave. So service holds the system and the way to it, and what the generator needs between a completion and
//! the next issue is lateness, and shows. What service holds of the generator is the wait of an operation that ended for
//! the next look at what has ended: no more than a batch is prepared between two looks, and [`crate::hot::looks`] measures
//! how long that takes.

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
    lanes.iter_mut().for_each(|lane| lane.prepare(port));
    loop {
        let now = port.now();
        cpu.look(now, ending.window);
        let mut round = Round { wait: Wait::Completion, finished: true, staged: 0 };
        // A call that blocked beyond the deadline leaves arrivals behind that nobody would wait for.
        if now < ending.deadline {
            for lane in lanes.iter_mut() {
                issue_due(port, lane, now, &mut round, &mut completions)?;
            }
        }
        if round.staged > 0 {
            let issued = port.now();
            for lane in lanes.iter_mut() {
                lane.stamp_issued(issued);
            }
            port.submit()?;
        }
        flying += round.staged;
        if flying == 0 && round.finished {
            return Ok(close(port, lanes, now.min(ending.deadline)));
        }
        // What a look between two batches found is not kept waiting.
        let wait = if completions.is_empty() { patience(round, flying, now, ending) } else { Wait::Poll };
        port.reap(wait, &mut completions)?;
        flying -= completions.len() as u32;
        if let Some(errno) = settle(port, lanes, &mut completions, ending.deadline) {
            let at = port.now().min(ending.deadline);
            close(port, lanes, at);
            return Ok(if errno == libc::ECANCELED { Driven::Stopped } else { Driven::Gone { errno } });
        }
        if ending.stop.load(Ordering::Relaxed) {
            // The wait was long, and arrivals came due in it.
            let at = port.now().min(ending.deadline);
            close(port, lanes, at);
            return Ok(Driven::Stopped);
        }
        if now >= ending.deadline {
            lanes.iter_mut().for_each(|lane| lane.name_hung(ending.deadline));
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
    completions: &mut Vec<Completion>,
) -> Result<(), PortError> {
    while lane.work.owes_upkeep() {
        send_full_batch(port, lane, completions)?;
        lane.stage_upkeep(port);
        round.staged += 1;
        round.finished = false;
    }
    loop {
        match lane.load.next(now) {
            Next::Issue(arrival) if lane.skips(&arrival, now) => round.finished = false,
            Next::Issue(arrival) => {
                send_full_batch(port, lane, completions)?;
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

/// Sends a full batch before more is prepared, and looks in the same call at what has ended. The last batch goes with the
/// wait. A port that sends in batches serves a single lane, so that everything staged is this lane's.
#[inline]
fn send_full_batch<P: Port, L: Load, W: Work<P>>(
    port: &mut P,
    lane: &mut Lane<L, W>,
    completions: &mut Vec<Completion>,
) -> Result<(), PortError> {
    if lane.staged() < lane.batch {
        return Ok(());
    }
    lane.stamp_issued(port.now());
    port.submit()?;
    port.reap(Wait::Poll, completions)
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
    deadline: Nanos,
) -> Option<i32> {
    let mut gone = None;
    for completion in completions.iter() {
        // One lane is the rule, and the search is for simulated systems that several share.
        let index = match lanes.len() {
            1 => 0,
            _ => lanes.iter().position(|lane| lane.holds(completion.slot)).expect("every slot belongs to a lane"),
        };
        gone = gone.or(lanes[index].settle(port, completion, deadline));
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hot::lane::{Key, Settled};
    use crate::hot::noticed::Noticed;
    use load::{Arrival, Books, Unissued};
    use recorder::{Collector, Layout, Outcome};
    use system::Outcome as Ended;

    const DEADLINE: Nanos = Nanos(1_000);
    static ON: AtomicBool = AtomicBool::new(false);

    fn ending(pacing: Pacing) -> Ending<'static> {
        Ending { deadline: DEADLINE, stop: &ON, pacing, window: Window { start: Nanos(0), end: Nanos(500) } }
    }

    #[test]
    fn a_port_waits_for_what_comes_first_and_never_beyond_the_deadline() {
        let asks = |wait, finished, flying, pacing| {
            patience(Round { wait, finished, staged: 0 }, flying, Nanos(7), ending(pacing))
        };
        let until = |at| Wait::Until(Nanos(at));
        assert_eq!(asks(until(40), false, 3, Pacing::Sleep), until(40));
        assert_eq!(asks(until(4_000), false, 0, Pacing::Sleep), until(1_000));
        assert_eq!(asks(until(40), false, 3, Pacing::Spin), Wait::Poll);
        assert_eq!(asks(Wait::Completion, true, 3, Pacing::Spin), until(1_000), "the load is through");
        assert_eq!(asks(Wait::Completion, false, 3, Pacing::Sleep), Wait::Completion);
        assert_eq!(asks(Wait::Completion, false, 0, Pacing::Sleep), Wait::Poll, "nothing could ever end");
    }

    /// A load that says what it is told to, and then that it is finished.
    struct Says(Vec<Next>);

    impl Load for Says {
        fn next(&mut self, _now: Nanos) -> Next {
            if self.0.is_empty() { Next::Finished } else { self.0.remove(0) }
        }
        fn completed(&mut self, _slot: u32, _at: Nanos) {}
        fn spawn(&mut self, _intended: Nanos, _payload: u64) -> bool {
            false
        }
        fn unissued(&mut self, _now: Nanos) -> Option<Unissued> {
            None
        }
        fn books(&self) -> Books {
            Books::default()
        }
        fn slots(&self) -> u32 {
            8
        }
    }

    /// Notes what is prepared between two looks, and ends everything at once.
    #[derive(Default)]
    struct Notes {
        looks: Vec<(Wait, usize)>,
        out: Vec<u32>,
        /// How long each takes beyond the ninth nanosecond.
        takes: u64,
        /// The time after the first look, when it is another.
        then: Option<Nanos>,
    }

    impl Port for Notes {
        fn now(&mut self) -> Nanos {
            self.then.filter(|_| !self.looks.is_empty()).unwrap_or(Nanos(7))
        }
        fn reap(&mut self, wait: Wait, into: &mut Vec<Completion>) -> Result<(), PortError> {
            self.looks.push((wait, self.out.len()));
            let at = Nanos(9 + self.takes);
            into.extend(self.out.drain(..).map(|slot| Completion { slot, outcome: Ended::Moved { bytes: 0 }, at }));
            Ok(())
        }
    }

    struct Plain;

    impl Work<Notes> for Plain {
        fn stage(&mut self, port: &mut Notes, first: u32, arrival: &Arrival) -> Key {
            port.out.push(first + arrival.slot);
            Key { class: 0, endpoint: 0 }
        }
        fn settle<L: Load>(&mut self, _: &mut Notes, _: u32, completion: &Completion, _: &mut L) -> Settled {
            Settled { outcome: Outcome::done(0), answered: completion.at, held: false, gone: None }
        }
        fn never(&mut self, _port: &mut Notes, _first: u32, _never: &Unissued) -> Key {
            Key { class: 0, endpoint: 0 }
        }
        fn noticed(&mut self) -> &mut Noticed {
            unreachable!("nothing fails here")
        }
        fn into_noticed(self) -> Noticed {
            Noticed::default()
        }
    }

    fn lane(says: Vec<Next>, first: u32) -> Lane<Says, Plain> {
        let window = Window { start: Nanos(0), end: Nanos(500) };
        let interval = Nanos(100);
        let layout = Layout { stream: 0, generator: 0, classes: 1, endpoints: 1, window, interval, start: Nanos::ZERO };
        Lane::new(Says(says), Collector::default().recorder(layout), Plain, first)
    }

    fn issue(slot: u32) -> Next {
        Next::Issue(Arrival { slot, n: u64::from(slot), intended: Nanos(5), payload: 0 })
    }

    #[test]
    fn of_several_lanes_the_one_that_is_due_first_says_how_long_the_port_may_wait() {
        for moments in [[40, 60], [60, 40]] {
            let mut round = Round { wait: Wait::Completion, finished: true, staged: 0 };
            for at in moments {
                let mut lane = lane(vec![Next::WaitUntil(Nanos(at))], 0);
                issue_due(&mut Notes::default(), &mut lane, Nanos(7), &mut round, &mut Vec::new()).unwrap();
            }
            assert_eq!((round.wait, round.finished), (Wait::Until(Nanos(40)), false), "{moments:?}");
        }
    }

    #[test]
    fn a_full_batch_leaves_only_when_there_is_more_and_no_more_than_one_is_prepared_between_two_looks() {
        let end = Wait::Completion;
        let polled = |sizes: &[usize]| sizes.iter().map(|size| (Wait::Poll, *size)).collect::<Vec<_>>();
        for (operations, looks) in [(2, vec![(end, 2)]), (3, polled(&[2, 1])), (5, polled(&[2, 2, 1]))] {
            let mut port = Notes::default();
            let mut lanes = [lane((0..operations).map(issue).collect(), 0).in_batches(2)];
            let mut cpu = ThreadCpu::new(ending(Pacing::Sleep).window);
            drive(&mut port, &mut lanes, ending(Pacing::Sleep), &mut cpu).unwrap();
            assert_eq!(port.looks, looks, "{operations} operations in twos");
            let [lane] = lanes;
            assert_eq!(lane.recorder.finish(u64::from(operations)).unwrap().done, u64::from(operations));
        }
    }

    #[test]
    fn what_ends_beyond_the_deadline_is_censored_even_where_the_port_waited_for_it() {
        for (takes, done) in [(991, 1), (992, 0)] {
            let mut port = Notes { takes, ..Notes::default() };
            let mut lanes = [lane(vec![issue(0)], 0)];
            let mut cpu = ThreadCpu::new(ending(Pacing::Sleep).window);
            drive(&mut port, &mut lanes, ending(Pacing::Sleep), &mut cpu).unwrap();
            let [lane] = lanes;
            let account = lane.recorder.finish(1).unwrap();
            assert_eq!((account.done, account.censored), (done, 1 - done), "{takes} ns");
        }
    }

    /// On a road of threads, what waited behind a call that hung was still issued, and given up later than on a ring.
    #[test]
    fn nothing_is_issued_when_a_call_has_blocked_beyond_the_deadline() {
        let mut port = Notes { takes: 2_000, then: Some(Nanos(2_009)), ..Notes::default() };
        let mut lanes = [lane(vec![issue(0), Next::WaitUntil(Nanos(40)), issue(1)], 0)];
        let mut cpu = ThreadCpu::new(ending(Pacing::Sleep).window);
        let driven = drive(&mut port, &mut lanes, ending(Pacing::Sleep), &mut cpu).unwrap();
        assert_eq!(driven, Driven::Finished { at: DEADLINE });
        assert_eq!(port.looks.iter().map(|(_, staged)| staged).sum::<usize>(), 1);
        let [lane] = lanes;
        assert_eq!(lane.recorder.finish(1).unwrap().censored, 1);
    }

    #[test]
    fn completions_find_the_lane_that_their_slot_belongs_to() {
        let mut port = Notes::default();
        let mut lanes = [lane(vec![issue(0), issue(1)], 0), lane(vec![issue(3)], 8)];
        let driven =
            drive(&mut port, &mut lanes, ending(Pacing::Sleep), &mut ThreadCpu::new(ending(Pacing::Sleep).window));
        assert_eq!(driven.unwrap(), Driven::Finished { at: Nanos(7) });
        let planned = [2, 1];
        for (lane, planned) in lanes.into_iter().zip(planned) {
            assert_eq!(lane.recorder.finish(planned).unwrap().done, planned);
        }
    }
}
