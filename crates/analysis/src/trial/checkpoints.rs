//! Checkpoints and the measured window: whole cycles where they fit, else how far one is away.
//!
//! The one idea: a server works faster right behind a checkpoint than while the next one is written. A window that ends
//! anywhere holds a part of a cycle and so a chance of either; from the begin of one checkpoint to the begin of another it
//! holds what a transaction costs in the long run. Counters tell in which reading a checkpoint began: both ends are that
//! late, so the length of the cycles is right to a reading.
//!
//! What it does not do: it forces nothing, and it finds no cycles where an engine writes back all the time.

use super::machine::{level, mean_of};
use crate::{Checkpoints, Held};
use observation::{Asks, Counter, Observations, Series, TrialLabel, Window};
use study::Checkpoints as Policy;
use units::{Bytes, Nanos, bytes_per_second, duration};

/// Counters of checkpoints that began, by what made them begin.
const BEGUN: [Counter; 2] = [Counter::CheckpointsTimed, Counter::CheckpointsRequested];

/// Below this much log a second there is nothing for a checkpoint to write, whatever the window.
const HARDLY: f64 = 4096.0;

/// An age that grew by less than this share of the log is one that writing back keeps up with.
const GROWTH_MIN: f64 = 0.05;

/// What the window of a trial that asks a database holds; none where nothing is known of checkpoints. A trial whose
/// window may not be cut (it was interrupted, or its work was fixed) keeps it.
pub fn checkpoints(label: &TrialLabel, observations: &Observations, may_cut: bool) -> Option<(Checkpoints, Window)> {
    if !label.streams.iter().any(|stream| stream.asks == Asks::Transactions) {
        return None;
    }
    let known = |counter: Counter| observations.series_of(&counter.into()).is_some();
    let policy = study::checkpoints_of(&label.state);
    if BEGUN.into_iter().any(known) {
        return Some(of_cycles(policy, observations, may_cut));
    }
    let asked = observations.window;
    let without =
        |text| Checkpoints { held: Held::NoCycles, measured: asked, begun: None, cycles: 0, cycle_s: None, text };
    if known(Counter::CheckpointAge) {
        return Some((without(all_the_time(policy, observations)), asked));
    }
    level(observations, Counter::LogBeforeCheckpoint).map(|distance| (without(inside_commits(distance)), asked))
}

/// Whether figures of this window leave out what checkpoints cost.
pub fn leaves_out(found: &Checkpoints, observations: &Observations) -> bool {
    let writes = mean_of(observations, Counter::LogBytes).is_some_and(|log| log > HARDLY);
    match found.held {
        Held::Forced | Held::AsItCame => writes,
        Held::NoCycles => writes && age_grew(observations).is_some(),
        Held::Cycles => false,
    }
}

fn of_cycles(policy: Policy, observations: &Observations, may_cut: bool) -> (Checkpoints, Window) {
    let asked = observations.window;
    let inside: Vec<(Nanos, u32)> =
        begun(observations).into_iter().filter(|(at, _)| *at > asked.start && *at <= asked.end).collect();
    let window = whole_cycles(observations, &inside);
    let cycles: u32 = window.map_or(0, |_| inside.iter().skip(1).map(|(_, count)| count).sum());
    let cut = window.filter(|_| may_cut && policy == Policy::Cycles);
    let measured_s = window.map(|window| window.length().seconds() / f64::from(cycles));
    let mut found = Checkpoints {
        held: match (cut, policy) {
            (Some(_), _) => Held::Cycles,
            (None, Policy::Leave) => Held::AsItCame,
            (None, _) => Held::Forced,
        },
        measured: asked,
        begun: Some(inside.iter().map(|(_, count)| count).sum()),
        cycles,
        cycle_s: measured_s.or_else(|| expected_s(observations)),
        text: String::new(),
    };
    found.text = words(&found, cut, observations);
    (found, cut.unwrap_or(asked))
}

/// From the begin of the first checkpoint to that of the last, on borders of intervals.
fn whole_cycles(observations: &Observations, inside: &[(Nanos, u32)]) -> Option<Window> {
    let interval = observations.interval.0.max(1);
    let border = |at: Nanos| {
        let near = Nanos((at.0 + interval / 2) / interval * interval);
        near.clamp(observations.window.start, observations.window.end)
    };
    let ((first, _), (last, _)) = (inside.first()?, inside.last()?);
    let window = Window { start: border(*first), end: border(*last) };
    (window.end > window.start).then_some(window)
}

/// When checkpoints began, as the readings tell, and how many at each.
fn begun(observations: &Observations) -> Vec<(Nanos, u32)> {
    let of_begun = |series: &&Series| BEGUN.into_iter().any(|counter| series.probe == counter.into());
    let counted = observations.series.iter().filter(of_begun);
    let mut found: Vec<(Nanos, u32)> = Vec::new();
    for (at, count) in counted.flat_map(grown) {
        match found.iter_mut().find(|(known, _)| *known == at) {
            Some((_, known)) => *known += count,
            None => found.push((at, count)),
        }
    }
    found.sort_unstable();
    found
}

/// By how much a counter grew at each reading where it did: its points are rates since the reading before.
fn grown(series: &Series) -> impl Iterator<Item = (Nanos, u32)> {
    let before = std::iter::once(Nanos::ZERO).chain(series.points.iter().map(|(at, _)| *at));
    let grown = series.points.iter().zip(before).map(|((at, rate), before)| {
        let count = (rate * at.saturating_sub(before).seconds()).round();
        (*at, if count.is_finite() { count.max(0.0) as u32 } else { 0 })
    });
    grown.filter(|(_, count)| *count > 0)
}

/// How long a cycle takes by the server's limits: until its time is over, or its log is full.
fn expected_s(observations: &Observations) -> Option<f64> {
    let full = full_s(observations).unwrap_or(f64::INFINITY);
    let expected = level(observations, Counter::CheckpointTimeout).unwrap_or(f64::INFINITY).min(full);
    expected.is_finite().then_some(expected)
}

/// How long the log takes to grow by what makes a checkpoint due.
fn full_s(observations: &Observations) -> Option<f64> {
    let rate = mean_of(observations, Counter::LogBytes).filter(|rate| *rate > 0.0)?;
    Some(level(observations, Counter::LogBeforeCheckpoint)? / rate)
}

fn words(found: &Checkpoints, cut: Option<Window>, observations: &Observations) -> String {
    if let (Some(window), Some(cycle)) = (cut, found.cycle_s) {
        let (many, next) = match found.cycles {
            1 => ("one whole checkpoint cycle".to_owned(), format!("three need --set measure={}", to_hold(3, cycle))),
            n => (
                format!("{n} whole checkpoint cycles"),
                format!("twice as many need --set measure={}", to_hold(2 * n, cycle)),
            ),
        };
        return format!(
            "the window holds {many} of {}: of the {} asked for, the {} from the begin of the first checkpoint to that of the \
             last are counted; {next}",
            seconds(cycle),
            duration(found.measured.length()),
            duration(window.length())
        );
    }
    let begins = match found.held {
        Held::AsItCame => "the window begins wherever checkpoints were (none was forced)",
        _ => "the window begins right after a forced checkpoint",
    };
    if found.cycles > 0 {
        return format!(
            "{begins} and is counted as it was asked for: it holds {} and parts of others",
            number(found.cycles, "whole checkpoint cycle")
        );
    }
    if mean_of(observations, Counter::LogBytes).is_some_and(|log| log <= HARDLY) {
        return format!(
            "{begins} and holds no whole cycle; hardly anything is written, so checkpoints cost nothing here"
        );
    }
    let began = match found.begun.unwrap_or(0) {
        0 => "none began in it".to_owned(),
        1 => "one checkpoint began in it".to_owned(),
        n => format!("{} began in it, all between two readings of the server's counters", number(n, "checkpoint")),
    };
    format!(
        "{begins} and holds no whole cycle from one checkpoint to the next ({began}), so what checkpoints cost is not in its \
         figures{}",
        wanted(found, observations)
    )
}

/// What it would take to hold whole cycles.
fn wanted(found: &Checkpoints, observations: &Observations) -> String {
    let Some(cycle) = found.cycle_s else { return String::new() };
    let limit = match (level(observations, Counter::CheckpointTimeout), full_s(observations)) {
        (timeout, Some(full)) if timeout.is_none_or(|timeout| full < timeout) => {
            let log = mean_of(observations, Counter::LogBytes).unwrap_or(0.0);
            let due = level(observations, Counter::LogBeforeCheckpoint).unwrap_or(0.0);
            format!("one is due after {} of log, which grows by {}", bytes(due), bytes_per_second(log))
        }
        (_, Some(full)) => format!("by its timeout; the log alone would take {}", seconds(full)),
        _ => "by its timeout".to_owned(),
    };
    let cycle_takes = format!("; a cycle takes about {} ({limit})", seconds(cycle));
    // No window makes work longer than it is.
    match observations.elapsed_s.filter(|elapsed| *elapsed > 0.0) {
        Some(elapsed) => {
            format!("{cycle_takes}: the work would have to be about {} times as much", (2.0 * cycle / elapsed).ceil())
        }
        None => format!(
            "{cycle_takes}; use --set measure={}, in which one falls as a whole wherever it begins, {} for three",
            to_hold(1, cycle),
            to_hold(3, cycle)
        ),
    }
}

/// The window that holds so many whole cycles wherever it begins.
fn to_hold(cycles: u32, cycle_s: f64) -> String {
    set(f64::from(cycles + 1) * cycle_s)
}

/// A time as it may be set: whole seconds, and whole minutes where it takes many; never less than asked for.
fn set(seconds: f64) -> String {
    if seconds <= 120.0 { format!("{}s", seconds.ceil()) } else { format!("{}min", (seconds / 60.0).ceil()) }
}

/// InnoDB's writing back is fuzzy: what it owes grows until the log goes round.
fn all_the_time(policy: Policy, observations: &Observations) -> String {
    let begins = match policy {
        Policy::Leave => "the window begins with changed pages as they were",
        _ => "the window begins right after a forced writing of all changed pages",
    };
    let fuzzy = "the server checkpoints all the time (fuzzy) and has no cycles";
    let Some((from, to)) = age_grew(observations) else {
        return format!("{begins}; {fuzzy}; its writing back keeps up with the log, so figures hold what it costs");
    };
    let round = level(observations, Counter::LogCapacity)
        .zip(mean_of(observations, Counter::LogBytes).filter(|log| *log > 0.0))
        .map(|(capacity, log)| {
            let round = capacity / log;
            format!(
                "; the log of {} goes round in about {}: a window behind that needs --set warm_up={}",
                bytes(capacity),
                seconds(round),
                set(round)
            )
        });
    format!(
        "{begins}; {fuzzy}; what of the log is not yet written back grew from {} to {}: sustained figures leave out what that \
         will cost{}",
        bytes(from),
        bytes(to),
        round.unwrap_or_default()
    )
}

/// From and to which age the log that is not written back grew in the window; none when it hardly did.
fn age_grew(observations: &Observations) -> Option<(f64, f64)> {
    let series = observations.series_of(&Counter::CheckpointAge.into())?;
    let window = observations.window;
    let inside = series.points.iter().filter(|(at, _)| *at >= window.start && *at <= window.end);
    let mut values = inside.map(|(_, value)| *value);
    let first = values.next()?;
    let last = values.next_back()?;
    let slack = level(observations, Counter::LogCapacity).map_or(0.0, |capacity| GROWTH_MIN * capacity);
    (last - first > slack.min(0.2 * last)).then_some((first, last))
}

fn inside_commits(distance: f64) -> String {
    if distance <= 0.0 {
        return "no checkpoint comes by itself (wal_autocheckpoint is 0): figures leave out what it would cost"
            .to_owned();
    }
    format!(
        "SQLite runs its checkpoint inside the commit that fills {} of log, so its cost is in the latencies and cannot be told \
         apart",
        bytes(distance)
    )
}

fn number(n: u32, what: &str) -> String {
    if n == 1 { format!("one {what}") } else { format!("{n} {what}s") }
}

fn seconds(value: f64) -> String {
    duration(Nanos::from_seconds(value))
}

fn bytes(value: f64) -> String {
    units::bytes(Bytes(value.max(0.0).round() as u64))
}
