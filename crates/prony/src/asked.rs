//! What a trial asks of a system, as the cells of a row: one for each thing that a model may want to know.
//!
//! The one idea: a point that is to be predicted and a point that was run are asked about in the same words, so that a model
//! is judged by the answers that it gives.

use load::{Arrivals, Spec, Think};
use std::collections::BTreeMap;
use study::{Operations, Storage, Stream, Trial, Work};
use units::Nanos;
use workload::block::{self, Offsets, Pattern};
use workload::kind::Clocked;

/// The cells of a stream of a trial.
pub fn cells(trial: &Trial, stream: &Stream) -> BTreeMap<String, String> {
    let mut cells = BTreeMap::new();
    let mut set = |column: &str, text: String| {
        cells.insert(column.to_owned(), text);
    };
    set("window", format!("{} seconds", trial.phases.measure.seconds()));
    set("warm_up_s", trial.phases.warm_up.seconds().to_string());
    if !trial.events.is_empty() {
        set("events", trial.events.len().to_string());
    }
    if trial.state.wire.delay > Nanos::ZERO {
        set("distance_km", trial.state.wire.km().to_string());
    }
    if trial.streams.len() > 1 {
        set("streams", trial.streams.len().to_string());
    }
    comes(stream, &mut set);
    match &stream.work {
        Work::Operations(Operations { of: Storage::Block(spec), .. }) => {
            let percent = (spec.read.0 * 100.0).round();
            let mix = match percent as u32 {
                100 => "read".to_owned(),
                0 => "write".to_owned(),
                mixed => format!("rw{mixed}"),
            };
            let order = if spec.pattern == Pattern::Sequential { "seq" } else { "random" };
            let weight: f64 = spec.all_transfers().map(|transfer| transfer.weight).sum();
            let bytes: f64 = spec.all_transfers().map(|t| t.size.0 as f64 * t.weight).sum::<f64>() / weight;
            set("test", format!("{order}_{mix}"));
            set("op", mix);
            set("transfer_kb", (bytes / 1024.0).to_string());
            let mut sizes: Vec<u64> = spec.all_transfers().map(|transfer| transfer.size.0).collect();
            sizes.sort_unstable();
            sizes.dedup();
            if sizes.len() > 1 {
                set("sizes", sizes.len().to_string());
            }
            set("modules", trial.modules.to_string());
            set("outstanding", stream.slots().to_string());
            set("module_bytes", trial.module_bytes.0.to_string());
            places(spec, &mut set);
        }
        Work::Transactions { asked, pool } => {
            set("threads", pool.sessions.to_string());
            let said = asked.classes().iter().filter(|class| class.demand.is_some()).count();
            if said > 0 {
                set("classes", said.to_string());
            }
            asked.columns().into_iter().for_each(|(column, text)| set(column, text));
        }
        Work::Operations(Operations { of: Storage::Files(_), .. }) => {}
    }
    cells
}

/// Where operations go, where that is not everywhere alike and on their natural alignment.
fn places(spec: &block::Spec, set: &mut impl FnMut(&str, String)) {
    if spec.shift.0 > 0 {
        set("shift_kb", (spec.shift.0 as f64 / 1024.0).to_string());
    }
    if spec.offsets != Offsets::Uniform {
        set("offsets", "preferred".to_owned());
    }
    if spec.range.0 < 1.0 {
        set("range", spec.range.0.to_string());
    }
}

/// How work comes, where it is not simply as many at once as there are slots.
fn comes(stream: &Stream, set: &mut impl FnMut(&str, String)) {
    let clocked: f64 = stream.clock().iter().map(Clocked::per_s).sum();
    if clocked > 0.0 {
        set("clocked_per_s", clocked.to_string());
    }
    let sessions = stream.transactions().map_or(stream.slots(), |(_, pool)| pool.sessions);
    match stream.load {
        Spec::Closed { slots, think } if slots != sessions || think.mean() > Nanos::ZERO => {
            set("population", slots.to_string());
            set("think_ms", (1e3 * think.mean().seconds()).to_string());
            if matches!(think, Think::Constant(time) if time > Nanos::ZERO) {
                set("think_times", "constant".to_owned());
            }
        }
        Spec::Closed { .. } => {}
        Spec::Open { rate, arrivals, .. } => {
            set("arrivals_per_s", rate.0.to_string());
            let word = if arrivals == Arrivals::Poisson { "poisson" } else { "constant" };
            set("arrivals", word.to_owned());
        }
    }
}
