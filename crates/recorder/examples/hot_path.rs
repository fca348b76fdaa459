//! What the generator's own part of an operation costs: the load machine, three histograms and the account of Little's
//! law, on a system that is not there. Run with `--release`; `prony ceiling` measures the whole road.
//!
//! Each line is the fastest of several rounds, because whatever interrupts a round only adds to it.

#![allow(clippy::disallowed_macros, reason = "an example speaks to the terminal")]

use load::{Arrivals, Limit, Load, Machine, Next, Ramp, Spec, Think, whole};
use observation::Window;
use recorder::{Clock, Collector, Layout, Operation, Origin, Outcome, Recorder, WallClock};
use units::{Nanos, PerSecond};

const OPERATIONS: u64 = 200_000;
const SLOTS: u32 = 32;

fn main() {
    let clock = WallClock::new();
    report("clock read", &clock, |clock| (0..OPERATIONS).map(|_| clock.now().0 & 1).sum());
    let closed = Spec::Closed { slots: SLOTS, think: Think::None };
    let thinking = Spec::Closed { slots: SLOTS, think: Think::Exponential(Nanos(300)) };
    let open = |arrivals| Spec::Open { rate: PerSecond(1e9), arrivals, slots: SLOTS };
    let loads = [
        ("closed", closed),
        ("closed, exponential think time", thinking),
        ("open, constant", open(Arrivals::Constant)),
        ("open, Poisson", open(Arrivals::Poisson)),
    ];
    for (name, spec) in loads {
        report(&format!("{name}: load alone"), &clock, |clock| match machine(spec, clock) {
            Machine::Closed(load) => rounds(load, None, clock),
            Machine::Open(load) => rounds(load, None, clock),
            Machine::Shared(load) => rounds(load, None, clock),
            Machine::Clocked(load) => rounds(load, None, clock),
        });
        let mut recorder = recorder(&clock);
        report(&format!("{name}: load and recorder"), &clock, |clock| match machine(spec, clock) {
            Machine::Closed(load) => rounds(load, Some(&mut recorder), clock),
            Machine::Open(load) => rounds(load, Some(&mut recorder), clock),
            Machine::Shared(load) => rounds(load, Some(&mut recorder), clock),
            Machine::Clocked(load) => rounds(load, Some(&mut recorder), clock),
        });
    }
}

fn recorder(clock: &WallClock) -> Recorder {
    let now = clock.now();
    Collector::default().recorder(Layout {
        stream: 0,
        generator: 0,
        classes: 2,
        endpoints: 2,
        window: Window { start: now, end: now.saturating_add(Nanos::from_secs(60)) },
        interval: Nanos::from_secs(1),
        start: Nanos::ZERO,
    })
}

fn machine(spec: Spec, clock: &WallClock) -> Machine {
    let now = clock.now();
    let limit = Limit { until: Nanos::MAX, count: Some(OPERATIONS) };
    whole(&spec, Ramp::default(), limit, 1, now).measured(now, now.saturating_add(Nanos::from_secs(60)))
}

/// Batches as a driver forms them: all that is due, one stamp, all of it ended, one stamp.
fn rounds<L: Load>(mut load: L, mut recorder: Option<&mut Recorder>, clock: &WallClock) -> u64 {
    let mut flights = [(Nanos::ZERO, 0u16); SLOTS as usize];
    let mut out = Vec::with_capacity(SLOTS as usize);
    let mut done = 0;
    loop {
        let now = clock.now();
        let finished = loop {
            match load.next(now) {
                Next::Issue(arrival) => {
                    flights[arrival.slot as usize] = (arrival.intended, (arrival.n & 1) as u16);
                    out.push(arrival.slot);
                }
                next => break next == Next::Finished,
            }
        };
        let issued = clock.now();
        let at = clock.now();
        done += out.len() as u64;
        if finished && out.is_empty() {
            return done;
        }
        for slot in out.drain(..) {
            let (intended, endpoint) = flights[slot as usize];
            load.completed(slot, at);
            if let Some(recorder) = recorder.as_deref_mut() {
                recorder.record(Operation {
                    class: 0,
                    endpoint,
                    origin: Origin::Planned,
                    intended,
                    issued: Some(issued),
                    completed: at,
                    outcome: Outcome::done(4096),
                });
            }
        }
    }
}

fn report(name: &str, clock: &WallClock, mut work: impl FnMut(&WallClock) -> u64) {
    let mut best = f64::MAX;
    for _ in 0..100 {
        let begun = clock.now();
        let counted = std::hint::black_box(work(clock));
        let passed = (clock.now() - begun).0 as f64;
        assert!(counted <= OPERATIONS);
        best = best.min(passed / OPERATIONS as f64);
    }
    println!("{name:45} {best:6.2} ns");
}
