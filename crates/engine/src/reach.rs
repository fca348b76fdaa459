//! How fast models are on this machine: what `prony ceiling --model` prints.
//!
//! The one idea: each way to an answer is timed alone, on one core, with the machines that ship; one row of the list below is
//! one way, and a new depth of model adds its row. The best of a few looks counts: whatever else runs here can only make it
//! worse.

use crate::ceiling;
use crate::described::Described;
use crate::observer::Unobserved;
use crate::{Need, Opened, run_trial};
use load::{Spec, Think};
use model::{Setting, rows};
use observation::{Footprint, words};
use recorder::{Clock, WallClock};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use study::{Place, SystemSpec};
use units::{Bytes, Nanos};
use workload::{Operation, OperationKind};

/// One way to an answer, timed.
#[derive(Clone, Debug, PartialEq)]
pub struct Reach {
    /// Its name.
    pub path: &'static str,
    /// What was timed, in words.
    pub what: &'static str,
    /// Unit of the figures.
    pub unit: ReachUnit,
    /// The figure; none when the model could not be run.
    pub value: Option<f64>,
    /// What it is meant to reach: at most such a time, at least so many a second.
    pub aim: f64,
}

impl Reach {
    /// Whether it reaches what it is meant to.
    pub fn reached(&self) -> bool {
        self.value.is_some_and(|value| if self.unit.is_time() { value <= self.aim } else { value >= self.aim })
    }
}

words! {
    /// Units of such figures.
    pub enum ReachUnit {
        /// Microseconds.
        Microseconds = "us",
        /// Seconds.
        Seconds = "s",
        /// Of something a second.
        PerSecond = "1/s",
    }
}

impl ReachUnit {
    /// Whether it is a time, of which less is better.
    pub fn is_time(self) -> bool {
        self != PerSecond
    }
}

/// The table that the closed form is timed with.
const FLASH_RATES: &str = "flash_rates";

/// A way as it stands in the list: name, words, unit, aim, and how it is measured once.
type Way = (&'static str, &'static str, ReachUnit, f64, fn(&WallClock) -> Option<f64>);

use ReachUnit::{Microseconds, PerSecond, Seconds};

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

/// Times every way; takes a few seconds and loads one core.
pub fn measure_models() -> Vec<Reach> {
    let clock = WallClock::new();
    let measured = |(path, what, unit, aim, measure): &Way| {
        let better = |a: f64, b: f64| if unit.is_time() { a.min(b) } else { a.max(b) };
        let value = (0..LOOKS).filter_map(|_| measure(&clock)).reduce(better);
        Reach { path, what, unit: *unit, value, aim: *aim }
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
    described("f5100")
}

fn described(name: &str) -> Option<Described> {
    let shipped = model::models().iter().find(|shipped| shipped.name == name)?;
    let description = model::file::read(shipped.name, shipped.text).ok()?;
    Some(Described { description, text: shipped.text.to_owned() })
}

fn closed_form(clock: &WallClock) -> Option<f64> {
    const ROUNDS: u32 = 1_000;
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
    let setting = Setting { modules: 1, slots: 512, seed: 1, module_bytes: 1 << 30 };
    let mut machine = model::machine(&described("flash-array-2d")?.description, &setting).ok()?;
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
    let setting = Setting { modules, slots: modules * each, seed: 1, module_bytes: 0 };
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
    let spec = SystemSpec {
        name: "f5100".into(),
        place: Place::Model { model: "f5100".into(), changes: Vec::new() },
        size: None,
        modules: None,
        footprint: Footprint::default(),
    };
    let described = flash()?;
    let need = Need {
        model: Some(&described),
        modules,
        module_bytes: Bytes::gib(1),
        run_id: "ceiling",
        seed: 1,
        keep: false,
        consents: &[],
        cache_dir: Path::new("."),
        stop: &Arc::new(AtomicBool::new(false)),
    };
    let mut opened = Opened::open(&spec, &need).ok()?;
    let load = Spec::Closed { slots: modules * each, think: Think::None };
    let mut trial = ceiling::trial(load, Nanos::from_secs(2));
    trial.modules = modules;
    a_second(clock, || {
        let seen = run_trial(&mut opened, &trial, &mut Unobserved, &AtomicBool::new(false)).ok()?;
        Some(seen.window_cells().map(|cell| cell.tally.done).sum())
    })
}
