//! Tables in HTML: the interval under its value, the letters of caveats beside it.

use super::prose::prose;
use crate::caveats::Caveats;
use crate::view::{Cell, Column, Table};
use maud::{Markup, html};
use std::cell::RefCell;
use std::collections::BTreeSet;

/// A table; `class` says which, for the style sheet.
pub(super) fn table(table: &Table, class: &str) -> Markup {
    let narrowed = table.columns.len() > COLUMNS_ON_PAPER && minor(table) > 0;
    html! {
        div class="scroll" {
            table class=(class) {
                caption {
                    (table.caption)
                    @if narrowed { span class="on-paper" { "; the page itself has " (minor(table)) " more columns" } }
                }
                thead {
                    tr {
                        @for column in &table.columns {
                            th scope="col" class=(heading_class(column, narrowed)) { (column.title) (letters(&column.marks)) }
                        }
                    }
                }
                tbody {
                    @for (index, row) in table.rows.iter().enumerate() {
                        @if let Some(heading) = table.heading(index) {
                            tr class="group" { th scope="rowgroup" colspan=(table.columns.len()) { (heading) } }
                        }
                        tr {
                            @for (column, cell) in table.columns.iter().zip(row) {
                                td class=(class_of(column, cell, narrowed)) { (content(cell)) }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Paper has room for about so many columns; of a wider table the minor ones stay on the page.
const COLUMNS_ON_PAPER: usize = 11;

/// Words longer than this may be broken into lines.
const WORD_MAX: usize = 34;

fn class_of(column: &Column, cell: &Cell, narrowed: bool) -> String {
    let kind = match (column.numeric, cell.text().chars().count() > WORD_MAX) {
        (true, _) => "number",
        (false, false) => "word",
        (false, true) => "words",
    };
    with_minor(kind, column, narrowed)
}

fn heading_class(column: &Column, narrowed: bool) -> String {
    with_minor(if column.numeric { "number" } else { "word" }, column, narrowed)
}

fn with_minor(kind: &str, column: &Column, narrowed: bool) -> String {
    if narrowed && column.minor { format!("{kind} minor") } else { kind.to_owned() }
}

fn minor(table: &Table) -> usize {
    table.columns.iter().filter(|column| column.minor).count()
}

fn letters(marks: &str) -> Markup {
    html! { @for mark in marks.chars() { sup { a href={ "#doubt-" (mark) } { (mark) } } } }
}

fn content(cell: &Cell) -> Markup {
    html! {
        (cell.text())
        (letters(&cell.marks))
        @if let Some(interval) = cell.interval() { span class="interval" { (interval) } }
    }
}

/// Under a table so many caveats of a kind are told; all of them stand in the list at the end.
const TOLD_MAX: usize = 1;

/// The caveats of a page, and the texts of those that a footnote has told: each is told once.
pub(super) struct Footnotes<'a> {
    caveats: &'a Caveats,
    told: RefCell<BTreeSet<String>>,
}

impl<'a> Footnotes<'a> {
    pub(super) fn of(caveats: &'a Caveats) -> Footnotes<'a> {
        Footnotes { caveats, told: RefCell::default() }
    }

    /// Whether a text is told for the first time.
    fn first(&self, text: &str) -> bool {
        self.told.borrow_mut().insert(text.to_owned())
    }
}

/// What the letters of a table mean for the trials in it, right under it. `drawn` are letters beside marks of its figure. What a
/// footnote above has told is only named.
pub(super) fn footnotes(table: &Table, drawn: &str, notes: &Footnotes) -> Markup {
    let marks = table.marks();
    let used: Vec<_> =
        notes.caveats.0.iter().filter(|kind| marks.contains(kind.mark) || drawn.contains(kind.mark)).collect();
    html! {
        @if !used.is_empty() {
            ul class="footnotes" {
                @for kind in used {
                    @let about: Vec<_> = kind.about(&table.trials).collect();
                    li {
                        a class="letter" href={ "#doubt-" (kind.mark) } { (kind.mark) }
                        b { (kind.kind.heading()) ". " }
                        @for (index, caveat) in about.iter().take(TOLD_MAX).filter(|one| notes.first(&one.text)).enumerate() {
                            @if index > 0 { "; " }
                            (prose(&caveat.text))
                            @if let Some(trial) = caveat.trial { span class="faint" { " (trial " (trial) ")" } }
                        }
                        @if about.len() > TOLD_MAX { span class="faint" { " and " (about.len() - TOLD_MAX) " more like it" } }
                    }
                }
            }
        }
    }
}
