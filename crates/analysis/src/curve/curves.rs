//! Points that differ in one numeric factor only, in the order of its levels.

use crate::point::Group;
use crate::statistics::bootstrap::Draws;
use crate::statistics::student::normal_quantile;
use crate::{Estimate, StreamSummary, TrialSummary};
use observation::{Level, Places, Point};
use study::Metric;

/// One factor swept while all others stay.
pub struct Curve<'a> {
    /// What it is of: its factors are those that were not swept.
    pub point: Point,
    /// The factor that was swept.
    pub factor: String,
    /// `(level, the trials there)`, ascending.
    pub steps: Vec<(f64, &'a Group<'a>)>,
}

impl Curve<'_> {
    /// The levels with a metric, where it was measured.
    pub fn estimates(&self, metric: Metric, confidence: f64) -> Vec<(f64, Estimate)> {
        let measured = |(level, group): &(f64, &Group)| Some((*level, group.estimate(metric, confidence)?));
        self.steps.iter().filter_map(measured).collect()
    }

    /// The fewest replicates of a level.
    pub fn replicates(&self) -> u32 {
        self.steps.iter().map(|(_, group)| group.members.len() as u32).min().unwrap_or(0)
    }

    /// One value drawn for each level.
    pub fn resampled(&self, draws: &mut Draws) -> Vec<f64> {
        self.steps.iter().map(|(_, group)| resampled(group, draws)).collect()
    }

    /// Whether a condition holds for every trial of the curve.
    pub fn all(&self, holds: impl Fn(&TrialSummary, &StreamSummary) -> bool) -> bool {
        self.steps.iter().all(|(_, group)| group.members.iter().all(|(trial, stream)| holds(trial, stream)))
    }
}

/// All curves over a factor of this name, with at least two levels.
pub fn curves<'a>(groups: &'a [Group<'a>], factor: &str) -> Vec<Curve<'a>> {
    let (mut found, mut places) = (Vec::<Curve>::new(), Places::default());
    for group in groups.iter().filter(|group| !group.searched()) {
        let Some(level) = group.point.level(factor).and_then(Level::number) else { continue };
        let mut point = group.point.clone();
        point.factors.retain(|other| other.name != factor);
        let of = |place: &usize| found[*place].point == point && found[*place].steps[0].1.kin() == group.kin();
        match places.near(&point).into_iter().find(of) {
            Some(place) => found[place].steps.push((level, group)),
            None => {
                places.put(&point, found.len());
                found.push(Curve { point, factor: factor.to_owned(), steps: vec![(level, group)] });
            }
        }
    }
    found.iter_mut().for_each(|curve| curve.steps.sort_by(|a, b| a.0.total_cmp(&b.0)));
    found.retain(|curve| curve.steps.len() > 1);
    found
}

/// One value drawn for a level: from its replicates with repeats, or, where there is one trial, from its own interval as
/// a normal around its value.
fn resampled(group: &Group, draws: &mut Draws) -> f64 {
    let values: Vec<f64> = group.members.iter().map(|(_, stream)| stream.throughput_per_s.value).collect();
    if values.len() > 1 {
        let drawn = draws.resample(&values);
        return drawn.iter().sum::<f64>() / drawn.len() as f64;
    }
    let Some((_, stream)) = group.members.first() else { return f64::NAN };
    let own = &stream.throughput_per_s;
    if !own.has_interval() {
        return own.value;
    }
    let error = (own.high - own.low) / 2.0 / normal_quantile(0.5 + own.confidence / 2.0);
    (own.value + error * draws.normal()).max(0.0)
}
