//! What objects gave on the fast tier, beside what was promised: how the gain grows with the bytes.
//!
//! The one idea: both curves stand over the same bytes, and the straight line beside them is what objects in no order would give.

use super::axes::whisker;
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
    let datum = |step: &TierStep, of: Estimate, verb: &str| {
        let readout = format!("{} of the bytes: {} {verb}", share(step.of_bytes), share(of.value));
        let (low, high) = whisker(&of);
        Datum { low, high, ..Datum::bare(step.of_bytes, of.value, readout) }
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
    let note = "The gain is time: what each takes less than with everything on the slow tier. 100% is what every table and index on the fast tier gives; \
                the log stays where it was. The broken grey line is what objects in no order would give.";
    Figure::new("What the fast tier gives, step by step", vec![note.to_owned()], vec![panel], table(found)).keyed()
}

/// So many objects of a step are named, and one more where that is the last.
const NAMED: usize = 3;

/// The largest objects of a step, and what the others are together; JSON has all.
pub fn added(objects: &[(String, f64)]) -> String {
    let mut objects: Vec<&(String, f64)> = objects.iter().collect();
    objects.sort_by(|one, other| other.1.total_cmp(&one.1));
    let others = objects.split_off(if objects.len() > NAMED + 1 { NAMED } else { objects.len() });
    let named: Vec<String> =
        objects.iter().map(|(name, bytes)| format!("{name} ({})", Quantity::Bytes.text(*bytes))).collect();
    let bytes = others.iter().map(|(_, bytes)| bytes).sum();
    let others = match others.len() {
        0 => String::new(),
        count => format!(" and {count} more ({})", Quantity::Bytes.text(bytes)),
    };
    named.join(", ") + &others
}

fn row(found: &TierFinding, at: usize, step: &TierStep) -> Vec<Field> {
    let (quantity, scale) = match Work::of_word(&found.what) {
        Some(_) => (Quantity::Rate, 1.0),
        None => (Quantity::PerHour, 3_600.0),
    };
    vec![
        number("step", "step", (at + 1) as f64, Quantity::Count),
        word("adds", "objects", added(&step.objects)),
        number("all so far", "all_bytes", step.bytes, Quantity::Bytes),
        number("of the bytes", "of_bytes", step.of_bytes, Quantity::Share),
        estimate("promised", "promised", &step.promised, Quantity::Share),
        estimate("delivered", "delivered", step.delivered.as_ref(), Quantity::Share).leading(),
        estimate(&found.what, "per_s", &step.per_s.scaled(scale), quantity),
    ]
}

#[cfg(test)]
mod tests {
    use super::added;

    #[test]
    fn the_largest_objects_of_a_step_are_named_and_the_others_are_counted() {
        let all = |sizes: &[f64]| {
            sizes.iter().zip('a'..).map(|(mib, name)| (name.to_string(), mib * 1_048_576.0)).collect::<Vec<_>>()
        };
        assert_eq!(added(&all(&[1.0])), "a (1 MiB)");
        assert_eq!(added(&all(&[1.0, 2.0, 3.0, 4.0])), "d (4 MiB), c (3 MiB), b (2 MiB), a (1 MiB)");
        assert_eq!(added(&all(&[1.0, 2.0, 9.0, 4.0, 5.0])), "c (9 MiB), e (5 MiB), d (4 MiB) and 2 more (3 MiB)");
    }
}
