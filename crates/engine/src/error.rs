//! Why a system cannot be opened, or a trial cannot go on.

use std::io;

/// Why a system cannot be made ready.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "each message says what its parts are")]
pub enum OpenError {
    /// Scratch files could not be made.
    #[error("making scratch files for system `{system}`")]
    Scratch { system: String, source: system::file::ScratchError },
    /// A device may not or cannot be used.
    #[error("opening device `{path}` of system `{system}`")]
    Device { system: String, path: String, source: system::device::OpenError },
    /// More modules are asked for than there are.
    #[error("system `{system}` has {has} modules, the plan asks for {need}")]
    TooFewModules { system: String, has: u32, need: u32 },
    /// A model cannot be run.
    #[error("building the model of system `{system}`")]
    Model { system: String, source: model::Unbuilt },
    /// A database cannot be used.
    #[error("opening the database of system `{system}`")]
    Database { system: String, source: Box<database::DatabaseError> },
    /// A model was asked for and none handed in.
    #[error("no model was read for system `{system}`")]
    NoModel { system: String },
}

/// Why a trial ended without observations.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "each message says what its parts are")]
pub enum TrialError {
    /// It was told to stop; finished intervals have been handed to the observer.
    #[error("the run was interrupted")]
    Stopped,
    /// The driver that the study insists on cannot be used.
    #[error("io_uring cannot be used on this machine, and the study allows no other driver")]
    NoRing { source: io::Error },
    /// The workload does not fit the system.
    #[error("the workload of stream `{stream}` does not fit the modules")]
    Workload { stream: String, source: workload::block::SpecError },
    /// Memory for buffers, or a thread, or a ring could not be had.
    #[error("{action} failed")]
    Resource { action: &'static str, source: io::Error },
    /// What the study lets happen did not.
    #[error("the event `{event}` could not be made on system `{system}`")]
    Event { event: String, system: String, source: io::Error },
    /// Writing data before the trial failed.
    #[error("{action} of module {module} of system `{system}` failed")]
    Prepare { action: &'static str, module: usize, system: String, source: io::Error },
    /// The port to the system broke.
    #[error("the port to the system broke")]
    Port {
        #[from]
        source: system::PortError,
    },
    /// Every operation fails because the system went away or is full.
    #[error("system `{system}`{} is gone after {done} operations: {source}{}", at(place), said(words))]
    Gone { system: String, place: String, done: u64, words: String, source: io::Error },
    /// A transaction cannot be carried out as it is written, or the server refused a statement and the study says to stop.
    #[error("a session on system `{system}` was stopped after {done} transactions: {words}")]
    Aborted { system: String, done: u64, words: String },
    /// What hung in the trial before is still in the kernel's hands, and would land in this one.
    #[error("system `{system}`{} still holds what hung in the trial before: {what}", at(place))]
    StillOut { system: String, place: String, what: String },
    /// The work that was done differs from the work that was asked for.
    #[error("stream `{stream}` did {done} of {planned} steps; where time was short, raise `measure`")]
    WorkDiffers { stream: String, done: u64, planned: u64 },
    /// The trial asks for something that this system cannot do.
    #[error("system `{system}` cannot {what}")]
    Unsupported { system: String, what: String },
    /// A file step failed.
    #[error("{action} `{path}` failed")]
    File { action: &'static str, path: String, source: io::Error },
    /// A worker's thread came to an end that nobody planned: a defect of Prony.
    #[error("worker {worker} of the trial panicked, which is a defect of Prony: {what}")]
    Panicked { worker: u32, what: String },
    /// Workers are in calls that do not end and that nobody can cut. What they did is not known.
    #[error(
        "{out} of {workers} workers on system `{system}` did not {what} within {}: the kernel or a library does not end \
         their calls",
        units::duration(*limit)
    )]
    Hung { system: String, out: usize, workers: usize, what: &'static str, limit: units::Nanos },
    /// The books of a stream do not close: a defect of Prony.
    #[error("the books of a stream do not close")]
    Unbalanced { source: Box<recorder::Unbalanced> },
    /// A system cannot be made ready as the trial asks.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// A simulation broke Little's law: a defect of Prony or of the model.
    #[error(
        "Little's law does not hold to 0.1% in a simulated trial, which is a defect: {what} is {integrated_s:.6} s \
         integrated and {recorded_s:.6} s recorded"
    )]
    Little { what: &'static str, integrated_s: f64, recorded_s: f64 },
    /// A database refused what the trial needs.
    #[error("system `{system}`")]
    Database { system: String, source: Box<database::DatabaseError> },
    /// A script of transactions, or a trace, cannot be run.
    #[error("{action} `{path}`: {problem}")]
    Script { action: &'static str, path: String, problem: String },
    /// A file that whoever runs it must name is not named.
    #[error("{0}")]
    Unnamed(&'static str),
    /// Reads of this system cannot be checked.
    #[error("reads cannot be validated")]
    Watch { source: workload::block::WatchError },
}

impl TrialError {
    /// A module that cannot be made ready for a trial.
    pub(crate) fn prepare(action: &'static str, module: usize, system: &str) -> impl Fn(io::Error) -> TrialError {
        move |source| TrialError::Prepare { action, module, system: system.to_owned(), source }
    }

    /// What to do next, when more can be said than how to go on.
    pub fn hint(&self) -> Option<String> {
        use TrialError::*;
        match self {
            Database { source, .. } => source.hint(),
            Gone { source, place, .. } if source.raw_os_error() == Some(libc::ENOSPC) => {
                Some(format!("free space on the disk of {}, or take a smaller data set", or_else(place, "the system")))
            }
            Gone { source, place, .. } if source.raw_os_error() == Some(libc::ENOTCONN) => Some(format!(
                "see that what serves {} runs again: a server has a log there, and a mount a process that has ended; `prony clean DIR` removes what a \
                 run left in a folder",
                or_else(place, "that place")
            )),
            Aborted { .. } => Some("mend the script, or see that the database has what it asks for".to_owned()),
            StillOut { place, .. } => Some(format!(
                "look for the device of {} in the kernel log, and go on when it answers again",
                or_else(place, "the system")
            )),
            Hung { .. } => {
                Some("read the kernel's log (`dmesg`) for a device or file system that does not answer".to_owned())
            }
            _ => None,
        }
    }
}

fn or_else<'a>(text: &'a str, other: &'a str) -> &'a str {
    if text.is_empty() { other } else { text }
}

fn at(place: &str) -> String {
    if place.is_empty() { String::new() } else { format!(" at {place}") }
}

fn said(words: &str) -> String {
    if words.is_empty() { String::new() } else { format!("; it said: {words}") }
}
