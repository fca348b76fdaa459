//! `prony calibrate MODEL ROWS...`: the numbers of a model from rows that were measured or published, and from what the
//! transactions of a run asked for.
//!
//! The one idea: a profile is taken first and is given from then on; rows move what is left.

mod profile;

use crate::args::Calibrate;
use crate::failure::Failure;
use crate::rows_file;
use crate::{model_file, output};
use model::calibrate::{Calibrated, calibrate, learned, leave_one_out};
use model::file::{self, Description, ENOUGH};
use model::rows::Table;
use model::taken::Taken;
use profile::Profiled;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::Path;
use workload::Demand;

/// A fit, and the error of each row when it is left out.
struct Fit {
    calibrated: Calibrated,
    left_out: Vec<(String, String, f64)>,
}

/// Takes a profile, fits a model, says how well, and writes it where it was asked to.
pub fn run(asked: &Calibrate) -> Result<(), Failure> {
    if asked.rows.is_empty() && asked.profile.is_none() {
        let failure =
            Failure::new(format!("calibrating the model `{}`: rows or a profile are needed, got neither", asked.model));
        return Err(failure.hint("name tables or runs behind the model, or a run of transactions with `--profile RUN`"));
    }
    let found = model_file::find(&asked.model)?;
    let take = |run: &String| profile::profiled(&found.model, run, asked.trial);
    let profiled = asked.profile.as_ref().map(take).transpose()?;
    let begun = profiled.as_ref().map_or(&found.model, |profiled| &profiled.model);
    let fit = if asked.rows.is_empty() { None } else { Some(fitted(begun, &asked.rows)?) };
    let done = fit.as_ref().map_or(begun, |fit| &fit.calibrated.model);
    if let Some(path) = &asked.output {
        model_file::write_new(path, &file::write(done))?;
    }
    if asked.json {
        output::print_json(&document(done, fit.as_ref(), profiled.as_ref()))?;
    } else {
        let profile = profiled.as_ref().map(profile_text);
        let rows = fit.as_ref().map(|fit| as_text(&fit.calibrated, &fit.left_out));
        let parts: Vec<String> = profile.into_iter().chain(rows).collect();
        output::print(&format!("{}\n{}", parts.join("\n"), written(asked.output.as_deref())))?;
    }
    Ok(())
}

fn fitted(model: &Description, rows: &[String]) -> Result<Fit, Failure> {
    let tables: Result<Vec<Table>, Failure> = rows.iter().map(|path| rows_file::table(path)).collect();
    let tables = tables?;
    let mut calibrated = calibrate(model, &tables)
        .map_err(|error| Failure::caused(format!("calibrating the model `{}`", model.name), &error))?;
    calibrated.model = learned(&calibrated.model, &tables);
    Ok(Fit { left_out: leave_one_out(model, &tables), calibrated })
}

/// Rows and profile; what took no part is empty.
fn document(model: &Description, fit: Option<&Fit>, profiled: Option<&Profiled>) -> Value {
    let mut document = match fit {
        Some(fit) => as_json(&fit.calibrated, &fit.left_out),
        None => json!({
            "schema": "prony/calibrate/1", "model": model.name, "parameters": [], "rows": [], "left_out": [],
            "not_separable": { "silent": [], "flat": [] }, "leave_one_out": [], "discrepancy": null,
        }),
    };
    document["profile"] = profiled.map_or(Value::Null, profile_json);
    document
}

fn profile_json(profiled: &Profiled) -> Value {
    let amount = |(taken, of): &(Taken, &str)| {
        json!({
            "amount": taken.amount.word(), "each": taken.each, "unit": taken.amount.unit(),
            "of": taken.each.map(|_| of),
            "parameter": taken.parameter.map(|(name, ..)| name), "value": taken.parameter.map(|(.., now)| now),
        })
    };
    json!({
        "run": profiled.run, "trial": profiled.trial, "system": profiled.system, "sessions": profiled.sessions,
        "transactions": profiled.transactions, "transaction": profiled.model.transaction.map(transaction_json),
        "amounts": profiled.taken.iter().map(amount).collect::<Vec<_>>(),
    })
}

/// The mean transaction that the numbers of a model hold for.
fn transaction_json(transaction: Demand) -> Value {
    let Demand { statements, lookups, changes } = transaction;
    json!({ "statements": statements, "lookups": lookups, "changes": changes })
}

fn profile_text(profiled: &Profiled) -> String {
    let Profiled { model, run, trial, why, system, sessions, transactions, taken } = profiled;
    let mut text = format!(
        "{}: what a transaction asked for in trial {trial} of {run}\n\
         ({system}, {}, {} transactions; {why})\n\n\
         {:<24} {:>12} {:<8} {:<12} {:>10} {:>10}  of what\n",
        model.name,
        profile::counted(*sessions),
        units::count(*transactions),
        "amount",
        "per tx",
        "unit",
        "parameter",
        "before",
        "now",
    );
    for (Taken { amount, each, parameter }, of) in taken {
        let number = units::significant;
        let (name, before, now) = match parameter {
            Some((name, before, now)) => (*name, number(*before), number(*now)),
            None => ("-", String::new(), String::new()),
        };
        let (each, of) = match (each, parameter) {
            (Some(each), Some(_)) => (number(*each), (*of).to_owned()),
            (Some(each), None) => (number(*each), format!("left unused: a {} has no such number", model.kind.word())),
            (None, _) => ("-".to_owned(), "not observed, which is not zero: it stays".to_owned()),
        };
        let _ = writeln!(
            text,
            "{:<24} {each:>12} {:<8} {name:<12} {before:>10} {now:>10}  {of}",
            amount.word(),
            amount.unit()
        );
    }
    if let Some(Demand { statements, lookups, changes }) = model.transaction {
        let [statements, lookups, changes] = [statements, lookups, changes].map(units::significant);
        let _ = writeln!(
            text,
            "by its statements, the mean transaction of the run finds {lookups} rows and changes {changes} rows in {statements} \
             statements (the table counts what the server did, indexes included); classes of other workloads are scaled by theirs"
        );
    }
    text
}

fn written(to: Option<&Path>) -> String {
    match to {
        Some(path) => format!("written to {}\n", path.display()),
        None => "nothing was written; -o FILE writes the calibrated model\n".to_owned(),
    }
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
        "discrepancy": learned_json(model),
        "leave_one_out": left_out.iter()
            .map(|(row_id, metric, error)| json!({ "row_id": row_id, "metric": metric, "error_pct": error }))
            .collect::<Vec<_>>(),
    })
}

/// What was learned of the form by leaving rows out.
fn learned_text(model: &Description) -> String {
    let Some(discrepancy) = &model.discrepancy else { return String::new() };
    let each = discrepancy.each.iter().map(|(quantity, each)| format!("{quantity} {}", units::percent(*each)));
    let each: Vec<String> = each.collect();
    let each = if each.is_empty() { "as of other models".to_owned() } else { each.join(", ") };
    let judged = match discrepancy.calibrated() {
        true => format!("stretched by {:.2} to hold 95 of 100", discrepancy.stretch),
        false => {
            let stretch = discrepancy.stretch;
            format!(
                "intervals are not calibrated, which takes {ENOUGH}; stretched by {stretch:.2}, as all that ship need"
            )
        }
    };
    let scores = units::counted(u64::from(discrepancy.scores), "scores");
    format!("\noff for each doubling of the size beyond the rows: {each}\n{scores} of what was left out: {judged}\n")
}

/// The same for documents.
fn learned_json(model: &Description) -> Value {
    model.discrepancy.as_ref().map_or(Value::Null, |discrepancy| {
        let percent = |offs: &[(String, f64)]| -> serde_json::Map<String, Value> {
            offs.iter().map(|(name, off)| (name.clone(), json!(100.0 * off))).collect()
        };
        json!({
            "scores": discrepancy.scores,
            "calibrated": discrepancy.calibrated(),
            "stretch": discrepancy.stretch,
            "near_pct": percent(&discrepancy.near),
            "each_doubling_pct": percent(&discrepancy.each),
        })
    })
}

fn as_text(calibrated: &Calibrated, left_out: &[(String, String, f64)]) -> String {
    let Calibrated { model, fitted, free, met, .. } = calibrated;
    let counted = |n: usize, things: &str| units::counted(n as u64, things);
    let (values, rows) = (counted(met.len(), "values"), counted(model.calibration.len(), "rows"));
    let mut text = format!("{}: {values} of {rows}\n\n", model.name);
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
    text.push_str(&learned_text(model));
    if !fitted.separation.flat.is_empty() {
        text.push('\n');
    }
    for flat in &fitted.separation.flat {
        let names: Vec<&str> = flat.parameters.iter().map(|(name, _)| name.as_str()).collect();
        let _ = writeln!(text, "the rows cannot separate: {}", names.join(", "));
    }
    text
}
