//! The caveats that one trial's observations give by themselves.
//!
//! The one idea: each caveat is a question to the evidence, and its text names the figures and what to do next, given what
//! the user has already done. A caveat without evidence is not raised; what was not probed has none.

use super::books::slot_time;
use super::checkpoints::leaves_out;
use super::cut::Cut;
use super::generator::{generator_caveats, starved};
use super::latency::SAMPLES_BEYOND;
use super::loads;
use super::machine::{cores, mean_of};
use super::steady::longer;
use crate::statistics::series_mean::WORTH_MIN;
use crate::{Caveat, CaveatKind, MirrorWaits, Stall, SteadyAnswer, StreamSummary, TrialSummary, Work};
use observation::{
    CheckKind, CheckResult, Event, EventKind, Mishap, Observations, OfDisk, PlainState, Probe, READ, Resource, Series,
    Stalled, Whole,
};
use study::Judgement;
use units::{Nanos, count, counted, duration, milliseconds, percent, rate};

/// All caveats of a trial, streams first, then the machine. `planned` is the window that an interrupted one should
/// have had; `books` are the cuts that the accounts belong to, which those of whole cycles are a part of.
pub fn trial_caveats(
    summary: &TrialSummary,
    (cuts, books): (&[Cut], &[Cut]),
    judgement: &Judgement,
    planned: Option<Nanos>,
) -> Vec<Caveat> {
    let mut raised = vec![(CaveatKind::Unfinished, planned.map(|planned| cut_short(summary, planned)))];
    for ((stream, cut), books) in summary.streams.iter().zip(cuts).zip(books) {
        let about = About { summary, stream, cut, books, judgement };
        // With one stream its name says nothing that the trial does not.
        let named = |text: String| if cuts.len() > 1 { format!("{}: {text}", cut.label.name) } else { text };
        raised.extend(stream_caveats(&about).map(|(kind, text)| (kind, text.map(named))));
    }
    if let Some(Cut { observations, .. }) = cuts.first() {
        raised.extend(held(summary));
        let told = [
            (EventKind::Backlog, CaveatKind::NotSustained),
            (EventKind::Replanned, CaveatKind::Replanned),
            (EventKind::Doubt, CaveatKind::Other),
        ];
        for (seen, kind) in told {
            let events = observations.events.iter().filter(|event| event.kind == seen);
            raised.extend(events.map(|event| (kind, Some(event.text.clone()))));
        }
        raised.extend(generator_caveats(summary, observations));
        raised.extend(machine_caveats(summary, observations));
    }
    raised.push((CaveatKind::Other, as_found(summary)));
    let trial = Some(summary.label.index);
    raised.into_iter().filter_map(|(kind, text)| Some(Caveat { kind, trial, text: text? })).collect()
}

/// A kind of caveat, with its words where it is raised.
type Raised = (CaveatKind, Option<String>);

struct About<'a> {
    summary: &'a TrialSummary,
    stream: &'a StreamSummary,
    cut: &'a Cut<'a>,
    /// The cut that the account belongs to.
    books: &'a Cut<'a>,
    judgement: &'a Judgement,
}

/// A drive answers for blocks that it never wrote, or that were trimmed, out of its tables.
fn as_found(summary: &TrialSummary) -> Option<String> {
    summary.label.state.has(PlainState::AsFound).then(|| {
        format!(
            "{} was read as it was found: blocks that were never written may be answered without touching the media; \
             `--set fill=true` with `--destroy` fills it first",
            summary.label.system
        )
    })
}

/// What an interrupted trial is good for.
fn cut_short(summary: &TrialSummary, planned: Nanos) -> String {
    format!(
        "this trial was interrupted after {} of the {} of its window; its figures are shown, and it takes no part in \
         comparisons, knees, thresholds, scaling or the answer; `prony run --resume` runs it again",
        duration(summary.window.length()),
        duration(planned)
    )
}

fn stream_caveats(about: &About) -> [Raised; 19] {
    [
        (CaveatKind::Other, open_books(about)),
        (CaveatKind::Outage, outage(about)),
        (CaveatKind::Failures, failures(about)),
        (CaveatKind::Censored, censored(about)),
        (CaveatKind::Late, late(about)),
        (CaveatKind::NotSustained, backlog(about)),
        (CaveatKind::NotSustained, skipped(about)),
        (CaveatKind::NotSustained, loads::behind(about.cut, about.stream)),
        (CaveatKind::Starved, loads::users_starved(about.cut, about.stream)),
        (CaveatKind::Stalled, stalled(about).filter(|_| outage(about).is_none())),
        (CaveatKind::Stalled, loads::stood_still(about.cut, about.stream, about.summary)),
        (CaveatKind::GeneratorBound, generator_bound(about)),
        (CaveatKind::LittleGap, little_gap(about)),
        (CaveatKind::NotSteady, not_steady(about)),
        (CaveatKind::WindowTooShort, too_short(about)),
        (CaveatKind::WindowTooShort, too_alike(about)),
        (CaveatKind::WindowTooShort, loads::cut_in(about.cut, about.stream)),
        (CaveatKind::ThinTail, thin_tail(about)),
        (CaveatKind::Unseen, loads::unseen(about.cut, about.stream, about.summary)),
    ]
}

/// Users who wait longer than they should: a rate that nobody would accept.
fn late(about: &About) -> Option<String> {
    let stream = about.stream;
    let judged = || stream.classes.iter().filter_map(|class| Some((&class.name, class.mix.response_ok?)));
    let missed: Vec<&str> = judged().filter(|(_, ok)| !ok).map(|(name, _)| name.as_str()).collect();
    let (response, service) = (stream.response.mean_ms, stream.service.mean_ms);
    let waits = (response - service) / response;
    let why = match waits > 0.5 && about.cut.label.waits_for_sessions() {
        true => format!("; {} of the latency is the wait for a free session: try more `sessions`", percent(waits)),
        false => String::new(),
    };
    (!missed.is_empty()).then(|| {
        let all = counted(judged().count() as u64, "classes");
        format!(
            "{} of {all} miss the limit within which nine of ten should answer: {}{why}",
            missed.len(),
            missed.join(", ")
        )
    })
}

fn open_books(about: &About) -> Option<String> {
    let a = &about.stream.account;
    (!a.closes()).then(|| {
        format!(
            "a defect of the measurement: {} operations were planned, but {} done, {} failed and {} unfinished do not add \
             up to them; do not use this trial, and please report it",
            count(a.planned),
            count(a.done),
            count(a.failed),
            count(a.censored)
        )
    })
}

fn failures(about: &About) -> Option<String> {
    let failed = about.stream.account.failed;
    let share = failed as f64 / about.stream.account.planned.max(1) as f64;
    (failed > 0).then(|| {
        let next = match first_event(about.cut.observations, EventKind::Failure) {
            Some(event) => format!("the first: {}", event.text),
            None if asks_database(about.summary) => "why was not recorded".to_owned(),
            None => "look for the errors in the kernel log".to_owned(),
        };
        let failed = counted(failed, work(about.summary).word());
        let kinds = kinds(about.summary, EventKind::Failure, Some(about.stream.stream));
        let kinds = kinds.map(|kinds| format!(": {kinds}")).unwrap_or_default();
        let all = every_failed(about.cut).unwrap_or_default();
        format!("{failed} ({}) failed{kinds}{all}; rates count only those that ended well; {next}", percent(share))
    })
}

/// `; for 1 s from 4 s into the window every one failed, 79 879 of them`: a stretch in which all that ended failed, one behind
/// the other.
fn every_failed(cut: &Cut) -> Option<String> {
    let (at_s, lasted_s) = longest_gap(cut)?;
    let interval_s = cut.observations.interval.seconds();
    let at = cut.first as usize + (at_s / interval_s).round() as usize;
    let stretch = cut.intervals.get(at..at + (lasted_s / interval_s).round() as usize)?;
    let failed: u64 = stretch.iter().map(|interval| interval.failed).sum();
    // What was in flight when it began fails once and may wait then, which is a stall.
    let again = failed > u64::from(cut.label.slots.unwrap_or(1));
    // Where nothing of the whole window ended well, the share has said it.
    let some = cut.intervals.iter().any(|interval| interval.done > 0);
    (again && some).then(|| {
        let lasted = duration(Nanos::from_seconds(lasted_s));
        format!("; for {lasted} {} every one failed, {} of them", since(at_s), count(failed))
    })
}

/// Whether the study itself let something happen: then rates before and after differ, and arrivals at their mean would queue without any
/// stall.
fn changed(summary: &TrialSummary) -> bool {
    summary.events.iter().any(|event| event.kind == EventKind::Change)
}

/// How the words of a session begin that waited for its server and found it again.
const AGAIN: &str = "its session was opened again after ";

/// A server that went away in the window and came back, with what clients had of it and what the check behind it found.
fn outage(about: &About) -> Option<String> {
    // Those who think before they ask, or come by a clock, do not stand still as a closed load does, and feel it all the same.
    let (at_s, lasted_s) = longest_gap(about.cut)?;
    let start = about.summary.window.start.seconds();
    let lost = about.summary.events.iter().filter(|event| event.kind == EventKind::Failure);
    let mut waited = lost.filter_map(|event| {
        let waited = event.text.split_once(AGAIN)?.1;
        let (to_s, away_s) = (event.at.seconds() - start, units::parse_duration(waited).ok()?.seconds());
        // A session that is there again behind the window was lost in it.
        (to_s - away_s < at_s + lasted_s && to_s + 1e-9 > at_s).then_some(waited)
    });
    let waited = waited.next_back()?;
    let kinds = kinds(about.summary, EventKind::Failure, Some(about.stream.stream)).map(|kinds| format!(" ({kinds})"));
    let held = match about.cut.observations.checks.iter().find(|check| check.kind == CheckKind::Ledger) {
        Some(check) if check.result == CheckResult::Failed => format!("; damage behind it: {}", check.found),
        Some(check) => format!("; the check behind it: {}", check.found),
        None => "; what it acknowledged was not held against its data".to_owned(),
    };
    let queued = about.stream.stall.filter(|_| !changed(about.summary)).map(|stall| {
        let p99 = milliseconds(stall.open_p99_ms);
        format!("; arrivals at the mean rate would have queued behind it, with a p99 of {p99}")
    });
    let queued = queued.unwrap_or_default();
    Some(format!(
        "the server was lost {}: {} without a completion, and its sessions were open again after {waited}; {} failed{}{held}{queued}",
        since(at_s),
        duration(Nanos::from_seconds(lasted_s)),
        counted(about.stream.account.failed, work(about.summary).word()),
        kinds.unwrap_or_default(),
    ))
}

/// A shorter stretch is none in which a server was lost.
const GAP_MIN_S: f64 = 0.25;

/// Start and length of the longest stretch of the window in which nothing ended, seconds.
fn longest_gap(cut: &Cut) -> Option<(f64, f64)> {
    let window = cut.intervals.get(cut.first as usize..(cut.end as usize).min(cut.intervals.len()))?;
    let counts: Vec<u64> = window.iter().map(|interval| interval.done).collect();
    let (at, length) = super::stall::longest(&counts)?;
    let interval_s = cut.observations.interval.seconds();
    Some((at as f64 * interval_s, length as f64 * interval_s)).filter(|(_, lasted_s)| *lasted_s >= GAP_MIN_S)
}

/// `10 torn, 2 stale`; none where nothing was counted by kind.
fn kinds(summary: &TrialSummary, kind: EventKind, stream: Option<u16>) -> Option<String> {
    let meant = |mishap: &&Mishap| mishap.kind == kind && stream.is_none_or(|stream| stream == mishap.stream);
    let told = |mishap: &Mishap| format!("{} {}", count(mishap.count), mishap.what);
    let all: Vec<String> = summary.mishaps.iter().filter(meant).map(told).collect();
    (!all.is_empty()).then(|| all.join(", "))
}

fn censored(about: &About) -> Option<String> {
    let placed = about.cut.work_response();
    let from = placed.bound_from()?;
    let oldest = milliseconds(placed.censored.max_ns() as f64 / 1e6);
    let bounds = match from {
        // A share that rounds to nothing leaves nothing that is known.
        ..0.0005 => "all quantiles are".to_owned(),
        ..0.9995 => format!("quantiles beyond {} are", percent(from)),
        _ => "the maximum is".to_owned(),
    };
    let left = placed.censored.count();
    Some(format!(
        "{} never ended and {} {oldest} old at most when the trial closed; {bounds} only {}; let the trial drain longer, \
         or look for what hangs",
        counted(left, work(about.summary).word()),
        if left == 1 { "was" } else { "were" },
        if from < 0.9995 { "lower bounds" } else { "a lower bound" }
    ))
}

/// An open load is not sustained when the backlog at the end is not a fluctuation: it grew by more than one percent of
/// what arrived, and by more than was in the system on average. (A backlog that grows steadily from nothing ends at twice
/// its mean; one that fluctuates returns.)
fn backlog(about: &About) -> Option<String> {
    let offered = about.stream.offered_per_s?;
    // How many had arrived when a trial was interrupted is not known.
    if about.summary.interrupted {
        return None;
    }
    let seconds = about.books.seconds();
    let account = &about.stream.account;
    let tally = about.books.tally();
    let grew = account.planned as f64 - (tally.done + tally.failed) as f64;
    let inside = (account.service_ns + account.lateness_ns) as f64 / 1e9 / seconds;
    let is_backlog = grew > 0.01 * account.planned as f64 && grew > inside;
    // Transactions cause others: what came is then more than the schedule offered.
    let came = if asks_database(about.summary) { offered.max(account.planned as f64 / seconds) } else { offered };
    let done = rate(about.stream.throughput_per_s.value);
    let next = match starved(&about.summary.generator) {
        // The system may never have been asked for as much.
        Some(share) => format!(
            "the generator itself waited for a CPU for {} of the measured window, so that this need not be the system's limit: leave it a \
             core, and run it again",
            percent(share)
        ),
        None => format!("offer less than {done}"),
    };
    is_backlog.then(|| {
        format!(
            "the load was not sustained, the backlog grew by {}: of {} offered only {done} was completed; response \
             times depend on how long is measured; {next}",
            rate(grew / seconds),
            rate(came)
        )
    })
}

/// An open load that skips what is late has no backlog, and is no more sustained for it.
fn skipped(about: &About) -> Option<String> {
    let limit = about.stream.limit.as_ref()?;
    let (count, share) = (limit.skipped?, limit.skipped_share?);
    (share.value > 0.01).then(|| {
        format!(
            "the load was not sustained: {} of what was due ({}) could only begin {} late and was skipped; latencies are those of the \
             others; offer less than {}",
            percent(share.value),
            counted(count, "transactions"),
            limit.words,
            rate(about.stream.throughput_per_s.value)
        )
    })
}

/// When a stretch of the window began: `from 3 s into the window`.
pub(super) fn since(at_s: f64) -> String {
    match at_s > 0.0 {
        true => format!("from {} into the window", duration(Nanos::from_seconds(at_s))),
        false => "from the start of the window".to_owned(),
    }
}

/// What happened so many seconds before or behind the beginning of a stretch is taken for its cause.
const CAUSED_S: f64 = 0.5;

fn stalled(about: &About) -> Option<String> {
    let Stall { at_s, lasted_s, slots, rate_per_s, open_p99_ms } = about.stream.stall?;
    let who = match (asks_database(about.summary), slots) {
        (true, 1) => "the only session waited for its answer and sent nothing".to_owned(),
        (true, _) => format!("all {slots} sessions waited for answers and sent nothing"),
        (false, 1) => "the only operation in flight waited, and no other was sent".to_owned(),
        (false, _) => format!("all {slots} operations in flight waited, and no other was sent"),
    };
    let closed = milliseconds(about.stream.response.p99_ms);
    // Nobody has to look for what the study itself let happen.
    let start = about.summary.window.start.seconds();
    let mut changes = about.summary.events.iter().filter(|event| event.kind == EventKind::Change);
    let lock = about.summary.events.iter().find(|event| within(event, about.summary, &about.stream.stall));
    let change = changes.find(|event| (event.at.seconds() - start - at_s).abs() < CAUSED_S);
    // What held up everything, Prony too, is not the device's.
    let mut pauses = about.summary.events.iter().filter(|event| event.kind == EventKind::Pause);
    let around = at_s - CAUSED_S..at_s + lasted_s + CAUSED_S;
    let paused = pauses.any(|event| around.contains(&(event.at.seconds() - start)));
    let (lock, why) = match (change, lock) {
        (Some(event), _) => (String::new(), format!("it began with `{}`;", event.text)),
        (None, Some(lock)) => (format!("; {}", lock.text), String::new()),
        _ if paused => {
            (String::new(), "the machine or Prony itself paused then, which need not be the system's;".to_owned())
        }
        _ => (String::new(), "look for a lock, a checkpoint or a pause of the device then, and".to_owned()),
    };
    let why = if why.is_empty() { why } else { format!("{why} ") };
    let queued = match changed(about.summary) {
        true => format!(
            "this load, whose sessions wait for each answer, shows a p99 of {closed}, since nobody asked meanwhile"
        ),
        false => format!(
            "arrivals at the mean rate of {} would have queued behind it, with a p99 of {}, where this load, whose sessions wait for each answer, shows {closed}",
            rate(rate_per_s),
            milliseconds(open_p99_ms)
        ),
    };
    Some(format!(
        "{} without a completion {}: {who}{lock}; {queued}; {why}measure latency with an open load (`rate`)",
        duration(Nanos::from_seconds(lasted_s)),
        since(at_s),
    ))
}

/// Whether a long wait for a lock began with a time in which nothing ended, or within it.
fn within(event: &Event, summary: &TrialSummary, stall: &Option<Stall>) -> bool {
    let at = event.at.seconds() - summary.window.start.seconds();
    let during = |stall: &Stall| (stall.at_s - CAUSED_S..stall.at_s + stall.lasted_s).contains(&at);
    event.kind == EventKind::Held && stall.as_ref().is_some_and(during)
}

/// Long waits for locks, where no time without a completion tells of them.
fn held(summary: &TrialSummary) -> impl Iterator<Item = Raised> + use<> {
    let told = |event: &&Event| summary.streams.iter().any(|stream| within(event, summary, &stream.stall));
    let events = summary.events.iter().filter(|event| event.kind == EventKind::Held && !told(event));
    let start = summary.window.start;
    let one = |event: &Event| match event.at >= start {
        true => {
            let at = since((event.at - start).seconds());
            (CaveatKind::LockHeld, Some(format!("{at}, {}", event.text)))
        }
        false => (CaveatKind::Other, Some(format!("in the warm-up, {}", event.text))),
    };
    let words: Vec<Raised> = events.map(one).collect();
    words.into_iter()
}

/// Signs that the generator and not the system set the rate: its threads never rested, or an open load was issued late
/// though it was sustained.
fn generator_bound(about: &About) -> Option<String> {
    let observations = about.cut.observations;
    let threads = f64::from(observations.generators.max(1));
    let busy = about.summary.generator_cpu.total_s() / counted_s(about) / threads;
    // Fixed work over whole files spends its CPU in the kernel on behalf of the files: that is the system's share.
    if about.stream.offered_per_s.is_none() && busy >= 0.95 && !about.summary.fixed_work {
        return Some(format!(
            "the generator's {} {} busy {} of the time: its CPU, not the system, may set this rate; {}compare CPU per \
             operation instead",
            threads,
            if threads > 1.0 { "threads were" } else { "thread was" },
            percent(busy.min(1.0)),
            if can_have_more_workers(about) { "give it more workers, or " } else { "" }
        ));
    }
    late_issue(about, busy)
}

fn late_issue(about: &About, busy: f64) -> Option<String> {
    about.stream.offered_per_s?;
    let lateness = about.stream.lateness.p99_ms;
    let service = about.stream.service.p50_ms;
    // When every slot of the load is taken the system makes operations wait; that is the system's, and named elsewhere.
    let system_waits = backlog(about).is_some();
    (busy >= 0.95 && lateness > service && !system_waits).then(|| {
        format!(
            "1 in 100 operations left the generator {} late, more than a service time ({}), while its threads were busy {} \
             of the time; give it more workers",
            milliseconds(lateness),
            milliseconds(service),
            percent(busy.min(1.0))
        )
    })
}

/// A worker needs a slot of its own to drive.
fn can_have_more_workers(about: &About) -> bool {
    let workers = u32::from(about.cut.observations.generators.max(1));
    about.cut.label.slots.is_none_or(|slots| slots > workers)
}

fn counted_s(about: &About) -> f64 {
    about.summary.elapsed_s.max(f64::MIN_POSITIVE)
}

/// Little's law must close within one percent: what does not close is time in which a slot had nothing to do. Fixed work is not asked: its slots rightly rest when their share is done.
fn little_gap(about: &About) -> Option<String> {
    let time = slot_time(&about.stream.account)?;
    if about.summary.fixed_work || time.gap.abs() <= 0.01 {
        return None;
    }
    let rest = time.gap - time.lateness;
    if let Some(what) = outside(about.cut.observations) {
        return Some(format!(
            "{} of the sessions' time was {what}: the response is without it, so that sessions are more than throughput \
             times response",
            percent(rest)
        ));
    }
    let gap = percent(time.gap);
    let more = if can_have_more_workers(about) { "; more `workers` fill it" } else { "" };
    let (what, slots) = match asks_database(about.summary) {
        true => ("sessions", about.cut.label.sessions()),
        false => ("the queue", about.cut.label.slots),
    };
    let filled = slots.map(|slots| f64::from(slots) * (1.0 - time.gap));
    let filled =
        filled.zip(slots).map(|(filled, slots)| format!(": {} of {slots} were in use", units::significant(filled)));
    Some(format!(
        "{what} stood empty for {gap} of the time, while the load generator was getting to the next request{}{more}",
        filled.unwrap_or_default()
    ))
}

/// What sessions did outside of responses, where a machine says so itself.
fn outside(observations: &Observations) -> Option<&'static str> {
    let says = |what: Whole| mean_of(observations, what).is_some_and(|sessions| sessions > 0.0);
    if says(Whole::OutsideDriver) {
        return Some("the load driver's own work, which the model has on the same machine");
    }
    says(Whole::OutsideThink).then_some("what a job does between its transactions (`think` of the model)")
}

fn not_steady(about: &About) -> Option<String> {
    let trace = about.stream.steady.rounds.as_ref()?;
    if about.stream.steady.answer != SteadyAnswer::Never {
        return None;
    }
    let burst = about.stream.sustained.as_ref().and_then(|s| s.burst);
    let longer = measure_longer(about);
    let next = match burst {
        Some(burst) => format!(
            "it fell from {} to {} after {}; {longer}, or start the window after it",
            rate(burst.before_per_s),
            rate(burst.sustained_per_s),
            duration(Nanos::from_seconds(burst.lasted_s))
        ),
        None if about.summary.label.state.preconditioned() => {
            format!("it was preconditioned; {longer}, or look for other load on the machine")
        }
        None => format!("{longer}, or precondition first"),
    };
    Some(format!(
        "the rate did not settle: over {} equal parts of the measured window it ranged over {} of its mean (20% allowed) and its \
         trend {} {} (10% allowed), where chance alone keeps the range within {}; {next}",
        trace.means.len(),
        percent(trace.range),
        if trace.slope < 0.0 { "fell" } else { "rose" },
        percent(trace.slope.abs()),
        percent(trace.by_chance())
    ))
}

fn too_short(about: &About) -> Option<String> {
    // What the study itself changes in the middle of a window is not to be steady.
    let changed = about.summary.events.iter().any(|event| event.kind == EventKind::Change);
    if about.summary.fixed_work || about.summary.interrupted || changed {
        return None;
    }
    match about.stream.steady.answer {
        SteadyAnswer::TooShort => Some(few_rounds(about)),
        SteadyAnswer::CannotTell => noisy_rounds(about),
        SteadyAnswer::Yes | SteadyAnswer::Never => None,
    }
}

fn few_rounds(about: &About) -> String {
    let rule = &about.judgement.steady;
    let stated = about.judgement.round(&about.summary.label.experiment);
    let round = stated.unwrap_or(rule.round_min).max(about.cut.observations.interval);
    let needed = Nanos(round.0 * u64::from(rule.rounds));
    let next = match about.summary.jobs_ended {
        true => more_work(needed.seconds() / about.cut.seconds()),
        false => format!("--set measure={}", duration(needed).replace(' ', "")),
    };
    format!(
        "the measured window of {} is too short to tell whether the rate was steady; {} parts of {} each need {next}",
        duration(about.summary.window.length()),
        rule.rounds,
        duration(round)
    )
}

/// Rounds that chance moves by more than the rule can see past.
fn noisy_rounds(about: &About) -> Option<String> {
    // Parts that lie no further apart than those of a steady window say nothing.
    let trace = about.stream.steady.rounds.as_ref().filter(|trace| trace.range > trace.by_chance())?;
    let scatter = format!(
        "the rates of its {} parts ranged over {}, more than the {} within which noise alone keeps them in 19 of 20 windows",
        trace.means.len(),
        percent(trace.range),
        percent(trace.by_chance())
    );
    let times = longer(trace, &about.judgement.steady);
    let next = match times.map(|times| (times, window_of(about.cut.seconds() * times))) {
        Some((times, _)) if about.summary.jobs_ended => format!("it takes about {}", more_work(times)),
        Some((_, Some(window))) => format!("it takes about --set measure={window}"),
        Some((_, None)) => "look for what disturbs it, because no window is long enough".to_owned(),
        None => format!("it lies within chance of the limit; {}", measure_longer(about)),
    };
    Some(format!(
        "the measured window of {} is too short to tell how steady the rate was: {scatter}; {next}",
        duration(about.summary.window.length())
    ))
}

/// Room for chance in a window that is advised: the next one is as likely to bring fewer operations as more.
pub const ROOM: f64 = 1.25;

/// A tail quantile wants 100 samples of ten moments beyond it. p99.9 is only marked where it is shown; p99 is the figure that
/// people quote.
fn thin_tail(about: &About) -> Option<String> {
    let response = &about.stream.response;
    if about.summary.fixed_work || about.summary.interrupted || response.tail.p99_firm || response.count == 0 {
        return None;
    }
    let own = about.stream.response_estimates.as_ref()?;
    let p99 = own.quantiles.iter().find(|known| known.q == 0.99)?;
    let longer = own.quantile(p99).short_by(p99.ms.confidence)?;
    let next = needs(about, ROOM * longer);
    // Rounded up it could be said to be 100.
    let (beyond, all) = (response.count / 100, counted(response.count, work(about.summary).word()));
    let bunched = "these slow ones came in fewer than ten bursts";
    let few = if beyond >= SAMPLES_BEYOND {
        format!("rests on {} of {all}, and {bunched}", count(beyond))
    } else if longer * beyond as f64 > 1.5 * SAMPLES_BEYOND as f64 {
        format!("rests on {} of {all}, fewer than {SAMPLES_BEYOND}, and {bunched}", count(beyond))
    } else {
        format!("rests on {} of {all}, fewer than {SAMPLES_BEYOND}", count(beyond))
    };
    // A bound below the median says nothing of a p99.
    let says = p99.ms.low.is_finite() && p99.ms.low > response.p50_ms;
    let known = if says { format!("is at least {}: it ", milliseconds(p99.ms.low)) } else { String::new() };
    Some(format!("p99 {known}{few}; {next}"))
}

/// The rates of a series that is too short for its own correlation: neighbouring intervals are so alike that the window is
/// worth a few of them.
fn too_alike(about: &About) -> Option<String> {
    let worth = f64::from(about.stream.throughput_per_s.n);
    let whole = about.cut.work_rates().len();
    let judged = !about.summary.fixed_work && !about.summary.interrupted && about.stream.offered_per_s.is_none();
    if !judged || worth >= WORTH_MIN || whole < 2 * WORTH_MIN as usize {
        return None;
    }
    Some(format!(
        "the rate drifts so slowly that the measured window counts as only {}: its intervals are widened for that, and may still be too narrow; {}",
        counted(u64::from(about.stream.throughput_per_s.n), "independent samples"),
        needs(about, 2.0 * WORTH_MIN / worth)
    ))
}

/// What gives a window so many times as long.
fn needs(about: &About, times: f64) -> String {
    match about.summary.jobs_ended {
        true => format!("needs {}", more_work(times)),
        false => measure_of(about.cut.seconds() * times),
    }
}

fn measure_longer(about: &About) -> &'static str {
    match about.summary.jobs_ended {
        true => "give the jobs that end the window more to do, such as accounts",
        false => "measure longer",
    }
}

/// A window that ends with jobs is not made longer by `measure`.
pub fn more_work(times: f64) -> String {
    format!("{} times as much work for the jobs that end the window, such as accounts", times.ceil())
}

/// What `--set` takes for a window of at least so many seconds.
pub fn measure_of(seconds: f64) -> String {
    match window_of(seconds) {
        Some(window) => format!("needs --set measure={window}"),
        None => "at this rate no window is long enough; read the p50, or load more".to_owned(),
    }
}

/// A window of at least so many seconds, as `--set` takes it; none beyond the longest.
pub fn window_of(seconds: f64) -> Option<String> {
    let (unit_s, unit) = match seconds {
        ..=120.0 => (1.0, "s"),
        ..=7_200.0 => (60.0, "min"),
        _ => (3_600.0, "h"),
    };
    // A hair above a whole number is rounding.
    (seconds <= study::MEASURE_MAX.seconds()).then(|| format!("{}{unit}", (seconds / unit_s - 1e-6).ceil()))
}

fn machine_caveats(summary: &TrialSummary, observations: &Observations) -> [Raised; 9] {
    [
        (CaveatKind::NoWholeCycle, no_whole_cycle(summary, observations)),
        (CaveatKind::Cached, cached(summary, observations)),
        (CaveatKind::OtherWriters, other_writers(summary, observations)),
        (CaveatKind::Steal, steal(observations)),
        (CaveatKind::Pressure, pressure(summary, observations)),
        (CaveatKind::Throttled, throttled(observations)),
        (CaveatKind::Frequency, frequency(observations)),
        (CaveatKind::ClockPause, pauses(summary, observations)),
        (CaveatKind::Damage, damage(summary, observations)),
    ]
}

fn no_whole_cycle(summary: &TrialSummary, observations: &Observations) -> Option<String> {
    let found = summary.server.as_ref()?.checkpoints.as_ref()?;
    leaves_out(found, observations).then(|| found.text.clone())
}

/// What is counted.
fn work(summary: &TrialSummary) -> Work {
    if asks_database(summary) { Work::Transactions } else { Work::Operations }
}

fn asks_database(summary: &TrialSummary) -> bool {
    summary.server.is_some()
}

/// Bytes a second over all streams.
fn moved_per_s(summary: &TrialSummary) -> f64 {
    summary.streams.iter().map(|stream| stream.bytes_per_s).sum()
}

fn cached(summary: &TrialSummary, observations: &Observations) -> Option<String> {
    let moved = moved_per_s(summary);
    let disks = disk_bytes(observations, &[OfDisk::BytesRead, OfDisk::BytesWritten])?;
    // Below 1 MB/s a page cache that writes back late would raise this without need.
    let few = moved > 1e6 && disks < 0.1 * moved;
    few.then(|| {
        format!(
            "operations moved {} and the disks only {}: this is the speed of a cache, and no verdict on the storage; use \
             direct access, a data set larger than memory, or cold caches",
            units::bytes_per_second(moved),
            units::bytes_per_second(disks)
        )
    })
}

/// What the probes counted beyond this process's own writes; where they could not, what the disks wrote beyond what the
/// operations moved.
fn other_writers(summary: &TrialSummary, observations: &Observations) -> Option<String> {
    if let Some(server) = &summary.server {
        return beside_the_server(server.bytes_written_per_s?, observations);
    }
    let own = if only_reads(summary) { 0.0 } else { moved_per_s(summary) };
    let written = disk_bytes(observations, &[OfDisk::BytesWritten]).map(|written| written - 1.1 * own);
    let foreign = mean_of(observations, Whole::WrittenByOthers).or(written)?;
    // A tenth for metadata and journals, and 1 MB/s for a machine's usual murmur.
    (foreign > 1e6 && foreign > 0.1 * moved_per_s(summary)).then(|| {
        format!(
            "{} was written to the disks besides what this trial wrote ({}): by other programs, or by the filesystem for \
             itself; stop them, or repeat at a quiet time",
            units::bytes_per_second(foreign),
            if own > 0.0 { format!("at most {}", units::bytes_per_second(own)) } else { "nothing".to_owned() }
        )
    })
}

/// A server writes data, log and journal as it likes; only where its processes are watched can others be told from it.
fn beside_the_server(server: f64, observations: &Observations) -> Option<String> {
    let foreign = mean_of(observations, Whole::WrittenByOthers)? - 1.5 * server;
    (foreign > 1e6 && foreign > 0.5 * server).then(|| {
        format!(
            "{} was written to the disks besides what the server wrote ({}) and its filesystem for it: by other \
             programs; stop them, or repeat at a quiet time",
            units::bytes_per_second(foreign),
            units::bytes_per_second(server)
        )
    })
}

/// Whether every class that moved bytes is a read.
fn only_reads(summary: &TrialSummary) -> bool {
    let classes = summary.streams.iter().flat_map(|stream| &stream.classes);
    classes.filter(|class| class.bytes_per_s > 0.0).all(|class| class.name == READ)
}

/// The mean bytes a second of all disks that were probed; nothing when none was.
fn disk_bytes(observations: &Observations, readings: &[OfDisk]) -> Option<f64> {
    let of_disk = |series: &&Series| matches!(&series.probe, Probe::Disk(_, what) if readings.contains(what));
    let series = observations.series.iter().filter(of_disk);
    let means: Vec<f64> =
        series.filter_map(|series| super::machine::window_mean(series, &observations.window)).collect();
    (!means.is_empty()).then(|| means.iter().sum())
}

fn steal(observations: &Observations) -> Option<String> {
    let stolen = mean_of(observations, Whole::CpuSteal)?;
    // Without a count of cores the share of one core is the careful reading.
    let share = stolen / f64::from(cores(observations).unwrap_or(1));
    (share > 0.01).then(|| {
        format!(
            "the hypervisor took {} of the CPU time of this machine; CPU figures and tails are inflated; repeat on a host \
             that is not shared, or at another time",
            percent(share)
        )
    })
}

/// Less of a machine's cores than this is what any machine does beside a load.
const OTHERS: f64 = 0.1;

/// Whoever waits for a CPU on a machine that is less busy waits for the end of a quota, or met others by chance.
const BUSY: f64 = 0.5;
/// From here on its cores are full, and set the rate.
const FULL: f64 = 0.9;

/// Waiting for I/O is what a storage test is for; waiting for CPU or memory is not.
fn pressure(summary: &TrialSummary, observations: &Observations) -> Option<String> {
    let over = |resource: Resource, limit: f64| {
        mean_of(observations, Probe::Pressure(resource, Stalled::Some)).filter(|share| *share > limit)
    };
    let cpu = over(Resource::Cpu, 0.10);
    if let Some(share) = over(Resource::Memory, 0.01).filter(|share| cpu.is_none_or(|cpu| cpu < *share)) {
        return Some(format!("tasks waited for memory {} of the time; free memory before measuring", percent(share)));
    }
    // Copies of a piece of work that are more than the cores wait for each other, which is what they are asked about.
    let asked = summary.fixed_work && fills_cores(observations);
    let busy = super::bound::all_busy(summary).zip(cores(observations));
    let below = |share: f64| busy.is_some_and(|(busy, of)| busy < share * f64::from(of));
    let idle = below(BUSY);
    cpu.filter(|_| !asked && !idle).map(|share| {
        let waited = format!("some task waited for a CPU {} of the time", percent(share));
        let mirror = summary.server.as_ref().map(|server| (server.mirror_cpu_cores, server.mirror));
        let apart = !mirror.is_some_and(|(cpu, waits)| {
            cpu.is_none() && (summary.pair.is_some() || waits != MirrorWaits::default())
        });
        match super::bound::busy_with_others(summary) {
            Some(others) if others > OTHERS && apart => {
                format!("{waited}: other programs kept {} of this machine's cores busy; stop them and run again", percent(others))
            }
            Some(others) if others > OTHERS => format!(
                "{waited}: programs besides the first server and the load generator kept {} of this machine's cores busy; what of it \
                 was the mirror is not known",
                percent(others)
            ),
            Some(_) if asks_database(summary) => {
                let who = if mirror.is_some_and(|(cpu, _)| cpu.is_some()) { "both servers" } else { "server" };
                match busy.filter(|_| below(FULL)) {
                    Some((busy, of)) => format!(
                        "{waited}: {who} and load generator keep {} of this machine's {of} cores busy and wait for each other at times, \
                         and latency includes those waits; load the server from another machine",
                        units::significant(busy)
                    ),
                    None => format!(
                        "the cores of this machine set the rate: {who} and load generator fill them, and {waited}; load the server from \
                         another machine"
                    ),
                }
            }
            _ => {
                let many = fills_cores(observations) && observations.generators > 1;
                let fewer = if many { ", or use fewer workers than there are cores" } else { "" };
                format!("{waited}; stop other work{fewer}")
            }
        }
    })
}

/// Whether as many generators as there are cores are at work: with fewer, it is somebody else who waits.
pub(super) fn fills_cores(observations: &Observations) -> bool {
    cores(observations).is_none_or(|cores| u32::from(observations.generators) >= cores)
}

fn throttled(observations: &Observations) -> Option<String> {
    let share = mean_of(observations, Whole::CgroupThrottled).filter(|share| *share > 0.0)?;
    Some(format!(
        "the cgroup of this process was held back by its CPU quota ({} of the time); raise the quota",
        percent(share)
    ))
}

/// Power that ran out of the wall socket's reach, and heat, both slow a CPU down in the middle of a trial.
fn frequency(observations: &Observations) -> Option<String> {
    if mean_of(observations, Whole::ThermalThrottles).is_some_and(|rate| rate > 0.0) {
        return Some("the CPU was slowed down because it was too hot; cool the machine, or measure shorter".to_owned());
    }
    let mains = mean_of(observations, Whole::Mains)?;
    (mains < 1.0).then(|| "the machine ran on battery; connect it to the mains".to_owned())
}

fn pauses(summary: &TrialSummary, observations: &Observations) -> Option<String> {
    let inside = |event: &&Event| event.kind == EventKind::Pause && observations.window.contains(event.at);
    let pauses: Vec<&Event> = observations.events.iter().filter(inside).collect();
    let first = pauses.first()?;
    Some(format!(
        "{} in the window; the first: {}; latencies of that moment are not the {}'s",
        if pauses.len() == 1 { "one pause".to_owned() } else { format!("{} pauses", pauses.len()) },
        first.text,
        asked(summary)
    ))
}

/// What the trial asked, in a word.
fn asked(summary: &TrialSummary) -> &'static str {
    if asks_database(summary) { "database" } else { "storage" }
}

fn damage(summary: &TrialSummary, observations: &Observations) -> Option<String> {
    let found = observations.events.iter().filter(|event| event.kind == EventKind::Damage).count();
    let first = first_event(observations, EventKind::Damage)?;
    if asks_database(summary) {
        return Some(format!(
            "the data is not what it must be after this trial: {}; do not trust this database before it is explained",
            first.text
        ));
    }
    let times = match kinds(summary, EventKind::Damage, None).filter(|_| !observations.mishaps.is_empty()) {
        Some(kinds) => format!("({kinds})"),
        None => times(found),
    };
    Some(format!(
        "damaged data was read back {times}; the first: {}; do not trust this storage before it is explained",
        first.text
    ))
}

fn first_event(observations: &Observations, kind: EventKind) -> Option<&Event> {
    observations.events.iter().filter(|event| event.kind == kind).min_by_key(|event| event.at)
}

fn times(n: usize) -> String {
    if n == 1 { "once".to_owned() } else { format!("{n} times") }
}
