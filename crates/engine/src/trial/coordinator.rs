//! The workers of a trial, each on a thread of its own, and the coordinator who watches them.
//!
//! Workers prepare everything they need, wait at the gate, and run to the end without a word. The coordinator wakes at the
//! border of every interval, collects what they recorded, reads the probes, and takes the CPU clock at both ends of the
//! window. Nobody waits for it.

use crate::TrialError;
use crate::database::counters;
use crate::hot::cpu::{CpuReading, generator_cpu};
use crate::observer::{Live, Observer, Phase};
use crate::target::opened::Opened;
use crate::trial::events;
use crate::trial::outcome::Outcome;
use crate::worker::assign::{Share, window};
use crate::worker::calls::Calls;
use crate::worker::happenings::{happened, happenings};
use crate::worker::run::{self, Driver, Start, Word};
use crate::worker::thread::elsewhere;
use observation::{Cell, Event, EventKind, Histogram, Series};
use recorder::{Clock, ClockWatch, Collector};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::JoinHandle;
use std::time::Duration;
use study::{Class, Trial};
use units::Nanos;
use workload::happening::Happening;

/// Probes are read no more often than this: a reading costs a good part of a millisecond.
const PROBE_EVERY: Nanos = Nanos(200_000_000);

/// A server is asked for its counters no more often than this: the answer costs it about a millisecond.
const COUNT_EVERY: Nanos = Nanos(1_000_000_000);

/// How long the coordinator sleeps at most before it looks whether it should stop.
const GLANCE: Duration = Duration::from_millis(100);

/// A coordinator that wakes so late was held up together with everything else on the machine.
const PAUSE: Nanos = Nanos(100_000_000);

/// How long the coordinator waits for a server's counters. One that answers does so within a millisecond.
const COUNT_PATIENCE: Duration = Duration::from_millis(250);

/// How long workers may take to come home when their work is over.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patience {
    /// Until they stand at the gate.
    pub(super) ready: Nanos,
    /// Until the calls that they are in are cut: behind the drain deadline, and behind everything that ends a trial early.
    pub(super) cut: Nanos,
    pub(super) cut_early: Nanos,
    /// Until whoever is still out is left behind: behind the end of the trial, and behind a stop, when nobody wants to wait.
    pub(super) leave: Nanos,
    pub(super) leave_stopped: Nanos,
}

impl Default for Patience {
    fn default() -> Patience {
        Patience {
            ready: Nanos::from_secs(60),
            cut: Nanos::from_secs(1),
            cut_early: Nanos::from_millis(250),
            leave: Nanos::from_secs(10),
            leave_stopped: Nanos::from_secs(1),
        }
    }
}

/// Who watches a trial, and how it may end early.
pub(crate) struct Watchers<'a> {
    pub(crate) observer: &'a mut dyn Observer,
    /// Set from outside to end at once.
    pub(crate) stop: &'a AtomicBool,
    /// Decides after each interval whether it is enough.
    pub(crate) enough: &'a mut dyn FnMut(&[Cell]) -> bool,
}

/// Runs the shares of a trial in real time. What workers brought home comes back however the trial ended.
pub(crate) fn run(
    opened: &Opened,
    trial: &Trial,
    shares: Vec<(Share, Driver)>,
    collector: Collector,
    watchers: Watchers<'_>,
) -> (Outcome, Result<(), TrialError>) {
    run_with(Patience::default(), opened, trial, shares, collector, watchers)
}

/// The same, with such a patience.
pub(super) fn run_with(
    patience: Patience,
    opened: &Opened,
    trial: &Trial,
    shares: Vec<(Share, Driver)>,
    collector: Collector,
    watchers: Watchers<'_>,
) -> (Outcome, Result<(), TrialError>) {
    let (words, heard) = channel();
    let (gate, halt, calls) = (Arc::default(), Arc::default(), Calls::default());
    let start = Start { clock: opened.clock.clone(), gate, halt, calls, words };
    let mut crew = Crew { start: start.clone(), threads: Vec::with_capacity(shares.len()), wait: LEAVING };
    let mut coordinator = Coordinator::new((opened, trial, patience), watchers, collector, shares.len(), &start);
    for (share, driver) in shares {
        let start = start.clone();
        match std::thread::Builder::new().spawn(move || run::run(share, driver, &start)) {
            Ok(thread) => crew.threads.push(thread),
            Err(source) => {
                let error = TrialError::Resource { action: "starting a worker's thread", source };
                return (coordinator.outcome, Err(error));
            }
        }
    }
    let ended = coordinator.wait_until_ready(&heard).and_then(|()| {
        coordinator.zero = opened.clock.now() + Nanos::from_millis(2);
        // Nobody else opens it.
        let _ = start.gate.set(Some(coordinator.zero));
        coordinator.watch(&heard)
    });
    if coordinator.left_behind {
        crew.wait = Nanos::ZERO;
    }
    (coordinator.close(), ended)
}

/// The threads of the workers. However the coordinator leaves, a panic included, nobody may wait at the gate or run on.
struct Crew {
    start: Start,
    threads: Vec<JoinHandle<()>>,
    /// How long it is waited for their ends, before they are left behind.
    wait: Nanos,
}

/// How long workers may take to end when nobody watches them any more, and how often that is looked at.
const LEAVING: Nanos = Nanos::from_secs(1);
const LOOK: Duration = Duration::from_millis(1);

impl Drop for Crew {
    fn drop(&mut self) {
        self.start.halt.store(true, Ordering::Relaxed);
        // Without effect once it is open.
        let _ = self.start.gate.set(None);
        self.start.calls.cut();
        let until = self.start.clock.now().saturating_add(self.wait);
        while !self.threads.iter().all(JoinHandle::is_finished) && self.start.clock.now() < until {
            std::thread::sleep(LOOK);
        }
    }
}

/// The coordinator's notes.
struct Coordinator<'a, 'w> {
    opened: &'a Opened,
    trial: &'a Trial,
    watchers: Watchers<'w>,
    collector: Collector,
    patience: Patience,
    halt: &'a AtomicBool,
    calls: &'a Calls,
    /// When the trial began, on the machine's clock.
    zero: Nanos,
    workers: usize,
    home: usize,
    outcome: Outcome,
    fresh: Vec<Cell>,
    probes: probe::Probes,
    /// The last reading of the probes, and the points that came since the observer was told.
    reading: Option<probe::Reading>,
    points: Vec<Series>,
    /// Counters of the system's server when they were read last, and a reading that is under way.
    counters: Option<Reading>,
    counting: Option<Receiver<Reading>>,
    /// The processes of the server that is being read, and of the one that was read last.
    counts: [Vec<u32>; 2],
    /// The trial's clock beside the kernel's, from the beginning on.
    clocks: Option<ClockWatch>,
    /// CPU of the process and of this thread, at both ends of the window.
    cpu: Vec<CpuReading>,
    done_before: (Nanos, u64),
    failure: Option<TrialError>,
    stopped: bool,
    /// When the trial was cut short: the interval of that moment never ended.
    cut_at: Option<Nanos>,
    /// What is still to happen, the last first; none is the end of all of it.
    to_come: Vec<(Nanos, Option<Happening>)>,
    /// Whether workers are still out and nobody waits for them any more.
    left_behind: bool,
}

/// What happens in a trial, the last first; with the window all of it is put right.
fn to_come(trial: &Trial) -> Vec<(Nanos, Option<Happening>)> {
    if trial.events.is_empty() {
        return Vec::new();
    }
    let end = (window(trial).end, None);
    let mut all: Vec<_> = happenings(trial).map(|(at, what)| (at, Some(what))).chain([end]).collect();
    all.reverse();
    all
}

/// When counters of a server were read, and what they said.
type Reading = (Nanos, observation::Counted);

impl<'a, 'w> Coordinator<'a, 'w> {
    fn new(
        (opened, trial, patience): (&'a Opened, &'a Trial, Patience),
        watchers: Watchers<'w>,
        collector: Collector,
        workers: usize,
        start: &'a Start,
    ) -> Coordinator<'a, 'w> {
        Coordinator {
            opened,
            trial,
            watchers,
            collector,
            patience,
            halt: &start.halt,
            calls: &start.calls,
            zero: Nanos::ZERO,
            workers,
            home: 0,
            outcome: Outcome::new(trial, workers as u16),
            fresh: Vec::new(),
            probes: probe::Probes::new(&opened.backing.places()),
            reading: None,
            points: Vec::new(),
            counters: None,
            clocks: None,
            counting: None,
            counts: Default::default(),
            cpu: Vec::with_capacity(2),
            done_before: (Nanos::ZERO, 0),
            failure: None,
            stopped: false,
            cut_at: None,
            to_come: to_come(trial),
            left_behind: false,
        }
    }

    /// Waits until every worker stands at the gate, or somebody wants to stop.
    fn wait_until_ready(&mut self, words: &Receiver<Word>) -> Result<(), TrialError> {
        let (mut ready, until) = (0, self.opened.clock.now() + self.patience.ready);
        while ready < self.workers {
            match words.recv_timeout(GLANCE) {
                Ok(Word::Ready) => ready += 1,
                Ok(Word::Home(Err(error))) => return Err(error),
                Err(RecvTimeoutError::Timeout) if self.watchers.stop.load(Ordering::Relaxed) => {
                    return Err(TrialError::Stopped);
                }
                Err(RecvTimeoutError::Timeout) if self.opened.clock.now() >= until => {
                    self.left_behind = true;
                    return Err(self.hung("get ready", ready, self.patience.ready));
                }
                Err(RecvTimeoutError::Timeout) => {}
                Ok(Word::Home(Ok(_))) | Err(RecvTimeoutError::Disconnected) => return Err(TrialError::Stopped),
            }
        }
        Ok(())
    }

    fn now(&self) -> Nanos {
        self.opened.clock.now().saturating_sub(self.zero)
    }

    /// Watches until the last worker is home.
    fn watch(&mut self, words: &Receiver<Word>) -> Result<(), TrialError> {
        let interval = self.trial.phases.interval;
        self.outcome.started_unix_ns = Some(self.opened.clock.unix_start_ns() + self.zero.0 as i64);
        self.clocks = Some(ClockWatch::new(self.opened.clock.reading()));
        self.announce();
        let mut border = Nanos::ZERO;
        while self.home < self.workers {
            let slept_from = self.now();
            self.listen(words, self.to_come.last().map_or(border, |(at, _)| border.min(*at)));
            let now = self.now();
            self.let_happen(now);
            self.cut_short(now);
            if self.overdue(now) {
                break;
            }
            if now < border && self.home < self.workers {
                continue;
            }
            self.notice_pause(slept_from, now, border);
            self.at_border(now, border);
            if self.collect() {
                self.halt.store(true, Ordering::Relaxed);
            }
            self.report(now);
            border += interval;
            if now > border {
                border = Nanos(now.0 / interval.0 * interval.0 + interval.0);
            }
        }
        let now = self.now();
        self.at_border(now, now);
        self.collect();
        match self.failure.take() {
            Some(error) => Err(error),
            None => self.outcome.check_gone(self.opened, self.collector.live().done),
        }?;
        match (self.stopped, self.left_behind) {
            (true, _) => Err(TrialError::Stopped),
            (false, true) => {
                let what = "come back when the load had ended";
                Err(self.hung(what, self.home, self.patience.leave))
            }
            (false, false) => Ok(()),
        }
    }

    /// What is due by now happens.
    fn let_happen(&mut self, now: Nanos) {
        while let Some((_, what)) = self.to_come.pop_if(|(at, _)| *at <= now) {
            self.outcome.seen.events.extend(what.map(|what| happened(now, what)));
            let end = || events::put_right(self.opened, self.trial);
            if let Err(error) = what.map_or_else(end, |what| events::make(self.opened, now, what)) {
                self.failure.get_or_insert(error);
            }
        }
    }

    fn hung(&self, what: &'static str, in_time: usize, limit: Nanos) -> TrialError {
        let system = self.opened.setting.system.clone();
        TrialError::Hung { system, out: self.workers - in_time, workers: self.workers, what, limit }
    }

    /// Ends the calls of workers who should be home; whether it is time to leave behind whoever is still out.
    fn overdue(&mut self, now: Nanos) -> bool {
        let deadline = window(self.trial).end + self.trial.phases.drain;
        let Some(over) = self.cut_at.or((now >= deadline).then_some(deadline)) else { return false };
        let Patience { cut, cut_early, leave, leave_stopped, .. } = self.patience;
        let late = now.saturating_sub(over);
        if late >= if self.cut_at.is_some() { cut_early } else { cut } {
            self.halt.store(true, Ordering::Relaxed);
            self.calls.cut();
        }
        self.left_behind = self.home < self.workers && late >= if self.stopped { leave_stopped } else { leave };
        self.left_behind
    }

    /// A stop, and the end of one worker, must not wait for a border: intervals of a long trial are minutes.
    fn cut_short(&mut self, now: Nanos) {
        let stop = self.watchers.stop.load(Ordering::Relaxed);
        if stop || self.failure.is_some() || self.outcome.gone.is_some() {
            self.stopped |= stop;
            self.cut_at.get_or_insert(now);
            self.halt.store(true, Ordering::Relaxed);
        }
    }

    /// Takes words until the border is reached or everybody is home.
    fn listen(&mut self, words: &Receiver<Word>, border: Nanos) {
        while self.home < self.workers {
            let left = (border + self.zero).saturating_sub(self.opened.clock.now());
            let failed = match words.recv_timeout(GLANCE.min(Duration::from_nanos(left.0))) {
                Ok(Word::Ready) => Ok(()),
                Ok(Word::Home(home)) => {
                    self.home += 1;
                    home.and_then(|home| self.outcome.welcome(*home))
                }
                Err(RecvTimeoutError::Timeout) => return,
                Err(RecvTimeoutError::Disconnected) => {
                    self.home = self.workers;
                    Err(TrialError::Stopped)
                }
            };
            if let Err(error) = failed {
                self.failure.get_or_insert(error);
            }
            if self.failure.is_some() || self.outcome.gone.is_some() {
                return;
            }
        }
    }

    /// A sleep that ends late was held up by the machine. A border that had passed before the sleep began was not: then
    /// the coordinator itself was busy, with a run file on the disk that is being loaded, say.
    fn notice_pause(&mut self, slept_from: Nanos, now: Nanos, border: Nanos) {
        let late = now.saturating_sub(border);
        if slept_from < border && late > PAUSE && self.home < self.workers {
            let text =
                format!("the machine, or whoever stopped Prony, held everything up for {}", units::duration(late));
            self.outcome.seen.events.push(Event { at: border, kind: EventKind::Pause, text });
        }
    }

    /// Reads clocks and probes that belong to this border.
    fn at_border(&mut self, now: Nanos, border: Nanos) {
        if let Some(clocks) = &mut self.clocks {
            clocks.look(self.opened.clock.reading());
        }
        let window = window(self.trial);
        let opens = self.cpu.is_empty() && border >= window.start;
        let closes = self.cpu.len() == 1 && (border >= window.end || self.home == self.workers);
        if opens || closes {
            let (process, own) = (probe::cpu_time(), probe::thread_cpu_time());
            self.cpu.push(CpuReading { at: now, process, own });
        }
        let rested = self.counters.as_ref().is_none_or(|(last, _)| now.saturating_sub(*last) >= COUNT_EVERY);
        if rested || opens || closes {
            self.count_server();
        }
        let due = self.reading.as_ref().is_none_or(|last| now.saturating_sub(last.at) >= PROBE_EVERY);
        if due || opens || closes {
            self.read_probes(now);
        }
    }

    /// Has read what a database's server counts, and waits for a short while: the server may never answer. What comes later is
    /// taken up at a later border.
    fn count_server(&mut self) {
        let waits = match &self.counting {
            Some(_) => Duration::ZERO,
            None => {
                let Some(read) = self.opened.backing.counters() else { return };
                let (clock, zero) = (self.opened.clock.clone(), self.zero);
                self.counts[0] = self.opened.backing.processes();
                self.counting = Some(elsewhere(move || (clock.now().saturating_sub(zero), read())));
                COUNT_PATIENCE
            }
        };
        match self.counting.as_ref().map(|counting| counting.recv_timeout(waits)) {
            None | Some(Err(RecvTimeoutError::Timeout)) => {}
            Some(read) => {
                self.counting = None;
                read.into_iter().for_each(|(at, counted)| self.take_counters(at, counted));
            }
        }
    }

    /// Rates since the last reading, or the value itself where the counter says that it is one of now. A checkpoint that ended in
    /// between is an event.
    fn take_counters(&mut self, at: Nanos, counted: observation::Counted) {
        // Nobody knows which server answered while its processes changed.
        if counted.is_empty() || self.counts[0] != self.opened.backing.processes() {
            return;
        }
        // One that was started again, or has changed its role with another, counts apart from the one before.
        let same = self.counts[0] == self.counts[1];
        self.counts[1] = self.counts[0].clone();
        if let Some((since, before)) = self.counters.as_ref().filter(|_| same) {
            let seconds = at.saturating_sub(*since).seconds();
            if seconds <= 0.0 {
                return;
            }
            probe::join(&mut self.points, counters::series(at, seconds, before, &counted));
            self.outcome.seen.events.extend(counters::checkpoints(at, before, &counted));
        }
        self.counters = Some((at, counted));
    }

    /// Only the last reading stays: a point is the difference of two, and a trial of hours reads often.
    fn read_probes(&mut self, now: Nanos) {
        // Those of a server that was started again are others.
        self.probes.watch(self.opened.backing.processes(), self.opened.backing.mirror_processes());
        let reading = self.probes.read(now);
        if let Some(before) = &self.reading {
            probe::join(&mut self.points, probe::series_between(before, &reading));
        }
        self.reading = Some(reading);
    }

    /// Takes new cells and shows them together with the new points; whether there were cells and they are enough.
    fn collect(&mut self) -> bool {
        self.fresh.clear();
        self.collector.collect(&mut self.fresh);
        if let Some(at) = self.cut_at {
            let whole = at.0 / self.trial.phases.interval.0.max(1);
            self.fresh.retain(|cell| u64::from(cell.key.interval) < whole);
        }
        self.outcome.show(self.trial, &self.fresh, std::mem::take(&mut self.points), self.watchers.observer);
        !self.fresh.is_empty() && (self.watchers.enough)(&self.fresh)
    }

    fn announce(&mut self) {
        let window = window(self.trial);
        if window.start > Nanos::ZERO {
            self.watchers.observer.phase(self.trial, Phase::WarmUp, window.start);
        }
        self.watchers.observer.phase(self.trial, Phase::Measure, window.end);
    }

    fn report(&mut self, now: Nanos) {
        let window = window(self.trial);
        let phase = match now {
            now if now < window.start => Phase::WarmUp,
            now if now < window.end => Phase::Measure,
            _ => Phase::Drain,
        };
        let (before, done_before) = self.done_before;
        let recorder::Live { done, failed } = self.collector.live();
        let seconds = now.saturating_sub(before).seconds();
        if seconds <= 0.0 {
            return;
        }
        self.done_before = (now, done);
        let classes: Vec<Vec<Class>> = self.trial.streams.iter().map(|stream| stream.classes()).collect();
        let response = asked_for(&classes, &self.fresh);
        let quantile = |q| response.quantile_ns(q).map(|ns| ns as f64 / 1e6);
        let done_per_s = done.saturating_sub(done_before) as f64 / seconds;
        let live = Live { at: now, phase, done_per_s, p50_ms: quantile(0.5), p99_ms: quantile(0.99), failed };
        self.watchers.observer.live(self.trial, &live);
    }

    /// What came of it, in order.
    fn close(self) -> Outcome {
        let mut outcome = self.outcome;
        let window = window(self.trial);
        let measured = outcome.ended.min(window.end).saturating_sub(window.start);
        outcome.measured = measured;
        outcome.seen.generator_cpu = generator_cpu(&self.cpu, outcome.workers_cpu, measured);
        outcome.seen.events.sort_by_key(|event| event.at);
        outcome.closed = self.opened.clock.now().saturating_sub(self.zero);
        outcome.clock = self.clocks.as_ref().and_then(ClockWatch::checked);
        outcome
    }
}

/// The responses of what users asked for: neither the age of data that they saw, nor work that follows from other work.
fn asked_for(classes: &[Vec<Class>], cells: &[Cell]) -> Histogram {
    let class = |cell: &Cell| classes.get(usize::from(cell.key.stream))?.get(usize::from(cell.key.class));
    let asked = |cell: &&Cell| class(cell).is_none_or(|class| !class.age && !class.upkeep);
    let mut response = Histogram::default();
    cells.iter().filter(asked).for_each(|cell| response.merge(&cell.response));
    response
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observer::Unobserved;
    use crate::sample;
    use crate::worker::assign::{Carriers, assign};
    use load::{Spec, Think};
    use study::Place;
    use system::null::NullPort;
    use units::Bytes;

    /// What a worker of these tests does.
    #[derive(Clone, Copy)]
    enum Does {
        Works,
        CannotGetReady,
        /// Its system is gone at once.
        Loses,
        PanicsBeforeTheGate,
        PanicsBehindIt,
    }

    /// Runs a trial of ten minutes with such workers until it is ended; how it ended, and what was brought home.
    fn ran(does: &[Does], enough: &mut dyn FnMut(&[Cell]) -> bool) -> (Outcome, Result<(), TrialError>) {
        let mut trial = sample::trial(Spec::Closed { slots: 4, think: Think::None }, Nanos::from_secs(600));
        trial.phases.interval = Nanos::from_millis(10);
        let opened = sample::open(Place::Null, 1, Bytes::gib(1), None).unwrap();
        let mut collector = Collector::default();
        let driver = |does, work| -> Driver {
            Box::new(move |share: Share, start: &Start| match does {
                Does::CannotGetReady => {
                    Err(TrialError::Resource { action: "finding a chair", source: std::io::Error::other("none") })
                }
                Does::Works => {
                    let mut port = NullPort::new(start.ready()?, share.slots());
                    share.drive(&mut port, work, &start.halt)
                }
                Does::PanicsBeforeTheGate => panic!("no chair"),
                Does::PanicsBehindIt => {
                    start.ready()?;
                    panic!("the chair broke in {} pieces", share.slots() + 6)
                }
                Does::Loses => {
                    let mut port = NullPort::new(start.ready()?, share.slots());
                    let home = share.drive(&mut port, work, &AtomicBool::new(true))?;
                    Ok(run::Return { gone: Some(libc::ENODEV), ..home })
                }
            })
        };
        let shares = assign(&trial, &mut collector, |stream| {
            Ok(Carriers::new(does.len() as u32, move |place| {
                Ok(driver(does[place.worker as usize], stream.storage_work(Bytes::gib(1), place)?))
            }))
        });
        let watchers = Watchers { observer: &mut Unobserved, stop: &AtomicBool::new(false), enough };
        run(&opened, &trial, shares.unwrap(), collector, watchers)
    }

    #[test]
    fn a_worker_that_cannot_get_ready_sends_everybody_home() {
        let (outcome, ended) = ran(&[Does::Works, Does::CannotGetReady, Does::Works], &mut |_| false);
        assert_eq!(ended.unwrap_err().to_string(), "finding a chair failed");
        assert_eq!(outcome.seen.accounts[0].planned, 0, "the trial never began");
    }

    #[test]
    fn a_worker_that_panics_ends_the_trial_and_is_named() {
        for (does, words) in [
            (Does::PanicsBeforeTheGate, "worker 1 of the trial panicked, which is a defect of Prony: no chair"),
            (
                Does::PanicsBehindIt,
                "worker 1 of the trial panicked, which is a defect of Prony: the chair broke in 7 pieces",
            ),
        ] {
            let (_, ended) = ran(&[Does::Works, does, Does::Works], &mut |_| false);
            assert_eq!(ended.unwrap_err().to_string(), words);
        }
    }

    #[test]
    fn a_trial_that_has_enough_ends_with_the_books_of_every_worker() {
        let (outcome, ended) = ran(&[Does::Works, Does::Works], &mut |cells| cells.len() > 1);
        assert!(ended.is_ok());
        assert!(outcome.seen.generators == 2 && outcome.ended > Nanos::ZERO && outcome.started_unix_ns.is_some());
    }

    #[test]
    fn when_the_system_of_one_worker_is_gone_the_others_stop_and_the_system_is_named() {
        let (_, ended) = ran(&[Does::Works, Does::Loses], &mut |_| false);
        let Err(TrialError::Gone { system, source, .. }) = ended else { panic!("{ended:?}") };
        assert_eq!((system.as_str(), source.raw_os_error()), ("null", Some(libc::ENODEV)));
    }

    /// Whether this many workers go when the coordinator leaves after so many of them stood ready, or opens the gate.
    fn gate(workers: usize, heard: usize, opens: bool) -> Vec<bool> {
        let (sender, words) = channel();
        let clock = recorder::WallClock::new();
        let (gate, halt, calls) = (Arc::default(), Arc::default(), Calls::default());
        let start = Start { clock: clock.clone(), gate, halt, calls, words: sender };
        let crew = Crew { start: start.clone(), threads: Vec::new(), wait: LEAVING };
        let begin = |start: Start| std::thread::spawn(move || start.ready().is_ok());
        let begun: Vec<_> = (0..workers).map(|_| begin(start.clone())).collect();
        for _ in 0..heard {
            assert!(matches!(words.recv().unwrap(), Word::Ready));
        }
        if opens {
            assert!(start.gate.set(Some(clock.now())).is_ok());
        }
        drop(crew);
        begun.into_iter().map(|worker| worker.join().unwrap()).collect()
    }

    #[test]
    fn everybody_goes_through_the_gate_or_home_and_nobody_waits() {
        for heard in 0..=3 {
            assert_eq!(gate(3, heard, false), [false; 3], "{heard} were heard");
        }
        assert_eq!(gate(3, 3, true), [true; 3]);
    }

    #[test]
    fn the_live_response_holds_neither_the_age_of_data_nor_work_that_follows_from_other_work() {
        let class = |name: &str, upkeep, age| Class { upkeep, age, ..Class::plain(name) };
        let classes = [vec![class("query", false, false), class("load", true, false), class("freshness", false, true)]];
        let cell = |at: u16, ms: u64| {
            let response = Histogram::from_values([1_000_000 * ms; 10]);
            let mut cell = Cell { response, ..Cell::default() };
            cell.key.class = at;
            cell
        };
        let response = asked_for(&classes, &[cell(0, 5), cell(1, 700), cell(2, 9_000)]);
        assert_eq!((response.count(), response.quantile_ns(0.99).map(|ns| ns / 1_000_000)), (10, Some(5)));
    }
}
