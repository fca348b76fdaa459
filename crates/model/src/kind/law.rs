//! What one kind of machine is, in one value: its row in the table of kinds.
//!
//! The one idea: whoever needs something of a kind asks its law, so that another kind is one file and one row.

use crate::asked::{Asked, Quantity, Unanswered, Values};
use crate::device::{disk, flash};
use crate::kind::Happens;
use crate::machine::Machine;
use crate::rows::Row;
use crate::server::{Amount, Factors};
use units::Nanos;

/// What a kind asks for, what it answers and how, and what studies can run on it.
pub(super) struct Law {
    pub(super) asks: &'static [Asked],
    pub(super) answers: &'static [Quantity],
    pub(super) answer: fn(&Values, &Row, &str) -> Result<f64, Unanswered>,
    /// The parameter and why, where its numbers do not fit together.
    pub(super) fits: fn(&Values) -> Result<(), (&'static str, String)>,
    /// Parameters that hold what a transaction of a measured run asked for.
    pub(super) amounts: &'static [(Amount, &'static str)],
    /// How its answers depend on how many are inside, where users and arrivals can be answered by that.
    pub(super) inside: Option<Inside>,
    /// The stations on which studies run.
    pub(super) carries: Carries,
    /// Keys of a study that it answers beside those of all that carry the same.
    pub(super) keys: &'static [&'static str],
    /// Keys that may be set and move nothing.
    pub(super) held: &'static [&'static str],
    /// Keys of all that carry the same that this one does not know.
    pub(super) unknown: &'static [&'static str],
    /// Columns of places that the closed form knows.
    pub(super) places: &'static [&'static str],
    /// What can happen to it while it is loaded.
    pub(super) happens: fn(&Values, u32) -> Happens,
}

/// What of a kind's answers says how it does with so many inside at once.
#[derive(Clone, Copy, Debug)]
pub(super) struct Inside {
    /// The column of their number.
    pub(super) column: &'static str,
    /// What they complete a second.
    pub(super) rate: &'static str,
    /// How long each takes, in milliseconds.
    pub(super) response: &'static str,
    /// The parameter that says how many of the rate's units one transaction is.
    pub(super) counted: Option<&'static str>,
    /// Squared coefficient of variation of the time inside.
    pub(super) variation: f64,
}

impl Inside {
    /// Of a server: sessions, whose transactions are the sum of many steps.
    pub(super) const SESSIONS: Inside =
        Inside { column: "threads", rate: "throughput", response: "response", counted: None, variation: 0.2 };
    /// Of storage: operations outstanding.
    pub(super) const OUTSTANDING: Inside =
        Inside { column: "outstanding", rate: "rate", response: "response", counted: None, variation: 1.0 };
}

/// The machine of some numbers, at rest; the text is the name of the model.
pub(super) type Build = fn(String, &Values, &Setting) -> Result<Box<dyn Machine>, Unbuilt>;

/// What a study can ask of a machine.
#[derive(Clone, Copy)]
pub(super) enum Carries {
    /// Nothing: it has laws and no stations.
    Nothing,
    /// Transactions.
    Transactions(Build),
    /// Operations of storage.
    Operations {
        /// Modules that can be loaded at most.
        modules: fn(&Values) -> u32,
        /// Bytes of a module, where the description says so.
        module_bytes: fn(&Values) -> Option<u64>,
        build: Build,
    },
}

impl Law {
    /// A kind that has only a closed form, and whose numbers make sense together whatever they are.
    pub(super) const fn closed(
        asks: &'static [Asked],
        answers: &'static [Quantity],
        answer: fn(&Values, &Row, &str) -> Result<f64, Unanswered>,
    ) -> Law {
        Law {
            asks,
            answers,
            answer,
            fits: |_| Ok(()),
            amounts: &[],
            inside: None,
            carries: Carries::Nothing,
            keys: &[],
            held: &[],
            unknown: &[],
            places: &[],
            happens: |_, _| Happens::new(),
        }
    }
}

/// How much of a machine takes part in a trial.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Setting {
    /// Modules that are loaded, from 1.
    pub modules: u32,
    /// Operations outstanding at most.
    pub slots: u32,
    /// Of every random draw.
    pub seed: u64,
    /// Bytes of each module that operations go to, from its beginning.
    pub module_bytes: u64,
    /// Customers whose data a server holds; none where it holds what its file says.
    pub customers: Option<u64>,
    /// What transactions of each class ask for, of all streams one after the other; none where all are the model's own.
    pub classes: Vec<Factors>,
    /// How long a pair waits for a mirror that confirms nothing.
    pub patience: Nanos,
    /// Kilometres between the nodes of a pair, beside those of its file.
    pub km: f64,
}

/// Why a description is no machine that a study can run on.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[allow(missing_docs, reason = "each message says what its parts are")]
pub enum Unbuilt {
    /// It has no stations.
    #[error("the model `{name}` is a {kind}, which has laws and no stations: it answers rows, and no study runs on it")]
    Closed { name: String, kind: &'static str },
    /// More modules than it has.
    #[error("the model `{name}` has {has} modules, got {asked}")]
    Modules { name: String, has: u32, asked: u32 },
    /// More bytes of a module than it holds.
    #[error("a module of the model `{name}` holds {}, got a size of {}; set a smaller `size`", size(*has), size(*asked))]
    Bytes { name: String, has: u64, asked: u64 },
    /// Too much state.
    #[error("simulating the model `{name}` takes {}, at most {}; describe fewer dies or smaller blocks", size(*takes), size(*room))]
    Large { name: String, takes: u64, room: u64 },
    /// A pair of which nobody said how large it is.
    #[error(
        "the model `{0}` says no cores: at least one, got `source_cores` 0; say it in the file, or ask for {0},source_cores=16"
    )]
    Cores(String),
    /// A flash device that cannot be.
    #[error("building the model `{name}`")]
    Flash { name: String, source: flash::Refused },
    /// A disk that cannot be.
    #[error("building the model `{name}`")]
    Disk { name: String, source: disk::Refused },
    /// Parts that nobody can build.
    #[error("the model `{name}` cannot be built: {why}")]
    Parts { name: String, why: String },
}

fn size(bytes: u64) -> String {
    units::bytes(units::Bytes(bytes))
}
