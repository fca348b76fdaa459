//! Tables in HTML: the interval under its value, the letters of doubts beside it.

use crate::doubts::{Doubts, heading};
use crate::view::{Cell, Table};
use maud::{Markup, html};

/// A table; `class` says which, for the style sheet.
pub(super) fn table(table: &Table, class: &str) -> Markup {
    html! {
        div class="scroll" {
            table class=(class) {
                caption { (table.caption) }
                thead {
                    tr {
                        @for column in &table.columns {
                            th scope="col" class=[column.numeric.then_some("number")] { (column.title) }
                        }
                    }
                }
                tbody {
                    @for row in &table.rows {
                        tr {
                            @for (column, cell) in table.columns.iter().zip(row) {
                                td class=[column.numeric.then_some("number")] { (content(cell)) }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn content(cell: &Cell) -> Markup {
    html! {
        (cell.text())
        @for mark in cell.marks.chars() { sup { a href={ "#doubt-" (mark) } { (mark) } } }
        @if let Some(interval) = cell.interval() { span class="interval" { (interval) } }
    }
}

/// What the letters of a table mean, right under it.
pub(super) fn footnotes(marks: &str, doubts: &Doubts) -> Markup {
    let used: Vec<_> = doubts.0.iter().filter(|doubt| marks.contains(doubt.mark)).collect();
    html! {
        @if !used.is_empty() {
            ul class="footnotes" {
                @for doubt in used {
                    li {
                        a class="letter" href={ "#doubt-" (doubt.mark) } { (doubt.mark) }
                        b { (heading(doubt.kind)) ". " }
                        @if let Some(first) = doubt.caveats.first() { (first.text) }
                        @if doubt.caveats.len() > 1 { span class="faint" { " and " (doubt.caveats.len() - 1) " more like it" } }
                    }
                }
            }
        }
    }
}
