//! Points into curves: which factor goes along the axis, and what tells one curve from another.

use analysis::{Finding, Findings, Point, Work};
use observation::{Level, Provenance};

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
}

impl Sweep<'_> {
    /// Whether a curve has to say whose it is.
    pub fn several_systems(&self) -> bool {
        self.curves.iter().any(|curve| curve.system != self.curves[0].system)
    }
}

/// One line of a chart.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve<'a> {
    /// What tells it from the others: `random-read`, `new, random-read`.
    pub name: String,
    /// System.
    pub system: &'a str,
    /// Stream.
    pub stream: &'a str,
    /// Other varied factors, fixed on this curve.
    pub fixed: Vec<(&'a str, &'a Level)>,
    /// Where its numbers come from.
    pub provenance: Provenance,
    /// Which colour and marker it has, throughout the experiment.
    pub slot: usize,
    /// Points, ascending when numeric.
    pub points: Vec<&'a Point>,
}

/// Axes are chosen in this order when several factors vary and no finding says which was swept.
const USUAL_AXES: [&str; 10] =
    ["outstanding", "sessions", "slots", "rate", "transfer", "modules", "width", "workers", "threads", "size"];

/// Names of the experiments in the order in which they were first run as points.
pub fn experiments(findings: &Findings) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for point in &findings.points {
        if !names.contains(&point.experiment.as_str()) {
            names.push(&point.experiment);
        }
    }
    names
}

/// The points of one experiment as curves.
pub fn sweep<'a>(findings: &'a Findings, experiment: &'a str) -> Sweep<'a> {
    let mut points: Vec<&Point> = findings.points.iter().filter(|point| point.experiment == experiment).collect();
    points.sort_by_key(|point| (place_of_system(findings, &point.system), place_of_stream(findings, &point.stream)));
    let names = factor_names(&points);
    let varied: Vec<&str> = names.iter().copied().filter(|name| varies(&points, name)).collect();
    let factor = axis(findings, experiment, &points, &varied);
    let levels = factor.map(|name| levels_of(&points, name)).unwrap_or_default();
    let numeric = factor.is_some() && levels.iter().all(|level| level.number().is_some());
    Sweep {
        experiment,
        factor: factor.map(str::to_owned),
        numeric,
        levels: sorted(findings, levels, numeric),
        curves: curves(&points, factor, &varied),
        constant: constant(&points, &names, &varied),
        work: counted_in(points.iter().copied()),
    }
}

/// What the work of all of them is counted in; operations where they differ.
pub fn counted_in<'a>(points: impl IntoIterator<Item = &'a Point>) -> Work {
    let mut all = points.into_iter().map(|point| point.work);
    let first = all.next().unwrap_or_default();
    if all.all(|work| work == first) { first } else { Work::Operations }
}

/// Systems in the order in which they were named, whatever order they were run in.
fn place_of_system(findings: &Findings, name: &str) -> usize {
    findings.run.systems.iter().position(|system| system.name == name).unwrap_or(usize::MAX)
}

/// Streams in the order of the study: trials were run in random order, and its text is the only other witness.
fn place_of_stream(findings: &Findings, name: &str) -> usize {
    findings.run.study_text.find(name).unwrap_or(usize::MAX)
}

/// The level of `point` for `factor`.
pub fn level_of<'a>(point: &'a Point, factor: &str) -> Option<&'a Level> {
    point.factors.iter().find(|(name, _)| name == factor).map(|(_, level)| level)
}

fn factor_names<'a>(points: &[&'a Point]) -> Vec<&'a str> {
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in points.iter().flat_map(|point| &point.factors) {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    names
}

/// A factor that only repeats the stream's name (`workload`) tells nothing more.
fn varies(points: &[&Point], name: &str) -> bool {
    let repeats = points.iter().all(|point| level_of(point, name).is_some_and(|level| level.text() == point.stream));
    !repeats && levels_of(points, name).len() > 1
}

fn levels_of<'a>(points: &[&'a Point], name: &str) -> Vec<&'a Level> {
    let mut levels: Vec<&Level> = Vec::new();
    for level in points.iter().filter_map(|point| level_of(point, name)) {
        if !levels.contains(&level) {
            levels.push(level);
        }
    }
    levels
}

/// Numbers ascend; words come as the study lists them.
fn sorted<'a>(findings: &Findings, mut levels: Vec<&'a Level>, numeric: bool) -> Vec<&'a Level> {
    if numeric {
        levels.sort_by(|a, b| order(a.number(), b.number()));
    } else {
        levels.sort_by_key(|level| findings.run.study_text.find(level.text()).unwrap_or(usize::MAX));
    }
    levels
}

fn order(a: Option<f64>, b: Option<f64>) -> std::cmp::Ordering {
    a.unwrap_or(f64::NAN).total_cmp(&b.unwrap_or(f64::NAN))
}

/// A finding knows what was swept; else the usual axes, then any number, then any word.
fn axis<'a>(findings: &Findings, experiment: &str, points: &[&Point], varied: &[&'a str]) -> Option<&'a str> {
    let judged = findings.findings.iter().find_map(|finding| match finding {
        Finding::Knee(knee) if knee.experiment == experiment => Some(knee.factor.as_str()),
        Finding::Scaling(scaling) if scaling.experiment == experiment => Some(scaling.factor.as_str()),
        Finding::ServiceFit(fit) if fit.experiment == experiment => Some("transfer"),
        _ => None,
    });
    let named = |wanted: &str| varied.iter().copied().find(|name| last_part(name) == last_part(wanted));
    let numeric = |name: &&&str| levels_of(points, name).iter().all(|level| level.number().is_some());
    judged
        .and_then(named)
        .or_else(|| USUAL_AXES.iter().find_map(|wanted| named(wanted)))
        .or_else(|| varied.iter().find(numeric).copied())
        .or_else(|| varied.first().copied())
}

/// `load.outstanding` is `outstanding`: studies may vary a key by its full or its short name.
pub fn last_part(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}

fn constant(points: &[&Point], names: &[&str], varied: &[&str]) -> Vec<(String, String)> {
    let fixed = names.iter().filter(|name| !varied.contains(name));
    fixed
        .filter_map(|name| {
            let levels = levels_of(points, name);
            (levels.len() == 1).then(|| (last_part(name).to_owned(), levels[0].text().to_owned()))
        })
        .collect()
}

fn curves<'a>(points: &[&'a Point], factor: Option<&str>, varied: &[&'a str]) -> Vec<Curve<'a>> {
    let others: Vec<&str> = varied.iter().copied().filter(|name| Some(*name) != factor).collect();
    let several_systems = points.iter().any(|point| point.system != points[0].system);
    let several_streams = points.iter().any(|point| point.stream != points[0].stream);
    let mut curves: Vec<Curve> = Vec::new();
    for point in points.iter().copied() {
        let fixed: Vec<(&str, &Level)> =
            others.iter().filter_map(|name| level_of(point, name).map(|level| (*name, level))).collect();
        let same = |curve: &&mut Curve| {
            curve.system == point.system
                && curve.stream == point.stream
                && curve.fixed == fixed
                && curve.provenance == point.provenance
        };
        if let Some(curve) = curves.iter_mut().find(same) {
            curve.points.push(point);
            continue;
        }
        let name = curve_name(point, &fixed, several_systems, several_streams);
        let (system, stream, provenance, slot) = (&point.system, &point.stream, point.provenance, curves.len());
        curves.push(Curve { name, system, stream, fixed, provenance, slot, points: vec![point] });
    }
    if let Some(factor) = factor {
        for curve in &mut curves {
            curve.points.sort_by(|a, b| {
                let number = |point: &Point| level_of(point, factor).and_then(Level::number);
                // Words keep the order of the study: not-a-number compares equal to itself, and the sort is stable.
                order(number(a), number(b))
            });
        }
    }
    curves
}

fn curve_name(point: &Point, fixed: &[(&str, &Level)], systems: bool, streams: bool) -> String {
    let mut parts: Vec<String> = Vec::new();
    if systems {
        parts.push(point.system.clone());
    }
    if streams || (!systems && fixed.is_empty()) {
        parts.push(point.stream.clone());
    }
    parts.extend(fixed.iter().map(|(name, level)| factor_text(name, level)));
    parts.join(", ")
}

/// `4 modules`, `cache cold`: a level in words that say what it is.
pub fn factor_text(name: &str, level: &Level) -> String {
    let name = last_part(name);
    match level {
        Level::Word(word) => format!("{name} {word}"),
        Level::Number { value, text } if text.parse::<f64>().is_ok() => match name {
            "modules" | "workers" | "threads" | "sessions" if *value == 1.0 => {
                format!("{text} {}", name.trim_end_matches('s'))
            }
            "modules" | "workers" | "threads" | "sessions" | "outstanding" => format!("{text} {name}"),
            _ => format!("{name} {text}"),
        },
        Level::Number { text, .. } => format!("{name} {text}"),
    }
}
