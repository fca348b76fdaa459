//! Whether everything fits, and how much the run file reserves.
//!
//! The one idea: the planner checks each system by itself; here those that share a file system are added up, because two
//! folders of one disk have its free space only once.

use crate::failure::Failure;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use study::{Operations, Place, Plan, Storage, Study, Trial, Work};
use system::survey;
use units::Bytes;

/// A run file never reserves more: long runs grow their file as they go, and a full disk then ends them with what they
/// have. Half a gigabyte holds some hundred trials of ten minutes.
const RESERVE_MAX: u64 = 512 << 20;

/// What lies on one file system.
struct Shared {
    device: u64,
    free: Bytes,
    needed: u64,
    systems: Vec<String>,
}

/// Checks that the scratch files of all systems fit side by side.
///
/// # Errors
/// When they do not, naming the systems, what they need and what is free.
pub fn check(study: &Study, plan: &Plan) -> Result<(), Failure> {
    let mut shared: Vec<Shared> = Vec::new();
    for (name, bytes) in plan.occupied() {
        let Some(spec) = study.systems().iter().find(|spec| spec.name == name) else { continue };
        let Place::File { dirs } = &spec.place else { continue };
        for dir in dirs {
            add(&mut shared, &name, Path::new(&dir.path), bytes.0 / dirs.len() as u64)?;
        }
    }
    match shared.iter().find(|shared| shared.needed > shared.free.0) {
        None => Ok(()),
        Some(short) => Err(Failure::new(format!(
            "making scratch files for {}: at most {} are free, got {} to be written",
            short.systems.join(" and "),
            units::bytes(short.free),
            units::bytes(Bytes(short.needed))
        ))
        .hint("make them smaller with `--set size=..`, or fewer with `--set modules=..`")),
    }
}

fn add(shared: &mut Vec<Shared>, name: &str, dir: &Path, bytes: u64) -> Result<(), Failure> {
    let looking = format!("looking at the folder `{}` of system `{name}`", dir.display());
    let device = fs::metadata(dir).map_err(|error| Failure::caused(looking.clone(), &error))?.dev();
    let free = survey::folder(dir).map_err(|error| Failure::caused(looking, &error))?.free;
    let quoted = format!("`{name}`");
    match shared.iter_mut().find(|known| known.device == device) {
        Some(known) => {
            known.needed = known.needed.saturating_add(bytes);
            if !known.systems.contains(&quoted) {
                known.systems.push(quoted);
            }
        }
        None => shared.push(Shared { device, free, needed: bytes, systems: vec![quoted] }),
    }
    Ok(())
}

/// What the run file reserves for a plan: all cells of all trials in the file, or the log of the largest trial, whichever
/// is more, for both get as much.
pub fn reserve(plan: &Plan) -> u64 {
    let log = plan.trials.iter().map(|trial| store::estimate_bytes(intervals(trial), cells(trial))).max();
    let kept = |trial: &Trial| {
        let (intervals, cells) = (intervals(trial), cells(trial));
        let of_cells = store::estimate_bytes(intervals, cells).saturating_sub(store::estimate_bytes(intervals, 0));
        of_cells.saturating_add(ledger(trial))
    };
    let certain: u64 = plan.trials.iter().map(kept).fold(0, u64::saturating_add);
    // Repeats and probes are like the trials that are certain.
    let more = f64::from(plan.trials_max().max(1)) / plan.trials.len().max(1) as f64;
    let file = (certain as f64 * more) as u64;
    file.saturating_add(store::estimate_bytes(0, 0)).max(log.unwrap_or_default()).min(RESERVE_MAX)
}

/// What is noted of the writes of a trial: some four bytes for each of the first half million transfers.
fn ledger(trial: &Trial) -> u64 {
    let capacity = trial.module_bytes.0.saturating_mul(u64::from(trial.modules));
    if trial.watched() { 4 * (capacity / 4096).min(1 << 19) } else { 0 }
}

fn intervals(trial: &Trial) -> u64 {
    let phases = &trial.phases;
    (phases.warm_up.0 + phases.measure.0).div_ceil(phases.interval.0.max(1))
}

/// Cells of one interval at most: one a class, endpoint and worker.
fn cells(trial: &Trial) -> u64 {
    let endpoints = u64::from(trial.modules.max(1));
    let of = |(index, stream): (usize, &study::Stream)| {
        let classes = trial.label.streams.get(index).map_or(1, |label| label.classes.len().max(1)) as u64;
        let workers = match &stream.work {
            Work::Operations(Operations { of: Storage::Block(_), .. }) => u64::from(stream.threads.count.max(1)),
            Work::Operations(Operations { of: Storage::Files(_), .. }) => 1,
            Work::Transactions { .. } => u64::from(stream.sessions()),
        };
        classes * workers * endpoints
    };
    trial.streams.iter().enumerate().map(of).sum()
}
