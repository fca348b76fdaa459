//! A model beside its rows on a page.

use super::{columns, inside, judged, mean, worst};
use crate::model_file::ModelText;
use analysis::Estimate;
use model::judge::{Judged, Judgement, Role};
use observation::Provenance;
use report::{JudgedColumn, JudgedCurve, JudgedPoint};

/// The page; `sources` say of each judgement where the values of its rows come from.
pub(super) fn page(found: &ModelText, judgements: &[Judgement], sources: &[Provenance]) -> String {
    let drawn: Vec<JudgedColumn> =
        columns(judgements).into_iter().map(|column| drawn(column, judgements, sources)).collect();
    let head = report::Head {
        title: study::model_shown(&found.model.name, &found.changes),
        question: format!("{}: how far is the model off?", found.model.title),
        answer: columns(judgements).iter().filter_map(|column| said(judgements, column)).collect(),
        program: concat!("Prony ", env!("CARGO_PKG_VERSION")).to_owned(),
    };
    report::judged_html(&head, &drawn)
}

/// How wrong the model is in one column.
fn said(judgements: &[Judgement], column: &str) -> Option<String> {
    let rows = judged(judgements, column);
    let (Some(mean), Some(worst)) = (mean(&rows), worst(&rows, &|row| row.error_pct)) else {
        return Some(format!("{column}: the model was fitted on every row, so that none says how wrong it is."));
    };
    let held = rows.iter().filter(|row| inside(row)).count();
    let count = units::counted(rows.len() as u64, "rows");
    Some(format!("{column}: {count} judged, mean error {mean:.2}%, worst {worst:+.2}%, {held} inside their intervals."))
}

fn drawn(metric: String, judgements: &[Judgement], sources: &[Provenance]) -> JudgedColumn {
    let mut column = JudgedColumn { size: String::new(), curves: Vec::new(), metric };
    for (judgement, source) in judgements.iter().zip(sources) {
        for row in judgement.rows.iter().filter(|row| row.metric == column.metric) {
            column.size.clone_from(&judgement.size);
            let Some(point) = point(row, *source) else { continue };
            match column.curves.iter_mut().find(|curve| curve.name == row.curve) {
                Some(curve) => curve.points.push(point),
                None => column.curves.push(JudgedCurve { name: row.curve.clone(), points: vec![point] }),
            }
        }
    }
    column
}

/// Only a row with a size has a place along it.
fn point(row: &Judged, provenance: Provenance) -> Option<JudgedPoint> {
    Some(JudgedPoint {
        row: row.row_id.clone(),
        size: row.size?,
        value: row.published,
        provenance,
        fitted: row.role == Role::Calibration,
        predicted: Estimate { low: row.low, high: row.high, ..Estimate::single(row.predicted) },
        error_pct: row.error_pct,
    })
}
