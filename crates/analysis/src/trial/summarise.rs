//! One trial reduced to what reports and comparisons need.

use super::books::slot_time;
use super::caveats::trial_caveats;
use super::checkpoints::checkpoints;
use super::cut::{Cut, Given, Missed};
use super::generator::generator_summary;
use super::interrupted::account_of;
use super::latency::{Placed, distribution, latency_summary};
use super::machine::{level, machine_summary};
use super::mix::Planned;
use super::pair_course::pair_course;
use super::server::server_summary;
use super::stall::stall;
use super::steady::steady;
use super::sustained::sustained;
use super::timeline::timeline;
use super::uncertainty::{Rows, estimates_of_fixed_work, ratio_error, response_estimates, rows};
use crate::statistics::series_mean::mean_error;
use crate::{
    Caveat, CaveatKind, Checkpoints, ClassSummary, CpuPerOperation, Estimate, Jobs, LatencySummary, LimitSummary,
    ResponseEstimates, ServerSummary, Steady, SteadyAnswer, StreamSummary, Sustained, Tail, TrialSummary, YieldSummary,
};
use observation::{
    Account, Cell, CellSource, CheckResult, ClassKind, CpuTime, EventKind, Histogram, Mishap, Observations, TrialLabel,
    Whole, Window,
};
use study::Judgement;
use units::{Nanos, duration};

/// Reduces the observations of one trial: the window is cut, the books are closed, and every caveat that the observations
/// themselves give is written down. What needs the whole run is left to [`crate::judge`]. The cells of `observations` are not
/// looked at; those of `cells` are walked twice, and what is held of them does not grow with their number.
///
/// # Errors
/// Whatever keeps the cells from being read.
pub fn summarise_from<S: CellSource + ?Sized>(
    label: &TrialLabel,
    observations: &Observations,
    cells: &S,
    judgement: &Judgement,
) -> Result<TrialSummary, S::Error> {
    reduce(label, observations, cells, judgement, None)
}

/// `planned` is how long the window should have been, of a trial that was interrupted before its end.
pub fn reduce<S: CellSource + ?Sized>(
    label: &TrialLabel,
    observations: &Observations,
    cells: &S,
    judgement: &Judgement,
    planned: Option<Nanos>,
) -> Result<TrialSummary, S::Error> {
    let (found, window) = held(label, observations, planned.is_some());
    let part = |window| Observations { window, cells: Vec::new(), ..observations.clone() };
    if let Some(exact) = beside_jobs(observations, window) {
        let even = even(exact, observations.interval);
        let parts = (&part(even), observations, Some(&part(exact)));
        return reduce_window(label, parts, cells, (judgement, found), planned);
    }
    if window == observations.window {
        return reduce_window(label, (observations, observations, None), cells, (judgement, found), planned);
    }
    reduce_window(label, (&part(window), observations, None), cells, (judgement, found), planned)
}

/// What is known of checkpoints, and the window that counts.
fn held(label: &TrialLabel, observations: &Observations, interrupted: bool) -> (Option<Checkpoints>, Window) {
    let may_cut = !interrupted && observations.elapsed_s.is_none();
    match checkpoints(label, observations, may_cut) {
        Some((found, window)) => (Some(found), window),
        None => (None, observations.window),
    }
}

/// Up to the end of the jobs, where they were over before the window: what came behind says nothing of work beside them.
fn beside_jobs(observations: &Observations, window: Window) -> Option<Window> {
    let (end, _) = observations.series_of(&Whole::JobsEnded.into())?.points.last()?;
    (*end > window.start && *end < window.end).then_some(Window { end: *end, ..window })
}

/// The whole intervals of a window; of one that is shorter than an interval, the one in which it ends.
fn even(window: Window, interval: Nanos) -> Window {
    let interval = interval.0.max(1);
    let end = window.end.0 / interval * interval;
    let end = if end > window.start.0 { end } else { window.end.0.div_ceil(interval) * interval };
    Window { end: Nanos(end), ..window }
}

/// The same over the window that counts. The books and the CPU of the generator are those of the window as it was `asked`. Where jobs
/// were over before, all that ended with them is timed to the moment (`exact`), work beside them is counted over whole intervals, and
/// the books are those of what is counted.
fn reduce_window<S: CellSource + ?Sized>(
    label: &TrialLabel,
    (observations, asked, exact): (&Observations, &Observations, Option<&Observations>),
    cells: &S,
    (judgement, found): (&Judgement, Option<Checkpoints>),
    planned: Option<Nanos>,
) -> Result<TrialSummary, S::Error> {
    let mut cuts = Cut::all(observations, label, cells)?;
    let server =
        server_summary(observations, asked, &cuts).map(|server| ServerSummary { checkpoints: found, ..server });
    let timeline = timeline(observations, &cuts);
    let whole = if asked.window == observations.window { None } else { Some(Cut::all(asked, label, cells)?) };
    if let (Some(exact), Some(whole)) = (exact, &whole) {
        for ((cut, exact), whole) in cuts.iter_mut().zip(Cut::all(exact, label, cells)?).zip(whole) {
            if whole.rests_from(exact.end) {
                *cut = exact;
                cut.over = true;
            }
        }
    }
    let books = whole.as_deref().filter(|_| exact.is_none()).unwrap_or(&cuts);
    let window = exact.unwrap_or(observations).window;
    let responses: Vec<Placed> = cuts.iter().map(Cut::work_response).collect();
    let rows = if observations.elapsed_s.is_some() { Vec::new() } else { rows(&cuts, &responses, cells)? };
    let round = judgement.round(&label.experiment);
    let parts = cuts.iter().zip(&responses).enumerate();
    let own_books = planned.is_some() || exact.is_some();
    let parts = parts.map(|(at, (cut, response))| Part {
        cut,
        response,
        rows: rows.get(at),
        judgement,
        round,
        planned,
        own_books,
    });
    let mut summary = TrialSummary {
        label: label.clone(),
        provenance: observations.provenance,
        started_unix_ns: observations.started_unix_ns,
        window,
        interrupted: planned.is_some(),
        streams: parts.map(|part| stream_summary(&part)).collect(),
        elapsed_s: observations.elapsed_s.unwrap_or(window.length().seconds()),
        fixed_work: observations.elapsed_s.is_some(),
        jobs_ended: exact.is_some(),
        jobs: jobs(observations),
        generator_cpu: generator_cpu(observations, &cuts, books),
        generator: generator_summary(observations),
        machine: machine_summary(observations),
        server,
        timeline,
        events: observations.events.clone(),
        mishaps: mishaps(observations),
        checks_failed: observations.checks.iter().filter(|check| check.result == CheckResult::Failed).count() as u64,
        pair: pair_course(observations),
        caveats: Vec::new(),
    };
    if let [only] = summary.streams.as_mut_slice() {
        only.cpu = cpu_per_operation(observations, books[0].work_tally().done);
    }
    summary.caveats = trial_caveats(&summary, (&cuts, books), judgement, planned);
    summary.caveats.extend(within_an_interval(&summary, observations));
    Ok(summary)
}

/// Jobs that were over within one interval: nothing tells what came beside them from what came after them.
fn within_an_interval(summary: &TrialSummary, even: &Observations) -> Option<Caveat> {
    let (window, interval) = (summary.window.length(), duration(even.interval));
    (summary.window.end < even.window.end).then(|| Caveat {
        kind: CaveatKind::WindowTooShort,
        trial: Some(summary.label.index),
        text: format!(
            "the jobs were over after {}, within one recording interval of {interval}: what is told of the work beside them counts \
             that whole interval; give the jobs more to do, or take a shorter `interval`",
            duration(window)
        ),
    })
}

fn jobs(observations: &Observations) -> Option<Jobs> {
    let (longest_s, mean_s) = (level(observations, Whole::JobLongest)?, level(observations, Whole::JobMean)?);
    (mean_s > 0.0).then_some(Jobs { longest_s, mean_s })
}

/// What went wrong, by kind. A run of an older version counted nothing, and has the first events only.
fn mishaps(observations: &Observations) -> Vec<Mishap> {
    let Observations { mishaps, checks, events, .. } = observations;
    let mut mishaps = mishaps.clone();
    if checks.is_empty() && !mishaps.iter().any(|mishap| mishap.kind == EventKind::Damage) {
        for event in events.iter().filter(|event| event.kind == EventKind::Damage) {
            let (what, first) = ("damaged".to_owned(), event.text.clone());
            Mishap { stream: 0, kind: EventKind::Damage, what, count: 1, first }.add_to(&mut mishaps);
        }
    }
    mishaps
}

/// CPU follows work: what was measured over the whole window is shared out by it.
fn generator_cpu(observations: &Observations, cuts: &[Cut], books: &[Cut]) -> CpuTime {
    let done = |cuts: &[Cut]| cuts.iter().map(|cut| cut.tally().done).sum::<u64>() as f64;
    let (cut, all) = (done(cuts), done(books));
    let share = if all > 0.0 { cut / all } else { 1.0 };
    let whole = observations.generator_cpu;
    CpuTime { user_s: whole.user_s * share, system_s: whole.system_s * share }
}

/// One stream with what was already made of it.
struct Part<'a> {
    cut: &'a Cut<'a>,
    response: &'a Placed,
    /// None of fixed work.
    rows: Option<&'a Rows>,
    judgement: &'a Judgement,
    /// The length of a round, where the study states one.
    round: Option<Nanos>,
    planned: Option<Nanos>,
    /// Whether its books are those of what is counted.
    own_books: bool,
}

impl Part<'_> {
    /// The books of a trial that ended. Those of an interrupted one were never closed, and those beside jobs that were over go on
    /// after them: theirs are those of what is counted.
    fn account(&self) -> Account {
        if self.own_books {
            return account_of(self.cut, self.response);
        }
        self.cut.observations.accounts.get(usize::from(self.cut.stream)).copied().unwrap_or_default()
    }
}

fn stream_summary(part: &Part) -> StreamSummary {
    let (cut, response, judgement) = (part.cut, part.response, part.judgement);
    let observations = cut.observations;
    let rates = cut.work_rates();
    let tally = cut.work_tally();
    let all = cut.tally();
    let seconds = counted_seconds(cut);
    let account = part.account();
    let fixed_work = observations.elapsed_s.is_some();
    let steady = steadiness(&rates, cut, judgement, part.round);
    let response_estimates = match part.rows {
        _ if fixed_work => estimates_of_fixed_work(response, judgement.confidence),
        rows => rows.and_then(|rows| response_estimates(rows, response, judgement.confidence)),
    };
    StreamSummary {
        stream: cut.stream,
        throughput_per_s: throughput(cut, &rates, tally.done as f64 / seconds, judgement.confidence),
        offered_per_s: cut.label.offered.map(|rate| rate.0),
        bytes_per_s: tally.bytes as f64 / seconds,
        yields: cut.given.iter().map(|given| yielded(cut, given, judgement.confidence)).collect(),
        limit: limited(cut, judgement.confidence),
        service: latency_summary(&lower_bound(cut, response, |class| &class.service)),
        lateness: latency_summary(&lower_bound(cut, response, |class| &class.lateness)),
        classes: class_summaries(cut, seconds),
        account,
        retried: all.retried,
        rolled_back: all.rolled_back,
        cpu: None,
        little_gap_pct: slot_time(&account).map(|time| 100.0 * time.gap),
        sustained: if fixed_work { None } else { at_most(&rates, cut, steady.answer) },
        stall: if fixed_work { None } else { stall(cut, &latency_summary(response), part.planned.is_some()) },
        steady,
        distribution: distribution(response),
        response: with_firmness(latency_summary(response), response_estimates.as_ref()),
        response_estimates,
    }
}

/// Tails are firm where they have intervals, wherever that was asked.
fn with_firmness(summary: LatencySummary, own: Option<&ResponseEstimates>) -> LatencySummary {
    let Some(own) = own else { return summary };
    let firm = |q: f64| own.quantiles.iter().any(|known| known.q == q && known.ms.has_interval());
    LatencySummary { tail: Tail { p99_firm: firm(0.99), p999_firm: firm(0.999), ..summary.tail }, ..summary }
}

/// Seconds over which completions are counted: those of the fixed work, or of the window.
fn counted_seconds(cut: &Cut) -> f64 {
    cut.observations.elapsed_s.unwrap_or_else(|| cut.seconds()).max(f64::MIN_POSITIVE)
}

/// Completions over the window with an interval over its batches. Fixed work has no such interval, nor has a job that was over within
/// the window: how its rate varies from second to second does not say how long the same work takes the next time.
fn throughput(cut: &Cut, rates: &[f64], value: f64, confidence: f64) -> Estimate {
    rate_estimate(cut, rates, value, least_doubt(cut), confidence)
}

fn rate_estimate(cut: &Cut, rates: &[f64], value: f64, least_doubt: f64, confidence: f64) -> Estimate {
    if cut.observations.elapsed_s.is_some() || cut.over || rates.is_empty() {
        return Estimate { confidence, ..Estimate::single(value) };
    }
    let Some(known) = mean_error(rates) else { return Estimate { confidence, ..Estimate::single(value) } };
    Estimate::positive(value, known.half(confidence), least_doubt, known.worth.floor() as u32, confidence)
}

/// What was given over the window, with an interval as that of throughput.
fn yielded(cut: &Cut, given: &Given, confidence: f64) -> YieldSummary {
    let counts = given.counts.iter().take(cut.whole_intervals());
    let rates: Vec<f64> = counts.map(|count| count / cut.observations.interval.seconds()).collect();
    let total = given.counts.iter().sum::<f64>() / counted_seconds(cut);
    // One that is cut off gives the most that one gives; where several are cut off together, they give their mean.
    let done = cut.work_tally().done.max(1) as f64;
    let mean = given.counts.iter().sum::<f64>() / done;
    let doubt = (given.most / counted_seconds(cut)).max(mean * least_doubt(cut));
    // What comes by the clock and keeps up with it is known but for what either end of the window cuts off.
    let clocked = cut.label.offered_of(&given.what).filter(|offered_per_s| (offered_per_s - total).abs() <= doubt);
    let per_s = match clocked {
        Some(_) => Estimate::positive(total, doubt, doubt, rates.len() as u32, confidence),
        None => rate_estimate(cut, &rates, total, doubt, confidence),
    };
    YieldSummary { what: given.what.clone(), per_s, most: given.most }
}

/// What missed the limit of latency; nothing where there is none.
fn limited(cut: &Cut, confidence: f64) -> Option<LimitSummary> {
    let name = |class: u16| cut.label.classes[usize::from(class)].0.clone();
    let late = cut.label.class_of(ClassKind::Late)?;
    let counts = |of: fn(&Missed) -> f64| cut.missed.iter().map(of).collect::<Vec<f64>>();
    let sum = |counts: &[f64]| counts.iter().sum::<f64>() as u64;
    let (over, ended) = (counts(|one| one.late), counts(|one| one.ended));
    let skipped = cut.label.class_of(ClassKind::Skipped).map(|_| counts(|one| one.skipped));
    let due = counts(|one| one.ended + one.failed + one.skipped);
    Some(LimitSummary {
        words: name(late),
        late: sum(&over),
        late_share: share_of(&over, &ended, confidence),
        skipped_share: skipped.as_ref().map(|skipped| share_of(skipped, &due, confidence)),
        skipped: skipped.as_deref().map(sum),
    })
}

/// Some of all as a share, from both by interval. Where none was seen, so many may still have been about to be.
fn share_of(some: &[f64], all: &[f64], confidence: f64) -> Estimate {
    let (count, total) = (some.iter().sum::<f64>(), all.iter().sum::<f64>());
    if total == 0.0 {
        return Estimate { confidence, ..Estimate::single(0.0) };
    }
    let value = count / total;
    let Some(known) = ratio_error(some, all) else { return Estimate { confidence, ..Estimate::single(value) } };
    let seen = if count == 0.0 { NONE_SEEN / total } else { 0.0 };
    let half = known.half(confidence).max(seen);
    let n = known.worth.floor() as u32;
    Estimate { value, low: (value - half).max(0.0), high: (value + half).min(1.0), n, confidence }
}

/// Where nothing completed, so many may still have been about to: with 97.5 percent a Poisson count is below that.
const NONE_SEEN: f64 = 3.69;

/// A window counts whole operations: at either end one may be cut off. Slots that work in step are cut off together, as
/// many as were seen to complete in one interval.
fn least_doubt(cut: &Cut) -> f64 {
    let counted = cut.intervals.get(cut.first as usize..).unwrap_or_default();
    let together = counted.iter().map(|interval| interval.done).max().unwrap_or(0);
    let slots = u64::from(cut.label.slots.unwrap_or(1));
    let cut_off = if together == 0 { NONE_SEEN } else { together.min(slots).max(1) as f64 };
    cut_off / counted_seconds(cut)
}

fn steadiness(rates: &[f64], cut: &Cut, judgement: &Judgement, round: Option<Nanos>) -> Steady {
    if cut.observations.elapsed_s.is_some() {
        // Fixed work starts and ends: rounds of its course are not repeats of one state.
        return Steady { answer: SteadyAnswer::TooShort, rounds: None };
    }
    steady(rates, cut.observations.interval, &judgement.steady, round)
}

/// At most against sustained. A window that was steady has no fall in it.
fn at_most(rates: &[f64], cut: &Cut, steady: SteadyAnswer) -> Option<Sustained> {
    let found = sustained(rates, cut.observations.interval.seconds())?;
    Some(Sustained { burst: found.burst.filter(|_| steady != SteadyAnswer::Yes), ..found })
}

/// Service or lateness. How long a censored operation was in service is not known, so it is not placed, only marked.
fn lower_bound(cut: &Cut, response: &Placed, which: impl Fn(&Cell) -> &Histogram) -> Placed {
    Placed { all: cut.work_total(which), censored: response.censored.clone() }
}

/// The classes in which anything was asked: a stream that only reads has no writes to report. One that is planned and never
/// came is told.
fn class_summaries(cut: &Cut, seconds: f64) -> Vec<ClassSummary> {
    let classes = cut.label.classes.iter().enumerate().filter(|(_, (_, kind))| !kind.only_counts());
    let planned = Planned::of(cut);
    let all = classes.map(|(class, (name, _))| class_summary(cut, class, name, (seconds, &planned)));
    let asked = |class: &ClassSummary| class.response.count > 0 || class.failed > 0 || class.throughput_per_s > 0.0;
    all.filter(|class| asked(class) || class.mix.planned_share.is_some()).collect()
}

fn class_summary(cut: &Cut, class: usize, name: &str, (seconds, planned): (f64, &Planned)) -> ClassSummary {
    let Cell { tally, response, service, censored, .. } = cut.class(class);
    let response = Placed::new(response, censored.clone());
    let answered = latency_summary(&response);
    let offered = cut.label.gives.iter().find(|gives| usize::from(gives.class) == class);
    ClassSummary {
        offered_per_s: offered.and_then(|gives| Some(gives.offered_per_s? / gives.amount)),
        bound_from: response.bound_from(),
        name: name.to_owned(),
        throughput_per_s: tally.done as f64 / seconds,
        // A failed operation has no response time: what ended in the histogram ended well.
        done: response.all.count() - response.censored.count(),
        failed: tally.failed,
        retried: tally.retried,
        bytes_per_s: tally.bytes as f64 / seconds,
        mix: planned.judged(class, tally.done, &answered),
        response: answered,
        service: latency_summary(&Placed { all: service, censored }),
    }
}

fn cpu_per_operation(observations: &Observations, done: u64) -> Option<CpuPerOperation> {
    let cpu = observations.generator_cpu;
    // A process that used no CPU at all was not observed.
    (done > 0 && cpu.total_s() > 0.0).then(|| CpuPerOperation {
        user_us: cpu.user_s * 1e6 / done as f64,
        system_us: cpu.system_s * 1e6 / done as f64,
    })
}
