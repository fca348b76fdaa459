//! The workers of a trial, each on a thread of its own, and the coordinator who watches them.
//!
//! Workers prepare everything they need, wait at the gate, and run to the end without a word. The coordinator wakes at the
//! border of every interval, collects what they recorded, reads the probes, and takes the CPU clock at both ends of the
//! window. Nobody waits for it.

use crate::cpu::{CpuReading, generator_cpu};
use crate::gate::{Gate, Go};
use crate::observer::{Live, Observer, Phase};
use crate::opened::Opened;
use crate::sessions::Work;
use crate::task::Noticed;
use crate::worker;
use crate::{TrialError, counted, muster};
use observation::{Account, Cell, Counted, CpuTime, Event, EventKind, Histogram, Series};
use recorder::{Clock, Collector, WallClock};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;
use study::Trial;
use units::Nanos;

/// Probes are read no more often than this: a reading costs a good part of a millisecond.
const PROBE_EVERY: Nanos = Nanos(200_000_000);

/// A server is asked for its counters no more often than this: the answer costs it about a millisecond.
const COUNT_EVERY: Nanos = Nanos(1_000_000_000);

/// How long the coordinator sleeps at most before it looks whether it should stop.
const GLANCE: Duration = Duration::from_millis(100);

/// A coordinator that wakes so late was held up together with everything else on the machine.
const PAUSE: Nanos = Nanos(100_000_000);

/// What all workers together brought home.
#[derive(Debug, Default)]
pub(crate) struct Haul {
    pub(crate) started_unix_ns: i64,
    /// Empty when the observer keeps them; so are the series.
    pub(crate) cells: Vec<Cell>,
    pub(crate) accounts: Vec<Account>,
    pub(crate) generators: u16,
    pub(crate) generator_cpu: CpuTime,
    pub(crate) series: Vec<Series>,
    pub(crate) events: Vec<Event>,
    pub(crate) validated: u64,
    pub(crate) damaged: u64,
    /// When the last worker was through, on the trial's clock.
    pub(crate) ended: Nanos,
    /// The workloads of transactions, with what they remember.
    pub(crate) works: Vec<Work>,
}

/// What a worker says.
pub(crate) enum Word {
    /// It stands at the gate.
    Ready,
    /// It could not get ready, or its port broke.
    Lost(TrialError),
    /// It is through.
    Home(Box<worker::Return>),
}

/// Decides after each interval whether the trial may end early.
pub(crate) type Verdict<'a> = &'a mut dyn FnMut(&[Cell]) -> bool;

/// Runs a trial's streams over real time.
///
/// # Errors
/// Whatever kept a worker from getting ready or from going on, or that it was told to stop.
pub(crate) fn run(
    opened: &Opened,
    trial: &Trial,
    observer: &mut dyn Observer,
    stop: &AtomicBool,
    verdict: Verdict<'_>,
    works: &mut Vec<Work>,
) -> Result<Haul, TrialError> {
    let mut collector = Collector::default();
    let assignments = muster::assignments(opened, trial, &mut collector)?;
    let (gate, halt) = (Gate::default(), AtomicBool::new(false));
    let (sender, words) = channel();
    std::thread::scope(|scope| {
        // Whatever happens here, a panic included, nobody may wait at the gate or run on: the scope waits for all.
        let _release = Release { gate: &gate, halt: &halt };
        let workers = assignments.len();
        for assignment in assignments {
            let (sender, gate, halt, clock) = (sender.clone(), &gate, &halt, opened.clock.clone());
            std::thread::Builder::new()
                .spawn_scoped(scope, move || worker::run(assignment, clock, gate, halt, &sender))
                .map_err(|source| TrialError::Resource { action: "starting a worker's thread", source })?;
        }
        // From here on only workers hold the channel: if one panics, it ends, and the panic comes out of this scope.
        drop(sender);
        let mut watch = Watch::new(opened, trial, collector, workers);
        watch.muster(&words)?;
        watch.zero = opened.clock.now() + Nanos::from_millis(2);
        gate.open(Go::At(watch.zero));
        let outcome = watch.until_home(&words, observer, stop, &halt, verdict);
        works.append(&mut watch.haul.works);
        outcome.and_then(|()| watch.haul())
    })
}

/// Lets every worker go when the coordinator leaves, by whichever way.
struct Release<'a> {
    gate: &'a Gate,
    halt: &'a AtomicBool,
}

impl Drop for Release<'_> {
    fn drop(&mut self) {
        self.halt.store(true, Ordering::Relaxed);
        self.gate.give_up();
    }
}

/// The coordinator's notes.
struct Watch<'a> {
    clock: WallClock,
    trial: &'a Trial,
    collector: Collector,
    probes: probe::Probes,
    zero: Nanos,
    workers: usize,
    home: usize,
    haul: Haul,
    fresh: Vec<Cell>,
    /// The last reading of the probes, and the points that came since the observer was told.
    reading: Option<probe::Reading>,
    points: Vec<Series>,
    /// CPU of the process and of this thread, at both ends of the window.
    cpu: Vec<CpuReading>,
    /// CPU of all workers' threads in the window.
    workers_cpu: CpuTime,
    done_before: (Nanos, u64),
    gone: Option<i32>,
    failure: Option<TrialError>,
    system: String,
    stopped: bool,
    /// When the trial was cut short: the interval of that moment never ended.
    cut_at: Option<Nanos>,
    opened: &'a Opened,
    /// Counters of a database's server when they were read last.
    counters: Option<(Nanos, Counted)>,
}

impl<'a> Watch<'a> {
    fn new(opened: &'a Opened, trial: &'a Trial, collector: Collector, workers: usize) -> Watch<'a> {
        let accounts = vec![Account::default(); trial.streams.len()];
        Watch {
            clock: opened.clock.clone(),
            trial,
            collector,
            probes: probe::Probes::new(&opened.places()).with_server(opened.server_processes()),
            opened,
            counters: None,
            zero: Nanos::ZERO,
            workers,
            home: 0,
            haul: Haul { accounts, generators: workers as u16, ..Haul::default() },
            fresh: Vec::new(),
            reading: None,
            points: Vec::new(),
            cpu: Vec::with_capacity(2),
            workers_cpu: CpuTime::default(),
            done_before: (Nanos::ZERO, 0),
            gone: None,
            failure: None,
            system: opened.name.clone(),
            stopped: false,
            cut_at: None,
        }
    }

    /// Waits until every worker stands at the gate.
    fn muster(&mut self, words: &Receiver<Word>) -> Result<(), TrialError> {
        for _ in 0..self.workers {
            match words.recv() {
                Ok(Word::Ready) => {}
                Ok(Word::Lost(error)) => return Err(error),
                Ok(Word::Home(_)) | Err(_) => return Err(TrialError::Stopped),
            }
        }
        Ok(())
    }

    fn now(&self) -> Nanos {
        self.clock.now().saturating_sub(self.zero)
    }

    /// Watches until the last worker is home.
    fn until_home(
        &mut self,
        words: &Receiver<Word>,
        observer: &mut dyn Observer,
        stop: &AtomicBool,
        halt: &AtomicBool,
        verdict: Verdict<'_>,
    ) -> Result<(), TrialError> {
        let phases = self.trial.phases;
        self.haul.started_unix_ns = self.clock.unix_start_ns() + self.zero.0 as i64;
        self.announce(observer);
        let mut border = Nanos::ZERO;
        while self.home < self.workers {
            let slept_from = self.now();
            self.listen(words, border);
            let now = self.now();
            // A stop, and the end of one worker, must not wait for a border: intervals of a long trial are minutes.
            if stop.load(Ordering::Relaxed) || self.failure.is_some() || self.gone.is_some() {
                self.stopped |= stop.load(Ordering::Relaxed);
                self.cut_at.get_or_insert(now);
                halt.store(true, Ordering::Relaxed);
            }
            if now < border && self.home < self.workers {
                continue;
            }
            self.notice_pause(slept_from, now, border);
            self.at_border(now, border);
            if self.collect(observer) && verdict(&self.fresh) {
                halt.store(true, Ordering::Relaxed);
            }
            self.report(observer, now);
            border += phases.interval;
            if now > border {
                border = Nanos(now.0 / phases.interval.0 * phases.interval.0 + phases.interval.0);
            }
        }
        self.finish(observer, verdict)
    }

    /// Takes words until the border is reached or everybody is home.
    fn listen(&mut self, words: &Receiver<Word>, border: Nanos) {
        while self.home < self.workers {
            let left = (border + self.zero).saturating_sub(self.clock.now());
            match words.recv_timeout(GLANCE.min(Duration::from_nanos(left.0))) {
                Ok(Word::Ready) => {}
                Ok(Word::Lost(error)) => {
                    self.home += 1;
                    self.failure.get_or_insert(error);
                }
                Ok(Word::Home(home)) => self.welcome(*home),
                Err(RecvTimeoutError::Timeout) => return,
                Err(RecvTimeoutError::Disconnected) => {
                    self.home = self.workers;
                    self.failure.get_or_insert(TrialError::Stopped);
                }
            }
            if self.failure.is_some() || self.gone.is_some() {
                return;
            }
        }
    }

    fn welcome(&mut self, home: worker::Return) {
        self.home += 1;
        self.gone = self.gone.or(home.gone);
        self.haul.ended = self.haul.ended.max(home.ended);
        self.workers_cpu.user_s += home.cpu.user_s;
        self.workers_cpu.system_s += home.cpu.system_s;
        match home.account {
            Ok(account) => self.haul.accounts[usize::from(home.stream)].add(&account),
            Err(unbalanced) => {
                self.failure.get_or_insert(TrialError::Unbalanced { source: Box::new(unbalanced) });
            }
        }
        self.haul.works.extend(home.work);
        self.take_notice(home.noticed);
    }

    fn take_notice(&mut self, noticed: Noticed) {
        self.haul.validated += noticed.validated;
        self.haul.damaged += noticed.damaged;
        self.haul.events.extend(noticed.events);
    }

    /// A sleep that ends late was held up by the machine. A border that had passed before the sleep began was not: then
    /// the coordinator itself was busy, with a run file on the disk that is being loaded, say.
    fn notice_pause(&mut self, slept_from: Nanos, now: Nanos, border: Nanos) {
        let late = now.saturating_sub(border);
        if slept_from < border && late > PAUSE && self.home < self.workers {
            let text = format!("the machine held everything up for {}", units::duration(late));
            self.haul.events.push(Event { at: border, kind: EventKind::Pause, text });
        }
    }

    /// Reads clocks and probes that belong to this border.
    fn at_border(&mut self, now: Nanos, border: Nanos) {
        let phases = self.trial.phases;
        let end = phases.warm_up + phases.measure;
        let opens = self.cpu.is_empty() && border >= phases.warm_up;
        let closes = self.cpu.len() == 1 && (border >= end || self.home == self.workers);
        if opens || closes {
            let (process, own) = (probe::cpu_time(), probe::thread_cpu_time());
            self.cpu.push(CpuReading { at: now, process, own });
        }
        let rested = self.counters.as_ref().is_none_or(|(last, _)| now.saturating_sub(*last) >= COUNT_EVERY);
        if rested || opens || closes {
            self.count_server(now);
        }
        let due = self.reading.as_ref().is_none_or(|last| now.saturating_sub(last.at) >= PROBE_EVERY);
        if due || opens || closes {
            self.read_probes(now);
        }
    }

    /// Reads what a database's server counts: rates since the last reading, or the value itself where the counter says
    /// that it is one of now. A checkpoint that ended in between is an event.
    fn count_server(&mut self, now: Nanos) {
        let counted = self.opened.counters();
        if counted.is_empty() {
            return;
        }
        if let Some((since, before)) = &self.counters {
            let seconds = now.saturating_sub(*since).seconds();
            if seconds <= 0.0 {
                return;
            }
            probe::join(&mut self.points, counted::series(now, seconds, before, &counted));
            self.haul.events.extend(counted::checkpoints(now, before, &counted));
        }
        self.counters = Some((now, counted));
    }

    /// Only the last reading stays: a point is the difference of two, and a trial of hours reads often.
    fn read_probes(&mut self, now: Nanos) {
        let reading = self.probes.read(now);
        if let Some(before) = &self.reading {
            probe::join(&mut self.points, probe::series_between(before, &reading));
        }
        self.reading = Some(reading);
    }

    /// Takes new cells, shows them to the observer together with the new points, and keeps both when nobody else does.
    /// Answers whether there were cells.
    fn collect(&mut self, observer: &mut dyn Observer) -> bool {
        self.fresh.clear();
        self.collector.collect(&mut self.fresh);
        if let Some(at) = self.cut_at {
            let whole = at.0 / self.trial.phases.interval.0.max(1);
            self.fresh.retain(|cell| u64::from(cell.key.interval) < whole);
        }
        let points = std::mem::take(&mut self.points);
        if !self.fresh.is_empty() || !points.is_empty() {
            observer.interval(self.trial, &self.fresh, &points);
        }
        if !observer.keeps() {
            self.fresh.iter().for_each(|cell| keep(&mut self.haul.cells, cell));
            probe::join(&mut self.haul.series, points);
        }
        !self.fresh.is_empty()
    }

    fn announce(&self, observer: &mut dyn Observer) {
        let phases = self.trial.phases;
        if phases.warm_up > Nanos::ZERO {
            observer.phase(self.trial, Phase::WarmUp, phases.warm_up);
        }
        observer.phase(self.trial, Phase::Measure, phases.warm_up + phases.measure);
    }

    fn report(&mut self, observer: &mut dyn Observer, now: Nanos) {
        let phases = self.trial.phases;
        let phase = match now {
            now if now < phases.warm_up => Phase::WarmUp,
            now if now < phases.warm_up + phases.measure => Phase::Measure,
            _ => Phase::Drain,
        };
        let (before, done_before) = self.done_before;
        let done = self.collector.live().done;
        let seconds = now.saturating_sub(before).seconds();
        if seconds <= 0.0 {
            return;
        }
        self.done_before = (now, done);
        let mut response = Histogram::default();
        self.fresh.iter().for_each(|cell| response.merge(&cell.response));
        let quantile = |q| response.quantile_ns(q).map(|ns| ns as f64 / 1e6);
        let done_per_s = done.saturating_sub(done_before) as f64 / seconds;
        let live = Live { at: now, phase, done_per_s, p50_ms: quantile(0.5), p99_ms: quantile(0.99) };
        observer.live(self.trial, &live);
    }

    /// The last look, when everybody is home.
    fn finish(&mut self, observer: &mut dyn Observer, verdict: Verdict<'_>) -> Result<(), TrialError> {
        let now = self.now();
        self.at_border(now, now);
        if self.collect(observer) {
            verdict(&self.fresh);
        }
        if let Some(error) = self.failure.take() {
            return Err(error);
        }
        if let Some(errno) = self.gone {
            let done = self.collector.live().done;
            let source = std::io::Error::from_raw_os_error(errno);
            let place = self.opened.place().unwrap_or_default();
            return Err(TrialError::Gone {
                system: self.system.clone(),
                place,
                done,
                words: self.last_words(),
                source,
            });
        }
        if self.stopped { Err(TrialError::Stopped) } else { Ok(()) }
    }

    /// What the last failure said that was noticed.
    fn last_words(&self) -> String {
        let failures = self.haul.events.iter().filter(|event| event.kind == EventKind::Failure);
        failures.max_by_key(|event| event.at).map_or_else(String::new, |event| event.text.clone())
    }

    fn haul(self) -> Result<Haul, TrialError> {
        let mut haul = self.haul;
        let phases = self.trial.phases;
        let window = haul.ended.min(phases.warm_up + phases.measure).saturating_sub(phases.warm_up);
        haul.generator_cpu = generator_cpu(&self.cpu, self.workers_cpu, window);
        haul.events.sort_by_key(|event| event.at);
        Ok(haul)
    }
}

/// Adds a cell to those kept, over all endpoints and workers: the store has them apart, and memory must not grow with
/// their number.
pub(crate) fn keep(kept: &mut Vec<Cell>, cell: &Cell) {
    let key = observation::CellKey { endpoint: 0, generator: 0, ..cell.key };
    // Late cells belong to a recent interval, so the search from the end is short.
    match kept.iter_mut().rev().take(256).find(|held| held.key == key) {
        Some(held) => held.merge(cell),
        None => kept.push(Cell { key, ..cell.clone() }),
    }
}
