//! The sweet-spot curve: the share of the wait for storage that is saved, against the bytes on the fast tier.
//!
//! The one idea: it is read as a budget is spent: along the bytes, up to the knee or to what there is, beside the straight line that
//! objects in no order would follow.

use super::figure::{Axis, Datum, Figure, Form, Guide, Look, Panel, Series, Spacing, Span};
use super::quantity::Quantity;
use super::table::{Field, Table, estimate, number, word};
use analysis::Estimate;
use observation::Provenance;

/// One object, behind all those that are above it in the order.
#[derive(Clone, Debug, PartialEq)]
pub struct SweetPoint {
    /// Its name.
    pub name: String,
    /// What it is.
    pub kind: String,
    /// Its own bytes.
    pub own_bytes: f64,
    /// Bytes with all those above.
    pub bytes: f64,
    /// Share of the wait that is saved with all those above.
    pub saved: Estimate,
}

/// Another use of the bytes: its name, and the share of the wait that so many of them save.
pub type SweetRival = (String, Vec<(f64, f64)>);

/// The curve.
#[derive(Clone, Debug, PartialEq)]
pub struct SweetSpot {
    /// The objects in their order.
    pub points: Vec<SweetPoint>,
    /// Which of them is the knee.
    pub knee: Option<usize>,
    /// Bytes that may be used, where that was said.
    pub budget: Option<f64>,
    /// What else the same bytes could be spent on.
    pub rivals: Vec<SweetRival>,
    /// What the intervals are.
    pub interval: String,
}

/// Beyond so many objects the marks would hide the line.
const MARKED: usize = 40;

/// The figure with its table.
pub fn figure(curve: &SweetSpot) -> Figure {
    let look = Look { slot: 0, provenance: Provenance::Measured };
    let point = |point: &SweetPoint| {
        let saved = format!("{} saved", Quantity::Share.text(point.saved.value));
        let readout = format!("{}: {saved} with {}", point.name, Quantity::Bytes.text(point.bytes));
        let Estimate { value, low, high, .. } = point.saved;
        Datum { low, high, ..Datum::bare(point.bytes, value, readout) }
    };
    let points: Vec<Datum> = [Datum::bare(0.0, 0.0, "nothing on the fast tier".to_owned())]
        .into_iter()
        .chain(curve.points.iter().map(point))
        .collect();
    let form = if points.len() > MARKED { Form::Dense } else { Form::Line };
    let series = Series { name: "by gain for each byte".to_owned(), look, form, points };
    let x = Axis::new("on the fast tier", Quantity::Bytes, Spacing::FromZero);
    let y = Axis::new("wait for storage that is saved", Quantity::Share, Spacing::FromZero);
    let rival = |(at, (name, points)): (usize, &SweetRival)| {
        let datum = |(bytes, saved): &(f64, f64)| {
            let saved_text = Quantity::Share.text(*saved);
            Datum::bare(*bytes, *saved, format!("{} {name}: {saved_text} saved", Quantity::Bytes.text(*bytes)))
        };
        let look = Look { slot: at + 1, provenance: Provenance::Simulated };
        Series { name: name.clone(), look, form: Form::Line, points: points.iter().map(datum).collect() }
    };
    let drawn = std::iter::once(series).chain(curve.rivals.iter().enumerate().map(rival)).collect();
    let panel = Panel::new("The sweet spot", Span::Full, x, y, drawn);
    let note = format!(
        "Each point is one more object on the fast tier, in the order of gain for each byte; {}. The broken grey line is what \
         objects in no order would save.",
        curve.interval
    );
    let panel = Panel { guides: guides(curve, look), ..panel };
    let figure = Figure::new("What the fast tier saves", vec![note], vec![panel], table(curve));
    if curve.rivals.is_empty() { figure } else { figure.keyed() }
}

fn guides(curve: &SweetSpot, look: Look) -> Vec<Guide> {
    let upright = |x: f64, text: String| Guide::Upright { x, low: f64::NAN, high: f64::NAN, text, look };
    let last = curve.points.last();
    let random = last.map(|last| Guide::Curve {
        look: None,
        points: vec![(0.0, 0.0), (last.bytes, last.saved.value)],
        text: "in no order".to_owned(),
    });
    let knee = curve.knee.and_then(|at| curve.points.get(at));
    let knee = knee.map(|point| upright(point.bytes, format!("knee: {}", Quantity::Bytes.text(point.bytes))));
    // A budget beyond everything says nothing, and would flatten the curve.
    let budget = curve.budget.filter(|budget| last.is_some_and(|last| *budget <= last.bytes));
    let budget = budget.map(|bytes| upright(bytes, format!("budget: {}", Quantity::Bytes.text(bytes))));
    random.into_iter().chain(knee).chain(budget).collect()
}

fn table(curve: &SweetSpot) -> Table {
    let row = |point: &SweetPoint| -> Vec<Field> {
        vec![
            word("object", "object", &point.name),
            word("kind", "kind", &point.kind),
            number("size", "bytes", point.own_bytes, Quantity::Bytes),
            number("all so far", "all_bytes", point.bytes, Quantity::Bytes),
            estimate("saved so far", "saved", &point.saved, Quantity::Share).leading(),
        ]
    };
    Table::new("Objects by gain for each byte", curve.points.iter().map(row))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knee_budget_and_the_line_of_no_order_are_drawn_with_their_words() {
        let point = |name: &str, own_bytes: f64, bytes: f64, saved: f64| SweetPoint {
            name: name.to_owned(),
            kind: "table".to_owned(),
            own_bytes,
            bytes,
            saved: Estimate { low: saved - 0.1, high: saved + 0.1, ..Estimate::single(saved) },
        };
        let points = vec![point("hot", 1_048_576.0, 1_048_576.0, 0.7), point("cold", 3_145_728.0, 4_194_304.0, 0.9)];
        let curve = SweetSpot {
            points,
            knee: Some(0),
            budget: Some(2e6),
            rivals: Vec::new(),
            interval: "no interval".to_owned(),
        };
        let drawn = figure(&curve);
        let texts: Vec<&str> = drawn.panels[0]
            .guides
            .iter()
            .map(|guide| match guide {
                Guide::Curve { text, .. } | Guide::Upright { text, .. } => text.as_str(),
                _ => "",
            })
            .collect();
        assert_eq!(texts, ["in no order", "knee: 1 MiB", "budget: 1.91 MiB"]);
        assert_eq!((drawn.panels[0].series[0].points.len(), drawn.table.rows.len()), (3, 2));
        assert_eq!(guides(&SweetSpot { budget: Some(1e12), ..curve }, drawn.panels[0].series[0].look).len(), 2);
    }
}
