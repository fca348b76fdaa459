//! What two systems that are compared take to run, beside what they do.
//!
//! The one idea: a footprint is stated, and a rate is measured, so that a rate for each drive, watt or unit of money has the interval of
//! the rate, and their ratio that of the comparison.
//!
//! What it does not do: it gives no verdict of its own.

use crate::{Comparison, Estimate, FootprintAmount, FootprintFinding, PointSummary, Same, Verdict};
use observation::Footprint;
use study::{Metric, Yield};

/// The footprints behind comparisons of rates, and of the time for the same work: one for each pair of systems at a point.
pub fn footprints<'a>(
    systems: &[(String, Footprint)],
    points: &[PointSummary],
    comparisons: impl Iterator<Item = &'a Comparison>,
) -> Vec<FootprintFinding> {
    let mut found: Vec<FootprintFinding> = Vec::new();
    for comparison in comparisons {
        let known = |one: &FootprintFinding| one.point == comparison.point && one.baseline == comparison.baseline;
        if !found.iter().any(known) {
            found.extend(footprint(systems, points, comparison));
        }
    }
    found
}

fn footprint(
    systems: &[(String, Footprint)],
    points: &[PointSummary],
    comparison: &Comparison,
) -> Option<FootprintFinding> {
    let of = |system: &str| {
        let (_, footprint) = systems.iter().find(|(name, _)| name == system)?;
        let mut alike = points.iter().filter(|point| point.at.same_elsewhere(&comparison.point));
        Some((footprint, alike.find(|point| point.at.system == system)?))
    };
    let (takes, point) = of(&comparison.point.system)?;
    let (base_takes, base) = of(&comparison.baseline)?;
    let (what, ratio) = counted(point, comparison)?;
    let (rate, base_rate) = (rate(point, &what)?, rate(base, &what)?);
    let each = Footprint::NAMES.into_iter().zip(takes.amounts().into_iter().zip(base_takes.amounts()));
    let stated = each.filter_map(|(amount, (of_system, of_baseline))| Some((amount, of_system?, of_baseline?)));
    let both = stated.filter(|(_, of_system, of_baseline)| *of_system > 0.0 && *of_baseline > 0.0);
    let amount = |(amount, of_system, of_baseline): (&'static str, f64, f64)| FootprintAmount {
        amount,
        of_system,
        of_baseline,
        rate_for_each: rate.scaled(1.0 / of_system),
        baseline_for_each: base_rate.scaled(1.0 / of_baseline),
        ratio: ratio.scaled(of_baseline / of_system),
    };
    let amounts: Vec<FootprintAmount> = both.map(amount).collect();
    let break_even = base_takes.price.filter(|price| *price > 0.0).map(|price| ratio.scaled(price));
    (!amounts.is_empty() || break_even.is_some()).then(|| FootprintFinding {
        point: comparison.point.clone(),
        baseline: comparison.baseline.clone(),
        what,
        primary: comparison.primary,
        same: same(comparison),
        ratio,
        amounts,
        break_even,
        price: takes.price,
    })
}

/// What is counted, and how many times that of the baseline: of work that is fixed the inverse of its time.
fn counted(point: &PointSummary, comparison: &Comparison) -> Option<(String, Estimate)> {
    let Estimate { value, low, high, .. } = comparison.ratio;
    if comparison.metric == Metric::Elapsed.word() {
        let inverse = Estimate { value: 1.0 / value, low: 1.0 / high, high: 1.0 / low, ..comparison.ratio };
        return Some((point.counted().0.to_owned(), inverse));
    }
    let counts = comparison.metric == Metric::Throughput.word() || Yield::of_word(&comparison.metric).is_some();
    let what = if comparison.metric == Metric::Throughput.word() { point.work.word() } else { &comparison.metric };
    counts.then(|| (what.to_owned(), comparison.ratio))
}

/// How much of it a second.
fn rate(point: &PointSummary, what: &str) -> Option<Estimate> {
    let given = point.yields.iter().find(|(known, _)| known == what).map(|(_, rate)| *rate);
    given.or_else(|| (what == point.work.word()).then_some(point.throughput_per_s))
}

/// Whether both do the same, as far as the comparison can tell.
fn same(comparison: &Comparison) -> Same {
    let ratio = &comparison.ratio;
    match comparison.verdict {
        Verdict::Equivalent => Same::Yes,
        Verdict::Inconclusive if ratio.has_interval() && ratio.low <= 1.0 && ratio.high >= 1.0 => Same::NoneFound,
        _ => Same::No,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::tests::{judgement, trial};
    use crate::{Finding, judge};
    use observation::{RunFacts, SystemFacts};

    /// Two systems in eight blocks, the second so many times as fast, with what they take.
    fn found(times: f64, takes: [Footprint; 2]) -> Vec<FootprintFinding> {
        let mut trials = Vec::new();
        for block in 0..8 {
            let mut both = [("a", 1.0, 1), ("b", times, 2)];
            // Each is first in half of the blocks.
            both.rotate_left(block as usize % 2);
            for (system, times, step) in both {
                let rate = 1000.0 * times * (1.0 + 0.004 * f64::from(block / step % 2));
                trials.push(trial(trials.len() as u32, system, block, rate));
            }
        }
        let facts = |name: &str, footprint| SystemFacts { name: name.to_owned(), footprint, ..SystemFacts::default() };
        let systems = vec![facts("a", takes[0]), facts("b", takes[1])];
        let judged = judge(RunFacts { systems, ..RunFacts::default() }, trials, &judgement());
        judged.findings.iter().filter_map(FootprintFinding::of).cloned().collect()
    }

    fn disks() -> Footprint {
        Footprint { drives: Some(96.0), watts: Some(1440.0), price: Some(9_600.0), ..Footprint::default() }
    }

    fn flash() -> Footprint {
        Footprint { drives: Some(22.0), price: Some(11_000.0), floor: Some(0.5), ..Footprint::default() }
    }

    #[test]
    fn a_rate_for_each_drive_has_the_interval_of_the_rate_and_its_ratio_that_of_the_comparison() {
        let found = found(1.17, [disks(), flash()]);
        let [one] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!((one.baseline.as_str(), one.what.as_str(), one.same), ("a", "operations", Same::No));
        // Watts and floor space are stated by one alone.
        assert_eq!(one.amounts.iter().map(|amount| amount.amount).collect::<Vec<_>>(), ["drives", "price"]);
        let drives = &one.amounts[0];
        assert!((drives.rate_for_each.value - 1172.34 / 22.0).abs() < 0.2, "{drives:?}");
        assert!((drives.ratio.value - one.ratio.value * 96.0 / 22.0).abs() < 1e-9, "{drives:?}");
        assert!((drives.ratio.low / drives.ratio.value - one.ratio.low / one.ratio.value).abs() < 1e-9, "{drives:?}");
        let break_even = one.break_even.unwrap();
        assert!((break_even.value - 9_600.0 * 1.17).abs() < 20.0 && break_even.low < break_even.high, "{break_even:?}");
        assert_eq!(one.price, Some(11_000.0));
    }

    #[test]
    fn the_same_is_said_of_equivalent_systems_alone() {
        assert_eq!(found(1.002, [disks(), flash()])[0].same, Same::Yes);
        assert_eq!(found(1.3, [disks(), flash()])[0].same, Same::No);
        assert_eq!(found(1.3, [Footprint::default(), flash()]), []);
    }

    #[test]
    fn every_form_of_finding_knows_its_point() {
        let one = found(1.3, [disks(), flash()]).remove(0);
        assert_eq!(Finding::Footprint(one.clone()).point(), Some(&one.point));
    }
}
