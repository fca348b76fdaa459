//! Points into curves: which factor goes along the axis, and what tells one curve from another.

use super::each_once;
use super::order::{in_order, order, place_of_stream, place_of_system};
use analysis::{Finding, Findings, PointSummary, Work};
use observation::factor::{self, short_name};
use observation::{Factor, Level, Places, Point, Provenance};
use study::Metric;

/// Everything of one experiment that shares an axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Sweep<'a> {
    /// Experiment.
    pub experiment: &'a str,
    /// The factor along the axis; none when nothing was varied.
    pub factor: Option<String>,
    /// Whether every level of that factor is a number.
    pub numeric: bool,
    /// Its levels, each once: ascending when numeric, else in the order of the study.
    pub levels: Vec<&'a Level>,
    /// The curves, in the order of the study.
    pub curves: Vec<Curve<'a>>,
    /// Factors that were not varied, for the caption.
    pub constant: Vec<(String, String)>,
    /// What its work is counted in.
    pub work: Work,
    /// Whether the study asks how many bytes are moved.
    pub bandwidth: bool,
}

/// One line of a chart.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve<'a> {
    /// What tells it from the others: `random-read`, `new, random-read`.
    pub name: String,
    /// What it is of; its factors are the other varied ones, fixed on this curve.
    pub at: Point,
    /// Where its numbers come from.
    pub provenance: Provenance,
    /// Which colour and marker it has, throughout the experiment.
    pub slot: usize,
    /// Points, ascending when numeric.
    pub points: Vec<&'a PointSummary>,
}

/// Axes are chosen in this order when several factors vary and no finding says which was swept.
const USUAL_AXES: [&str; 10] = [
    factor::OUTSTANDING,
    factor::SESSIONS,
    "slots",
    factor::RATE,
    factor::TRANSFER,
    factor::MODULES,
    factor::WIDTH,
    factor::WORKERS,
    factor::THREADS,
    factor::SIZE,
];

/// Names of the experiments in the order in which they were first run as points.
pub fn experiments(findings: &Findings) -> Vec<&str> {
    each_once(findings.points.iter().map(|point| point.at.experiment.as_str()))
}

/// The points of one experiment as curves.
pub fn sweep<'a>(findings: &'a Findings, experiment: &'a str) -> Sweep<'a> {
    let mut points: Vec<&PointSummary> =
        findings.points.iter().filter(|point| point.at.experiment == experiment).collect();
    let place = |at: &Point| (place_of_system(findings, &at.system), place_of_stream(findings, &at.stream));
    points.sort_by_key(|point| place(&point.at));
    let names = factor_names(&points);
    let varied: Vec<&str> = names.iter().copied().filter(|name| varies(&points, name)).collect();
    let factor = axis(findings, experiment, &points, &varied);
    let levels = factor.map(|name| levels_of(&points, name)).unwrap_or_default();
    let numeric = factor.is_some() && levels.iter().all(|level| level.number().is_some());
    Sweep {
        experiment,
        factor: factor.map(str::to_owned),
        numeric,
        levels: in_order(findings, levels),
        curves: curves(&points, factor, &varied),
        constant: constant(&points, &names, &varied),
        work: counted_in(points.iter().copied()),
        bandwidth: findings.metric == Some(Metric::Bandwidth),
    }
}

/// What the work of all of them is counted in; operations where they differ.
pub fn counted_in<'a>(points: impl IntoIterator<Item = &'a PointSummary>) -> Work {
    let mut all = points.into_iter().map(|point| point.work);
    let first = all.next().unwrap_or_default();
    if all.all(|work| work == first) { first } else { Work::Operations }
}

fn factor_names<'a>(points: &[&'a PointSummary]) -> Vec<&'a str> {
    each_once(points.iter().flat_map(|point| &point.at.factors).map(|factor| factor.name.as_str()))
}

/// A factor that only repeats the stream's name (`workload`) tells nothing more.
fn varies(points: &[&PointSummary], name: &str) -> bool {
    let repeats = |at: &Point| at.level(name).is_some_and(|level| level.text() == at.stream);
    let repeats = points.iter().all(|point| repeats(&point.at));
    !repeats && levels_of(points, name).len() > 1
}

fn levels_of<'a>(points: &[&'a PointSummary], name: &str) -> Vec<&'a Level> {
    each_once(points.iter().filter_map(|point| point.at.level(name)))
}

/// A finding knows what was swept; else the usual axes, then any number, then any word.
fn axis<'a>(findings: &Findings, experiment: &str, points: &[&PointSummary], varied: &[&'a str]) -> Option<&'a str> {
    let own = findings.findings.iter().filter(|found| found.point().is_some_and(|at| at.experiment == experiment));
    let judged = own.into_iter().find_map(|finding| match finding {
        Finding::Knee(knee) => Some(knee.factor.as_str()),
        Finding::Scaling(scaling) => Some(scaling.factor.as_str()),
        Finding::ServiceFit(_) => Some(factor::TRANSFER),
        _ => None,
    });
    let named = |wanted: &str| varied.iter().copied().find(|name| short_name(name) == short_name(wanted));
    let numeric = |name: &&&str| levels_of(points, name).iter().all(|level| level.number().is_some());
    judged
        .and_then(named)
        .or_else(|| USUAL_AXES.iter().find_map(|wanted| named(wanted)))
        .or_else(|| varied.iter().find(numeric).copied())
        .or_else(|| varied.first().copied())
}

fn constant(points: &[&PointSummary], names: &[&str], varied: &[&str]) -> Vec<(String, String)> {
    let fixed = names.iter().filter(|name| !varied.contains(name));
    fixed
        .filter_map(|name| {
            let levels = levels_of(points, name);
            let unit = if short_name(name) == factor::DISTANCE && levels[0].number().is_some() { " km" } else { "" };
            (levels.len() == 1).then(|| (factor::said(name).to_owned(), format!("{}{unit}", levels[0].text())))
        })
        .collect()
}

fn curves<'a>(points: &[&'a PointSummary], factor: Option<&str>, varied: &[&'a str]) -> Vec<Curve<'a>> {
    let others: Vec<&str> = varied.iter().copied().filter(|name| Some(*name) != factor).collect();
    let several_systems = points.iter().any(|point| point.at.system != points[0].at.system);
    let several_streams = points.iter().any(|point| point.at.stream != points[0].at.stream);
    let (mut curves, mut places) = (Vec::<Curve>::new(), Places::default());
    for point in points.iter().copied() {
        let mut at = point.at.clone();
        at.factors.retain(|factor| others.contains(&factor.name.as_str()));
        at.factors.sort_by_key(|factor| others.iter().position(|name| *name == factor.name));
        let provenance = point.provenance;
        let of = |place: &usize| (&curves[*place].at, curves[*place].provenance) == (&at, provenance);
        match places.near(&at).into_iter().find(of) {
            Some(place) => curves[place].points.push(point),
            None => {
                places.put(&at, curves.len());
                let (name, slot) = (curve_name(&at, several_systems, several_streams), curves.len());
                curves.push(Curve { name, at, provenance, slot, points: vec![point] });
            }
        }
    }
    if let Some(factor) = factor {
        for curve in &mut curves {
            curve.points.sort_by(|a, b| {
                let number = |point: &PointSummary| point.at.level(factor).and_then(Level::number);
                // Words keep the order of the study: not-a-number compares equal to itself, and the sort is stable.
                order(number(a), number(b))
            });
        }
    }
    curves
}

fn curve_name(at: &Point, systems: bool, streams: bool) -> String {
    let mut parts: Vec<String> = Vec::new();
    if systems {
        parts.push(at.system.clone());
    }
    if streams || (!systems && at.factors.is_empty()) {
        parts.push(at.stream.clone());
    }
    parts.extend(at.factors.iter().map(Factor::in_words));
    parts.join(", ")
}

impl Curve<'_> {
    /// Whether a finding about a curve is about this one; it names the factors too that never varied.
    pub fn is_of(&self, point: &Point) -> bool {
        let agrees = |factor: &Factor| point.level(&factor.name).is_none_or(|level| *level == factor.level);
        self.at.same_stream(point) && self.at.factors.iter().all(agrees)
    }
}

impl Sweep<'_> {
    /// The factor along the axis by its short name; empty when nothing was varied.
    pub fn factor_name(&self) -> &str {
        self.factor.as_deref().map(short_name).unwrap_or_default()
    }

    /// The same as people of the field say it.
    pub fn factor_said(&self) -> &str {
        factor::said(self.factor_name())
    }

    /// The level of a point along the axis.
    pub fn level<'p>(&self, point: &'p PointSummary) -> Option<&'p Level> {
        point.at.level(self.factor.as_deref()?)
    }

    /// Whether its curves are of more than one system.
    pub fn several_systems(&self) -> bool {
        self.curves.iter().any(|curve| curve.at.system != self.curves[0].at.system)
    }

    /// The level of a point along the axis, in words; empty where nothing was varied.
    pub fn along(&self, point: &PointSummary) -> String {
        let swept = point.at.factors.iter().find(|factor| Some(&factor.name) == self.factor.as_ref());
        swept.map(Factor::in_words).unwrap_or_default()
    }

    /// The levels of a point along the axis and on its curve, in words.
    pub fn at(&self, curve: &Curve, point: &PointSummary) -> String {
        let swept = point.at.factors.iter().filter(|factor| Some(&factor.name) == self.factor.as_ref());
        swept.chain(&curve.at.factors).map(Factor::in_words).collect::<Vec<_>>().join(", ")
    }
}

/// All levels in words.
pub fn factors_text(factors: &[Factor]) -> String {
    factors.iter().map(Factor::in_words).collect::<Vec<_>>().join(", ")
}
