//! Whether everything fits, and how much the run file reserves.
//!
//! The one idea: the planner checks each system by itself; here those that share a file system are added up, because two
//! folders of one disk have its free space only once.

use super::planned::{fixed_work, is_job};
use crate::failure::Failure;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use store::Reserve;
use study::{Engine, Operations, Place, Plan, Storage, Study, SyncMode, Trial, Work};
use system::survey;
use units::{Bytes, Nanos};
use workload::block;

/// A run file never reserves more: long runs grow their file as they go, and a full disk then ends them with what they
/// have. Half a gigabyte holds some hundred trials of ten minutes.
const RESERVE_MAX: u64 = 512 << 20;

/// Where nobody knows how fast it will go: few streams are faster, and each of their intervals is full anyway.
const OPERATIONS_PER_S: f64 = 1e6;
/// The same of transactions.
const TRANSACTIONS_PER_S: f64 = 10e3;

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
        .hint("make them smaller with `--set size=..` (file work: `--set file=..`), or fewer with `--set modules=..` (`--set width=..`)")),
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

/// What the run file reserves for a plan: all trials in the file, the largest one in its log.
pub fn reserve(study: &Study, plan: &Plan) -> Reserve {
    let of = |trial: &Trial| (intervals(trial), kept(study, trial));
    let certain = Reserve::of(plan.trials.iter().map(of), plan.trials.iter().map(ledger).sum(), RESERVE_MAX);
    // Repeats and probes are like the trials that are certain.
    let more = f64::from(plan.trials_max().max(1)) / plan.trials.len().max(1) as f64;
    Reserve { file: ((certain.file as f64 * more) as u64).min(RESERVE_MAX), ..certain }
}

/// What is noted of the writes of a trial: some four bytes for each of the first half million transfers.
fn ledger(trial: &Trial) -> u64 {
    let capacity = trial.module_bytes.0.saturating_mul(u64::from(trial.modules));
    if trial.watched() { 4 * (capacity / 4096).min(1 << 19) } else { 0 }
}

fn intervals(trial: &Trial) -> u64 {
    let phases = &trial.phases;
    // For fixed work `measure` is the longest that it may take; few storage is so much slower than a plan assumes.
    let slow = Nanos(fixed_work(trial).0.saturating_mul(4)) + Nanos::from_secs(1);
    let known = phases.fixed_work && !is_job(trial);
    let window = if known { slow.min(phases.measure) } else { phases.measure };
    (phases.warm_up.0 + window.0).div_ceil(phases.interval.0.max(1))
}

/// What one interval keeps: cells of its classes by endpoint and worker, as far as operations fill them.
fn kept(study: &Study, trial: &Trial) -> u64 {
    let system = study.systems().iter().find(|spec| spec.name == trial.label.system);
    let seconds = trial.phases.interval.seconds();
    let of = |(index, stream): (usize, &study::Stream)| {
        let labelled = trial.label.streams.get(index).map_or(1, |label| label.classes.len().max(1));
        let (cells, assumed_per_s) = match &stream.work {
            Work::Operations(Operations { of: Storage::Block(spec), access, .. }) => {
                let sizes = u64::from(stream.threads.count.max(1)) * u64::from(trial.modules.max(1));
                (happening(spec, access.sync) * sizes, OPERATIONS_PER_S)
            }
            Work::Operations(_) => (labelled as u64, OPERATIONS_PER_S),
            Work::Transactions { .. } => {
                let driven = system.is_some_and(|spec| driven(&spec.place));
                let workers = if driven { stream.threads.count } else { stream.sessions() };
                (labelled as u64 * u64::from(workers.max(1)), TRANSACTIONS_PER_S)
            }
        };
        let per_s = match stream.load {
            load::Spec::Open { rate, .. } => rate.0,
            load::Spec::Closed { .. } => assumed_per_s,
        };
        store::cells_bytes(cells, (per_s * seconds).ceil() as u64)
    };
    trial.streams.iter().enumerate().map(of).fold(0, u64::saturating_add)
}

/// Classes of a block workload that come at all.
fn happening(spec: &block::Spec, sync: SyncMode) -> u64 {
    let writes = spec.written_per_operation() > 0.0;
    [spec.read.0 > 0.0, writes, writes && matches!(sync, SyncMode::Every(_)), spec.trims.0 > 0.0]
        .map(u64::from)
        .iter()
        .sum()
}

/// Whether one thread of the generator carries many sessions.
fn driven(place: &Place) -> bool {
    let servers = |engine| matches!(engine, Engine::Postgres | Engine::Mariadb);
    matches!(place, Place::Database(spec) if servers(spec.engine)) && engine::ring_allowed()
}
