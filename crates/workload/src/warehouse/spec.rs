//! What a warehouse workload is, as a study says it.

use super::scale::LEVELS;
pub use crate::dataset::Indexes;
use crate::kind::{INDEXES, ROWS};
use reading::key::{Choice, Count, Domain};
use reading::{Settings, keys};

units::words! {
    /// Which reports users walk through.
    #[derive(Default)]
    pub enum Users {
        #[default]
        Free = "free" "Each walk begins on a cube that is drawn.",
        Pinned = "pinned" "Each user stays with one cube.",
    }
}

units::words! {
    /// What the variables of reports (periods, regions, categories) are.
    #[derive(Default)]
    pub enum Variables {
        #[default]
        Differ = "differ" "Drawn from all that there are, so that a cache of results helps little.",
        Repeat = "repeat" "A few, so that the same questions come again and again.",
    }
}

/// How fast deltas are loaded beside the users.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LoadRate {
    /// Not at all.
    Off,
    /// So many rows a second, over all streams: `500/s`, or the number alone.
    Rows(u64),
    /// As fast as it goes.
    Full,
}

/// Texts of a load rate.
#[derive(Clone, Copy, Debug)]
pub struct LoadRates;

/// Rows a second at most.
const RATE_MAX: u64 = 100_000_000;

impl Domain for LoadRates {
    type Value = LoadRate;

    fn read(&self, text: &str) -> Result<LoadRate, String> {
        match text {
            "off" => Ok(LoadRate::Off),
            "full" => Ok(LoadRate::Full),
            rows => match units::parse_count(rows.strip_suffix("/s").unwrap_or(rows)) {
                Ok(0) => Ok(LoadRate::Off),
                Ok(rows) if rows <= RATE_MAX => Ok(LoadRate::Rows(rows)),
                _ => Err(self.refused(text)),
            },
        }
    }

    fn allowed(&self) -> String {
        format!("rows a second from 0 to {RATE_MAX}, `off` or `full`")
    }

    fn number(&self, value: &LoadRate) -> Option<f64> {
        match value {
            LoadRate::Off => Some(0.0),
            LoadRate::Rows(rows) => Some(*rows as f64),
            LoadRate::Full => None,
        }
    }
}

/// A warehouse workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Spec {
    /// Rows of all cubes together.
    pub rows: u64,
    /// How many aggregates each cube has.
    pub aggregates: u32,
    /// Indexes on the cubes.
    pub indexes: Indexes,
    /// Which reports users walk through.
    pub users: Users,
    /// What their variables are.
    pub variables: Variables,
    /// How fast deltas are loaded.
    pub load_rate: LoadRate,
    /// Changed orders of a delta, each of which becomes a row of a cube.
    pub delta: u64,
}

// What a study may say of a warehouse.

keys! {
    /// All of them, in the order of the reference page.
    pub KEYS;
    ROWS;
    /// Aggregates of each cube: 1 by month, product group and region; 2 also by month, category and country; 3 also by
    /// quarter, category and region. A report is answered from the smallest that has what it shows.
    AGGREGATES "aggregates": Count = Count { min: 0, max: LEVELS.len() as u64 }, Is("2");
    INDEXES;
    /// Whether each walk through reports begins on a cube that is drawn, or each user stays with one cube.
    USERS "cubes": Choice<Users> = Choice(Users::WORDS), Is("free");
    /// Variables of the reports (periods, regions, categories): `differ` draws them from all that there are, `repeat`
    /// from a few, so that a cache of results may help.
    VARIABLES "variables": Choice<Variables> = Choice(Variables::WORDS), Is("differ");
    /// Rows a second that three streams of deltas load into the cubes beside the users; `full` is as fast as it goes,
    /// each stream one delta after the other.
    LOAD_RATE "load_rate": LoadRates = LoadRates, Is("off");
    /// Changed orders of a delta, each a row of its cube: at most a thirtieth of the source orders, of which there are
    /// a fifth of `rows`, but no fewer than 6,000 and no more than 10 million.
    DELTA "delta": Count = Count { min: 1, max: 100_000 }, Is("500");
}

/// The workload that these settings ask for.
pub fn read(settings: &mut dyn Settings) -> Spec {
    Spec {
        rows: settings.get(&ROWS),
        aggregates: settings.get(&AGGREGATES) as u32,
        indexes: settings.get(&INDEXES),
        users: settings.get(&USERS),
        variables: settings.get(&VARIABLES),
        load_rate: settings.get(&LOAD_RATE),
        delta: settings.get(&DELTA),
    }
}
