//! `prony tier advise URL`: which tables and indexes belong on the fast tier.

use super::sample::{Sampler, Window};
use super::times::{Known, known};
use super::{document, open, said, size, spec, time};
use crate::args::TierAdvise;
use crate::failure::Failure;
use crate::{model_file, output, run};
use advisor::{Advice, Rival};
use database::tier::Standing;
use std::time::Duration;
use study::Engine;

/// Servers report what they count about once a second: a shorter slice holds all of it or nothing.
const SLICE_MIN: Duration = Duration::from_secs(1);
const SLICES: u32 = 10;
/// The samples of an interval are drawn the same for everybody: the same counts give the same advice.
const SEED: u64 = 1;

/// Everything that is told.
pub(super) struct Told {
    pub(super) shown: String,
    pub(super) engine: Engine,
    pub(super) standing: Standing,
    pub(super) fast: String,
    pub(super) known: Known,
    pub(super) window_s: f64,
    pub(super) slices: u32,
    pub(super) vanished: Vec<String>,
    /// What was asked for; none takes the knee.
    pub(super) budget: Option<f64>,
    pub(super) advice: Advice,
    /// What else the bytes of each point of the curve would save, and those of the budget, which come last.
    pub(super) rivals: Vec<Rival>,
}

pub(super) fn run(asked: &TierAdvise) -> Result<(), Failure> {
    let window = time("--window", &asked.window)?;
    let slices = slices(asked.slices, window)?;
    if !(asked.memory_price.is_finite() && asked.memory_price > 0.0) {
        return Err(Failure::new(format!("reading `--memory-price`: a number above 0, got {}", asked.memory_price)));
    }
    let budget = asked.budget.as_ref().map(|text| size("--budget", text)).transpose()?;
    // Wrong times are told before the wait, not after it.
    known(&asked.tiers, 1.0)?;
    let spec = spec(&asked.place)?;
    let stop = run::listen()?;
    let database = open(&spec, stop.clone())?;
    let mut sampler = Sampler::new(database.as_ref(), &spec, &asked.fast.space)?;
    let Window { looks, objects, vanished, depth } = sampler.window(window, slices, &stop)?;
    let known = known(&asked.tiers, depth)?;
    let window_s = looks.last().map_or(0.0, |look| look.at_s);
    let advice = advisor::advise(objects, &looks, &known.tiers, budget, SEED);
    let rivals = advisor::rivals(&advice, &known.tiers, sampler.standing.buffer as f64, asked.memory_price);
    let told = Told {
        shown: spec.shown(),
        engine: spec.engine,
        standing: sampler.standing,
        fast: asked.fast.space.clone(),
        advice,
        rivals,
        known,
        window_s,
        slices,
        vanished,
        budget,
    };
    if let Some(path) = &asked.output {
        model_file::write_new(path, &format!("{:#}\n", document::json(&told)))?;
    }
    if let Some(path) = &asked.html {
        model_file::write_new(path, &document::page(&told))?;
    }
    output::answer(asked.json, || document::json(&told), || said::text(&told))
}

fn slices(asked: Option<u32>, window: Duration) -> Result<u32, Failure> {
    let most = (window.as_secs_f64() / SLICE_MIN.as_secs_f64()).floor() as u32;
    match asked {
        None => Ok(most.clamp(1, SLICES)),
        Some(slices) if (1..=most.max(1)).contains(&slices) => Ok(slices),
        Some(slices) => Err(Failure::new(format!(
            "reading `--slices`: 1 to {} slices of at least 1 s in a window of {} s, got {slices}",
            most.max(1),
            window.as_secs_f64()
        ))
        .hint("servers report what they count about once a second; take a longer --window")),
    }
}
