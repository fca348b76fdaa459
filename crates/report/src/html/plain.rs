//! A page of figures that belongs to no run: a model beside its rows, or what a fast tier would save.

use super::figure;
use super::table::Footnotes;
use crate::caveats::Caveats;
use crate::view::{Figure, JudgedColumn, SweetSpot, judged_figure, sweet_spot_figure};
use maud::html as page;

/// What stands above the figures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    /// The title of the page.
    pub title: String,
    /// What was asked.
    pub question: String,
    /// The answer, a paragraph each.
    pub answer: Vec<String>,
    /// Who wrote it: name and version of the program.
    pub program: String,
}

/// One self-contained page with a figure for each column.
pub fn judged_html(head: &Head, columns: &[JudgedColumn]) -> String {
    figures(head, &columns.iter().map(judged_figure).collect::<Vec<_>>())
}

/// One self-contained page with the sweet-spot curve.
pub fn sweet_spot_html(head: &Head, curve: &SweetSpot) -> String {
    figures(head, &[sweet_spot_figure(curve)])
}

fn figures(head: &Head, figures: &[Figure]) -> String {
    let none = Caveats(Vec::new());
    let main = page! {
        header {
            p class="run" { span class="brand" { "Prony" } }
            h1 { (head.title) }
            p class="question" { (head.question) }
        }
        section class="answer" aria-label="Answer" {
            @for line in &head.answer { p { (super::prose::prose(line)) } }
        }
        section class="experiment" {
            @for (at, one) in figures.iter().enumerate() { (figure::figure(one, &Footnotes::of(&none, None), &format!("figure-{at}"))) }
        }
    };
    super::whole(&head.title, &head.program, &main, &head.program)
}
