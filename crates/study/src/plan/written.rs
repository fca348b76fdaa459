//! Every byte that a run will write, before it writes the first.
//!
//! The one idea: what can be counted is counted, and what depends on the speed of the system is said to, with the space
//! that it stays within.
//!
//! What it does not do: it knows nothing of write amplification inside a device.

use super::Plan;
use crate::{Storage, Stream, Trial};
use load::{Spec as LoadSpec, Think};
use units::{Bytes, Nanos};

/// What is written on one occasion, on one system.
#[derive(Clone, Debug, PartialEq)]
pub struct Written {
    /// Name of the system.
    pub system: String,
    /// When.
    pub occasion: Occasion,
    /// How much.
    pub amount: Amount,
}

/// When something is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Occasion {
    /// Once, before the first trial: scratch files, or the used part of devices that are written anyway.
    Fill,
    /// Before trials, because the state policy says so: all modules again.
    Refill,
    /// Before trials, because the state policy says so: preconditioning.
    Precondition,
    /// By the trials of an experiment.
    Trials {
        /// Name of the experiment.
        experiment: String,
    },
}

/// How much is written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Amount {
    /// So much.
    Exactly(Bytes),
    /// No more than that: the work or the pace is bounded.
    AtMost(Bytes),
    /// As much as the system takes in that time; it stays within the space that is given.
    AsFastAsItGoes {
        /// For how long, all trials together.
        time: Nanos,
        /// Within which space.
        within: Bytes,
        /// What is written besides for certain or at most.
        besides: Bytes,
    },
}

/// What a system holds while the run is on.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Filled {
    pub system: String,
    /// Size of a module as it is made: that of the largest trial.
    pub module: Bytes,
    /// All modules together.
    pub scratch: Bytes,
    /// Files of file work.
    pub files: Bytes,
}

impl Written {
    /// The part that can be counted.
    pub fn bytes(&self) -> Bytes {
        match self.amount {
            Amount::Exactly(bytes) | Amount::AtMost(bytes) => bytes,
            Amount::AsFastAsItGoes { besides, .. } => besides,
        }
    }
}

/// What each system must hold, over all trials that may come; `silent` systems answer by themselves and hold nothing.
pub(crate) fn filled(plan: &Plan, silent: impl Fn(&str) -> bool) -> Vec<Filled> {
    let trials: Vec<&Trial> = plan.all().collect();
    let mut names: Vec<&str> = Vec::new();
    for trial in &trials {
        if !silent(&trial.label.system) && !names.contains(&trial.label.system.as_str()) {
            names.push(&trial.label.system);
        }
    }
    let own = |name: &str| trials.iter().copied().filter(|trial| trial.label.system == name).collect::<Vec<_>>();
    names.into_iter().map(|name| Filled::of(name, &own(name))).collect()
}

impl Filled {
    fn of(system: &str, trials: &[&Trial]) -> Filled {
        let largest = |of: fn(&Trial) -> Bytes| trials.iter().map(|trial| of(trial)).max().unwrap_or_default();
        let module = largest(|trial| trial.module_bytes);
        let modules = trials.iter().filter(|trial| trial.module_bytes.0 > 0).map(|trial| trial.modules).max();
        Filled {
            system: system.to_owned(),
            module,
            scratch: Bytes(module.0.saturating_mul(u64::from(modules.unwrap_or(0)))),
            files: largest(footprint),
        }
    }

    /// Bytes of the fills that happen because modules of a trial hold nothing, and of those that the state policy asks for before a
    /// trial. The former cover the modules of every trial, so that the order of trials does not count; the latter those of
    /// their own, and a trim leaves nothing in all others.
    fn fills(&self, trials: &[&Trial]) -> (Bytes, Bytes) {
        let (mut first, mut again, mut filled) = (0u64, 0u64, 0);
        for trial in trials.iter().filter(|trial| trial.module_bytes.0 > 0) {
            if fresh(trial) {
                again = again.saturating_add(self.module.0.saturating_mul(u64::from(trial.modules)));
                filled = if trial.state.trim { trial.modules } else { trial.modules.max(filled) };
            } else if trial.modules > filled {
                first = first.saturating_add(self.scratch.0);
                filled = u32::MAX;
            }
        }
        (Bytes(first), Bytes(again))
    }
}

/// Whether the modules are filled before the trial whatever they hold.
pub(super) fn fresh(trial: &Trial) -> bool {
    trial.state.refill || trial.state.trim
}

fn capacity(trial: &Trial) -> Bytes {
    Bytes(trial.module_bytes.0.saturating_mul(u64::from(trial.modules)))
}

fn footprint(trial: &Trial) -> Bytes {
    let files = trial.streams.iter().filter_map(Stream::files);
    Bytes(files.map(|spec| spec.footprint().0).fold(0, u64::saturating_add))
}

impl Plan {
    /// Space that the run takes up at most on each system: scratch files, and the files of file work at its widest.
    pub fn occupied(&self) -> Vec<(String, Bytes)> {
        let space = |filled: &Filled| Bytes(filled.scratch.0.saturating_add(filled.files.0));
        self.filled.iter().map(|filled| (filled.system.clone(), space(filled))).collect()
    }

    /// Everything that the certain trials write, by system and occasion. Repeats and searches write the like again.
    pub fn written(&self) -> Vec<Written> {
        let mut written = Vec::new();
        for filled in &self.filled {
            let on_it = |trial: &&Trial| trial.label.system == filled.system;
            let own: Vec<&Trial> = self.trials.iter().filter(on_it).collect();
            let (_, again) = filled.fills(&own);
            // A study of searches only fills too, before the first of them.
            let (fill, _) = filled.fills(&self.all().filter(on_it).collect::<Vec<_>>());
            let exactly = |bytes: Bytes| (bytes.0 > 0).then_some(Amount::Exactly(bytes));
            let before = [
                (Occasion::Fill, exactly(fill)),
                (Occasion::Refill, exactly(again)),
                (Occasion::Precondition, preconditioned(filled.module, &own)),
            ];
            written.extend(before.into_iter().filter_map(|(occasion, amount)| {
                Some(Written { system: filled.system.clone(), occasion, amount: amount? })
            }));
            written.extend(by_experiment(&filled.system, &own));
        }
        written
    }
}

/// What preconditioning writes before trials.
fn preconditioned(module: Bytes, trials: &[&Trial]) -> Option<Amount> {
    let (mut bytes, mut time, mut within) = (0u64, Nanos::ZERO, Bytes(0));
    for trial in trials {
        let Some(precondition) = trial.state.precondition.filter(|_| trial.module_bytes.0 > 0) else { continue };
        let capacity = Bytes(module.0.saturating_mul(u64::from(trial.modules)));
        bytes = bytes.saturating_add((precondition.fills * capacity.0 as f64) as u64);
        if precondition.until_steady && trial.writes() {
            time = time.saturating_add(Nanos(precondition.round.0 * u64::from(precondition.rounds_max)));
            within = within.max(capacity);
        }
    }
    match (time > Nanos::ZERO, bytes) {
        (true, _) => Some(Amount::AsFastAsItGoes { time, within, besides: Bytes(bytes) }),
        (false, 0) => None,
        (false, _) => Some(Amount::Exactly(Bytes(bytes))),
    }
}

fn by_experiment(system: &str, trials: &[&Trial]) -> Vec<Written> {
    let mut experiments: Vec<&str> = trials.iter().map(|trial| trial.label.experiment.as_str()).collect();
    experiments.sort_unstable();
    experiments.dedup();
    let of = |experiment: &str| {
        let own = trials.iter().filter(|trial| trial.label.experiment == experiment);
        let amount = own.map(|trial| trial_amount(trial)).reduce(add)?;
        let nothing = matches!(amount, Amount::Exactly(Bytes(0)));
        let occasion = Occasion::Trials { experiment: experiment.to_owned() };
        (!nothing).then(|| Written { system: system.to_owned(), occasion, amount })
    };
    experiments.into_iter().filter_map(of).collect()
}

fn trial_amount(trial: &Trial) -> Amount {
    let nothing = Amount::Exactly(Bytes(0));
    trial.streams.iter().map(|stream| stream_amount(trial, stream)).reduce(add).unwrap_or(nothing)
}

fn stream_amount(trial: &Trial, stream: &Stream) -> Amount {
    // What a database writes is its own affair; the plan counts what Prony writes.
    let Some(operations) = stream.operations() else { return Amount::Exactly(Bytes(0)) };
    let spec = match &operations.of {
        Storage::Files(spec) => return Amount::Exactly(spec.written()),
        Storage::Block(spec) if !spec.writes() => return Amount::Exactly(Bytes(0)),
        Storage::Block(spec) => spec,
    };
    let one = spec.written_per_operation();
    let time = trial.phases.warm_up.saturating_add(trial.phases.measure);
    if let Some(count) = operations.count {
        let bytes = Bytes((count as f64 * one) as u64);
        return if spec.read.0 == 0.0 { Amount::Exactly(bytes) } else { Amount::AtMost(bytes) };
    }
    match stream.load {
        // A slot that thinks between operations is bounded by its pauses, a schedule by its rate.
        LoadSpec::Closed { slots, think: Think::Constant(think) } if think > Nanos::ZERO => {
            let each = (time.0 / think.0 + 1) as f64;
            Amount::AtMost(Bytes((f64::from(slots) * each * one) as u64))
        }
        // Five standard deviations of a Poisson count above its mean.
        LoadSpec::Open { rate, .. } => {
            let count = rate.0 * time.seconds();
            Amount::AtMost(Bytes(((count + 5.0 * count.sqrt() + 1.0) * one) as u64))
        }
        LoadSpec::Closed { .. } => Amount::AsFastAsItGoes { time, within: capacity(trial), besides: Bytes(0) },
    }
}

fn add(a: Amount, b: Amount) -> Amount {
    use Amount::{AsFastAsItGoes, AtMost, Exactly};
    let sum = |a: Bytes, b: Bytes| Bytes(a.0.saturating_add(b.0));
    match (a, b) {
        (Exactly(a), Exactly(b)) => Exactly(sum(a, b)),
        (Exactly(a) | AtMost(a), Exactly(b) | AtMost(b)) => AtMost(sum(a, b)),
        (AsFastAsItGoes { time, within, besides }, AsFastAsItGoes { time: more, within: other, besides: beside }) => {
            AsFastAsItGoes { time: time.saturating_add(more), within: within.max(other), besides: sum(besides, beside) }
        }
        (AsFastAsItGoes { time, within, besides }, Exactly(b) | AtMost(b))
        | (Exactly(b) | AtMost(b), AsFastAsItGoes { time, within, besides }) => {
            AsFastAsItGoes { time, within, besides: sum(besides, b) }
        }
    }
}
