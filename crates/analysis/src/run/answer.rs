//! The answer to the study's question in one to three sentences of plain words, with its main caveat.

use super::select::{factors_text, selects};
use crate::{Caveat, CaveatKind, Point};
use observation::RunFacts;
use study::Judgement;
use units::{bytes_per_second, milliseconds, rate};

/// The sentences. What the study declared primary comes first.
pub fn answer(_run: &RunFacts, points: &[Point], caveats: &[Caveat], judgement: &Judgement) -> Vec<String> {
    let chosen = primary_points(points, judgement);
    let mut sentences: Vec<String> = chosen.iter().take(2).map(|point| point_sentence(point)).collect();
    if sentences.is_empty() {
        sentences.push("Nothing was measured.".to_owned());
    }
    sentences.extend(main_caveat(&chosen, caveats));
    sentences
}

/// The points that the primary metric is read from, the best of each system; without a primary, the fastest of all.
fn primary_points<'a>(points: &'a [Point], judgement: &Judgement) -> Vec<&'a Point> {
    let meant = |point: &&Point| match &judgement.primary {
        Some(primary) => selects(&primary.selector, &point.experiment, &point.stream, &point.factors),
        None => true,
    };
    let mut best: Vec<&Point> = Vec::new();
    for point in points.iter().filter(meant) {
        match best.iter_mut().find(|known| known.system == point.system) {
            Some(known) if point.throughput_per_s.value > known.throughput_per_s.value => *known = point,
            Some(_) => {}
            None => best.push(point),
        }
    }
    best
}

fn point_sentence(point: &Point) -> String {
    let at = if point.factors.is_empty() { String::new() } else { format!(" at {}", factors_text(&point.factors)) };
    let bytes = if point.bytes_per_s.value > 0.0 {
        format!(" ({})", bytes_per_second(point.bytes_per_s.value))
    } else {
        String::new()
    };
    let what =
        format!("{} completes {} of {}{bytes}{at}", point.system, rate(point.throughput_per_s.value), point.stream);
    let interval = interval_text(point);
    format!("{what}{interval}, with a p99 response of {}.", milliseconds(point.response_p99_ms.value))
}

fn interval_text(point: &Point) -> String {
    let estimate = &point.throughput_per_s;
    if !estimate.has_interval() {
        return " (one sample, no interval)".to_owned();
    }
    format!(" ({:.0}% interval {} to {})", estimate.confidence * 100.0, rate(estimate.low), rate(estimate.high))
}

/// The gravest doubt beside the chosen points, or of the run.
fn main_caveat(points: &[&Point], of_run: &[Caveat]) -> Option<String> {
    let all = points.iter().flat_map(|point| &point.caveats).chain(of_run);
    all.min_by_key(|caveat| gravity(caveat.kind)).map(|caveat| format!("But {}.", caveat.text))
}

/// Which doubt is told first: damaged data before numbers that are not the storage's, before numbers that may move.
fn gravity(kind: CaveatKind) -> u8 {
    use CaveatKind as K;
    match kind {
        K::Damage => 0,
        K::Failures | K::Censored => 1,
        K::Cached => 2,
        K::GeneratorBound | K::NotSustained => 3,
        K::LittleGap | K::Throttled | K::ClockPause => 4,
        K::NotSteady | K::CarryOver | K::OtherWriters | K::SharedDevice => 5,
        K::Steal | K::Pressure | K::Frequency => 6,
        K::Unfinished | K::FewReplicates => 7,
        K::WindowTooShort => 8,
        K::ThinTail | K::PlainDriver | K::Other => 9,
    }
}
