//! Systems against the baseline: a ratio with its interval for every comparison, the margin shaded.

use super::axes::whisker;
use super::conclusion::{Conclusion, with_interval};
use super::curve::factors_text;
use super::each_once;
use super::figure::{Axis, Datum, Figure, Form, Guide, Key, Look, Panel, Series, Spacing, Span};
use super::order::{Levels, place_of_stream, place_of_system};
use super::quantity::Quantity;
use super::table::{Field, Table, estimate, number, optional, word};
use analysis::{Comparison, Findings, PointSummary};
use observation::{Factor, Places, Point, Provenance};
use std::iter;
use study::{Direction, Metric};

/// What the database has of response on both sides of each primary comparison, where transactions give their users something:
/// `day, 8 sessions: on a 12 ms, 40% of response; on b 6 ms, 25% of response; 0.5 times (0.48–0.52)`.
pub fn requests(findings: &Findings) -> Vec<Conclusion> {
    let primary: Vec<&Point> = findings.comparisons().filter(|one| one.primary).map(|one| &one.point).collect();
    let places = Places::of(primary.iter().copied());
    let primary = |one: &Comparison| places.near(&one.point).into_iter().any(|place| *primary[place] == one.point);
    let asked = findings.comparisons().filter(|one| one.metric == Metric::ServiceMean.word() && primary(one));
    let places = Places::of(findings.points.iter().map(|point| &point.at));
    let near = |at: &Point| places.near(at).into_iter().map(|place| &findings.points[place]).collect();
    asked.filter_map(|one| said(near(&one.point), one)).collect()
}

/// `near` are points among which those of the same levels are.
fn said(near: Vec<&PointSummary>, one: &Comparison) -> Option<Conclusion> {
    let of = |system: &str| {
        let mut alike = near.iter().filter(|point| point.at.same_elsewhere(&one.point));
        let point = alike.find(|point| point.at.system == system)?;
        let service = point.service_mean_ms;
        let share = Quantity::Share.text(service.value / point.response_mean_ms.value);
        Some(format!("on {system} {}, {share} of the latency", Quantity::Milliseconds.text(service.value)))
    };
    let says = format!(
        "{}; {}; {} times",
        of(&one.baseline)?,
        of(&one.point.system)?,
        with_interval(&one.ratio, Quantity::Ratio)
    );
    let levels = one.point.factors.iter().map(Factor::in_words);
    let subject = iter::once(one.point.stream.clone()).chain(levels).collect::<Vec<_>>().join(", ");
    Some(Conclusion::plain(&one.point.experiment, "request time", subject, &says))
}

/// One figure with a panel for every metric, the primary first; none when nothing is compared.
pub fn figure(findings: &Findings) -> Option<Figure> {
    let mut all: Vec<&Comparison> = findings.comparisons().collect();
    if all.is_empty() {
        return None;
    }
    let levels = Levels::of(findings, all.iter().flat_map(|one| &one.point.factors));
    let primary: Vec<&str> = all.iter().filter(|one| one.primary).map(|one| one.metric.as_str()).collect();
    // Rows in the order of the study, whatever is primary among them: a reader follows the levels of a system.
    let place = |one: &Comparison| {
        let Comparison { point, metric, .. } = one;
        let of_study = (place_of_system(findings, &point.system), place_of_stream(findings, &point.stream));
        (
            !primary.contains(&metric.as_str()),
            metric.clone(),
            of_study,
            point.experiment.clone(),
            levels.ranks(&point.factors),
        )
    };
    all.sort_by_cached_key(|one| place(one));
    let metrics = each_once(all.iter().map(|comparison| comparison.metric.as_str()));
    let panels = metrics.iter().map(|metric| {
        let of: Vec<&Comparison> = all.iter().copied().filter(|comparison| comparison.metric == *metric).collect();
        panel(&of[0].said, &of)
    });
    let stands = |primary: bool| all.iter().any(|one| one.primary == primary && one.ratio.value.is_finite());
    let key = STANDINGS.iter().filter(|(primary, ..)| stands(*primary));
    let key = key.map(|(_, slot, name)| Key { name: (*name).to_owned(), look: look(*slot), form: Form::Marks });
    let figure = Figure::new("Ratio to the baseline", notes(&all), panels.collect(), table(&all));
    Some(Figure { key: key.collect(), ..figure })
}

/// Why a ratio is not what the values beside it give.
pub const PAIRED: &str = "Ratios are means over pairs of trials that ran side by side, so they can differ from the quotient of the \
                          values above.";

/// What is drawn, and why, as far as it is.
fn notes(all: &[&Comparison]) -> Vec<String> {
    let drawn = all.iter().filter(|one| one.ratio.value.is_finite());
    let (lines, bare): (Vec<&Comparison>, Vec<&Comparison>) =
        drawn.copied().partition(|one| whisker(&one.ratio).0.is_finite());
    let line = (!lines.is_empty()).then_some("Each line is the interval of the ratio of a system to its baseline.");
    let few = bare.iter().any(|one| !one.ratio.has_interval());
    let without = match few {
        true => "A point without a line is a ratio without an interval: too few pairs were measured.",
        false => {
            "A point without a line has an interval that is too wide to draw, with ends a hundred times apart; its verdict holds by it all the same."
        }
    };
    let band = "A ratio of 1 is no difference, and the shaded band is the margin within which two count as equivalent.";
    let adjusted = all
        .iter()
        .any(|one| one.adjusted)
        .then_some("Exploratory comparisons are adjusted for their number, which makes their intervals wider.");
    let clear = |one: &&&Comparison| {
        one.verdict == analysis::Verdict::Inconclusive
            && one.ratio.has_interval()
            && (one.ratio.low > 1.0 || one.ratio.high < 1.0)
    };
    let unclear = all.iter().find(clear).and_then(|one| Some((one, one.because.as_ref()?)));
    let unclear = unclear.map(|(one, why)| {
        format!(
            "A line that is clear of 1 beside “inconclusive” has its reason in the table: {} of {}: {why}.",
            one.said, one.point.stream
        )
    });
    let told = [line, (!bare.is_empty()).then_some(without), Some(band), adjusted, unclear.as_deref()];
    let paired = all.iter().any(|one| one.ratio.n > 1).then(|| PAIRED.to_owned());
    let told = told.into_iter().flatten().collect::<Vec<_>>().join(" ");
    iter::once(told).chain(paired).collect()
}

/// Whether comparisons are primary, and their slot: exploratory marks have another colour and another marker.
const STANDINGS: [(bool, usize, &str); 2] = [(true, 0, "primary"), (false, 1, "exploratory")];

fn look(slot: usize) -> Look {
    Look { slot, provenance: Provenance::Measured }
}

fn panel(metric: &str, comparisons: &[&Comparison]) -> Panel {
    let direction = match comparisons.first().map(|comparison| comparison.direction) {
        Some(Direction::LowerIsBetter) => "lower is better",
        _ => "higher is better",
    };
    let margin = comparisons.first().map_or(0.0, |comparison| comparison.margin);
    let points = |primary: bool| -> Vec<Datum> {
        let rows = comparisons.iter().enumerate().filter(|(_, comparison)| comparison.primary == primary);
        rows.filter(|(_, comparison)| comparison.ratio.value.is_finite())
            .map(|(row, comparison)| mark(row, comparison))
            .collect()
    };
    let series = STANDINGS.map(|(primary, slot, name)| Series {
        name: name.to_owned(),
        look: look(slot),
        form: Form::Marks,
        points: points(primary),
    });
    let series = series.into_iter().filter(|series| !series.points.is_empty()).collect();
    let title = format!("{metric}, ratio to the baseline ({direction})");
    let x = Axis::new("times the baseline", Quantity::Ratio, Spacing::Linear);
    let y = Axis::new("", Quantity::Plain, Spacing::Names(names(comparisons)));
    let within = format!("within {}", units::percent(margin));
    let guides = vec![
        Guide::Stretch { from: 1.0 / (1.0 + margin), to: 1.0 + margin, text: within },
        Guide::Event { x: 1.0, text: "no difference".into() },
    ];
    Panel { guides, ..Panel::new(title, Span::Full, x, y, series) }
}

fn mark(row: usize, comparison: &Comparison) -> Datum {
    let ratio = &comparison.ratio;
    let (low, high) = whisker(ratio);
    Datum {
        x: ratio.value,
        y: row as f64,
        low,
        high,
        readout: format!(
            "{}: {} {}{}, {}",
            comparison.said,
            place(comparison),
            Quantity::Ratio.text(ratio.value),
            Quantity::Ratio.ends(ratio).map_or_else(String::new, |ends| format!(" ({ends})")),
            comparison.verdict.word()
        ),
        marks: String::new(),
        word: comparison.verdict.word().to_owned(),
    }
}

/// The names of rows; of several experiments at the same place each names its own.
fn names(comparisons: &[&Comparison]) -> Vec<String> {
    let all: Vec<String> = comparisons.iter().map(|one| place(one)).collect();
    let named = |(name, one): (&String, &&Comparison)| match all.iter().filter(|other| *other == name).count() {
        1 => name.clone(),
        _ => format!("{name} ({})", one.point.experiment),
    };
    all.iter().zip(comparisons).map(named).collect()
}

/// `virtual: files, width 96`.
fn place(comparison: &Comparison) -> String {
    let point = &comparison.point;
    let levels = point.factors.iter().map(Factor::in_words);
    iter::once(format!("{}: {}", point.system, point.stream)).chain(levels).collect::<Vec<_>>().join(", ")
}

fn table(comparisons: &[&Comparison]) -> Table {
    Table::new("Every comparison", comparisons.iter().map(|comparison| row(comparison))).without_empty_columns()
}

fn row(comparison: &Comparison) -> Vec<Field> {
    let point = &comparison.point;
    let standing = match (comparison.primary, comparison.adjusted) {
        (true, _) => "primary",
        (false, true) => "exploratory, adjusted",
        (false, false) => "exploratory",
    };
    let because = comparison.because.iter().map(|because| format!(": {because}"));
    let verdict = format!("{}{}", comparison.verdict.word(), because.collect::<String>());
    vec![
        word("system", "system", &point.system),
        word("baseline", "baseline", &comparison.baseline),
        word("experiment", "experiment", &point.experiment).minor(),
        word("workload", "stream", &point.stream),
        word("at", "factors", factors_text(&point.factors)),
        word("metric", "metric", &comparison.said),
        estimate("ratio", "ratio", &comparison.ratio, Quantity::Ratio),
        number("pairs", "n", f64::from(comparison.ratio.n), Quantity::Count),
        word("verdict", "verdict", verdict).wrapping(),
        word("standing", "standing", standing),
        number("margin", "margin", comparison.margin, Quantity::Share),
        optional("detectable", "detectable", comparison.detectable.filter(|share| *share < 10.0), Quantity::Share)
            .minor(),
        word("interleaved", "interleaved", if comparison.interleaved { "yes" } else { "no" }).minor(),
        number("p, unadjusted", "p_value", comparison.p_value, Quantity::Plain).minor(),
        word("why", "reason", comparison.reason.as_deref().unwrap_or_default()).minor(),
    ]
}
