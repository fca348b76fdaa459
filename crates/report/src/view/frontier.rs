//! Where transactions give two things, every point of a sweep: what each of them gave, and how old what users saw was.
//!
//! The one idea: one is bought with the other, so that a reader needs all points side by side, in the terminal, too. Ages cannot
//! be pooled from summaries; they are of one trial, the one nearest to the point.

use super::axes::factor_title;
use super::curve::{Curve, Sweep};
use super::figure::Figure;
use super::mix::{age_at, nearest};
use super::points::{trials, yields};
use super::table::{Field, Table, word};
use crate::caveats::{Caveats, Touches};
use analysis::{Findings, PointSummary};
use observation::factor::short_name;

/// The table of a sweep whose points give two things; none of other sweeps.
pub fn table(findings: &Findings, sweep: &Sweep, caveats: &Caveats) -> Option<Table> {
    let points = || sweep.curves.iter().flat_map(|curve| curve.points.iter().map(move |point| (curve, *point)));
    let two = points().all(|(_, point)| point.yields.len() > 1);
    if sweep.factor.is_none() || !two || points().count() < 2 {
        return None;
    }
    let rows = points().map(|(curve, point)| row(findings, sweep, (curve, point), caveats));
    let aged = if has_ages(findings, sweep) { ", with the age of what users saw" } else { "" };
    let mut table = Table::new(format!("Every point of “{}”{aged}", sweep.experiment), rows);
    table.trials = trials(sweep).collect();
    Some(table.without_empty_columns())
}

/// The same for the page.
pub fn figure(findings: &Findings, sweep: &Sweep, caveats: &Caveats) -> Option<Figure> {
    let table = table(findings, sweep, caveats)?;
    let title =
        if has_ages(findings, sweep) { "What each point gives, and how fresh it is" } else { "What each point gives" };
    Some(Figure::new(title, Vec::new(), Vec::new(), table))
}

/// Whether it is known of any point how old what users saw was; a model holds no data.
fn has_ages(findings: &Findings, sweep: &Sweep) -> bool {
    let mut points = sweep.curves.iter().flat_map(|curve| &curve.points);
    points.any(|point| nearest(findings, point).is_some_and(|(trial, stream)| stream.age(&trial.label).is_some()))
}

fn row(findings: &Findings, sweep: &Sweep, (curve, point): (&Curve, &PointSummary), caveats: &Caveats) -> Vec<Field> {
    let all = caveats.marks(&point.caveats, Touches::All);
    let aged = caveats.marks(&point.caveats, Touches::Age);
    let name = sweep.factor_name();
    let mut row = vec![
        word(&factor_title(name, sweep.numeric), name, sweep.level(point).map_or("", |level| level.text()))
            .numeric(sweep.numeric),
        word("system", "system", &curve.at.system).only_if(sweep.several_systems()),
        word("workload", "stream", &curve.at.stream).only_if(sweep.curves.len() > 1),
    ];
    row.extend(curve.at.factors.iter().map(|factor| {
        let name = short_name(&factor.name);
        word(&factor_title(name, factor.level.number().is_some()), name, factor.level.text())
    }));
    row.extend(yields(point).into_iter().map(|field| field.leading().marked(all.clone())));
    let age = nearest(findings, point).and_then(|(trial, stream)| stream.age(&trial.label));
    let name = age.map_or("age", |class| class.name.as_str());
    row.extend([(0.5, "p50"), (0.99, "p99")].map(|(q, quantile)| {
        let (title, key) = (format!("{name} {quantile}"), format!("age_{quantile}_ms"));
        match age {
            Some(class) => {
                let ms = if q == 0.5 { class.response.p50_ms } else { class.response.p99_ms };
                age_at(class, &title, &key, (q, ms)).marked(aged.clone())
            }
            None => word(&title, &key, "").numeric(true),
        }
    }));
    row
}
