//! What a report says, as values: decided once, printed by text, HTML and CSV alike.
//!
//! The one idea: which figure an experiment gets follows from what it varied and what was found, and is decided here.
//! A renderer chooses no numbers; it only knows how to draw a [`Table`] or a figure.
//!
//! What it does not do: it computes no statistic. Every number comes from analysis, with its interval.

mod added;
mod axes;
mod bars;
mod beside;
mod card;
mod conclusion;
mod cost;
mod curve;
mod distribution;
mod elapsed;
mod figure;
mod footprint;
mod frontier;
mod generator;
mod given;
mod headline;
mod interrupted;
mod judged;
mod memory;
mod mix;
mod order;
mod pair;
mod points;
mod quantity;
mod rates;
mod scaling;
mod search;
mod server;
mod statements;
mod sustained;
mod sweet_spot;
mod table;
mod tested;
mod tiers;
mod timeline;
mod transfer;
mod versus;

pub use card::{Card, Number, notes};
pub use conclusion::{Conclusion, Tone, conclusion};
pub use figure::{Axis, Datum, Figure, Form, Guide, Look, Panel, Series, Spacing, Span};
pub use judged::{JudgedColumn, JudgedCurve, JudgedPoint, figure as judged_figure};
pub use memory::working_set;
pub use quantity::Quantity;
pub use sweet_spot::{SweetPoint, SweetSpot, figure as sweet_spot_figure};
pub use table::{Cell, Column, Table, listed};
#[cfg(test)]
pub(crate) use table::{estimate, word};
pub use versus::PAIRED;

use crate::caveats::Caveats;
use analysis::{Felt, Finding, Findings, PairFinding, PointSummary, Verdict, Work};
use curve::Sweep;
use observation::{Point, factor};
use std::collections::{BTreeMap, BTreeSet};

/// Everything that a report shows, in the order in which it is read.
#[derive(Clone, Debug, PartialEq)]
pub struct Report<'a> {
    /// Where all of it comes from.
    pub findings: &'a Findings,
    /// What stands on top.
    pub card: Card,
    /// For every curve the point that people quote.
    pub headline: Table,
    /// How many points do not stand there.
    pub left_out: Option<String>,
    /// Where transactions give two things, every point with both; where objects went to the fast tier, every step.
    pub frontiers: Vec<Table>,
    /// The mix of transactions at the points that people quote; empty for storage.
    pub mixes: Vec<Table>,
    /// What one transaction asks of the database, by statement, at the points that people quote.
    pub profiles: Vec<Table>,
    /// Trials that ended before their time, with the figures of the part that they finished; without rows when there is none.
    pub interrupted: Table,
    /// Findings in words: damage and outages, thresholds, then the primary comparison, then what was found, then exploratory comparisons.
    pub conclusions: Vec<Conclusion>,
    /// Systems against the baseline, when any are compared.
    pub versus: Option<Figure>,
    /// One an experiment, or one for experiments that are read side by side.
    pub sections: Vec<Section>,
    /// Every caveat with its letter.
    pub caveats: Caveats,
}

/// One experiment.
#[derive(Clone, Debug, PartialEq)]
pub struct Section {
    pub title: String,
    /// Whether it is the one that the answer is about, or the first where none is.
    pub answers: bool,
    /// Factors that were the same throughout, in words.
    pub constant: String,
    /// What was found, but for comparisons.
    pub conclusions: Vec<Conclusion>,
    /// Figures, each with its table.
    pub figures: Vec<Figure>,
    /// Every point.
    pub table: Table,
    /// Whether that table stands under a figure already.
    pub drawn: bool,
}

/// Decides what a report shows.
pub fn report(findings: &Findings) -> Report<'_> {
    let caveats = Caveats::of(findings);
    let sweeps: Vec<Sweep> =
        curve::experiments(findings).into_iter().map(|name| curve::sweep(findings, name)).collect();
    let headline = headline::table(findings, &sweeps, &caveats).gathered();
    Report {
        findings,
        card: card::card(findings, &sweeps, &caveats),
        left_out: headline::left_out(findings, &headline),
        headline,
        frontiers: sweeps
            .iter()
            .filter_map(|sweep| frontier::table(findings, sweep, &caveats))
            .map(Table::gathered)
            .chain(tiers::tables(findings))
            .collect(),
        mixes: sweeps.iter().flat_map(|sweep| mix::tables(findings, sweep, &caveats)).map(Table::gathered).collect(),
        profiles: sweeps.iter().flat_map(|sweep| statements::tables(findings, sweep)).map(Table::in_one_unit).collect(),
        interrupted: interrupted::table(findings, &caveats),
        conclusions: told_apart(
            conclusions(findings)
                .into_iter()
                .chain(versus::requests(findings))
                .chain(sweeps.iter().flat_map(|sweep| headline::edges(findings, sweep)))
                .chain(costs(findings, &sweeps))
                .chain(sweeps.iter().filter_map(|sweep| generator::conclusion(findings, sweep)))
                .collect(),
        ),
        versus: versus::figure(findings).map(gathered),
        sections: sections(findings, &sweeps, &caveats),
        caveats,
    }
}

fn conclusions(findings: &Findings) -> Vec<Conclusion> {
    let rank = |finding: &Finding| match finding {
        Finding::Damage(_) => 0,
        Finding::Outage(_) => 1,
        Finding::Threshold(_) | Finding::Deadline(_) => 2,
        Finding::Comparison(comparison) if comparison.primary => 3,
        Finding::Beside(_) | Finding::Footprint(_) | Finding::Tier(_) | Finding::Mirror(_) => 3,
        Finding::Comparison(_) => 6,
        // At most and sustained that hardly differ are told after all that was found.
        Finding::Sustained(found) if !sustained::differs(found) => 5,
        _ => 4,
    };
    let mut ordered: Vec<&Finding> = findings.findings.iter().filter(|one| footprint::told(findings, one)).collect();
    ordered.sort_by_key(|finding| rank(finding));
    ordered.into_iter().map(|finding| told(findings, finding)).collect()
}

/// Each of them once, in the order in which they come.
pub(crate) fn each_once<T: PartialEq>(all: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut once = Vec::new();
    for one in all {
        if !once.contains(&one) {
            once.push(one);
        }
    }
    once
}

/// What transactions cost, and whether their data is right.
fn costs(findings: &Findings, sweeps: &[Sweep]) -> Vec<Conclusion> {
    sweeps.iter().flat_map(|sweep| costs_of(findings, sweep)).collect()
}

fn costs_of(findings: &Findings, sweep: &Sweep) -> Vec<Conclusion> {
    let told = memory::conclusions(findings, sweep);
    told.into_iter().chain(cost::conclusions(findings, sweep)).collect()
}

/// Experiments over transfer size follow each other side by side (on and off alignment); all others stand alone.
fn beside<'a, 'b>(sweeps: &'b [Sweep<'a>]) -> Vec<Vec<&'b Sweep<'a>>> {
    let mut groups: Vec<Vec<&Sweep>> = Vec::new();
    for sweep in sweeps {
        let joins = groups.last().is_some_and(|group| group.len() < 2 && is_transfer(group[0]) && is_transfer(sweep));
        match groups.last_mut() {
            Some(group) if joins => group.push(sweep),
            _ => groups.push(vec![sweep]),
        }
    }
    groups
}

fn is_transfer(sweep: &Sweep) -> bool {
    sweep.numeric && sweep.factor_name() == factor::TRANSFER
}

fn sections(findings: &Findings, sweeps: &[Sweep], caveats: &Caveats) -> Vec<Section> {
    let mut all: Vec<Section> = beside(sweeps).iter().map(|sweeps| section(findings, sweeps, caveats)).collect();
    let open = all.iter().position(|one| one.answers).unwrap_or(0);
    for (at, one) in all.iter_mut().enumerate() {
        one.answers = at == open;
    }
    all
}

fn section(findings: &Findings, sweeps: &[&Sweep], caveats: &Caveats) -> Section {
    let main = sweeps[0];
    let constant: Vec<String> = main.constant.iter().map(|(name, level)| format!("{name} {level}")).collect();
    let names: Vec<&str> = sweeps.iter().map(|sweep| sweep.experiment).collect();
    let main_figure = main_figure(findings, sweeps, caveats);
    let edges = sweeps.iter().flat_map(|sweep| headline::edges(findings, sweep));
    let of_transactions = sweeps.iter().flat_map(|sweep| costs_of(findings, sweep));
    let of_generator = sweeps.iter().filter_map(|sweep| generator::conclusion(findings, sweep));
    Section {
        title: names.join(" · "),
        answers: findings.answered.iter().any(|point| names.contains(&point.experiment.as_str())),
        constant: constant.join(", "),
        conclusions: found(findings, &names)
            .into_iter()
            .chain(edges)
            .chain(of_transactions)
            .chain(of_generator)
            .collect(),
        drawn: main_figure.is_some(),
        figures: answering_figures(findings, sweeps, caveats)
            .into_iter()
            .chain(main_figure)
            .chain(further_figures(findings, sweeps, caveats))
            .map(gathered)
            .collect(),
        table: points::joined(sweeps, caveats).gathered(),
    }
}

fn gathered(figure: Figure) -> Figure {
    Figure {
        panels: figure.panels.into_iter().map(Panel::gathered).collect(),
        table: figure.table.gathered(),
        ..figure
    }
}

fn found(findings: &Findings, experiments: &[&str]) -> Vec<Conclusion> {
    let here =
        |conclusion: &Conclusion| conclusion.experiment.as_deref().is_some_and(|name| experiments.contains(&name));
    let of = findings.findings.iter().filter(|finding| !matches!(finding, Finding::Comparison(_)));
    told_apart(of.map(|finding| told(findings, finding)).filter(here).collect())
}

/// Two experiments may say something of the same stream; then each sentence names its experiment.
fn told_apart(conclusions: Vec<Conclusion>) -> Vec<Conclusion> {
    let mut experiments = BTreeMap::<_, BTreeSet<_>>::new();
    // Verdicts are one kind of sentence, whatever the verdict is.
    let kind = |one: &Conclusion| match Verdict::of_word(&one.word) {
        Some(_) => String::new(),
        None => one.word.clone(),
    };
    for one in &conclusions {
        experiments.entry((kind(one), &one.subject)).or_default().insert(&one.experiment);
    }
    let shared = |one: &Conclusion| experiments.get(&(kind(one), &one.subject)).is_some_and(|all| all.len() > 1);
    let named = |conclusion: &Conclusion| match &conclusion.experiment {
        Some(experiment) if shared(conclusion) => {
            Conclusion { text: format!("{experiment}, {}", conclusion.text), ..conclusion.clone() }
        }
        _ => conclusion.clone(),
    };
    conclusions.iter().map(named).collect()
}

fn several_systems(findings: &Findings) -> bool {
    findings.points.iter().any(|point| point.at.system != findings.points[0].at.system)
}

/// What answers where the levels are not what was asked: steps to a fast tier, and what happened in the midst of a trial.
fn answering_figures(findings: &Findings, sweeps: &[&Sweep], caveats: &Caveats) -> Vec<Figure> {
    let of = |sweep: &&Sweep| {
        let over_time = timeline::figure(findings, sweep.experiment, caveats).filter(|_| happened(findings, sweep));
        tiers::figures(findings, sweep.experiment).into_iter().chain(over_time)
    };
    sweeps.iter().flat_map(of).collect()
}

/// Whether something happened to a pair in its trials, or to a device.
fn happened(findings: &Findings, sweep: &Sweep) -> bool {
    findings.findings.iter().any(|finding| match finding {
        Finding::Pair(PairFinding { point, .. }) | Finding::Felt(Felt { point, .. }) => {
            point.experiment == sweep.experiment
        }
        _ => false,
    })
}

fn further_figures(findings: &Findings, sweeps: &[&Sweep], caveats: &Caveats) -> Vec<Figure> {
    let mut figures = Vec::new();
    for sweep in sweeps {
        figures.extend(pair::figure(findings, sweep.experiment));
        figures.extend(added::figure(findings, sweep.experiment));
        figures.extend(frontier::figure(findings, sweep, caveats));
        figures.extend(footprint::figure(findings, sweep.experiment));
        figures.extend(beside::figures(findings, sweep, caveats));
        figures.extend(mix::figures(findings, sweep, caveats));
        figures.extend(server::figures(findings, sweep));
        figures.extend(memory::figures(findings, sweep));
        figures.extend(statements::figures(findings, sweep));
        figures.extend(search::figures(findings, sweep.experiment));
        figures.extend(sustained::figures(findings, sweep.experiment));
        // Transfer sizes are about means of single operations; a distribution at one size would say little.
        if !is_transfer(sweep) {
            figures.extend(distribution::figure(findings, sweep, caveats));
        }
        if !happened(findings, sweep) {
            figures.extend(timeline::figure(findings, sweep.experiment, caveats));
        }
        figures.extend(generator::figure(findings, sweep));
    }
    figures
}

/// What was varied decides how it is drawn.
fn main_figure(findings: &Findings, sweeps: &[&Sweep], caveats: &Caveats) -> Option<Figure> {
    let sweep = sweeps[0];
    // Of so many blocks the rate is asked, however their end was decided.
    let blocks = |point: &&&PointSummary| findings.storage.iter().any(|asked| asked.stream == point.at.stream);
    let points = || sweep.curves.iter().flat_map(|curve| &curve.points);
    let fixed_work = points().filter(|point| !blocks(point)).any(|point| point.elapsed_s.is_some());
    match sweep.factor_name() {
        _ if !sweep.numeric => bars::figure(sweep, caveats),
        _ if fixed_work => Some(elapsed::figure(sweep, caveats)),
        factor::TRANSFER => Some(transfer::figure(findings, sweeps, caveats)),
        factor::MODULES | factor::WORKERS | factor::THREADS => Some(scaling::figure(findings, sweep, caveats)),
        _ => Some(rates::figure(findings, sweep, caveats)),
    }
}

/// A finding in words, with rates in the unit of the work of its stream.
fn told(findings: &Findings, finding: &Finding) -> Conclusion {
    let of = |at: &Point| findings.points.iter().find(|point| point.at.same_stream(at));
    conclusion(finding, several_systems(findings), |at| of(at).map_or(Work::Operations, |point| point.work))
}
