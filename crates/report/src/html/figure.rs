//! Figures in HTML: key, panels, notes, the caveats of its marks, and the table.

use super::prose::prose;
use super::table::{self, Footnotes};
use crate::chart;
use crate::view::{Figure, Panel};
use maud::{Markup, html};
use units::counted;

/// A figure with its table; `id` is where a link leads to it.
pub(super) fn figure(figure: &Figure, notes: &Footnotes, id: &str) -> Markup {
    html! {
        @if figure.folded {
            details class="folded" id=(id) {
                summary { (figure.title) @let contents = contents(figure); @if !contents.is_empty() { span class="faint" { " · " (contents) } } }
                (body(figure, notes, None))
            }
        } @else {
            (body(figure, notes, Some(id)))
        }
    }
}

fn body(figure: &Figure, notes: &Footnotes, id: Option<&str>) -> Markup {
    html! {
        figure id=[id] {
            figcaption {
                h3 { (figure.title) @if let Some(id) = id { a class="here" href={ "#" (id) } aria-label={ "link to " (figure.title) } { "#" } } }
                (key(figure))
            }
            @if !figure.panels.is_empty() {
                div class="panels" {
                    @for panel in &figure.panels { (one(figure, panel)) }
                }
                p class="readout" aria-hidden="true" {}
            }
            @for note in &figure.notes { p class="notes" { (prose(note)) } }
            @if figure.panels.is_empty() {
                (table::footnotes(&figure.table, "", notes))
                (table::table(&figure.table, "points"))
            } @else {
                details class="numbers" {
                    summary { "The numbers and notes: " (counted(figure.table.rows.len() as u64, "rows")) }
                    (table::table(&figure.table, "points"))
                    (table::footnotes(&figure.table, &drawn(figure), notes))
                }
            }
        }
    }
}

/// What is behind a title: what says the title again goes on behind it.
pub(super) fn beyond<'a>(title: &str, contents: &'a str) -> &'a str {
    contents.strip_prefix(title).map_or(contents, |rest| rest.trim_start_matches([' ', ',']))
}

/// What is behind a closed figure.
fn contents(figure: &Figure) -> String {
    match figure.panels.len() {
        0 => beyond(&figure.title, table::name(&figure.table.caption)).to_owned(),
        panels => format!("{} and a table", counted(panels as u64, "panels")),
    }
}

/// Letters beside marks.
fn drawn(figure: &Figure) -> String {
    let points = figure.panels.iter().flat_map(|panel| &panel.series).flat_map(|series| &series.points);
    let whole = figure.panels.iter().flat_map(|panel| panel.marks.chars());
    points.flat_map(|point| point.marks.chars()).chain(whole).collect()
}

fn key(figure: &Figure) -> Markup {
    html! {
        @if !figure.key.is_empty() {
            ul class="key" {
                @for entry in &figure.key { li { (chart::sample(entry.look, entry.form)) (entry.name) } }
            }
        }
    }
}

fn one(figure: &Figure, panel: &Panel) -> Markup {
    // A panel of rows has no words on its upright axis, so its title is said here.
    let titled = panel.is_rows() || (figure.panels.len() > 1 && panel.title != panel.y.title);
    html! {
        div class={ "panel " (panel.span.word()) } {
            @if titled { h4 { (panel.title) } }
            (chart::svg(panel, &label(figure, panel)))
        }
    }
}

/// What the panel shows, for those who hear the page: the numbers are in the table.
fn label(figure: &Figure, panel: &Panel) -> String {
    let names: Vec<&str> = panel.series.iter().map(|series| series.name.as_str()).take(8).collect();
    format!("{}: {}. {}. The numbers are in the table below.", figure.title, panel.title, names.join("; "))
}
