//! What bounds the transactions of a trial: processors, the log, or reads; with the shares that say so.
//!
//! The one idea: processors are full or not; what a session waits for is a part of the time that its transactions spend in it. Where
//! the server does not time its commits, they have what no statement took, as far as the log was synced for so many; that holds the
//! way to the server, too, and is so the most that it can be.
//!
//! What it does not do: locks are waits of statements, and are told apart from execution by no engine here; where nothing
//! else is full, the shares say how much is left for them.

use crate::{Bound, BoundBy, ServerSummary, StreamSummary, TrialSummary};
use observation::{COMMIT, Counter};

/// A machine with this share of its cores busy has none left.
const FULL: f64 = 0.85;

/// What takes this share of the time in sessions is what they wait for.
const MOST: f64 = 0.5;

/// What bounds a stream of a trial, where it asks a database that was watched.
pub fn bound(trial: &TrialSummary, stream: &StreamSummary) -> Option<Bound> {
    let server = trial.server.as_ref()?;
    let machine = &trial.machine;
    let busy = machine.cpu_user_cores.zip(machine.cpu_system_cores).map(|(user, system)| user + system);
    // Of a described server nothing else is at work on its cores.
    let cpu = busy.or(server.cpu_busy_cores).zip(machine.cores).map(|(busy, cores)| busy / f64::from(cores));
    let statements = server.profile.as_ref().map_or(&[][..], |profile| &profile.statements);
    let (commits, reads) = waits(statements, stream, synced(server, stream));
    let over = |share: Option<f64>, most: f64| share.is_some_and(|share| share >= most);
    let by = match () {
        () if over(cpu, FULL) => BoundBy::Processors,
        () if over(commits, MOST) => BoundBy::Log,
        () if over(reads, MOST) => BoundBy::Reads,
        () => BoundBy::Nothing,
    };
    (cpu.is_some() || commits.is_some()).then_some(Bound { by, cpu, commits, reads })
}

/// The share of transactions that may have waited for the log: a sync makes all commits durable that wait for it, which are no
/// more than there are in sessions.
fn synced(server: &ServerSummary, stream: &StreamSummary) -> f64 {
    let in_sessions = stream.service.mean_ms / 1e3;
    server.counter(Counter::LogSyncs).map_or(1.0, |per_s| (per_s * in_sessions).min(1.0))
}

/// Shares of the time in sessions that commits and reads take, where a share of transactions may have waited for the log.
fn waits(statements: &[crate::StatementProfile], stream: &StreamSummary, synced: f64) -> (Option<f64>, Option<f64>) {
    let in_session_us = 1e3 * stream.service.mean_ms;
    if in_session_us.is_nan() || in_session_us <= 0.0 {
        return (None, None);
    }
    let (commit, others): (Vec<_>, Vec<_>) = statements.iter().partition(|statement| statement.name == COMMIT);
    let timed = || others.iter().filter(|statement| statement.execution_us.is_some());
    let took = |of: fn(&crate::StatementProfile) -> Option<f64>| timed().filter_map(|one| of(one)).sum::<f64>();
    if timed().next().is_none() {
        return (None, None);
    }
    let executed = took(|one| one.execution_us) + took(|one| one.planning_us);
    let committed = commit.first().and_then(|commit| commit.execution_us).filter(|us| *us > 0.0);
    let committed = committed.unwrap_or((in_session_us - executed).max(0.0) * synced);
    let share = |us: f64| Some((us / in_session_us).clamp(0.0, 1.0));
    (share(committed), share(took(|one| one.io_us)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::StatementProfile;

    fn statement(name: &str, execution_us: Option<f64>, io_us: f64) -> StatementProfile {
        StatementProfile { name: name.into(), execution_us, io_us: Some(io_us), ..StatementProfile::default() }
    }

    fn in_session(ms: f64) -> StreamSummary {
        let mut trial = crate::run::tests::trial(0, "a", 0, 1_000.0);
        trial.streams[0].service.mean_ms = ms;
        trial.streams.remove(0)
    }

    #[test]
    fn commits_that_are_not_timed_have_what_no_statement_took() {
        let timed = [statement("post", Some(200.0), 50.0), statement(COMMIT, Some(600.0), 0.0)];
        assert_eq!(waits(&timed, &in_session(1.0), 1.0), (Some(0.6), Some(0.05)));
        let untimed = [statement("post", Some(200.0), 50.0), statement(COMMIT, None, 0.0)];
        assert_eq!(waits(&untimed, &in_session(1.0), 1.0), (Some(0.8), Some(0.05)));
        // Those who only read wait for no log: what is left of their time is the wire.
        assert_eq!(waits(&untimed, &in_session(1.0), 0.1), (Some(0.08), Some(0.05)));
        assert_eq!(waits(&[statement("post", None, 0.0)], &in_session(1.0), 1.0), (None, None));
    }

    #[test]
    fn full_processors_come_before_what_sessions_wait_for() {
        let mut trial = crate::run::tests::trial(0, "a", 0, 1_000.0);
        let statements = vec![statement("post", Some(200.0), 0.0), statement(COMMIT, Some(700.0), 0.0)];
        let profile = crate::StatementsProfile { statements, ..Default::default() };
        trial.server = Some(ServerSummary { profile: Some(profile), ..Default::default() });
        trial.streams[0].service.mean_ms = 1.0;
        let stream = trial.streams[0].clone();
        let by = |busy: f64| {
            let mut trial = trial.clone();
            trial.machine.cores = Some(2);
            (trial.machine.cpu_user_cores, trial.machine.cpu_system_cores) = (Some(busy), Some(0.0));
            bound(&trial, &stream).unwrap().by
        };
        assert_eq!((by(1.9), by(0.5)), (BoundBy::Processors, BoundBy::Log));
    }
}
