//! What bounds the transactions of a trial: processors, the log, reads, locks, or the sessions; with the shares that say so.
//!
//! The one idea: processors are full or not; what a session waits for is a part of the time that its transactions spend in it, of all
//! sessions together, because a server counts all of them: those that load beside users, too. Where the server does not time its commits, they have what no statement took, as far as the log was synced for so many; that holds the
//! way to the server, too, and is so the most that it can be. Where it neither times waits for locks nor tells who waits, they are what its statements took
//! beyond CPU and reads, which says something only while cores are free. A model says itself which of its stations is full.

use crate::{Bound, BoundBy, InSessions, ServerSummary, StatementProfile, StreamSummary, TrialSummary};
use observation::{COMMIT, Counter, StreamLabel};

/// A machine, a station or a pool of sessions with this share of it busy has nothing left.
const FULL: f64 = 0.85;

/// What takes this share of the time in sessions is what they wait for.
const MOST: f64 = 0.5;

/// Threads of the load that stand behind others for this share of the window are held up by these, however many cores were busy on the mean.
const KEPT_WAITING: f64 = 0.25;

/// A stream is bound by locks only if at least this share of its own time are waits for them, even if all others did nothing else.
const OWN: f64 = 0.25;

/// What bounds a stream of a trial, where it asks a database that was watched.
pub fn bound(trial: &TrialSummary, stream: &StreamSummary) -> Option<Bound> {
    let server = trial.server.as_ref()?;
    let (busy, own) = cores(trial, server);
    // The clocks of processes and of the machine are read one after the other: what they say may be a little more than the whole.
    let share =
        |cores: Option<f64>| cores.zip(trial.machine.cores).map(|(busy, cores)| (busy / f64::from(cores)).min(1.0));
    let (cpu, own_cpu) = (share(busy), share(own));
    let statements = server.profile.as_ref().map_or(&[][..], |profile| &profile.statements);
    let InSessions { busy: in_sessions, per_s } = server.in_sessions;
    let each_us = if per_s > 0.0 { 1e6 * in_sessions / per_s } else { f64::NAN };
    let (commits, reads) = waits(statements, each_us, synced(server, each_us));
    let waiting = server.counter(Counter::RowLockSeconds).or_else(|| server.counter(Counter::LockSeconds));
    let counted = waiting.map(|waiting| waiting / in_sessions);
    let serving = if server.embedded { own } else { server.cpu_cores() };
    let inferred = || stalled(statements, each_us, serving.map(|cores| cores / per_s));
    let free = |_: &f64| cpu.is_some_and(|cpu| cpu < FULL);
    let locks = counted.or_else(|| inferred().filter(free)).filter(|share| share.is_finite());
    let timed = |one: &StatementProfile| one.name == COMMIT && one.execution_us.is_some_and(|us| us > 0.0);
    let timed = statements.iter().any(timed);
    let (commits, reads, locks) = apart(commits, reads, locks.map(|share| share.min(1.0)), timed);
    let label = trial.label.streams.get(usize::from(stream.stream));
    let sessions = label.and_then(|label| label.sessions());
    let work = stream.throughput_per_s.value * stream.service.mean_ms / 1e3;
    let used = |sessions: u32| work / f64::from(sessions);
    let own_locks = locks.map(|share| 1.0 - (1.0 - share) * in_sessions / work).filter(|share| share.is_finite());
    let response_ms = stream.response.mean_ms;
    let found = Bound {
        by: BoundBy::Nothing,
        station: trial.machine.busiest.clone(),
        cpu,
        own_cpu,
        commits,
        commits_at_most: commits.is_some() && !timed,
        reads,
        locks,
        sessions: sessions.map(used).filter(|share| share.is_finite()).map(|share| share.min(1.0)),
        waits: (response_ms > 0.0 && label.is_some_and(StreamLabel::waits_for_sessions))
            .then(|| (1.0 - stream.service.mean_ms / response_ms).clamp(0.0, 1.0)),
    };
    let shown = Bound { locks: locks.filter(|_| own_locks.is_some_and(|share| share >= OWN)), ..found.clone() };
    let by = match which(&shown, counted.is_some(), timed) {
        BoundBy::Nothing if trial.generator.waited_for_cpu.is_some_and(|share| share > KEPT_WAITING) => BoundBy::Others,
        by => by,
    };
    (cpu.is_some() || commits.is_some()).then_some(Bound { by, ..found })
}

/// Cores that the database's own work fills come first: without any lock, they would do no more. Waits for locks that a server counted
/// and commits that it timed say more than cores which others fill: those who wait do so on any machine.
fn which(found: &Bound, locks_counted: bool, commits_timed: bool) -> BoundBy {
    let over = |share: Option<f64>, most: f64| share.is_some_and(|share| share >= most);
    let others = found.cpu.zip(found.own_cpu).is_some_and(|(all, own)| own < 0.5 * all);
    // A core with one thread at work is busy, and does more with two: a model knows how much of all it does.
    let has_room = found.station.as_ref().is_some_and(|(_, busy)| *busy < FULL);
    match () {
        () if over(found.cpu, FULL) && !others && !has_room => BoundBy::Processors,
        () if locks_counted && over(found.locks, MOST) => BoundBy::Locks,
        () if over(found.cpu, FULL) && others && !(commits_timed && over(found.commits, MOST)) => BoundBy::Others,
        () if found.station.as_ref().is_some_and(|(_, busy)| *busy >= FULL) => BoundBy::Station,
        () if over(found.commits, MOST) => BoundBy::Log,
        () if over(found.reads, MOST) => BoundBy::Reads,
        () if over(found.locks, MOST) => BoundBy::Locks,
        () if over(found.sessions, FULL) && (has_room || over(found.waits, MOST)) => BoundBy::Sessions,
        () => BoundBy::Nothing,
    }
}

/// The share of this machine's cores that programs kept busy which are no part of the study, as far as its parts are known; none where
/// the server's is not.
pub(crate) fn busy_with_others(trial: &TrialSummary) -> Option<f64> {
    let (busy, own) = match &trial.server {
        Some(server) => cores(trial, server),
        None => (all_busy(trial), Some(generator(trial))),
    };
    Some(((busy? - own?) / f64::from(trial.machine.cores?)).clamp(0.0, 1.0))
}

/// Cores that all programs kept busy.
pub(super) fn all_busy(trial: &TrialSummary) -> Option<f64> {
    trial.machine.cpu_user_cores.zip(trial.machine.cpu_system_cores).map(|(user, system)| user + system)
}

/// Cores that the load generator kept busy, and what it started.
fn generator(trial: &TrialSummary) -> f64 {
    let children = trial.generator.children_cores.unwrap_or(0.0);
    trial.generator_cpu.total_s() / trial.elapsed_s.max(f64::MIN_POSITIVE) + children
}

/// Cores that were busy in all, and those that the generator, the server and its mirror kept busy. Of a server elsewhere nothing is
/// known: the cores of this machine are not its own. A mirror of which nothing is known is one elsewhere, or cannot be told from others.
fn cores(trial: &TrialSummary, server: &ServerSummary) -> (Option<f64>, Option<f64>) {
    let machine = &trial.machine;
    let generator = generator(trial);
    let own = match server.embedded {
        true => Some(generator),
        false => server.cpu_cores().map(|first| first + server.mirror_cpu_cores.unwrap_or(0.0) + generator),
    };
    let busy = all_busy(trial);
    // Of a described server nothing else is at work on its cores.
    let described = || server.cpu_busy_cores.filter(|_| machine.busiest.is_some());
    (described().or(busy.filter(|_| own.is_some())), described().or(own))
}

/// Shares that exclude one another: a session that waits for a lock or for a read is within a statement, and none that commits.
/// What is a remainder gives way to what was measured, and waits that are looked up each second to commits that are timed.
fn apart(
    commits: Option<f64>,
    reads: Option<f64>,
    locks: Option<f64>,
    commits_timed: bool,
) -> (Option<f64>, Option<f64>, Option<f64>) {
    let beside = |a: Option<f64>, b: Option<f64>| (1.0 - a.unwrap_or(0.0) - b.unwrap_or(0.0)).max(0.0);
    match commits_timed {
        true => (commits, reads, locks.map(|share| share.min(beside(commits, reads)))),
        false => (commits.map(|share| share.min(beside(locks, reads))), reads, locks),
    }
}

/// The share of transactions that may have waited for the log: a sync makes all commits durable that wait for it, which are no
/// more than there are in sessions.
fn synced(server: &ServerSummary, each_us: f64) -> f64 {
    server.counter(Counter::LogSyncs).map_or(1.0, |per_s| (per_s * each_us / 1e6).min(1.0))
}

/// What statements took of the time in sessions beyond CPU (of the server or of the process that holds it) and reads.
fn stalled(statements: &[StatementProfile], each_us: f64, cpu_s: Option<f64>) -> Option<f64> {
    let others = || statements.iter().filter(|one| one.name != COMMIT);
    let executed = others().filter_map(|one| one.execution_us).reduce(|sum, us| sum + us)?;
    let io: f64 = others().filter_map(|one| one.io_us).sum();
    Some(((executed - io - 1e6 * cpu_s?) / each_us).max(0.0))
}

/// Shares of the time in sessions that commits and reads take, where a share of transactions may have waited for the log.
fn waits(statements: &[StatementProfile], in_session_us: f64, synced: f64) -> (Option<f64>, Option<f64>) {
    if in_session_us.is_nan() || in_session_us <= 0.0 {
        return (None, None);
    }
    let (commit, others): (Vec<_>, Vec<_>) = statements.iter().partition(|statement| statement.name == COMMIT);
    let timed = || others.iter().filter(|statement| statement.execution_us.is_some());
    let took = |of: fn(&StatementProfile) -> Option<f64>| timed().filter_map(|one| of(one)).sum::<f64>();
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

    fn statement(name: &str, execution_us: Option<f64>, io_us: f64) -> StatementProfile {
        StatementProfile { name: name.into(), execution_us, io_us: Some(io_us), ..StatementProfile::default() }
    }

    #[test]
    fn commits_that_are_not_timed_have_what_no_statement_took() {
        let timed = [statement("post", Some(200.0), 50.0), statement(COMMIT, Some(600.0), 0.0)];
        assert_eq!(waits(&timed, 1_000.0, 1.0), (Some(0.6), Some(0.05)));
        let untimed = [statement("post", Some(200.0), 50.0), statement(COMMIT, None, 0.0)];
        assert_eq!(waits(&untimed, 1_000.0, 1.0), (Some(0.8), Some(0.05)));
        // Those who only read wait for no log: what is left of their time is the wire.
        assert_eq!(waits(&untimed, 1_000.0, 0.1), (Some(0.08), Some(0.05)));
        assert_eq!(waits(&[statement("post", None, 0.0)], 1_000.0, 1.0), (None, None));
    }

    /// A thousand transactions a second of 1 ms each, with statements that take `post_us` and commits that take `commit_us`, on two
    /// cores of which `busy` work, one half for the generator.
    fn trial(post_us: f64, commit_us: f64, busy: f64) -> TrialSummary {
        let mut trial = crate::run::tests::trial(0, "a", 0, 1_000.0);
        let statements = vec![statement("post", Some(post_us), 0.0), statement(COMMIT, Some(commit_us), 0.0)];
        let profile = crate::StatementsProfile { statements, ..Default::default() };
        let (user, system) = (Some(0.1), Some(0.0));
        trial.server = Some(ServerSummary {
            profile: Some(profile),
            cpu_user_cores: user,
            cpu_system_cores: system,
            in_sessions: InSessions { busy: 1.0, per_s: 1_000.0 },
            ..Default::default()
        });
        trial.streams[0].service.mean_ms = 1.0;
        trial.generator_cpu = observation::CpuTime { user_s: 0.5 * busy * trial.elapsed_s, system_s: 0.0 };
        trial.machine.cores = Some(2);
        (trial.machine.cpu_user_cores, trial.machine.cpu_system_cores) = (Some(busy), Some(0.0));
        trial
    }

    fn by(trial: &TrialSummary) -> BoundBy {
        bound(trial, &trial.streams[0]).expect("a bound").by
    }

    #[test]
    fn full_processors_come_before_what_sessions_wait_for() {
        assert_eq!(by(&trial(200.0, 700.0, 1.9)), BoundBy::Processors);
        assert_eq!(by(&trial(200.0, 700.0, 0.5)), BoundBy::Log);
    }

    #[test]
    fn cores_that_others_fill_are_not_what_the_database_is_bound_by() {
        let mut crowded = trial(200.0, 100.0, 1.9);
        crowded.generator_cpu.user_s = 1.0;
        assert_eq!(by(&crowded), BoundBy::Others);
        let mut logged = trial(20.0, 975.0, 1.9);
        logged.generator_cpu.user_s = 1.0;
        assert_eq!(by(&logged), BoundBy::Log, "commits that the server timed take nearly all of the time in sessions");
        // The cores of this machine say nothing of a server elsewhere.
        let server = crowded.server.as_mut().expect("a server");
        (server.cpu_user_cores, server.cpu_system_cores) = (None, None);
        let found = bound(&crowded, &crowded.streams[0]).expect("a bound");
        assert_eq!((found.by, found.cpu), (BoundBy::Nothing, None));
    }

    #[test]
    fn what_the_mirror_and_children_of_the_generator_keep_busy_is_not_the_work_of_others() {
        let mut crowded = trial(200.0, 100.0, 1.9);
        (crowded.generator_cpu.user_s, crowded.generator.children_cores) = (0.2 * crowded.elapsed_s, None);
        let others = |trial: &TrialSummary| (1e3 * busy_with_others(trial).expect("a share")).round();
        assert_eq!((others(&crowded), by(&crowded)), (800.0, BoundBy::Others));
        crowded.server.as_mut().expect("a server").mirror_cpu_cores = Some(1.0);
        assert_eq!((others(&crowded), by(&crowded)), (300.0, BoundBy::Processors));
        crowded.generator.children_cores = Some(0.5);
        assert_eq!(others(&crowded), 50.0);
        let found = bound(&crowded, &crowded.streams[0]).expect("a bound");
        assert!(found.own_cpu.is_some_and(|own| (own - 0.9).abs() < 1e-9), "{found:?}");
    }

    #[test]
    fn waits_for_rows_are_locks_as_counted_or_as_what_statements_took_beyond_their_processors() {
        // 0.9 ms of each millisecond, of which 0.1 were spent on a core.
        let inferred = trial(900.0, 50.0, 0.5);
        let found = bound(&inferred, &inferred.streams[0]).expect("a bound");
        assert!(found.by == BoundBy::Locks && (found.locks.unwrap() - 0.8).abs() < 1e-9, "{found:?}");
        let mut counted = trial(900.0, 50.0, 1.9);
        assert_eq!(by(&counted), BoundBy::Processors, "what waits for a core is no lock");
        for (counter, share) in [(Counter::RowLockSeconds, 0.6), (Counter::LockSeconds, 0.7)] {
            counted.server.as_mut().expect("a server").counters = vec![(counter, share)];
            counted.generator_cpu.user_s = 0.5 * counted.elapsed_s;
            assert_eq!(by(&counted), BoundBy::Locks, "{share} of one session waits while others fill the cores");
            counted.generator_cpu.user_s = 1.8 * counted.elapsed_s;
            assert_eq!(by(&counted), BoundBy::Processors, "without locks, full cores would do no more");
        }
    }

    #[test]
    fn locks_that_only_loads_wait_for_bind_no_user() {
        // Three sessions of loads stand still beside one of users, whose statements wait for nothing.
        let mut beside = trial(900.0, 50.0, 0.5);
        let stand_still = |trial: &mut TrialSummary, busy: f64, waiting: f64| {
            let server = trial.server.as_mut().expect("a server");
            server.in_sessions = InSessions { busy, per_s: 1_000.0 };
            server.counters = vec![(Counter::LockSeconds, waiting)];
        };
        stand_still(&mut beside, 4.0, 3.0);
        let found = bound(&beside, &beside.streams[0]).expect("a bound");
        assert_eq!((found.by, found.locks), (BoundBy::Nothing, Some(0.75)), "of the time in all sessions");
        // Half of what waits must be users, even if loads did nothing else.
        stand_still(&mut beside, 4.0, 3.5);
        assert_eq!(by(&beside), BoundBy::Locks);
    }

    #[test]
    fn parts_of_the_time_in_sessions_are_no_more_than_the_whole() {
        // Timed commits of 690 us beside lookups that saw 39% wait, and commits that have what no statement took.
        for (commit_us, at_most) in [(690.0, false), (0.0, true)] {
            let mut waits = trial(200.0, commit_us, 0.5);
            waits.server.as_mut().expect("a server").counters = vec![(Counter::LockSeconds, 0.393)];
            let found = bound(&waits, &waits.streams[0]).expect("a bound");
            let sum: f64 = [found.commits, found.reads, found.locks].into_iter().flatten().sum();
            assert!(sum <= 1.0 + 1e-9 && found.commits_at_most == at_most, "{found:?}");
        }
        let busy = trial(200.0, 100.0, 2.02);
        let found = bound(&busy, &busy.streams[0]).expect("a bound");
        assert_eq!(found.cpu, Some(1.0), "clocks of cores and of the trial are not one");
    }

    #[test]
    fn users_who_wait_for_a_free_session_are_bound_by_sessions() {
        let mut pool = trial(200.0, 100.0, 0.5);
        pool.label.streams[0].load = "64 users, 50 ms mean think time, 1 session".into();
        pool.label.streams[0].slots = Some(64);
        pool.streams[0].response.mean_ms = 40.0;
        let found = bound(&pool, &pool.streams[0]).expect("a bound");
        assert_eq!((found.by, found.sessions, found.waits), (BoundBy::Sessions, Some(1.0), Some(0.975)));
        // With a session for everybody it is the generator that was late, or work by the clock that queued.
        pool.label.streams[0].load = "64 users, 50 ms mean think time, 64 sessions".into();
        assert_eq!(bound(&pool, &pool.streams[0]).expect("a bound").waits, None);
    }

    #[test]
    fn a_load_that_stood_behind_others_is_bound_by_them() {
        let mut held = trial(200.0, 100.0, 1.2);
        assert_eq!(by(&held), BoundBy::Nothing);
        held.generator.waited_for_cpu = Some(0.4);
        assert_eq!(by(&held), BoundBy::Others);
    }

    #[test]
    fn a_model_is_bound_by_its_fullest_station() {
        let mut modelled = trial(200.0, 100.0, 0.5);
        modelled.machine.busiest = Some(("log".into(), 0.5));
        assert_eq!(by(&modelled), BoundBy::Nothing);
        modelled.machine.busiest = Some(("log".into(), 0.9));
        assert_eq!(by(&modelled), BoundBy::Station);
        modelled.server.as_mut().expect("a server").cpu_busy_cores = Some(1.9);
        assert_eq!(by(&modelled), BoundBy::Processors);
    }

    /// A job on each core keeps them busy, and more jobs still do more.
    #[test]
    fn cores_with_free_threads_bind_no_jobs_and_their_number_does() {
        let mut modelled = trial(900.0, 50.0, 0.5);
        modelled.machine.busiest = Some(("processors".into(), 0.736));
        modelled.server.as_mut().expect("a server").cpu_busy_cores = Some(1.83);
        modelled.label.streams[0].load = "100 accounts a transaction; closed, 1 session".into();
        assert_eq!(by(&modelled), BoundBy::Sessions);
        modelled.machine.busiest = Some(("processors".into(), 0.9));
        assert_eq!(by(&modelled), BoundBy::Processors);
    }
}
