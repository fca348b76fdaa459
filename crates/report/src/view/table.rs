//! Tables as values: columns with their units, cells with their caveats. Text, HTML and CSV print the same table.

use super::quantity::{Quantity, between, number_of};
use analysis::{Estimate, StreamSummary};
use std::collections::BTreeSet;

/// A number of more than this widens its column, and is told in a greater unit.
const LARGE: f64 = 10_000.0;

/// A table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// What the rows are.
    pub caption: String,
    pub columns: Vec<Column>,
    /// Rows; each has one cell a column.
    pub rows: Vec<Vec<Cell>>,
    /// Headings, each with the row that it stands before; none when rows need no grouping.
    pub groups: Vec<(usize, String)>,
    /// Indices of the trials behind its numbers: whose caveats are told under it.
    pub trials: BTreeSet<u32>,
    /// The same by row; empty where rows are of no trials of their own.
    pub row_trials: Vec<BTreeSet<u32>>,
}

/// One column.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// For people.
    pub title: String,
    /// For programs: lower case, the unit last (`throughput_per_s`).
    pub key: String,
    /// Numbers stand to the right, words to the left.
    pub numeric: bool,
    /// Left out first where there is little room.
    pub minor: bool,
    /// Keeps its interval longest where there is little room.
    pub leading: bool,
    /// Words go on in the next line rather than being cut.
    pub wraps: bool,
    /// Letters of the caveats that touch every number in it; they are said once.
    pub marks: String,
}

/// One cell.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    pub value: Held,
    /// Letters of the caveats that touch it.
    pub marks: String,
    /// The same in fewer words, for when there is little room.
    pub short: Option<String>,
    /// A figure in whose unit its numbers are told; none where each has its own.
    pub unit: Option<String>,
}

/// The content of a cell.
#[derive(Clone, Debug, PartialEq)]
pub enum Held {
    Word(String),
    /// A number that is known, not estimated.
    Number(f64, Quantity),
    /// A number of which few samples tell, and no interval how few.
    Rough(f64, Quantity),
    /// A number with its interval.
    Estimate(Estimate, Quantity),
    /// Not observed, or does not apply.
    Nothing,
}

impl Table {
    /// A table of these rows, which all have the same columns.
    pub fn new(caption: impl Into<String>, rows: impl IntoIterator<Item = Vec<Field>>) -> Table {
        let mut table = Table { caption: caption.into(), ..Table::default() };
        for row in rows {
            let (columns, cells) = row.into_iter().map(|field| (field.column, field.cell)).unzip();
            table.columns = columns;
            table.rows.push(cells);
        }
        table.with_signs_told()
    }

    /// Says in its caption what a sign before its numbers means.
    fn with_signs_told(mut self) -> Table {
        if self.rows.iter().flatten().any(|cell| matches!(cell.value, Held::Rough(..))) {
            self.caption.push_str("; ~: few or bunched samples, no interval");
        }
        self
    }

    /// Takes out the columns in which no row holds anything.
    pub fn without_empty_columns(mut self) -> Table {
        let used: Vec<bool> = (0..self.columns.len())
            .map(|at| self.rows.iter().any(|row| row.get(at).is_some_and(|cell| cell.value != Held::Nothing)))
            .collect();
        let mut keep = used.iter();
        self.columns.retain(|_| *keep.next().unwrap_or(&true));
        for row in &mut self.rows {
            let mut keep = used.iter();
            row.retain(|_| *keep.next().unwrap_or(&true));
        }
        self
    }

    /// Those of the notes whose columns it has; each note stands behind a part of a title.
    pub fn notes_of(&self, notes: &[(&str, &str)]) -> Vec<String> {
        let shown = |part: &str| self.columns.iter().any(|column| column.title.contains(part));
        notes.iter().filter(|(part, _)| shown(part)).map(|(_, note)| (*note).to_owned()).collect()
    }

    /// Whether a number in it is only known to be at least so much.
    pub fn bounded(&self) -> bool {
        self.rows.iter().flatten().any(|cell| matches!(&cell.value, Held::Estimate(one, _) if one.lower_bound()))
    }

    /// Tells the numbers of each column in one unit, that of the greatest, or else of the least, where that leaves digits to read.
    pub fn in_one_unit(mut self) -> Table {
        for at in 0..self.columns.len() {
            let figures: Vec<(f64, String)> = self.rows.iter().filter_map(|row| row[at].figure()).collect();
            let unit = one_unit(&figures);
            self.rows.iter_mut().for_each(|row| row[at].unit = unit.clone());
        }
        self
    }

    /// Says once, beside the title of its column, what touches every number of a column, and its unit alike.
    pub fn gathered(self) -> Table {
        let mut table = self.in_one_unit();
        table.gather();
        table
    }

    fn gather(&mut self) {
        for (at, column) in self.columns.iter_mut().enumerate() {
            let held = self.rows.iter().map(|row| &row[at]).filter(|cell| cell.value != Held::Nothing);
            column.marks = common(held.map(|cell| cell.marks.as_str()));
            for row in &mut self.rows {
                row[at].marks.retain(|mark| !column.marks.contains(mark));
            }
        }
    }

    /// The trials behind the rows in which a mark stands beside a number, so that the words under it are about one of those.
    pub fn marked_trials(&self, mark: char) -> BTreeSet<u32> {
        let shown = |(cell, column): (&Cell, &Column)| {
            cell.value != Held::Nothing && (cell.marks.contains(mark) || column.marks.contains(mark))
        };
        let marked = self.rows.iter().zip(&self.row_trials).filter(|(row, _)| row.iter().zip(&self.columns).any(shown));
        let trials: BTreeSet<u32> = marked.flat_map(|(_, trials)| trials.iter().copied()).collect();
        if trials.is_empty() { self.trials.clone() } else { trials }
    }

    /// The heading that stands before a row.
    pub fn heading(&self, row: usize) -> Option<&str> {
        self.groups.iter().find(|(before, _)| *before == row).map(|(_, heading)| heading.as_str())
    }

    /// The marks that stand anywhere in it, sorted.
    pub fn marks(&self) -> String {
        let cells = self.rows.iter().flatten().map(|cell| cell.marks.as_str());
        let columns = self.columns.iter().map(|column| column.marks.as_str());
        let mut marks: Vec<char> = cells.chain(columns).flat_map(str::chars).collect();
        marks.sort_unstable();
        marks.dedup();
        marks.into_iter().collect()
    }
}

/// A number of less than this is told in a smaller unit wherever.
const SMALL: f64 = 0.01;

/// The figure in whose unit all of them are told; none where they have it already, or are too far apart for one.
fn one_unit(figures: &[(f64, String)]) -> Option<String> {
    let sized = || figures.iter().filter(|(value, _)| *value > 0.0);
    let (_, least) = sized().min_by(|a, b| a.0.total_cmp(&b.0))?;
    let (_, most) = sized().max_by(|a, b| a.0.total_cmp(&b.0))?;
    let small = number_of(&units::in_unit_of(least, most))?;
    let large = number_of(&units::in_unit_of(most, least))?;
    match small {
        _ if small >= units::READABLE => Some(most.clone()),
        _ if large < LARGE => Some(least.clone()),
        _ => Some(most.clone()).filter(|_| small >= SMALL),
    }
}

/// Letters of caveats one by one, as `a, b`.
pub fn listed(marks: &str) -> String {
    marks.chars().map(String::from).collect::<Vec<_>>().join(", ")
}

/// What is said once must be said often enough to be worth it.
const COMMON_MIN: usize = 3;

/// The letters that all have in common, when there are enough of them.
pub fn common<'a>(marks: impl Iterator<Item = &'a str>) -> String {
    let all: Vec<&str> = marks.collect();
    match all.split_first() {
        Some((first, rest)) if all.len() >= COMMON_MIN => {
            first.chars().filter(|mark| rest.iter().all(|other| other.contains(*mark))).collect()
        }
        _ => String::new(),
    }
}

/// A cell with the column that it stands in, so that what a row holds is said once.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    pub column: Column,
    pub cell: Cell,
}

/// A number under the title of its unit does not repeat that.
fn under(title: &str, quantity: Quantity) -> Quantity {
    match quantity {
        Quantity::Work(work) if work.unit() == title => Quantity::PerSecond,
        other => other,
    }
}

fn field(title: &str, key: &str, value: Held) -> Field {
    let (title, key, numeric) = (title.to_owned(), key.to_owned(), true);
    let column = Column { title, key, numeric, minor: false, leading: false, wraps: false, marks: String::new() };
    Field { column, cell: Cell { value, marks: String::new(), short: None, unit: None } }
}

/// A word; an empty one is nothing.
pub fn word(title: &str, key: &str, text: impl Into<String>) -> Field {
    let text = text.into();
    field(title, key, if text.is_empty() { Held::Nothing } else { Held::Word(text) }).numeric(false)
}

/// A known number.
pub fn number(title: &str, key: &str, value: f64, quantity: Quantity) -> Field {
    field(title, key, if value.is_finite() { Held::Number(value, under(title, quantity)) } else { Held::Nothing })
}

/// A known number, when there is one.
pub fn optional(title: &str, key: &str, value: Option<f64>, quantity: Quantity) -> Field {
    number(title, key, value.unwrap_or(f64::NAN), quantity)
}

/// An estimate, when there is one.
pub fn estimate<'a>(title: &str, key: &str, estimate: impl Into<Option<&'a Estimate>>, quantity: Quantity) -> Field {
    let known = estimate.into().filter(|estimate| estimate.value.is_finite());
    field(title, key, known.map_or(Held::Nothing, |estimate| Held::Estimate(*estimate, under(title, quantity))))
}

/// A time of the response in milliseconds, or nothing when the stream answered no operation.
pub fn response(title: &str, key: &str, stream: &StreamSummary, value_ms: f64) -> Field {
    number(title, key, value_ms, Quantity::Milliseconds).only_if(stream.response.count > 0)
}

impl Field {
    /// The same in a column of numbers, or of words.
    pub fn numeric(mut self, numeric: bool) -> Field {
        self.column.numeric = numeric;
        self
    }

    /// The same in a column that is the last to lose its interval where there is little room.
    pub fn leading(mut self) -> Field {
        self.column.leading = true;
        self
    }

    /// The same in a column that is left out first where there is little room.
    pub fn minor(mut self) -> Field {
        self.column.minor = true;
        self
    }

    /// The same in a column whose words go on in the next line rather than being cut.
    pub fn wrapping(mut self) -> Field {
        self.column.wraps = true;
        self
    }

    /// The same, or nothing.
    pub fn only_if(mut self, shown: bool) -> Field {
        if !shown {
            self.cell.value = Held::Nothing;
        }
        self
    }

    /// The same number as one that few samples tell.
    pub fn rough_if(mut self, few: bool) -> Field {
        if let (true, Held::Number(value, quantity)) = (few, &self.cell.value) {
            self.cell.value = Held::Rough(*value, *quantity);
        }
        self
    }

    /// The same with caveats beside it; beside nothing there is nothing to doubt.
    pub fn marked(mut self, marks: impl Into<String>) -> Field {
        if self.cell.value != Held::Nothing {
            self.cell.marks = marks.into();
        }
        self
    }

    /// The same with fewer words for when there is little room.
    pub fn shortened(mut self, short: impl Into<String>) -> Field {
        self.cell.short = Some(short.into());
        self
    }
}

impl Cell {
    /// The content for people, without interval and marks.
    pub fn text(&self) -> String {
        match &self.value {
            Held::Word(word) => word.clone(),
            Held::Estimate(estimate, quantity) if estimate.lower_bound() => {
                format!("≥{}", self.told(*quantity, estimate.low))
            }
            Held::Estimate(estimate, _) if estimate.not_known() => "unknown".to_owned(),
            Held::Number(value, quantity) | Held::Estimate(Estimate { value, .. }, quantity) => {
                self.told(*quantity, *value)
            }
            Held::Rough(value, quantity) => format!("~{}", self.told(*quantity, *value)),
            Held::Nothing => "–".to_owned(),
        }
    }

    /// A number of it in the unit of its column.
    fn told(&self, quantity: Quantity, value: f64) -> String {
        let own = quantity.text(value);
        self.unit.as_deref().map_or(own.clone(), |unit| units::in_unit_of(&own, unit))
    }

    /// Its number with its own unit, where it has one that is above zero or none.
    fn figure(&self) -> Option<(f64, String)> {
        let (Held::Number(_, quantity) | Held::Rough(_, quantity) | Held::Estimate(_, quantity)) = &self.value else {
            return None;
        };
        let shown = self.raw().filter(|value| value.is_finite())?;
        Some((shown, quantity.text(shown)))
    }

    /// The content in one unit with the interval that stands under it.
    pub fn text_over_interval(&self) -> String {
        match &self.value {
            Held::Estimate(one, quantity) if self.unit.is_none() && one.has_interval() && one.tells() => {
                quantity.with_ends(one).0
            }
            _ => self.text(),
        }
    }

    /// The interval for people, when there is one; beside a lower bound and what is not known, what was seen.
    pub fn interval(&self) -> Option<String> {
        match &self.value {
            Held::Estimate(one, quantity) if self.unit.is_some() && one.has_interval() && one.tells() => {
                let [low, high] = [one.low, one.high].map(|end| self.told(*quantity, end));
                (low != high).then(|| units::range(&low, between(one.low), &high))
            }
            // Ends that are told alike say nothing beside their value.
            Held::Estimate(estimate, quantity) if estimate.has_interval() => {
                let alike = estimate.tells() && quantity.text(estimate.low) == quantity.text(estimate.high);
                quantity.ends(estimate).filter(|_| !alike)
            }
            Held::Estimate(estimate, quantity) if estimate.lower_bound() || estimate.not_known() => {
                let (least, seen) = (self.told(*quantity, estimate.low), self.told(*quantity, estimate.value));
                (least != seen).then(|| format!("{seen} observed"))
            }
            _ => None,
        }
    }

    /// The larger half of the interval as a share of the value, for a compact `±`.
    pub fn half_width(&self) -> Option<f64> {
        match &self.value {
            Held::Estimate(estimate, _) if estimate.has_interval() && estimate.value != 0.0 => {
                let half = (estimate.high - estimate.value).max(estimate.value - estimate.low);
                Some(half / estimate.value.abs())
            }
            _ => None,
        }
    }

    /// The number in its base unit, when it is one.
    pub fn raw(&self) -> Option<f64> {
        match &self.value {
            Held::Estimate(estimate, _) if estimate.lower_bound() => Some(estimate.low),
            Held::Number(value, _) | Held::Rough(value, _) | Held::Estimate(Estimate { value, .. }, _) => Some(*value),
            Held::Word(_) | Held::Nothing => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_columns_that_are_there_are_explained_and_an_interval_has_the_unit_of_its_value() {
        let known = Estimate { value: 0.956, low: 0.7, high: 1.3, n: 4, confidence: 0.95 };
        let table = Table::new("one", [vec![estimate("p50", "p50_ms", &known, Quantity::Milliseconds)]]);
        assert_eq!(table.notes_of(&[("p50", "the median"), ("cycle", "from start to start")]), ["the median"]);
        let cell = &table.rows[0][0];
        assert_eq!((cell.text_over_interval(), cell.interval()), ("956 us".to_owned(), Some("700–1300 us".to_owned())));
        assert!(!table.bounded());
        let bound = Estimate { high: f64::INFINITY, ..known };
        let unknown = Estimate { low: f64::NAN, ..bound };
        let table = Table::new("one", [vec![estimate("p99", "p99_ms", &bound, Quantity::Milliseconds)]]);
        assert!(table.bounded() && table.rows[0][0].text_over_interval() == "≥700 us");
        let table = Table::new("one", [vec![estimate("p99", "p99_ms", &unknown, Quantity::Milliseconds)]]);
        let cell = &table.rows[0][0];
        assert_eq!(
            (cell.text(), cell.interval(), cell.half_width()),
            ("unknown".into(), Some("956 us observed".into()), None)
        );
        let told = crate::view::conclusion::with_interval(&unknown, Quantity::Milliseconds);
        assert_eq!(told, "unknown: too few independent samples (956 us observed)", "a card says the same");
    }

    #[test]
    fn a_column_has_one_unit_where_its_numbers_can_be_read_in_it() {
        let ends = |value: f64| Estimate { low: 0.9 * value, high: 1.2 * value, n: 4, ..Estimate::single(value) };
        let told = |values: &[f64]| {
            let rows = values.iter().map(|ms| vec![estimate("p50", "p50_ms", &ends(*ms), Quantity::Milliseconds)]);
            let table = Table::new("times", rows).gathered();
            let cells =
                table.rows.iter().map(|row| (row[0].text_over_interval(), row[0].interval().unwrap_or_default()));
            cells.collect::<Vec<_>>()
        };
        let of = |value: &str, interval: &str| (value.to_owned(), interval.to_owned());
        assert_eq!(told(&[0.428, 1.75]), [of("0.428 ms", "0.385–0.514 ms"), of("1.75 ms", "1.57–2.1 ms")]);
        assert_eq!(told(&[0.0036, 4.2]), [of("3.6 us", "3.24–4.32 us"), of("4200 us", "3780–5040 us")]);
        assert_eq!(told(&[0.0036, 4200.0])[1].0, "4.2 s", "too far apart for one unit");
        assert_eq!(told(&[0.0, 1.75])[0].0, "0 ms");
    }

    #[test]
    fn words_under_a_table_are_about_the_rows_that_show_their_letter() {
        let row = |value: f64, shown: bool| {
            vec![number("p99", "p99_ms", value, Quantity::Milliseconds).only_if(shown).marked("e")]
        };
        let mut table = Table::new("three", [row(1.0, false), row(2.0, true), row(3.0, true)]);
        table.row_trials = [[0].into(), [4].into(), [7, 9].into()].into();
        table.trials = [0, 4, 7, 9].into();
        assert_eq!(table.marked_trials('e'), [4, 7, 9].into(), "nothing stands in the first row");
        assert_eq!(table.clone().gathered().marked_trials('e'), [4, 7, 9].into(), "the column says it once");
        assert_eq!(table.marked_trials('b'), table.trials, "a letter that stands elsewhere is about the whole table");
    }
}
