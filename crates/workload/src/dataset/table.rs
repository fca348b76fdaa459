//! Tables as values: every engine's definitions, every bulk load and every check is made from them.

use super::Row;
use crate::transaction::Value;
use random::mix;
use std::borrow::Cow;
use std::ops::Range;

/// Type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// A whole number of 64 bits.
    Int,
    /// A text of at most so many characters.
    Text(u16),
    /// A text without a stated bound, such as the body of an article.
    Long,
}

/// A column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its name.
    pub name: &'static str,
    /// What it holds.
    pub kind: Type,
    /// Whether it may be empty.
    pub null: bool,
}

impl Column {
    /// A whole number that is always there.
    pub const fn int(name: &'static str) -> Column {
        Column { name, kind: Type::Int, null: false }
    }

    /// A text of at most so many characters that is always there.
    pub const fn text(name: &'static str, most: u16) -> Column {
        Column { name, kind: Type::Text(most), null: false }
    }

    /// A whole number that may be missing.
    pub const fn maybe(name: &'static str) -> Column {
        Column { null: true, ..Column::int(name) }
    }

    /// A text of at most so many characters that may be missing.
    pub const fn maybe_text(name: &'static str, most: u16) -> Column {
        Column { null: true, ..Column::text(name, most) }
    }

    /// A text without a stated bound.
    pub const fn long(name: &'static str) -> Column {
        Column { kind: Type::Long, ..Column::int(name) }
    }
}

/// A reference to the primary key of another table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reference {
    /// Columns here.
    pub columns: &'static [&'static str],
    /// The table that is referred to.
    pub table: &'static str,
}

/// A table of a data set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// Its name.
    pub name: Cow<'static, str>,
    /// Its columns, in the order of bulk loads.
    pub columns: Cow<'static, [Column]>,
    /// Columns of the primary key; none for a table that is never looked up.
    pub key: &'static [&'static str],
    /// References to other tables; one to a table that the data set does not have is left out.
    pub references: &'static [Reference],
    /// Columns of further indexes.
    pub indexes: &'static [&'static [&'static str]],
    /// How its rows are divided among partitions; none of a table in one piece.
    pub partitions: Option<Partitions>,
}

/// A division of a table by a column of whole numbers from 1 on, which is its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Partitions {
    /// How many there are.
    pub count: u32,
    /// Whether each has a range of the numbers; else a hash decides.
    pub by_range: bool,
    /// The column.
    pub column: &'static str,
    /// The greatest number of the fill.
    pub most: u64,
}

impl Partitions {
    /// The first number of each partition but the first: ranges of the fill are alike, and the last goes on.
    pub fn bounds(&self) -> impl Iterator<Item = u64> {
        let share = self.most.div_ceil(u64::from(self.count));
        (1..u64::from(self.count)).map(move |at| at * share + 1)
    }
}

impl Table {
    /// A table without references and further indexes.
    pub fn plain(
        name: impl Into<Cow<'static, str>>,
        columns: impl Into<Cow<'static, [Column]>>,
        key: &'static [&'static str],
    ) -> Table {
        Table { name: name.into(), columns: columns.into(), key, references: &[], indexes: &[], partitions: None }
    }

    /// What an index on these columns is called.
    pub fn index_name(&self, columns: &[&str]) -> String {
        format!("{}_{}", self.name, columns.join("_"))
    }

    /// Its indexes as PostgreSQL calls them, that of the key first.
    pub fn index_names(&self) -> Vec<String> {
        let key = (!self.key.is_empty()).then(|| format!("{}_pkey", self.name));
        key.into_iter().chain(self.indexes.iter().map(|columns| self.index_name(columns))).collect()
    }
}

/// Tables as `name (column kind, ...) key (columns) refers [table(columns), ...] indexes [(columns), ...];`, where
/// a kind is `int`, `maybe`, `long`, or `text` or `maybe_text` with a bound.
macro_rules! tables {
    ($($table:ident ($($column:ident $kind:ident $($most:literal)?),*) key ($($key:ident),*)
        $(refers [$($to:ident($($from:ident),*)),*])? $(indexes [$(($($index:ident),*)),*])?;)*) => {
        [$($crate::dataset::Table {
            name: std::borrow::Cow::Borrowed(stringify!($table)),
            columns: std::borrow::Cow::Borrowed(&[$($crate::dataset::Column::$kind(stringify!($column) $(, $most)?)),*]),
            key: &[$(stringify!($key)),*],
            references: &[$($($crate::dataset::Reference { columns: &[$(stringify!($from)),*], table: stringify!($to) }),*)?],
            indexes: &[$($(&[$(stringify!($index)),*]),*)?],
            partitions: None,
        }),*]
    };
}
pub(crate) use tables;

/// Rows for a bulk load: fills `row` with the next one, or says that there are no more.
pub trait Rows {
    /// The next row, one value a column. Whatever `row` held is written over; who hands back the row before lets its texts
    /// keep their memory.
    fn next(&mut self, row: &mut Vec<Value>) -> bool;
}

/// Rows that a function makes one after the other.
pub struct Made<F>(pub F);

impl<F: FnMut(&mut Vec<Value>) -> bool> Rows for Made<F> {
    fn next(&mut self, row: &mut Vec<Value>) -> bool {
        (self.0)(row)
    }
}

impl Made<()> {
    /// Rows `made(n)` for the numbers, from 0, of part `part` of `parts` equal parts of `count` rows.
    pub fn numbered(
        count: u64,
        (part, parts): (u32, u32),
        mut made: impl FnMut(u64, &mut Vec<Value>) + 'static,
    ) -> Box<dyn Rows> {
        let mut numbers = span(count, (part, parts));
        Box::new(Made(move |row: &mut Vec<Value>| {
            row.clear();
            numbers.next().map(|number| made(number, row)).is_some()
        }))
    }
}

/// The numbers, from 0, of part `part` of `parts` equal parts of so many.
pub(crate) fn span(count: u64, (part, parts): (u32, u32)) -> Range<u64> {
    let edge = |part: u32| (u128::from(count) * u128::from(part) / u128::from(parts)) as u64;
    edge(part)..edge(part + 1)
}

/// How far it is with the rows of units that come one behind the other, of which each has some.
#[derive(Clone, Debug)]
pub(crate) struct Units {
    left: Range<u64>,
    sub: u32,
}

impl Units {
    /// The units of a part, as [`span`].
    pub(crate) fn of_part(units: u64, part: (u32, u32)) -> Units {
        Units { left: span(units, part), sub: 0 }
    }

    /// Makes the next row in `row`; false when there is none. `write` writes row `sub` (from 0) of a unit, or says that it has none.
    pub(crate) fn next(&mut self, row: &mut Vec<Value>, mut write: impl FnMut(u64, u32, &mut Row<'_>) -> bool) -> bool {
        while !self.left.is_empty() {
            if write(self.left.start, self.sub, &mut Row::over(row)) {
                self.sub += 1;
                return true;
            }
            (self.left.start, self.sub) = (self.left.start + 1, 0);
        }
        false
    }
}

/// How the rows of a table are made of a maker `M`, unit by unit.
pub(crate) struct Source<M> {
    units: u64,
    /// Rows of a unit at most.
    each: u32,
    /// Rows of the table, exactly or about.
    pub(crate) rows: u64,
    /// Writes row `sub` (from 0) of a unit (from 0), or says that the unit has none.
    write: fn(&mut M, unit: u64, sub: u32, row: &mut Row<'_>) -> bool,
}

impl<M: 'static> Source<M> {
    /// One row a unit, or none.
    pub(crate) fn one(units: u64, write: fn(&mut M, u64, u32, &mut Row<'_>) -> bool) -> Source<M> {
        Source { units, each: 1, rows: units, write }
    }

    /// Several rows a unit, about so many of all.
    pub(crate) fn several(units: u64, rows: u64, write: fn(&mut M, u64, u32, &mut Row<'_>) -> bool) -> Source<M> {
        Source { units, each: u32::MAX, rows, write }
    }

    /// The same with so many rows, where not every unit has one.
    pub(crate) fn about(self, rows: u64) -> Source<M> {
        Source { rows, ..self }
    }

    /// The rows of a table that begins empty.
    pub(crate) fn empty() -> Source<M> {
        Source::one(0, |_, _, _, _| false)
    }

    /// The rows of part `part` of `parts`; all parts together hold each row of the table once.
    pub(crate) fn part(self, mut maker: M, part: (u32, u32)) -> Box<dyn Rows> {
        let mut units = Units::of_part(self.units, part);
        let mut made = move |unit, sub, row: &mut Row<'_>| sub < self.each && (self.write)(&mut maker, unit, sub, row);
        Box::new(Made(move |row: &mut Vec<Value>| units.next(row, &mut made)))
    }
}

/// So many letters that follow from a few bits, which step on by `step` from draw to draw.
pub(crate) fn letters(mut bits: u64, step: u64, count: usize) -> String {
    let mut text = String::with_capacity(count + 12);
    while text.len() < count {
        bits = mix(bits.wrapping_add(step));
        // Twelve letters for each draw.
        (0..12).for_each(|place| text.push(char::from(b'a' + ((bits >> (5 * place)) % 26) as u8)));
    }
    text.truncate(count);
    text
}

// Checksums of tables that every engine computes alike.
//
// The one idea: each column is brought to a small whole number a row (a remainder, or the length of a text with weights
// for a few letters), so that no sum overflows and no engine's type of a sum matters. One more number mixes all
// columns of a row, so that values that changed rows are seen.
//
// What it does not do: it is no cryptographic digest. It takes texts to be of single bytes. Clocks are part of the rows; runs that must agree have to agree on time.

/// A prime; remainders by it fit a sum of a thousand million rows.
const MODULUS: u32 = 1_000_003;

/// The name of a table and a query for one row of whole numbers: the count of rows, one sum a column in their order, and one
/// sum over all columns of each row together.
pub(crate) fn checksum(table: &Table) -> (String, String) {
    let terms: Vec<String> = table.columns.iter().map(term).collect();
    let mixed: Vec<String> = terms.iter().zip(1..).map(|(term, place)| format!("{} * {term}", place * 7 + 3)).collect();
    let mixed = mixed.join(" + ");
    let mixed = format!("(({mixed}) % {MODULUS}) * (({mixed}) % 997)");
    let sums: Vec<String> = terms.iter().chain([&mixed]).map(|term| sum(term)).collect();
    (table.name.to_string(), format!("SELECT COUNT(*), {} FROM {}", sums.join(", "), table.name))
}

/// A sum as a small whole number: some engines give sums of whole numbers as decimals.
fn sum(term: &str) -> String {
    format!("CAST(COALESCE(SUM({term}), 0) % {MODULUS} AS INTEGER)")
}

/// A row's value as a whole number below [`MODULUS`] in size. Codes of a few letters are told apart by their letters,
/// longer texts by their lengths.
fn term(column: &Column) -> String {
    let name = column.name;
    match column.kind {
        Type::Int if column.null => format!("(COALESCE({name}, -1) % {MODULUS})"),
        Type::Int => format!("({name} % {MODULUS})"),
        Type::Text(most) if most <= 15 => {
            let letters = ["A", "B", "C", "L", "M", "N", "S", "T"];
            let weighed = letters
                .iter()
                .zip(1..)
                .map(|(letter, place)| format!("{} * LENGTH(REPLACE({name}, '{letter}', ''))", place * place + 1));
            format!("(LENGTH({name}) + {})", weighed.collect::<Vec<_>>().join(" + "))
        }
        Type::Text(_) | Type::Long => format!("LENGTH({name})"),
    }
}

// How many indexes the tables of a data set have beside their keys.

units::words! {
    /// Indexes beside keys.
    #[derive(Default)]
    pub enum Indexes {
        Few = "few" "None.",
        #[default]
        Usual = "usual" "Those that a user would make.",
        More = "more" "Further ones, which reports and searches would like.",
    }
}
