//! What objects gave that went to the fast tier, step by step, beside what was promised of them.
//!
//! The one idea: the gain is time, the inverse of the rate: what sessions no longer wait for storage is missing from each transaction. A
//! step has the share (t0 - tk) / (t0 - tn) of the whole gain, where t0 is the time with everything on the slow tier and tn with
//! every table and index on the fast one. Where four blocks or more hold a trial of each, its interval is that of a jackknife over
//! them (Quenouille and Tukey; Miller, Biometrika 61, 1974), else it has none.
//!
//! What it does not do: where the whole gain is not beyond doubt, there is no share of it.

use crate::point::Group;
use crate::statistics::moments::{deviation, mean, squares_about_mean};
use crate::statistics::student::half_width;
use crate::{Comparison, Estimate, PointSummary, TierFinding, TierStep};
use study::Proof;

/// Fewer blocks say too little of how a share scatters.
const BLOCKS_MIN: usize = 4;

/// One for each point that was measured with everything on the slow tier and with every table and index on the fast one.
pub fn tiers(groups: &[Group], points: &[PointSummary], proof: Option<&Proof>) -> Vec<TierFinding> {
    let Some(proof) = proof else { return Vec::new() };
    let of = |point: &PointSummary| Some((point.clone(), groups.iter().find(|group| group.point == point.at)?));
    let known: Vec<Known> = points.iter().filter_map(of).collect();
    let baselines = known.iter().filter(|(point, _)| point.at.system == proof.baseline);
    baselines.filter_map(|baseline| tier(&known, baseline, proof)).collect()
}

/// A point, and the trials behind it.
type Known<'a> = (PointSummary, &'a Group<'a>);

fn tier(known: &[Known], baseline: &Known, proof: &Proof) -> Option<TierFinding> {
    let at = &baseline.0.at;
    let on =
        |system: &String| known.iter().find(|(point, _)| point.at.system == *system && point.at.same_elsewhere(at));
    let (what, rate) = baseline.0.counted();
    let last = on(&proof.taken.last()?.system)?;
    let most = last.0.counted().1;
    let all = proof.taken.iter().flat_map(|step| &step.objects).map(|(_, bytes)| bytes).sum::<f64>();
    let mut bytes = 0.0;
    let mut steps = Vec::new();
    for step in &proof.taken {
        bytes += step.objects.iter().map(|(_, bytes)| bytes).sum::<f64>();
        let [value, low, high] = step.promised;
        let own = on(&step.system)?;
        let per_s = own.0.counted().1;
        let blocks = blocks([baseline, own, last]);
        let found = match blocks.len() >= BLOCKS_MIN {
            true => share_of_blocks(&blocks, rate.confidence),
            false => share(&rate, &per_s, &most),
        };
        // The last step is the whole, whatever its own scatter.
        let whole = |_| Estimate { low: 1.0, high: 1.0, ..Estimate::single(1.0) };
        steps.push(TierStep {
            system: step.system.clone(),
            objects: step.objects.clone(),
            bytes,
            of_bytes: if all > 0.0 { bytes / all } else { 0.0 },
            promised: Estimate { low, high, ..Estimate::single(value) },
            delivered: if std::ptr::eq(own, last) { found.map(whole) } else { found },
            per_s,
        });
    }
    Some(TierFinding { point: at.clone(), what: what.to_owned(), per_s: rate, times: ratio(&most, &rate), steps })
}

/// The times of three points by block, where a block has a trial of each.
fn blocks(three: [&Known; 3]) -> Vec<[f64; 3]> {
    let time = |(_, group): &Known, block: u32| {
        let (_, stream) = group.members.iter().find(|(trial, _)| trial.label.block == block)?;
        let per_s = stream.yields.first().map_or(stream.throughput_per_s.value, |given| given.per_s.value);
        (per_s > 0.0).then(|| 1.0 / per_s)
    };
    let of = |block| Some([time(three[0], block)?, time(three[1], block)?, time(three[2], block)?]);
    three[0].1.members.iter().filter_map(|(trial, _)| of(trial.label.block)).collect()
}

/// The same by blocks: from each of them is told what it is without that one.
fn share_of_blocks(blocks: &[[f64; 3]], confidence: f64) -> Option<Estimate> {
    let n = blocks.len() as f64;
    let gains: Vec<f64> = blocks.iter().map(|[slow, _, fast]| slow - fast).collect();
    if mean(&gains) <= half_width(deviation(&gains) / n.sqrt(), n - 1.0, confidence) {
        return None;
    }
    let of = |without: Option<usize>| {
        let kept = || blocks.iter().enumerate().filter(|(at, _)| Some(*at) != without).map(|(_, block)| block);
        let sum = |which: usize| kept().map(|block| block[which]).sum::<f64>();
        (sum(0) - sum(1)) / (sum(0) - sum(2))
    };
    let value = of(None);
    let without: Vec<f64> = (0..blocks.len()).map(|at| of(Some(at))).collect();
    let half = half_width(((n - 1.0) / n * squares_about_mean(&without)).sqrt(), n - 1.0, confidence);
    Some(Estimate { value, low: value - half, high: value + half, n: n as u32, confidence })
}

/// The share of the whole gain that a step has, by three rates, without an interval; none where the whole gain may be none.
fn share(slow: &Estimate, step: &Estimate, fast: &Estimate) -> Option<Estimate> {
    let time = |rate: &Estimate| [1.0 / rate.value, 1.0 / rate.high, 1.0 / rate.low];
    let [t0, tk, tn] = [slow, step, fast].map(time);
    let whole = t0[0] - tn[0];
    // A width that is no number leaves it in doubt, too.
    let doubt = (t0[0] - t0[1]).hypot(tn[2] - tn[0]);
    if doubt.is_nan() || whole <= doubt {
        return None;
    }
    Some(Estimate::single((t0[0] - tk[0]) / whole))
}

/// A share of the gain with ends further apart than this decides nothing: a promise is kept within a fifth.
const VAGUE: f64 = 0.4;

/// How many times one rate the other is.
fn ratio(of: &Estimate, to: &Estimate) -> Estimate {
    let value = of.value / to.value;
    let far = |a: f64, b: f64| (a.powi(2) + b.powi(2)).sqrt();
    let end = |own: f64, other: f64| far((own / of.value).ln(), (other / to.value).ln());
    let (low, high) = (value * (-end(of.low, to.high)).exp(), value * end(of.high, to.low).exp());
    Estimate { value, low, high, n: of.n.min(to.n), confidence: of.confidence }
}

impl TierFinding {
    /// Whether a comparison is that of everything on the fast tier with everything on the slow one.
    pub(crate) fn is_of(&self, one: &Comparison) -> bool {
        let last = self.steps.last().is_some_and(|step| step.system == one.point.system);
        last && one.baseline == self.point.system && one.point.same_elsewhere(&self.point)
    }

    /// The steps that are told first: the first, and the one that promised most beyond what its bytes would have in no order.
    fn told(&self) -> Vec<&TierStep> {
        let beyond = |step: &&TierStep| step.promised.value - step.of_bytes;
        let between = &self.steps[..self.steps.len().saturating_sub(1)];
        let knee = between.iter().max_by(|a, b| beyond(a).total_cmp(&beyond(b)));
        let mut told: Vec<&TierStep> = between.first().into_iter().chain(knee).collect();
        told.dedup_by(|a, b| a.of_bytes == b.of_bytes);
        told
    }

    /// That the share of a step is not known well enough to hold its promise against it.
    pub(crate) fn vague(&self) -> Option<String> {
        let wide = |of: &Estimate| of.has_interval() && of.high - of.low > VAGUE;
        let vague = self.steps.iter().filter_map(|step| Some((step, step.delivered.filter(wide)?)));
        let (step, delivered) = vague.max_by(|(_, a), (_, b)| (a.high - a.low).total_cmp(&(b.high - b.low)))?;
        let (bytes, promised) = (units::percent(step.of_bytes), units::percent(step.promised.value));
        let ends = units::range(&units::percent(delivered.low), " to ", &units::percent(delivered.high));
        Some(format!(
            "With {bytes} of the bytes the gain is only known to be {ends}, too wide to judge the {promised} that was promised: more replicates narrow it, \
             such as `--set replicates=8`."
        ))
    }

    /// `25% of the bytes on the fast tier save 71% (66% to 76%) of the time that a transaction saves with all of them there; the advice promised 70%.
    /// With every table and index there it is 3.2 times as many postings (3.0 to 3.4).`
    pub fn says(&self) -> String {
        let over = |of: &Estimate, figure: fn(f64) -> String, pairs: &str| match of.has_interval() && of.low < of.high {
            true => format!(" ({}{pairs})", units::range(&figure(of.low), " to ", &figure(of.high))),
            false => String::new(),
        };
        let interval = |of: &Estimate, figure| over(of, figure, "");
        // Trials that alternate vary less against each other than the rates of either side do.
        let pairs = if self.times.n > 1 { format!(" over {} pairs", self.times.n) } else { String::new() };
        let times = over(&self.times, units::significant, &pairs);
        let all = format!("{} times as many {}{times}", units::ratio(self.times.value), self.what);
        if self.steps.iter().any(|step| step.delivered.is_none()) {
            return format!("No gain is beyond doubt: every table and index on the fast tier gives {all}.");
        }
        let said = |(at, step): (usize, &TierStep)| {
            let delivered = step.delivered?;
            let (where_to, of) = match at {
                0 => (" of the bytes on the fast tier", " of the time that a transaction saves with all of them there"),
                _ => ("", ""),
            };
            let (bytes, promised) = (units::percent(step.of_bytes), units::percent(step.promised.value));
            let (given, interval) = (units::percent(delivered.value), interval(&delivered, units::percent));
            let beyond = delivered.high < step.promised.low || delivered.low > step.promised.high;
            let kept = match delivered.has_interval() && beyond {
                true => format!(", and {} of that came", units::percent(delivered.value / step.promised.value)),
                false if delivered.has_interval() && step.promised.value > delivered.high => {
                    ", above what came".to_owned()
                }
                false => String::new(),
            };
            Some(format!("{bytes}{where_to} save {given}{interval}{of}; the advice promised {promised}{kept}. "))
        };
        let few = self.steps.iter().filter_map(|step| step.delivered).any(|share| !share.has_interval());
        let few = if few { " Shares have intervals from four replicates on: `--set replicates=4`." } else { "" };
        let steps: String = self.told().into_iter().enumerate().filter_map(said).collect();
        format!("{steps}With every table and index there it is {all}.{few}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::tests::{judgement, trial};
    use crate::statistics::bootstrap::Draws;
    use crate::{Finding, judge};
    use observation::RunFacts;
    use study::{Judgement, ProofStep};

    fn proof() -> Proof {
        let step = |system: &str, object: &str, bytes: f64, promised: f64| ProofStep {
            system: system.to_owned(),
            objects: vec![(object.to_owned(), bytes)],
            promised: [promised, promised - 0.1, promised],
        };
        let taken =
            vec![step("one", "hot", 250.0, 0.7), step("two", "warm", 250.0, 0.9), step("all", "cold", 500.0, 1.0)];
        Proof { steps: 3, baseline: "slow".to_owned(), taken }
    }

    /// What is found of trials in so many blocks, with these times of a transaction and such a noise.
    fn found(times: [f64; 4], noise: f64, blocks: u32, seed: u64) -> TierFinding {
        let mut draws = Draws::new(seed);
        let mut trials = Vec::new();
        for block in 0..blocks {
            for (system, time) in ["slow", "one", "two", "all"].into_iter().zip(times) {
                trials.push(trial(trials.len() as u32, system, block, (1.0 + noise * draws.normal()) / time));
            }
        }
        let judgement = Judgement { proof: Some(proof()), primary: None, ..judgement() };
        let judged = judge(RunFacts::default(), trials, &judgement);
        let found = judged.findings.iter().find_map(TierFinding::of).cloned().expect("it is found");
        assert_eq!(Finding::Tier(found.clone()).point(), Some(&found.point));
        found
    }

    #[test]
    fn each_step_has_its_share_of_the_time_that_is_gained_with_bytes_and_promise() {
        // Of 10 ms eight can be gained: six with the first step.
        let found = found([0.010, 0.004, 0.003, 0.002], 0.0, 4, 1);
        let shares: Vec<f64> = found.steps.iter().filter_map(|step| Some(step.delivered?.value)).collect();
        assert!(
            shares.iter().zip([0.75, 0.875, 1.0]).all(|(found, wanted)| (found - wanted).abs() < 1e-9),
            "{shares:?}"
        );
        assert_eq!(found.steps.iter().map(|step| step.of_bytes).collect::<Vec<_>>(), [0.25, 0.5, 1.0]);
        assert!((found.times.value - 5.0).abs() < 1e-9);
        let says = found.says();
        assert!(says.starts_with("25% of the bytes on the fast tier save 75%"), "{says}");
        assert!(
            says.contains("of the time that a transaction saves with all of them there; the advice promised 70%, and 107% of that came. With every table and index there it is 5 times as many operations (4.93 to 5.07 over 4 pairs)."),
            "{says}"
        );
    }

    #[test]
    fn a_share_that_is_hardly_known_judges_no_promise_and_is_told_as_that() {
        let mut found = found([0.010, 0.004, 0.003, 0.002], 0.0, 4, 1);
        assert_eq!(found.vague(), None, "all are known well");
        found.steps[0].delivered = Some(Estimate { low: 0.324, high: 0.801, n: 4, ..Estimate::single(0.563) });
        let told = found.vague().expect("a doubt");
        assert!(
            told.starts_with(
                "With 25% of the bytes the gain is only known to be 32.4 to 80.1%, too wide to judge the 70% "
            ),
            "{told}"
        );
    }

    #[test]
    fn too_few_replicates_give_no_interval_and_a_promise_beyond_doubt_missed_is_told() {
        let times = [0.010, 0.007, 0.003, 0.002];
        let few = found(times, 0.01, 3, 1);
        assert!(few.steps[0].delivered.is_some_and(|share| !share.has_interval()), "{few:?}");
        assert!(
            few.says()
                .contains("% of the time that a transaction saves with all of them there; the advice promised 70%. "),
            "{}",
            few.says()
        );
        assert!(few.says().ends_with("from four replicates on: `--set replicates=4`."), "{}", few.says());
        let says = found(times, 0.001, 6, 1).says();
        assert!(says.contains("the advice promised 70%, and 5") && !says.contains("replicates=4"), "{says}");
        let says = found([0.010, 0.0021, 0.0021, 0.002], 0.001, 6, 1).says();
        assert!(says.contains("the advice promised 70%, and 14"), "{says}");
    }

    #[test]
    fn where_the_whole_gain_may_be_none_no_share_of_it_is_told() {
        let found = found([0.0100, 0.0101, 0.0100, 0.0099], 0.05, 4, 3);
        assert!(found.steps.iter().all(|step| step.delivered.is_none()), "{found:?}");
        assert!(found.says().starts_with("No gain is beyond doubt"), "{}", found.says());
    }

    #[test]
    fn nineteen_in_twenty_intervals_hold_the_share_that_is_true() {
        let (steep, flat) = ([0.010, 0.004, 0.003, 0.002], [0.010, 0.009, 0.008, 0.004]);
        for (times, truth, blocks) in [(steep, 0.75, 4), (flat, 1.0 / 6.0, 6)] {
            let runs = 600;
            let holds = |seed: &u64| {
                let share = found(times, 0.04, blocks, *seed).steps[0].delivered.expect("the gain is plain");
                share.low <= truth && truth <= share.high
            };
            let held = (0..runs).filter(holds).count() as f64 / runs as f64;
            assert!((0.92..=0.995).contains(&held), "{held} of those around {truth} in {blocks} blocks");
        }
    }
}
