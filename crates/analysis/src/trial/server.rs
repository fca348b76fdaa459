//! What the database's server spent in the window, in all and for each transaction.
//!
//! The one idea: processes are watched from outside and counters are read from inside, and both are divided by the work
//! that the generator saw completed in the same window. Counters mean the same for every engine.
//!
//! What it does not do: it does not know which engine it is, nor whether the server runs inside the generator; a run's
//! facts say that.

use super::cut::Cut;
use super::machine::{cores, level, mean_of, window_mean};
use super::statements::statements;
use super::working_set::working_set;
use crate::{InSessions, MirrorWaits, PerTransaction, ServerSummary};
use observation::{Asks, Counted, Counter, Observations, OfDisk, Probe, Series, Whole};
use units::Nanos;

/// The server of a trial that asks a database; none of any other.
/// The books of its sessions are those of the window as it was `asked`.
pub fn server_summary(observations: &Observations, asked: &Observations, cuts: &[Cut]) -> Option<ServerSummary> {
    let asking: Vec<&Cut> = cuts.iter().filter(|cut| cut.label.asks == Asks::Transactions).collect();
    if asking.is_empty() {
        return None;
    }
    let seconds = seconds(observations);
    let per_s = asking.iter().map(|cut| cut.work_tally().done).sum::<u64>() as f64 / seconds;
    let read = |probe: Whole| while_all_lived(observations, probe);
    let observed = ServerSummary {
        embedded: false,
        cpu_user_cores: read(Whole::ServerCpuUser),
        cpu_system_cores: read(Whole::ServerCpuSystem),
        cpu_busy_cores: read(Whole::ServerCpuBusy),
        mirror_cpu_cores: mean_of(observations, Whole::MirrorCpu),
        mirror: mirror(observations),
        bytes_read_per_s: of_device(observations, OfDisk::BytesRead).or_else(|| read(Whole::ServerBytesRead)),
        bytes_written_per_s: of_device(observations, OfDisk::BytesWritten).or_else(|| read(Whole::ServerBytesWritten)),
        processes: mean_of(observations, Whole::ServerProcesses),
        counters: handed_on(counters(observations), per_s),
        working_set: working_set(observations),
        in_sessions: in_sessions(asked, &asking, seconds),
        ..ServerSummary::default()
    };
    let cores = cores(observations).map(f64::from);
    let mut priced = priced(observed, per_s, cores);
    let each = |what: OfDisk| of_device(observations, what).filter(|_| per_s > 0.0).map(|rate| rate / per_s);
    priced.per_transaction.device_reads = each(OfDisk::Reads);
    priced.per_transaction.device_writes = each(OfDisk::Writes);
    let profile = statements(observations, cuts, &priced.per_transaction);
    Some(ServerSummary { profile, ..priced })
}

fn mirror(observations: &Observations) -> MirrorWaits {
    let read = |probe: Whole| mean_of(observations, probe);
    MirrorWaits {
        waiting: read(Whole::MirrorWaiting),
        changing_per_s: read(Whole::MirrorChanging),
        written_ms: read(Whole::MirrorWritten),
        flushed_ms: read(Whole::MirrorFlushed),
        applied_ms: read(Whole::MirrorApplied),
        flush_ms: level(observations, Whole::MirrorFlush),
        wire_ms: read(Whole::MirrorWire),
        trips_per_s: read(Whole::MirrorTrips),
    }
}

/// Seconds of the fixed work, or of the window.
fn seconds(observations: &Observations) -> f64 {
    observations.elapsed_s.unwrap_or_else(|| observations.window.length().seconds()).max(f64::MIN_POSITIVE)
}

/// By the books, which know what never ended; an interrupted trial has none, and of one that was cut its work may have had more.
fn in_sessions(asked: &Observations, cuts: &[&Cut], seconds_cut: f64) -> InSessions {
    let books = cuts.iter().filter_map(|cut| asked.accounts.get(usize::from(cut.stream)));
    let by_books = books.map(|account| account.service_ns as f64 / 1e9).sum::<f64>() / seconds(asked);
    let ended = cuts.iter().map(|cut| cut.served_s()).sum::<f64>() / seconds_cut;
    let done: u64 = cuts.iter().map(|cut| cut.tally().done).sum();
    InSessions { busy: by_books.max(ended), per_s: done as f64 / seconds_cut }
}

/// The mean over the readings between which no process ended: one that ends takes its own counts out of the sum, or hands
/// those of its whole life to its parent, and the difference is neither.
fn while_all_lived(observations: &Observations, probe: Whole) -> Option<f64> {
    let series = observations.series_of(&probe.into())?;
    let counts = observations.series_of(&Whole::ServerProcesses.into());
    let fell: Vec<Nanos> = counts
        .iter()
        .flat_map(|counts| counts.points.windows(2))
        .filter(|pair| pair[1].1 < pair[0].1)
        .map(|pair| pair[1].0)
        .collect();
    let kept = |(at, value): &(Nanos, f64)| (*at, if fell.contains(at) { f64::NAN } else { *value });
    let lived = Series { points: series.points.iter().map(kept).collect(), ..series.clone() };
    window_mean(&lived, &observations.window)
}

/// What the disk below the data moved, where it is watched: kernels charge a process for whole blocks of the page cache
/// that it touched, which may be a hundred times what reaches a disk.
fn of_device(observations: &Observations, wanted: OfDisk) -> Option<f64> {
    let of = |series: &&Series| matches!(series.probe, Probe::Disk(_, what) if what == wanted);
    window_mean(observations.series.iter().find(of)?, &observations.window)
}

/// What the server counted itself, in the order in which it was asked.
fn counters(observations: &Observations) -> Counted {
    let counted = observations.series.iter().filter_map(|series| {
        let Probe::Counter(counter) = series.probe else { return None };
        // How many wait for locks, looked up each second, is on the mean what a counter of their waits would grow by.
        let counter = if counter == Counter::LockWaits { Counter::LockSeconds } else { counter };
        if counter.is_level() {
            return None;
        }
        // One reading stands for the whole window, also when it came a little after its end.
        let rate = window_mean(series, &observations.window).or_else(|| series.points.last().map(|point| point.1))?;
        rate.is_finite().then_some((counter, rate))
    });
    counted.collect()
}

/// What is counted of buffers, where it is of the window: PostgreSQL hands its counts on once a second, so that in a short one none may
/// have come although transactions ended.
fn handed_on(mut counted: Counted, per_s: f64) -> Counted {
    let of_buffers = |counter| matches!(counter, Counter::BufferHits | Counter::BufferReads | Counter::BufferRequests);
    let seen: f64 = counted.iter().filter(|(counter, _)| of_buffers(*counter)).map(|(_, rate)| rate).sum();
    counted.retain(|(counter, _)| per_s == 0.0 || seen > 0.0 || !of_buffers(*counter));
    counted
}

/// The same with what follows from the rate of transactions.
fn priced(observed: ServerSummary, per_s: f64, cores: Option<f64>) -> ServerSummary {
    let each = |amount: Option<f64>| amount.filter(|_| per_s > 0.0).map(|amount| amount / per_s);
    let busy = observed.cpu_cores().filter(|busy| *busy > 0.0);
    let log = observed.counter(Counter::LogBytes);
    ServerSummary {
        buffer_hit_share: buffer_hit_share(&observed),
        per_transaction: PerTransaction {
            cpu_ms: each(observed.cpu_cores()).map(|seconds| 1e3 * seconds),
            mirror_cpu_ms: each(observed.mirror_cpu_cores).map(|seconds| 1e3 * seconds),
            bytes_read: each(observed.bytes_read_per_s),
            bytes_written: each(observed.bytes_written_per_s),
            log_bytes: each(log),
            ..PerTransaction::default()
        },
        per_machine_core_per_s: cores.map(|cores| per_s / cores),
        per_server_core_per_s: busy.map(|busy| per_s / busy),
        ..observed
    }
}

/// One engine counts hits beside reads, the other requests that include them.
fn buffer_hit_share(server: &ServerSummary) -> Option<f64> {
    let reads = server.counter(Counter::BufferReads)?;
    let asked = match server.counter(Counter::BufferHits) {
        Some(hits) => hits + reads,
        None => server.counter(Counter::BufferRequests)?,
    };
    (asked > 0.0).then(|| (1.0 - reads / asked).clamp(0.0, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(counters: &[(Counter, f64)]) -> ServerSummary {
        ServerSummary { counters: counters.to_vec(), ..ServerSummary::default() }
    }

    #[test]
    fn both_ways_of_counting_buffers_give_the_same_share() {
        let hits = counted(&[(Counter::BufferHits, 900.0), (Counter::BufferReads, 100.0)]);
        let requests = counted(&[(Counter::BufferRequests, 1_000.0), (Counter::BufferReads, 100.0)]);
        assert_eq!(buffer_hit_share(&hits), Some(0.9));
        assert_eq!(buffer_hit_share(&requests), Some(0.9));
        assert_eq!(buffer_hit_share(&counted(&[(Counter::BufferReads, 0.0)])), None);
    }

    #[test]
    fn counts_of_buffers_that_have_not_come_yet_are_not_taken_for_none() {
        let counts =
            |hits: f64| vec![(Counter::BufferHits, hits), (Counter::BufferReads, 0.0), (Counter::LogBytes, 9.0)];
        assert_eq!(handed_on(counts(0.0), 50.0), [(Counter::LogBytes, 9.0)]);
        assert_eq!(handed_on(counts(5.0), 50.0), counts(5.0));
        assert_eq!(handed_on(counts(0.0), 0.0), counts(0.0));
    }

    #[test]
    fn a_transaction_has_its_price_and_what_was_not_observed_has_none() {
        let observed = ServerSummary {
            cpu_user_cores: Some(1.2),
            cpu_system_cores: Some(0.3),
            bytes_written_per_s: Some(6e6),
            ..counted(&[(Counter::LogBytes, 3e6)])
        };
        let server = priced(observed, 500.0, Some(4.0));
        let each = server.per_transaction;
        assert_eq!((each.cpu_ms, each.bytes_written, each.log_bytes), (Some(3.0), Some(12_000.0), Some(6_000.0)));
        assert_eq!(each.bytes_read, None);
        assert_eq!((server.per_machine_core_per_s, server.per_server_core_per_s), (Some(125.0), Some(500.0 / 1.5)));
        assert_eq!(priced(counted(&[(Counter::LogBytes, 3e6)]), 0.0, None).per_transaction.log_bytes, None);
    }
}
