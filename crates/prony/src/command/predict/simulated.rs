//! What no closed form gives: the trial behind a question, simulated.
//!
//! The one idea: a load, a quantile or a window that the closed form does not know is answered by the same simulation that
//! `prony run --on model:NAME` does. Its interval comes from further trials with other seeds, each on a machine whose numbers
//! are drawn from what is known of them, so that it holds the doubt of the model and the chance of a window.

use super::formal::Answer;
use super::question::Question;
use crate::failure::Failure;
use analysis::TrialSummary;
use engine::{Described, Need, Opened, Unobserved, run_trial};
use load::Spec;
use model::file::Description;
use observation::{Cell, ClassKind, Footprint};
use std::convert::Infallible;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use study::{Judgement, Place, SystemSpec, Trial, Work, Yield};
use units::{Bytes, Nanos};

/// The quantiles that may be needed, by their words.
pub(super) const QUANTILES: [(&str, f64); 4] = [("p50", 0.5), ("p95", 0.95), ("p99", 0.99), ("p99.9", 0.999)];

/// The trials of questions, each simulated once.
pub(super) struct Simulations<'a> {
    model: &'a Description,
    /// That of the study; none where rows of a table ask.
    judgement: Option<&'a Judgement>,
    done: Vec<(Trial, Simulated)>,
}

/// A trial that was simulated: as planned, and again with other numbers.
struct Simulated {
    found: TrialSummary,
    again: Vec<TrialSummary>,
    /// The window, where it is shorter than planned.
    shortened: Option<Nanos>,
}

/// Trials with numbers drawn anew.
const AGAIN: u64 = 8;
/// Operations that a trial is simulated for at most; a longer window is shortened.
const OPERATIONS: f64 = 2e7;
/// The same of the trials that only say how far off the first may be.
const OPERATIONS_AGAIN: f64 = 5e5;

impl<'a> Simulations<'a> {
    pub(super) fn new(model: &'a Description, judgement: Option<&'a Judgement>) -> Simulations<'a> {
        Simulations { model, judgement, done: Vec::new() }
    }

    /// What a simulation says of a quantity of a question; none of a row, and of a quantity that it does not give.
    ///
    /// # Errors
    /// When the trial cannot be simulated.
    pub(super) fn answer(&mut self, question: &Question, quantity: &str) -> Result<Option<Answer>, Failure> {
        let (Some((trial, stream)), Some(judgement)) = (question.trial(), self.judgement) else { return Ok(None) };
        let off =
            self.model.off(&question.row, if Yield::of_word(quantity).is_some() { "throughput" } else { quantity });
        let simulated = self.of(trial, judgement)?;
        let Some(value) = reading(&simulated.found, stream, quantity) else { return Ok(None) };
        let read = |again| reading(again, stream, quantity);
        let others: Vec<f64> = simulated.again.iter().filter_map(read).collect();
        let reach = reach(&others, off);
        Ok((value.is_finite() && value > 0.0).then_some(Answer { value, low: value / reach, high: value * reach }))
    }

    /// Over how long a trial was simulated where that is less than planned.
    pub(super) fn shortened(&self, trial: &Trial) -> Option<Nanos> {
        self.done.iter().find(|(known, _)| known == trial)?.1.shortened
    }

    fn of(&mut self, trial: &Trial, judgement: &Judgement) -> Result<&Simulated, Failure> {
        let place = match self.done.iter().position(|(known, _)| known == trial) {
            Some(place) => place,
            None => {
                let simulated = self.simulate(trial, judgement)?;
                self.done.push((trial.clone(), simulated));
                self.done.len() - 1
            }
        };
        Ok(&self.done[place].1)
    }

    fn simulate(&self, trial: &Trial, judgement: &Judgement) -> Result<Simulated, Failure> {
        let pilot = summary(self.model, &shortened(trial, PILOT), judgement)?;
        let per_s: f64 = pilot.streams.iter().map(|stream| stream.throughput_per_s.value).sum();
        let lasts = |operations: f64| Nanos::from_seconds((operations / per_s.max(1e-3)).clamp(PILOT.seconds(), 1e6));
        let planned = shortened(trial, in_cycles(trial, lasts(OPERATIONS)));
        let found = summary(self.model, &planned, judgement)?;
        let again: Vec<u64> = (0..AGAIN).collect();
        let short = shortened(trial, in_cycles(trial, lasts(OPERATIONS_AGAIN).min(WINDOW)));
        let again = in_parallel(&again, |number| {
            let drawn = self.model.drawn(SEED + number);
            // A disk of other parts may hold less than is asked of this one.
            let holds = model::module_bytes(&drawn).map_or(short.module_bytes, Bytes);
            let module_bytes = short.module_bytes.min(holds);
            summary(&drawn, &Trial { seed: SEED + 1 + number, module_bytes, ..short.clone() }, judgement)
        });
        let less = planned.phases.measure < trial.phases.measure;
        let shortened = less.then_some(planned.phases.measure);
        Ok(Simulated { found, again: again.into_iter().collect::<Result<_, _>>()?, shortened })
    }
}

/// What a trial does on a model.
fn summary(model: &Description, trial: &Trial, judgement: &Judgement) -> Result<TrialSummary, Failure> {
    let observations = observed(model, trial)?;
    let cells = observations.cells.as_slice();
    let reduced: Result<_, Infallible> = analysis::summarise_from(&trial.label, &observations, cells, judgement);
    let Ok(summary) = reduced;
    Ok(summary)
}

/// Does the same with each, on as many threads as the machine has cores; the results stand in the order of the items.
fn in_parallel<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let each = items.len().div_ceil(cores).max(1);
    std::thread::scope(|scope| {
        let work = &work;
        let parts: Vec<_> =
            items.chunks(each).map(|part| scope.spawn(move || part.iter().map(work).collect::<Vec<R>>())).collect();
        parts
            .into_iter()
            .flat_map(|part| part.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    })
}

/// A quantity of a stream of a trial; none that a simulation does not give.
fn reading(trial: &TrialSummary, stream: usize, quantity: &str) -> Option<f64> {
    let own = &trial.streams[stream];
    match quantity {
        "throughput" | "rate" => Some(own.throughput_per_s.value),
        "speed" => Some(own.bytes_per_s / 1e6),
        "response" => Some(own.response.mean_ms),
        "response-s" => Some(own.response.mean_ms / 1e3),
        "utilisation" => {
            let busy = trial.server.as_ref()?.cpu_busy_cores.zip(trial.machine.cores);
            busy.map(|(busy, cores)| 100.0 * busy / f64::from(cores))
        }
        given => own.yields.iter().find(|known| known.what == given).map(|known| 3_600.0 * known.per_s.value),
    }
}

/// The factor by which a value may be off, with 95 percent: trials that were drawn say how they scatter, and one more of them
/// the rows around the model scatter as well, and its form is off.
fn reach(others: &[f64], noise: f64) -> f64 {
    let logs: Vec<f64> = others.iter().filter(|value| **value > 0.0).map(|value| value.ln()).collect();
    let count = logs.len() as f64;
    let mean = logs.iter().sum::<f64>() / count;
    let variance = logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>() / (count - 1.0);
    if logs.len() < 2 {
        return f64::INFINITY;
    }
    (model::fit::t95(count - 1.0) * (variance * (1.0 + 1.0 / count) + noise * noise).sqrt()).exp()
}

/// A quantile of response in milliseconds at the size of a question; none where the machine cannot be loaded so.
///
/// # Errors
/// When nothing can be simulated: the question comes from a table, or the model has no stations.
pub(super) fn quantile_ms(model: &Description, question: &Question, quantile: f64) -> Result<Option<f64>, Failure> {
    let Some((trial, stream)) = question.trial() else {
        let what = format!("simulating {} on `{}`", question.row.id, model.name);
        return Err(Failure::new(format!("{what}: a row of a table says no load that could be simulated"))
            .hint("quantiles are found for a study: prony predict STUDY --on model:NAME --find KEY --need 'p99<=10'"));
    };
    let trial = Trial { seed: SEED, ..shortened(trial, in_cycles(trial, WINDOW)) };
    let response = observed(model, &trial)?.stream_total(stream as u16).response;
    Ok(response.quantile_ns(quantile).map(|ns| ns as f64 / 1e6))
}

/// A quantity at the size of a question, without an interval; none of a row, and where a simulation gives no such quantity.
///
/// # Errors
/// When the trial cannot be simulated.
pub(super) fn once(model: &Description, question: &Question, quantity: &str) -> Result<Option<f64>, Failure> {
    let Some((trial, stream)) = question.trial() else { return Ok(None) };
    let observed = observed(model, &Trial { seed: SEED, ..shortened(trial, in_cycles(trial, WINDOW)) })?;
    let cell = observed.stream_total(stream as u16);
    let label = &trial.label.streams[stream];
    let of_work =
        |cell: &&Cell| usize::from(cell.key.stream) == stream && label.kind(cell.key.class) == ClassKind::Work;
    let done: u64 = observed.window_cells().filter(of_work).map(|cell| cell.tally.done).sum();
    let window = trial.phases.measure.min(in_cycles(trial, WINDOW));
    let seconds = observed.elapsed_s.unwrap_or(window.seconds());
    let response_ms = cell.response.mean_ns().map(|ns| ns / 1e6);
    Ok(match quantity {
        "throughput" | "rate" => Some(done as f64 / seconds),
        "speed" => Some(cell.tally.bytes as f64 / 1e6 / seconds),
        "response" => response_ms,
        "response-s" => response_ms.map(|ms| ms / 1e3),
        given => {
            let label = trial.label.streams.get(stream);
            let gives = label.into_iter().flat_map(|label| &label.gives).filter(|gives| gives.what == given);
            let of = |class: u16| {
                let own = |cell: &&Cell| (usize::from(cell.key.stream), cell.key.class) == (stream, class);
                observed.window_cells().filter(own).map(|cell| cell.tally.done).sum::<u64>() as f64
            };
            gives.map(|gives| 3_600.0 * gives.amount * of(gives.class) / seconds).reduce(|sum, more| sum + more)
        }
    })
}

/// What a trial on a model observes.
fn observed(model: &Description, trial: &Trial) -> Result<observation::Observations, Failure> {
    let doing = || format!("simulating {} on `{}`", trial.label.experiment, model.name);
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
        filled: trial.modules,
        module_bytes: trial.module_bytes,
        run_id: "predict",
        seed: SEED,
        keep: false,
        data_set: false,
        consents: &[],
        cache_dir: Path::new("."),
        model: Some(&described),
        stop: &stop,
    };
    let mut opened = Opened::open(&spec, &need).map_err(|error| Failure::caused(doing(), &error))?;
    run_trial(&mut opened, trial, &mut Unobserved, &stop).map_err(|error| Failure::caused(doing(), &error))
}

/// A window that is long enough for any quantile of a machine that answers in milliseconds; a study's own may be an hour.
const WINDOW: Nanos = Nanos::from_secs(5);
/// A look at how fast a machine is.
const PILOT: Nanos = Nanos::from_millis(200);

/// A window in which each of what comes by the clock comes as often as in any other of its length: whole cycles of the longest that
/// the planned window holds.
fn in_cycles(trial: &Trial, window: Nanos) -> Nanos {
    let every = trial.streams.iter().flat_map(|stream| stream.clock()).map(|clocked| clocked.every);
    let longest = every.filter(|every| *every <= trial.phases.measure).max().unwrap_or(Nanos(1));
    Nanos(window.0.div_ceil(longest.0) * longest.0)
}

/// A trial over a window that is no longer than this, in whole intervals; its warm-up is shortened with it. A job that ends is
/// simulated to its end, and so is one in which something happens.
fn shortened(trial: &Trial, longest: Nanos) -> Trial {
    let mut trial = trial.clone();
    if trial.phases.fixed_work || !trial.events.is_empty() || trial.phases.measure <= longest {
        return trial;
    }
    let interval = trial.phases.interval.max(Nanos(1));
    let whole = |time: Nanos| Nanos(time.0.div_ceil(interval.0) * interval.0);
    trial.phases.measure = trial.phases.measure.min(whole(longest));
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
