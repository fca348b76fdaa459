//! Every comparison of a run: each system against the baseline, the primary metric first, all others as exploration.
//!
//! The primary metric is tested as it is. Everything else goes through Holm's rule together: the interval of each is at
//! the level at which the rule tests it, so that an interval and its verdict agree, and the chance of any false "better" or
//! "worse" among all of them stays at one minus the confidence. When the primary metric is read at several points, the
//! rule is applied among these as well.

use super::paired_test::{PairedTest, paired_test};
use super::pairs::pairs;
use crate::point::{Group, own_estimate, selects};
use crate::statistics::holm::holm;
use crate::{Caveat, CaveatKind, Comparison, Estimate, Verdict};
use observation::Places;
use study::pairs::{PAIRS_MAX, PILOT as PAIRS_MIN, needed};
use study::{Direction, Judgement, Metric, Yield};
use units::{counted, percent, significant};

/// What may be claimed only when the method's own error is under this share of it.
const METHOD_SHARE: f64 = 1.0 / 3.0;

/// A comparison with the caveat that it leaves.
pub struct Compared {
    /// The comparison.
    pub comparison: Comparison,
    /// Why the pairs themselves are to be doubted, if they are.
    pub caveat: Option<Caveat>,
}

/// One test before it is judged among the others.
struct Candidate<'a> {
    baseline: &'a Group<'a>,
    system: &'a Group<'a>,
    metric: Metric,
    primary: bool,
    interleaved: bool,
    pairs: u32,
    /// Pairs that ran, with those of which no ratio can be made.
    ran: u32,
    test: Option<PairedTest>,
    /// Why the metric itself is not known well enough to be compared, if it is not.
    unknown: Option<String>,
}

/// Compares all groups of the same experiment, stream and factors with the baseline's group.
pub fn comparisons(groups: &[Group], judgement: &Judgement) -> Vec<Compared> {
    let mut candidates = candidates(groups, judgement);
    // Stable: the primary first, everything else in the order of the points.
    candidates.sort_by_key(|candidate| !candidate.primary);
    let split = candidates.partition_point(|candidate| candidate.primary);
    let (primary, others) = candidates.split_at(split);
    [primary, others].into_iter().flat_map(|family| judged(family, judgement)).collect()
}

fn candidates<'a>(groups: &'a [Group<'a>], judgement: &Judgement) -> Vec<Candidate<'a>> {
    let mut found = Vec::new();
    let places = Places::of(groups.iter().map(|group| &group.point));
    for system in groups.iter().filter(|group| !group.searched()) {
        let near = places.near(&system.point).into_iter().map(|place| &groups[place]);
        let Some(baseline) = baseline_of(system, near, judgement) else { continue };
        for metric in metrics(system, judgement) {
            found.extend(candidate(baseline, system, metric, judgement));
        }
    }
    found
}

/// The group of the baseline at the same point: the declared one, else the system that was measured first.
fn baseline_of<'a>(
    system: &Group,
    near: impl Iterator<Item = &'a Group<'a>>,
    judgement: &Judgement,
) -> Option<&'a Group<'a>> {
    let peers: Vec<&Group> = near.filter(|group| group.point.same_elsewhere(&system.point)).collect();
    let mut names = judgement.baseline.iter().chain(&judgement.other_baselines);
    let baseline = match &judgement.baseline {
        Some(_) => names.find_map(|name| peers.iter().copied().find(|group| group.point.system == *name)),
        None => peers.first().copied(),
    };
    baseline.filter(|group| group.point.system != system.point.system)
}

/// What is compared: few metrics that answer different questions, because every further one makes the others less sure.
fn metrics(group: &Group, judgement: &Judgement) -> Vec<Metric> {
    let fixed = group.members.iter().all(|(trial, _)| trial.fixed_work);
    let open = group.members.iter().all(|(_, stream)| stream.offered_per_s.is_some());
    let mut metrics = match (fixed, open) {
        (true, _) => vec![Metric::Elapsed, Metric::CpuPerOperation],
        // The rate of an open load is what was asked for.
        (_, true) => vec![Metric::ResponseMean, Metric::ResponseQuantile(0.99), Metric::CpuPerOperation],
        // Who counts postings wants to know what the database's share of them became.
        _ => match yielded(group) {
            given if given.is_empty() => {
                vec![Metric::Throughput, Metric::ResponseQuantile(0.99), Metric::CpuPerOperation]
            }
            given => {
                let given = given.into_iter().map(Metric::Yield);
                given.chain([Metric::ServiceMean, Metric::ResponseQuantile(0.99)]).collect()
            }
        },
    };
    // What a mirror costs is spent by servers; the generator's own CPU is told of each system, and no cost of it.
    if !judgement.mirrored.is_empty() {
        metrics.iter_mut().filter(|one| **one == Metric::CpuPerOperation).for_each(|one| *one = Metric::ServerCpu);
    }
    if let Some(primary) = judgement.primary.as_ref().filter(|_| is_primary_point(group, judgement)) {
        metrics.retain(|metric| *metric != primary.metric);
        metrics.insert(0, primary.metric);
    }
    metrics
}

/// What its transactions are counted in by those who ask for them, but for what comes as asked for, whatever the system.
fn yielded(group: &Group) -> Vec<Yield> {
    let Some((trial, stream)) = group.members.first() else { return Vec::new() };
    let by_clock = |what: &str| {
        let label = trial.label.streams.get(usize::from(stream.stream));
        label.is_some_and(|label| label.offered_of(what).is_some())
    };
    let given = stream.yields.iter().filter(|given| given.per_s.value > 0.0 && !by_clock(&given.what));
    given.filter_map(|given| Yield::of_word(&given.what)).collect()
}

fn is_primary_point(group: &Group, judgement: &Judgement) -> bool {
    let primary = judgement.primary.as_ref();
    primary.is_some_and(|p| selects(&p.selector, &group.point))
}

fn candidate<'a>(
    baseline: &'a Group<'a>,
    system: &'a Group<'a>,
    metric: Metric,
    judgement: &Judgement,
) -> Option<Candidate<'a>> {
    let value = |member: &super::pairs::Member| own_estimate(member.0, member.1, metric).map(|e| e.value);
    let measured = |group: &Group| group.members.iter().any(|member| value(member).is_some());
    if !measured(baseline) || !measured(system) {
        return None;
    }
    let pairs = pairs(&baseline.members, &system.members, value);
    Some(Candidate {
        baseline,
        system,
        metric,
        primary: is_primary_point(system, judgement) && judgement.primary.as_ref().is_some_and(|p| p.metric == metric),
        interleaved: pairs.len() > 1 && !apart(baseline, system),
        pairs: pairs.len() as u32,
        ran: self::pairs(&baseline.members, &system.members, |_| Some(1.0)).len() as u32,
        test: paired_test(&pairs, floor(baseline, metric) + floor(system, metric)),
        unknown: [baseline, system].into_iter().find_map(|group| group.only_a_bound(metric, judgement.confidence)),
    })
}

/// What one operation a window, one step of a clock or one bucket of a histogram is of the metric.
fn floor(group: &Group, metric: Metric) -> f64 {
    let value = |member: &super::pairs::Member| own_estimate(member.0, member.1, metric).map(|e| e.value);
    let least = group.members.iter().filter_map(value).filter(|value| *value > 0.0).fold(f64::INFINITY, f64::min);
    (group.floor(metric) / least).ln_1p()
}

/// Whether all trials of one system came before all trials of the other.
fn apart(a: &Group, b: &Group) -> bool {
    let span = |group: &Group| {
        let places = group.members.iter().map(|(trial, _)| trial.label.index);
        places.fold((u32::MAX, 0), |(low, high), at| (low.min(at), high.max(at)))
    };
    let (a, b) = (span(a), span(b));
    a.1 < b.0 || b.1 < a.0
}

fn judged(family: &[Candidate], judgement: &Judgement) -> Vec<Compared> {
    let p_values: Vec<f64> = family.iter().map(|candidate| candidate.p_value()).collect();
    let alphas = holm(&p_values, 1.0 - judgement.confidence);
    family.iter().zip(alphas).map(|(candidate, alpha)| candidate.judge(1.0 - alpha, family.len(), judgement)).collect()
}

impl Candidate<'_> {
    fn p_value(&self) -> f64 {
        self.test.filter(|_| self.pairs >= PAIRS_MIN).map_or(f64::NAN, |test| test.p_value)
    }

    /// `of` are compared by one rule.
    fn judge(&self, confidence: f64, of: usize, judgement: &Judgement) -> Compared {
        let ratio = self.ratio(confidence);
        let direction = self.metric.direction();
        let (mut verdict, mut reason, mut because) = (verdict(&ratio, direction, judgement.margin), None, None);
        let caveat = self.caveat(verdict, judgement);
        if let Some(unknown) = self.unknown.as_ref().filter(|_| verdict != Verdict::Inconclusive) {
            because = Some(format!("{} has too few samples or is only a lower bound", self.metric.said()));
            (verdict, reason) = (Verdict::Inconclusive, Some(unknown.clone()));
        }
        if let Some((kind, text)) =
            caveat.as_ref().filter(|_| verdict != Verdict::Inconclusive || self.pairs < PAIRS_MIN)
        {
            because = Some(briefly(*kind).to_owned());
            (verdict, reason) = (Verdict::Inconclusive, Some(text.clone()));
        }
        let detectable = self.test.and_then(|test| test.detectable(confidence));
        if verdict == Verdict::Inconclusive && reason.is_none() {
            because = Some(open_by(&ratio, of));
            reason = Some(wide_reason(&ratio, self.test.as_ref(), judgement.margin));
        }
        if let Some(unbalanced) = self.unbalanced() {
            reason = Some(reason.map_or(unbalanced.clone(), |reason| format!("{reason}; {unbalanced}")));
        }
        let caveat = caveat.map(|(kind, text)| Caveat { kind, trial: None, text: self.named(&text) });
        let comparison = Comparison {
            point: self.system.point.clone(),
            baseline: self.baseline.point.system.clone(),
            metric: self.metric.word(),
            said: self.metric.said(),
            primary: self.primary,
            direction,
            ratio,
            margin: judgement.margin,
            detectable,
            interleaved: self.interleaved,
            adjusted: of > 1 || !self.primary,
            p_value: self.p_value(),
            verdict,
            reason,
            because,
        };
        Compared { comparison, caveat }
    }

    /// The ratio with its interval; without pairs that of the means, which has none.
    fn ratio(&self, confidence: f64) -> Estimate {
        match &self.test {
            Some(test) if test.shape.freedom >= 1.0 => {
                let (low, high) = test.ratio_interval(confidence);
                Estimate { value: test.effect.exp(), low, high, n: self.pairs, confidence }
            }
            _ => {
                let of = |group: &Group| group.estimate(self.metric, confidence).map_or(f64::NAN, |e| e.value);
                let value = of(self.system) / of(self.baseline);
                Estimate { n: self.pairs, confidence, ..Estimate::single(value) }
            }
        }
    }

    /// The reason to take a verdict away that lies in the pairs themselves.
    fn caveat(&self, verdict: Verdict, judgement: &Judgement) -> Option<(CaveatKind, String)> {
        if self.pairs < PAIRS_MIN {
            return Some((CaveatKind::FewReplicates, self.few_pairs(judgement.unfinished)));
        }
        let test = self.test?;
        if !test.both_orders {
            let text = format!(
                "{} was always measured {}; what changes with time cannot be told from the difference; alternate the order",
                self.system.point.system,
                if self.system_last() { "after" } else { "before" }
            );
            return Some((CaveatKind::Other, text));
        }
        // What is claimed is a difference, or, for "equivalent", that there is none beyond the margin.
        let claimed = if verdict == Verdict::Equivalent { judgement.margin } else { test.effect.abs() };
        method_caveat(&test, claimed)
    }

    fn few_pairs(&self, unfinished: bool) -> String {
        let needed = format!("a verdict needs at least {PAIRS_MIN}");
        if self.ran > self.pairs {
            let (ran, metric) = (counted(u64::from(self.ran), "pairs"), self.metric.word());
            let none = self.ran - self.pairs;
            return format!(
                "of {ran} {none} had no {metric} on one side, of which no ratio can be made, and {needed}; find out why \
                 nothing was completed"
            );
        }
        let seen = match self.pairs {
            0 => "no pair was measured in one block".to_owned(),
            1 => "one pair was measured".to_owned(),
            n => format!("{n} pairs were measured"),
        };
        let next = format!("; run with --set replicates={PAIRS_MIN} or more");
        format!("{seen}, and {needed}{}", if unfinished { "" } else { &next })
    }

    /// Of an odd number of pairs one order has more than the other, and both count the same in the ratio.
    fn unbalanced(&self) -> Option<String> {
        let odd = self.test.is_some_and(|test| test.both_orders) && !self.pairs.is_multiple_of(2);
        // Of fewer than a verdict needs it is said already how many to run, which is an even number.
        let balanced = match self.pairs < PAIRS_MIN {
            true => "an even number balances them".to_owned(),
            false => format!("--set replicates={} balances them", self.pairs + 1),
        };
        odd.then(|| {
            format!(
                "the two orders have unequal shares of {} pairs and the same weight in the ratio, so that the means in the tables \
                 may differ from it in size and direction; {balanced}",
                self.pairs
            )
        })
    }

    fn system_last(&self) -> bool {
        let first = |group: &Group| group.members.iter().map(|(trial, _)| trial.label.index).min();
        first(self.system) > first(self.baseline)
    }

    fn named(&self, text: &str) -> String {
        let (system, baseline) = (&self.system.point.system, &self.baseline.point.system);
        format!("{system} against {baseline}, {}: {text}", self.metric.word())
    }
}

/// Where the interval lies. Inside the margin is `equivalent` even when it excludes 1: the margin is the smallest
/// difference that anybody wanted to know of, and the interval stands beside the word.
pub fn verdict(ratio: &Estimate, direction: Direction, margin: f64) -> Verdict {
    let higher_is_better = direction == Direction::HigherIsBetter;
    match ratio.has_interval() {
        true if 1.0 - margin < ratio.low && ratio.high < 1.0 + margin => Verdict::Equivalent,
        true if ratio.low > 1.0 || ratio.high < 1.0 => {
            if (ratio.low > 1.0) == higher_is_better {
                Verdict::Better
            } else {
                Verdict::Worse
            }
        }
        _ => Verdict::Inconclusive,
    }
}

/// What the method itself may have put into a difference, when it is more than a third of what is claimed.
fn method_caveat(test: &PairedTest, claimed: f64) -> Option<(CaveatKind, String)> {
    let beyond = |share: &f64| share.abs() > METHOD_SHARE * claimed;
    if let Some(left) = test.carry_over.filter(beyond) {
        return Some((CaveatKind::CarryOver, carry_over_text(left)));
    }
    if let Some(rise) = test.trend.filter(beyond) {
        let text = format!(
            "the ratio itself {} by {} from the first pair to the last, more than a third of the difference; precondition \
             both systems, or run longer",
            moved(rise),
            size(rise)
        );
        return Some((CaveatKind::NotSteady, text));
    }
    Some(test.drift_bias).filter(beyond).map(|bias| {
        let text = format!(
            "both systems drifted, and {} of it is left in the ratio, more than a third of the difference; use an even \
             number of pairs in both orders",
            size(bias)
        );
        (CaveatKind::NotSteady, text)
    })
}

fn carry_over_text(left: f64) -> String {
    format!(
        "whoever is measured second is {} by {}, more than a third of the difference: the trial before leaves its mark; \
         refill or settle between trials",
        if left < 0.0 { "lower" } else { "higher" },
        size(left)
    )
}

/// What takes a verdict away, in a few words.
fn briefly(kind: CaveatKind) -> &'static str {
    match kind {
        CaveatKind::FewReplicates => "too few pairs",
        CaveatKind::CarryOver => "one trial leaves its mark on the next",
        CaveatKind::NotSteady => "both drift",
        _ => "one of them always came first",
    }
}

/// What leaves a comparison open whose interval does: among others it is wider than by itself.
fn open_by(ratio: &Estimate, of: usize) -> String {
    let (pairs, known) = (counted(u64::from(ratio.n), "pairs"), ratio.has_interval() && ratio.tells());
    let holds = if known { "holds 1" } else { "is unknown" };
    let adjusted = if of > 1 { format!(", adjusted for {of} comparisons") } else { String::new() };
    format!("its interval from {pairs}{adjusted}, {holds}")
}

/// Why neither a difference nor its absence can be claimed, how often as many pairs find the margin, and how many would.
fn wide_reason(ratio: &Estimate, test: Option<&PairedTest>, margin: f64) -> String {
    let (wanted, confidence) = (percent(margin), ratio.confidence);
    // Nobody is told what an interval holds that is not told.
    let open = match ratio.has_interval() && ratio.tells() {
        true => format!("the interval leaves both open, no difference and one of more than the margin of {wanted}"),
        false => "the pairs differ by too much for any interval".to_owned(),
    };
    let Some(test) = test else { return open };
    let found = significant((100.0 * test.power(margin, confidence)).round());
    let scatter = counted(u64::from(test.pairs), "pairs");
    let detect = if test.pairs == 1 { "detects" } else { "detect" };
    let now = format!("with this scatter, {scatter} {detect} a difference of {wanted} in {found} of 100 runs");
    match needed(&test.scatter(), margin, confidence, 2) {
        Some(needed) if needed > test.pairs => format!("{open}; {now}; 80 of 100 needs about {needed} pairs"),
        Some(_) => format!("{open}; {now}, so the difference is probably smaller"),
        None => format!(
            "{open}; {now}; for 80 of 100 even {PAIRS_MAX} pairs are too few: find out what disturbs the trials"
        ),
    }
}

fn moved(logarithm: f64) -> &'static str {
    if logarithm < 0.0 { "fell" } else { "rose" }
}

fn size(logarithm: f64) -> String {
    percent(logarithm.exp_m1().abs())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TrialSummary;
    use crate::point::groups;
    use crate::run::tests::{judgement, trial};
    use crate::statistics::bootstrap::Draws;

    /// Pairs in the order AB BA AB BA with these throughputs of the baseline `a` and of `b`.
    fn counterbalanced(pairs: &[(f64, f64)]) -> Vec<TrialSummary> {
        let mut trials = Vec::new();
        for (block, (a, b)) in (0u32..).zip(pairs) {
            let two = [("a", *a), ("b", *b)];
            let order = if block.is_multiple_of(2) { [two[0], two[1]] } else { [two[1], two[0]] };
            for (name, rate) in order {
                trials.push(trial(trials.len() as u32, name, block, rate));
            }
        }
        trials
    }

    fn compared(trials: &[TrialSummary]) -> Vec<Comparison> {
        comparisons(&groups(trials), &judgement()).into_iter().map(|compared| compared.comparison).collect()
    }

    #[test]
    fn pairs_of_a_system_that_completed_nothing_are_not_said_to_be_missing() {
        let compared = compared(&counterbalanced(&[(1000.0, 0.0); 4]));
        let reason = compared[0].reason.as_deref().expect("a reason");
        assert!(reason.starts_with("of 4 pairs 4 had no throughput on one side"), "{reason}");
        assert!(!reason.contains("replicates"), "{reason}");
    }

    #[test]
    fn what_leaves_a_comparison_open_is_said_in_a_few_words_and_never_what_an_interval_holds_that_is_unknown() {
        let wild = |far: f64| {
            let pairs: Vec<(f64, f64)> =
                (0..4).map(|k| (1000.0, 1000.0 * if k < 2 { far } else { far.recip() } * NOISE[k])).collect();
            let first = compared(&counterbalanced(&pairs)).swap_remove(0);
            (first.verdict, first.because.unwrap_or_default(), first.reason.unwrap_or_default())
        };
        let (verdict, because, reason) = wild(1.3);
        assert_eq!(verdict, Verdict::Inconclusive);
        assert!(because.starts_with("its interval from 4 pairs") && because.ends_with("holds 1"), "{because}");
        assert!(reason.contains("the interval leaves both open"), "{reason}");
        let (verdict, because, reason) = wild(60.0);
        assert_eq!(verdict, Verdict::Inconclusive);
        assert!(because.ends_with("is unknown") && !reason.contains("interval leaves"), "{because}: {reason}");
        let few = compared(&counterbalanced(&[(1000.0, 1300.0)])).swap_remove(0);
        assert_eq!(few.because.as_deref(), Some("too few pairs"));
        let told = compared(&times(1.3, 8)).swap_remove(0);
        assert_eq!((told.verdict, told.because), (Verdict::Better, None));
    }

    const NOISE: [f64; 8] = [1.0, 1.01, 0.99, 1.005, 0.995, 1.008, 0.992, 1.0];

    fn times(factor: f64, pairs: usize) -> Vec<TrialSummary> {
        let pairs: Vec<(f64, f64)> = (0..pairs).map(|k| (1000.0 * NOISE[k], 1000.0 * factor * NOISE[7 - k])).collect();
        counterbalanced(&pairs)
    }

    #[test]
    fn each_verdict_is_reached() {
        let verdict = |factor| compared(&times(factor, 8))[0].verdict;
        assert_eq!(verdict(1.2), Verdict::Better);
        assert_eq!(verdict(0.8), Verdict::Worse);
        assert_eq!(verdict(1.0), Verdict::Equivalent);
        assert_eq!(verdict(1.05), Verdict::Better);
    }

    #[test]
    fn less_is_better_where_less_is_better() {
        let all = compared(&times(1.2, 8));
        let p99 = all.iter().find(|c| c.metric == "response p99").unwrap();
        assert!(p99.ratio.value < 0.9 && p99.verdict == Verdict::Better);
        assert!(!p99.primary && p99.adjusted && all[0].primary && !all[0].adjusted);
        assert!(all[0].interleaved);
    }

    #[test]
    fn three_pairs_give_figures_and_no_verdict() {
        let found = comparisons(&groups(&times(1.5, 3)), &judgement()).remove(0);
        assert_eq!(found.comparison.verdict, Verdict::Inconclusive);
        assert!((found.comparison.ratio.value - 1.5).abs() < 0.03);
        assert!(found.comparison.reason.unwrap().starts_with("3 pairs were measured"));
        assert_eq!(found.caveat.unwrap().kind, CaveatKind::FewReplicates);
    }

    #[test]
    fn systems_in_one_order_only_get_no_verdict() {
        let mut trials = Vec::new();
        for block in 0..6 {
            trials.push(trial(2 * block, "a", block, 1000.0 + f64::from(block)));
            trials.push(trial(2 * block + 1, "b", block, 1300.0 - f64::from(block)));
        }
        let found = compared(&trials).remove(0);
        assert_eq!(found.verdict, Verdict::Inconclusive);
        assert!(found.reason.unwrap().contains("b was always measured after"));
    }

    #[test]
    fn the_system_that_was_always_first_is_told_so() {
        let mut trials = Vec::new();
        for block in 0..6 {
            trials.push(trial(2 * block, "b", block, 1300.0 - f64::from(block)));
            trials.push(trial(2 * block + 1, "a", block, 1000.0 + f64::from(block)));
        }
        let declared = Judgement { baseline: Some("a".to_owned()), ..judgement() };
        let found = comparisons(&groups(&trials), &declared).remove(0);
        let reason = found.comparison.reason.unwrap();
        assert!(reason.contains("b was always measured before"), "{reason}");
        let caveat = found.caveat.unwrap().text;
        assert!(caveat.starts_with("b against a, throughput: b was always measured"), "{caveat}");
    }

    #[test]
    fn an_interval_that_says_nothing_is_the_reason_even_where_the_order_is_one_sided() {
        for pairs in [4u32, 6] {
            let mut trials = Vec::new();
            for block in 0..pairs {
                let swing = if block.is_multiple_of(2) { 1.12 } else { 0.93 };
                trials.push(trial(2 * block, "a", block, 1000.0));
                trials.push(trial(2 * block + 1, "b", block, 1000.0 * swing));
            }
            let found = compared(&trials).remove(0);
            assert_eq!(found.verdict, Verdict::Inconclusive);
            let reason = found.reason.unwrap();
            assert!(reason.starts_with("the interval leaves both open"), "{pairs} pairs: {reason}");
        }
    }

    #[test]
    fn a_ratio_says_how_many_pairs_and_which_confidence_stand_behind_it() {
        let all = compared(&times(1.2, 8));
        assert_eq!((all[0].ratio.n, all[0].ratio.confidence), (8, judgement().confidence));
        let one = compared(&times(1.5, 1)).remove(0).ratio;
        assert!((one.value - 1.5).abs() < 0.03 && !one.has_interval(), "{one:?}");
        assert_eq!((one.n, one.confidence), (1, judgement().confidence));
    }

    #[test]
    fn an_interval_that_reaches_the_margin_is_no_longer_inside() {
        let at = |low, high| {
            let ratio = Estimate { value: 1.0, low, high, n: 8, confidence: 0.95 };
            verdict(&ratio, Direction::HigherIsBetter, 0.05)
        };
        assert_eq!(at(0.951, 1.049), Verdict::Equivalent);
        assert_eq!(at(1.0 - 0.05, 1.01), Verdict::Inconclusive);
        assert_eq!(at(0.99, 1.0 + 0.05), Verdict::Inconclusive);
    }

    #[test]
    fn an_inconclusive_verdict_says_how_many_pairs_would_tell() {
        let noisy = counterbalanced(&[(1000.0, 1100.0), (1000.0, 930.0), (1000.0, 1120.0), (1000.0, 1010.0)]);
        let found = compared(&noisy).remove(0);
        assert_eq!(found.verdict, Verdict::Inconclusive);
        assert!(found.reason.as_ref().unwrap().contains("of 100 runs; 80 of 100 needs about"), "{:?}", found.reason);
        assert!(found.detectable.unwrap() > 0.05);
    }

    #[test]
    fn a_declared_baseline_is_the_one_below_the_ratio() {
        let declared = Judgement { baseline: Some("b".to_owned()), ..judgement() };
        let found = comparisons(&groups(&times(1.25, 8)), &declared).remove(0).comparison;
        assert_eq!((found.baseline.as_str(), found.point.system.as_str()), ("b", "a"));
        assert!((found.ratio.value - 0.8).abs() < 0.01);
    }

    /// Twelve exploratory comparisons of the same with the same: in at most five of a hundred runs does any of them claim.
    #[test]
    fn many_exploratory_comparisons_together_keep_the_promise_of_one() {
        let mut draws = Draws::new(21);
        let judgement = Judgement { primary: None, margin: 0.0001, ..judgement() };
        let claims = (0..300).filter(|_| {
            let mut trials = Vec::new();
            for point in 0..12 {
                for mut one in counterbalanced(
                    &[(); 6].map(|()| (1000.0 * (0.02 * draws.normal()).exp(), 1000.0 * (0.02 * draws.normal()).exp())),
                ) {
                    one.label.experiment = format!("experiment {point}");
                    trials.push(one);
                }
            }
            let claimed = |c: &Compared| matches!(c.comparison.verdict, Verdict::Better | Verdict::Worse);
            comparisons(&groups(&trials), &judgement).iter().any(claimed)
        });
        assert!(claims.count() <= 15);
    }

    #[test]
    fn an_odd_number_of_pairs_says_that_its_orders_are_unbalanced_and_how_to_balance_them() {
        // In the second pair the baseline comes last: 0.48 counts for one half.
        let three = compared(&counterbalanced(&[(1000.0, 1370.0), (3000.0, 1440.0), (1000.0, 1600.0)]));
        let one = &three[0];
        assert!((one.ratio.value - 0.843).abs() < 1e-3, "{one:?}");
        let reason = one.reason.as_deref().unwrap_or_default();
        assert!(reason.contains("the means in the tables may differ from it in size and direction"), "{reason}");
        assert!(
            reason.contains("--set replicates=4 or more; ") && reason.ends_with("an even number balances them"),
            "{reason}"
        );
        let unfinished = Judgement { unfinished: true, ..judgement() };
        let trials = counterbalanced(&[(1000.0, 1500.0); 2]);
        let two = comparisons(&groups(&trials), &unfinished).remove(0).comparison.reason.unwrap_or_default();
        assert_eq!(two, "2 pairs were measured, and a verdict needs at least 4", "its pairs are still to come");
        let five = compared(&counterbalanced(&[(1000.0, 1500.0); 5]));
        assert_eq!(five[0].verdict, Verdict::Better);
        assert!(five[0].reason.as_deref().is_some_and(|reason| reason.ends_with("replicates=6 balances them")));
        assert_eq!(compared(&counterbalanced(&[(1000.0, 1500.0); 4]))[0].reason, None);
    }

    #[test]
    fn what_as_many_pairs_detect_is_said_in_words_that_are_read_once() {
        let told = |noise: f64| {
            let pairs = [1.0, -1.0, -1.0, 1.0, 1.0, -1.0].map(|sign| (1000.0, 1000.0 * (noise * sign).exp()));
            compared(&counterbalanced(&pairs))[0].reason.clone().unwrap_or_default()
        };
        let some = told(0.1);
        assert!(some.contains("with this scatter, 6 pairs detect a difference of "), "{some}");
        assert!(some.contains(" of 100 runs; 80 of 100 needs about ") && some.ends_with(" pairs"), "{some}");
        let none = told(3.0);
        assert!(
            none.ends_with("for 80 of 100 even 1000 pairs are too few: find out what disturbs the trials"),
            "{none}"
        );
    }
}
