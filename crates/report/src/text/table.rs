//! A table in columns. What does not fit goes by rank: minor columns are left out, then intervals, then names go on in the next
//! line, and then whole columns follow in a block of their own.

use super::style::{Paint, Style};
use super::wrap::{columns, cut_inside, fold, fold_least, printable, wrap_least};
use crate::view::{Cell, Column, Table};

/// Space between two columns.
const GAP: usize = 2;

/// A value whose interval reaches further than this share of it is marked with `~` where there is no room for the interval.
const ROUGH: f64 = 0.5;

/// Words are never cut below this many columns.
const WORD_MIN: usize = 10;

/// Columns that the widest name gives up at once.
const STEP: usize = 4;

/// How the words of a name go on in the next line.
const GOES_ON: &str = "  ";

/// The cells of a column as texts.
#[derive(Clone)]
struct Texts {
    cells: Vec<String>,
    widest: usize,
    /// The same when names go on in the next line, with their words whole, and with what stays together of them.
    words: usize,
    least: usize,
}

impl Texts {
    fn of(cells: Vec<String>) -> Texts {
        #[cfg(test)]
        tests::LOOKS.set(tests::LOOKS.get() + cells.len());
        let most = |width: fn(&str) -> usize| cells.iter().map(|cell| width(cell)).max().unwrap_or(0);
        let widest = most(columns);
        let (words, least) = (most(|cell| wrap_least(cell, GOES_ON)), most(|cell| fold_least(cell, GOES_ON)));
        Texts { cells, widest, words, least }
    }
}

/// In how many words a column is told.
#[derive(Clone, Copy)]
enum Form {
    Whole,
    /// Without intervals.
    Bare,
    /// Names in fewer words.
    Short,
}

/// One column as texts.
#[derive(Clone)]
struct Printed<'a> {
    column: &'a Column,
    title: String,
    whole: Texts,
    bare: Texts,
    short: Texts,
    form: Form,
    /// How wide its names may be, where they go on in the lines below.
    limit: Option<usize>,
}

impl Printed<'_> {
    fn texts(&self) -> &Texts {
        match self.form {
            Form::Whole => &self.whole,
            Form::Bare => &self.bare,
            Form::Short => &self.short,
        }
    }

    fn width(&self) -> usize {
        let widest = self.texts().widest.max(columns(&self.title));
        self.limit.map_or(widest, |limit| limit.min(widest))
    }

    /// The least width at which nothing is cut.
    fn least(&self) -> usize {
        if self.column.numeric { self.width() } else { self.short.least.max(fold_least(&self.title, GOES_ON)) }
    }

    /// The lines of a text: one, unless it is a name that goes on.
    fn lines(&self, text: &str) -> Vec<String> {
        match self.limit {
            Some(limit) => fold(text, limit, GOES_ON).iter().map(|line| cut_inside(line, limit)).collect(),
            None => vec![text.to_owned()],
        }
    }
}

/// The lines of a table, its header first.
pub(super) fn lines(table: &Table, width: usize, paint: Paint) -> Vec<String> {
    let printed = table.columns.iter().enumerate().map(|(at, column)| print(table, at, column)).collect();
    let blocks = blocks(printed, width);
    blocks.iter().map(|block| block_lines(table, block, width, paint)).collect::<Vec<_>>().join(&String::new())
}

fn block_lines(table: &Table, printed: &[Printed], width: usize, paint: Paint) -> Vec<String> {
    let header = row_lines(printed, |column| &column.title);
    let mut lines: Vec<String> = header.iter().map(|line| paint.with(Style::Faint, line)).collect();
    for row in 0..table.rows.len() {
        let heading = table.heading(row).map(|heading| fold(&printable(heading), width, GOES_ON)).unwrap_or_default();
        lines.extend(heading.iter().map(|line| paint.with(Style::Bold, line)));
        lines.extend(row_lines(printed, |column| &column.texts().cells[row]));
    }
    lines
}

/// One row, in as many lines as its longest cell.
fn row_lines<'a>(printed: &'a [Printed], text: impl Fn(&'a Printed) -> &'a str) -> Vec<String> {
    let cells: Vec<Vec<String>> = printed.iter().map(|column| column.lines(text(column))).collect();
    let count = cells.iter().map(Vec::len).max().unwrap_or(0);
    let part = |part: usize| cells.iter().map(|cell| cell.get(part).map_or("", String::as_str)).collect::<Vec<_>>();
    (0..count).map(|number| line(printed, &part(number))).collect()
}

fn print<'a>(table: &Table, at: usize, column: &'a Column) -> Printed<'a> {
    let cells: Vec<&Cell> = table.rows.iter().map(|row| &row[at]).collect();
    Printed {
        column,
        title: printable(&titled(column)),
        whole: Texts::of(aligned(&cells, column.numeric, true)),
        bare: Texts::of(aligned(&cells, column.numeric, false)),
        short: Texts::of(cells.iter().map(|cell| shortest(cell)).collect()),
        form: Form::Whole,
        limit: None,
    }
}

/// A name in its fewest words, with its marks.
fn shortest(cell: &Cell) -> String {
    format!("{}{}", printable(cell.short.as_ref().unwrap_or(&cell.text())), mark(cell))
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

/// The columns of a table, block by block: those that have no room in the first follow, behind the columns that say which row it is.
fn blocks(mut printed: Vec<Printed<'_>>, width: usize) -> Vec<Vec<Printed<'_>>> {
    while total(&printed, Printed::width) > width {
        match printed.iter().rposition(|one| one.column.minor) {
            Some(at) => drop(printed.remove(at)),
            None => break,
        }
    }
    let named = printed.iter().take_while(|one| !one.column.numeric).count().max(1);
    let mut blocks = Vec::new();
    loop {
        let names: Vec<Printed> = printed.iter().take(named).cloned().collect();
        let moved = fit(&mut printed, named, width);
        blocks.push(printed);
        if moved.is_empty() {
            return blocks;
        }
        printed = names.into_iter().chain(moved).collect();
    }
}

/// The width of a line of which each column is as wide as somebody says.
fn total<'a>(printed: &[Printed<'a>], wide: impl Fn(&Printed<'a>) -> usize) -> usize {
    printed.iter().map(wide).sum::<usize>() + GAP * printed.len().saturating_sub(1)
}

/// Makes columns fit a line, and takes those out that have no room at all: numbers first, those that lead last. Numbers are never cut.
fn fit<'a>(printed: &mut Vec<Printed<'a>>, named: usize, width: usize) -> Vec<Printed<'a>> {
    let mut moved = Vec::new();
    bare(printed, width);
    while total(printed, Printed::least) > width && printed.len() > named + 1 {
        let last = |least: fn(&Column) -> bool| printed.iter().rposition(|one| least(one.column));
        let minor = last(|column| column.numeric && !column.leading).filter(|at| *at >= named);
        let at = minor.or(last(|column| !column.numeric).filter(|at| *at >= named)).unwrap_or(printed.len() - 1);
        moved.insert(0, printed.remove(at));
    }
    moved.iter_mut().for_each(|one| one.form = Form::Whole);
    // Some intervals may have room again.
    bare(printed, width);
    narrow(printed, width);
    moved
}

/// Takes intervals away from the right as long as there is no room: first beside whole names, but those that go on anyway; then those of
/// leading columns.
fn bare(printed: &mut [Printed], width: usize) {
    printed.iter_mut().for_each(|one| one.form = Form::Whole);
    for leading in [false, true] {
        let wide = |one: &Printed| if leading || one.column.wraps { one.least() } else { one.width() };
        for at in (0..printed.len()).rev() {
            let column = printed[at].column;
            if total(printed, wide) > width && column.numeric && column.leading == leading {
                printed[at].form = Form::Bare;
            }
        }
    }
}

/// Gives names the room that numbers leave: whole, or in fewer words, or going on in the next line, the widest first. What is still
/// wider is cut.
fn narrow(printed: &mut [Printed], width: usize) {
    if total(printed, Printed::width) <= width {
        return;
    }
    printed.iter_mut().filter(|one| !one.column.numeric).for_each(|one| one.form = Form::Short);
    let words = |one: &Printed| one.short.words.max(columns(&one.title));
    let leasts: [&dyn Fn(&Printed) -> usize; 3] = [&words, &|one| one.least(), &|_| WORD_MIN];
    for least in leasts {
        while let over @ 1.. = total(printed, Printed::width).saturating_sub(width) {
            let names = printed.iter_mut().filter(|one| !one.column.numeric && one.width() > least(one));
            let Some(widest) = names.max_by_key(|one| one.width()) else { break };
            // Step by step, so that no other stays much wider.
            widest.limit = Some((widest.width() - over.min(STEP)).max(least(widest)));
        }
    }
}

fn line(printed: &[Printed], cells: &[&str]) -> String {
    let mut line = String::new();
    for (printed, cell) in printed.iter().zip(cells) {
        if !line.is_empty() {
            line.push_str(&" ".repeat(GAP));
        }
        line.push_str(&if printed.column.numeric { right(cell, printed.width()) } else { left(cell, printed.width()) });
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
        assert!(lines(&table, width, Paint(Colour::Plain)).len() > rows);
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
        assert!(narrow.lines().all(|line| columns(line) <= 22) && !narrow.contains('…'), "{narrow}");
        assert!(narrow.contains("\n  commit, 4\n  sessions"), "{narrow}");
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

    /// Levels of a link that differ in their middle became `cap=5…=50%`, both, and figures were left out.
    #[test]
    fn names_stay_whole_and_columns_without_room_follow_in_a_block_of_their_own() {
        let rate = Estimate { low: 1_234.0, high: 9_876.0, n: 4, ..Estimate::single(5_432.0) };
        let long = ["plain", "cap=5MB/s agg=20MB/s sha=50%", "cap=5MB/s agg=50MB/s sha=50%", "target-disk-15k-slow,a"];
        let row = |at: &&str| {
            let figures = ["rate", "p50", "p99"].map(|name| estimate(name, name, &rate, Quantity::Rate));
            let [first, rest @ ..] = figures;
            [vec![word("at", "at", *at), first.leading()], rest.into()].concat()
        };
        let table = Table::new("rates", long.iter().map(row));
        for (width, blocks) in [(22, 3), (30, 3), (41, 2), (42, 1), (60, 1), (80, 1)] {
            let printed = lines(&table, width, Paint(Colour::Plain));
            assert!(printed.iter().all(|line| columns(line) <= width && !line.contains('…')), "{width}: {printed:#?}");
            assert_eq!(printed.split(String::is_empty).count(), blocks, "{width}: {printed:#?}");
            assert_eq!(printed.concat().matches("5432").count(), 12, "{width}: all figures are there: {printed:#?}");
            for block in printed.split(String::is_empty) {
                let words = long.iter().flat_map(|name| name.split([' ', '-', ',']));
                let told = block.concat();
                assert!(words.into_iter().all(|word| told.contains(word)), "{width}: who it is about: {block:#?}");
            }
        }
        assert_eq!(
            lines(&table, 45, Paint(Colour::Plain)),
            [
                "at                   rate       p50       p99",
                "plain            ~5432 /s  ~5432 /s  ~5432 /s",
                "cap=5MB/s        ~5432 /s  ~5432 /s  ~5432 /s",
                "  agg=20MB/s",
                "  sha=50%",
                "cap=5MB/s        ~5432 /s  ~5432 /s  ~5432 /s",
                "  agg=50MB/s",
                "  sha=50%",
                "target-disk-     ~5432 /s  ~5432 /s  ~5432 /s",
                "  15k-slow,a",
            ]
        );
    }
}
