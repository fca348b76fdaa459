//! `prony predict STUDY --on model:NAME`: what a described machine would answer, written down before anybody measures it.
//!
//! The one idea: the study is planned as for any system, and each of its points becomes a question to the model's closed
//! form. What was predicted is hashed first, so that nobody can tune it afterwards.
//!
//! What it does not do: it touches no system. `prony run --on model:NAME` simulates instead, operation by operation.

mod need;
mod question;
mod tail;

use crate::args::{Changes, Predict};
use crate::failure::Failure;
use crate::model_file::{self, ModelText};
use crate::run;
use crate::{output, study_file};
use need::{Need, Taken};
use question::Question;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::fmt::Write as _;

/// One predicted value.
struct Predicted {
    question: Question,
    quantity: &'static str,
    unit: &'static str,
    value: f64,
    low: f64,
    high: f64,
    caveat: Option<String>,
}

/// Predicts every point of a study, or every row of a table, and writes the prediction down.
pub fn run(asked: &Predict) -> Result<(), Failure> {
    let found = model_file::find(name(&asked.changes)?)?;
    let questions = match asked.study.ends_with(".csv") {
        true => rows(&asked.study)?,
        false => points(asked)?,
    };
    let predicted: Vec<Predicted> = questions.iter().flat_map(|question| answers(&found, question)).collect();
    if predicted.is_empty() {
        return Err(unanswered(&found, &asked.study));
    }
    let taken = taken(asked, &found, &questions)?;
    let document = document(&found, &asked.study, &predicted, &taken);
    if let Some(path) = &asked.output {
        model_file::write_new(path, &format!("{document:#}\n"))?;
    }
    let said = || {
        let found = text(&found, &predicted, &document);
        found + &taken_text(asked.find.as_deref().unwrap_or_default(), &taken)
    };
    output::answer(asked.json, || document.clone(), said)
}

/// How much of what was to be found it takes.
fn taken(asked: &Predict, found: &ModelText, questions: &[Question]) -> Result<Vec<Taken>, Failure> {
    let Some(key) = &asked.find else { return Ok(Vec::new()) };
    let needs: Result<Vec<Need>, Failure> = asked.need.iter().map(|need| Need::read(need, &found.model)).collect();
    need::search(&found.model, questions, key, &needs?)
}

fn taken_text(key: &str, taken: &[Taken]) -> String {
    let count = |count: Option<u64>| count.map_or_else(|| "no number".to_owned(), |count| count.to_string());
    let line = |taken: &Taken| {
        let Taken { stream, predicted, sure } = taken;
        format!("{stream}: {} of {key} meet the need; {} do with 95% confidence\n", count(*predicted), count(*sure))
    };
    let lines: String = taken.iter().map(line).collect();
    if lines.is_empty() { lines } else { format!("\n{lines}") }
}

/// The one model of `--on`, with what is otherwise in it.
fn name(changes: &Changes) -> Result<&str, Failure> {
    let models: Vec<&str> =
        changes.on.iter().filter_map(|target| target.split_once("model:").map(|(_, word)| word)).collect();
    match models.as_slice() {
        [one] if changes.on.len() == 1 => Ok(one),
        _ => {
            let failure = Failure::new(format!("predicting: one model, got `--on {}`", changes.on.join(" --on ")));
            Err(failure.hint("name it with --on model:NAME; `prony judge --help` tells what a model is"))
        }
    }
}

/// The rows of a table as questions.
fn rows(path: &str) -> Result<Vec<Question>, Failure> {
    let table = model_file::table(path)?;
    Ok(table.rows.into_iter().map(Question::of_row).collect())
}

/// The points of a study as questions. The study is planned for a system that answers at once, which has no limits of its
/// own; nothing is opened.
fn points(asked: &Predict) -> Result<Vec<Question>, Failure> {
    let text = study_file::find(&asked.study)?;
    let planned = |target: &str| {
        let changes = Changes { on: vec![target.to_owned()], ..asked.changes.clone() };
        let study = study_file::read_or_fail(&text, &changes, &[])?;
        run::plan(&text.origin, &study, 1)
    };
    // Which of the two can run a study follows from what it asks for.
    let plan = planned("null:").or_else(|_| planned("null-database:"))?;
    Ok(question::of_trials(&plan.trials))
}

/// Every quantity that the model can answer for a question.
fn answers(found: &ModelText, question: &Question) -> Vec<Predicted> {
    let model = &found.model;
    let one = |quantity: &model::kind::Quantity| {
        let value = model.answer(&question.row, quantity.name).ok().filter(|value| value.is_finite())?;
        let (low, high) = model.interval(&question.row, quantity.name, 0.0);
        let caveat = question.caveat(model);
        Some(Predicted {
            question: question.clone(),
            quantity: quantity.name,
            unit: quantity.unit,
            value,
            low,
            high,
            caveat,
        })
    };
    model.kind.answers().iter().filter_map(one).collect()
}

fn unanswered(found: &ModelText, study: &str) -> Failure {
    let names: Vec<&str> = found.model.kind.answers().iter().map(|quantity| quantity.name).collect();
    let what = format!("predicting `{study}`: `{}` answers no point of it", found.model.name);
    Failure::new(what).hint(format!("a {} answers {}", found.model.kind.word(), names.join(", ")))
}

fn document(found: &ModelText, study: &str, predicted: &[Predicted], taken: &[Taken]) -> Value {
    let rows: Vec<Value> = predicted.iter().map(row).collect();
    let body = json!({
        "model": found.model.name,
        "model_sha256": sha256(&found.text),
        "changes": found.changed(),
        "study": study,
        "rows": rows,
        "needed": taken.iter().map(|taken| json!({
            "stream": taken.stream, "predicted": taken.predicted, "sure": taken.sure,
        })).collect::<Vec<_>>(),
    });
    let mut document = json!({
        "schema": "prony/predict/1",
        "sha256": sha256(&body.to_string()),
        "provenance": "simulated",
    });
    if let (Some(to), Value::Object(from)) = (document.as_object_mut(), body) {
        to.extend(from);
    }
    document
}

fn row(predicted: &Predicted) -> Value {
    let Predicted { question, quantity, unit, value, low, high, caveat } = predicted;
    json!({
        "row_id": question.row.id,
        "metric": quantity,
        "unit": unit,
        "inputs": question.row.cells,
        "predicted": value,
        "low": low,
        "high": high,
        "caveat": caveat,
    })
}

fn sha256(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().fold(String::new(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

fn text(found: &ModelText, predicted: &[Predicted], document: &Value) -> String {
    let name = study::model_shown(&found.model.name, &found.changes);
    let mut text = format!("{name}: {}\n", found.model.title);
    let _ = writeln!(text, "sha256 {}\n", document["sha256"].as_str().unwrap_or_default());
    let width = predicted.iter().map(|predicted| predicted.question.row.id.chars().count()).max().unwrap_or(0);
    for Predicted { question, quantity, unit, value, low, high, caveat } in predicted {
        let interval = format!("{} to {}", units::significant(*low), units::significant(*high));
        let mark = caveat.as_ref().map(|caveat| format!("  ({caveat})")).unwrap_or_default();
        let _ = writeln!(
            text,
            "{:<width$}  {quantity:<14} {:>11} {unit:<5} (95% interval {interval}){mark}",
            question.row.id,
            units::significant(*value)
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::rows::{Row, read};

    fn row_of(text: &str) -> Row {
        read(text).expect("a table").rows.remove(0)
    }

    #[test]
    fn a_prediction_is_hashed_with_the_model_that_made_it() {
        let found = model_file::find("f5100").expect("it ships");
        let question =
            Question::of_row(row_of("row_id,test,transfer_kb,modules,window\na,random_read_4k,4,40,unstated\n"));
        let predicted = answers(&found, &question);
        let document = document(&found, "rows.csv", &predicted, &[]);
        assert_eq!(document["rows"][0]["row_id"], "a");
        assert_eq!(document["sha256"].as_str().map(str::len), Some(64));
        let mut tuned = predicted;
        tuned[0].value *= 1.001;
        assert_ne!(super::document(&found, "rows.csv", &tuned, &[])["sha256"], document["sha256"]);
    }

    #[test]
    fn more_than_the_machine_has_is_said() {
        let found = model_file::find("f5100").expect("it ships");
        let table = "row_id,test,transfer_kb,modules,window\na,random_read_4k,4,160,unstated\n";
        let predicted = answers(&found, &Question::of_row(row_of(table)));
        assert!(predicted[0].caveat.as_ref().is_some_and(|caveat| caveat.contains("80")), "{:?}", predicted[0].caveat);
    }
}
