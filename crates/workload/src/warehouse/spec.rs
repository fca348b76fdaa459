//! What a warehouse workload is, as a study says it.

pub use crate::dataset::Indexes;
use reading::key::Domain;

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
