//! Checkpoints and the window, and the data beside the memories that may hold it: sentences, and a table by trial.
//!
//! The one idea: both say what a rate is a rate of. The sentences stand at the quoted point; the table has every trial, because
//! data grows and windows differ.

use super::conclusion::Conclusion;
use super::curve::{Sweep, factors_text};
use super::figure::Figure;
use super::mix::{Quoted, quoted};
use super::quantity::Quantity;
use super::table::{Field, Table, number, optional, word};
use analysis::{Findings, Fits, Held, ServerSummary, TrialSummary, Work, WorkingSet};

/// The sentences at the quoted point of every curve.
pub fn conclusions(findings: &Findings, sweep: &Sweep) -> Vec<Conclusion> {
    let of = |quoted: Quoted| -> Vec<Conclusion> {
        let Some(server) = quoted.trial.server.as_ref() else { return Vec::new() };
        let window = server.checkpoints.as_ref().map(|found| quoted.says("window", &found.text));
        let memory = working_set(server).map(|text| quoted.says("working set", &text));
        window.into_iter().chain(memory).collect()
    };
    quoted(findings, sweep).into_iter().flat_map(of).collect()
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
                Some(Fits::Buffer) => ", when a page is used for the first time or by other programs",
                _ => ", by all programs",
            };
            format!("; {} are read from disk for each transaction{why}", Quantity::Bytes.text(read))
        }
        // What an emulated device reads goes past the counters of this machine's disks.
        Some(_) if matches!(set.fits, Some(Fits::AroundPageCache | Fits::Nothing)) => String::new(),
        Some(_) => "; nothing is read from disk".to_owned(),
        None => String::new(),
    };
    let judged = match set.fits? {
        Fits::Buffer => format!("{data} fits {buffer}: this measures CPU and log, not the storage"),
        Fits::PageCache => format!(
            "{data} fits the page cache of this machine ({memory}), but not {buffer}: reads that miss the buffer come from the \
             page cache{}",
            cached(set)
        ),
        Fits::AroundPageCache => format!(
            "{data} does not fit {buffer}, and the server goes around the page cache: what the buffer misses is read from the \
             storage"
        ),
        Fits::Nothing => format!(
            "{data} is larger than memory ({memory}, of which {buffer} is a part): what is not asked for often is read from the \
             storage"
        ),
    };
    Some(format!("{judged}{read}"))
}

fn cached(set: &WorkingSet) -> String {
    let share = set.page_cached_bytes.zip(set.data_bytes).map(|(cached, data)| (cached / data).min(1.0));
    share.map_or_else(String::new, |share| {
        format!(", which held {} of the data at the end", Quantity::Share.text(share))
    })
}

/// One table of every trial, narrow enough for the page.
struct Part {
    title: &'static str,
    /// Behind a part of the title of the column that it is about; the empty one is always told.
    notes: &'static [(&'static str, &'static str)],
    /// The same of parts of the caption.
    caption: &'static [(&'static str, &'static str)],
    known: fn(&ServerSummary) -> bool,
    fields: fn(&TrialSummary, &ServerSummary) -> Vec<Field>,
}

const PARTS: [Part; 2] = [
    Part {
        title: "Checkpoints and the window",
        notes: &[(
            "cycle",
            "A cycle runs from one checkpoint's start to the next; where no whole cycle fell into the window, “cycle” is an \
             estimate.",
        )],
        caption: &[
            ("", "For each trial: its window"),
            ("asked for", ", the window asked for"),
            ("checkpoints", ", the checkpoints that began in it"),
        ],
        known: |server| server.checkpoints.is_some(),
        fields: window_fields,
    },
    Part {
        title: "Working set",
        notes: &[(
            "data",
            "“Data” is on the disk, indexes included and log excluded; how much of it the transactions touch is not known, so \
             it is the upper bound of the working set.",
        )],
        caption: &[
            ("", "At the end of each trial: its data"),
            ("buffer", ", the buffer"),
            ("page cache", ", the page cache"),
        ],
        known: |server| server.working_set.is_some(),
        fields: set_fields,
    },
];

/// Every trial with its checkpoints, and with its memories; none where nothing is known of them.
pub fn figures(findings: &Findings, sweep: &Sweep) -> Vec<Figure> {
    if sweep.work != Work::Transactions {
        return Vec::new();
    }
    let here = |trial: &&TrialSummary| trial.label.experiment == sweep.experiment && !trial.interrupted;
    let trials: Vec<&TrialSummary> = findings.trials.iter().filter(here).collect();
    PARTS.iter().filter_map(|part| figure(part, &trials)).collect()
}

fn figure(part: &Part, trials: &[&TrialSummary]) -> Option<Figure> {
    let known =
        trials.iter().filter_map(|trial| Some((*trial, trial.server.as_ref().filter(|server| (part.known)(server))?)));
    let rows = known.clone().map(|(trial, server)| {
        let label = &trial.label;
        let mut row = vec![
            number("trial", "trial", f64::from(label.index), Quantity::Count),
            word("system", "system", &label.system),
            word("at", "factors", factors_text(&label.factors)),
        ];
        row.extend((part.fields)(trial, server));
        row
    });
    let mut table = Table::new("", rows).without_empty_columns();
    table.trials = known.map(|(trial, _)| trial.label.index).collect();
    table.caption = table.notes_of(part.caption).concat();
    (!table.rows.is_empty()).then(|| Figure::new(part.title, table.notes_of(part.notes), Vec::new(), table))
}

/// Where a window stands among checkpoints, in the words of a table.
fn begins(held: Held) -> &'static str {
    match held {
        Held::Cycles => "with a checkpoint",
        Held::Forced => "behind a forced checkpoint",
        Held::AsItCame => "anywhere",
        Held::NoCycles => "no cycles",
    }
}

fn window_fields(trial: &TrialSummary, server: &ServerSummary) -> Vec<Field> {
    let found = server.checkpoints.as_ref();
    // Fixed work ends when it is done: nobody asks for its window.
    let measured = found.filter(|_| !trial.fixed_work).map(|found| found.measured.length().seconds());
    let counted_s = if trial.fixed_work { trial.elapsed_s } else { trial.window.length().seconds() };
    let begun = found.and_then(|found| found.begun).map(f64::from);
    vec![
        word("window begins", "window", found.map_or("", |found| begins(found.held))),
        number("counted", "window_s", counted_s, Quantity::Seconds),
        optional("asked for", "measured_s", measured, Quantity::Seconds),
        optional("checkpoints", "checkpoints_begun", begun, Quantity::Count),
        optional("whole cycles", "cycles", found.map(|found| f64::from(found.cycles)), Quantity::Count),
        optional("cycle", "cycle_s", found.and_then(|found| found.cycle_s), Quantity::Seconds),
    ]
}

fn set_fields(_: &TrialSummary, server: &ServerSummary) -> Vec<Field> {
    let set = server.working_set.clone().unwrap_or_default();
    let bytes = |title, key, value| optional(title, key, value, Quantity::Bytes);
    vec![
        bytes("data", "data_bytes", set.data_bytes),
        bytes("buffer", "buffer_bytes", set.buffer_bytes),
        bytes("in buffer", "buffered_bytes", set.buffered_bytes),
        bytes("memory", "memory_bytes", set.memory_bytes),
        bytes("in page cache", "page_cached_bytes", set.page_cached_bytes),
        bytes("read/tx", "bytes_read_per_transaction", server.per_transaction.bytes_read),
        word("fits", "fits", set.fits.map_or("", Fits::word)),
    ]
}
