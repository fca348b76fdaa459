//! `prony ceiling`: what the load generator itself can do on this machine.

use crate::args::Ceiling;
use crate::failure::Failure;
use crate::output;
use observation::{Alone, Carrier, DriverCost, ModelCeiling};
use std::fmt::Write as _;
use std::io;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use units::Nanos;

/// Measures and prints the generator's own figures.
pub fn run(asked: &Ceiling) -> Result<(), Failure> {
    let folder = asked.on.as_deref().unwrap_or(Path::new("."));
    let alone = engine::measure_alone(folder);
    if let (Some(_), Err(error)) = (&asked.on, &alone) {
        let doing = format!("measuring the drivers of storage in `{}`", folder.display());
        return Err(Failure::caused(doing, error).hint("name a folder on a disk, in which you may write"));
    }
    let ceiling = engine::measure_ceiling(&AtomicBool::new(false))
        .map_err(|e| Failure::caused("measuring the load generator", &e))?;
    let ceilings = if asked.model { engine::measure_models() } else { Vec::new() };
    let json = || report::ceiling_json(&ceiling, alone.as_ref().ok(), &ceilings);
    output::answer(asked.json, json, || text(&ceiling) + &drivers(folder, &alone) + &models(&ceilings))
}

/// One outstanding operation by either driver.
fn drivers(folder: &Path, alone: &io::Result<Alone>) -> String {
    let head = format!("One outstanding read of 4 KiB with O_DIRECT, of a file in `{}`:\n", folder.display());
    let alone = match alone {
        Ok(alone) => alone,
        Err(error) => return format!("{head}  not measured: {error}; name a folder on a disk with --on DIR\n"),
    };
    let line = |driver: Carrier, cost: &DriverCost| {
        let [time, cpu] = [cost.time_ns, cost.cpu_ns].map(|ns| units::duration(Nanos(ns as u64)));
        let taken = if alone.taken == driver { " (what `driver = \"auto\"` takes)" } else { "" };
        format!("  {:<18}  {time}, {cpu} of CPU{taken}\n", driver.word())
    };
    head + &line(Carrier::Ring, &alone.ring) + &line(Carrier::Plain, &alone.plain)
}

/// Each way of a model to an answer, with what it is meant to reach.
fn models(ceilings: &[ModelCeiling]) -> String {
    let mut text = String::new();
    for way in ceilings {
        let shown = |value: f64| match way.unit.is_time() {
            true => format!("{} {}", units::significant(value), way.unit.word()),
            false => units::rate(value),
        };
        let value = way.value.map_or_else(|| "not run".to_owned(), shown);
        let (bound, aim) = (if way.unit.is_time() { "at most" } else { "at least" }, shown(way.aim));
        let verdict = if way.reached() { "" } else { ": not reached" };
        let _ = writeln!(text, "  {:<18}  {value} ({}; {bound} {aim}{verdict})", way.path, way.what);
    }
    if text.is_empty() { text } else { format!("Models on one core of this machine:\n{text}") }
}

fn text(ceiling: &observation::Ceiling) -> String {
    let rate = 1e9 / ceiling.null_operation_ns.max(1e-3);
    let mut text = String::from("The load generator on this machine, against a system that answers at once:\n");
    let ns = |value: f64| format!("{} ns", units::significant(value));
    let late = units::duration(Nanos(ceiling.lateness_p99_ns.max(0.0) as u64));
    let _ =
        writeln!(text, "  one operation       {} ({} on one worker)", ns(ceiling.null_operation_ns), units::rate(rate));
    let _ = writeln!(text, "  one clock reading   {}", ns(ceiling.clock_read_ns));
    let _ = writeln!(text, "  lateness p99        {late} (open load, sleeping between arrivals)");
    let _ = writeln!(text, "  open rate error     {}%", units::significant(ceiling.open_rate_error_pct));
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use observation::CeilingUnit;

    #[test]
    fn each_way_of_a_model_is_held_against_its_aim() {
        let way = |path, unit, value, aim| ModelCeiling { path, what: "one", unit, value, aim };
        let text = models(&[
            way("closed form", CeilingUnit::Microseconds, Some(60.0), 50.0),
            way("array", CeilingUnit::PerSecond, Some(2e6), 1.5e6),
            way("disk", CeilingUnit::PerSecond, None, 1.0),
        ]);
        insta::assert_snapshot!(text, @r"
        Models on one core of this machine:
          closed form         60 us (one; at most 50 us: not reached)
          array               2 M/s (one; at least 1.5 M/s)
          disk                not run (one; at least 1 /s: not reached)
        ");
        assert_eq!(models(&[]), "");
    }

    #[test]
    fn both_drivers_stand_beside_each_other_and_the_one_that_is_taken_is_named() {
        let cost = |us: f64| DriverCost { time_ns: us * 1e3, cpu_ns: us * 400.0 };
        let alone = Alone { ring: cost(80.0), plain: cost(75.0), taken: Carrier::Plain };
        insta::assert_snapshot!(drivers(Path::new("data"), &Ok(alone)), @r#"
        One outstanding read of 4 KiB with O_DIRECT, of a file in `data`:
          io_uring            80 us, 32 us of CPU
          pread               75 us, 30 us of CPU (what `driver = "auto"` takes)
        "#);
        insta::assert_snapshot!(drivers(Path::new("data"), &Err(io::ErrorKind::Unsupported.into())), @r"
        One outstanding read of 4 KiB with O_DIRECT, of a file in `data`:
          not measured: unsupported; name a folder on a disk with --on DIR
        ");
    }

    #[test]
    fn every_figure_stands_in_the_text() {
        let ceiling = observation::Ceiling {
            null_operation_ns: 41.5,
            clock_read_ns: 7.25,
            lateness_p99_ns: 61_300.0,
            open_rate_error_pct: 0.034,
        };
        insta::assert_snapshot!(text(&ceiling), @r"
        The load generator on this machine, against a system that answers at once:
          one operation       41.5 ns (24.1 M/s on one worker)
          one clock reading   7.25 ns
          lateness p99        61.3 us (open load, sleeping between arrivals)
          open rate error     0.034%
        ");
    }
}
