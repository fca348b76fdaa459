//! The points of a study as questions to a model.
//!
//! The one idea: a question is a row like those of published tables, with one cell for each thing that a model may want to
//! know; a model takes the cells that its kind asks for and leaves the others.

use super::simulated;
use crate::asked;
use model::file::Description;
use model::rows::Row;
use observation::factor::short_name;
use study::{Trial, Yield};

/// One point.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Question {
    /// Its cells; the id is the point in words.
    pub(super) row: Row,
    /// The trial of a study behind it, and which of its streams.
    trial: Option<Box<(Trial, usize)>>,
}

impl Question {
    /// A row of a table as it is.
    pub(super) fn of_row(row: Row) -> Question {
        Question { row, trial: None }
    }

    /// The trial behind it, and which of its streams; none of a row.
    pub(super) fn trial(&self) -> Option<(&Trial, usize)> {
        self.trial.as_deref().map(|(trial, stream)| (trial, *stream))
    }

    /// What its transactions give, in the words of their users.
    pub(super) fn gives(&self) -> Vec<Yield> {
        let labels = self.trial().and_then(|(trial, stream)| trial.label.streams.get(stream));
        let mut all: Vec<Yield> = Vec::new();
        for given in labels.iter().flat_map(|label| &label.gives).filter_map(|gives| Yield::of_word(&gives.what)) {
            if !all.contains(&given) {
                all.push(given);
            }
        }
        all
    }

    /// The stream that it is about, with its experiment where others have it, too: the id before its levels.
    pub(super) fn stream(&self) -> String {
        self.row.id.rsplit_once(": ").map_or("", |(stream, _)| stream).to_owned()
    }

    /// The same with another count of something. The load of storage is so many outstanding for each module, and grows with
    /// them.
    pub(super) fn at(&self, column: &str, count: u64) -> Question {
        let mut row = self.row.clone();
        if let (true, Some(modules), Some(outstanding)) =
            (column == "modules", row.number("modules"), row.number("outstanding"))
        {
            row.cells.insert("outstanding".to_owned(), (outstanding / modules * count as f64).to_string());
        }
        row.cells.insert(column.to_owned(), count.to_string());
        let resized = |(trial, stream)| Box::new((simulated::resized(trial, stream, column, count), stream));
        Question { row, trial: self.trial().map(resized) }
    }

    /// Why the answer is less sure than its interval says.
    pub(super) fn caveat(&self, model: &Description) -> Option<String> {
        self.beyond_modules(model).or_else(|| self.other_customers(model))
    }

    /// The modules of a machine that grows with the question; of all others a model answers no more than there are.
    fn beyond_modules(&self, model: &Description) -> Option<String> {
        let has = f64::from(model::modules(model).filter(|_| model.kind.has_more())?);
        let asked = self.row.number("modules")?;
        let described = model.parameter("modules").map_or(has, |parameter| parameter.value);
        let more = if asked > described { "ports are added in proportion" } else { "the others failed" };
        (asked > has).then(|| format!("this machine has {has} modules; {more}"))
    }

    fn other_customers(&self, model: &Description) -> Option<String> {
        let known = model.parameter("customers")?.value;
        let asked = self.row.number("customers")?;
        (known > 0.0 && asked != known).then(|| {
            format!("its reads are known at {known} customers; how many miss with {asked} follows from data, buffer and skew")
        })
    }
}

/// One question for each stream of each point; repeats of a point are one question.
pub(super) fn of_trials(trials: &[Trial]) -> Vec<Question> {
    let mut found: Vec<Question> = Vec::new();
    let mut ordered: Vec<&Trial> = trials.iter().collect();
    ordered.sort_by(|a, b| level(a).total_cmp(&level(b)));
    for trial in ordered {
        for (place, (stream, label)) in trial.streams.iter().zip(&trial.label.streams).enumerate() {
            // A stream alone and the same beside others are two questions.
            let elsewhere = |other: &Trial| {
                let named = other.label.streams.iter().any(|stream| stream.name == label.name);
                named && other.label.experiment != trial.label.experiment
            };
            let experiment = trials.iter().any(elsewhere).then(|| format!("{}, ", trial.label.experiment));
            let levels: Vec<String> =
                trial.label.factors.iter().map(|f| format!("{} {}", short_name(&f.name), f.level.text())).collect();
            let mut row = Row {
                id: format!("{}{}: {}", experiment.unwrap_or_default(), label.name, levels.join(", ")),
                ..Row::default()
            };
            row.cells = asked::cells(trial, stream);
            if !found.iter().any(|question| question.row.id == row.id) {
                found.push(Question { row, trial: Some(Box::new((trial.clone(), place))) });
            }
        }
    }
    found
}

fn level(trial: &Trial) -> f64 {
    trial.label.factors.first().and_then(|factor| factor.level.number()).unwrap_or(0.0)
}
