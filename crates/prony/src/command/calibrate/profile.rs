//! `--profile RUN`: what a transaction of a measured run asked for, for the numbers of a server's model.
//!
//! The one idea: amounts are taken from the trial in which the least waits for anything, and each says what it is of. What
//! was not observed stays as the model has it.

use crate::failure::Failure;
use crate::{judged, run_rows};
use analysis::{CpuBasis, Findings, ServerSummary, StatementProfile, TrialSummary};
use model::file::Description;
use model::server::Amount;
use model::taken::{Taken, take};
use observation::{Counter, Provenance, StreamLabel};
use workload::Demand;

/// A model with what a run said.
#[derive(Debug)]
pub(super) struct Profiled {
    /// The model.
    pub(super) model: Description,
    /// Of which run.
    pub(super) run: String,
    /// Of which trial.
    pub(super) trial: u32,
    /// Why this one.
    pub(super) why: &'static str,
    /// On which system.
    pub(super) system: String,
    /// Sessions of the trial.
    pub(super) sessions: u32,
    /// Transactions behind the amounts.
    pub(super) transactions: u64,
    /// Each amount, and of what it is.
    pub(super) taken: Vec<(Taken, &'static str)>,
}

/// What a transaction asked for of something, and of what that is.
struct Observed {
    amount: Amount,
    each: Option<f64>,
    of: &'static str,
}

/// Takes what a run observed into a model. Without a number of a trial it is the closed one with the fewest sessions.
///
/// # Errors
/// When the run cannot be read, holds no measured transactions, or says nothing that the model has a number for.
pub(super) fn profiled(model: &Description, run: &str, wanted: Option<u32>) -> Result<Profiled, Failure> {
    let (_, findings) = judged::named(run)?;
    let id = findings.run.id.clone();
    let trial = chosen(&id, &findings.trials, wanted)?;
    let (sessions, transactions) = (sessions(trial), transactions(trial));
    let observed = trial.server.as_ref().map(|server| observed(model, trial, server)).unwrap_or_default();
    let each: Vec<(Amount, Option<f64>)> = observed.iter().map(|one| (one.amount, one.each)).collect();
    let source = format!(
        "profile of run {id}, trial {} ({} on {}), {transactions} transactions",
        trial.label.index,
        counted(sessions),
        trial.label.system
    );
    let (mut model, taken) = take(model, &each, &source).map_err(|error| {
        let failure = Failure::caused(format!("taking a profile of the run `{id}` into `{}`", model.name), &error);
        failure.hint("begin with a server: `prony calibrate small-server --profile RUN -o mine.toml`")
    })?;
    model.transaction = mean(&findings, trial)?;
    let taken = taken.into_iter().zip(observed).map(|(taken, observed)| (taken, observed.of)).collect();
    let (trial, system) = (trial.label.index, trial.label.system.clone());
    let why = if wanted.is_some() { "as asked for" } else { "the fewest sessions of the run, so that the least waits" };
    Ok(Profiled { model, run: id, trial, why, system, sessions, transactions, taken })
}

/// `1 session`.
pub(super) fn counted(sessions: u32) -> String {
    format!("{sessions} {}", if sessions == 1 { "session" } else { "sessions" })
}

fn chosen<'a>(id: &str, trials: &'a [TrialSummary], wanted: Option<u32>) -> Result<&'a TrialSummary, Failure> {
    let refused = |what: &str| Failure::new(format!("taking a profile of the run `{id}`: {what}"));
    let asking: Vec<&TrialSummary> = trials.iter().filter(|trial| trial.server.is_some()).collect();
    if asking.is_empty() {
        let failure = refused("transactions are needed, got a run without any");
        return Err(
            failure.hint("run transactions first: `prony run bank-day --on URL`, another study of transactions, or a script with `prony run sql`")
        );
    }
    let measured: Vec<&TrialSummary> =
        asking.into_iter().filter(|trial| trial.provenance == Provenance::Measured).collect();
    if measured.is_empty() {
        let failure =
            refused("a measured run is needed, got one that was simulated: it would give a model its own numbers");
        return Err(failure.hint("run the same study on a database: `prony run STUDY --on URL`"));
    }
    let useful: Vec<&TrialSummary> =
        measured.into_iter().filter(|trial| !trial.interrupted && transactions(trial) > 0).collect();
    let numbers: Vec<String> = useful.iter().map(|trial| trial.label.index.to_string()).collect();
    let these = if numbers.is_empty() { "it has none".to_owned() } else { format!("those are {}", numbers.join(", ")) };
    if let Some(wanted) = wanted {
        let found = useful.iter().find(|trial| trial.label.index == wanted).copied();
        return found
            .ok_or_else(|| refused(&format!("a trial of transactions that ended is needed, got {wanted}; {these}")));
    }
    if let Some(other) = useful.iter().find(|trial| trial.label.system != useful[0].label.system) {
        let both = format!("one system is needed, got {} and {}", useful[0].label.system, other.label.system);
        return Err(refused(&both).hint(format!("name a trial with `--trial N`; {these}")));
    }
    let least = useful.iter().min_by_key(|trial| (is_open(trial), sessions(trial), trial.label.index)).copied();
    least.ok_or_else(|| refused("a trial that ended with transactions is needed, got none").hint("run the study again"))
}

/// The mean transaction of a trial, where its workloads say what each of their classes asks for: the numbers taken hold for
/// that one.
fn mean(findings: &Findings, trial: &TrialSummary) -> Result<Option<Demand>, Failure> {
    let planned = run_rows::planned(findings)?;
    let Some(planned) = planned.iter().find(|planned| planned.label.index == trial.label.index) else {
        return Ok(None);
    };
    let classes = planned.streams.iter().zip(&trial.streams).flat_map(|(stream, seen)| {
        let classes = stream.transactions().map(|(asked, _)| asked.classes()).unwrap_or_default();
        classes.into_iter().filter(|class| !class.age).map(|class| {
            let done = seen.classes.iter().find(|known| known.name == class.name).map_or(0, |known| known.done);
            (class.demand, done as f64)
        })
    });
    Ok(mean_of(classes))
}

/// The mean over classes of which so many ended; none where one of them does not say what it asks for.
fn mean_of(classes: impl Iterator<Item = (Option<Demand>, f64)>) -> Option<Demand> {
    let (mut sum, mut count) = (Demand::default(), 0.0);
    for (demand, done) in classes {
        let Demand { statements, lookups, changes } = demand?;
        sum.statements += done * statements;
        sum.lookups += done * lookups;
        sum.changes += done * changes;
        count += done;
    }
    let each = |sum: f64| sum / count;
    (sum.statements > 0.0).then(|| Demand {
        statements: each(sum.statements),
        lookups: each(sum.lookups),
        changes: each(sum.changes),
    })
}

fn is_open(trial: &TrialSummary) -> bool {
    trial.streams.iter().any(|stream| stream.offered_per_s.is_some())
}

fn sessions(trial: &TrialSummary) -> u32 {
    trial.label.streams.iter().filter_map(sessions_of).sum()
}

/// Users who share sessions are more than those.
fn sessions_of(stream: &StreamLabel) -> Option<u32> {
    stream.sessions().or(stream.slots)
}

fn rate(trial: &TrialSummary) -> f64 {
    trial.streams.iter().map(|stream| stream.throughput_per_s.value).sum()
}

fn transactions(trial: &TrialSummary) -> u64 {
    (rate(trial) * trial.elapsed_s).round() as u64
}

fn observed(model: &Description, trial: &TrialSummary, server: &ServerSummary) -> Vec<Observed> {
    let total = server.profile.as_ref().map(|profile| profile.total()).unwrap_or_default();
    let one = |amount, (each, of): (Option<f64>, &'static str)| Observed { amount, each, of };
    let counter = |wanted: Counter| server.counter(wanted).map(|count| count / rate(trial));
    let (cpu, driver) = processors(trial, server, &total);
    let mirror_ms = server.mirror_cpu_cores.map(|cores| 1e3 * cores / rate(trial));
    let pair = model.kind.amount(Amount::TargetMirror).and_then(|_| model.parameter("demand"));
    let of_cpu = pair.map_or(vec![one(Amount::Cpu, cpu)], |demand| {
        let [own, source, target] = of_pair(cpu.0, mirror_ms, demand.value);
        vec![
            one(Amount::Cpu, (own, cpu.1)),
            one(Amount::SourceMirror, (source, "of the first server, beyond what the model's `demand` is")),
            one(Amount::TargetMirror, (target, "of the mirror's processes, whatever else they did")),
        ]
    });
    let others = [
        one(Amount::Driver, driver),
        one(Amount::Reads, reads(server.per_transaction.device_reads, counter(Counter::BufferReads).or(total.reads))),
        one(Amount::Writes, writes(server, counter)),
        one(Amount::LogBytes, (server.per_transaction.log_bytes.or(total.log_bytes), "as the database counts them")),
        one(Amount::Changes, (server.profile.as_ref().map(|_| total.changed), "as the statements report them")),
        one(Amount::Lookups, (total.lookups, "as the database counts them, by statement")),
    ];
    of_cpu.into_iter().chain(others).collect()
}

/// Processor time of a transaction, of what mirroring adds to it, and of the mirror, milliseconds. What the first server spends with a
/// mirror is more than its own, by what a trial without one has told.
fn of_pair(cpu_ms: Option<f64>, mirror_ms: Option<f64>, own_ms: f64) -> [Option<f64>; 3] {
    if mirror_ms.is_none() {
        return [cpu_ms, None, None];
    }
    [None, cpu_ms.map(|with_ms| with_ms - own_ms).filter(|added_ms| *added_ms > 0.0), mirror_ms]
}

type Told = (Option<f64>, &'static str);

/// Of the server, milliseconds, and of the load driver, microseconds. Inside one process they are told apart where
/// statements were measured on their own.
fn processors(trial: &TrialSummary, server: &ServerSummary, total: &StatementProfile) -> (Told, Told) {
    let process_us = match trial.streams.as_slice() {
        [one] => one.cpu.map(|cpu| cpu.user_us + cpu.system_us),
        _ => None,
    };
    if !server.embedded {
        let cpu_ms = server.per_transaction.cpu_ms;
        // The driver shares the machine with a server whose processes can be seen.
        let driver = process_us.filter(|_| cpu_ms.is_some());
        return ((cpu_ms, "of the server's processes, whatever else they did"), (driver, "of the load generator"));
    }
    let sampled = server.profile.as_ref().is_some_and(|profile| profile.cpu == CpuBasis::Sampled);
    match total.cpu_us.filter(|_| sampled) {
        Some(us) => {
            let rest = process_us.map(|process| process - us).filter(|rest| *rest > 0.0);
            ((Some(us / 1e3), "of its statements, sampled"), (rest, "of the process beside its statements"))
        }
        None => ((process_us.map(|us| us / 1e3), "of the process, the load generator in it"), (None, "")),
    }
}

/// A page that was not in the buffer may still have been in a page cache, and a disk reads for others too: what both say is
/// the fewer of them.
fn reads(device: Option<f64>, missed: Option<f64>) -> Told {
    match (device, missed) {
        (Some(device), Some(missed)) if device > missed => {
            (Some(missed), "pages that were not in the buffer; the disk below read more, for others too")
        }
        (Some(device), Some(_)) => {
            (Some(device), "of the disk below the data, no more than pages that were not in the buffer")
        }
        (Some(device), None) => (Some(device), "of the disk below the data, whoever asked for them"),
        (None, missed) => (missed, "pages that were not in the buffer; a page cache may have had some"),
    }
}

fn writes(server: &ServerSummary, counter: impl Fn(Counter) -> Option<f64>) -> Told {
    const PAGES: [Counter; 4] = [
        Counter::PagesFlushed,
        Counter::BuffersByCheckpoints,
        Counter::BuffersInBackground,
        Counter::BuffersBySessions,
    ];
    match PAGES.into_iter().filter_map(counter).reduce(|sum, each| sum + each) {
        Some(each) => (Some(each), "pages that the server counts as written, without the log"),
        None => (server.per_transaction.device_writes, "of the disk below the data, the log among them"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_transaction_weighs_classes_by_how_many_of_each_ended() {
        let class = |statements: f64| Some(Demand { statements, lookups: 2.0 * statements, changes: 0.0 });
        let mean = mean_of([(class(2.0), 300.0), (class(20.0), 100.0)].into_iter());
        assert_eq!(mean, Some(Demand { statements: 6.5, lookups: 13.0, changes: 0.0 }));
        assert_eq!(mean_of([(class(2.0), 300.0), (None, 1.0)].into_iter()), None, "one of them says nothing");
        assert_eq!((mean_of(std::iter::empty()), mean_of([(class(2.0), 0.0)].into_iter())), (None, None));
    }

    #[test]
    fn with_a_mirror_processor_time_is_that_of_mirroring_and_without_one_the_transactions_own() {
        assert_eq!(of_pair(Some(0.5), None, 0.7), [Some(0.5), None, None]);
        assert_eq!(of_pair(Some(0.75), Some(0.2), 0.5), [None, Some(0.25), Some(0.2)]);
        assert_eq!(of_pair(Some(0.4), Some(0.2), 0.5), [None, None, Some(0.2)], "less than alone says nothing");
    }

    #[test]
    fn users_are_no_sessions() {
        let of = |load: &str, slots: u32| {
            sessions_of(&StreamLabel { load: load.into(), slots: Some(slots), ..StreamLabel::default() })
        };
        assert_eq!(of("64 users, 50 ms mean think time, 8 sessions", 64), Some(8));
        assert_eq!(of("closed, 2 sessions", 2), Some(2));
        assert_eq!(of("closed, 4 outstanding", 4), Some(4), "a load without a pool");
    }

    #[test]
    fn what_a_disk_reads_for_others_is_not_asked_by_transactions() {
        let each = |device, missed| reads(device, missed).0;
        assert_eq!(each(Some(12.0), Some(0.5)), Some(0.5), "somebody else reads");
        assert_eq!(each(Some(0.1), Some(0.5)), Some(0.1), "a page cache had the rest");
        assert_eq!((each(Some(0.1), None), each(None, Some(0.5)), each(None, None)), (Some(0.1), Some(0.5), None));
    }
}
