//! A machine of `model` driven by the wall clock.
//!
//! The one idea: one thread owns the machine. It hands in what has come, lets the events happen that are due, answers those that
//! ended, and sleeps until the next event. The way through the kernel takes time too: an operation counts from the moment at which
//! it left the program that asked, and is answered so much earlier that the answer arrives there in time. One that follows an answer
//! counts from that ([`Answered`]), however long this machine's cores were busy in between. Answers that leave later than the machine says are
//! counted: where cores are busy, a device is slower than its model.
//!
//! What it does not do: it moves no data.

use crate::answered::Answered;
use crate::locked;
use model::machine::{Ended, Machine};
use recorder::{Clock, Lead, Vigil, WallClock};
use std::collections::VecDeque;
use std::num::NonZeroU64;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{JoinHandle, Thread};
use std::time::Duration;
use units::Nanos;
use workload::happening::Happening;
use workload::{Operation, OperationKind};

/// What is done when an operation is over, and whether it was carried out: a machine may have lost the part that it was for.
pub(crate) type Finish = Box<dyn FnOnce(bool) + Send>;

/// What is done to the machine.
pub(crate) enum Order {
    /// Everything takes so many times as long, in thousandths.
    Slow(u64),
    /// Something happens to a part of it.
    Happen(Happening),
    /// It is as at the beginning, but for what is under way on it.
    Renew,
}

/// Makes the machine once more.
pub(crate) type Anew = Box<dyn Fn() -> Option<Box<dyn Machine>> + Send>;

struct Asked {
    at: Nanos,
    operation: Operation,
    finish: Finish,
}

/// What is under way, with the moment on the wall from which it counts.
struct UnderWay {
    came: Nanos,
    operation: Operation,
    finish: Finish,
}

/// An answer is late beyond so much, or beyond a tenth of its operation's time where that is more.
const LATE: Nanos = Nanos::from_micros(50);

/// Whether an answer that was due and left at these moments was late for an operation that came so.
fn is_late(came: Nanos, due: Nanos, left: Nanos) -> bool {
    left.saturating_sub(due) > LATE.max(Nanos(due.saturating_sub(came).0 / 10))
}

/// How long before it is due an answer leaves, so that as many leave late as early.
///
/// The thread sends one answer after another. Of several that are due at one moment, as those of a program that keeps some operations
/// outstanding are, all but the first would leave late, each by what sending those before it takes.
#[derive(Debug, Default)]
struct Ahead(Nanos);

impl Ahead {
    /// What one answer teaches, whatever it was late by: a core that was busy elsewhere changes no more than that.
    const STEP: Nanos = Nanos(50);
    const MOST: Nanos = Nanos::from_micros(20);

    fn learn(&mut self, due: Nanos, left: Nanos) {
        self.0 = if left > due { (self.0 + Self::STEP).min(Self::MOST) } else { self.0.saturating_sub(Self::STEP) };
    }
}

/// What the sessions and the thread share.
struct Shared {
    inbox: Mutex<Vec<Asked>>,
    orders: Mutex<Vec<Order>>,
    /// Whether anything has come.
    full: AtomicBool,
    stop: AtomicBool,
    /// The way of reads and of writes through the kernel, both ways, nanoseconds.
    ways_ns: [AtomicU64; 2],
    /// All answers, and those that were late.
    answers: [AtomicU64; 2],
}

/// The door to the thread that owns the machine.
pub(crate) struct Clockwork {
    shared: Arc<Shared>,
    clock: WallClock,
    thread: Thread,
    handle: Option<JoinHandle<()>>,
}

impl Clockwork {
    /// Drives a machine with room for so many operations at once; more wait before it, in order. Where times are short, cores stay awake while
    /// it is asked.
    pub(crate) fn start(machine: Box<dyn Machine>, anew: Anew, slots: u32, short: bool) -> std::io::Result<Clockwork> {
        let shared = Arc::new(Shared {
            inbox: Mutex::default(),
            orders: Mutex::default(),
            full: AtomicBool::new(false),
            stop: AtomicBool::new(false),
            ways_ns: Default::default(),
            answers: Default::default(),
        });
        let clock = WallClock::new();
        let mut driver = Driver::new((machine, anew), slots, shared.clone(), clock.clone());
        driver.vigil = short.then(Vigil::default);
        let handle = std::thread::Builder::new().name("device".into()).spawn(move || driver.run())?;
        let thread = handle.thread().clone();
        Ok(Clockwork { shared, clock, thread, handle: Some(handle) })
    }

    /// The time now, for [`Clockwork::ask`].
    pub(crate) fn now(&self) -> Nanos {
        self.clock.now()
    }

    /// Hands in an operation that came at `at`; `finish` is called when the machine has done it.
    pub(crate) fn ask(&self, at: Nanos, operation: Operation, finish: Finish) {
        locked(&self.shared.inbox).push(Asked { at, operation, finish });
        self.call();
    }

    /// Does something to the machine, at once.
    pub(crate) fn order(&self, order: Order) {
        locked(&self.shared.orders).push(order);
        self.call();
    }

    fn call(&self) {
        if !self.shared.full.swap(true, Ordering::Release) {
            self.thread.unpark();
        }
    }

    /// How many operations were answered, and how many of them late.
    pub(crate) fn answers(&self) -> [u64; 2] {
        self.shared.answers.each_ref().map(|count| count.load(Ordering::Relaxed))
    }

    /// What the way of reads and of writes through the kernel takes, there and back.
    pub(crate) fn set_ways(&self, ways: [Nanos; 2]) {
        self.shared.ways_ns.iter().zip(ways).for_each(|(known, way)| known.store(way.0, Ordering::Relaxed));
    }
}

impl Drop for Clockwork {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Release);
        self.thread.unpark();
        if let Some(handle) = self.handle.take() {
            // What it panicked with was told when it did.
            let _ = handle.join();
        }
    }
}

/// The thread that owns the machine.
struct Driver {
    machine: Box<dyn Machine>,
    anew: Anew,
    shared: Arc<Shared>,
    clock: WallClock,
    free: Vec<u32>,
    under_way: Vec<Option<UnderWay>>,
    /// What found no free slot.
    waiting: VecDeque<Asked>,
    /// How far the machine has come, on its own clock.
    reached: Nanos,
    ended: Vec<Ended>,
    /// Where the machine's clock was set to another pace, on both clocks.
    turned: (Nanos, Nanos),
    slow: u64,
    /// How long before an event it wakes up.
    lead: Lead,
    answered: Answered,
    ahead: Ahead,
    /// Keeps cores awake where times are short.
    vigil: Option<Vigil>,
}

impl Driver {
    fn new((machine, anew): (Box<dyn Machine>, Anew), slots: u32, shared: Arc<Shared>, clock: WallClock) -> Driver {
        Driver {
            machine,
            anew,
            shared,
            clock,
            free: (0..slots).rev().collect(),
            under_way: (0..slots).map(|_| None).collect(),
            waiting: VecDeque::new(),
            reached: Nanos::ZERO,
            ended: Vec::with_capacity(slots as usize),
            turned: (Nanos::ZERO, Nanos::ZERO),
            slow: 1000,
            lead: Lead::default(),
            answered: Answered::default(),
            ahead: Ahead::default(),
            vigil: None,
        }
    }

    fn run(mut self) {
        // The kernel may wake a thread 50 us late by default. Where it refuses, sleeps end later than they could.
        let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
        while !self.shared.stop.load(Ordering::Acquire) {
            self.take();
            let due = self.happen();
            self.wait(due);
        }
    }

    /// The machine's time that belongs to a time on the wall.
    fn machine_time(&self, wall: Nanos) -> Nanos {
        let passed = wall.saturating_sub(self.turned.0).0;
        Nanos(self.turned.1.0 + (u128::from(passed) * 1000 / u128::from(self.slow)) as u64)
    }

    fn wall_time(&self, machine: Nanos) -> Nanos {
        let passed = machine.saturating_sub(self.turned.1).0;
        Nanos(self.turned.0.0 + (u128::from(passed) * u128::from(self.slow) / 1000) as u64)
    }

    fn way(&self, write: bool) -> Nanos {
        Nanos(self.shared.ways_ns[usize::from(write)].load(Ordering::Relaxed))
    }

    /// The way of an answer. What ends next is not known before it has: all answers have half the way of a read.
    fn way_back(&self) -> Nanos {
        Nanos(self.way(false).0 / 2)
    }

    /// Hands in what has come.
    fn take(&mut self) {
        if self.shared.full.swap(false, Ordering::Acquire) {
            let orders: Vec<Order> = locked(&self.shared.orders).drain(..).collect();
            orders.into_iter().for_each(|order| self.obey(order));
            self.waiting.extend(locked(&self.shared.inbox).drain(..));
        }
        while let Some(slot) = self.free.last().copied()
            && let Some(asked) = self.waiting.pop_front()
        {
            self.free.pop();
            if let Some(vigil) = &mut self.vigil {
                vigil.keep(asked.at);
            }
            let way = self.way(asked.operation.kind != OperationKind::Read);
            let came = self.answered.followed_by(asked.at, way).saturating_sub(way.saturating_sub(self.way_back()));
            let at = self.machine_time(came).max(self.reached);
            self.machine.submit(at, slot, &asked.operation);
            let Asked { operation, finish, .. } = asked;
            self.under_way[slot as usize] = Some(UnderWay { came, operation, finish });
        }
    }

    fn obey(&mut self, order: Order) {
        let now = self.clock.now();
        let at = self.machine_time(now).max(self.reached);
        match order {
            Order::Slow(slow) => (self.turned, self.slow) = ((now, at), slow),
            Order::Happen(what) => {
                let known = self.machine.happen(at, what);
                debug_assert!(known, "`{what}` is looked up before it is ordered");
            }
            Order::Renew => {
                let Some(machine) = (self.anew)() else { return };
                (self.machine, self.reached, self.turned, self.slow) = (machine, Nanos::ZERO, (now, Nanos::ZERO), 1000);
                for (slot, under_way) in self.under_way.iter().enumerate() {
                    if let Some(under_way) = under_way {
                        self.machine.submit(Nanos::ZERO, slot as u32, &under_way.operation);
                    }
                }
            }
        }
    }

    /// Lets happen what is due, and says when the next event is, on the wall.
    fn happen(&mut self) -> Option<Nanos> {
        loop {
            let next = self.machine.next()?;
            let due = self.wall_time(next).saturating_sub(self.way_back());
            let begin = due.saturating_sub(self.ahead.0);
            if begin > self.clock.now() {
                return Some(begin);
            }
            self.reached = self.machine.advance(next, &mut self.ended);
            for ended in self.ended.drain(..) {
                self.free.push(ended.slot);
                if let Some(UnderWay { came, finish, .. }) = self.under_way[ended.slot as usize].take() {
                    let left = self.clock.now();
                    let late = is_late(came, due, left);
                    self.ahead.learn(due, left);
                    let [all, of_them] = &self.shared.answers;
                    all.fetch_add(1, Ordering::Relaxed);
                    of_them.fetch_add(u64::from(late), Ordering::Relaxed);
                    self.answered.leaves(due);
                    finish(!ended.failed);
                }
            }
            if self.shared.full.load(Ordering::Relaxed) {
                return Some(due);
            }
        }
    }

    /// Waits for what comes next, whenever that is.
    fn rest(&mut self) {
        let now = self.clock.now();
        match self.vigil.as_mut().and_then(|vigil| vigil.rest(now)) {
            Some(left) => std::thread::park_timeout(Duration::from_nanos(left.0)),
            None => std::thread::park(),
        }
    }

    fn wait(&mut self, due: Option<Nanos>) {
        let shared = self.shared.clone();
        let called = || shared.full.load(Ordering::Acquire) || shared.stop.load(Ordering::Acquire);
        if called() || (due.is_some() && !self.waiting.is_empty() && !self.free.is_empty()) {
            return;
        }
        let Some(due) = due else { return self.rest() };
        let left = due.saturating_sub(self.clock.now());
        if left > self.lead.time() {
            let lead = self.lead.time();
            std::thread::park_timeout(Duration::from_nanos((left - lead).0));
            if !called() {
                self.lead.learn(self.clock.now().saturating_sub(due.saturating_sub(lead)));
            }
            return;
        }
        while self.clock.now() < due && !called() {
            // Who waits for this core has the next operation, or the program that asks for it.
            std::thread::yield_now();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_answers_that_are_due_together_as_many_leave_early_as_late() {
        let mut ahead = Ahead::default();
        let mut leave = |at_once: u64, busy: Nanos| {
            let due = Nanos::from_millis(1);
            let begun = due.saturating_sub(ahead.0) + busy;
            let left: Vec<Nanos> = (0..at_once).map(|one| begun + Nanos(7_000 * one + 1)).collect();
            left.iter().for_each(|left| ahead.learn(due, *left));
            left.iter().filter(|left| **left > due).count()
        };
        assert!((0..500).all(|_| leave(4, Nanos::ZERO) > 0));
        assert_eq!(leave(4, Nanos::ZERO), 2);
        assert_eq!(leave(4, Nanos::from_millis(9)), 4, "a core was busy");
        assert_eq!(leave(4, Nanos::ZERO), 2, "which teaches little");
        assert!((0..500).all(|_| leave(1, Nanos::ZERO) <= 1));
        assert!(ahead.0 <= Ahead::STEP, "one alone leaves when it is due, and not {:?} before", ahead.0);
    }

    #[test]
    fn an_answer_is_late_beyond_50_us_and_beyond_a_tenth_of_its_time() {
        let late = |took_us: u64, late_us: u64| {
            let due = Nanos::from_micros(1_000 + took_us);
            is_late(Nanos::from_micros(1_000), due, due + Nanos::from_micros(late_us))
        };
        assert_eq!([late(100, 50), late(100, 51)], [false, true]);
        assert_eq!([late(6_000, 600), late(6_000, 601)], [false, true]);
        assert!(
            !is_late(Nanos::from_micros(5), Nanos::from_micros(3), Nanos::from_micros(2)),
            "what leaves early is not"
        );
    }
}
