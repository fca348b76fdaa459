//! Tables in HTML: the interval under its value, the letters of caveats beside it.

use super::prose::prose;
use crate::caveats::{Caveats, CaveatsOfKind};
use crate::kept::kept;
use crate::noted::Places;
use crate::view::{Cell, Column, Table};
use analysis::{CaveatKind, Findings};
use maud::{Markup, html};
use std::cell::RefCell;
use std::collections::BTreeSet;

/// The class of the table that people quote, of which what is minor stands apart.
pub(super) const HEADLINE: &str = "headline";

/// A table; `class` says which, for the style sheet. Columns that do not fit beside the others follow in tables of their own, the least
/// important last, so that none is cut.
pub(super) fn table(table: &Table, class: &str) -> Markup {
    let (first, rest) = folded(table, class == HEADLINE);
    html! {
        (grid(table, &first, class, &table.caption))
        @for columns in &rest {
            @let titles: Vec<&str> = columns.iter().map(|at| &table.columns[*at]).filter(|one| !is_key(one)).map(|one| one.title.as_str()).collect();
            details class="numbers" {
                summary { "More columns: " (titles.join(", ")) }
                (grid(table, columns, class, &format!("{}: {}", name(&table.caption), titles.join(", "))))
            }
        }
    }
}

/// A caption without what it explains, which is said once.
pub(super) fn name(caption: &str) -> &str {
    let ends = ["; ", ". "].into_iter().filter_map(|end| caption.find(end)).min();
    &caption[..ends.unwrap_or(caption.len())]
}

fn grid(table: &Table, columns: &[usize], class: &str, caption: &str) -> Markup {
    html! {
        div class="scroll" tabindex="0" {
            table class=(class) {
                caption { (prose(caption)) }
                thead {
                    tr {
                        @for column in columns.iter().map(|at| &table.columns[*at]) {
                            th scope="col" class=(if column.numeric { "number" } else { "word" }) { (column.title) (letters(&column.marks)) }
                        }
                    }
                }
                tbody {
                    @for (index, row) in table.rows.iter().enumerate() {
                        @if let Some(heading) = table.heading(index) {
                            tr class="group" { th scope="rowgroup" colspan=(columns.len()) { (heading) } }
                        }
                        tr {
                            @for at in columns { td class=(class_of(&table.columns[*at], &row[*at])) { (content(&row[*at])) } }
                        }
                    }
                }
            }
        }
    }
}

/// Words longer than this may be broken into lines.
const WORD_MAX: usize = 14;

/// Room of a table on the widest page, and what a character, one of an interval and the space behind a column take of it, in CSS pixels. On
/// paper all of them are smaller by the same.
const ROOM_PX: f64 = 955.0;
const CHARACTER_PX: f64 = 7.9;
const SMALL_PX: f64 = 6.3;
const GAP_PX: f64 = 16.0;
const TITLE_PX: f64 = 58.0;
const WORDS_PX: f64 = 124.0;

/// So many columns of words are repeated beside further numbers.
const KEYS_MAX: usize = 4;

/// What says of which row the numbers are stands in every part of a table.
fn is_key(column: &Column) -> bool {
    !column.numeric && !column.minor
}

/// The columns of a table that stand beside each other, and of each table behind it.
fn folded(table: &Table, lean: bool) -> (Vec<usize>, Vec<Vec<usize>>) {
    let rank = |at: &usize| match &table.columns[*at] {
        column if is_key(column) => 0,
        column if column.leading => 1,
        column if !column.minor => 2,
        _ => 3,
    };
    let keys: Vec<usize> = (0..table.columns.len()).filter(|at| rank(at) == 0).collect();
    let mut left: Vec<usize> = (0..table.columns.len()).filter(|at| rank(at) > 0).collect();
    left.sort_by_key(rank);
    let mut parts: Vec<Vec<usize>> = Vec::new();
    while parts.is_empty() || !left.is_empty() {
        let shown = if parts.is_empty() { keys.len() } else { keys.len().min(KEYS_MAX) };
        let mut part = keys[..shown].to_vec();
        let mut room = ROOM_PX - part.iter().map(|at| width(table, *at)).sum::<f64>();
        let fitting = left.iter().take_while(|at| {
            room -= width(table, **at);
            room >= 0.0 && !(lean && parts.is_empty() && rank(at) == 3)
        });
        // One at least, or there were no end.
        let count = fitting.count().max(1).min(left.len());
        part.extend(left.drain(..count));
        part.sort_unstable();
        parts.push(part);
    }
    (parts.remove(0), parts)
}

/// No name and no word decides how a table is folded: words are given the same room each, and are broken where they need more.
fn width(table: &Table, at: usize) -> f64 {
    if !table.columns[at].numeric {
        return WORDS_PX;
    }
    let characters = |text: &str| text.chars().count() as f64;
    let of = |cell: &Cell| {
        let value = characters(&cell.text()) + 0.8 * characters(&cell.marks);
        (value * CHARACTER_PX).max(cell.interval().map_or(0.0, |interval| characters(&interval) * SMALL_PX))
    };
    table.rows.iter().map(|row| of(&row[at])).fold(TITLE_PX, f64::max) + GAP_PX
}

fn class_of(column: &Column, cell: &Cell) -> &'static str {
    match (column.numeric, cell.text().chars().count() > WORD_MAX) {
        (true, _) => "number",
        (false, false) => "word",
        (false, true) => "words",
    }
}

fn letters(marks: &str) -> Markup {
    html! { @for (at, mark) in marks.chars().enumerate() { sup { a href={ "#doubt-" (mark) } { (mark) } @if at + 1 < marks.chars().count() { "," } } } }
}

fn content(cell: &Cell) -> Markup {
    html! {
        // The style keeps numbers whole.
        @if cell.raw().is_some() { (cell.text_over_interval()) } @else { (kept(&cell.text())) }
        (letters(&cell.marks))
        @if let Some(interval) = cell.interval() { span class="interval" { (interval) } }
    }
}

/// The caveats of a page, of which a footnote tells the first of a kind, and the texts of those that a footnote has told: each is told once.
pub(super) struct Footnotes<'a> {
    caveats: &'a Caveats,
    /// The kind that the card has told as the doubt.
    doubted: Option<CaveatKind>,
    /// Where each trial ran.
    pub(super) places: Places,
    told: RefCell<BTreeSet<char>>,
}

impl<'a> Footnotes<'a> {
    /// Of a page without a run there are none.
    pub(super) fn of(caveats: &'a Caveats, findings: Option<&Findings>) -> Footnotes<'a> {
        let doubted = findings.and_then(|findings| findings.doubted);
        Footnotes { caveats, doubted, places: findings.map(Places::of).unwrap_or_default(), told: RefCell::default() }
    }

    /// Whether a letter is explained for the first time.
    fn first(&self, mark: char) -> bool {
        self.told.borrow_mut().insert(mark)
    }
}

/// What the letters of a table mean for the trials in it, right under it. `drawn` are letters beside marks of its figure. What a
/// footnote above has told is only named.
pub(super) fn footnotes(table: &Table, drawn: &str, notes: &Footnotes) -> Markup {
    let used = used(table, drawn, notes);
    html! { @if !used.is_empty() { ul class="footnotes" { @for kind in used { (footnote(table, kind, notes)) } } } }
}

/// The same behind their letters and headings, with what is said of all of them.
pub(super) fn folded_footnotes(table: &Table, drawn: &str, notes: &Footnotes, said: Option<String>) -> Markup {
    let used = used(table, drawn, notes);
    html! {
        @if !used.is_empty() {
            details class="numbers" {
                summary { @for (at, kind) in used.iter().enumerate() { @if at > 0 { " · " } span class="letter" { (kind.mark) } " " (kind.kind.heading()) } }
                ul class="footnotes" { @for kind in &used { (footnote(table, kind, notes)) } }
                @if let Some(said) = said { p class="notes" { (prose(&said)) } }
            }
        }
    }
}

fn used<'a>(table: &Table, drawn: &str, notes: &Footnotes<'a>) -> Vec<&'a CaveatsOfKind> {
    let marks = table.marks();
    notes.caveats.0.iter().filter(|kind| marks.contains(kind.mark) || drawn.contains(kind.mark)).collect()
}

fn footnote(table: &Table, kind: &CaveatsOfKind, notes: &Footnotes) -> Markup {
    let trials = table.marked_trials(kind.mark);
    let about = notes.places.answer_first(kind.about(&trials));
    let doubted = notes.doubted == Some(kind.kind);
    html! {
        li {
            a class="letter" href={ "#doubt-" (kind.mark) } { (kind.mark) }
            b { (kind.kind.heading()) ". " }
            @if doubted { "see the doubt above" }
            @if let Some(caveat) = about.first().filter(|_| !doubted && notes.first(kind.mark)) {
                (prose(&caveat.text))
                // Whatever stands in this table, the doubt counts all trials, too.
                @let all: Vec<_> = std::iter::once(*caveat).chain(&kind.caveats).collect();
                span class="faint" { (kept(&notes.places.whose(&all))) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_a_table_has_its_name_and_explains_nothing_again() {
        assert_eq!(name("Mix of day (trial 1); ~: few samples. Rate: what ended"), "Mix of day (trial 1)");
        assert_eq!(name("Every point"), "Every point");
    }
}
