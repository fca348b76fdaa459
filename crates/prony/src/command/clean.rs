//! `prony clean DIR`: scratch folders that a killed run left behind.
//!
//! Which folders are Prony's own, and whether a running Prony holds one, is for the system room to say: it looks at
//! the marker in each folder and at its lock. Nothing else in the folder is looked at.

use crate::args::Clean;
use crate::failure::Failure;
use crate::output;
use std::path::PathBuf;
use system::file::{Abandoned, abandoned};

/// Removes what was left behind, or names it.
pub fn run(asked: &Clean) -> Result<(), Failure> {
    let dir = asked.dir.clone().unwrap_or_else(|| PathBuf::from("."));
    let found = abandoned(&dir)
        .map_err(|error| Failure::caused(format!("looking for scratch folders in `{}`", dir.display()), &error))?;
    if found.is_empty() {
        output::note_line(&format!("nothing was left behind in {}", dir.display()));
    }
    for folder in found {
        let words = words(&folder);
        if asked.dry_run {
            output::print(&format!("would remove {words}\n"))?;
            continue;
        }
        let doing = format!("removing the scratch folder `{}`", folder.path().display());
        folder.remove().map_err(|error| Failure::caused(doing, &error))?;
        output::print(&format!("removed {words}\n"))?;
    }
    Ok(())
}

fn words(folder: &Abandoned) -> String {
    format!("{} ({}, of the run {})", folder.path().display(), units::bytes(folder.bytes()), folder.run_id())
}
