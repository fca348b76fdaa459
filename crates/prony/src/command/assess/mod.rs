//! `prony assess URL`: what a synchronous mirror would cost a live database.
//!
//! The one idea: two tallies of the server's counters with samples of its sessions between them, and `advisor` judges. Nothing is changed.

mod document;
mod home;
mod said;

use super::db;
use super::tier::{open, spec, time, wait};
use crate::args::Assess;
use crate::failure::Failure;
use crate::{model_file, output, run};
use advisor::assess::{Assessment, FIBRE_S_PER_KM, FlushFrom, Home, Kind, Machine, Pair, Sample, Seen};
use database::assess::{Standing, Watcher};
use observation::{OfCore, Probe, Whole};
use recorder::{Clock, WallClock};
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use study::{DatabaseSpec, Engine};
use units::Nanos;

/// Servers report what they count about once a second: of a shorter window they say nothing.
const WINDOW_MIN: Duration = Duration::from_secs(2);
/// Samples of a window, as long as they come no more often than the one and no more seldom than the other.
const SAMPLES: u32 = 100;
const SAMPLE_MIN: Duration = Duration::from_millis(100);
const SAMPLE_MAX: Duration = Duration::from_secs(1);
/// Processes of the server are looked at with every so many of them.
const PROBED: u32 = 10;
/// A mirror that is farther away than the other side of the earth.
const ONE_WAY_MAX_S: f64 = 0.2;

/// Everything that is told.
struct Told {
    shown: String,
    engine: Engine,
    standing: Standing,
    /// The distance, as it was asked for.
    distance: String,
    pair: Pair,
    seen: Seen,
    judged: Assessment,
}

pub(super) fn run(asked: &Assess) -> Result<(), Failure> {
    let window = time("--window", &asked.window)?;
    if window < WINDOW_MIN {
        return Err(Failure::new(format!("reading `--window`: a time of 2 s at the least, got `{}`", asked.window))
            .hint("servers report what they count about once a second; choose 10 s of a busy hour, or longer"));
    }
    let one_way_s = distance(&asked.distance)?;
    let flush_s = asked.mirror_flush.as_ref().map(|text| time("--mirror-flush", text)).transpose()?;
    // A name that is taken is told before the wait, not after it.
    if let Some(path) = asked.output.as_ref().filter(|path| path.exists()) {
        return Err(Failure::new(format!("writing `{}`: a file is there", path.display()))
            .hint("choose a new name: existing files are kept as they are"));
    }
    let spec = spec(&asked.place)?;
    let usual = if spec.engine == Engine::Mariadb { Kind::WriteSet } else { Kind::Commit };
    let kind = asked.kind.as_deref().and_then(Kind::of_word).unwrap_or(usual);
    let given = flush_s.map(|time| (time.as_secs_f64(), FlushFrom::Given));
    let stop = run::listen()?;
    let database = open(&spec, stop.clone())?;
    let doing = |error| db::failed(format!("assessing `{}`", spec.shown()), &error);
    let mut watcher = Watcher::open(database.as_ref()).map_err(doing)?;
    let standing = watcher.standing().map_err(doing)?;
    let home = if asked.mirror_on == "same-host" {
        home::shared(&spec, kind, &standing, asked.mirror_dir.as_deref())?
    } else {
        Home::Own
    };
    // Where both have one disk, the server's own flushes say how long one takes there.
    let measured = asked.mirror_dir.as_ref().filter(|_| home != Home::Shared { one_disk: true });
    let measured = measured.map(|dir| home::flush_s(dir)).transpose()?;
    let flush = given.or(measured.map(|seconds| (seconds, FlushFrom::Measured)));
    let pair = Pair { kind, one_way_s, flush, home };
    let seen = watch(&mut watcher, &spec, &standing, window, &stop)?;
    let judged = advisor::assess::assess(&seen, &pair);
    let distance = asked.distance.trim().to_owned();
    let told = Told { shown: spec.shown(), engine: spec.engine, standing, distance, pair, seen, judged };
    if let Some(path) = &asked.output {
        model_file::write_new(path, &format!("{:#}\n", document::json(&told)))?;
    }
    output::answer(asked.json, || document::json(&told), || said::text(&told))
}

/// Watches for so long.
fn watch(
    watcher: &mut Watcher,
    spec: &DatabaseSpec,
    standing: &Standing,
    window: Duration,
    stop: &AtomicBool,
) -> Result<Seen, Failure> {
    let doing = |error| db::failed(format!("assessing `{}`", spec.shown()), &error);
    let clock = WallClock::new();
    let mut probes = probe::Probes::new::<&str>(&[]);
    probes.watch(standing.process.into_iter().collect(), Vec::new());
    let mut seen = Seen {
        sequences: standing.sequences.map(|count| count as f64),
        written_from: standing.written_from.clone(),
        before: watcher.tally().map_err(doing)?,
        ..Seen::default()
    };
    let begun = clock.now();
    let before = probes.read(begun);
    let period = (window / SAMPLES).clamp(SAMPLE_MIN, SAMPLE_MAX);
    let count = (window.as_nanos() / period.as_nanos()).max(1) as u32;
    for number in 1..=count {
        wait(&clock, spec, begun.saturating_add(Nanos((window * number / count).as_nanos() as u64)), stop)?;
        let sessions = watcher.sessions().map_err(doing)?;
        if number % PROBED == 0 {
            // What a process used that ends is kept from when it was last looked at.
            probes.read(clock.now());
        }
        seen.samples.push(Sample { at_s: clock.now().saturating_sub(begun).seconds(), sessions });
    }
    // What was asked of the server alone; what the second tally asks comes behind what it counts.
    seen.own = f64::from(count * watcher.sends());
    seen.after = watcher.tally().map_err(doing)?;
    let now = clock.now();
    seen.window_s = now.saturating_sub(begun).seconds();
    seen.machine = standing.process.and_then(|_| machine(&probe::series_between(&before, &probes.read(now))));
    if watcher.refine(&mut seen.before, &mut seen.after) {
        "commit records of the log, shared out by changed rows".clone_into(&mut seen.written_from);
    }
    Ok(seen)
}

/// How busy the machine was, from what the probes saw of it.
fn machine(series: &[observation::Series]) -> Option<Machine> {
    let last = |one: &observation::Series| one.points.last().map(|(_, value)| *value);
    let busy: Vec<f64> =
        series.iter().filter(|one| matches!(one.probe, Probe::Core(_, OfCore::Busy))).filter_map(last).collect();
    let of_server =
        |one: &&observation::Series| matches!(one.probe, Probe::Whole(Whole::ServerCpuUser | Whole::ServerCpuSystem));
    let server_cores = series.iter().filter(of_server).filter_map(last).sum();
    let cores = busy.len() as f64;
    (cores > 0.0).then(|| Machine { cores, busy: busy.iter().sum::<f64>() / cores, server_cores })
}

/// Seconds to the mirror, one way.
fn distance(text: &str) -> Result<f64, Failure> {
    let wrong = |why: String| {
        Failure::new(format!("reading `--distance`: {why}"))
            .hint("give kilometres of fibre, such as `10km`, or the time one way, such as `50us`")
    };
    let trimmed = text.trim();
    let seconds = match trimmed.strip_suffix("km") {
        Some(km) => match km.trim().parse::<f64>() {
            Ok(km) if km.is_finite() && km >= 0.0 => km * FIBRE_S_PER_KM,
            _ => return Err(wrong(format!("kilometres of 0 or more, got `{text}`"))),
        },
        None => units::parse_duration(trimmed)
            .map_err(|_| wrong(format!("kilometres of fibre (`10km`), or a time one way (`50us`), got `{text}`")))?
            .seconds(),
    };
    if seconds > ONE_WAY_MAX_S {
        return Err(wrong(format!("40000km or 200 ms at the most, got `{text}`")));
    }
    Ok(seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_distance_is_kilometres_of_fibre_or_the_time_one_way() {
        for (text, seconds) in [("10km", 50e-6), ("0km", 0.0), (" 2.5 km ", 12.5e-6), ("50us", 50e-6), ("1ms", 1e-3)] {
            assert!((distance(text).expect("it is one") - seconds).abs() < 1e-12, "{text}");
        }
        for text in ["10", "-1km", "km", "nankm", "infkm", "40001km", "1s", "far"] {
            assert!(distance(text).is_err(), "{text}");
        }
    }
}
