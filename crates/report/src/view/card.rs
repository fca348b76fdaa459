//! What stands on top of a report: what was tested, the few numbers that answer, a verdict, and the one doubt that would change a
//! decision.
//!
//! The one idea: a stranger reads these lines alone. So each number says in the words of the field what it is, where on its
//! curve it was taken, and how sure it is.

use super::conclusion::with_interval;
use super::curve::{Curve, Sweep};
use super::headline::{is_load, low_point, quoted_point, rows_each};
use super::mix::{nearest, trials_of};
use super::quantity::Quantity;
use super::tested;
use crate::caveats::Caveats;
use analysis::{
    Beside, CaveatKind, Comparison, Compensation, DeadlineFinding, Estimate, Findings, HighestRate, LatencySummary,
    MirrorFinding, PairFinding, PointSummary, SessionLimit, StreamSummary, TierFinding, TierStep, Typical, Verdict,
    Work,
};
use observation::{Asks, Level, Point, Provenance, factor, level_of};
use study::Metric;
use units::{Bytes, Nanos};

/// More numbers than this are no card.
const NUMBERS_MAX: usize = 6;

/// Of more comparisons the table tells.
const COMPARED_MAX: usize = 5;

/// A factor without numbers that has more levels than this is told in its table alone.
const CHOICES_MAX: usize = 4;

/// An operation of more than this moves bytes for their own sake.
const LARGE_BYTES: f64 = 65_536.0;

/// The card of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Card {
    /// What was tested, a line each: system, data beside memory, machine.
    pub tested: Vec<String>,
    /// Three to six numbers, the most important first; fewer where a run has no more.
    pub numbers: Vec<Number>,
    /// What such numbers are typical of; none where nothing fits.
    pub typical: Option<String>,
    /// The answer in one sentence.
    pub verdict: String,
    /// Whether it says that data is damaged or lost: then it goes before any number.
    pub lost: bool,
    /// What else is to be said of it.
    pub more: Vec<String>,
    /// What would change a decision, gravest first; empty where nothing would.
    pub doubts: Vec<String>,
    /// How many other notes there are.
    pub beside: usize,
}

/// One large number.
#[derive(Clone, Debug, PartialEq)]
pub struct Number {
    /// `113 k IOPS`.
    pub value: String,
    /// `110–116 k IOPS`; empty where there is none.
    pub interval: String,
    /// What it is: `random-read`.
    pub what: String,
    /// The workload, where its name alone says what the number is.
    pub stream: Option<String>,
    /// Where it was taken: `queue depth 32, the most`.
    pub place: String,
    /// Further numbers of the same: `10.9 k IOPS at queue depth 1`.
    pub also: Vec<String>,
    /// Why its figures do not seem to add up; of many numbers that have the same reason the first one tells it.
    pub why: Option<String>,
    /// Letters of the caveats that touch it.
    pub marks: String,
}

impl Number {
    fn new(estimate: &Estimate, quantity: Quantity, what: impl Into<String>, place: impl Into<String>) -> Number {
        let bound = estimate.lower_bound();
        let value = match bound {
            true => format!("at least {}", quantity.text(estimate.low)),
            false if estimate.tells() => quantity.with_ends(estimate).0,
            false => quantity.text(estimate.value),
        };
        // Ends that are told alike say nothing beside their value.
        let wide = !bound && quantity.text(estimate.low) != quantity.text(estimate.high);
        let interval = quantity.ends(estimate).filter(|_| wide).unwrap_or_default();
        let (what, place) = (what.into(), place.into());
        Number { value, interval, what, stream: None, place, also: Vec::new(), why: None, marks: String::new() }
    }

    /// What stands before its letters.
    pub fn noted(&self) -> &'static str {
        if self.marks.chars().count() == 1 { "see note" } else { "see notes" }
    }

    fn with(mut self, also: impl IntoIterator<Item = String>) -> Number {
        self.also.extend(also);
        self
    }
}

/// `3 more notes`, beside a doubt, which is one itself; `3 notes` beside none.
pub fn notes(count: usize, more: bool) -> String {
    let some = units::counted(count as u64, "notes");
    if more { some.replacen(' ', " more ", 1) } else { some }
}

/// The card.
pub fn card(findings: &Findings, sweeps: &[Sweep], caveats: &Caveats) -> Card {
    let numbers = numbers(findings, sweeps, caveats);
    let (verdict, more) = match findings.answer.split_first() {
        // Who asks for several numbers of one system is answered with all of them.
        Some((first, more)) => match every(findings, &numbers).filter(|_| findings.damage().next().is_none()) {
            Some(all) => (all, std::iter::once(first).chain(more).cloned().collect()),
            None => (first.clone(), more.to_vec()),
        },
        None => ("No trial of this run ended, so there is no answer.".to_owned(), Vec::new()),
    };
    // What the card says itself is not counted beside it.
    let beside =
        caveats.0.iter().filter(|kind| Some(kind.kind) != findings.doubted && kind.kind != CaveatKind::Unfinished);
    Card {
        tested: tested::lines(findings),
        numbers,
        typical: findings.typical.as_ref().map(Typical::says),
        verdict,
        lost: findings.damage().next().is_some(),
        more,
        doubts: findings.doubts.clone(),
        beside: beside.count(),
    }
}

/// So many workloads of a study are asked for together.
const TOGETHER_MIN: usize = 3;

/// `random-read 130 k IOPS, random-write 61.4 k IOPS, durable-write 224 us.`, where a run measured several workloads and compared nothing.
fn every(findings: &Findings, numbers: &[Number]) -> Option<String> {
    if findings.comparisons().next().is_some() || numbers.len() < TOGETHER_MIN {
        return None;
    }
    let told = |number: &Number| Some(format!("{} {}", number.stream.as_ref()?, number.value));
    let all: Vec<String> = numbers.iter().map(told).collect::<Option<_>>()?;
    // Experiments of one workload ask different questions of it, which its name alone does not tell apart.
    let mut names: Vec<&Option<String>> = numbers.iter().map(|number| &number.stream).collect();
    names.sort();
    if names.windows(2).any(|two| two[0] == two[1]) {
        return None;
    }
    let simulated = findings.points.iter().all(|point| point.provenance == Provenance::Simulated);
    Some(format!("{}{}.", if simulated { "Simulated: " } else { "" }, all.join(", ")))
}

fn numbers(findings: &Findings, sweeps: &[Sweep], caveats: &Caveats) -> Vec<Number> {
    let outages: Vec<&PairFinding> = findings.findings.iter().filter_map(PairFinding::of).collect();
    let mut all = of_outages(findings, &outages);
    let asked = |found: &&Beside| findings.answered.contains(&found.point);
    all.extend(findings.findings.iter().filter_map(Beside::of).filter(asked).map(|found| beside(findings, found)));
    all.extend(findings.findings.iter().filter_map(MirrorFinding::of).filter_map(round_trips));
    // What a whole window has mixes what was before, during and behind an outage.
    let mixed = |at: &Point| {
        outages.iter().any(|one| (&one.point.experiment, &one.point.stream) == (&at.experiment, &at.stream))
    };
    let primary = || findings.comparisons().filter(|one| one.primary && !mixed(&one.point));
    let steps: Vec<Number> = findings.findings.iter().filter_map(TierFinding::of).flat_map(of_steps).collect();
    if steps.is_empty() {
        all.extend(first_and_last(findings, primary().collect(), caveats));
    }
    all.extend(steps);
    // What is made of it is told where the study's own metric is read.
    let mirrored = |one: &&MirrorFinding| {
        // What follows from a ratio that nobody knows is not known either.
        primary()
            .filter(|of| of.verdict != Verdict::Inconclusive)
            .any(|of| of.point.experiment == one.point.experiment && of.point.stream == one.point.stream)
    };
    all.extend(findings.findings.iter().filter_map(MirrorFinding::of).filter(mirrored).flat_map(of_mirror));
    all.extend(findings.findings.iter().filter_map(DeadlineFinding::of).filter(|one| one.decides).map(deadline));
    all.extend(findings.findings.iter().filter_map(HighestRate::of).filter_map(|one| highest(findings, one)));
    let first = |sweep: &&Sweep| !findings.answered.iter().any(|point| point.experiment == sweep.experiment);
    let mut ordered: Vec<&Sweep> = sweeps.iter().collect();
    ordered.sort_by_key(first);
    let each = ordered.iter().flat_map(|sweep| sweep.curves.iter().map(move |curve| (*sweep, curve)));
    let ordered: Vec<(&Sweep, &Curve)> = each.filter(|(_, curve)| !mixed(&curve.at)).collect();
    // Both sides of a comparison stand beside it.
    let sides = |one: &'_ Comparison| {
        [one.baseline.clone(), one.point.system.clone()].map(|system| (system, one.point.stream.clone()))
    };
    let (mut told, mut in_order): (Vec<(String, String)>, Option<usize>) = (primary().flat_map(sides).collect(), None);
    for (sweep, curve) in ordered.iter().copied() {
        // A stream is told where it stands first; its other experiments are in the tables.
        let of = (curve.at.system.clone(), curve.at.stream.clone());
        if told.contains(&of) {
            continue;
        }
        if let Some(one) = against_baseline(findings, sweep, curve) {
            told.extend(sides(one));
            all.push(compared(findings, one, caveats));
        } else {
            told.push(of);
            match of_curve(findings, sweep, curve, caveats) {
                // Reading in order and writing in order are one thing to know.
                Some((Quantity::ByteRate, number)) if let Some(at) = in_order.take() => {
                    let also = format!(
                        "{} {}{}",
                        number.what,
                        number.value,
                        number.also.first().map(|latency| format!(", {latency}")).unwrap_or_default()
                    );
                    all[at].also.push(also);
                }
                Some((quantity, number)) => {
                    in_order = (quantity == Quantity::ByteRate && curve.points.len() == 1).then_some(all.len());
                    all.push(number);
                }
                None => {}
            }
        }
    }
    // A stream's other experiments ask other questions of it; a comparison has its own.
    if primary().next().is_none() {
        all.extend(further(findings, &ordered, caveats));
    }
    all.truncate(NUMBERS_MAX);
    let mut known: Vec<String> = Vec::new();
    for number in &mut all {
        let why = number.why.take().filter(|why| !known.contains(why));
        known.extend(why.clone());
        number.also.extend(why);
    }
    all
}

/// What each step of a proof of tiers gave of all that can be gained, beside its promise; the last is all of it.
fn of_steps(found: &TierFinding) -> Vec<Number> {
    let given = |per_s: f64| match Work::of_word(&found.what) {
        Some(work) => work.rate(per_s),
        None => units::things_an_hour(3_600.0 * per_s, &found.what),
    };
    let number = |step: &TierStep| {
        let bytes = units::percent(step.of_bytes);
        let what = format!(
            "of the time that a transaction saves with all bytes on the fast tier; this step has {bytes} of them there"
        );
        let place = format!("the advice promised {}", units::percent(step.promised.value));
        let rates = format!("{}, {} with all of them slow", given(step.per_s.value), given(found.per_s.value));
        let adds = format!("adds {}", super::tiers::added(&step.objects));
        Some(Number::new(step.delivered.as_ref()?, Quantity::Share, what, place).with([rates, adds]))
    };
    found.steps.iter().filter_map(number).collect()
}

/// The comparison that tells both sides of a pair of systems where a curve is quoted, in studies that compare: by what its
/// transactions give, or else by the metric that the study declared for its first experiment.
fn against_baseline<'a>(findings: &'a Findings, sweep: &Sweep, curve: &Curve) -> Option<&'a Comparison> {
    let first = findings.comparisons().find(|one| one.primary)?;
    let point = quoted_point(findings, sweep, curve)?;
    let (at, given) = (&point.at, point.yields.first().map(|(thing, _)| thing.as_str()));
    let metric = given.filter(|_| first.metric == Metric::Throughput.word()).unwrap_or(&first.metric);
    let here = |one: &&Comparison| {
        let baseline = Point { system: one.baseline.clone(), ..one.point.clone() };
        one.metric == metric && (one.point == *at || baseline == *at)
    };
    let mut all = findings.comparisons().filter(here);
    all.next().filter(|_| all.next().is_none())
}

/// Comparisons in the order of their systems in the study; of many the first ones and the last, which says how many are left out.
fn first_and_last(findings: &Findings, mut all: Vec<&Comparison>, caveats: &Caveats) -> Vec<Number> {
    all.sort_by_key(|one| findings.run.systems.iter().position(|system| system.name == one.point.system));
    let left = all.len().saturating_sub(COMPARED_MAX);
    if left > 0 {
        all.drain(COMPARED_MAX - 1..all.len() - 1);
    }
    let mut told: Vec<Number> = all.into_iter().map(|one| compared(findings, one, caveats)).collect();
    let rest =
        (left > 0).then(|| format!("{} between are in the findings below", units::counted(left as u64, "comparisons")));
    told.iter_mut().last().into_iter().for_each(|last| last.also.extend(rest.clone()));
    told
}

/// Numbers of the experiments of a stream behind the one where it stands first.
fn further(findings: &Findings, ordered: &[(&Sweep, &Curve)], caveats: &Caveats) -> Vec<Number> {
    let mut told: Vec<(&str, &str, &str)> = Vec::new();
    let mut numbers = Vec::new();
    for (sweep, curve) in ordered.iter().copied() {
        let stands = told.iter().find(|(_, system, stream)| (*system, *stream) == (&curve.at.system, &curve.at.stream));
        match stands {
            None => told.push((sweep.experiment, &curve.at.system, &curve.at.stream)),
            Some((experiment, ..)) if *experiment != sweep.experiment && curve.points.len() > 1 => {
                let number = of_curve(findings, sweep, curve, caveats);
                numbers.extend(number.map(|(_, mut number)| {
                    number.what = format!("{}, {}", number.what, sweep.experiment);
                    number
                }));
            }
            Some(_) => {}
        }
    }
    numbers
}

/// The point of a curve that people quote, with its low end beside it.
fn of_curve(findings: &Findings, sweep: &Sweep, curve: &Curve, caveats: &Caveats) -> Option<(Quantity, Number)> {
    let point = quoted_point(findings, sweep, curve)?;
    let asked = curve.points.iter().copied().find(|point| findings.answered.contains(&point.at));
    let (estimate, quantity) = quoted(findings, point);
    let mut what = curve.at.stream.clone();
    if sweep.several_systems() || !curve.at.factors.is_empty() {
        what = curve.name.clone();
    }
    what = match (quantity, point.yields.first()) {
        (Quantity::Seconds, _) => format!("to finish {what}"),
        (Quantity::Milliseconds, _) => format!("p50 latency of {what}"),
        (_, Some((thing, _))) => format!("{thing} of {what}"),
        (_, None) => what,
    };
    let alone = what == curve.at.stream || quantity == Quantity::Milliseconds;
    let stream = alone.then(|| curve.at.stream.clone());
    if point.provenance != Provenance::Measured {
        what = format!("{what}, {}", point.provenance.word());
    }
    let other = |other: &PointSummary| !std::ptr::eq(other, point);
    let elsewhere = |at: &PointSummary, prefix: &str| {
        let (estimate, quantity) = quoted(findings, at);
        format!("{prefix}{} at {}{}", quantity.text(estimate.value), sweep.along(at), times(at, quantity))
    };
    let asked = asked.filter(|asked| other(asked));
    // What the study asks for is told once, whatever else it is.
    let untold = |one: &&PointSummary| other(one) && !asked.is_some_and(|asked| std::ptr::eq(*one, asked));
    // IOPS of small blocks are no bandwidth of large ones.
    let alike = |fewer: &&PointSummary| quoted(findings, fewer).1 == quantity && quantity != Quantity::Seconds;
    let fewer = as_much(findings, curve, point).filter(|fewer| untold(fewer) && sweep.numeric && alike(fewer));
    let low = low_point(sweep, curve).filter(|low| untold(low) && fewer.is_none());
    let asked = asked.map(|asked| elsewhere(asked, "at the level that the study asks about: "));
    let fewer = fewer.map(|fewer| {
        let (estimate, quantity) = quoted(findings, fewer);
        let (along, shown) = (sweep.along(fewer), with_interval(&estimate, quantity));
        format!("about as much at {along}: {shown}{}", times(fewer, quantity))
    });
    let low = low.map(|low| elsewhere(low, ""));
    // Of a choice between a few the others are what is asked.
    let choices = curve.points.iter().filter(|one| !sweep.numeric && curve.points.len() <= CHOICES_MAX && untold(one));
    let choices: Vec<String> = choices.map(|one| elsewhere(one, "")).collect();
    let per_core = per_core(findings, point).filter(|_| matches!(quantity, Quantity::Work(_)));
    let each = each_gives(point, quantity);
    let waits = before_a_session(point);
    let why = beyond_sessions(findings, point).filter(|_| waits.is_none());
    let rows = rows_given(findings, point).filter(|_| matches!(quantity, Quantity::Work(_) | Quantity::ByteRate));
    let more = point.yields.iter().skip(1).filter(|(_, per_s)| per_s.value > 0.0 && quantity == Quantity::PerHour);
    let more: Vec<String> =
        more.map(|(what, per_s)| format!("beside {}", units::things_an_hour(3_600.0 * per_s.value, what))).collect();
    let age = nearest(findings, point).and_then(|(trial, stream)| stream.age_says(&trial.label));
    let age = age.map(|says| format!("data seen was {says}"));
    let beside = more.into_iter().chain(age).chain(rows).chain(waits);
    let beside = beside.chain(each).chain(asked).chain(fewer).chain(low).chain(choices).chain(per_core);
    let place = place(findings, sweep, curve, point);
    let mut number = Number::new(&estimate, quantity, what, place);
    if !estimate.has_interval() {
        number.interval = "one run, no interval".to_owned();
    }
    let marks = caveats.of_number(point);
    Some((quantity, Number { marks, stream, why, ..number.with(latency(point, quantity).into_iter().chain(beside)) }))
}

/// What people quote of a point: bytes of large operations, the latency of one that comes alone behind a pause, seconds of fixed work,
/// what transactions give, or else the rate.
fn quoted(findings: &Findings, point: &PointSummary) -> (Estimate, Quantity) {
    let blocks = findings.storage.iter().any(|asked| asked.stream == point.at.stream);
    if let Some(elapsed) = point.elapsed_s.filter(|_| !blocks) {
        return (elapsed, Quantity::Seconds);
    }
    if let Some((_, per_s)) = point.yields.first() {
        return (per_s.scaled(3_600.0), Quantity::PerHour);
    }
    if point.work == Work::Operations && paced(findings, point).is_some() {
        return (point.response_p50_ms, Quantity::Milliseconds);
    }
    let large = point.bytes_per_s.value / point.throughput_per_s.value >= LARGE_BYTES;
    if large || findings.metric == Some(Metric::Bandwidth) || super::headline::sizes_vary(findings, point) {
        return (point.bytes_per_s, Quantity::ByteRate);
    }
    (point.throughput_per_s, Quantity::Work(point.work))
}

/// The pause between operations of a closed load, which sets its rate.
fn paced(findings: &Findings, point: &PointSummary) -> Option<String> {
    let (trial, stream) = nearest(findings, point)?;
    let label = trial.label.streams.get(usize::from(stream.stream))?;
    (label.asks == Asks::Operations && label.think_mean.0 > 0).then(|| units::duration(label.think_mean))
}

/// Whose requests the sessions of a load carry, and what bounds the rate by that.
fn users(findings: &Findings, point: &PointSummary) -> Option<String> {
    let (trial, stream) = nearest(findings, point)?;
    let label = trial.label.streams.get(usize::from(stream.stream))?;
    let limit = match point.limited_by_users() {
        true => ", which bounds the rate: the system may carry more",
        false => "",
    };
    let most = point
        .asked_most_per_s
        .map(|most| format!(", who ask for at most {} transactions a second{limit}", units::significant(most)));
    label.users().map(|users| users.to_owned() + &most.unwrap_or_default())
}

/// `queue depth 32 a module`, where that is what all points of a curve over modules have in common.
fn each_module(findings: &Findings, curve: &Curve, point: &PointSummary) -> Option<String> {
    let depth = |point: &PointSummary| {
        let modules = point.at.factors.iter().find(|one| factor::short_name(&one.name) == factor::MODULES)?;
        let (trial, stream) = nearest(findings, point)?;
        let label = trial.label.streams.get(usize::from(stream.stream))?;
        let depth = label.slots.filter(|_| label.asks == Asks::Operations && label.offered.is_none())?;
        Some(f64::from(depth) / modules.level.number()?)
    };
    let own = depth(point)?;
    let alike = curve.points.len() > 1 && curve.points.iter().all(|other| depth(other) == Some(own));
    alike.then(|| format!("queue depth {} a module", units::significant(own)))
}

fn place(findings: &Findings, sweep: &Sweep, curve: &Curve, point: &PointSummary) -> String {
    let load = each_module(findings, curve, point).unwrap_or_else(|| super::headline::load(findings, point));
    let varied = sweep.factor.as_deref().map(factor::short_name);
    // A load that stays the same along the curve is a part of what was asked, too.
    let beside = match varied.filter(|name| !is_load(name)) {
        Some(_) if !load.is_empty() => format!("; {load}"),
        _ => String::new(),
    };
    let at = if varied.is_some() { sweep.along(point) } else { load };
    let most = sweep.factor.is_some() && curve.points.len() > 1 && most_of(findings, curve, point);
    // Where a level of the load stands alone, nothing else says who asks.
    let users = users(findings, point).filter(|_| varied.is_some() && beside.is_empty());
    let beside = users.map_or(beside, |users| format!("; {users}"));
    let pause = paced(findings, point).map(|pause| format!(", {pause} of pause after each"));
    let asked = findings.storage.iter().find(|asked| asked.stream == point.at.stream);
    let block = point.at.factors.iter().find(|one| factor::said(&one.name) == factor::said(factor::TRANSFER));
    let mean = asked.and_then(|asked| one_size(asked.blocks, point));
    let block = block.map(|one| one.level.text()).or(mean.as_deref());
    let asked = asked.map(|asked| format!("{}, ", asked.says(block))).unwrap_or_default();
    // What was tried most may be beaten by more of it.
    let largest = curve.points.last().is_some_and(|last| sweep.numeric && std::ptr::eq(*last, point));
    let best = match most {
        true if largest => ", the largest that was tried",
        true => ", the best",
        false => "",
    };
    format!("{asked}at {at}{best}{}{beside}", pause.unwrap_or_default())
}

/// The block of a point whose stream has others elsewhere: what its operations move on the mean, where that is a size of blocks.
fn one_size((least, most): (Bytes, Bytes), point: &PointSummary) -> Option<String> {
    let mean = point.bytes_per_s.value / point.throughput_per_s.value;
    let block = Bytes(1 << mean.log2().round().clamp(0.0, 62.0) as u32);
    let is_block = least < most && block >= least && block <= most && (mean / block.0 as f64 - 1.0).abs() < 0.05;
    is_block.then(|| units::bytes(block))
}

/// What gives as much as a point does at a lower level or latency, the cheapest in latency: intervals that overlap are not enough where they are wide.
fn as_much<'a>(findings: &Findings, curve: &Curve<'a>, point: &PointSummary) -> Option<&'a PointSummary> {
    let (known, p50) = (quoted(findings, point).0.has_interval(), |one: &PointSummary| one.response_p50_ms.value);
    let before = |other: &PointSummary| {
        curve.points.iter().take_while(|one| !std::ptr::eq(**one, point)).any(|one| std::ptr::eq(*one, other))
    };
    let level = super::headline::near(findings, curve, point).into_iter();
    let as_good = level.filter(|other| known && (before(other) || p50(other) < p50(point)));
    as_good.min_by(|a, b| p50(a).total_cmp(&p50(b)))
}

/// How many transactions a second that is, where they are not what is counted.
fn each_gives(point: &PointSummary, quantity: Quantity) -> Option<String> {
    let (what, per_s) = point.yields.first()?;
    if quantity == Quantity::Seconds {
        // Who asks how much is done in an hour reads it beside the time that the work took.
        return Some(units::things_an_hour(3_600.0 * per_s.value, what));
    }
    if quantity != Quantity::PerHour {
        return None;
    }
    let rate = point.work.rate(point.throughput_per_s.value);
    let each = per_s.value / point.throughput_per_s.value;
    let each = match (each - 1.0).abs() < 5e-3 {
        true => units::counted(1, what),
        false => format!("{} {what}", units::significant(each)),
    };
    Some(format!("{rate} with {each} each"))
}

fn most_of(findings: &Findings, curve: &Curve, point: &PointSummary) -> bool {
    let value = |point: &PointSummary| quoted(findings, point).0.value;
    let rates = quoted(findings, point).1 != Quantity::Seconds;
    rates && curve.points.iter().all(|other| value(other) <= value(point))
}

/// Latency beside a rate.
fn latency(point: &PointSummary, quoted: Quantity) -> Option<String> {
    if matches!(quoted, Quantity::Seconds) || point.response_p50_ms.n == 0 {
        return None;
    }
    let [p50, p99] =
        [&point.response_p50_ms, &point.response_p99_ms].map(|known| with_interval(known, Quantity::Milliseconds));
    Some(match quoted {
        // The large number is the median.
        Quantity::Milliseconds => format!("p99 {p99}"),
        _ => format!("latency p50 {p50}, p99 {p99}"),
    })
}

/// Ends of a latency that are further apart than so many times stand beside it wherever it does.
const VAGUE: f64 = 10.0;

fn times(point: &PointSummary, quoted: Quantity) -> String {
    let p50 = &point.response_p50_ms;
    if quoted == Quantity::Seconds || !p50.value.is_finite() {
        return String::new();
    }
    // Of what may be a tenth or ten times as much nobody is told the number alone.
    let vague = p50.has_interval() && p50.high > VAGUE * p50.low;
    let text = |ms| Quantity::Milliseconds.text(ms);
    format!(", p50 {}", if vague { with_interval(p50, Quantity::Milliseconds) } else { text(p50.value) })
}

/// A comparison that the study declared: the ratio, with both sides of it.
fn compared(findings: &Findings, one: &Comparison, caveats: &Caveats) -> Number {
    let (mut touching, mut limited, mut beyond) = (Vec::new(), None, None);
    let points = [&one.baseline, &one.point.system].map(|system| {
        let at = Point { system: system.clone(), ..one.point.clone() };
        findings.points.iter().find(|point| point.at == at)
    });
    let sides = points.map(|point| {
        let point = point?;
        let system = &point.at.system;
        touching.extend(point.caveats.iter().cloned());
        limited = limited.take().or_else(|| users(findings, point).filter(|_| point.limited_by_users()));
        beyond = beyond.take().or_else(|| Some(format!("{system}: {}", beyond_sessions(findings, point)?)));
        let (estimate, quantity) = quoted(findings, point);
        // Pairs of trials vary less than either side does, so that its interval beside the ratio's would read as another verdict.
        Some(format!("{system} {}{}", quantity.text(estimate.value), times(point, quantity)))
    });
    let verdict = one.verdict.word();
    let what =
        format!("times the {} of {} ({} against {})", one.said, one.point.stream, one.point.system, one.baseline);
    let place = format!("{}{}", one.point.at().trim_start(), if one.point.factors.is_empty() { "" } else { ": " });
    let pairs = match one.ratio.n {
        ..2 => String::new(),
        pairs => format!(", the mean of the ratios of {pairs} pairs of trials"),
    };
    let pairs = pairs + &apart(findings, &points, one).unwrap_or_default();
    let mut number = Number::new(&one.ratio, Quantity::Ratio, what, format!("{place}{verdict}{pairs}"));
    if !one.ratio.has_interval() {
        number.interval = "no interval".to_owned();
    } else if one.adjusted && one.ratio.tells() && differs(findings, one) {
        // Beside the intervals of its sides it would look too wide.
        let percent = units::percent(one.ratio.confidence);
        number.interval += &format!(", at {percent} because many comparisons are made");
    }
    number.marks = caveats.grave(&touching);
    number.why = beyond;
    let slower = slower(&points).filter(|_| limited.is_some());
    number.with(sides.into_iter().flatten().chain(limited).chain(slower))
}

/// Whether an interval has another level than those of points.
fn differs(findings: &Findings, one: &Comparison) -> bool {
    let usual = findings.points.first().map(|point| point.throughput_per_s.confidence);
    usual.is_none_or(|usual| (one.ratio.confidence - usual).abs() > 1e-9)
}

/// ` (of the two values below: 0.327)`, where that is another ratio: those are means of trials, however often each order of a pair came.
fn apart(findings: &Findings, sides: &[Option<&PointSummary>; 2], one: &Comparison) -> Option<String> {
    let [Some(baseline), Some(other)] = sides else { return None };
    let [below, above] = [baseline, other].map(|side| quoted(findings, side).0.value);
    let rates = [Metric::Throughput, Metric::Bandwidth].iter().any(|rate| one.metric == rate.word());
    let apart = rates && one.ratio.n > 1 && (above / below / one.ratio.value).ln().abs() > 0.01;
    apart.then(|| format!(" (of the two values below: {})", units::ratio(above / below)))
}

/// How many times the median latency the second of both has: where users set the rate, that is what a difference shows in.
fn slower(sides: &[Option<&PointSummary>; 2]) -> Option<String> {
    let [Some(baseline), Some(other)] = sides else { return None };
    let ratio = other.response_p50_ms.over(&baseline.response_p50_ms);
    let times = with_interval(&ratio, Quantity::Ratio);
    ratio
        .has_interval()
        .then(|| format!("a difference shows in latency: {} has {times} times the p50", other.at.system))
}

/// That most of the latency is no time in the database, where users wait for a session.
fn before_a_session(point: &PointSummary) -> Option<String> {
    let (latency, request) = (point.response_mean_ms.value, point.service_mean_ms.value);
    let waits = point.work == Work::Transactions && point.elapsed_s.is_none() && request < 0.5 * latency;
    waits.then(|| {
        // The whole takes no less than a part of it.
        let mut whole = point.response_mean_ms;
        whole.low = whole.low.max(request);
        let (latency, request) = (with_interval(&whole, Quantity::Milliseconds), Quantity::Milliseconds.text(request));
        format!("mean {latency}, {request} of it in the database, the rest is the wait for a session")
    })
}

/// More than this beyond the sessions is no scatter of means.
const BEYOND: f64 = 1.03;

/// Why rate times latency is more than the sessions of a closed load, so that nobody who checks it takes the figures for wrong.
fn beyond_sessions(findings: &Findings, point: &PointSummary) -> Option<String> {
    let (trial, stream) = nearest(findings, point)?;
    let label = trial.label.streams.get(usize::from(stream.stream))?;
    let asks = label.asks == Asks::Transactions && point.elapsed_s.is_none() && label.offered.is_none();
    if let Some(users) = label.user_count().filter(|_| asks) {
        return beyond_users(point, users, label.think_mean);
    }
    let sessions = f64::from(label.slots.filter(|_| asks && label.think_mean.0 == 0)?);
    // Means over trials that differ are no means of one trial: the faster ones have the lower latency.
    let streams: Vec<&StreamSummary> = trials_of(findings, point).map(|(_, stream)| stream).collect();
    let within = |latency: fn(&StreamSummary) -> &LatencySummary| {
        let held = streams.iter().map(|one| one.throughput_per_s.value * latency(one).mean_ms / 1e3).sum::<f64>();
        held / streams.len().max(1) as f64
    };
    let (each, served) = (within(|one| &one.response), within(|one| &one.service));
    let why = match (each > BEYOND * sessions, served > 1.01 * sessions) {
        (false, _) => format!("both are means of trials that differ; in one trial it is {}", units::significant(each)),
        (_, true) => "jobs that a timer starts have sessions of their own".to_owned(),
        _ => "it includes how long transactions that a timer or another transaction started wait for a session".into(),
    };
    let held = point.throughput_per_s.value * point.response_mean_ms.value / 1e3;
    let mean = Quantity::Milliseconds.text(point.response_mean_ms.value);
    (held > BEYOND * sessions).then(|| {
        let sessions = units::counted(sessions as u64, "sessions");
        format!("mean latency {mean} times TPS gives {}, more than {sessions}: {why}", units::significant(held))
    })
}

/// Why users complete more than their think time allows for.
fn beyond_users(point: &PointSummary, users: u32, think: Nanos) -> Option<String> {
    let turn_s = think.seconds() + point.response_mean_ms.value / 1e3;
    (point.throughput_per_s.value * turn_s > BEYOND * f64::from(users)).then(|| {
        let most = units::significant(f64::from(users) / turn_s);
        format!("the users start {most} TPS of these; timers and other transactions start the rest")
    })
}

/// How many rows a second that is, where jobs go over rows: the words of their load say how many a transaction has.
fn rows_given(findings: &Findings, point: &PointSummary) -> Option<String> {
    let (trial, stream) = nearest(findings, point).filter(|_| point.work == Work::Transactions)?;
    let each = rows_each(&trial.label.streams.get(usize::from(stream.stream))?.load)?;
    // Nothing else that asks a database is counted in bytes.
    (point.bytes_per_s.value > 0.0).then(|| {
        let rows = units::per_second(each * point.throughput_per_s.value);
        let all = if each > 1.0 { format!("{} rows", units::significant(each)) } else { "one row".to_owned() };
        format!("{rows} rows/s, {all} a transaction")
    })
}

/// What each core carries of it that the server kept busy.
fn per_core(findings: &Findings, point: &PointSummary) -> Option<String> {
    let asks = point.work == Work::Transactions && point.elapsed_s.is_none();
    let (trial, _) = nearest(findings, point).filter(|_| asks)?;
    let rate = trial.server.as_ref()?.per_server_core_per_s?;
    let busy = point.throughput_per_s.value / rate;
    let busy = format!("{} {}", units::significant(busy), if busy > 1.0 { "cores" } else { "of a core" });
    Some(format!("the server kept {busy} busy: {} for each core", point.work.rate(rate)))
}

/// The sessions that make up for a mirror, or that none do.
fn sessions_enough(one: &Compensation) -> Number {
    let sessions = units::significant(one.sessions);
    let Some((limit, most)) = one.short() else {
        let what = format!("sessions do with the mirror what {sessions} do without");
        let observed = one.observed.map(|seen| format!("{} observed", units::significant(seen)));
        return Number::new(&one.predicted, Quantity::Plain, what, one.law()).with(observed);
    };
    let enough = with_interval(&one.predicted, Quantity::Plain);
    let (what, also) = match limit {
        SessionLimit::Cores => (
            "all cores here carry with the mirror",
            Some(format!("with cores to spare {enough} sessions would, by the response-time law")),
        ),
        SessionLimit::Users => ("its users start with the mirror, however many sessions there are", None),
    };
    let what = format!("of the rate of {sessions} sessions is what {what}");
    let none = Estimate::single(most);
    Number::new(&none, Quantity::Share, what, "no number of sessions brings it back").with(also)
}

/// What a mirror adds to a transaction, and how many sessions make up for it.
fn of_mirror(found: &MirrorFinding) -> Vec<Number> {
    let stream = &found.point.stream;
    // What may be nothing is no number to remember.
    let surely = found.added.first().filter(|added| added.added_ms.has_interval() && added.added_ms.low > 0.0);
    let added = surely.map(|added| {
        let ms = |ms: f64| Quantity::Milliseconds.text(ms);
        // What is nothing within the noise is left to the table.
        let large = added.parts.iter().filter(|part| part.ms.abs() > 0.05 * added.added_ms.value);
        let parts = large.map(|part| match part.ms < 0.0 {
            true => format!("{} less {}", ms(-part.ms), part.part.word()),
            false => format!("{} {}", ms(part.ms), part.part.word()),
        });
        let at = Point { factors: added.factors.clone(), ..found.point.clone() }.at();
        let place = format!("{at}, beside a mean of {} alone", ms(added.alone_ms));
        let what = format!("more latency for a transaction of {stream}, on the mean");
        let place = place.trim_start_matches([' ', ',']);
        Number::new(&added.added_ms, Quantity::Milliseconds, what, place).with(parts)
    });
    let enough = found.compensations.last().map(sessions_enough);
    let cores = found.core_compensations.first().and_then(|one| {
        let what = format!("cores of each server do with the mirror what {} do without", units::significant(one.cores));
        let observed = one.observed.as_ref().map(|seen| format!("{} observed", units::significant(seen.value)));
        let number = Number::new(one.predicted.as_ref()?, Quantity::Plain, what, "by the response-time law");
        Some(number.with(observed))
    });
    added.into_iter().chain(enough).chain(cores).collect()
}

fn round_trips(found: &MirrorFinding) -> Option<Number> {
    let trips = &found.told_trips()?;
    let what = format!("round trips to the mirror that a transaction of {} waits for", found.point.stream);
    Some(Number::new(trips, Quantity::Plain, what, "from the slope over the distance"))
}

/// What clients felt at the longest, whether anything was lost, and how long until both were equal again.
fn of_outages(findings: &Findings, all: &[&PairFinding]) -> Vec<Number> {
    let Some(longest) = all.iter().max_by(|a, b| a.freeze_s.total_cmp(&b.freeze_s)) else { return Vec::new() };
    let still = |found: &PairFinding| match found.freeze_s > 0.0 {
        // Whole intervals without an end are counted, and it began in the one before and ended in the one behind.
        true => Quantity::Seconds.interval(found.freeze_s, found.freeze_s + 2.0 * found.interval_s),
        false => format!("less than {}", Quantity::Seconds.text(found.interval_s)),
    };
    let number = |value: String, what: &str, place: String, also: Vec<String>| Number {
        stream: None,
        value,
        interval: String::new(),
        what: what.to_owned(),
        place,
        also,
        why: None,
        marks: String::new(),
    };
    let others = all.iter().filter(|one| one.event != longest.event);
    let others = super::each_once(others.map(|one| format!("{} at `{}`", still(one), one.event)));
    let steps = format!("at `{}`", longest.event);
    let alone = longest.alone.filter(|(after, _)| *after > 0.0);
    let rates = rates_across(longest);
    let others: Vec<String> = others
        .into_iter()
        .chain(alone.map(|(after, _)| {
            format!(
                "then one server carried the load alone, {} later; `patience` says how long it waits",
                Quantity::Seconds.text(after)
            )
        }))
        .chain(rates)
        .collect();
    let mut numbers = vec![number(still(longest), "without an answer, at the longest", steps, others)];
    let known: Vec<bool> = all.iter().filter_map(|one| one.kept).collect();
    if !known.is_empty() {
        let lost = if known.iter().all(|kept| *kept) { "none" } else { "some" };
        let equal: Vec<bool> = all.iter().filter_map(|one| one.equal).collect();
        let rows = if equal.iter().all(|equal| *equal) { "the same rows" } else { "different rows" };
        let equal = (!equal.is_empty()).then(|| format!("both servers hold {rows}"));
        let place = "checked against what every client was told".to_owned();
        numbers.push(number(lost.to_owned(), "of the acknowledged commits lost", place, equal.into_iter().collect()));
    }
    let caught = all.iter().filter_map(|one| Some((one.resync_s?, one))).max_by(|a, b| a.0.total_cmp(&b.0));
    numbers.extend(caught.map(|(s, one)| {
        let sent = one.resync_bytes.map(|sent| format!("{} over the wire", Quantity::Bytes.text(sent)));
        let away = findings
            .ended(one.trial)
            .and_then(|trial| trial.away_s(one))
            .map(|s| format!("it had been away for {}", Quantity::Seconds.text(s)));
        let place = format!("once it was back after `{}`", one.event);
        number(
            Quantity::Seconds.text(s),
            "until the mirror had caught up",
            place,
            away.into_iter().chain(sent).collect(),
        )
    }));
    numbers
}

/// `3813 TPS before, 5833 TPS alone, 3296 TPS while the mirror caught up, 3618 TPS since`, as far as each was seen.
fn rates_across(found: &PairFinding) -> Option<String> {
    let seen = [
        (found.rate_before_per_s, "before"),
        (found.rate_alone_per_s, "alone"),
        (found.rate_resync_per_s, "while the mirror caught up"),
        (found.rate_after_per_s, "since"),
    ];
    let told =
        |(rate, when): (Option<f64>, &str)| rate.map(|per_s| format!("{} {when}", Work::Transactions.rate(per_s)));
    let told: Vec<String> = seen.into_iter().filter_map(told).collect();
    (told.len() > 1).then(|| told.join(", "))
}

/// What is done beside something else, over what is done without it: that is what such a run is asked for.
fn beside(findings: &Findings, found: &Beside) -> Number {
    let what = match &found.what {
        Some(things) => format!("times as many {things}: {}", found.subject()),
        None => format!("times the rate: {}", found.subject()),
    };
    let times = found.response.as_ref().filter(|one| one.value.is_finite());
    let times = times.map(|times| format!("{} times the mean latency", with_interval(times, Quantity::Ratio)));
    let side = |at: &Point, name: String| {
        let point = findings.points.iter().find(|point| point.at == *at)?;
        let (done, quantity) = quoted(findings, point);
        let mean = Quantity::Milliseconds.text(point.response_mean_ms.value);
        Some(format!("{name}: {}, mean latency {mean}", quantity.text(done.value)))
    };
    let sides = [side(&found.baseline, found.against()), side(&found.point, found.subject())];
    let place = format!("compared with {}", found.against());
    Number::new(&found.ratio, Quantity::Ratio, what, place).with(times.into_iter().chain(sides.into_iter().flatten()))
}

fn deadline(found: &DeadlineFinding) -> Number {
    let what = format!("for {} {} of {}", units::count(found.work.round() as u64), found.things(), found.point.stream);
    Number::new(&found.takes_s, Quantity::Seconds, what, found.in_time.word()).with([found.ends()])
}

/// From so many times the rate that was asked for on, what was completed has transactions in it that nobody asked for.
const FOLLOWED: f64 = 1.02;

fn highest(findings: &Findings, found: &HighestRate) -> Option<Number> {
    let work = findings.points.iter().find(|point| point.at.same_stream(&found.point))?.work;
    let bound = Quantity::Milliseconds.text(found.bound_ms);
    let what = format!(
        "of {}: the highest rate with {} under {bound}",
        found.point.stream,
        Quantity::Quantile.text(found.quantile)
    );
    let rate = found.rate_per_s.as_ref()?;
    // Transactions that others bring about are counted as done, and nobody asked for them.
    let of_stream = findings.points.iter().filter(|point| point.at.same_stream(&found.point));
    let asked =
        |point: &&PointSummary| level_of(&point.at.factors, factor::RATE).and_then(Level::number) == Some(rate.value);
    let done = of_stream.filter(asked).map(|point| point.throughput_per_s.value).next();
    let more = done.filter(|done| work == Work::Transactions && *done > FOLLOWED * rate.value);
    let followed =
        more.map(|done| format!("{} completed: some transactions bring about others", Quantity::Work(work).text(done)));
    let quantity = if work == Work::Transactions { Quantity::Rate } else { Quantity::Work(work) };
    let place = "open load: requests arrive whether or not earlier ones were answered";
    Some(Number::new(rate, quantity, what, place).with(followed))
}
