//! What objects gave on the fast tier, beside what was promised: how the gain grows with the bytes.
//!
//! The one idea: both curves stand over the same bytes, and the straight line beside them is what objects in no order would give.

use super::figure::{Axis, Datum, Figure, Form, Guide, Look, Panel, Series, Spacing, Span};
use super::quantity::Quantity;
use super::table::{Field, Table, estimate, number, word};
use analysis::{Estimate, Findings, TierFinding, TierStep, Work};
use observation::Provenance;

/// The figures of an experiment, each with its table of steps.
pub(super) fn figures(findings: &Findings, experiment: &str) -> Vec<Figure> {
    let found = findings.findings.iter().filter_map(TierFinding::of).filter(|one| one.point.experiment == experiment);
    found.map(figure).collect()
}

/// The steps, for whoever reads a terminal.
pub(super) fn tables(findings: &Findings) -> impl Iterator<Item = Table> {
    findings.findings.iter().filter_map(TierFinding::of).map(table)
}

fn table(found: &TierFinding) -> Table {
    let rows = found.steps.iter().enumerate().map(|(at, step)| row(found, at, step));
    Table::new("Steps to the fast tier", rows).without_empty_columns()
}

fn figure(found: &TierFinding) -> Figure {
    let share = |value: f64| Quantity::Share.text(value);
    let datum = |step: &TierStep, of: Estimate, verb: &str| Datum {
        low: of.low,
        high: of.high,
        ..Datum::bare(
            step.of_bytes,
            of.value,
            format!("{} of the bytes: {} {verb}", share(step.of_bytes), share(of.value)),
        )
    };
    let nothing = || Datum::bare(0.0, 0.0, "nothing on the fast tier".to_owned());
    let series = |name: &str, slot, provenance, points: Vec<Datum>| Series {
        name: name.to_owned(),
        look: Look { slot, provenance },
        form: Form::Line,
        points: std::iter::once(nothing()).chain(points).collect(),
    };
    let promised = found.steps.iter().map(|step| datum(step, step.promised, "promised")).collect();
    let delivered = found.steps.iter().filter_map(|step| Some(datum(step, step.delivered?, "delivered"))).collect();
    let drawn = vec![
        series("promised", 0, Provenance::Simulated, promised),
        series("delivered", 1, Provenance::Measured, delivered),
    ];
    let x = Axis::new("bytes on the fast tier", Quantity::Share, Spacing::FromZero);
    let y = Axis::new("share of the all-fast gain", Quantity::Share, Spacing::FromZero);
    let guide = Guide::Curve { look: None, points: vec![(0.0, 0.0), (1.0, 1.0)], text: "in no order".to_owned() };
    let panel = Panel { guides: vec![guide], ..Panel::new("Promised and delivered", Span::Full, x, y, drawn) };
    let note = "The gain is time: what each takes less than with everything on the slow tier. All of it is that of every table and index \
                on the fast tier; the log stays where it is. The broken grey line is what objects in no order would give.";
    Figure::new(
        "What the fast tier gives, step by step",
        vec![found.says(), note.to_owned()],
        vec![panel],
        table(found),
    )
    .keyed()
}

fn row(found: &TierFinding, at: usize, step: &TierStep) -> Vec<Field> {
    let object = |(name, bytes): &(String, f64)| format!("{name} ({})", Quantity::Bytes.text(*bytes));
    let (quantity, scale) = match Work::of_word(&found.what) {
        Some(_) => (Quantity::Rate, 1.0),
        None => (Quantity::PerHour, 3_600.0),
    };
    vec![
        number("step", "step", (at + 1) as f64, Quantity::Count),
        word("adds", "objects", step.objects.iter().map(object).collect::<Vec<_>>().join(", ")),
        number("all so far", "all_bytes", step.bytes, Quantity::Bytes),
        number("of the bytes", "of_bytes", step.of_bytes, Quantity::Share),
        estimate("promised", "promised", &step.promised, Quantity::Share),
        estimate("delivered", "delivered", step.delivered.as_ref(), Quantity::Share).leading(),
        estimate(&found.what, "per_s", &step.per_s.scaled(scale), quantity),
    ]
}
