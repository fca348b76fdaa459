//! What a trial was, and what a figure or a finding is about.

use crate::{Searched, StatePolicy};
use std::fmt::{self, Display, Formatter};
use units::{Nanos, PerSecond};

/// Systems of a study, and of a run file.
pub const SYSTEMS_MAX: usize = 256;

/// Trials of a study, with all that repeats and searches may add, and of a run file.
pub const TRIALS_MAX: u64 = 20_000;

/// The value of a factor: a number in base units (bytes, seconds, shares, counts) or a word.
#[derive(Clone, Debug, PartialEq)]
pub enum Level {
    /// A number; `text` is how the study wrote it.
    Number {
        /// In base units: bytes, seconds, shares of 1, operations a second, or a count.
        value: f64,
        /// As written, for people: `4 KiB`.
        text: String,
    },
    /// A word, such as `never` or `cold`.
    Word(String),
}

impl Level {
    /// How people read it.
    pub fn text(&self) -> &str {
        match self {
            Level::Number { text, .. } => text,
            Level::Word(word) => word,
        }
    }

    /// The number in base units, when it is one.
    pub fn number(&self) -> Option<f64> {
        match self {
            Level::Number { value, .. } => Some(*value),
            Level::Word(_) => None,
        }
    }

    /// Whether both are the same, however they were written: `4 KiB` is `4096 B`.
    pub fn same(&self, other: &Level) -> bool {
        match (self.number(), other.number()) {
            (Some(a), Some(b)) => (a - b).abs() <= 1e-12 * a.abs().max(b.abs()),
            (None, None) => self.text() == other.text(),
            _ => false,
        }
    }
}

/// Factors that somebody decides by, under the names that studies give them.
pub mod factor {
    /// Operations outstanding of a closed load.
    pub const OUTSTANDING: &str = "outstanding";
    /// Sessions on a database.
    pub const SESSIONS: &str = "sessions";
    /// The rate of an open load.
    pub const RATE: &str = "rate";
    /// Bytes of a transfer.
    pub const TRANSFER: &str = "transfer";
    /// Bytes of a module.
    pub const SIZE: &str = "size";
    /// Modules of a system.
    pub const MODULES: &str = "modules";
    /// Copies of file work at once.
    pub const WIDTH: &str = "width";
    /// How far away a mirror is, in kilometres.
    pub const DISTANCE: &str = "distance";
    /// Processors that each server may use.
    pub const CORES: &str = "cores";
    /// Threads of the generator.
    pub const WORKERS: &str = "workers";
    /// The same under its other name.
    pub const THREADS: &str = "threads";

    /// What is counted: `4 modules`.
    pub const COUNTED: [&str; 6] = [MODULES, WORKERS, THREADS, SESSIONS, CORES, "users"];

    /// `load.outstanding` is `outstanding`: studies may vary a key by its full or its short name.
    pub fn short_name(name: &str) -> &str {
        name.rsplit('.').next().unwrap_or(name)
    }

    /// The key of a factor as people of the field write it: `queue_depth` for `load.outstanding`.
    pub fn key_said(name: &str) -> String {
        said(name).replace(' ', "_")
    }

    /// The word that people of the field have for a factor: `load.outstanding` is the `queue depth`. Others are told as they are.
    pub fn said(name: &str) -> &str {
        match short_name(name) {
            OUTSTANDING | "queue_depth" | "iodepth" => "queue depth",
            TRANSFER | "block_size" | "bs" => "block size",
            short => short,
        }
    }

    /// Levels in words: `queue depth 16 to 64`, `4 sessions`.
    pub fn levels(name: &str, low: f64, high: f64) -> String {
        let (least, most) = (units::significant(low), units::significant(high));
        named(name, &if low == high { least } else { format!("{least} to {most}") })
    }

    /// Behind the word "between": `queue depth 16 and 64`, `4 and 16 sessions`.
    pub fn both(name: &str, low: f64, high: f64) -> String {
        named(name, &format!("{} and {}", units::significant(low), units::significant(high)))
    }

    fn named(name: &str, range: &str) -> String {
        match said(name) {
            noun if noun.ends_with('s') && range == "1" => format!("1 {}", noun.trim_end_matches('s')),
            noun if noun.ends_with('s') => format!("{range} {noun}"),
            noun => format!("{noun} {range}"),
        }
    }
}

/// A factor with the level that a trial has.
#[derive(Clone, Debug, PartialEq)]
pub struct Factor {
    /// The key as used in `--set`.
    pub name: String,
    /// The value in this trial.
    pub level: Level,
}

impl Factor {
    /// `queue_depth=32`: as `--set` takes it.
    pub fn as_set(&self) -> String {
        format!("{}={}", factor::key_said(&self.name), self.level.text())
    }

    /// `4 modules`, `10 km`, `cache cold`: the level in words that say what it is.
    pub fn in_words(&self) -> String {
        let name = factor::short_name(&self.name);
        match &self.level {
            Level::Number { value, text } if text.parse::<f64>().is_ok() && factor::COUNTED.contains(&name) => {
                format!("{text} {}", if *value == 1.0 { name.trim_end_matches('s') } else { name })
            }
            level if name == factor::DISTANCE && level.number().is_some() => format!("{} km", level.text()),
            level => format!("{} {}", factor::said(name), level.text()),
        }
    }
}

crate::words! {
    /// What kind of work a class is: whether it moves data decides whether it counts as throughput.
    pub enum ClassKind {
        Work = "work" "Counts as throughput.",
        Age = "age" "How old the data was that others saw; no work at all.",
        Upkeep = "upkeep" "Housekeeping of the workload (a data sync); reported, not counted as throughput.",
        Yield = "yield" "How much others gave, counted piece by piece as each of them ended; no work at all.",
        Late = "late" "How many of those that ended took longer than the limit of latency that is its name; no work at all.",
        Skipped = "skipped" "How many began too late to be within that limit and were left out; no work at all.",
    }
}

impl ClassKind {
    /// Whether its cells count operations.
    pub fn counts_operations(self) -> bool {
        matches!(self, ClassKind::Work | ClassKind::Upkeep)
    }

    /// Whether it only counts something of the operations of others, and has no times of its own.
    pub fn only_counts(self) -> bool {
        matches!(self, ClassKind::Yield | ClassKind::Late | ClassKind::Skipped)
    }
}

/// What the class of reads is called, of blocks and of files.
pub const READ: &str = "read";

/// What a stream asks of its system.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Asks {
    /// Operations on blocks: its slots are outstanding operations.
    #[default]
    Operations,
    /// Work on whole files, so many at once.
    Files,
    /// Transactions on a database, which sessions carry.
    Transactions,
}

impl Asks {
    /// Reads back what a run file says in the words of the load alone.
    pub fn of_load(words: &str) -> Asks {
        if sessions_of(words).is_some() {
            Asks::Transactions
        } else if words.starts_with("closed, ") && words.contains("outstanding") || words.starts_with("open, ") {
            Asks::Operations
        } else {
            Asks::Files
        }
    }
}

/// The sessions at the end of the words of a load: `100 users, 1 s mean think time, 8 sessions`.
fn sessions_of(words: &str) -> Option<u32> {
    let words = words.strip_suffix(" sessions").or_else(|| words.strip_suffix(" session"))?;
    words.rsplit(' ').next()?.parse().ok()
}

/// How the words of a load begin whose workload says when each transaction of a session is due; `at` stands before it where a place is told.
pub const BY_THE_TRACE: &str = "the moments of the trace";

/// What one stream of a trial was asked to do, as far as analysis and report need it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StreamLabel {
    /// Name of the stream; the workload's name when the experiment has one stream.
    pub name: String,
    /// Name of the workload.
    pub workload: String,
    /// What it asks.
    pub asks: Asks,
    /// The load in words: `closed, 32 outstanding`.
    pub load: String,
    /// Outstanding operations or sessions of a closed load, all modules together; none when open.
    pub slots: Option<u32>,
    /// Mean think time of a closed load.
    pub think_mean: Nanos,
    /// The rate that an open load asks for; none when closed.
    pub offered: Option<PerSecond>,
    /// Names of the workload's classes with what they are; cells point here.
    pub classes: Vec<(String, ClassKind)>,
    /// What classes give those who ask for them, at most one entry a class.
    pub gives: Vec<Gives>,
}

impl StreamLabel {
    /// Who asks through the sessions, where they think in between: `100 users, 1 s mean think time`.
    pub fn users(&self) -> Option<&str> {
        let thinks = self.asks == Asks::Transactions && self.think_mean.0 > 0;
        self.load.rsplit_once(", ").filter(|_| thinks).map(|(users, _)| users)
    }

    /// How many these are.
    pub fn user_count(&self) -> Option<u32> {
        self.users()?.split_once(' ')?.0.parse().ok()
    }

    /// The most transactions a second that its users start, where these think in between; none without users.
    pub fn asked_most_per_s(&self) -> Option<f64> {
        self.user_count().map(|users| f64::from(users) / self.think_mean.seconds())
    }

    /// How many of a thing a second its classes ask for by a clock of their own; none where it follows from the load.
    pub fn offered_of(&self, what: &str) -> Option<f64> {
        let classes = self.gives.iter().filter(|gives| gives.what == what);
        classes.map(|gives| gives.offered_per_s).try_fold(None, |sum, one| Some(Some(sum.unwrap_or(0.0) + one?)))?
    }

    /// What a class is; one that is not named is taken for work rather than dropped.
    pub fn kind(&self, class: u16) -> ClassKind {
        self.classes.get(usize::from(class)).map_or(ClassKind::Work, |(_, kind)| *kind)
    }

    /// The class of how old the data was that others saw; none where nothing tells.
    pub fn age(&self) -> Option<&str> {
        self.classes.get(usize::from(self.class_of(ClassKind::Age)?)).map(|(name, _)| name.as_str())
    }

    /// The first class of a kind.
    pub fn class_of(&self, wanted: ClassKind) -> Option<u16> {
        self.classes.iter().position(|(_, kind)| *kind == wanted).map(|class| class as u16)
    }

    /// The class that counts what is given in such words; none in a run of an older version, which knows the mean alone.
    pub fn counted(&self, what: &str) -> Option<u16> {
        let counts = |(name, kind): &(String, ClassKind)| *kind == ClassKind::Yield && name == what;
        self.classes.iter().position(counts).map(|class| class as u16)
    }

    /// Whether a transaction may have to wait for a free session: users are more than these, or arrivals ask for no leave.
    pub fn waits_for_sessions(&self) -> bool {
        self.offered.is_some() || self.sessions().zip(self.slots).is_some_and(|(sessions, slots)| slots > sessions)
    }

    /// Whether sessions may stand idle because nothing is due.
    pub fn paces_itself(&self) -> bool {
        self.load.contains(BY_THE_TRACE)
    }

    /// Sessions that carry its transactions; none of what asks no database.
    pub fn sessions(&self) -> Option<u32> {
        sessions_of(&self.load)
    }
}

/// What one completion of a class gives those who asked for it: 30 postings.
#[derive(Clone, Debug, PartialEq)]
pub struct Gives {
    /// Which class.
    pub class: u16,
    /// How many, on the mean.
    pub amount: f64,
    /// Of what, in the words of those who ask.
    pub what: String,
    /// How many of it a second the workload asks for by itself; none where it follows from the load.
    pub offered_per_s: Option<f64>,
}

/// Which trial this is: enough to group, order and name it without the study.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TrialLabel {
    /// Place in the order of execution, from 0.
    pub index: u32,
    /// Name of the experiment.
    pub experiment: String,
    /// Name of the system.
    pub system: String,
    /// Which repeat, from 0.
    pub replicate: u32,
    /// Which randomised block; systems alternate inside a block.
    pub block: u32,
    /// Factors in the order in which the study declares them.
    pub factors: Vec<Factor>,
    /// The streams that ran together.
    pub streams: Vec<StreamLabel>,
    /// What it finds when it starts.
    pub state: StatePolicy,
    /// What for, when a search planned this trial.
    pub search: Option<Searched>,
}

impl TrialLabel {
    /// The point that one of its streams belongs to.
    pub fn point(&self, stream: u16) -> Point {
        Point {
            experiment: self.experiment.clone(),
            system: self.system.clone(),
            stream: self.stream_name(stream).to_owned(),
            factors: self.factors.clone(),
        }
    }

    /// Name of a stream; empty when it is not there.
    pub fn stream_name(&self, stream: u16) -> &str {
        self.streams.get(usize::from(stream)).map_or("", |label| &label.name)
    }
}

/// What a figure or a finding is about: one stream of an experiment on a system, at these levels. Of a curve the factors are
/// those that stay the same along it.
#[derive(Clone, Debug, Default)]
pub struct Point {
    /// Name of the experiment.
    pub experiment: String,
    /// Name of the system.
    pub system: String,
    /// Name of the stream.
    pub stream: String,
    /// Factors with their levels, in the study's order.
    pub factors: Vec<Factor>,
}

impl Point {
    /// The level of a factor.
    pub fn level(&self, factor: &str) -> Option<&Level> {
        level_of(&self.factors, factor)
    }

    /// Whether both are of the same experiment, system and stream, at whatever levels.
    pub fn same_stream(&self, other: &Point) -> bool {
        (&self.experiment, &self.system, &self.stream) == (&other.experiment, &other.system, &other.stream)
    }

    /// Whether both are of the same experiment and stream at the same levels, on whatever system.
    pub fn same_elsewhere(&self, other: &Point) -> bool {
        let known = |factor: &Factor| other.level(&factor.name).is_some_and(|level| level.same(&factor.level));
        (&self.experiment, &self.stream) == (&other.experiment, &other.stream)
            && self.factors.len() == other.factors.len()
            && self.factors.iter().all(known)
    }

    /// The levels in a sentence: ` at 4 modules, block size 8 KiB`; empty where nothing was varied.
    pub fn at(&self) -> String {
        if self.factors.is_empty() { String::new() } else { format!(" at {}", in_words(&self.factors)) }
    }
}

/// Factors may stand in any order, and levels may be written in any unit.
impl PartialEq for Point {
    fn eq(&self, other: &Point) -> bool {
        self.system == other.system && self.same_elsewhere(other)
    }
}

/// `rates: random-read on target, modules 4`.
impl Display for Point {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} on {}", self.experiment, self.stream, self.system)?;
        if self.factors.is_empty() { Ok(()) } else { write!(f, ", {}", in_words(&self.factors)) }
    }
}

/// The level of a factor among several.
pub fn level_of<'a>(factors: &'a [Factor], name: &str) -> Option<&'a Level> {
    factors.iter().find(|factor| factor.name == name).map(|factor| &factor.level)
}

/// `4 modules, block size 8 KiB, 16 sessions`: what is counted is told as people do.
fn in_words(factors: &[Factor]) -> String {
    factors.iter().map(Factor::in_words).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_told_in_the_words_of_the_field() {
        assert_eq!(factor::levels("sessions", 1.0, 1.0), "1 session");
        assert_eq!(factor::levels("sessions", 4.0, 16.0), "4 to 16 sessions");
        assert_eq!(factor::levels("outstanding", 1.0, 1.0), "queue depth 1");
        assert_eq!(factor::levels("load.outstanding", 16.0, 64.0), "queue depth 16 to 64");
        assert_eq!(factor::both("sessions", 1.0, 8.0), "1 and 8 sessions");
        assert_eq!(factor::both("outstanding", 4.0, 32.0), "queue depth 4 and 32");
        assert_eq!(factor::said("transfer"), "block size");
    }

    fn point(factors: &[(&str, f64, &str)]) -> Point {
        let factor = |(name, value, text): &(&str, f64, &str)| Factor {
            name: (*name).to_owned(),
            level: Level::Number { value: *value, text: (*text).to_owned() },
        };
        let name = str::to_owned;
        let (experiment, system, stream) = (name("rates"), name("a"), name("read"));
        Point { experiment, system, stream, factors: factors.iter().map(factor).collect() }
    }

    #[test]
    fn a_point_is_the_same_in_any_order_of_factors_and_any_unit_of_levels() {
        let (one, other) = (("modules", 4.0, "4"), ("transfer", 8192.0, "8 KiB"));
        let written = point(&[("transfer", 8192.0, "8192 B"), one]);
        assert_eq!(point(&[one, other]), written);
        assert_ne!(point(&[one]), written);
        let elsewhere = Point { system: "b".to_owned(), ..written.clone() };
        assert!(elsewhere.same_elsewhere(&written) && elsewhere != written);
        assert!(written.same_stream(&point(&[])) && !elsewhere.same_stream(&written));
    }

    #[test]
    fn a_point_is_shown_with_its_levels_and_counts_sessions() {
        assert_eq!(point(&[]).to_string(), "rates: read on a");
        assert_eq!(
            point(&[("modules", 4.0, "4"), ("sessions", 1.0, "1")]).to_string(),
            "rates: read on a, 4 modules, 1 session"
        );
        assert_eq!(point(&[("sessions", 16.0, "16")]).at(), " at 16 sessions");
    }

    #[test]
    fn what_a_stream_asks_is_read_back_from_the_words_of_its_load() {
        for (words, asks) in [
            ("closed, 32 outstanding, 5 ms think time", Asks::Operations),
            ("open, 1 k/s Poisson, at most 64 in flight", Asks::Operations),
            ("4 wide, 1 loop of 1 GiB", Asks::Files),
            ("closed, 1 session", Asks::Transactions),
            ("100 users, 1 s mean think time, 8 sessions", Asks::Transactions),
        ] {
            assert_eq!(Asks::of_load(words), asks, "{words}");
        }
    }
}
