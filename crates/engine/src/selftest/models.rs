//! How fast models are on this machine: what `prony ceiling --model` prints.
//!
//! The one idea: each way to an answer is timed alone, on one core, with the machines that ship; one row of the list below is
//! one way, and a new depth of model adds its row. The best of a few looks counts: whatever else runs here can only make it
//! worse.

use crate::observer::Unobserved;
use crate::port::simulated::described::Described;
use crate::run_trial;
use crate::sample;
use load::{Spec, Think};
use model::{Setting, rows};
use observation::{CeilingUnit, ModelCeiling};
use recorder::{Clock, WallClock};
use std::sync::atomic::AtomicBool;
use study::Place;
use units::{Bytes, Nanos};
use workload::{Operation, OperationKind};

/// The table that the closed form is timed with.
const FLASH_RATES: &str = "flash_rates";

/// A way as it stands in the list: name, words, unit, aim, and how it is measured once.
type Way = (&'static str, &'static str, CeilingUnit, f64, fn(&WallClock) -> Option<f64>);

use CeilingUnit::{Microseconds, PerSecond, Seconds};

const WAYS: &[Way] = &[
    ("closed form", "one row of published rates", Microseconds, 50.0, closed_form),
    ("two stations", "closed network of 64 over two stations, I/Os a second", PerSecond, 4e6, two_stations),
    ("flash array", "modules behind ports, 20 modules of 32 outstanding, I/Os a second", PerSecond, 1.5e6, flash_array),
    (
        "array",
        "host, paths, controllers, RAID and modules of an array, reads of 512 outstanding a second",
        PerSecond,
        1.5e6,
        array,
    ),
    ("transactions", "server with seven reads a transaction, transactions a second", PerSecond, 2e5, transactions),
    ("flash device", "half reads on a worn device that cleans, I/Os a second", PerSecond, 3e5, flash_device),
    ("all rows", "every row that ships by every model that answers it, seconds", Seconds, 60.0, all_rows),
    ("study", "the same through load, loop and recorder, I/Os a second", PerSecond, 1e6, study),
];

/// How often each way is measured.
const LOOKS: u32 = 3;
/// After so long the figure stands: nobody waits for another look at something slow.
const LONG: Nanos = Nanos::from_secs(2);

/// Times every way; takes a few seconds and loads one core.
pub fn measure_models() -> Vec<ModelCeiling> {
    let clock = WallClock::new();
    let measured = |(path, what, unit, aim, measure): &Way| {
        let better = |a: f64, b: f64| if unit.is_time() { a.min(b) } else { a.max(b) };
        let (mut value, begun) = (None, clock.now());
        for _ in 0..LOOKS {
            value = value.into_iter().chain(measure(&clock)).reduce(better);
            if clock.now().saturating_sub(begun) > LONG {
                break;
            }
        }
        ModelCeiling { path, what, unit: *unit, value, aim: *aim }
    };
    WAYS.iter().map(measured).collect()
}

/// So many in the seconds that `work` takes.
fn a_second(clock: &WallClock, work: impl FnOnce() -> Option<u64>) -> Option<f64> {
    let start = clock.now();
    let done = work()?;
    let seconds = clock.now().saturating_sub(start).seconds();
    (seconds > 0.0).then(|| done as f64 / seconds)
}

fn flash() -> Option<Described> {
    sample::described("f5100")
}

fn closed_form(clock: &WallClock) -> Option<f64> {
    // Some 50 ms: a look that is over sooner sees what else ran just then, and nothing else.
    const ROUNDS: u32 = 10_000;
    let described = flash()?.description;
    let table = rows::read(model::tables().iter().find(|table| table.name == FLASH_RATES)?.text).ok()?;
    let rate = a_second(clock, || {
        let mut points = 0;
        for _ in 0..ROUNDS {
            for row in &table.rows {
                std::hint::black_box(described.answer(std::hint::black_box(row), "rate").ok()?);
                points += 1;
            }
        }
        Some(points)
    })?;
    Some(1e6 / rate)
}

fn transactions(clock: &WallClock) -> Option<f64> {
    a_second(clock, || Some(model::server::ceiling(200_000).count))
}

fn flash_device(clock: &WallClock) -> Option<f64> {
    a_second(clock, || model::device::ceiling(1_000_000, 0.5, 1).ok().map(|done| done.operations))
}

fn all_rows(clock: &WallClock) -> Option<f64> {
    let start = clock.now();
    for shipped in model::models() {
        let described = model::file::read(shipped.name, shipped.text).ok()?;
        for table in model::tables() {
            // A table of another machine is no row of this one.
            let judged = model::judge::judge(&described, &rows::read(table.text).ok()?, &[]);
            std::hint::black_box(&judged);
        }
    }
    Some(clock.now().saturating_sub(start).seconds())
}

fn two_stations(clock: &WallClock) -> Option<f64> {
    let rounds = 1_000_000;
    a_second(clock, || {
        std::hint::black_box(model::station::ceiling(rounds));
        Some(rounds)
    })
}

/// Modules and outstanding of each in the two ways through an array.
const ARRAY: (u32, u32) = (20, 32);

/// Every part of a general array: eight events for each read.
fn array(clock: &WallClock) -> Option<f64> {
    let setting = Setting { modules: 1, slots: 512, seed: 1, module_bytes: 1 << 30, ..Setting::default() };
    let mut machine = model::machine(&sample::described("flash-array-2d")?.description, &setting).ok()?;
    let mut turn = 0u64;
    let operation = |_| {
        turn += 1;
        // Another page each time, in no order that a stripe could follow.
        let offset = turn.wrapping_mul(0x9E37_79B9_7F4A_7C15) % (1 << 18) * 4_096;
        Operation { kind: OperationKind::Read, class: 0, module: 0, offset, bytes: 4_096 }
    };
    went_round(clock, &mut *machine, setting.slots, operation)
}

fn flash_array(clock: &WallClock) -> Option<f64> {
    let (modules, each) = ARRAY;
    let setting = Setting { modules, slots: modules * each, seed: 1, module_bytes: 0, ..Setting::default() };
    let mut machine = model::machine(&flash()?.description, &setting).ok()?;
    let operation = |slot: u32| Operation {
        kind: if slot.is_multiple_of(2) { OperationKind::Read } else { OperationKind::Write },
        class: 0,
        module: (slot % modules) as u16,
        offset: 0,
        bytes: 4096,
    };
    went_round(clock, &mut *machine, setting.slots, operation)
}

/// Operations that a closed load of two simulated seconds completes, for each second that it takes.
fn went_round(
    clock: &WallClock,
    machine: &mut dyn model::machine::Machine,
    slots: u32,
    mut operation: impl FnMut(u32) -> Operation,
) -> Option<f64> {
    let mut ended = Vec::with_capacity(slots as usize);
    a_second(clock, || {
        (0..slots).for_each(|slot| machine.submit(Nanos::ZERO, slot, &operation(slot)));
        let (end, mut done) = (Nanos::from_secs(2), 0);
        while machine.advance(end, &mut ended) < end {
            for one in ended.drain(..) {
                done += 1;
                machine.submit(one.at, one.slot, &operation(one.slot));
            }
        }
        Some(done)
    })
}

fn study(clock: &WallClock) -> Option<f64> {
    let (modules, each) = ARRAY;
    let place = Place::Model { model: "f5100".into(), changes: Vec::new() };
    let mut opened = sample::open(place, modules, Bytes::gib(1), flash().as_ref()).ok()?;
    let load = Spec::Closed { slots: modules * each, think: Think::None };
    let mut trial = sample::trial(load, Nanos::from_secs(2));
    trial.modules = modules;
    a_second(clock, || {
        let seen = run_trial(&mut opened, &trial, &mut Unobserved, &AtomicBool::new(false)).ok()?;
        Some(seen.window_cells().map(|cell| cell.tally.done).sum())
    })
}
