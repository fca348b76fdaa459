//! What a study may say of a warehouse.

use super::Spec;
use super::scale::LEVELS;
use super::spec::{LoadRates, Users, Variables};
use crate::kind::{INDEXES, ROWS};
use reading::key::{Choice, Count};
use reading::{Settings, keys};

keys! {
    /// All of them, in the order of the reference page.
    pub KEYS;
    ROWS;
    AGGREGATES "aggregates": Count = Count { min: 0, max: LEVELS.len() as u64 }, Is("2"),
        "Aggregates of each cube: 1 by month, product group and region; 2 also by month, category and country; 3 also by \
         quarter, category and region. A report is answered from the smallest that has what it shows.";
    INDEXES;
    USERS "cubes": Choice<Users> = Choice(Users::WORDS), Is("free"),
        "Whether each walk through reports begins on a cube that is drawn, or each user stays with one cube.";
    VARIABLES "variables": Choice<Variables> = Choice(Variables::WORDS), Is("differ"),
        "Variables of the reports (periods, regions, categories): `differ` draws them from all that there are, `repeat` from a \
         few, so that a cache of results may help.";
    LOAD_RATE "load_rate": LoadRates = LoadRates, Is("off"),
        "Rows a second that three streams of deltas load into the cubes beside the users; `full` is as fast as it goes, each \
         stream one delta after the other.";
    DELTA "delta": Count = Count { min: 1, max: 100_000 }, Is("500"),
        "Changed orders of a delta, each a row of its cube: at most a thirtieth of the source orders, of which there are a fifth of \
         `rows`, but no fewer than 6,000 and no more than 10 million.";
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
