//! A page of figures that belongs to no run: a model beside its rows.

use super::figure;
use super::table::Footnotes;
use crate::caveats::Caveats;
use crate::view::{JudgedColumn, judged_figure};
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
            @for column in columns { (figure::figure(&judged_figure(column), &Footnotes::of(&none))) }
        }
    };
    super::whole(&head.title, &head.program, &main, &head.program)
}
