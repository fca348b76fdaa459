//! A model beside the rows that it answers: what it predicts as lines, what was published or measured as marks.
//!
//! The one idea: where a number comes from is drawn, and said: a prediction is dashed and simulated, a row is filled when it was
//! measured and hollow when it was published, and rows that the model was fitted on are called that.

use super::figure::{Axis, Datum, Figure, Form, Look, Panel, Series, Spacing, Span};
use super::quantity::Quantity;
use super::table::{Field, Table, estimate, number, optional, word};
use analysis::Estimate;
use observation::Provenance;

/// One column of rows beside a model.
#[derive(Clone, Debug, PartialEq)]
pub struct JudgedColumn {
    /// The column, with its unit in its name.
    pub metric: String,
    /// The column of the size.
    pub size: String,
    /// Curves, in the order of the rows.
    pub curves: Vec<JudgedCurve>,
}

/// Rows that differ in nothing but their size.
#[derive(Clone, Debug, PartialEq)]
pub struct JudgedCurve {
    /// What they ask by.
    pub name: String,
    /// The rows.
    pub points: Vec<JudgedPoint>,
}

/// One value of one row.
#[derive(Clone, Debug, PartialEq)]
pub struct JudgedPoint {
    /// The row.
    pub row: String,
    /// Its size.
    pub size: f64,
    /// What it says; none when it only asks.
    pub value: Option<f64>,
    /// Where that comes from.
    pub provenance: Provenance,
    /// Whether the model was fitted on it.
    pub fitted: bool,
    /// What the model says.
    pub predicted: Estimate,
    /// By how much the prediction is off, percent.
    pub error_pct: Option<f64>,
}

/// From here on an axis is drawn by ratio.
const WIDE: f64 = 12.0;

/// The figure of a column.
pub fn figure(column: &JudgedColumn) -> Figure {
    let series: Vec<Series> = column
        .curves
        .iter()
        .enumerate()
        .flat_map(|(slot, curve)| drawn((slot, slot + column.curves.len()), curve))
        .collect();
    let all = || column.curves.iter().flat_map(|curve| &curve.points);
    let sizes = spacing(all().map(|point| point.size), Spacing::Linear);
    let values = all().flat_map(|point| [point.predicted.value, point.value.unwrap_or(point.predicted.value)]);
    let x = Axis::new(column.size.clone(), Quantity::Plain, sizes);
    let y = Axis::new(column.metric.clone(), Quantity::Plain, spacing(values, Spacing::FromZero));
    let panel = Panel::new(&column.metric, Span::Full, x, y, series.clone());
    let note = "Lines are what the model predicts, with intervals of 95 percent; they join the rows and say nothing between \
                them. Marks are rows. A row that the model was fitted on proves nothing.";
    let title = format!("{} by {}", column.metric, column.size);
    Figure::new(title, vec![note.to_owned()], vec![panel], table(column)).keyed()
}

fn spacing(values: impl Iterator<Item = f64>, narrow: Spacing) -> Spacing {
    let (low, high) = values.fold((f64::INFINITY, 0.0f64), |(low, high), value| (low.min(value), high.max(value)));
    if low > 0.0 && high / low > WIDE { Spacing::Log } else { narrow }
}

/// The prediction, then the rows by where they come from and whether the model knew them.
/// They have markers of their own, because the one often lies on the other.
fn drawn((slot, own): (usize, usize), curve: &JudgedCurve) -> Vec<Series> {
    let mut points: Vec<&JudgedPoint> = curve.points.iter().collect();
    points.sort_by(|a, b| a.size.total_cmp(&b.size));
    let named = |what: &str| if curve.name.is_empty() { what.to_owned() } else { format!("{}: {what}", curve.name) };
    let predicted = points.iter().map(|point| {
        let Estimate { value, low, high, .. } = point.predicted;
        Datum { low, high, ..Datum::bare(point.size, value, format!("{}: predicted {}", point.row, said(value))) }
    });
    let model = Look { slot, provenance: Provenance::Simulated };
    let mut series = vec![Series { name: named("model"), look: model, form: Form::Line, points: predicted.collect() }];
    for provenance in [Provenance::Measured, Provenance::Published, Provenance::Simulated] {
        for fitted in [false, true] {
            let of = |point: &&&JudgedPoint| point.provenance == provenance && point.fitted == fitted;
            let marks: Vec<Datum> = points.iter().filter(of).filter_map(|point| mark(point)).collect();
            if !marks.is_empty() {
                let name = format!("{}{}", provenance.word(), if fitted { ", fitted on" } else { "" });
                let look = Look { slot: own, provenance };
                series.push(Series { name: named(&name), look, form: Form::Marks, points: marks });
            }
        }
    }
    series
}

fn mark(point: &JudgedPoint) -> Option<Datum> {
    let value = point.value?;
    let off = point.error_pct.map_or_else(String::new, |error| format!(", the model {error:+.1}%"));
    let readout = format!("{}: {} {}{off}", point.row, point.provenance.word(), said(value));
    let word = if point.fitted { "fitted".to_owned() } else { String::new() };
    Some(Datum { word, ..Datum::bare(point.size, value, readout) })
}

fn said(value: f64) -> String {
    Quantity::Plain.text(value)
}

fn table(column: &JudgedColumn) -> Table {
    let points = column.curves.iter().flat_map(|curve| &curve.points);
    let mut table = Table::new(column.metric.clone(), points.map(|point| row(column, point)));
    let mut before = 0;
    for curve in &column.curves {
        if !curve.name.is_empty() {
            table.groups.push((before, curve.name.clone()));
        }
        before += curve.points.len();
    }
    table.without_empty_columns()
}

fn row(column: &JudgedColumn, point: &JudgedPoint) -> Vec<Field> {
    let fitted = if point.fitted { ", fitted on" } else { "" };
    vec![
        word("row", "row_id", &point.row),
        number(&column.size, "size", point.size, Quantity::Plain),
        word("source", "source", format!("{}{fitted}", point.provenance.word())),
        optional("value", "value", point.value, Quantity::Plain),
        estimate("predicted", "predicted", &point.predicted, Quantity::Plain).leading(),
        word("error, %", "error_pct", point.error_pct.map_or_else(String::new, |error| format!("{error:+.2}")))
            .numeric(true),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(size: f64, provenance: Provenance, fitted: bool) -> JudgedPoint {
        let row = format!("row {size}");
        let (value, error_pct) = (Some(10.0 * size), Some(1.0));
        let middle = 10.1 * size;
        let predicted = Estimate { low: middle, high: middle, ..Estimate::single(middle) };
        JudgedPoint { row, size, value, provenance, fitted, predicted, error_pct }
    }

    #[test]
    fn where_a_point_comes_from_is_in_its_look_and_in_the_words_of_the_key() {
        let points = vec![
            point(1.0, Provenance::Published, true),
            point(2.0, Provenance::Published, false),
            point(4.0, Provenance::Measured, false),
        ];
        let curves = vec![JudgedCurve { name: "reads".to_owned(), points }];
        let figure = figure(&JudgedColumn { metric: "rate".to_owned(), size: "modules".to_owned(), curves });
        let names: Vec<(&str, Provenance)> =
            figure.key.iter().map(|key| (key.name.as_str(), key.look.provenance)).collect();
        assert_eq!(
            names,
            [
                ("reads: model", Provenance::Simulated),
                ("reads: measured", Provenance::Measured),
                ("reads: published", Provenance::Published),
                ("reads: published, fitted on", Provenance::Published),
            ]
        );
        assert_eq!(figure.table.rows.len(), 3);
    }
}
