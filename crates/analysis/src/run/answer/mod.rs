//! The answer to the study's question in one to three sentences of plain words, and what is to be doubted of it.

mod curve;
mod pair;
mod worst;

use self::curve::{bend, confirmed, from_least};
use self::pair::{came_back, shared_host, stood_still, to_compensate};
use crate::point::{NEARLY_ALL, selects};
use crate::{
    Beside, CANNOT_TELL, Caveat, CaveatKind, Comparison, DeadlineFinding, Estimate, Finding, Findings, InTime,
    MirrorFinding, PointSummary, TOO_FEW, TierFinding, TrialSummary, Verdict, Weight,
};
use observation::{Provenance, factor};
use study::{Judgement, Metric};
use units::{
    Nanos, bytes_per_second, capital, counted, duration, milliseconds, per_hour, per_second, percent, ratio,
    things_an_hour, two_digits,
};

/// What is said first of a run.
pub struct Answer {
    /// The answer, what the study declared primary first.
    pub sentences: Vec<String>,
    /// What would change a decision by it, with what to do; empty where nothing would.
    pub doubts: Vec<String>,
    /// The kind of the caveat among them.
    pub doubted: Option<CaveatKind>,
}

/// The answer to the question of the study.
pub fn answer(
    points: &[PointSummary],
    findings: &[Finding],
    caveats: &[Caveat],
    trials: &[TrialSummary],
    judgement: &Judgement,
) -> Answer {
    let chosen = primary_points(points, judgement);
    let compared: Vec<&Comparison> =
        findings.iter().filter_map(Comparison::of).filter(|comparison| comparison.primary).collect();
    let mut sentences: Vec<String> = findings.iter().filter_map(TierFinding::of).map(TierFinding::says).collect();
    // What is asked of a distance is what it costs, and a verdict at one of them does not say that.
    let found = findings.iter().filter_map(MirrorFinding::of);
    let by_distance: Vec<String> = found.filter_map(MirrorFinding::by_distance).collect();
    let still = stood_still(findings);
    let (proven, mut figures) = (!sentences.is_empty(), false);
    if !proven {
        sentences.extend(compared_sentences(&compared, points, judgement));
    }
    if sentences.is_empty() && still.is_none() && by_distance.is_empty() {
        sentences.extend(chosen.iter().take(2).map(|point| point_sentence(point, points, judgement)));
        figures = true;
    }
    if let (1, [only, ..], false) = (sentences.len(), chosen.as_slice(), proven || still.is_some()) {
        sentences.extend(bend(only, findings).or_else(|| from_least(only, points, judgement)));
        sentences.extend(confirmed(only, findings));
        sentences.extend(freshness(only, trials));
    }
    let disturbed = still.is_some();
    sentences.splice(0..0, still.into_iter().chain(came_back(findings)).chain(by_distance));
    // What one costs the other is asked before how much is left.
    let lost =
        findings.iter().filter_map(Beside::of).filter(|found| chosen.iter().any(|point| point.at == found.point));
    let lost: Vec<String> = lost
        .map(|found| match chosen.len() {
            1 => found.sentence(),
            _ => format!("{}: {}", found.point.system, found.sentence()),
        })
        .collect();
    sentences.splice(0..0, lost);
    if sentences.is_empty() {
        let nothing = if points.is_empty() { "Nothing was measured." } else { "The primary metric was not reached." };
        sentences.push(nothing.to_owned());
    }
    sentences.extend(chosen.iter().filter_map(|point| over(point, findings)));
    if judgement.asks_deadline && judgement.deadline.is_none() {
        sentences
            .push("Whether that is in time is not known: give a deadline, such as `--set deadline=6h`.".to_owned());
    }
    sentences.extend(to_compensate(findings));
    sentences.extend(shared_host(points, trials, judgement, disturbed));
    let (mut doubts, main) = doubts(&chosen, caveats, disturbed);
    if let Some(worst) = main.and_then(|main| worst::worst(main, &chosen, points, trials)) {
        doubts[0] = worst;
    }
    let doubted = main.map(|main| main.kind);
    doubts.splice(0..0, findings.iter().filter_map(TierFinding::of).find_map(TierFinding::vague));
    doubts.splice(0..0, chosen.iter().filter(|_| figures).find_map(|point| asked_for(point, trials)));
    // What a run still has to do is no advice.
    let unfinished = caveats.iter().find(|caveat| caveat.kind == CaveatKind::Unfinished);
    let whole = !judgement.unfinished && unfinished.is_none();
    doubts.splice(0..0, Some(&compared).filter(|_| !proven && whole).and_then(|all| undecided(all)));
    let (first, once) = match ran_once(figures, disturbed, &chosen, trials).filter(|_| whole) {
        // What others disturbed says more than that nobody looked twice.
        Some(LEVELS_ONCE) => (None, Some(LEVELS_ONCE)),
        once => (once, None),
    };
    doubts.splice(0..0, first.map(str::to_owned));
    doubts.extend(once.map(str::to_owned));
    // Whatever else is to be said of it, an unfinished run says so.
    if let Some(caveat) = unfinished {
        doubts.insert(0, format!("The run is not finished: {}.", caveat.text));
    }
    Answer { sentences, doubts, doubted }
}

/// That nothing is known of another run, where a number of the answer or a disturbance was seen in a single trial.
fn ran_once(figures: bool, disturbed: bool, chosen: &[&PointSummary], trials: &[TrialSummary]) -> Option<&'static str> {
    if disturbed && trials.iter().filter(|trial| !trial.interrupted).count() == 1 {
        return Some(
            "All of this is from one trial: repeat it (`--set replicates=4`) before you plan with these times.",
        );
    }
    let once = chosen.iter().any(|point| point.elapsed_s.is_some_and(|elapsed| !elapsed.has_interval()));
    if figures && once {
        return Some("Each point ran once: repeat it (`--set replicates=4`) before you trust a difference.");
    }
    let measured = |point: &&PointSummary| point.provenance == Provenance::Measured && point.trials.len() == 1;
    let levels = chosen.iter().all(|point| !point.at.factors.is_empty());
    (figures && levels && !chosen.is_empty() && chosen.iter().all(measured)).then_some(LEVELS_ONCE)
}

/// That users with think time ask for no more than this, so that nobody takes it for what the system carries.
fn asked_for(point: &PointSummary, trials: &[TrialSummary]) -> Option<String> {
    let own = trials.iter().filter(|trial| point.trials.contains(&trial.label.index));
    let mut labels = own.flat_map(|trial| &trial.label.streams).filter(|label| label.name == point.at.stream);
    let (users, think) = labels.find_map(|label| Some((label.user_count()?, label.think_mean)))?;
    let (done, most) = (point.throughput_per_s.value, point.asked_most_per_s?);
    // Who is kept waiting by something else is not limited by what he may ask for.
    let limits = match done >= NEARLY_ALL * most {
        true => "the users limit this rate. Take more users to see what the system carries.",
        false => "the interval of the rate ends there.",
    };
    point.limited_by_users().then(|| {
        format!(
            "{} with a mean think time of {} can ask for at most {}, and {} of that was done: {limits}",
            counted(u64::from(users), "users"),
            duration(think),
            point.work.rate(most),
            percent(done / most)
        )
    })
}

/// Of levels that were compared and had one trial each.
const LEVELS_ONCE: &str = "Each level had one trial: an interval covers the scatter within it, and a second trial may differ by more; `--set replicates=4` shows by how much.";

/// How old what users saw was, in the first trial of the point in which they saw anything that was loaded.
fn freshness(point: &PointSummary, trials: &[TrialSummary]) -> Option<String> {
    let own = trials.iter().filter(|trial| point.trials.contains(&trial.label.index));
    let mut says = own.filter_map(|trial| {
        let stream = trial.streams.iter().find(|one| trial.label.stream_name(one.stream) == point.at.stream)?;
        stream.age_says(&trial.label)
    });
    says.next().map(|says| format!("The data that queries saw was {says}."))
}

/// Whether the job at the point is over in time.
fn over(point: &PointSummary, findings: &[Finding]) -> Option<String> {
    let found = findings.iter().filter_map(DeadlineFinding::of).find(|found| found.point == point.at)?;
    let whole = format!("{} of {} {}", point.at.stream, units::count(found.work.round() as u64), found.things());
    let verdict = match found.in_time {
        InTime::Yes => "in time".to_owned(),
        InTime::No => "too late".to_owned(),
        InTime::CannotTell => format!("undecided: {}", found.open().unwrap_or_default()),
    };
    let doubts: String = found.doubts.iter().map(|doubt| format!(" But {doubt}.")).collect();
    Some(format!("The {whole} {}: {verdict}.{doubts}", found.ends()))
}

/// The points that the primary metric is read from, the best of each system; without a primary, the fastest of all.
pub fn primary_points<'a>(points: &'a [PointSummary], judgement: &Judgement) -> Vec<&'a PointSummary> {
    let primary = judgement.primary.as_ref();
    let meant = |point: &&PointSummary| primary.is_none_or(|primary| selects(&primary.selector, &point.at));
    let bandwidth = primary.is_some_and(|primary| primary.metric == Metric::Bandwidth);
    let given = |point: &PointSummary| if bandwidth { point.bytes_per_s } else { point.throughput_per_s }.value;
    let mut best: Vec<&PointSummary> = Vec::new();
    for point in points.iter().filter(meant) {
        match best.iter_mut().find(|known| known.at.system == point.at.system) {
            Some(known) if given(point) > given(known) => *known = point,
            Some(_) => {}
            None => best.push(point),
        }
    }
    best
}

/// What the point delivers; the primary metric leads when it is not throughput.
fn point_sentence(point: &PointSummary, points: &[PointSummary], judgement: &Judgement) -> String {
    let (system, stream, at) = (&point.at.system, &point.at.stream, point.at.at());
    // The only system of a workload has a name that says nothing.
    let several = points.iter().any(|other| other.at.system != *system && other.at.stream == *stream);
    let on = if several { format!(" on {system}") } else { String::new() };
    if let Some(elapsed) = &point.elapsed_s {
        let time = |seconds: f64| duration(Nanos::from_seconds(seconds));
        let interval = interval_text(elapsed, time);
        if let Some(wide) = n_wide(point, points, &on, time) {
            return wide;
        }
        let wide = if elapsed.n == 2 { "; a third trial narrows that: `--set replicates=3`" } else { "" };
        let rate =
            point.yields.first().map(|(what, per_s)| format!(": {}", things_an_hour(3_600.0 * per_s.value, what)));
        let rate = rate.unwrap_or_default();
        return format!("{stream}: {}{interval}{at}{on}{rate}{wide}.", time(elapsed.value));
    }
    let bytes = if point.bytes_per_s.value > 0.0 {
        format!(", {}", bytes_per_second(point.bytes_per_s.value))
    } else {
        String::new()
    };
    let latency = latency(point, judgement.primary.as_ref().map(|primary| primary.metric));
    let origin = match point.provenance {
        Provenance::Measured => String::new(),
        other => format!(" ({})", other.word()),
    };
    let Some((what, per_s)) = point.yields.first() else {
        let work = point.work.rate(point.throughput_per_s.value);
        // What is asked for is told first.
        if judgement.primary.as_ref().is_some_and(|primary| primary.metric == Metric::Bandwidth) {
            let moved = bytes_per_second(point.bytes_per_s.value);
            let interval = interval_text(&point.bytes_per_s, bytes_per_second);
            return format!("{stream}{origin}: {moved}{interval}{on}{at}, {work}, with {latency}.");
        }
        let interval = interval_text(&point.throughput_per_s, per_second);
        return format!("{stream}{origin}: {work}{interval}{bytes}{on}{at}, with {latency}.");
    };
    // What loads give beside is told without an interval: the table has it.
    let beside = point.yields[1..].iter().filter(|(_, per_s)| per_s.value > 0.0);
    let beside: String =
        beside.map(|(what, per_s)| format!(", beside {}", things_an_hour(3_600.0 * per_s.value, what))).collect();
    let (done, interval) =
        (things_an_hour(3_600.0 * per_s.value, what), interval_text(&per_s.scaled(3_600.0), per_hour));
    let who = if several { system } else { stream };
    format!("{who}{origin}: {done}{bytes}{at}{interval}{beside}, with {latency}.")
}

/// A width that does this much more than the largest is told beside it.
const MORE: f64 = 1.1;

/// What so many copies of a piece of work take at once, beside one alone: that is what is asked of a width.
fn n_wide(point: &PointSummary, points: &[PointSummary], on: &str, time: fn(f64) -> String) -> Option<String> {
    let width = |point: &PointSummary| {
        point.at.factors.iter().find(|one| factor::short_name(&one.name) == factor::WIDTH)?.level.number()
    };
    let alone = points.iter().filter(|other| other.at.same_stream(&point.at) && width(other) == Some(1.0));
    let (n, alone, all) = (width(point)?, alone.filter_map(|point| point.elapsed_s).next()?, point.elapsed_s?);
    (n > 1.0).then(|| {
        let each = time(n * alone.value);
        let rate = |(n, elapsed): &(f64, Estimate)| n / elapsed.value;
        let others = points.iter().filter(|other| other.at.same_stream(&point.at));
        let most = others.filter_map(|one| Some((width(one)?, one.elapsed_s?))).max_by(|a, b| rate(a).total_cmp(&rate(b)));
        let most = most.filter(|most| rate(most) > MORE * rate(&(n, all)));
        let most = most.map(|most| format!(" Most is done at width {}: {} times as much as by one alone.", most.0, ratio(rate(&most) * alone.value)));
        let most = most.unwrap_or_default();
        format!(
            "{n} copies of {} at once take {}{}{on}, {} times as long as one alone ({}); one after another they would take {each}.{most}",
            point.at.stream,
            time(all.value),
            interval_text(&all, time),
            ratio(all.value / alone.value),
            time(alone.value)
        )
    })
}

/// The latency that stands beside a rate: p99, unless the study's own metric is another.
fn latency(point: &PointSummary, metric: Option<Metric>) -> String {
    if metric == Some(Metric::ResponseMean) {
        let interval = interval_text(&point.response_mean_ms, milliseconds);
        return format!("a mean latency of {}{interval}", milliseconds(point.response_mean_ms.value));
    }
    let p99 = &point.response_p99_ms;
    match p99.lower_bound() {
        _ if p99.not_known() => format!("a p99 latency that is {TOO_FEW} ({} observed)", milliseconds(p99.value)),
        true => format!(
            "a p99 latency of at least {} ({} observed, too few independent samples for an upper end)",
            milliseconds(p99.low),
            milliseconds(p99.value)
        ),
        false if matches!(metric, Some(Metric::ResponseQuantile(_))) => {
            format!("a p99 latency of {}{}", milliseconds(p99.value), interval_text(p99, milliseconds))
        }
        false => format!("a p99 latency of {}{}", milliseconds(p99.value), curve::ends(p99, milliseconds)),
    }
}

fn interval_text(estimate: &Estimate, figure: impl Fn(f64) -> String) -> String {
    if !estimate.has_interval() {
        return " (one run, no interval)".to_owned();
    }
    if !estimate.tells() {
        return estimate.ends(figure);
    }
    if figure(estimate.low) == figure(estimate.high) {
        return String::new();
    }
    let confidence = estimate.confidence * 100.0;
    format!(" ({confidence:.0}% interval {})", estimate.range(figure))
}

/// Sentences of which the same is said once, behind all that it is said of.
fn once_each(sentences: Vec<String>) -> Vec<String> {
    let last = |at: &usize| !sentences[at + 1..].contains(&sentences[*at]);
    (0..sentences.len()).filter(last).map(|at| sentences[at].clone()).collect()
}

/// Primary comparisons in words: one or two as sentences, more as a list in the order of the points, so that none is picked.
fn compared_sentences(all: &[&Comparison], points: &[PointSummary], judgement: &Judgement) -> Vec<String> {
    let [first, _, _, ..] = all else {
        return once_each(all.iter().copied().flat_map(comparison_sentences).collect());
    };
    let alike = |c: &&Comparison| {
        (&c.said, &c.baseline, &c.point.stream) == (&first.said, &first.baseline, &first.point.stream)
    };
    if !all.iter().all(alike) {
        return once_each(all.iter().copied().take(2).flat_map(comparison_sentences).collect());
    }
    let mut ordered = all.to_vec();
    let system = |c: &Comparison| judgement.mirrored.iter().position(|one| one.system == c.point.system);
    ordered.sort_by_key(|c| (system(c), points.iter().position(|point| point.at == c.point)));
    let (verdict, alike) = (first.verdict, all.iter().all(|c| c.verdict == first.verdict));
    let several = all.iter().any(|c| c.point.system != first.point.system);
    let one = |c: &&Comparison| {
        let at = c.point.at();
        let name =
            if several { format!("{}{at}", c.point.system) } else { at.trim_start_matches([' ', ',']).to_owned() };
        let interval = match (c.ratio.tells(), c.ratio.has_interval()) {
            (true, true) => format!("{} to {}", ratio(c.ratio.low), ratio(c.ratio.high)),
            (false, true) => CANNOT_TELL.to_owned(),
            _ => "no interval".to_owned(),
        };
        let verdict = if alike { String::new() } else { format!("; {}", c.verdict.word()) };
        format!("{name} {} ({interval}{verdict})", ratio(c.ratio.value))
    };
    let each: Vec<String> = ordered.iter().map(one).collect();
    let system = if several { String::new() } else { format!(" on {}", first.point.system) };
    let (what, stream) = (capital(&first.said), &first.point.stream);
    let all = if alike { format!("; {}", of_all(verdict, &first.baseline)) } else { String::new() };
    vec![format!("{what} of {stream}{system}, times that of {}: {}{all}.", first.baseline, each.join(", "))]
}

/// `all are better than static`.
fn of_all(verdict: Verdict, baseline: &str) -> String {
    let than = match verdict {
        Verdict::Better | Verdict::Worse => format!(" than {baseline}"),
        _ => String::new(),
    };
    format!("all are {}{than}", verdict.word())
}

/// That none of several comparisons is decided, and why the surest one is not, which says what would decide it. One or two say so themselves.
fn undecided(all: &[&Comparison]) -> Option<String> {
    let open = all.len() > 2 && all.iter().all(|one| one.verdict == Verdict::Inconclusive);
    let width = |one: &Comparison| (one.ratio.high / one.ratio.low).ln();
    let surest = all.iter().filter(|one| one.ratio.has_interval()).min_by(|a, b| width(a).total_cmp(&width(b)));
    let surest = surest.or(all.first()).filter(|_| open)?;
    let why = surest.reason.as_deref().unwrap_or("the interval is too wide");
    Some(format!(
        "None of the {} comparisons is decided, which does not mean that they are equal. Of {}{}, {why}.",
        all.len(),
        surest.point.system,
        surest.point.at(),
    ))
}

/// A primary comparison in words.
fn comparison_sentences(c: &Comparison) -> Vec<String> {
    let what = format!("{} of {}{}", c.said, c.point.stream, c.point.at());
    let (system, baseline) = (&c.point.system, &c.baseline);
    let pairs = counted(u64::from(c.ratio.n), "pairs");
    let figures = if !c.ratio.tells() {
        format!("ratio {}, {pairs}; {CANNOT_TELL}", ratio(c.ratio.value))
    } else if c.ratio.has_interval() {
        format!("ratio {}, interval {} to {}, {pairs}", ratio(c.ratio.value), ratio(c.ratio.low), ratio(c.ratio.high))
    } else {
        format!("ratio {}, {pairs}, no interval", ratio(c.ratio.value))
    };
    // Of a verdict that stands there may be something to know.
    let reason = c.reason.as_ref().filter(|_| c.verdict != Verdict::Inconclusive);
    let figures = reason.map_or(figures.clone(), |reason| format!("{figures}; {reason}"));
    let amount = if c.ratio.value > 1.0 { "more" } else { "less" };
    let sentence = match c.verdict {
        // Nobody can picture 7 581 %.
        Verdict::Better | Verdict::Worse if c.ratio.value >= 2.0 => {
            let (times, verdict) = (ratio(c.ratio.value), c.verdict.word());
            format!("{system} has {times} times as much {what} as {baseline}: {verdict} ({figures}).")
        }
        Verdict::Better | Verdict::Worse => {
            let (change, verdict) = (percent(two_digits((c.ratio.value - 1.0).abs())), c.verdict.word());
            format!("{system} has {change} {amount} {what} than {baseline}: {verdict} ({figures}).")
        }
        Verdict::Equivalent => {
            format!("{system} and {baseline} are equivalent in {what}, within {} ({figures}).", percent(c.margin))
        }
        Verdict::Inconclusive => {
            let reason = c.reason.as_deref().unwrap_or("the interval is too wide");
            let verdict = format!("Inconclusive: {what}, {system} against {baseline} ({figures}).");
            return vec![verdict, capital(&format!("{reason}."))];
        }
    };
    vec![sentence]
}

/// Damage has led the answer already, and that a run is unfinished is told besides.
fn told_apart(kind: CaveatKind) -> bool {
    !matches!(kind, CaveatKind::Unfinished | CaveatKind::Damage)
}

/// What stands before the length of a window in a caveat.
const WINDOW: &str = "--set measure=";

/// The window that is enough for all notes that ask for a longer one, where they ask for several.
fn one_window<'a>(caveats: impl Iterator<Item = &'a Caveat>) -> Option<String> {
    let mut cycles = false;
    let asks = caveats.inspect(|caveat| cycles |= caveat.kind == CaveatKind::NoWholeCycle);
    let asked = asks.flat_map(|caveat| caveat.text.split(WINDOW).skip(1));
    let word = |rest: &str| {
        rest.split(|letter: char| !letter.is_alphanumeric() && letter != '.')
            .next()
            .map(|word| word.trim_end_matches('.').to_owned())
    };
    let known = asked.filter_map(word).filter_map(|word| Some((units::parse_duration(&word).ok()?, word)));
    let all: std::collections::BTreeMap<Nanos, String> = known.collect();
    let (_, longest) = all.last_key_value().filter(|_| all.len() > 1)?;
    let cycles = if cycles { "; it covers one checkpoint cycle" } else { "" };
    Some(format!("`{WINDOW}{longest}` is enough for all notes of all trials that ask for a longer window{cycles}."))
}

impl Findings {
    /// The window that is enough for all notes that ask for a longer one, where they ask for several. It stands with the notes: beside
    /// the doubt, which has a length of its own, it would be a second one.
    pub fn one_window(&self) -> Option<String> {
        one_window(self.caveats.iter())
    }
}

/// The gravest caveat that would change a decision, and that users wait too long where another one goes before that.
/// That nothing ended for a while, and what failed then, is no doubt where just that was asked.
fn doubts<'a>(points: &[&'a PointSummary], of_run: &'a [Caveat], disturbed: bool) -> (Vec<String>, Option<&'a Caveat>) {
    let all = points.iter().copied().flat_map(|point| &point.caveats).chain(of_run);
    let serious = all.filter(|one| told_apart(one.kind) && one.kind.weight() != Weight::Detail);
    let main = serious
        .filter(|one| {
            !disturbed || !matches!(one.kind, CaveatKind::Stalled | CaveatKind::Outage | CaveatKind::Failures)
        })
        .min_by_key(|one| one.kind.gravity());
    let Some(main) = main else { return (Vec::new(), None) };
    let several = points.iter().any(|point| point.at.system != points[0].at.system);
    let told = |caveat: &Caveat| {
        let holds = |point: &&&PointSummary| point.caveats.iter().any(|own| std::ptr::eq(own, caveat));
        match points.iter().find(holds).filter(|_| several) {
            Some(point) => format!("on {}, {}.", point.at.system, caveat.text),
            None => format!("{}.", caveat.text),
        }
    };
    // That users wait, or that a device is not what it stands for, matters whatever else does.
    let also = [CaveatKind::Late, CaveatKind::DeviceLate].into_iter().filter(|kind| *kind != main.kind);
    let find = |kind| points.iter().flat_map(|point| &point.caveats).find(|caveat| caveat.kind == kind);
    let late = also.filter_map(find).map(|late| format!("Also, {}", told(late)));
    (std::iter::once(capital(&told(main))).chain(late).collect(), Some(main))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Burst, FallClaim, PairFinding, SteadyAnswer, Sustained, SustainedFinding, Work};
    use observation::{Event, EventKind, Factor, Level, Point, Provenance};

    #[test]
    fn what_happened_to_a_pair_is_answered_by_how_long_clients_stood_still() {
        let happened = |event: &str, freeze_s: f64, errors: u64| {
            Finding::Pair(PairFinding {
                event: event.into(),
                freeze_s,
                interval_s: 0.1,
                errors,
                ..PairFinding::default()
            })
        };
        let judgement = crate::run::tests::judgement();
        let mut findings = [happened("suspend", 0.0, 0), happened("swap", 1.5, 3)];
        for (finding, resync_s) in findings.iter_mut().zip([0.5, 0.25]) {
            let Finding::Pair(found) = finding else { continue };
            (found.kept, found.equal, found.resync_s) = (Some(true), Some(resync_s > 0.3), Some(resync_s));
        }
        let told = answer(&[point("e", 1.0)], &findings, &[], &[], &judgement).sentences;
        assert_eq!(
            told[0],
            "When the second server was out, no stall of 100 ms or more was seen at `suspend`; while both changed roles, clients stood still \
             for 1.5 to 1.7 s at `swap` (3 transactions failed)."
        );
        let back = "Nothing that was acknowledged is missing; both servers do not hold the same rows; the mirror caught up in 500 ms.";
        assert_eq!(told[1], back);
        let told = answer(&[point("e", 1.0)], &[], &[], &[], &judgement).sentences;
        assert!(told[0].contains(" IOPS"), "{told:?}");
    }

    #[test]
    fn servers_that_share_a_machine_are_told_as_that_where_one_mirrors_the_other() {
        let mut judgement = crate::run::tests::judgement();
        let told = |judgement: &Judgement| answer(&[point("e", 1.0)], &[], &[], &[], judgement).sentences.join(" ");
        assert!(!told(&judgement).contains("Shared-host"), "one server alone");
        let mirrored = |system: &str, apart| study::Mirrored {
            system: system.to_owned(),
            pairing: study::Pairing::Postgres,
            waits: study::Waits::Flushed,
            apart,
            published: false,
            both: false,
        };
        judgement.mirrored = vec![mirrored("other", false)];
        assert!(!told(&judgement).contains("Shared-host"), "it was not measured");
        judgement.mirrored.push(mirrored("s", true));
        let said = |trials: &[TrialSummary], judgement: &Judgement| {
            answer(&[point("e", 1.0)], &[], &[], trials, judgement).sentences.last().cloned().unwrap_or_default()
        };
        let shared = "Shared-host overhead: both servers use the same processors, memory and network, so on two machines the loss should be smaller.";
        assert_eq!(said(&[], &judgement), shared);
        // Nothing is recorded of networks in runs of older versions.
        let of = |index, system| crate::run::tests::trial(index, system, 0, 1.0);
        let mut trials = [of(0, "s"), of(1, "s"), of(2, "alone")];
        judgement.mirrored[1].apart = false;
        assert!(said(&trials, &judgement).contains("the same processors, memory, disk and network, so on two"));
        let parted = || Event { at: Nanos::ZERO, kind: EventKind::Parted, text: String::new() };
        trials[0].events.push(parted());
        assert!(said(&trials, &judgement).starts_with("Shared-host overhead"), "not in all of them");
        trials[1].events.push(parted());
        let own = "Each server has a network of its own, but both use the same processors, memory and disk, so on two machines the loss should be smaller.";
        assert_eq!(said(&trials, &judgement), own);
        judgement.mirrored[1].apart = true;
        assert!(said(&trials, &judgement).contains("the same processors and memory, so on two"));
    }

    fn point(experiment: &str, modules: f64) -> PointSummary {
        let one = Estimate::single(1.0);
        let level = Level::Number { value: modules, text: modules.to_string() };
        let at = Point {
            experiment: experiment.to_owned(),
            system: "s".to_owned(),
            stream: "w".to_owned(),
            factors: vec![Factor { name: "modules".to_owned(), level }],
        };
        PointSummary {
            at,
            work: Work::Operations,
            provenance: Provenance::Measured,
            trials: vec![0],
            throughput_per_s: one,
            bytes_per_s: one,
            asked_most_per_s: None,
            yields: Vec::new(),
            response_mean_ms: one,
            response_p50_ms: one,
            response_p99_ms: one,
            response_p999_ms: one,
            service_mean_ms: one,
            elapsed_s: None,
            cpu_elapsed_s: None,
            cpu_us: None,
            disk_utilisation: None,
            disk_wait_ms: None,
            steady: SteadyAnswer::Yes,
            caveats: vec![],
        }
    }

    fn burst_of(point: &PointSummary) -> Finding {
        let burst = Burst {
            before_per_s: 12.5,
            sustained_per_s: 10.0,
            credit_operations: 5.0,
            lasted_s: 2.0,
            p_value: 1e-6,
            apart: true,
        };
        let sustained =
            Sustained { peak_per_s: 20.0, peak_window_s: 1.0, late_per_s: 10.0, burst: Some(burst), averages: vec![] };
        Finding::Sustained(SustainedFinding { point: point.at.clone(), claim: Some(FallClaim::Credit), sustained })
    }

    #[test]
    fn an_unfinished_run_says_so_whatever_is_graver() {
        let caveat = |kind, text: &str| Caveat { kind, trial: None, text: text.to_owned() };
        let unfinished = caveat(CaveatKind::Unfinished, "only 1 trial ended");
        let graver = caveat(CaveatKind::Failures, "operations failed");
        let judgement = crate::run::tests::judgement();
        let points = [point("rates", 1.0)];
        let told = answer(&points, &[], &[graver, unfinished.clone()], &[], &judgement).doubts;
        assert_eq!(told, ["The run is not finished: only 1 trial ended.", "Operations failed."]);
        let told = answer(&points, &[], std::slice::from_ref(&unfinished), &[], &judgement).doubts;
        assert_eq!(told, ["The run is not finished: only 1 trial ended."]);
        let mut elsewhere = judgement.clone();
        elsewhere.primary.as_mut().expect("a primary").selector.experiment = Some("another".to_owned());
        let told = answer(&points, &[], &[unfinished], &[], &elsewhere);
        assert_eq!(told.sentences, ["The primary metric was not reached."]);
        assert_eq!(told.doubts, ["The run is not finished: only 1 trial ended."]);
    }

    #[test]
    fn a_doubt_about_one_of_two_systems_names_it_and_limits_that_users_miss_are_told_beside_it() {
        let caveat = |kind, text: &str| Caveat { kind, trial: None, text: text.to_owned() };
        let mut other = point("rates", 1.0);
        other.at.system = "t".to_owned();
        other.caveats = vec![caveat(CaveatKind::NotSustained, "orders queue"), caveat(CaveatKind::Late, "users wait")];
        let first = point("rates", 1.0);
        assert_eq!(doubts(&[&first, &other], &[], false).0, ["On t, orders queue.", "Also, on t, users wait."]);
        assert_eq!(doubts(&[&other], &[], false).0, ["Orders queue.", "Also, users wait."]);
        other.caveats.remove(0);
        assert_eq!(doubts(&[&other], &[], false).0, ["Users wait."]);
    }

    #[test]
    fn a_rate_that_users_ask_for_is_doubted_as_what_the_system_carries() {
        let mut trial = crate::run::tests::trial(0, "s", 0, 1.0);
        let label = &mut trial.label.streams[0];
        label.name = "w".to_owned();
        (label.asks, label.think_mean) = (observation::Asks::Transactions, Nanos::from_millis(50));
        label.load = "64 users, 50 ms mean think time, 8 sessions".to_owned();
        let told = |per_s: f64| {
            let mut point = point("e", 1.0);
            (point.throughput_per_s, point.work) = (Estimate::single(per_s), Work::Transactions);
            point.asked_most_per_s = Some(1_280.0);
            asked_for(&point, std::slice::from_ref(&trial))
        };
        let asked = told(1_148.0).expect("a doubt");
        assert!(
            asked.starts_with(
                "64 users with a mean think time of 50 ms can ask for at most 1280 TPS, and 89.7% of that was done: "
            ),
            "{asked}"
        );
        assert_eq!(told(900.0), None, "a third is missing: somebody keeps them waiting");
    }

    #[test]
    fn the_answer_quotes_findings_of_its_own_point_only() {
        let chosen = point("rates", 1.0);
        let others = [burst_of(&point("sizes", 1.0)), burst_of(&point("rates", 2.0))];
        assert_eq!(bend(&chosen, &others), None);
        let own = bend(&chosen, &[burst_of(&chosen)]).expect("its own burst");
        assert!(own.starts_with("That is a burst: after 2 s"), "{own}");
    }

    fn at(name: &str, value: f64, elapsed_s: Option<f64>) -> PointSummary {
        let mut point = point("e", value);
        point.at.factors[0].name = name.to_owned();
        point.elapsed_s = elapsed_s.map(Estimate::single);
        (point.throughput_per_s, point.bytes_per_s) = (Estimate::single(value), Estimate::single(1e6 * value));
        point
    }

    #[test]
    fn so_many_copies_are_told_beside_one_alone_and_that_each_ran_once_is_the_doubt() {
        let points = [at("width", 1.0, Some(0.5)), at("width", 96.0, Some(4.0))];
        let mut judgement = crate::run::tests::judgement();
        judgement.primary = None;
        let told = answer(&points, &[], &[], &[], &judgement);
        assert_eq!(
            told.sentences[0],
            "96 copies of w at once take 4 s (one run, no interval), 8 times as long as one alone (500 ms); one after another \
             they would take 48 s."
        );
        assert!(told.doubts[0].starts_with("Each point ran once"), "{:?}", told.doubts);
        assert_eq!(told.sentences.len(), 1, "it is told once: {:?}", told.sentences);
        judgement.unfinished = true;
        let told = answer(&points, &[], &[], &[], &judgement).doubts;
        assert_eq!(told, Vec::<String>::new(), "what a run still has to do is no advice");
    }

    #[test]
    fn a_range_without_a_bend_is_told_from_its_least() {
        let points = [at("copy_block", 8.0, None), at("copy_block", 64.0, None)];
        let mut judgement = crate::run::tests::judgement();
        judgement.primary = None;
        let told = answer(&points, &[], &[], &[], &judgement).sentences;
        assert_eq!(told[1], "w at copy_block 64: 64 IOPS, 8 times as much as at copy_block 8 (8 IOPS).");
        assert_eq!(answer(&points[..1], &[], &[], &[], &judgement).sentences.len(), 1, "one point is no range");
    }

    #[test]
    fn a_range_is_told_of_what_is_quoted_though_transactions_of_other_sizes_are_as_many() {
        let of = |at: f64, bytes: f64| {
            let mut point = self::at("copy_block", at, None);
            point.throughput_per_s = Estimate { value: 200.0, low: 100.0, high: 300.0, ..point.throughput_per_s };
            point.bytes_per_s =
                Estimate { value: bytes, low: 0.9 * bytes, high: 1.1 * bytes, ..point.throughput_per_s };
            point
        };
        let points = [of(8.0, 4e6), of(256.0, 5e7)];
        let mut judgement = crate::run::tests::judgement();
        let primary = judgement.primary.take().expect("one is declared");
        let selector = study::Selector { factors: vec![points[1].at.factors[0].clone()], ..primary.selector };
        judgement.primary = Some(study::Primary { metric: Metric::Bandwidth, selector });
        let trials = [crate::run::tests::trial(0, "s", 0, 1.0)];
        let told = answer(&points, &[], &[], &trials, &judgement).sentences;
        assert!(told[0].starts_with("w: 50 MB/s (95% interval 45 to 55 MB/s) at copy_block 256, "), "{}", told[0]);
        assert_eq!(
            told[1],
            "w at copy_block 256: 50 MB/s, 12.5 times (10.8 to 14.4) as much as at copy_block 8 (4 MB/s)."
        );
    }

    /// Points of these levels whose rates have these ends.
    fn curve_of(name: &str, ends: &[(f64, f64, f64)]) -> Vec<PointSummary> {
        let one = |(level, low, high): &(f64, f64, f64)| {
            let mut point = at(name, *level, None);
            point.throughput_per_s = Estimate { low: *low, high: *high, ..Estimate::single((low * high).sqrt()) };
            point
        };
        ends.iter().map(one).collect()
    }

    /// What is said of the range of these points, asked at one of them.
    fn range_told(points: &[PointSummary], asked: usize) -> String {
        from_least(&points[asked], points, &crate::run::tests::judgement()).expect("a sentence")
    }

    #[test]
    fn what_overlaps_is_not_shown_to_differ_in_either_direction() {
        let rising = curve_of("sessions", &[(2.0, 63.0, 87.0), (8.0, 84.0, 109.0)]);
        let told =
            "95.7 IOPS at 8 sessions is not shown to be higher than 74 IOPS at 2 sessions: the intervals overlap.";
        assert_eq!(range_told(&rising, 1), told);
        let falling = curve_of("distance", &[(0.0, 800.0, 960.0), (10.0, 720.0, 890.0)]);
        let told = "800 IOPS at 10 km is not shown to be lower than 876 IOPS at 0 km: the intervals overlap.";
        assert_eq!(range_told(&falling, 1), told);
    }

    #[test]
    fn the_best_level_is_told_though_the_study_asks_at_another_one() {
        let points = curve_of("users", &[(1.0, 4.6, 5.2), (2.0, 8.6, 11.9), (4.0, 10.9, 11.9), (8.0, 10.7, 11.7)]);
        let told = "The most is 11.4 IOPS at 4 users, 2.33 times (2.16 to 2.51) as much as at 1 user (4.89 IOPS); from 2 users on the \
                    intervals overlap with that at 4 users; at 8 users it is 11.2 IOPS.";
        assert_eq!(range_told(&points, 3), told);
    }

    #[test]
    fn ends_that_are_told_alike_are_left_out() {
        let points = curve_of("modules", &[(20.0, 397e3, 397e3), (80.0, 1_588e3, 1_588e3)]);
        assert_eq!(
            range_told(&points, 1),
            "w at 80 modules: 1.59 M IOPS, 4 times as much as at 20 modules (397 k IOPS)."
        );
    }

    #[test]
    fn a_best_level_that_others_may_equal_is_told_with_them() {
        let points = curve_of("copy_block", &[(8.0, 1.1, 16.5), (64.0, 21.0, 53.0), (256.0, 43.6, 60.5)]);
        let told = "w at copy_block 256: 51.4 IOPS, 12.1 times (3.08 to 47.2) as much as at copy_block 8 (4.26 IOPS); from copy_block 64 on the intervals overlap with that at copy_block 256.";
        assert_eq!(range_told(&points, 2), told);
    }

    #[test]
    fn a_curve_is_told_by_the_most_that_was_seen_and_no_level_that_was_not() {
        let told = |ends: &[(f64, f64, f64)], at: Option<(f64, f64)>, scatters: bool| {
            let points = curve_of("sessions", ends);
            let at = at.map(|(low, high)| Estimate { low, high, ..Estimate::single(high) });
            let curve: Vec<(f64, Estimate)> =
                ends.iter().zip(&points).map(|((level, ..), point)| (*level, point.throughput_per_s)).collect();
            let (point, factor, peak_per_s) = (points[0].at.clone(), "sessions".to_owned(), Estimate::single(1.0));
            let knee = crate::Knee { point, factor, at, scatters, peak_per_s, curve };
            bend(&points[0], &[Finding::Knee(knee)]).expect("a sentence")
        };
        let falls = [(1.0, 170.0, 343.0), (8.0, 653.0, 1_099.0), (32.0, 276.0, 913.0)];
        assert_eq!(
            told(&falls, Some((1.0, 8.0)), false),
            "The rate stops gaining somewhere between 1 and 8 sessions; the most seen was 847 IOPS (653 to 1099) at 8 sessions; 32 sessions \
             gave 502 IOPS (276 to 913)."
        );
        assert_eq!(
            told(&falls, None, true),
            "No knee was found from 1 to 32 sessions: the points scatter too much; the most seen was 847 IOPS (653 to 1099) at 8 \
             sessions; 32 sessions gave 502 IOPS (276 to 913)."
        );
        let flat = [(1.0, 50.0, 55.0), (2.0, 96.0, 100.0), (4.0, 99.0, 101.0)];
        let level = [(1.0, 95.0, 105.0), (2.0, 80.0, 160.0), (4.0, 90.0, 104.0)];
        let said = told(&level, Some((1.0, 4.0)), false);
        assert!(
            said.starts_with("No gain is shown beyond 1 session: the most seen was 113 IOPS (80 to 160) at 2 "),
            "{said}"
        );
        let vague = [(1.0, 4.0, 5.0), (2.0, 1.0, 1e6), (4.0, 90.0, 104.0)];
        let said = told(&vague, Some((1.0, 4.0)), false);
        assert!(!said.contains("No gain"), "the third is twenty times the first: {said}");
        assert_eq!(
            told(&flat, Some((1.0, 4.0)), false),
            "The rate levels off somewhere between 1 and 4 sessions; the most seen was 100 IOPS (99 to 101) at 4 sessions, the largest \
             that was tried."
        );
        assert_eq!(
            told(&flat, Some((2.0, 2.0)), false),
            "Little is gained beyond 2 sessions: the most seen was 100 IOPS (99 to 101) at 4 sessions, the largest that was tried."
        );
    }

    #[test]
    fn a_deadline_that_was_asked_for_and_not_given_is_told() {
        let mut judgement = crate::run::tests::judgement();
        let told = |judgement: &Judgement| answer(&[point("e", 1.0)], &[], &[], &[], judgement).sentences.join(" ");
        assert!(!told(&judgement).contains("deadline"));
        judgement.asks_deadline = true;
        assert!(told(&judgement).contains("give a deadline, such as `--set deadline=6h`"));
    }

    #[test]
    fn of_many_comparisons_none_is_picked_and_each_stands_in_the_order_of_the_points() {
        let compared = |system: &str, value: f64, (low, high): (f64, f64), verdict| {
            crate::run::tests::compared(system, Estimate { low, high, n: 4, ..Estimate::single(value) }, verdict)
        };
        let all = [
            compared("on", 0.424, (0.31, 0.58), Verdict::Worse),
            compared("off", 1.2, (f64::NAN, f64::NAN), Verdict::Inconclusive),
            compared("local", 1.04, (0.8, 1.3), Verdict::Inconclusive),
        ];
        let judgement = crate::run::tests::judgement();
        let points: Vec<PointSummary> = ["off", "local", "on"]
            .map(|system| {
                let mut one = point("e", 1.0);
                one.at = Point { system: system.to_owned(), stream: "orders".to_owned(), ..Point::default() };
                one
            })
            .into();
        let told = compared_sentences(&all.iter().collect::<Vec<_>>(), &points, &judgement);
        let open: Vec<Comparison> =
            all.iter().map(|one| Comparison { verdict: Verdict::Inconclusive, ..one.clone() }).collect();
        let open = compared_sentences(&open.iter().collect::<Vec<_>>(), &points, &judgement);
        assert!(open[0].ends_with("on 0.424 (0.310 to 0.580); all are inconclusive."), "{open:?}");
        let reason = Some("the interval leaves both open".to_owned());
        let of = |all: &[Comparison]| undecided(&all.iter().collect::<Vec<_>>());
        assert_eq!(of(&all), None, "one of them is decided");
        let same = all.clone().map(|one| Comparison { verdict: Verdict::Inconclusive, reason: reason.clone(), ..one });
        let says = of(&same).expect("all are open");
        assert!(says.starts_with("None of the 3 comparisons is decided, which does not mean"), "{says}");
        assert!(says.ends_with(" Of local, the interval leaves both open."), "the surest is told: {says}");
        assert_eq!(of(&same[..2]), None, "two say so themselves");
        let [told] = told.as_slice() else { panic!("one sentence: {told:?}") };
        assert_eq!(
            told,
            "Throughput of orders, times that of alone: off 1.200 (no interval; inconclusive), local 1.040 (0.800 to 1.300; \
             inconclusive), on 0.424 (0.310 to 0.580; worse)."
        );
        let two = compared_sentences(&[&all[0], &all[1]], &points, &judgement);
        assert!(two.len() == 3 && two[1].starts_with("Inconclusive: "), "two are told one by one, with why: {two:?}");
    }

    #[test]
    fn the_same_reason_of_two_comparisons_is_told_once_behind_both() {
        let told =
            once_each(["A is inconclusive.", "2 pairs.", "B is inconclusive.", "2 pairs."].map(str::to_owned).into());
        assert_eq!(told, ["A is inconclusive.", "B is inconclusive.", "2 pairs."]);
    }

    #[test]
    fn one_window_is_named_for_notes_that_ask_for_several() {
        let note = |text: &str| Caveat { kind: CaveatKind::ThinTail, trial: None, text: text.to_owned() };
        let notes =
            [note("needs --set measure=47s"), note("one needs --set measure=10min, three need --set measure=1.5h.")];
        let told = one_window(notes.iter());
        assert_eq!(
            told.as_deref(),
            Some("`--set measure=1.5h` is enough for all notes of all trials that ask for a longer window.")
        );
        assert_eq!(one_window(notes[..1].iter()), None, "one is told where it stands");
        let [few, mut cycles] = notes;
        cycles.kind = CaveatKind::NoWholeCycle;
        let told = one_window([few, cycles].iter()).expect("both ask");
        assert!(told.ends_with("that ask for a longer window; it covers one checkpoint cycle."), "{told}");
    }

    #[test]
    fn events_are_told_with_the_server_that_is_out_and_the_one_that_carries_the_load() {
        let of = |at_s: f64, event: &str, freeze_s| {
            let alone = (event != "swap").then_some((0.0, observation::MirrorState::Asked));
            let (event, interval_s, errors) = (event.to_owned(), 0.1, 5);
            Finding::Pair(PairFinding { event, at_s, freeze_s, interval_s, errors, alone, ..PairFinding::default() })
        };
        let all = [of(4.0, "suspend", 0.0), of(5.0, "stop-mirror", 0.0), of(14.0, "swap", 0.9)];
        let then = [of(20.0, "suspend", 0.0), of(21.0, "stop-mirror", 0.2), of(30.0, "swap", 1.9)];
        let told = stood_still(&[all, then].concat());
        assert_eq!(
            told.as_deref(),
            Some(
                "When the second server was out, no stall of 100 ms or more was seen at `suspend` and \
                 `stop-mirror` (10 transactions failed); while both changed roles, clients stood still for 0.9 to 2.1 s at `swap` \
                 both times (10 transactions failed in all); when the first server was out, clients stood still \
                 for 200 to 400 ms at `stop-mirror` (5 transactions failed) and no stall of 100 ms or more was seen at `suspend` (5 \
                 transactions failed)."
            )
        );
    }

    #[test]
    fn whoever_takes_over_carries_the_load_and_is_no_mirror_any_more() {
        let of = |at_s: f64, event: &str, state| PairFinding {
            event: event.to_owned(),
            at_s,
            alone: Some((0.0, state)),
            ..PairFinding::default()
        };
        use observation::MirrorState::{Gone, TakenOver};
        let all = [of(1.0, "kill-mirror", Gone), of(2.0, "kill-primary", TakenOver), of(3.0, "kill-mirror", Gone)];
        let all: Vec<&PairFinding> = all.iter().collect();
        assert_eq!(all.iter().map(|one| one.out(&all)).collect::<Vec<_>>(), [Some(1), Some(0), Some(0)]);
        let other = PairFinding { trial: 7, ..of(3.0, "cut", Gone) };
        assert_eq!(other.out(&all), Some(1), "roles are those of its own trial");
        assert_eq!(of(3.0, "lie-primary", Gone).out(&all), None);
        assert_eq!(of(3.0, "slow=10", Gone).out(&all), None);
    }
}
