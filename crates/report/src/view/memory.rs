//! Checkpoints and the window, and the data beside the memories that may hold it: sentences, and a table by trial.
//!
//! The one idea: both say what a rate is a rate of. The sentences stand at the quoted point; the table has every trial, because
//! data grows and windows differ.

use super::conclusion::{Conclusion, Tone};
use super::curve::{Sweep, factor_text};
use super::figure::Figure;
use super::mix::{Quoted, quoted};
use super::quantity::Quantity;
use super::table::{Cell, Column, Table};
use analysis::{Findings, Fits, ServerSummary, TrialSummary, Work, WorkingSet};

/// The sentences at the quoted point of every curve.
pub fn conclusions(findings: &Findings, sweep: &Sweep) -> Vec<Conclusion> {
    let all = quoted(findings, sweep);
    let several = all.iter().any(|quoted| quoted.curve.system != all[0].curve.system);
    let of = |quoted: &Quoted| -> Vec<Conclusion> {
        let Some(server) = quoted.trial.server.as_ref() else { return Vec::new() };
        let told = |word: &str, text: String| Conclusion {
            experiment: Some(sweep.experiment.to_owned()),
            word: word.to_owned(),
            text: format!("{}: {text}", super::cost::place(quoted, several)),
            tone: Tone::Plain,
            exploratory: false,
        };
        let window = server.checkpoints.as_ref().map(|found| told("window", found.text.clone()));
        let memory = working_set(server).map(|text| told("working set", text));
        window.into_iter().chain(memory).collect()
    };
    all.iter().flat_map(of).collect()
}

/// `all of the data (12 MiB) fits the buffer (128 MiB): ...`; none where the sizes are not known.
pub fn working_set(server: &ServerSummary) -> Option<String> {
    let set = server.working_set.as_ref()?;
    let bytes = |value: Option<f64>| Quantity::Bytes.text(value.unwrap_or(f64::NAN));
    let data = format!("all of the data ({})", bytes(set.data_bytes));
    let each = if set.buffer_each { " of each session" } else { "" };
    let buffer = format!("the buffer{each} ({})", bytes(set.buffer_bytes));
    let memory = bytes(set.memory_bytes);
    let read = match server.per_transaction.bytes_read {
        Some(read) if read >= 0.5 => {
            let why = match set.fits {
                Some(Fits::Buffer) => ", for pages that were not in the buffer yet or for others",
                _ => "",
            };
            format!("; {} are read of the device for each transaction{why}", Quantity::Bytes.text(read))
        }
        Some(_) => "; nothing is read of the device".to_owned(),
        None => String::new(),
    };
    let judged = match set.fits? {
        Fits::Buffer => format!("{data} fits {buffer}: this measures CPU and log, not the storage"),
        Fits::PageCache => format!(
            "{data} fits the page cache of this machine ({memory}), but not {buffer}: what the buffer misses is copied from \
             memory{}",
            cached(set)
        ),
        Fits::AroundPageCache => format!(
            "{data} does not fit {buffer}, and the server goes around the page cache: what the buffer misses is read of the \
             storage"
        ),
        Fits::Nothing => format!(
            "{data} is larger than memory ({memory}, of which {buffer} is a part): what is not asked for often is read of the \
             storage"
        ),
    };
    Some(format!("{judged}{read}"))
}

fn cached(set: &WorkingSet) -> String {
    let share = set.page_cached_bytes.zip(set.data_bytes).map(|(cached, data)| (cached / data).min(1.0));
    share.map_or_else(String::new, |share| format!(", where {} of it was at the end", Quantity::Share.text(share)))
}

/// Every trial with its window, its checkpoints and its memories; none where nothing is known of either.
pub fn figures(findings: &Findings, sweep: &Sweep) -> Vec<Figure> {
    let here = |trial: &&TrialSummary| trial.label.experiment == sweep.experiment && !trial.interrupted;
    let trials: Vec<&TrialSummary> = findings.trials.iter().filter(here).collect();
    let known = |server: &ServerSummary| server.checkpoints.is_some() || server.working_set.is_some();
    if sweep.work != Work::Transactions || !trials.iter().any(|trial| trial.server.as_ref().is_some_and(known)) {
        return Vec::new();
    }
    let mut table = Table::new(
        "Each trial: its window and checkpoints, and at its end the data beside buffer and page cache",
        columns(),
    );
    table.rows = trials.iter().filter_map(|trial| Some(row(trial, trial.server.as_ref()?))).collect();
    table.trials = trials.iter().map(|trial| trial.label.index).collect();
    let notes = vec![
        "A cycle lies between the begins of two checkpoints. “Data” is on the disk, indexes included and log excluded; how much \
         of it the transactions touch is not known, so it is the upper bound of the working set."
            .to_owned(),
    ];
    let title = "Checkpoints and working set".to_owned();
    let table = table.without_empty_columns();
    vec![Figure { title, notes, key: Vec::new(), panels: Vec::new(), table, folded: false }]
}

fn columns() -> Vec<Column> {
    vec![
        Column::numbers("trial", "trial"),
        Column::words("system", "system"),
        Column::words("at", "factors"),
        Column::words("window", "window"),
        Column::numbers("counted", "window_s"),
        Column::numbers("asked for", "measured_s"),
        Column::numbers("begun", "checkpoints_begun"),
        Column::numbers("cycles", "cycles"),
        Column::numbers("cycle", "cycle_s"),
        Column::numbers("data", "data_bytes"),
        Column::numbers("buffer", "buffer_bytes"),
        Column::numbers("in buffer", "buffered_bytes"),
        Column::numbers("memory", "memory_bytes"),
        Column::numbers("in page cache", "page_cached_bytes"),
        Column::numbers("read/tx", "bytes_read_per_transaction"),
        Column::words("fits", "fits"),
    ]
}

fn row(trial: &TrialSummary, server: &ServerSummary) -> Vec<Cell> {
    let label = &trial.label;
    let levels: Vec<String> = label.factors.iter().map(|factor| factor_text(&factor.name, &factor.level)).collect();
    let found = server.checkpoints.as_ref();
    let set = server.working_set.clone().unwrap_or_default();
    vec![
        Cell::number(f64::from(label.index), Quantity::Count),
        Cell::word(&label.system),
        Cell::word(levels.join(", ")),
        Cell::word(found.map_or("", |found| found.held.word())),
        Cell::number(trial.window.length().seconds(), Quantity::Seconds),
        Cell::optional(found.map(|found| found.measured.length().seconds()), Quantity::Seconds),
        Cell::optional(found.and_then(|found| found.begun).map(f64::from), Quantity::Count),
        Cell::optional(found.map(|found| f64::from(found.cycles)), Quantity::Count),
        Cell::optional(found.and_then(|found| found.cycle_s), Quantity::Seconds),
        Cell::optional(set.data_bytes, Quantity::Bytes),
        Cell::optional(set.buffer_bytes, Quantity::Bytes),
        Cell::optional(set.buffered_bytes, Quantity::Bytes),
        Cell::optional(set.memory_bytes, Quantity::Bytes),
        Cell::optional(set.page_cached_bytes, Quantity::Bytes),
        Cell::optional(server.per_transaction.bytes_read, Quantity::Bytes),
        Cell::word(set.fits.map_or("", Fits::word)),
    ]
}
