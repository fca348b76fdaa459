//! A page of figures that belongs to no run: a model beside its rows.

use super::{POLICY, SCRIPT, STYLE, figure};
use crate::doubts::Doubts;
use crate::view::Figure;
use maud::{DOCTYPE, PreEscaped, html as page};

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

/// One self-contained page.
pub fn figures_html(head: &Head, figures: &[Figure]) -> String {
    let none = Doubts(Vec::new());
    page! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="generator" content=(head.program);
                title { (head.title) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                main {
                    header {
                        p class="run" { span class="brand" { "Prony" } }
                        h1 { (head.title) }
                        p class="question" { (head.question) }
                    }
                    section class="answer" aria-label="Answer" {
                        @for line in &head.answer { p { (line) } }
                    }
                    section class="experiment" {
                        @for one in figures { (figure::figure(one, &none)) }
                    }
                }
                footer { (head.program) }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    }
    .into_string()
}
