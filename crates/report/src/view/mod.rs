//! What a report says, as values: decided once, printed by text, HTML and CSV alike.
//!
//! The one idea: which figure an experiment gets follows from what it varied and what was found, and is decided here.
//! A renderer chooses no numbers; it only knows how to draw a [`Table`] or a figure.
//!
//! What it does not do: it computes no statistic. Every number comes from analysis, with its interval.

mod conclusion;
mod curve;
mod headline;
mod points;
mod quantity;
mod table;

pub use conclusion::{Conclusion, Tone, conclusion, with_interval};
pub use quantity::Quantity;
pub use table::{Cell, Column, Held, Table};

use crate::doubts::Doubts;
use analysis::Findings;

/// Everything that a report shows, in the order in which it is read.
#[derive(Clone, Debug, PartialEq)]
pub struct Report<'a> {
    /// Where all of it comes from.
    pub findings: &'a Findings,
    /// For every curve the point that people quote.
    pub headline: Table,
    /// Findings in words: thresholds, then the primary comparison, then the others.
    pub conclusions: Vec<Conclusion>,
    /// One an experiment.
    pub sections: Vec<Section>,
    /// Every doubt with its letter.
    pub doubts: Doubts,
}

/// One experiment.
#[derive(Clone, Debug, PartialEq)]
pub struct Section {
    /// Its name.
    pub title: String,
    /// Factors that were the same throughout, in words.
    pub constant: String,
    /// Every point.
    pub table: Table,
}

/// Decides what a report shows.
pub fn report(findings: &Findings) -> Report<'_> {
    let doubts = Doubts::of(findings);
    let sweeps: Vec<curve::Sweep> =
        curve::experiments(findings).into_iter().map(|name| curve::sweep(findings, name)).collect();
    Report {
        findings,
        headline: headline::table(findings, &sweeps, &doubts),
        conclusions: conclusions(findings),
        sections: sweeps.iter().map(|sweep| section(sweep, &doubts)).collect(),
        doubts,
    }
}

fn conclusions(findings: &Findings) -> Vec<Conclusion> {
    let rank = |finding: &analysis::Finding| match finding {
        analysis::Finding::Threshold(_) => 0,
        analysis::Finding::Comparison(comparison) if comparison.primary => 1,
        analysis::Finding::Comparison(_) => 3,
        _ => 2,
    };
    let mut ordered: Vec<&analysis::Finding> = findings.findings.iter().collect();
    ordered.sort_by_key(|finding| rank(finding));
    ordered.into_iter().map(conclusion).collect()
}

fn section(sweep: &curve::Sweep, doubts: &Doubts) -> Section {
    let constant: Vec<String> = sweep.constant.iter().map(|(name, level)| format!("{name} {level}")).collect();
    Section { title: sweep.experiment.to_owned(), constant: constant.join(", "), table: points::table(sweep, doubts) }
}
