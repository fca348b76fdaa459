//! Figures as values: panels with axes, series of points with their intervals, and guides that explain them.
//!
//! A figure says what is drawn, in data units. Where it lands on the page, and in which colour, is the chart's affair.

use super::quantity::Quantity;
use super::table::Table;
use observation::Provenance;

/// One figure: panels that belong together, and the table of what they show.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    pub title: String,
    /// How to read it, and what it leaves out.
    pub notes: Vec<String>,
    /// What each look means; empty when there is one series.
    pub key: Vec<Key>,
    pub panels: Vec<Panel>,
    /// The same in numbers.
    pub table: Table,
    /// Whether the page keeps it closed until it is asked for.
    pub folded: bool,
}

/// One entry of the key.
#[derive(Clone, Debug, PartialEq)]
pub struct Key {
    pub name: String,
    pub look: Look,
    pub form: Form,
}

/// What tells one series from another: a slot (colour and marker), and where its numbers come from (dash and filling).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Look {
    /// Index of colour and marker.
    pub slot: usize,
    /// Measured, simulated, imported and published are never drawn alike.
    pub provenance: Provenance,
}

/// One coordinate system.
#[derive(Clone, Debug, PartialEq)]
pub struct Panel {
    /// What is drawn, with its unit left to the axis.
    pub title: String,
    /// Axis to the right.
    pub x: Axis,
    /// Axis upwards; with names it runs down, and the values go along x.
    pub y: Axis,
    pub series: Vec<Series>,
    pub guides: Vec<Guide>,
    pub span: Span,
    /// Letters of the caveats that touch every point in it; they are said once.
    pub marks: String,
}

units::words! {
    /// How much of the width of the page a panel takes.
    pub enum Span {
        Full = "full" "All of it.",
        Half = "half" "Two side by side.",
        Third = "third" "Three side by side.",
    }
}

/// One axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// What runs along it.
    pub title: String,
    /// What its numbers measure.
    pub quantity: Quantity,
    pub spacing: Spacing,
    /// Levels at which to label it, with their texts; none lets the chart choose.
    pub ticks: Vec<(f64, String)>,
    /// The least range that is shown, so that panels side by side can be compared.
    pub range: Option<(f64, f64)>,
}

/// How numbers are spaced along an axis.
#[derive(Clone, Debug, PartialEq)]
pub enum Spacing {
    /// Evenly, from zero: lengths can be compared.
    FromZero,
    /// Evenly, from the least to the greatest.
    Linear,
    /// By ratio.
    Log,
    /// Quantiles by nines: 90%, 99%, 99.9% are equally far apart.
    Nines,
    /// One row a name.
    Names(Vec<String>),
}

/// What is drawn with one look.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    pub name: String,
    /// Colour, marker, dash.
    pub look: Look,
    pub form: Form,
    /// Points, in drawing order.
    pub points: Vec<Datum>,
}

/// How a series is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Markers with intervals, joined.
    Line,
    /// A thin line without markers: a second quantile beside the first.
    Thin,
    /// A line with a band from least to greatest: many points.
    Dense,
    /// A line through many points, a marker now and then to tell it by.
    Curve,
    /// Markers with intervals, not joined.
    Marks,
    /// Bars from zero, with intervals.
    Bars,
    /// Level stretches: each point reaches to the next, the last to the end given as another point.
    Steps,
}

/// One point.
#[derive(Clone, Debug, PartialEq)]
pub struct Datum {
    pub x: f64,
    pub y: f64,
    /// Lower end of the interval of the value; not a number when there is none.
    pub low: f64,
    /// Upper end; infinite where the value is only known to be at least so much.
    pub high: f64,
    /// What a reader sees who points at it.
    pub readout: String,
    /// Letters of the caveats that touch it.
    pub marks: String,
    /// A word beside it, such as a verdict; most have none.
    pub word: String,
}

/// What explains a panel, with its words.
#[derive(Clone, Debug, PartialEq)]
pub enum Guide {
    /// A value of x with its interval, the ends of which are not numbers when there is none: a knee. The value is not a number where only its
    /// ends are known; then there is a line at each of them, and none between.
    Upright { x: f64, low: f64, high: f64, text: String, look: Look },
    /// A value of y.
    Level { y: f64, text: String },
    /// A stretch of x: the warm-up, or a margin where values go along x.
    Stretch { from: f64, to: f64, text: String },
    /// A curve that was not measured: a fit, a proportion. Without a look it is nobody's.
    Curve { look: Option<Look>, points: Vec<(f64, f64)>, text: String },
    /// A moment at which something happened.
    Event { x: f64, text: String },
}

impl Axis {
    /// An axis without fixed ticks or range.
    pub fn new(title: impl Into<String>, quantity: Quantity, spacing: Spacing) -> Axis {
        Axis { title: title.into(), quantity, spacing, ticks: Vec::new(), range: None }
    }
}

impl Datum {
    /// A point without an interval.
    pub fn bare(x: f64, y: f64, readout: String) -> Datum {
        Datum { x, y, low: f64::NAN, high: f64::NAN, readout, marks: String::new(), word: String::new() }
    }
}

impl Figure {
    /// An open figure without a key; without panels it is its table alone.
    pub fn new(title: impl Into<String>, notes: Vec<String>, panels: Vec<Panel>, table: Table) -> Figure {
        Figure { title: title.into(), notes, key: Vec::new(), panels, table, folded: false }
    }
}

impl Figure {
    /// The same with a key to the series of its first panel.
    pub fn keyed(mut self) -> Figure {
        let series = self.panels.first().map(|panel| panel.series.as_slice()).unwrap_or_default();
        self.key = series
            .iter()
            .map(|Series { name, look, form, .. }| Key { name: name.clone(), look: *look, form: *form })
            .collect();
        self
    }
}

impl Panel {
    /// A panel without guides.
    pub fn new(title: impl Into<String>, span: Span, x: Axis, y: Axis, series: Vec<Series>) -> Panel {
        Panel { title: title.into(), x, y, series, guides: Vec::new(), span, marks: String::new() }
    }

    /// Whether names run down the left side and values along x.
    pub fn is_rows(&self) -> bool {
        matches!(self.y.spacing, Spacing::Names(_))
    }

    /// Says once what touches every point: letters at every mark would hide the marks.
    pub fn gathered(mut self) -> Panel {
        let lettered =
            |series: &Series| series.form != Form::Thin && series.points.iter().any(|point| !point.marks.is_empty());
        let points = self.series.iter().filter(|series| lettered(series)).flat_map(|series| &series.points);
        let points: Vec<&Datum> = points.filter(|point| point.y.is_finite()).collect();
        self.marks = super::table::common(points.iter().map(|point| point.marks.as_str()));
        for point in self.series.iter_mut().flat_map(|series| &mut series.points) {
            point.marks.retain(|mark| !self.marks.contains(mark));
        }
        self
    }

    /// A panel that would show nothing is not drawn.
    pub fn is_empty(&self) -> bool {
        self.series.iter().flat_map(|series| &series.points).all(|point| !point.y.is_finite())
    }
}
