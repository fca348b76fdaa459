//! What a trial came to: everything that its workers brought home.

use crate::TrialError;
use crate::hot::hung::Hung;
use crate::hot::noticed::Noticed;
use crate::observer::Observer;
use crate::target::backing::Told;
use crate::target::opened::Opened;
use crate::worker::rings::{self, RingUse};
use crate::worker::run::Return;
use crate::worker::transactions::Transactions;
use load::Kept;
use observation::{Account, Cell, CellKey, CpuTime, EventKind, Observations, Series, Whole};
use recorder::ClockCheck;
use study::Trial;
use units::Nanos;

#[derive(Default)]
pub(crate) struct Outcome {
    /// What comes back of the trial. Cells and series are empty when the observer keeps them.
    pub(crate) seen: Observations,
    pub(crate) started_unix_ns: Option<i64>,
    /// When the last worker was through, on the trial's clock.
    pub(crate) ended: Nanos,
    /// When the last operation of each stream was over.
    pub(crate) streams_ended: Vec<Nanos>,
    /// CPU of all workers' threads in the window.
    pub(crate) workers_cpu: CpuTime,
    /// How what comes by the clock kept up with it, with its stream.
    pub(crate) kept: Vec<(u16, Vec<Kept>)>,
    /// When each session had done the last of the work of a job.
    pub(crate) worked_until: Vec<Nanos>,
    /// How long each of them waited for a CPU in the window, where the kernel counts it.
    pub(crate) workers_waited: Vec<Nanos>,
    /// How much of the window was measured.
    pub(crate) measured: Nanos,
    /// The rings of those workers who had one.
    pub(crate) rings: Vec<RingUse>,
    /// What had not come back when the time to drain was over.
    pub(crate) hung: Vec<Hung>,
    /// When all that was recorded had been collected, on the trial's clock.
    pub(crate) closed: Nanos,
    /// How the trial's clock stood to the kernel's.
    pub(crate) clock: Option<ClockCheck>,
    /// The errno after which no further operation could succeed.
    pub(crate) gone: Option<i32>,
    /// The workloads of transactions, with what they remember.
    pub(crate) transactions: Vec<Transactions>,
}

impl Outcome {
    /// Nothing yet, of so many workers. Those that carry what comes by the clock rest most of the time, and say nothing of how
    /// busy the generator is.
    pub(crate) fn new(trial: &Trial, workers: u16) -> Outcome {
        let by_clock = trial.streams.iter().filter(|stream| !stream.clock().is_empty()).count() as u16;
        let generators = workers.saturating_sub(by_clock);
        let accounts = vec![Account::default(); trial.streams.len()];
        let streams_ended = vec![Nanos::ZERO; trial.streams.len()];
        Outcome {
            seen: Observations { accounts, generators, ..Observations::default() },
            streams_ended,
            ..Outcome::default()
        }
    }

    /// Adds what one worker brought home.
    pub(crate) fn welcome(&mut self, home: Return) -> Result<(), TrialError> {
        self.gone = self.gone.or(home.gone);
        self.ended = self.ended.max(home.ended);
        let stream = &mut self.streams_ended[usize::from(home.stream)];
        *stream = home.last.max(*stream);
        self.workers_cpu.user_s += home.used.cpu.user_s;
        self.workers_cpu.system_s += home.used.cpu.system_s;
        self.workers_waited.extend(home.used.waited);
        self.rings.extend(home.ring);
        self.worked_until.extend(home.worked_until);
        self.kept.push((home.stream, home.kept));
        self.notice(home.noticed, home.stream, home.transactions.is_some());
        self.transactions.extend(home.transactions);
        let account = home.account.map_err(|source| TrialError::Unbalanced { source: Box::new(source) })?;
        self.seen.accounts[usize::from(home.stream)].add(&account);
        Ok(())
    }

    /// Adds what was noticed of a stream; `transactions` says that its errnos stand for what a database said.
    pub(crate) fn notice(&mut self, noticed: Noticed, stream: u16, transactions: bool) {
        let mishaps = noticed.mishaps(stream, transactions);
        mishaps.into_iter().for_each(|mishap| mishap.add_to(&mut self.seen.mishaps));
        self.hung.extend(noticed.hung.filter(Hung::is_worth_telling));
        self.seen.validated_reads += noticed.validated;
        self.seen.events.extend(noticed.events);
    }

    /// What the generator says of itself.
    pub(crate) fn of_generator(&self) -> Vec<Series> {
        let told = |(what, value): (Whole, f64)| Series { probe: what.into(), points: vec![(self.closed, value)] };
        let clock = self.clock.into_iter().flat_map(|clock| {
            [
                (Whole::ClockError, clock.error_ppm),
                (Whole::ClockUncertainty, clock.uncertainty_ppm),
                (Whole::ClockSuspended, clock.suspended_s),
                (Whole::ClockJump, clock.jump_s),
            ]
        });
        let hung = self.hung.iter().map(|hung| hung.at).max().map(|at| {
            let count: u32 = self.hung.iter().map(|hung| hung.operations).sum();
            Series { probe: Whole::Hung.into(), points: vec![(at, f64::from(count))] }
        });
        let waited = self.waited_for_cpu().map(|share| (Whole::WaitedForCpu, share));
        clock.chain(waited).map(told).chain(rings::series(&self.rings, self.closed)).chain(hung).collect()
    }

    /// How long the sessions of a job worked, which is told of several that carry one.
    pub(crate) fn of_jobs(&self, trial: &Trial) -> Vec<Series> {
        let [stream] = trial.streams.as_slice() else { return Vec::new() };
        let jobs = self.worked_until.len();
        if jobs < 2 || !trial.phases.fixed_work || stream.transactions().is_none() {
            return Vec::new();
        }
        let seconds = || self.worked_until.iter().map(|until| until.seconds());
        let (longest, mean) = (seconds().fold(0.0, f64::max), seconds().sum::<f64>() / jobs as f64);
        let told = |(what, value): (Whole, f64)| Series { probe: what.into(), points: vec![(self.closed, value)] };
        [(Whole::JobLongest, longest), (Whole::JobMean, mean)].map(told).into()
    }

    /// The share of the measured window that the worker who waited longest for a CPU spent waiting for it.
    fn waited_for_cpu(&self) -> Option<f64> {
        let longest = self.workers_waited.iter().max()?;
        (self.measured > Nanos::ZERO).then(|| (longest.seconds() / self.measured.seconds()).min(1.0))
    }

    /// Shows cells and points to the observer, and keeps them when nobody else does.
    pub(crate) fn show(&mut self, trial: &Trial, cells: &[Cell], series: Vec<Series>, observer: &mut dyn Observer) {
        if !cells.is_empty() || !series.is_empty() {
            observer.interval(trial, cells, &series);
        }
        if !observer.keeps() {
            cells.iter().for_each(|cell| self.keep(cell));
            probe::join(&mut self.seen.series, series);
        }
    }

    /// Takes what a system tells of the trial.
    pub(crate) fn hear(&mut self, trial: &Trial, told: Told, observer: &mut dyn Observer) {
        self.show(trial, &[], told.series, observer);
        self.seen.events.extend(told.events);
        self.seen.checks.extend(told.checks);
    }

    /// Adds a cell to those kept, over all endpoints and workers: the store has them apart, and memory must not grow with
    /// their number.
    fn keep(&mut self, cell: &Cell) {
        let key = CellKey { endpoint: 0, generator: 0, ..cell.key };
        // Late cells belong to a recent interval, so the search from the end is short.
        match self.seen.cells.iter_mut().rev().take(256).find(|held| held.key == key) {
            Some(held) => held.merge(cell),
            None => self.seen.cells.push(Cell { key, ..cell.clone() }),
        }
    }

    /// The system went away, when it did; so many operations had ended well before.
    pub(crate) fn check_gone(&self, opened: &Opened, done: u64) -> Result<(), TrialError> {
        let Some(errno) = self.gone else { return Ok(()) };
        let failures = self.seen.events.iter().filter(|event| event.kind == EventKind::Failure);
        let words = failures.max_by_key(|event| event.at).map_or_else(String::new, |event| event.text.clone());
        let system = opened.setting.system.clone();
        // What a script's own steps cannot do says nothing of the system.
        if matches!(errno, libc::ENOTRECOVERABLE | libc::EDOM) {
            return Err(TrialError::Aborted { system, done, words });
        }
        let place = opened.backing.address().unwrap_or_default();
        let source = std::io::Error::from_raw_os_error(errno);
        Err(TrialError::Gone { system, place, done, words, source })
    }
}
