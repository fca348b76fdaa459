//! Kinds of machines: which parameters one has, which questions it answers, and by which laws.
//!
//! The one idea: a kind is one closed form over named parameters. A model file gives the numbers; rows ask the questions.
//!
//! What it does not do: no kind holds a number of any one machine.

mod array;
mod disk;
mod disk_server;
mod flash_array;
mod flash_device;
mod flash_server;
mod keys;
mod law;
mod load;
mod mirror_link;
mod mirrored_batch;
mod mirrored_pair;
mod queue_device;
mod tiered;

pub use crate::asked::{Asked, Quantity, Shape, Unanswered, Values};
#[cfg(test)]
pub(crate) use {disk_server::OnDisks, flash_server::OnFlash};

pub use keys::Reach;
pub use law::{Setting, Unbuilt};

use crate::machine::Machine;
use crate::rows::Row;
use crate::server::Amount;
use law::{Carries, Law};

/// Columns of things that laws go through one by one, and how many of them are answered at most: more than a study takes, and
/// than a machine has.
const MOST: [(&str, f64); 7] = [
    ("transfer_kb", 65_536.0),
    ("threads", 65_536.0),
    ("outstanding", 65_536.0),
    ("source_cores", 4_096.0),
    ("target_cores", 4_096.0),
    ("node1_cores", 4_096.0),
    ("node2_cores", 4_096.0),
];

/// What can happen to a machine, in a word, and below which number a part of it lies.
pub type Happens = Vec<(String, u32)>;

/// Columns of the places that operations go to, where these are not all alike and on their natural alignment.
const PLACES: [&str; 3] = ["shift_kb", "offsets", "range"];

/// A number that a question needs.
fn number(row: &Row, column: &str) -> Result<f64, Unanswered> {
    let positive = row.number(column).filter(|value| *value > 0.0);
    positive.ok_or_else(|| Unanswered::Missing(column.to_owned()))
}

/// A word that a question needs.
fn word<'a>(row: &'a Row, column: &str) -> Result<&'a str, Unanswered> {
    row.text(column).ok_or_else(|| Unanswered::Missing(column.to_owned()))
}

/// A service time is that of an operation that waits for no other: one is outstanding for each module.
fn one_each(row: &Row) -> Result<(), Unanswered> {
    let modules = row.number("modules").unwrap_or(1.0);
    match row.number("outstanding").filter(|outstanding| *outstanding > 1.0 && *outstanding != modules) {
        Some(more) => Err(Unanswered::unknown("outstanding", more, "1, one for each module, or nothing")),
        None => Ok(()),
    }
}

macro_rules! kinds {
    ($($kind:ident $word:literal $module:ident;)*) => {
        /// A kind of machine.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum ModelKind {
            $(#[doc = concat!("`", $word, "`")] $kind),*
        }

        impl ModelKind {
            /// All of them.
            pub const ALL: &'static [ModelKind] = &[$(ModelKind::$kind),*];

            /// The word of model files.
            pub fn word(self) -> &'static str {
                match self { $(ModelKind::$kind => $word),* }
            }

            const fn law(self) -> &'static Law {
                match self { $(ModelKind::$kind => &$module::LAW),* }
            }
        }
    };
}

kinds! {
    FlashArray "flash-array" flash_array;
    FlashServer "server-on-flash" flash_server;
    DiskServer "server-on-disks" disk_server;
    MirroredPair "mirrored-pair" mirrored_pair;
    MirroredBatch "mirrored-batch" mirrored_batch;
    MirrorLink "mirror-link" mirror_link;
    QueueDevice "queue-device" queue_device;
    FlashDevice "flash-device" flash_device;
    Disk "disk" disk;
    Tiered "tiered" tiered;
    Array "array" array;
}

impl ModelKind {
    /// The parameters that it asks for.
    pub fn asks(self) -> &'static [Asked] {
        self.law().asks
    }

    /// What it answers.
    pub fn answers(self) -> &'static [Quantity] {
        self.law().answers
    }

    /// What a quantity cannot go beyond.
    pub(crate) fn most(self, quantity: &str) -> f64 {
        self.answers().iter().find(|known| known.name == quantity).map_or(f64::INFINITY, |known| known.most)
    }

    /// The parameter that says how many of the unit of published tables one transaction a second is, where a quantity counts
    /// transactions in a unit of tables.
    pub(crate) fn counted(self, quantity: &str) -> Option<&'static str> {
        self.law().inside.filter(|inside| inside.rate == quantity)?.counted
    }

    /// The answer to a row's question, in the quantity's unit.
    ///
    /// # Errors
    /// When the row does not say what the question needs.
    pub fn answer(self, values: &Values, row: &Row, quantity: &str) -> Result<f64, Unanswered> {
        // One walk over the cells: a look-up for each of the columns would take as long as a closed form's answer.
        let most = |column: &str| MOST.iter().find(|(bounded, _)| *bounded == column);
        let beyond = |(column, most): &&(&'static str, f64)| row.number(column).is_some_and(|number| number > *most);
        if let Some((column, most)) = row.cells.keys().filter_map(|column| most(column)).find(beyond) {
            let text = row.text(column).unwrap_or_default().to_owned();
            return Err(Unanswered::Beyond { column, text, most: *most as u32 });
        }
        let unknown = |column: &&str| PLACES.contains(column) && !self.law().places.contains(column);
        let simulated = |column: &str| match column {
            "events" => Some("what happens to it meanwhile"),
            "sizes" => Some("several sizes of transfers"),
            "classes" => Some("classes of transactions that ask for different things"),
            place if unknown(&place) => Some("the places that operations go to"),
            _ => None,
        };
        if let Some(why) = row.cells.keys().find_map(|column| simulated(column)) {
            return Err(Unanswered::Simulated(why));
        }
        if let Some(most) = self.modules(values).filter(|_| !self.has_more()) {
            let text = row.text("modules").filter(|_| row.number("modules") > Some(f64::from(most)));
            if let Some(text) = text.map(str::to_owned) {
                return Err(Unanswered::Beyond { column: "modules", text, most });
            }
        }
        if row.cells.keys().any(|column| load::COLUMNS.contains(&column.as_str())) {
            return load::answer(self.law(), values, row, quantity);
        }
        (self.law().answer)(values, row, quantity)
    }

    /// Whether a description counts its modules itself, so that a question may be about a machine with more of them.
    pub fn has_more(self) -> bool {
        self.asks().iter().any(|asked| asked.name == "modules")
    }

    /// Whether numbers that are each in their range make sense together; else a parameter, and what is wrong with it.
    ///
    /// # Errors
    /// As said.
    pub fn fits(self, values: &Values) -> Result<(), (&'static str, String)> {
        (self.law().fits)(values)
    }

    /// The parameter that holds what a transaction asks for; none where the kind has no use for it.
    pub fn amount(self, amount: Amount) -> Option<&'static str> {
        self.law().amounts.iter().find(|(known, _)| *known == amount).map(|(_, parameter)| *parameter)
    }

    pub(crate) fn modules(self, values: &Values) -> Option<u32> {
        match self.law().carries {
            Carries::Operations { modules, .. } => Some(modules(values)),
            Carries::Nothing | Carries::Transactions(_) => None,
        }
    }

    pub(crate) fn module_bytes(self, values: &Values) -> Option<u64> {
        match self.law().carries {
            Carries::Operations { module_bytes, .. } => module_bytes(values),
            Carries::Nothing | Carries::Transactions(_) => None,
        }
    }

    pub(crate) fn happens(self, values: &Values, taking_part: u32) -> Happens {
        (self.law().happens)(values, taking_part)
    }

    pub(crate) fn carries_transactions(self) -> bool {
        matches!(self.law().carries, Carries::Transactions(_))
    }

    pub(crate) fn machine(self, name: &str, values: &Values, setting: &Setting) -> Result<Box<dyn Machine>, Unbuilt> {
        let name = name.to_owned();
        let build = match self.law().carries {
            Carries::Nothing => return Err(Unbuilt::Closed { name, kind: self.word() }),
            Carries::Transactions(build) | Carries::Operations { build, .. } => build,
        };
        if let Some(has) = self.modules(values).filter(|has| setting.modules > *has) {
            return Err(Unbuilt::Modules { name, has, asked: setting.modules });
        }
        if let Some(has) = self.module_bytes(values).filter(|has| setting.module_bytes > *has) {
            return Err(Unbuilt::Bytes { name, has, asked: setting.module_bytes });
        }
        build(name, values, setting)
    }
}

/// The parameters of a kind, a row each: how it is asked for, name, unit, lowest and highest value where they are free, what
/// it is, and what it is in a file that leaves it out.
macro_rules! asks {
    ($($how:ident $($said:literal)* $(or $default:literal)?;)*) => {
        const ASKS: &[crate::asked::Asked] = &[$(crate::kind::$how($($said),*)$(.or($default))?),*];
    };
}
use asks;

/// A number between two others.
const fn asked(name: &'static str, unit: &'static str, low: f64, high: f64, about: &'static str) -> Asked {
    Asked { name, unit, about, low, high, whole: false, default: None }
}

/// A parameter that counts things.
const fn counted(name: &'static str, unit: &'static str, high: f64, about: &'static str) -> Asked {
    Asked { name, unit, about, low: 1.0, high, whole: true, default: None }
}

/// Whether a parameter is no more than leaves something, with what is wrong of it.
fn fewer(values: &Values, name: &'static str, most: f64, why: &str) -> Result<(), (&'static str, String)> {
    let got = values.of(name);
    if got <= most { Ok(()) } else { Err((name, format!("at most {most}, {why}, got {got}"))) }
}

/// What another memory does to a server's reads.
const fn misses() -> Asked {
    asked("misses", "1", 0.0, 1e3, "factor on reads: with more memory or other pools fewer miss them").or(1.0)
}

/// What users see of a server.
const OF_SERVERS: &[Quantity] =
    &[Quantity::rate("throughput", "1/s"), Quantity::response("response", "ms"), Quantity::share("utilisation")];

/// What users see of storage.
const OF_STORAGE: &[Quantity] =
    &[Quantity::rate("rate", "1/s"), Quantity::rate("speed", "MB/s"), Quantity::other("service-time", "ms")];

/// How many jobs carry the transactions of a server.
const fn jobs() -> Asked {
    let about = "transactions that are inside at once, others wait for one to leave; 0 is as many as come";
    Asked { name: "jobs", unit: "jobs", about, low: 0.0, high: 1e6, whole: true, default: Some(0.0) }
}

/// How many of so many sessions are inside at once, or with their driver, which has so many on the mean.
fn carried(jobs: u32, sessions: f64, outside: f64) -> f64 {
    if jobs > 0 { sessions.min(f64::from(jobs) + outside) } else { sessions }
}

/// How a server does in the long run.
struct Steady {
    /// Transactions a second.
    rate_per_s: f64,
    /// Their mean response.
    response_ms: f64,
    /// Share of what is busiest.
    utilisation: f64,
    /// Operations of storage a second.
    operations_per_s: f64,
}

impl Steady {
    fn quantity(&self, name: &str) -> f64 {
        match name {
            "throughput" => self.rate_per_s,
            "utilisation" => 100.0 * self.utilisation,
            "io-rate" => self.operations_per_s,
            _ => self.response_ms,
        }
    }
}

/// One of a few states, by number from 0.
const fn chosen(name: &'static str, high: f64, about: &'static str) -> Asked {
    Asked { name, unit: "1", about, low: 0.0, high, whole: true, default: None }
}

/// How many there are of what may not be there at all, such as failures: none, unless a file or a question says so.
const fn maybe(name: &'static str, unit: &'static str, high: f64, about: &'static str) -> Asked {
    Asked { name, unit, about, low: 0.0, high, whole: true, default: Some(0.0) }
}
