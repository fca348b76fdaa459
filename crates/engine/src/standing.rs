//! How a database stands to the memories of the machine when a trial has ended.
//!
//! The one idea: levels are read once, right behind the load and before anything checks the data, because a check reads all of
//! it and so fills every cache.
//!
//! What it does not do: it judges nothing; what could not be looked at yields no series.

use crate::databases::Databases;
use crate::page_cache::cached_bytes;
use observation::{Probe, Series, Whole};
use std::fs::File;
use units::Nanos;

/// One point each, at the end of the trial.
pub(crate) fn series(databases: &Databases, end: Nanos) -> Vec<Series> {
    let Ok((database, _)) = databases.current() else { return Vec::new() };
    let told = database.standing().into_iter().map(|(counter, value)| (Probe::Counter(counter), value));
    let mut found: Vec<(Probe, f64)> = told.collect();
    found.extend(probe::memory_bytes().map(|bytes| (Whole::Memory.into(), bytes as f64)));
    let files: Vec<File> = database.data_files().iter().filter_map(|path| File::open(path).ok()).collect();
    if !files.is_empty() {
        let sizes = files.iter().filter_map(|file| Some(file.metadata().ok()?.len()));
        found.push((Whole::FilesOfData.into(), sizes.sum::<u64>() as f64));
        // One file that does not tell would make the sum a lie.
        let cached: Option<u64> = files.iter().map(|file| cached_bytes(file).ok()).sum();
        found.extend(cached.map(|bytes| (Whole::FilesOfDataCached.into(), bytes as f64)));
    }
    found.into_iter().map(|(probe, value)| Series { probe, points: vec![(end, value)] }).collect()
}
