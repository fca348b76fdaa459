//! The models that ship, against the rows that ship.

use super::*;
use crate::array::{Array, Path};
use crate::asked::Values;
use crate::calibrate::tests::{Held, held};
use crate::device::disk::{Disk, Order, Shape};
use crate::device::flash::{self, Flash};
use crate::file::{self, Description};
use crate::machine::{Ended, Machine};
use crate::rows::{self, Row, Table};
use crate::{calibrate, judge};
use random::Draws;
use units::Nanos;
use workload::{Operation, OperationKind};

/// Calibrates all models that ship anew, where a law or a row has changed: `cargo nextest run -p model --run-ignored only write`.
#[test]
#[ignore = "it writes the files that ship"]
fn write_the_shipped_models() {
    for name in calibrated() {
        let (model, mut tables) = (of(name), answered(&of(name)));
        tables.iter_mut().for_each(|table| table.rows.retain(|row| model.calibration.contains(&row.id)));
        let fitted = calibrate::calibrate(&model, &tables).unwrap_or_else(|e| panic!("{name}: {e}"));
        let path = format!("{}/../../models/{name}.toml", env!("CARGO_MANIFEST_DIR"));
        std::fs::write(path, file::write(&calibrate::learned(&fitted.model, &tables))).unwrap();
    }
}

/// Names of the models that were calibrated. A device from assumed parts has no rows, and a template has those of whoever
/// begins with it.
fn calibrated() -> impl Iterator<Item = &'static str> {
    models().iter().map(|shipped| shipped.name).filter(|name| !of(name).calibration.is_empty())
}

fn read(shipped: &Shipped) -> Description {
    file::read(shipped.name, shipped.text).unwrap_or_else(|problems| panic!("{problems}"))
}

fn of(name: &str) -> Description {
    read(models().iter().find(|shipped| shipped.name == name).expect("a model of that name ships"))
}

/// The tables that a model answers.
fn answered(model: &Description) -> Vec<Table> {
    let all =
        tables().iter().map(|shipped| rows::read(shipped.text).unwrap_or_else(|e| panic!("{}: {e}", shipped.name)));
    // What is only judged is not fitted on.
    let known = |table: &Table| table.rows.iter().any(|row| model.calibration.contains(&row.id));
    all.filter(|table| model.answer_for(table).is_some() && known(table)).collect()
}

fn fitted(name: &str) -> calibrate::Calibrated {
    let model = of(name);
    calibrate::calibrate(&model, &answered(&model)).unwrap_or_else(|e| panic!("{name}: {e}"))
}

/// Rows that no law here meets: with 8 and with 9 threads beside them equally many rows are 4.49 and 5.7 Gbit/s, for at the
/// edge of a full link messages are sent again.
const OPEN: [&str; 2] = ["s004t75-3-8-db2m", "s004t75-3-9-db2m"];

#[test]
fn every_model_meets_the_rows_that_it_is_fitted_on() {
    for name in calibrated() {
        // Three deviations of the noise that the model says its rows have.
        let most = 300.0 * of(name).noise.max(0.01);
        for met in fitted(name).met.iter().filter(|met| !OPEN.contains(&met.row_id.as_str())) {
            let error = 100.0 * (met.fitted / met.value - 1.0);
            assert!(error.abs() < most, "{name}: {} {} is off by {error:.2} %", met.row_id, met.metric);
        }
    }
}

#[test]
fn a_fitted_model_is_written_and_read_back_as_it_was() {
    let model = fitted("f5100").model;
    let again = file::read("f5100", &file::write(&model)).unwrap_or_else(|problems| panic!("{problems}"));
    assert_eq!((&again.calibration, &again.answers), (&model.calibration, &model.answers));
    for (one, other) in model.parameters.iter().zip(&again.parameters) {
        assert!((one.value - other.value).abs() <= 1e-5 * one.value, "{}: {} and {}", one.name, one.value, other.value);
        assert_eq!(one.origin, other.origin);
    }
    let question = |model: &Description| judge::judge(model, &answered(model)[0], &[]).expect("it answers").rows;
    for (one, other) in question(&model).iter().zip(question(&again)) {
        assert!((one.low / other.low - 1.0).abs() < 1e-3, "{}: the interval is written too", one.row_id);
    }
}

#[test]
fn whatever_row_is_left_out_a_fitted_model_can_be_read_back() {
    for name in calibrated() {
        let (model, tables) = (of(name), answered(&of(name)));
        for (at, left) in (0..tables.len()).flat_map(|at| (0..tables[at].rows.len()).map(move |left| (at, left))) {
            let mut others = tables.clone();
            others[at].rows.remove(left);
            let Ok(fitted) = calibrate::best(&model, &others, 2) else { continue };
            let text = file::write(&fitted.model);
            let again = file::read(name, &text).unwrap_or_else(|problems| panic!("{name}: {problems}\n{text}"));
            assert_eq!(again.doubt.is_some(), fitted.model.doubt.is_some());
            for answer in &again.answers {
                let table = tables.iter().find(|table| again.answer_for(table) == Some(answer));
                let judged = table.map(|table| judge::judge(&again, table, &[]).expect("it answers").rows);
                for row in judged.iter().flatten() {
                    let most = again
                        .kind
                        .most(&answer.metrics.iter().find(|metric| metric.column == row.metric).unwrap().quantity);
                    assert!(
                        row.low <= row.predicted && row.predicted <= row.high && row.high <= most,
                        "{name}: {row:?}"
                    );
                }
            }
        }
    }
}

/// A value that was left out of a model, how far it lies from what was said, the half of its interval, both as logarithms, and
/// how far it lies in reaches of the interval on its side.
struct Left {
    error: f64,
    half: f64,
    reach: f64,
}

fn left(name: &str) -> Vec<Left> {
    let one = |held: Held| {
        let end = if held.value > held.predicted { held.high } else { held.low };
        let error = libm::log(held.value / held.predicted);
        let reach = (error / libm::log(end / held.predicted)).abs();
        Left { error: error.abs(), half: 0.5 * libm::log(held.high / held.low), reach }
    };
    held(&of(name), &answered(&of(name))).into_iter().map(one).collect()
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// How many there are and lie inside, the median of halves over errors, and the median half over the median error.
fn told(left: &[&Left], stretch: f64) -> (usize, usize, f64, f64) {
    let of = |value: fn(&Left) -> f64| median(left.iter().map(|left| value(left)).collect());
    let inside = left.iter().filter(|left| left.reach <= stretch).count();
    let (ratio, halves) = (of(|left| left.half / left.error), of(|left| left.half) / of(|left| left.error));
    (left.len(), inside, stretch * ratio, stretch * halves)
}

/// Draws the table of `docs/concepts/predictions.md`. Each model is stretched by what the others say.
#[test]
#[ignore = "it takes minutes"]
#[expect(clippy::disallowed_macros, reason = "it is run for what it prints")]
fn draw_the_table_of_what_was_left_out() {
    let all: Vec<(&str, Vec<Left>)> = calibrated().map(|name| (name, left(name))).collect();
    let covering = |others: &dyn Fn(&str) -> bool| {
        let others = all.iter().filter(|(name, _)| others(name)).flat_map(|(_, left)| left);
        calibrate::covering(others.map(|left| left.reach).collect())
    };
    for (name, own) in all.iter().filter(|(_, own)| !own.is_empty()) {
        let own: Vec<&Left> = own.iter().collect();
        let stretch = covering(&|other| other != *name);
        println!("{name} now {:?}, by others {stretch:.2} {:?}", told(&own, 1.0), told(&own, stretch));
    }
    let every: Vec<&Left> = all.iter().flat_map(|(_, left)| left).collect();
    println!("all now {:?}, by all {:.2} more", told(&every, 1.0), covering(&|_| true));
}

#[test]
fn intervals_hold_what_was_left_out_and_are_not_wide() {
    let left: Vec<Left> =
        ["s824-fs840", "power770-san", "mirror-link", "this-machine"].into_iter().flat_map(left).collect();
    let (count, inside, _, halves) = told(&left.iter().collect::<Vec<&Left>>(), 1.0);
    assert!(count > 60 && inside as f64 >= 0.9 * count as f64, "{inside} of {count}");
    // All models together reach 3 times as far; two of these four meet their rows better than few rows can promise.
    assert!(halves < 6.0, "the median interval reaches {halves:.1} times as far as the median error");
}

#[test]
fn no_share_goes_beyond_all_of_it() {
    let model = of("s824-fs840");
    let table = rows::read("row_id,threads\na,112\n").unwrap();
    let (low, high) = model.interval(&table.rows[0], "utilisation", 0.0);
    assert!(low < 100.0 && high <= 100.0, "{low} to {high}");
}

#[test]
fn what_lies_beyond_the_rows_is_less_sure() {
    let model = of("s824-fs840");
    let width = |threads: u32| {
        let table = rows::read(&format!("row_id,threads\na,{threads}\n")).unwrap();
        let (low, high) = model.interval(&table.rows[0], "throughput", 0.0);
        libm::log(high / low)
    };
    assert!(width(112) < width(192) && width(192) < width(400), "{} {} {}", width(112), width(192), width(400));
}

#[test]
fn rows_that_a_model_was_fitted_on_are_never_judged() {
    let model = fitted("s824-fs840").model;
    let text = "row_id,config_id,customers,threads,throughput_tps,response_ms\n\
                s000f8-80,s000-s824-fs840,6000,80,10968.4,7.2\n\
                new,s000-s824-fs840,6000,64,9000,\n\
                other,s000-power770-san,6000,64,1000,50\n";
    let judgement = judge::judge(&model, &rows::read(text).unwrap(), &[]).unwrap();
    let roles: Vec<(&str, &str, &str)> =
        judgement.rows.iter().map(|row| (row.row_id.as_str(), row.metric.as_str(), row.role.word())).collect();
    assert_eq!(
        roles,
        [
            ("s000f8-80", "throughput_tps", "calibration"),
            ("s000f8-80", "response_ms", "calibration"),
            ("new", "throughput_tps", "judged")
        ]
    );
    assert_eq!(judgement.unanswered, [("other".to_owned(), "the row is of another machine".to_owned())]);
    let new = &judgement.rows[2];
    assert!(new.low < new.predicted && new.predicted < new.high);
    assert_eq!(new.baselines.two_parameters, None, "one calibration row is in this table, and it has no second size");
}

#[test]
fn closed_form_and_simulation_of_the_flash_array_agree() {
    let model = fitted("f5100").model;
    let numbers = model.numbers();
    let path = Path::of(&Values::new(model.kind.asks(), &numbers));
    for (test, read, kb, modules) in [
        ("random_read_4k", 1.0, 4, 1),
        ("random_read_4k", 1.0, 4, 7),
        ("random_write_4k", 0.0, 4, 5),
        ("seq_read_1m", 1.0, 1024, 5),
        ("seq_write_1m", 0.0, 1024, 1),
    ] {
        let cells = [("test", test.to_owned()), ("transfer_kb", kb.to_string()), ("modules", modules.to_string())];
        let cells = cells.into_iter().map(|(column, cell)| (column.to_owned(), cell)).collect();
        let closed = model.answer(&Row { cells, ..Row::default() }, "rate").unwrap();
        let simulated = simulated(path, modules, read, kb * 1024);
        assert!((simulated / closed - 1.0).abs() < 0.01, "{test} on {modules}: {simulated} against {closed}");
    }
}

#[test]
fn a_write_that_is_not_whole_sectors_takes_longer_in_form_and_simulation() {
    let model = of("f5100");
    let numbers = model.numbers();
    let path = Path::of(&Values::new(model.kind.asks(), &numbers));
    let alone = |bytes: u32, shift: u64| {
        let mut array = Array::new(path, 1, 1);
        let (mut ended, mut at) = (Vec::<Ended>::new(), Nanos(0));
        for number in 0..1_000 {
            let offset = number * u64::from(bytes) + shift;
            array.submit(at, 0, &Operation { kind: OperationKind::Write, class: 0, module: 0, offset, bytes });
            at = array.advance(Nanos(u64::MAX), &mut ended);
        }
        at.0 as f64 / 1e9
    };
    let formal = |bytes: u32, shift: u64| {
        let (kb, shift_kb) = (f64::from(bytes) / 1_024.0, shift as f64 / 1_024.0);
        let table = format!("row_id,op,transfer_kb,shift_kb\na,write,{kb},{shift_kb}\n");
        model.answer(&rows::read(&table).unwrap().rows[0], "service-time").unwrap()
    };
    for (bytes, shift) in [(512, 0), (2_048, 0), (4_096, 0), (4_096, 512), (6_144, 0), (65_536, 0), (65_536, 512)] {
        let (simulated, formal) = (alone(bytes, shift), formal(bytes, shift));
        assert!((simulated / formal - 1.0).abs() < 0.03, "{bytes} at {shift}: {simulated} ms against {formal}");
    }
    assert!(formal(512, 0) > 5.0 * formal(4_096, 0) && formal(4_096, 512) > 5.0 * formal(4_096, 0));
}

/// Operations a second with 32 outstanding a module, over four seconds behind one of warm-up.
fn simulated(path: Path, modules: u32, read: f64, bytes: u32) -> f64 {
    let slots = 32 * modules;
    let mut array = Array::new(path, modules, slots);
    let kind = if read > 0.5 { OperationKind::Read } else { OperationKind::Write };
    let ask = |slot: u32| Operation { kind, class: 0, module: (slot % modules) as u16, offset: 0, bytes };
    (0..slots).for_each(|slot| array.submit(Nanos(0), slot, &ask(slot)));
    let (mut ended, mut done) = (Vec::<Ended>::new(), 0u32);
    let (warm, end) = (Nanos(1_000_000_000), Nanos(5_000_000_000));
    while array.advance(end, &mut ended) < end {
        for Ended { slot, at, .. } in ended.drain(..) {
            done += u32::from(at >= warm);
            array.submit(at, slot, &ask(slot));
        }
    }
    f64::from(done) / 4.0
}

/// Writes a second of one page, so many outstanding at random places, over the second half of so many seconds.
fn device_writes(values: &Values, start: flash::Start, seconds: u64) -> f64 {
    let (shape, slots) = (flash::Shape::of(values, 1), 512);
    let mut device = Flash::of(values, start, 1, slots, 1).unwrap();
    let (mut random, page) = (Draws::numbered(1, 77), shape.page_bytes);
    let mut ask = || {
        let offset = random.below(shape.capacity_bytes / u64::from(page)) * u64::from(page);
        Operation { kind: OperationKind::Write, class: 0, module: 0, offset, bytes: page }
    };
    (0..slots).for_each(|slot| device.submit(Nanos(0), slot, &ask()));
    let (mut ended, mut done, end) = (Vec::<Ended>::new(), 0u32, Nanos(seconds * 1_000_000_000));
    while device.advance(end, &mut ended) < end {
        for Ended { slot, at, .. } in ended.drain(..) {
            done += u32::from(at.0 >= end.0 / 2);
            device.submit(at, slot, &ask());
        }
    }
    f64::from(done) / (seconds as f64 / 2.0)
}

#[test]
fn closed_form_and_simulation_of_the_flash_device_agree() {
    let mut model = of("nand-device");
    let cells = [("test", "random_write"), ("transfer_kb", "16")];
    let cells = cells.into_iter().map(|(column, cell)| (column.to_owned(), cell.to_owned())).collect();
    let row = Row { cells, ..Row::default() };
    // Planes of a die neither always find a pair of writes nor clean in step, so the form, in which they do, is the most
    // that two of them reach.
    for (planes, least) in [(2.0, 0.75), (1.0, 0.93)] {
        let place = model.kind.asks().iter().position(|asked| asked.name == "planes").unwrap();
        model.parameters[place].value = planes;
        let numbers = model.numbers();
        let values = Values::new(model.kind.asks(), &numbers);
        for (quantity, start, seconds, least) in
            [("rate", flash::Start::Rested(0.2), 1, 0.9), ("sustained", flash::Start::Worn(1.0), 24, least)]
        {
            let (closed, found) = (model.answer(&row, quantity).unwrap(), device_writes(&values, start, seconds));
            let share = found / closed;
            assert!((least..1.02).contains(&share), "{planes} planes, {quantity}: {found} against {closed}");
        }
    }
}

#[test]
fn closed_form_and_simulation_of_the_disk_agree() {
    let model = of("disk-15k");
    let numbers = model.numbers();
    let values = Values::new(model.kind.asks(), &numbers);
    let cells = [("test", "random_read"), ("transfer_kb", "64")];
    let cells = cells.into_iter().map(|(column, cell)| (column.to_owned(), cell.to_owned())).collect();
    let closed = model.answer(&Row { cells, ..Row::default() }, "rate").unwrap();
    let (mut disk, mut random, count) =
        (Disk::of(&values, Order::Fifo, 1, 1).unwrap(), Draws::numbered(1, 1), 10_000u32);
    let (mut ended, mut at) = (Vec::<Ended>::new(), Nanos(0));
    for _ in 0..count {
        let offset = 65_536 * random.below(Shape::of(&values, Order::Fifo).capacity() / 65_536);
        disk.submit(at, 0, &Operation { kind: OperationKind::Read, class: 0, module: 0, offset, bytes: 65_536 });
        at = disk.advance(Nanos(u64::MAX), &mut ended);
    }
    let found = 1e9 * f64::from(count) / at.0 as f64;
    // The form takes cylinders as equally full; the outer ones hold more and are nearer to each other.
    assert!((found / closed - 1.0).abs() < 0.03, "{found} against {closed}");
}

/// The published ratios of one machine with this storage and with that: what was not fitted lies inside, and an interval says
/// something.
#[test]
fn ratios_that_were_published_lie_within_what_their_models_say() {
    let models = [
        ("z-ds8300", "bank_posting", 2),
        ("power550-mixed", "warehouse_bi_mxl", 1),
        ("power550-bw", "warehouse_bw", 1),
    ];
    for (model, table, count) in models {
        let text = tables().iter().find(|shipped| shipped.name == table).expect("it ships").text;
        let judgement = judge::judge(&of(model), &rows::read(text).unwrap(), &[]).expect("it answers");
        assert!(judgement.unanswered.is_empty(), "{judgement:?}");
        let judged: Vec<_> = judgement.rows.iter().filter(|row| row.role == judge::Role::Judged).collect();
        assert_eq!(judged.len(), count, "{judgement:?}");
        for row in judged {
            let published = row.published.expect("a published ratio");
            assert!(row.low <= published && published <= row.high && row.high / row.low < 4.0, "{row:?}");
        }
    }
}

/// A ratio of a configuration that nobody described would be one.
#[test]
fn a_ratio_of_an_unknown_configuration_is_not_answered() {
    let table =
        rows::read("row_id,config_id,drives_hdd,drives_ssd,throughput_ratio_to_hdd\na,else,96,8,1.1\n").unwrap();
    let judged = judge::judge(&of("power550-bw"), &table, &[]).expect("it answers such tables");
    assert!(judged.rows.is_empty() && judged.unanswered[0].1.contains("holds `else`; known: the `configurations`"));
}
