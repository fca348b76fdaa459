//! Quantiles of response, which no closed form gives: the trial behind a question, simulated.
//!
//! The one idea: a need such as `p99<=10` is answered by the same simulation that `prony run --on model:NAME` does, at the size
//! that is being tried, with the same seed at every size.

use super::question::Question;
use crate::failure::Failure;
use engine::{Described, Need, Opened, Unobserved, run_trial};
use load::Spec;
use model::file::Description;
use observation::Footprint;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use study::{Place, SystemSpec, Trial, Work};
use units::Nanos;

/// The quantiles that may be needed, by their words.
pub(super) const QUANTILES: [(&str, f64); 4] = [("p50", 0.5), ("p95", 0.95), ("p99", 0.99), ("p99.9", 0.999)];

/// A quantile of response in milliseconds at the size of a question; none where the machine cannot be loaded so.
///
/// # Errors
/// When nothing can be simulated: the question comes from a table, or the model has no stations.
pub(super) fn quantile_ms(model: &Description, question: &Question, quantile: f64) -> Result<Option<f64>, Failure> {
    let doing = || format!("simulating {} on `{}`", question.row.id, model.name);
    let Some((trial, stream)) = question.trial() else {
        return Err(Failure::new(format!("{}: a row of a table says no load that could be simulated", doing()))
            .hint("quantiles are found for a study: prony predict STUDY --on model:NAME --find KEY --need 'p99<=10'"));
    };
    let described = Described { description: fitting(model, trial), text: String::new() };
    let spec = SystemSpec {
        name: trial.label.system.clone(),
        place: Place::Model { model: model.name.clone(), changes: Vec::new() },
        size: None,
        modules: None,
        footprint: Footprint::default(),
    };
    let stop = Arc::new(AtomicBool::new(false));
    let need = Need {
        modules: trial.modules,
        module_bytes: trial.module_bytes,
        run_id: "predict",
        seed: SEED,
        keep: false,
        consents: &[],
        cache_dir: Path::new("."),
        model: Some(&described),
        stop: &stop,
    };
    let mut opened = Opened::open(&spec, &need).map_err(|error| Failure::caused(doing(), &error))?;
    let observations = run_trial(&mut opened, &shortened(trial), &mut Unobserved, &stop)
        .map_err(|error| Failure::caused(doing(), &error))?;
    let response = observations.stream_total(stream as u16).response;
    Ok(response.quantile_ns(quantile).map(|ns| ns as f64 / 1e6))
}

/// A window that is long enough for any quantile of a machine that answers in milliseconds; a study's own may be an hour.
const WINDOW: Nanos = Nanos::from_secs(5);

fn shortened(trial: &Trial) -> Trial {
    let mut trial = Trial { seed: SEED, ..trial.clone() };
    let interval = trial.phases.interval.max(Nanos(1));
    let whole = |time: Nanos| Nanos(time.0.div_ceil(interval.0) * interval.0);
    trial.phases.measure = trial.phases.measure.min(whole(WINDOW));
    trial.phases.warm_up = trial.phases.warm_up.min(whole(Nanos::from_secs(1)));
    trial
}

/// Equal at every size, so that sizes differ by nothing but themselves.
const SEED: u64 = 1;

/// The model with as many modules as the trial loads; more of them is what the question is about.
fn fitting(model: &Description, trial: &Trial) -> Description {
    let mut described = model.clone();
    if let Some(modules) = described.parameters.iter_mut().find(|parameter| parameter.name == "modules") {
        modules.value = modules.value.max(f64::from(trial.modules));
    }
    described
}

/// The trial with another count of what a study varies.
pub(super) fn resized(trial: &Trial, stream: usize, column: &str, count: u64) -> Trial {
    let mut trial = trial.clone();
    let count = u32::try_from(count).unwrap_or(u32::MAX);
    let modules = trial.modules.max(1);
    let own = &mut trial.streams[stream];
    let slots = own.slots();
    let wanted = match (column, &mut own.work) {
        ("threads", Work::Transactions { pool, .. }) => {
            // Users stay as many as they are; sessions without users are the load themselves.
            let users = slots != pool.sessions;
            pool.sessions = count;
            if users { slots } else { count }
        }
        ("modules", _) => (slots / modules).max(1) * count,
        ("outstanding", _) => count,
        _ => slots,
    };
    match &mut own.load {
        Spec::Closed { slots, .. } | Spec::Open { slots, .. } => *slots = wanted,
    }
    if column == "modules" {
        trial.modules = count;
    }
    trial
}
