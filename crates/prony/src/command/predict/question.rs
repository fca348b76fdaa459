//! The points of a study as questions to a model.
//!
//! The one idea: a question is a row like those of published tables, with one cell for each thing that a model may want to
//! know; a model takes the cells that its kind asks for and leaves the others.

use super::tail;
use model::file::Description;
use model::rows::Row;
use observation::factor::short_name;
use study::{Operations, Storage, Stream, Trial, Work};
use workload::block::Pattern;

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

    /// The stream that it is about: the id before its levels.
    pub(super) fn stream(&self) -> String {
        self.row.id.split(": ").next().unwrap_or_default().to_owned()
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
        let resized = |(trial, stream)| Box::new((tail::resized(trial, stream, column, count), stream));
        Question { row, trial: self.trial().map(resized) }
    }

    /// Why the answer is less sure than its interval says.
    pub(super) fn caveat(&self, model: &Description) -> Option<String> {
        let has = model.parameter("modules")?.value;
        let asked = self.row.number("modules")?;
        (asked > has).then(|| format!("this machine has {has} modules; ports are added in proportion"))
    }
}

/// One question for each stream of each point; repeats of a point are one question.
pub(super) fn of_trials(trials: &[Trial]) -> Vec<Question> {
    let mut found: Vec<Question> = Vec::new();
    let mut ordered: Vec<&Trial> = trials.iter().collect();
    ordered.sort_by(|a, b| level(a).total_cmp(&level(b)));
    for trial in ordered {
        for (place, (stream, label)) in trial.streams.iter().zip(&trial.label.streams).enumerate() {
            let levels: Vec<String> =
                trial.label.factors.iter().map(|f| format!("{} {}", short_name(&f.name), f.level.text())).collect();
            let mut row = Row { id: format!("{}: {}", label.name, levels.join(", ")), ..Row::default() };
            cells(trial, stream, &mut row);
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

fn cells(trial: &Trial, stream: &Stream, row: &mut Row) {
    let mut set = |column: &str, text: String| {
        row.cells.insert(column.to_owned(), text);
    };
    set("window", format!("{} seconds", trial.phases.measure.seconds()));
    match &stream.work {
        Work::Operations(Operations { of: Storage::Block(spec), .. }) => {
            let percent = (spec.read.0 * 100.0).round();
            let mix = match percent as u32 {
                100 => "read".to_owned(),
                0 => "write".to_owned(),
                mixed => format!("rw{mixed}"),
            };
            let order = if spec.pattern == Pattern::Sequential { "seq" } else { "random" };
            let weight: f64 = spec.transfers.iter().map(|transfer| transfer.weight).sum();
            let bytes: f64 = spec.transfers.iter().map(|t| t.size.0 as f64 * t.weight).sum::<f64>() / weight;
            set("test", format!("{order}_{mix}"));
            set("op", mix);
            set("transfer_kb", (bytes / 1024.0).to_string());
            set("modules", trial.modules.to_string());
            set("outstanding", stream.slots().to_string());
        }
        Work::Transactions { asked, pool } => {
            set("threads", pool.sessions.to_string());
            asked.columns().into_iter().for_each(|(column, text)| set(column, text));
        }
        Work::Operations(Operations { of: Storage::Files(_), .. }) => {}
    }
}
