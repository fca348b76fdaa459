//! At most against sustained: the highest mean over windows of every length.

use super::figure::{Axis, Datum, Figure, Form, Guide, Look, Panel, Series, Spacing, Span};
use super::quantity::Quantity;
use super::table::{Table, number};
use analysis::{Burst, FallClaim, Findings, SustainedFinding};
use observation::Provenance;
use units::Nanos;

/// No more figures than this an experiment; every finding is also a sentence.
const FIGURES_MAX: usize = 4;

/// Whether there is a claim to be drawn: a rate that fell in a window of at least a minute.
pub fn differs(found: &SustainedFinding) -> bool {
    matches!(found.claim, Some(FallClaim::Credit | FallClaim::MayBe))
}

/// One figure for each finding of the experiment in which at most and sustained differ.
pub fn figures(findings: &Findings, experiment: &str) -> Vec<Figure> {
    let told = |found: &&SustainedFinding| found.point.experiment == experiment && found.sustained.averages.len() > 1;
    let found = findings.findings.iter().filter_map(SustainedFinding::of).filter(told);
    let drawn = found.filter(|found| differs(found)).take(FIGURES_MAX);
    drawn.map(|found| figure(found, provenance(findings, found))).collect()
}

fn provenance(findings: &Findings, found: &SustainedFinding) -> Provenance {
    let same = |point: &&analysis::PointSummary| {
        (&point.at.experiment, &point.at.system) == (&found.point.experiment, &found.point.system)
    };
    findings.points.iter().find(same).map(|point| point.provenance).unwrap_or_default()
}

fn figure(found: &SustainedFinding, provenance: Provenance) -> Figure {
    let look = Look { slot: 0, provenance };
    let figures = &found.sustained;
    let points = figures.averages.iter().map(|(window, rate)| {
        let text = format!("at most {} over any {}", Quantity::Rate.text(*rate), Quantity::Seconds.text(*window));
        Datum::bare(*window, *rate, text)
    });
    let late = format!("last fifth: {}", Quantity::Rate.text(figures.late_per_s));
    let mut guides = vec![Guide::Level { y: figures.late_per_s, text: late }];
    let credit = figures.burst.filter(|_| found.claim == Some(FallClaim::Credit));
    guides.extend(credit.map(|burst| burst_curve(burst, &figures.averages)));
    let mut x = Axis::new("length of the window", Quantity::Seconds, Spacing::Log);
    let tick = |(window, _): &(f64, f64)| (*window, units::duration(Nanos::from_seconds(*window)));
    x.ticks = figures.averages.iter().map(tick).collect();
    let y = super::axes::amount("operations a second, highest mean over any window of that length", Quantity::Rate);
    let series = Series { name: found.point.stream.clone(), look, form: Form::Line, points: points.collect() };
    let panel = Panel { guides, ..Panel::new("highest mean over any window", Span::Full, x, y, vec![series]) };
    let burst = credit.map(|burst| {
        format!(
            "The thin line is s + C/T: a sustained {} and a credit of {} operations, used up after {}.",
            Quantity::Rate.text(burst.sustained_per_s),
            Quantity::Count.text(burst.credit_operations),
            Quantity::Seconds.text(burst.lasted_s)
        )
    });
    let title = format!("At most and sustained: {} on {}", found.point.stream, found.point.system);
    Figure::new(title, burst.into_iter().collect(), vec![panel], table(found))
}

/// `s + C/T`, where the credit has an effect: from the moment at which it is used up.
fn burst_curve(burst: Burst, averages: &[(f64, f64)]) -> Guide {
    let last = averages.last().map_or(burst.lasted_s, |average| average.0);
    let (from, to) = (burst.lasted_s.max(1e-3).min(last), last);
    let points = (0..=40).map(|step| {
        let window = from * (to / from).powf(f64::from(step) / 40.0);
        (window, burst.sustained_per_s + burst.credit_operations / window)
    });
    Guide::Curve { look: None, points: points.collect(), text: "s + C/T".into() }
}

fn table(found: &SustainedFinding) -> Table {
    let row = |(window, rate): &(f64, f64)| {
        let window = number("window", "window_s", *window, Quantity::Seconds);
        vec![window, number("highest mean", "throughput_per_s", *rate, Quantity::Rate)]
    };
    Table::new("Highest mean over any window of a length", found.sustained.averages.iter().map(row))
}
