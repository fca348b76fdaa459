//! `prony calibrate MODEL ROWS...`: the numbers of a model from rows that were measured or published.

use crate::Outcome;
use crate::args::Calibrate;
use crate::failure::Failure;
use crate::{model_file, output};
use model::calibrate::{Calibrated, calibrate, leave_one_out};
use model::file;
use model::rows::Table;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::Path;

/// Fits a model, says how well, and writes it where it was asked to.
pub fn run(asked: &Calibrate) -> Result<Outcome, Failure> {
    let found = model_file::find(&asked.model)?;
    let tables: Result<Vec<Table>, Failure> = asked.rows.iter().map(|path| model_file::table(path)).collect();
    let tables = tables?;
    let calibrated = calibrate(&found.model, &tables)
        .map_err(|error| Failure::caused(format!("calibrating the model `{}`", found.model.name), &error))?;
    let left_out = leave_one_out(&found.model, &tables);
    if let Some(path) = &asked.output {
        model_file::write_new(path, &file::write(&calibrated.model))?;
    }
    if asked.json {
        output::print_json(&as_json(&calibrated, &left_out))?;
    } else {
        output::print(&as_text(&calibrated, &left_out, asked.output.as_deref()))?;
    }
    Ok(Outcome::Fine)
}

fn as_json(calibrated: &Calibrated, left_out: &[(String, String, f64)]) -> Value {
    let Calibrated { model, fitted, free, met, .. } = calibrated;
    let parameter = |(place, name): (usize, &String)| {
        let parameter = model.parameter(name);
        json!({
            "name": name,
            "value": fitted.values[place],
            "unit": parameter.map(|parameter| parameter.unit.clone()),
            "from": parameter.map(|parameter| parameter.origin.text()),
            "doubt_pct": 196.0 * fitted.separation.deviations[place],
            "silent": fitted.separation.silent.contains(name),
        })
    };
    json!({
        "schema": "prony/calibrate/1",
        "model": model.name,
        "parameters": free.iter().enumerate().map(parameter).collect::<Vec<_>>(),
        "rows": met.iter().map(|met| json!({
            "row_id": met.row_id, "metric": met.metric, "value": met.value, "fitted": met.fitted,
            "error_pct": 100.0 * (met.fitted / met.value - 1.0),
        })).collect::<Vec<_>>(),
        "left_out": calibrated.left_out.iter()
            .map(|(row_id, reason)| json!({ "row_id": row_id, "reason": reason.to_string() })).collect::<Vec<_>>(),
        "not_separable": {
            "silent": fitted.separation.silent,
            "flat": fitted.separation.flat.iter().map(|flat| flat.parameters.iter()
                .map(|(name, _)| name.clone()).collect::<Vec<_>>()).collect::<Vec<_>>(),
        },
        "leave_one_out": left_out.iter()
            .map(|(row_id, metric, error)| json!({ "row_id": row_id, "metric": metric, "error_pct": error }))
            .collect::<Vec<_>>(),
    })
}

fn as_text(calibrated: &Calibrated, left_out: &[(String, String, f64)], to: Option<&Path>) -> String {
    let Calibrated { model, fitted, free, met, .. } = calibrated;
    let mut text = format!("{}: {} values of {} rows\n\n", model.name, met.len(), model.calibration.len());
    let _ = writeln!(text, "{:<22} {:>12} {:<10} {:>8}", "parameter", "value", "unit", "doubt");
    for (place, name) in free.iter().enumerate() {
        let unit = model.parameter(name).map(|parameter| parameter.unit.as_str()).unwrap_or_default();
        let silent = fitted.separation.silent.contains(name);
        let _ = writeln!(
            text,
            "{name:<22} {:>12} {unit:<10} {:>8}{}",
            units::significant(fitted.values[place]),
            format!("±{:.1}%", 196.0 * fitted.separation.deviations[place]),
            if silent { "  (as assumed: no row speaks of it)" } else { "" }
        );
    }
    let _ = writeln!(
        text,
        "\n{:<34} {:<24} {:>11} {:>11} {:>8} {:>14}",
        "row", "metric", "value", "fitted", "error", "when left out"
    );
    for met in met {
        let out = left_out.iter().find(|(row, metric, _)| *row == met.row_id && *metric == met.metric);
        let _ = writeln!(
            text,
            "{:<34} {:<24} {:>11} {:>11} {:>8} {:>14}",
            met.row_id,
            met.metric,
            units::significant(met.value),
            units::significant(met.fitted),
            format!("{:+.2}%", 100.0 * (met.fitted / met.value - 1.0)),
            out.map_or_else(|| "-".to_owned(), |(_, _, error)| format!("{error:+.2}%"))
        );
    }
    for (row_id, reason) in &calibrated.left_out {
        let _ = writeln!(text, "{row_id:<34} took no part: {reason}");
    }
    text.push('\n');
    for flat in &fitted.separation.flat {
        let names: Vec<&str> = flat.parameters.iter().map(|(name, _)| name.as_str()).collect();
        let _ = writeln!(text, "the rows cannot separate: {}", names.join(", "));
    }
    match to {
        Some(path) => {
            let _ = writeln!(text, "written to {}", path.display());
        }
        None => text.push_str("nothing was written; -o FILE writes the calibrated model\n"),
    }
    text
}
