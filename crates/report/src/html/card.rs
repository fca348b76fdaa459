//! The card on top of a page.

use super::prose::{prose, unbroken};
use crate::kept::kept;
use crate::view::{Number, Report, notes};
use maud::{Markup, html};

pub(super) fn card(report: &Report) -> Markup {
    let (card, run) = (&report.card, &report.findings.run);
    html! {
        section class="card" aria-label="Answer" {
            p class=(if card.lost { "first warning" } else { "first" }) { (prose(&card.verdict)) }
            @for line in &card.more { p { (prose(line)) } }
            (doubts(report))
            @if !card.numbers.is_empty() {
                ul class="large" { @for number in &card.numbers { (large(number)) } }
            }
            @if let Some(typical) = &card.typical { p class="typical" { b { "Typical: " } (prose(typical)) "." } }
            @if !card.tested.is_empty() {
                ul class="tested" { @for line in &card.tested { li { (prose(line)) } } }
            }
            @if !run.finished {
                p class="warning" {
                    @if run.running { "This run is still going on." } @else { "This run did not finish." }
                    " What is concluded comes from the trials that ended."
                }
            }
            @if !run.note.is_empty() { p class="note" { "Note: " (run.note) } }
        }
    }
}

fn large(number: &Number) -> Markup {
    html! {
        li {
            span class="value" { (kept(&number.value)) }
            @if !number.interval.is_empty() { span class="interval" { (kept(&number.interval)) } }
            span class="what" { (number.what) }
            span class="place" { (prose(&unbroken(&number.place))) }
            @for also in &number.also { span class="also" { (prose(&unbroken(also))) } }
            @if !number.marks.is_empty() {
                span class="also" { (number.noted()) @for (at, mark) in number.marks.chars().enumerate() { @if at > 0 { "," } " " a href={ "#doubt-" (mark) } { (mark) } } }
            }
        }
    }
}

fn doubts(report: &Report) -> Markup {
    let card = &report.card;
    html! {
        div class=(if card.doubts.is_empty() { "doubt none" } else { "doubt" }) {
            @if card.doubts.is_empty() {
                p { b { "No serious doubt." } (beside(card.beside, false)) }
            } @else {
                @for (at, doubt) in card.doubts.iter().enumerate() {
                    p { @if at == 0 { b { "Doubt: " } } (prose(doubt)) @if at + 1 == card.doubts.len() { (beside(card.beside, true)) } }
                }
            }
        }
    }
}

fn beside(count: usize, more: bool) -> Markup {
    html! {
        @if count > 0 { " " a href="#caveats" { (notes(count, more)) " on this page" } "." }
    }
}
