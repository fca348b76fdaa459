//! What is asked of a system: workloads as pure data and functions.
//!
//! The one idea: operation `k` of a module is a function of (seed, stream, module, k), so that the same study asks for
//! the same operations on every machine and nothing is kept for each one.
//!
//! A workload is a folder and a row in the table below. Whoever plans, runs or reports finds it through this table, and asks it
//! by the interface that it goes through; nobody else lists workloads.
//!
//! What it does not do: it opens no file and reads no clock; drivers carry its operations out.

pub mod bank;
#[path = "tests/bench.rs"]
#[cfg(test)]
mod bench;
pub mod block;
pub mod brokerage;
pub mod dataset;
pub mod files;
pub mod happening;
pub mod key_value;
pub mod kind;
mod operation;
pub mod order_entry;
pub mod replay;
pub mod rows;
pub mod sql;
pub mod transaction;
pub mod wander;
pub mod warehouse;

pub use operation::{Operation, OperationKind};

use bank::{day as bank_day, night as bank_night};
use dataset::DataSet;
pub use kind::Demand;
use kind::{Class, Transactions};
use reading::{AnyKey, Settings};
use std::sync::Arc;

/// What a system is asked through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interface {
    /// Reads and writes at offsets of files or devices.
    Block,
    /// Whole files of a file system.
    File,
    /// Transactions on a database.
    Database,
}

/// A workload with what a study says of it.
#[derive(Clone, Debug, PartialEq)]
pub enum Workload {
    /// Operations on storage.
    Operations(Storage),
    /// Transactions on a database.
    Transactions(Arc<dyn Transactions>),
}

/// Operations on storage.
#[derive(Clone, Debug, PartialEq)]
pub enum Storage {
    /// Blocks at offsets of modules.
    Block(block::Spec),
    /// A loop over whole files.
    Files(files::Spec),
}

impl Storage {
    /// Its classes, by place.
    pub fn classes(&self) -> Vec<Class> {
        let plain = |names: [&str; 3]| names.map(Class::plain).to_vec();
        match self {
            Storage::Block(spec) => {
                let mut classes = plain(["read", "write", "sync"]);
                classes[2].upkeep = true;
                classes.extend((spec.trims.0 > 0.0).then(|| Class::plain("trim")));
                classes
            }
            Storage::Files(_) => plain(["create", "copy", "read"]),
        }
    }

    /// Whether it changes data.
    pub fn writes(&self) -> bool {
        match self {
            Storage::Block(spec) => spec.writes(),
            Storage::Files(_) => true,
        }
    }
}

/// A row of the table of workloads.
#[derive(Debug)]
pub struct Row {
    /// The word in study files.
    pub word: &'static str,
    /// What its keys stand under on the reference page.
    pub title: &'static str,
    /// What it goes through.
    pub interface: Interface,
    /// Its keys.
    pub keys: &'static [&'static dyn AnyKey],
    /// Whether users may share its sessions; a job is a session of its own.
    pub shared: bool,
    /// Whether it is a job that ends, so that its time is what is measured.
    pub ends: bool,
    /// Makes the workload of the settings.
    pub read: fn(&mut dyn Settings) -> Workload,
    /// The mixes that it plans, each in the order of its classes.
    pub mixes: &'static [fn() -> Vec<Class>],
    data_sets: Option<DataSets>,
}

/// The word of a kind of data set in marks, and what reads one from the facts of a mark.
type DataSets = (&'static str, fn(&dyn Fn(&str) -> Option<String>) -> Option<DataSet>);

impl PartialEq for Row {
    fn eq(&self, other: &Row) -> bool {
        self.word == other.word
    }
}

macro_rules! workloads {
    ($($word:literal $folder:ident: $interface:ident $(($alone:ident))?, $title:literal $(, $sets:path $(, $mixes:expr)?)?;)*) => {
        /// All workloads, in the order of the reference page.
        pub static WORKLOADS: &[Row] = &[$(Row {
            word: $word,
            title: $title,
            interface: Interface::$interface,
            keys: $folder::KEYS,
            shared: workloads!(@shared $($alone)?),
            ends: workloads!(@ends $($alone)?),
            read: |settings| workloads!(@made $interface $folder::read(settings)),
            mixes: workloads!(@mixes $($($mixes)?)?),
            data_sets: workloads!(@sets $($sets)?),
        }),*];
    };
    (@made Block $spec:expr) => { Workload::Operations(Storage::Block($spec)) };
    (@made File $spec:expr) => { Workload::Operations(Storage::Files($spec)) };
    (@made Database $spec:expr) => { Workload::Transactions(Arc::new($spec)) };
    (@shared) => { true };
    (@shared $alone:ident) => { false };
    (@ends job) => { true };
    (@ends $($other:ident)?) => { false };
    (@mixes) => { &[] };
    (@mixes $mixes:expr) => { $mixes };
    (@sets) => { None };
    (@sets $sets:path) => {{
        use $sets as sets;
        Some((sets::MARKED, sets::described))
    }};
}

// Word, folder, interface (alone: users do not share its sessions; job: neither do they, and it ends), title of its keys, where its data sets are, and the mixes
// of classes that it plans.
workloads! {
    "block" block: Block, "Workloads of blocks";
    "files" files: File, "Workloads of files";
    "brokerage" brokerage: Database, "The brokerage house", crate::brokerage::data_set, brokerage::MIXES;
    "sql" sql: Database, "Scripts of transactions", crate::sql;
    "key-value" key_value: Database, "Records by key", crate::key_value::data_set;
    "bank-day" bank_day: Database, "The bank's day", crate::bank::data_set, bank_day::MIXES;
    "bank-night" bank_night: Database (alone), "The bank's night", crate::bank::data_set;
    "order-entry" order_entry: Database, "Order entry", crate::order_entry::data_set, order_entry::MIXES;
    "warehouse" warehouse: Database, "The warehouse", crate::warehouse::data_set;
    "replay" replay: Database (alone), "Traces";
    "wander" wander: Database, "The wandering hot set", crate::wander::data_set;
    "rows" rows: Database (alone), "Batch jobs over rows", crate::rows::data_set;
}

/// The data set that the facts of a mark describe; none when they describe none that this version knows.
pub fn data_set(fact: &dyn Fn(&str) -> Option<String>) -> Option<DataSet> {
    let kind = fact("kind")?;
    let known = WORKLOADS.iter().filter_map(|row| row.data_sets);
    known.filter(|(word, _)| *word == kind).find_map(|(_, read)| read(fact))
}
