//! `prony predict STUDY --on model:NAME`: what a described machine would answer, written down before anybody measures it.
//!
//! The one idea: the study is planned as for any system, and each of its points becomes a question to the model's closed
//! form. What was predicted is hashed first, so that nobody can tune it afterwards.
//!
//! What it does not do: it touches no system. `prony run --on model:NAME` simulates instead, operation by operation.

mod formal;
mod need;
mod question;
mod simulated;

use crate::args::{Changes, Predict};
use crate::failure::Failure;
use crate::model_file::{self, ModelText};
use crate::rows_file;
use crate::run;
use crate::{output, study_file};
use formal::Answer;
use model::file::Description;
use model::kind::Unanswered;
use need::{Need, Taken};
use question::Question;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use simulated::Simulations;
use std::fmt::Write as _;
use study::{Judgement, Place, SystemSpec};

/// One predicted value.
struct Predicted {
    question: Question,
    quantity: &'static str,
    unit: &'static str,
    value: f64,
    low: f64,
    high: f64,
    caveat: Option<String>,
    /// What the closed form does not know of the question, so that a simulation answered it.
    simulated: Option<&'static str>,
}

/// What is asked.
#[derive(Default)]
struct Points {
    questions: Vec<Question>,
    notes: Vec<String>,
    /// None where rows of a table ask.
    judgement: Option<Judgement>,
}

/// What a model says of the questions of a study.
#[derive(Default)]
struct Answers {
    predicted: Vec<Predicted>,
    /// What was left out of the study, and is worth knowing.
    notes: Vec<String>,
    /// Question, quantity, and why it has no answer though another question may have one.
    left: Vec<(String, &'static str, String)>,
}

/// Predicts every point of a study, or every row of a table, and writes the prediction down.
pub fn run(asked: &Predict) -> Result<(), Failure> {
    let found = described(asked)?;
    let Points { questions, notes, judgement } = match asked.study.ends_with(".csv") {
        true => Points { questions: rows(&asked.study)?, ..Points::default() },
        false => points(asked, &found.model)?,
    };
    let mut simulations = Simulations::new(&found.model, judgement.as_ref());
    let mut answers = Answers { notes, ..Answers::default() };
    questions.iter().try_for_each(|question| answers.ask(&found.model, question, &mut simulations))?;
    if answers.predicted.is_empty() {
        return Err(unanswered(&found, &asked.study, &answers));
    }
    let taken = taken(asked, &found, &questions)?;
    asked.need.iter().for_each(|need| answers.needed(&found.model, &questions, need));
    let document = document(&found, &asked.study, &answers, &taken);
    if let Some(path) = &asked.output {
        model_file::write_new(path, &format!("{document:#}\n"))?;
    }
    let said = || {
        let found = text(&found, &answers, &document);
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
        let sure = match &taken.unsure {
            Some(why) => format!("how surely is not known: {why}"),
            None => format!("{} do with 95% confidence", count(taken.sure)),
        };
        format!("{}: {} of {key} meet the need; {sure}\n", taken.stream, count(taken.predicted))
    };
    let lines: String = taken.iter().map(line).collect();
    if lines.is_empty() { lines } else { format!("\n{lines}") }
}

/// The model that is asked: of `--on`, or else the only system of the study.
fn described(asked: &Predict) -> Result<ModelText, Failure> {
    if asked.changes.on.is_empty() && !asked.study.ends_with(".csv") {
        let study = study_file::read_or_fail(&study_file::find(&asked.study)?, &asked.changes, &[])?;
        if let [SystemSpec { place: Place::Model { model, changes }, .. }] = study.systems() {
            return model_file::changed(model, changes);
        }
    }
    model_file::find(name(&asked.changes)?)
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
    let table = rows_file::table(path)?;
    Ok(table.rows.into_iter().map(Question::of_row).collect())
}

/// The points of a study as questions, what is worth knowing of them, and how the study judges. The study is planned for the
/// model as if it had as much of everything as is asked for; nothing is opened.
fn points(asked: &Predict, model: &Description) -> Result<Points, Failure> {
    let text = study_file::find(&asked.study)?;
    let study = study_file::read_or_fail(&text, &asked.changes, &[])?;
    let mut plan = run::plan_for(&text.origin, &study, model)?;
    for search in &plan.searches {
        plan.notes.push(format!(
            "`{}` searches a rate, which is not predicted: ask with --find and --need",
            search.experiment
        ));
    }
    Ok(Points { questions: question::of_trials(&plan.trials), notes: plan.notes, judgement: Some(plan.judgement) })
}

impl Answers {
    /// Asks for every quantity that the model answers: the closed form, and the simulation for what that does not know.
    fn ask(
        &mut self,
        model: &Description,
        question: &Question,
        simulations: &mut Simulations<'_>,
    ) -> Result<(), Failure> {
        for given in question.gives() {
            if let Some(answer) = simulations.answer(question, given.word())? {
                let why = "what transactions give an hour";
                self.told(model, question, (given.word(), "1/h"), answer, Some(why), simulations);
            }
        }
        for quantity in model.kind.answers() {
            let (answer, simulated) = match formal::answer(model, question, quantity.name) {
                Ok(answer) if answer.value.is_finite() => (Some(answer), None),
                Err(Unanswered::Simulated(why)) => {
                    let (rate, answer) = (
                        simulations.answer(question, formal::rate(model))?,
                        simulations.answer(question, quantity.name)?,
                    );
                    let possible = |answer| formal::possible(model, question, quantity.name, answer, || rate);
                    (answer.map(possible), Some(why))
                }
                _ => continue,
            };
            let Some(Answer { value, low, high }) = answer else {
                let why = simulated.unwrap_or_default();
                let reason =
                    format!("the closed form does not know {why}, and a simulation gives no {}", quantity.name);
                self.left.push((question.row.id.clone(), quantity.name, reason));
                continue;
            };
            self.told(
                model,
                question,
                (quantity.name, quantity.unit),
                Answer { value, low, high },
                simulated,
                simulations,
            );
        }
        Ok(())
    }

    fn told(
        &mut self,
        model: &Description,
        question: &Question,
        (quantity, unit): (&'static str, &'static str),
        Answer { value, low, high }: Answer,
        simulated: Option<&'static str>,
        simulations: &Simulations<'_>,
    ) {
        let over = question.trial().filter(|_| simulated.is_some());
        let over = over.and_then(|(trial, _)| simulations.shortened(trial));
        let over = over.map(|over| format!("simulated over {} only", units::duration(over)));
        let (caveat, question) = (question.caveat(model).or(over), question.clone());
        self.predicted.push(Predicted { question, quantity, unit, value, low, high, caveat, simulated });
    }

    /// Names the questions to which a quantity that is needed has no answer; what nobody asks for is left out without a word.
    fn needed(&mut self, model: &Description, questions: &[Question], need: &str) {
        let name = need.split(['<', '>']).next().unwrap_or_default().trim();
        let Some(quantity) = model.kind.answers().iter().find(|quantity| quantity.name == name) else { return };
        for question in questions {
            match model.answer(&question.row, quantity.name) {
                Ok(_) | Err(Unanswered::Simulated(_)) => {}
                Err(error) => self.left.push((question.row.id.clone(), quantity.name, error.to_string())),
            }
        }
    }
}

fn unanswered(found: &ModelText, study: &str, answers: &Answers) -> Failure {
    let names: Vec<&str> = found.model.kind.answers().iter().map(|quantity| quantity.name).collect();
    let what = format!("predicting `{study}`: `{}` answers no point of it", found.model.name);
    let failure = Failure::new(what).hint(format!("a {} answers {}", found.model.kind.word(), names.join(", ")));
    failure.hints(answers.left.first().map(|(row, quantity, why)| format!("{row}: no {quantity}: {why}")))
}

fn document(found: &ModelText, study: &str, answers: &Answers, taken: &[Taken]) -> Value {
    let rows: Vec<Value> = answers.predicted.iter().map(row).collect();
    let left = answers.left.iter();
    let left: Vec<Value> =
        left.map(|(row, metric, why)| json!({ "row_id": row, "metric": metric, "reason": why })).collect();
    let body = json!({
        "model": found.model.name,
        "model_sha256": sha256(&found.text),
        "changes": found.changed(),
        "study": study,
        "rows": rows,
        "unanswered": left,
        "notes": answers.notes,
        "needed": taken.iter().map(|taken| json!({
            "stream": taken.stream, "predicted": taken.predicted, "sure": taken.sure, "unsure": taken.unsure,
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
    let Predicted { question, quantity, unit, value, low, high, caveat, simulated } = predicted;
    json!({
        "row_id": question.row.id,
        "metric": quantity,
        "unit": unit,
        "inputs": question.row.cells,
        "predicted": value,
        "low": low,
        "high": high,
        "caveat": caveat,
        "by": if simulated.is_some() { "simulation" } else { "closed form" },
        "because": simulated,
    })
}

fn sha256(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().fold(String::new(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

fn text(found: &ModelText, answers: &Answers, document: &Value) -> String {
    let name = study::model_shown(&found.model.name, &found.changes);
    let mut text = format!("{name}: {}\n", found.model.title);
    let _ = writeln!(text, "sha256 {}\n", document["sha256"].as_str().unwrap_or_default());
    let widths = answers.predicted.iter().map(|predicted| predicted.question.row.id.chars().count());
    let width = widths.max().unwrap_or(0);
    for predicted in &answers.predicted {
        let Predicted { question, quantity, low, high, .. } = predicted;
        let (value, unit) = predicted.shown(predicted.value);
        let interval = format!("{} to {}", predicted.shown(*low).0, predicted.shown(*high).0);
        let _ = writeln!(
            text,
            "{:<width$}  {quantity:<17} {value:>10} {unit:<5} (95% interval {interval}){}",
            question.row.id,
            remark(predicted)
        );
    }
    for note in &answers.notes {
        let _ = writeln!(text, "note: {note}");
    }
    let why: Vec<&str> = answers.predicted.iter().filter_map(|predicted| predicted.simulated).collect();
    if !why.is_empty() {
        let _ = writeln!(text, "simulated, because the closed form does not know {}", once(&why).join(", and "));
    }
    let left: Vec<(&str, &str)> = answers.left.iter().map(|(_, quantity, why)| (*quantity, why.as_str())).collect();
    for (quantity, why) in once(&left) {
        let of = answers.left.iter().filter(|(_, other, reason)| (*other, reason.as_str()) == (quantity, why));
        let rows: Vec<&str> = of.map(|(row, ..)| row.as_str()).collect();
        let _ = writeln!(text, "{quantity} is not answered of {}: {why}", rows.join(", "));
    }
    text
}

/// Each of them, where it stands first.
fn once<T: PartialEq + Copy>(all: &[T]) -> Vec<T> {
    let mut found = Vec::new();
    for one in all {
        if !found.contains(one) {
            found.push(*one);
        }
    }
    found
}

impl Predicted {
    /// A value in the unit that is told to people, and that unit.
    fn shown(&self, value: f64) -> (String, &'static str) {
        match self.unit {
            "1/h" => (units::per_hour(value), ""),
            unit => (units::significant(value), unit),
        }
    }
}

/// What a reader should know of an answer, behind it.
fn remark(predicted: &Predicted) -> String {
    let simulated = predicted.simulated.map(|_| "simulated".to_owned());
    let said: Vec<String> = simulated.into_iter().chain(predicted.caveat.clone()).collect();
    if said.is_empty() { String::new() } else { format!("  ({})", said.join("; ")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::rows::{Row, read};

    fn row_of(text: &str) -> Row {
        read(text).expect("a table").rows.remove(0)
    }

    fn asked(found: &ModelText, question: &Question) -> Answers {
        let (mut answers, mut simulations) = (Answers::default(), Simulations::new(&found.model, None));
        assert!(answers.ask(&found.model, question, &mut simulations).is_ok());
        answers
    }

    #[test]
    fn a_prediction_is_hashed_with_the_model_that_made_it() {
        let found = model_file::find("f5100").expect("it ships");
        let question =
            Question::of_row(row_of("row_id,test,transfer_kb,modules,window\na,random_read_4k,4,40,unstated\n"));
        let mut answers = asked(&found, &question);
        let document = document(&found, "rows.csv", &answers, &[]);
        assert_eq!(document["rows"][0]["row_id"], "a");
        assert_eq!(document["sha256"].as_str().map(str::len), Some(64));
        answers.predicted[0].value *= 1.001;
        assert_ne!(super::document(&found, "rows.csv", &answers, &[])["sha256"], document["sha256"]);
    }

    #[test]
    fn more_than_the_machine_has_is_said() {
        let found = model_file::find("f5100").expect("it ships");
        let table = "row_id,test,transfer_kb,modules,window\na,random_read_4k,4,160,unstated\n";
        let predicted = asked(&found, &Question::of_row(row_of(table))).predicted;
        assert!(predicted[0].caveat.as_ref().is_some_and(|caveat| caveat.contains("80")), "{:?}", predicted[0].caveat);
    }
}
