//! A table in columns. What does not fit is left out by rank: minor columns first, then words are cut inside.

use super::style::{Paint, Style};
use super::wrap::{columns, cut, cut_inside, printable, wrap};
use crate::view::{Cell, Column, Table};
use std::collections::BTreeSet;

/// Space between two columns.
const GAP: usize = 2;

/// A value whose interval reaches further than this share of it is marked with `~` where there is no room for the interval.
const ROUGH: f64 = 0.5;

/// Words are never cut below this many columns.
const WORD_MIN: usize = 10;

/// How the words of a name go on in the next line.
const GOES_ON: &str = "  ";

/// One column as texts, all cells done.
#[derive(Clone)]
struct Printed<'a> {
    column: &'a Column,
    title: String,
    cells: Vec<String>,
    /// The cells without their intervals, for when there is no room.
    bare: Vec<String>,
    /// The cells in fewer words.
    short: Vec<String>,
    /// How wide its cells may be, where words go on in the lines below.
    wrapped: Option<usize>,
}

impl Printed<'_> {
    fn width(&self) -> usize {
        #[cfg(test)]
        tests::LOOKS.set(tests::LOOKS.get() + self.cells.len());
        let widest = self.cells.iter().map(|cell| columns(cell)).chain([columns(&self.title)]).max().unwrap_or(0);
        self.wrapped.map_or(widest, |limit| limit.min(widest))
    }

    /// The lines of a cell: one, unless its words go on.
    fn lines(&self, row: usize) -> Vec<String> {
        let cell = &self.cells[row];
        match self.wrapped {
            Some(limit) => wrap(cell.trim_end(), limit, GOES_ON),
            _ => vec![cell.clone()],
        }
    }
}

/// The lines of a table, its header first.
pub(super) fn lines(table: &Table, width: usize, paint: Paint) -> Vec<String> {
    let printed = table.columns.iter().enumerate().map(|(at, column)| print(table, at, column)).collect();
    let printed = fitted(printed, width);
    // Once for all rows: a width takes a look at each of them.
    let widths: Vec<usize> = printed.iter().map(Printed::width).collect();
    let header: Vec<&str> = printed.iter().map(|column| column.title.as_str()).collect();
    let mut lines = vec![paint.with(Style::Faint, &line(&printed, &widths, &header))];
    for row in 0..table.rows.len() {
        lines.extend(table.heading(row).map(|heading| paint.with(Style::Bold, &cut(&printable(heading), width))));
        let cells: Vec<Vec<String>> = printed.iter().map(|column| column.lines(row)).collect();
        for part in 0..cells.iter().map(Vec::len).max().unwrap_or(0) {
            let cells: Vec<&str> = cells.iter().map(|cell| cell.get(part).map_or("", String::as_str)).collect();
            lines.push(line(&printed, &widths, &cells));
        }
    }
    lines
}

fn print<'a>(table: &Table, at: usize, column: &'a Column) -> Printed<'a> {
    let cells: Vec<&Cell> = table.rows.iter().map(|row| &row[at]).collect();
    Printed {
        column,
        title: printable(&titled(column)),
        cells: aligned(&cells, column.numeric, true),
        bare: aligned(&cells, column.numeric, false),
        short: cells.iter().map(|cell| printable(cell.short.as_ref().unwrap_or(&cell.text()))).collect(),
        wrapped: None,
    }
}

/// Parts are aligned on their own, so that values stand under values and marks under marks.
fn aligned(cells: &[&Cell], numeric: bool, with_spread: bool) -> Vec<String> {
    let rough = |cell: &Cell| !with_spread && cell.half_width().is_some_and(|half| half > ROUGH);
    let value = |cell: &&Cell| format!("{}{}", if rough(cell) { "~" } else { "" }, printable(&cell.text()));
    let values: Vec<String> = cells.iter().map(value).collect();
    let spreads: Vec<String> =
        cells.iter().map(|cell| if with_spread { spread(cell) } else { String::new() }).collect();
    let marks: Vec<String> = cells.iter().map(|cell| mark(cell)).collect();
    let widest = |texts: &[String]| texts.iter().map(|text| columns(text)).max().unwrap_or(0);
    let (value_width, spread_width, mark_width) = (widest(&values), widest(&spreads), widest(&marks));
    (0..cells.len())
        .map(|row| {
            let value = if numeric { right(&values[row], value_width) } else { left(&values[row], value_width) };
            format!("{value}{}{}", right(&spreads[row], spread_width), left(&marks[row], mark_width))
        })
        .collect()
}

/// ` ±1.2%`: the larger half of the interval; one that is wider than the value is written out.
fn spread(cell: &Cell) -> String {
    match (cell.half_width(), cell.interval()) {
        (Some(half), Some(interval)) if half > 1.0 => format!(" ({interval})"),
        (Some(half), _) => format!(" ±{}", units::percent(units::two_digits(half))),
        (None, _) => String::new(),
    }
}

fn titled(column: &Column) -> String {
    if column.marks.is_empty() { column.title.clone() } else { format!("{} {}", column.title, column.marks) }
}

fn mark(cell: &Cell) -> String {
    if cell.marks.is_empty() { String::new() } else { format!(" {}", cell.marks) }
}

fn total(printed: &[Printed]) -> usize {
    printed.iter().map(Printed::width).sum::<usize>() + GAP * printed.len().saturating_sub(1)
}

/// What goes first when there is no room: minor columns, then intervals from the right (those of leading columns last), then
/// the ends of words, then whole columns. Numbers are never cut.
fn fitted(mut printed: Vec<Printed<'_>>, width: usize) -> Vec<Printed<'_>> {
    while total(&printed) > width {
        match printed.iter().rposition(|printed| printed.column.minor) {
            Some(at) => drop(printed.remove(at)),
            None => break,
        }
    }
    let whole: Vec<Printed> = printed.iter().filter(|one| !one.column.numeric).cloned().collect();
    wrap_words(&mut printed, width);
    for leading in [false, true] {
        if leading {
            shorten(&mut printed, width, false);
        }
        for at in (0..printed.len()).rev() {
            if total(&printed) > width && printed[at].column.leading == leading {
                printed[at].cells = std::mem::take(&mut printed[at].bare);
            }
        }
    }
    shorten(&mut printed, width, false);
    while total(&printed) > width {
        match printed.iter().rposition(|printed| printed.column.numeric && !printed.column.leading) {
            Some(at) if printed.len() > 1 => drop(printed.remove(at)),
            _ => break,
        }
    }
    // Words were cut before it was known what numbers leave of the line.
    for (words, whole) in printed.iter_mut().filter(|one| !one.column.numeric).zip(whole) {
        *words = whole;
    }
    wrap_words(&mut printed, width);
    shorten(&mut printed, width, true);
    printed
}

/// Has words go on in the next line where they may, as narrow as there is room, and as their longest word.
fn wrap_words(printed: &mut [Printed], width: usize) {
    let Some(at) = printed.iter().position(|one| one.column.wraps) else { return };
    let others = total(printed) - printed[at].width();
    // All words but the first may come to stand behind what a further line begins with.
    let longest = |cell: &String| {
        let begins = cell.split_whitespace().next().map_or(0, columns);
        cell.split_whitespace().skip(1).map(|word| columns(word) + GOES_ON.len()).fold(begins, usize::max)
    };
    let least = printed[at].cells.iter().map(longest).max().unwrap_or(0);
    let limit = width.saturating_sub(others).max(least);
    let words = &mut printed[at];
    if words.width() > limit && !words.short.is_empty() {
        words.cells = words.short.clone();
    }
    words.wrapped = Some(limit);
}

/// Whether different words stay different when they are cut.
fn differ(cells: &[String], limit: usize) -> bool {
    let whole: BTreeSet<&str> = cells.iter().map(|cell| cell.trim_end()).collect();
    whole.iter().map(|cell| cut_inside(cell, limit)).collect::<BTreeSet<_>>().len() == whole.len()
}

/// Cuts words; the last time whatever becomes of them.
fn shorten(printed: &mut [Printed], width: usize, last: bool) {
    if total(printed) <= width {
        return;
    }
    let words = |one: &Printed| !one.column.numeric && (last || !one.column.wraps);
    for column in printed.iter_mut().filter(|one| words(one) && !one.short.is_empty()) {
        column.cells = std::mem::take(&mut column.short);
    }
    while total(printed) > width {
        let over = total(printed) - width;
        let widest = printed.iter_mut().filter(|one| words(one)).max_by_key(|column| column.width());
        let Some(column) = widest.filter(|column| column.width() > WORD_MIN) else { return };
        let most = column.width();
        let least = most.saturating_sub(over).max(WORD_MIN);
        // Words that would become the same stay as long as they differ, while there are numbers that may go.
        let limit =
            if last { least } else { (least..most).find(|limit| differ(&column.cells, *limit)).unwrap_or(most) };
        if limit == most {
            return;
        }
        column.title = cut(&column.title, limit);
        column.cells = column.cells.iter().map(|cell| cut_inside(cell.trim_end(), limit)).collect();
    }
}

fn line(printed: &[Printed], widths: &[usize], cells: &[&str]) -> String {
    let mut line = String::new();
    for ((printed, width), cell) in printed.iter().zip(widths).zip(cells) {
        if !line.is_empty() {
            line.push_str(&" ".repeat(GAP));
        }
        line.push_str(&if printed.column.numeric { right(cell, *width) } else { left(cell, *width) });
    }
    line.trim_end().to_owned()
}

fn right(text: &str, width: usize) -> String {
    format!("{}{text}", " ".repeat(width.saturating_sub(columns(text))))
}

fn left(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(columns(text))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Colour;
    use crate::view::{Quantity, estimate, word};
    use analysis::Estimate;
    use std::cell::Cell;

    thread_local! {
        /// Cells that were looked at for the width of a column.
        pub(super) static LOOKS: Cell<usize> = const { Cell::new(0) };
    }

    /// How often a cell of a table of so many rows is looked at, on the mean.
    fn looks(rows: usize, width: usize) -> usize {
        let cell = |row: usize, at: usize| word("name", "title", format!("a word of {row} and {at}"));
        let table = Table::new("many", (0..rows).map(|row| (0..6).map(|at| cell(row, at)).collect()));
        LOOKS.set(0);
        assert_eq!(lines(&table, width, Paint(Colour::Plain)).len(), 1 + rows);
        LOOKS.get() / rows
    }

    #[test]
    fn a_table_of_many_rows_looks_at_each_cell_as_often_as_one_of_few() {
        for width in [40, 80, 300] {
            let (few, many) = (looks(20, width), looks(2_000, width));
            assert!(many <= few + 20 && many < 500, "{few} and {many} looks at a width of {width}");
        }
    }

    /// Words were cut for intervals that were then left out, so that room stayed free beside `100 a…ions`.
    #[test]
    fn words_use_the_room_that_intervals_leave() {
        let rate = Estimate { low: 1_234.0, high: 9_876.0, n: 4, ..Estimate::single(5_432.0) };
        let row = |at: &str| vec![word("at", "at", at), estimate("rate", "rate", &rate, Quantity::Rate).leading()];
        let table = Table::new("rates", [row("100 accounts of a commit, 4 sessions")]);
        let printed = |width| lines(&table, width, Paint(Colour::Plain)).join("\n");
        let wide = printed(100);
        assert!(wide.contains("commit, 4 sessions") && wide.contains("±82%"), "{wide}");
        let narrow = printed(22);
        assert!(!narrow.contains('±') && narrow.contains("~5432 /s"), "it is hardly known: {narrow}");
        assert!(narrow.lines().all(|line| columns(line) == 22), "{narrow}");
    }

    #[test]
    fn names_of_statements_go_on_in_the_next_line_before_a_column_is_cut_off() {
        let row = |name: &str| {
            let count = |title: &str| estimate(title, title, &Estimate::single(1_234_567.0), Quantity::Plain);
            vec![word("statement", "statement", name).wrapping(), count("calls"), count("rows"), count("pages")]
        };
        let table = Table::new("statements", ["customer-position: value accounts", "(commit)"].map(row));
        let printed = |width| lines(&table, width, Paint(Colour::Plain));
        assert!(printed(80)[1].starts_with("customer-position: value accounts  "), "{:?}", printed(80));
        let narrow = printed(48);
        assert!(
            narrow[1].starts_with("customer-position:  ") && narrow[2].trim_end() == "  value accounts",
            "{narrow:?}"
        );
        assert!(narrow[3].starts_with("(commit)") && narrow.iter().all(|line| columns(line) <= 48), "{narrow:?}");
        assert_eq!(narrow[1].split_whitespace().count(), 4, "all numbers are there: {narrow:?}");
    }

    /// Levels of a link that differ in their middle became `cap=5…=50%`, both.
    #[test]
    fn levels_of_several_settings_are_told_apart_when_there_is_little_room() {
        let rate = Estimate { low: 1_234.0, high: 9_876.0, n: 4, ..Estimate::single(5_432.0) };
        let long = ["plain", "cap=5MB/s agg=20MB/s sha=50%", "cap=5MB/s agg=50MB/s sha=50%", "cap=5MB/s agg=50MB/s"];
        let row = |at: &&str| {
            let figures = ["rate", "p50", "p99"].map(|name| estimate(name, name, &rate, Quantity::Rate));
            let [first, rest @ ..] = figures;
            [vec![word("at", "at", *at), first.leading()], rest.into()].concat()
        };
        let table = Table::new("rates", long.iter().map(row));
        for width in [38, 45, 60, 80] {
            let printed = lines(&table, width, Paint(Colour::Plain));
            let words: BTreeSet<&str> = printed[1..].iter().filter_map(|line| line.split("  ").next()).collect();
            assert_eq!(words.len(), long.len(), "{printed:?}");
            assert!(printed.iter().all(|line| columns(line) <= width), "{printed:?}");
        }
    }
}
