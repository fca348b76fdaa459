//! A study of tiers: the advice is asked for with everything on the slow tier, and what it promises is measured.
//!
//! The one idea: what is promised becomes text of the study, a layout for each step beside its promise. Then it is a study of layouts
//! like any other: its steps are systems over one fill, their trials alternate, and its run file says all of it.

use super::said;
use super::sample::{Sampler, Window};
use super::times::{Known, SCAN, known_in_pieces};
use crate::args::{Run, TierTimes};
use crate::failure::Failure;
use crate::output;
use crate::run::{self, Wants};
use crate::study_file::StudyText;
use advisor::{Advice, Kind};
use database::Database;
use engine::{Observer, Phase};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;
use study::{At, BASELINE, DatabaseSpec, Engine, Layout, Place, Study, Tier, TierFolder, Trial, layout_of};
use system::consent::Consent;
use units::Nanos;

/// How many times as long as a trial the baseline is sampled: the promise is held against several of them, and what is hot in one may
/// not be in another.
const LONGER: u64 = 4;

/// The samples of an interval are drawn the same for everybody: the same counts give the same promise.
const SEED: u64 = 1;

/// The study as it is to be run: one that proves an advice with its steps, any other as it is.
pub fn prepared(text: StudyText, asked: &Run, consents: &[Consent]) -> Result<(StudyText, Run), Failure> {
    let mut asked = asked.clone();
    let study = run::asked(&text, &asked)?;
    let Some(proof) = study.judgement().proof.clone().filter(|proof| proof.taken.is_empty()) else {
        return Ok((text, asked));
    };
    let (spec, layout) = tiers(&text, &study)?;
    // The run has the seed that it was sampled with.
    asked.seed = Some(asked.seed.map_or_else(run::fresh_seed, Ok)?);
    let stop = run::listen()?;
    let (window, advised, known) = sampled(&text, &study, &asked, consents, (spec, layout), &stop)?;
    let steps = steps(&advised, &known_objects(&study), proof.steps as usize);
    if steps.is_empty() {
        let told = format!("{}: nothing that it reads lies in tables and indexes", doing(&text));
        return Err(Failure::new(told).hint("give it more to do: `--set measure=10s`, or a load of its own"));
    }
    let says = format!(
        "sampled {BASELINE}: {}; {} of it for the log, which stays where it is",
        said::waits(&advised, &known, window),
        units::percent(if advised.wait_s > 0.0 { advised.log_s / advised.wait_s } else { 0.0 })
    );
    if !asked.voice.quiet {
        output::note_line(&says);
    }
    let names = std::iter::once(BASELINE.to_owned()).chain((1..=steps.len()).map(layout_of));
    asked.changes.set.push(format!("layout={}", names.collect::<Vec<_>>().join(",")));
    Ok((StudyText { text: written(&text.text, &steps), ..text }, asked))
}

fn doing(text: &StudyText) -> String {
    format!("sampling `{}` for its advice", text.origin)
}

/// The one system, a private server with both tiers.
fn tiers<'a>(text: &StudyText, study: &'a Study) -> Result<(&'a DatabaseSpec, &'a Layout), Failure> {
    let refused = |what: &str| Failure::new(format!("{}: {what}", doing(text)));
    let [system] = study.systems() else { return Err(refused("one system, whose layouts are made by the advice")) };
    let Place::Database(
        spec @ DatabaseSpec { engine: Engine::Postgres | Engine::Mariadb, at: At::Local, layout: Some(layout), .. },
    ) = &system.place
    else {
        let got = format!("a private PostgreSQL or MariaDB with a layout of two tiers, got `{}`", system.name);
        return Err(refused(&got).hint(
            "leave --on away, and name the tiers: `--set slow=emulated:disk-15k:DIR1 --set fast=DIR2`; of another server also its \
             layout: `--on local:mariadb --set layout=all-slow --set page_cache=false`",
        ));
    };
    for &tier in Tier::ALL {
        if layout.folder(tier).is_none() {
            let word = tier.word();
            return Err(
                refused(&format!("a folder for the {word} tier, got none")).hint(format!("give `--set {word}=DIR`"))
            );
        }
    }
    Ok((spec, layout))
}

/// The advice of a window of the load, with everything on the slow tier, the seconds of that window, and the times of both tiers.
fn sampled(
    text: &StudyText,
    study: &Study,
    asked: &Run,
    consents: &[Consent],
    (spec, layout): (&DatabaseSpec, &Layout),
    stop: &Arc<AtomicBool>,
) -> Result<(f64, Advice, Known), Failure> {
    let plan = run::plan_to_run(&text.origin, study, asked.seed.unwrap_or_default())?;
    let mut trial = plan.trials.first().cloned().ok_or_else(|| Failure::new(format!("{}: no trial", doing(text))))?;
    trial.phases.measure = Nanos(LONGER * trial.phases.measure.0);
    let window = Duration::from_nanos(trial.phases.measure.0);
    let (system, mut devices) = (&study.systems()[0], run::Devices::of(study.systems())?);
    let id = format!("{}-baseline", text.name);
    let wants = Wants { run_id: &id, seed: plan.seed, keep: false, plan: &plan, consents, stop };
    let mut opened = run::open(system, &wants, &mut devices)?;
    let (ready, server) = channel::<Arc<dyn Database>>();
    let (ended, seen) = std::thread::scope(|scope| {
        let sampler = scope.spawn(move || -> Result<Option<Window>, Failure> {
            let Ok(database) = server.recv() else { return Ok(None) };
            let mut sampler = Sampler::new(&*database, spec, Tier::Fast.word())?;
            let slices = (window.as_secs() as u32).clamp(1, 30);
            sampler.window(window, slices, stop).map(Some)
        });
        let _ = devices.pace(Phase::Fill);
        let mut beside = Beside { devices: &devices, database: None, ready: Some(ready) };
        let ended = engine::run_trial(&mut opened, &trial, &mut beside, stop);
        drop(beside);
        let _ = devices.pace(Phase::Check);
        (ended, sampler.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    });
    ended.map_err(|error| Failure::caused(doing(text), &error).hints(error.hint()))?;
    let window = seen?.ok_or_else(|| Failure::new(format!("{}: the load never began", doing(text))))?;
    let known = known_of(layout, window.depth)?;
    let window_s = window.looks.last().map_or(0.0, |look| look.at_s);
    let advised = advisor::advise(window.objects, &window.looks, &known.tiers, Some(f64::INFINITY), SEED);
    Ok((window_s, advised, known))
}

/// The times of both tiers with so many reads at once. Folders without a device are taken for what `prony tier advise` takes tiers for.
pub(super) fn known_of(layout: &Layout, depth: f64) -> Result<Known, Failure> {
    let model =
        |at: Option<&TierFolder>, or: &str| at.and_then(|at| at.folder.device.clone()).unwrap_or_else(|| or.to_owned());
    let times = TierTimes {
        slow_device: model(layout.slow.as_deref(), "disk-15k"),
        fast_device: model(layout.fast.as_deref(), "nand-device"),
        slow_read: None,
        fast_read: None,
        slow_flush: None,
        fast_flush: None,
    };
    // Whoever keeps no pages reads none ahead.
    let past_cache = layout.slow.as_ref().is_some_and(|at| at.folder.past_cache);
    known_in_pieces(&times, depth, if past_cache { 1.0 } else { SCAN })
}

/// One who hands the database to the sampler when the window begins.
struct Beside<'a> {
    devices: &'a run::Devices,
    database: Option<Arc<dyn Database>>,
    ready: Option<Sender<Arc<dyn Database>>>,
}

impl Observer for Beside<'_> {
    fn serves(&mut self, database: &Arc<dyn Database>) {
        self.database = Some(database.clone());
    }

    fn phase(&mut self, _: &Trial, phase: Phase, _: Nanos) {
        let paced = self.devices.pace(phase).is_ok();
        if paced
            && phase == Phase::Measure
            && let (Some(ready), Some(database)) = (self.ready.take(), self.database.take())
        {
            // Nobody listens only when the sampler has failed, which it tells.
            let _ = ready.send(database);
        }
    }
}

/// Tables and indexes that a layout can place, by name.
fn known_objects(study: &Study) -> BTreeSet<String> {
    let sets = study.asked().iter().filter_map(|(asked, _)| asked.data_set(false));
    let tables = sets.flat_map(|set| set.tables());
    tables.flat_map(|table| std::iter::once(table.name.to_string()).chain(table.index_names())).collect()
}

/// Objects that go together, each with its bytes, and what is promised of all so far.
struct Step {
    objects: Vec<(String, f64)>,
    promised: [f64; 3],
}

/// The pieces in the order of their gain for each byte, cut where the bytes are nearest to even parts.
fn steps(advice: &Advice, known: &BTreeSet<String>, count: usize) -> Vec<Step> {
    let named = |piece: usize| {
        let object = &advice.objects[advice.pieces[piece].objects[0]].known;
        let name = object.name.rsplit('.').next().unwrap_or_default().to_owned();
        (matches!(object.kind, Kind::Table | Kind::Index | Kind::File) && known.contains(&name)).then_some(name)
    };
    let pieces: Vec<usize> = (0..advice.pieces.len()).filter(|piece| named(*piece).is_some()).collect();
    let growth = advice.growth(&pieces, SEED);
    let points: Vec<_> = growth.points.iter().filter_map(|point| Some((named(point.piece?)?, point))).collect();
    let Some((_, last)) = points.last().filter(|(_, last)| last.saved > 0.0) else { return Vec::new() };
    let ends = (1..=count).filter_map(|part| {
        let wanted = last.bytes * part as f64 / count as f64;
        let far = |at: &usize| (points[*at].1.bytes - wanted).abs();
        (0..points.len()).min_by(|a, b| far(a).total_cmp(&far(b)))
    });
    // What is not the end of the last part is none of it.
    let mut ends: Vec<usize> = ends.take(count - 1).chain([points.len() - 1]).collect();
    ends.dedup();
    let mut from = 0;
    let step = |end: usize| {
        let own = &points[from..=end];
        from = end + 1;
        let bytes = |piece: Option<usize>| advice.pieces[piece.unwrap_or_default()].bytes;
        let objects = own.iter().map(|(name, point)| (name.clone(), bytes(point.piece))).collect();
        let point = points[end].1;
        Step { objects, promised: [point.saved, point.low, point.high] }
    };
    ends.into_iter().map(step).collect()
}

/// The text of the study with a layout and a promise for each step.
fn written(text: &str, steps: &[Step]) -> String {
    let mut text = format!(
        "{}\n\n# What the advice promises of each step, by a window of the load with everything slow.\n",
        text.trim_end()
    );
    let mut fast = Vec::new();
    for (at, Step { objects, promised }) in steps.iter().enumerate() {
        fast.extend(objects.iter().map(|(name, _)| name.clone()));
        let sizes: Vec<String> = objects.iter().map(|(name, bytes)| format!("{name}={bytes:.0}")).collect();
        let promised: Vec<String> = promised.iter().map(|share| format!("{share:.4}")).collect();
        text.push_str(&format!(
            "\n[layout.{}]\ndata_on      = \"slow\"\nfast_objects = \"{}\"\n\n[[tier.step]]\nobjects  = \"{}\"\npromised = \"{}\"\n",
            layout_of(at + 1),
            fast.join(" "),
            sizes.join(" "),
            promised.join(" ")
        ));
    }
    text
}
