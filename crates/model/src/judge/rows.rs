//! A table of rows against a model.

use super::{Baselines, baselines};
use crate::file::{Answer, Description, Metric};
use crate::rows::{Row, Table, floor_pct};

units::words! {
    /// What a row is to the model.
    pub enum Role {
        Calibration = "calibration" "It was fitted on it: shown, never counted.",
        Judged = "judged" "The model never saw it.",
    }
}

/// One value of one row.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    /// The row.
    pub row_id: String,
    /// The column.
    pub metric: String,
    /// The size that the row asks by, where it has one.
    pub size: Option<f64>,
    /// What else it asks by, in words: rows that differ in nothing but their size are one curve.
    pub curve: String,
    /// What the row is to the model.
    pub role: Role,
    /// The value that the table gives; none when the cell is empty, which makes this a prediction only.
    pub published: Option<f64>,
    /// What the model says.
    pub predicted: f64,
    /// Lower end of the 95 percent interval for the value as published.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Predicted over published, less one, in percent.
    pub error_pct: Option<f64>,
    /// Rounding of the published value, in percent of it.
    pub floor_pct: Option<f64>,
    /// What simpler laws say.
    pub baselines: Baselines,
}

/// A judged table.
#[derive(Clone, Debug, PartialEq)]
pub struct Judgement {
    /// Name of the model.
    pub model: String,
    /// Which form of rows it was.
    pub answer: String,
    /// The column of the size.
    pub size: String,
    /// Every value that the model answers, in the order of the rows.
    pub rows: Vec<Judged>,
    /// Rows that the model cannot answer, with the reason.
    pub unanswered: Vec<(String, String)>,
}

/// Why a table cannot be judged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "each message says what its parts are")]
pub enum JudgeError {
    /// No form of rows that the model answers fits the table's columns.
    #[error("the model `{model}` answers no table with the columns {columns}; it answers {known}")]
    NoAnswer { model: String, columns: String, known: String },
}

/// Judges every row of a table. `calibration` holds all known rows of the same columns from which the laws beside the model
/// are made; rows of the table itself that the model was fitted on belong to them too.
///
/// # Errors
/// When the model answers no such table.
pub fn judge(model: &Description, table: &Table, calibration: &[Row]) -> Result<Judgement, JudgeError> {
    let answer = model.answer_for(table).ok_or_else(|| no_answer(model, table))?;
    let mut judgement = Judgement {
        model: model.name.clone(),
        answer: answer.name.clone(),
        size: answer.size.clone(),
        rows: Vec::new(),
        unanswered: Vec::new(),
    };
    let fitted: Vec<&Row> = known_rows(model, table, calibration);
    for row in &table.rows {
        let Some(answer) = model.answer_for_row(table, row) else {
            judgement.unanswered.push((row.id.clone(), "the row is of another machine".to_owned()));
            continue;
        };
        for metric in &answer.metrics {
            // An empty cell is a question when the row holds no value at all, else it is none.
            let asks =
                row.number(&metric.column).is_some() || answer.metrics.iter().all(|m| row.text(&m.column).is_none());
            if !asks || !table.columns.contains(&metric.column) {
                continue;
            }
            match one(model, answer, metric, row, &fitted) {
                Ok(judged) => judgement.rows.push(judged),
                Err(reason) => judgement.unanswered.push((row.id.clone(), reason)),
            }
        }
    }
    Ok(judgement)
}

/// The rows that the model was fitted on, wherever they stand.
fn known_rows<'a>(model: &Description, table: &'a Table, calibration: &'a [Row]) -> Vec<&'a Row> {
    let mut known: Vec<&Row> = calibration.iter().filter(|row| model.calibration.contains(&row.id)).collect();
    let here = table.rows.iter().filter(|row| model.calibration.contains(&row.id));
    for row in here {
        if !known.iter().any(|other| other.id == row.id) {
            known.push(row);
        }
    }
    known
}

fn one(model: &Description, answer: &Answer, metric: &Metric, row: &Row, fitted: &[&Row]) -> Result<Judged, String> {
    let predicted = model.answer(row, &metric.quantity).map_err(|reason| reason.to_string())?;
    let published = row.number(&metric.column);
    let floor = row.text(&metric.column).and_then(floor_pct);
    let (low, high) = model.interval(row, &metric.quantity, floor.unwrap_or(0.0) / 100.0);
    let role = if model.calibration.contains(&row.id) { Role::Calibration } else { Role::Judged };
    Ok(Judged {
        row_id: row.id.clone(),
        metric: metric.column.clone(),
        size: row.number(&answer.size),
        curve: curve(answer, row),
        role,
        published,
        predicted,
        low,
        high,
        error_pct: published.map(|value| 100.0 * (predicted / value - 1.0)),
        floor_pct: floor,
        baselines: beside(model, answer, metric, row, fitted),
    })
}

fn curve(answer: &Answer, row: &Row) -> String {
    let others = answer.inputs.iter().filter(|input| **input != answer.size);
    let said: Vec<String> = others.filter_map(|input| Some(format!("{input} {}", row.text(input)?))).collect();
    said.join(", ")
}

/// The laws see the calibration rows that ask the same but for the size.
fn beside(model: &Description, answer: &Answer, metric: &Metric, row: &Row, fitted: &[&Row]) -> Baselines {
    let quantity = model.kind.answers().iter().find(|quantity| quantity.name == metric.quantity);
    let (Some(quantity), Some(at)) = (quantity, row.number(&answer.size)) else { return Baselines::default() };
    let same = |other: &&&Row| {
        let mut others = answer.inputs.iter().filter(|input| **input != answer.size);
        others.all(|input| other.text(input) == row.text(input))
    };
    let point = |other: &&Row| Some((other.number(&answer.size)?, other.number(&metric.column)?));
    let points: Vec<(f64, f64)> = fitted.iter().filter(same).filter_map(point).collect();
    baselines(quantity.shape, &points, at)
}

fn no_answer(model: &Description, table: &Table) -> JudgeError {
    let form = |answer: &Answer| {
        let metrics: Vec<&str> = answer.metrics.iter().map(|metric| metric.column.as_str()).collect();
        format!("`{}` asked by {}", metrics.join("`, `"), answer.inputs.join(", "))
    };
    let known: Vec<String> = model.answers.iter().map(form).collect();
    JudgeError::NoAnswer {
        model: model.name.clone(),
        columns: table.columns.join(", "),
        known: if known.is_empty() { "none".to_owned() } else { known.join("; ") },
    }
}
