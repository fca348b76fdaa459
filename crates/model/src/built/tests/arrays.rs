//! General arrays: closed form and simulation over the same parameters.

use super::*;
use crate::kind::Unanswered;
use crate::{file, models, rows};
use random::Draws;
use units::Nanos;
use workload::{Operation, OperationKind};

/// A shipped model with changes.
fn changed(name: &str, changes: &str) -> Description {
    let text = models().iter().find(|model| model.name == name).unwrap().text;
    let pair = |part: &str| part.split_once('=').map(|(key, value)| (key.to_owned(), value.to_owned())).unwrap();
    let changes: Vec<_> = changes.split(' ').filter(|part| !part.is_empty()).map(pair).collect();
    file::read(name, text).unwrap().changed(&changes).unwrap_or_else(|problems| panic!("{problems}"))
}

/// What is asked: share of reads, kilobytes, groups that are loaded, outstanding on each.
type Load = (f64, u32, u32, u32);

fn formal(described: &Description, (read, kb, groups, each): Load, window: &str) -> f64 {
    let test = format!("random_rw{}", 100.0 * read);
    let table = format!(
        "row_id,test,transfer_kb,modules,outstanding,window\na,{test},{kb},{groups},{},{window}\n",
        groups * each
    );
    described.answer(&rows::read(&table).unwrap().rows[0], "rate").unwrap()
}

/// Operations a second from one second to another.
fn simulated(described: &Description, (read, kb, groups, each): Load, from: u64, to: u64) -> f64 {
    let setting =
        Setting { modules: groups, slots: groups * each, seed: 3, module_bytes: 1 << 30, ..Setting::default() };
    let (mut machine, mut random) = (machine(described, &setting).unwrap(), Draws::numbered(7, 7));
    let mut draw = |slot: u32| Operation {
        kind: if random.chance(read) { OperationKind::Read } else { OperationKind::Write },
        class: 0,
        module: (slot % groups) as u16,
        offset: random.below((1 << 20) / u64::from(kb)) * u64::from(kb) * 1_024,
        bytes: kb * 1_024,
    };
    (0..setting.slots).for_each(|slot| machine.submit(Nanos::ZERO, slot, &draw(slot)));
    let (start, end) = (Nanos::from_secs(from), Nanos::from_secs(to));
    let (mut done, mut ended) = (0u64, Vec::new());
    while machine.advance(end, &mut ended) < end {
        for one in ended.drain(..) {
            assert!(!one.failed);
            done += u64::from(one.at > start);
            machine.submit(one.at, one.slot, &draw(one.slot));
        }
    }
    done as f64 / (to - from) as f64
}

/// Model, changes, load, window, and from which second to which it is simulated.
type Case = (&'static str, &'static str, Load, &'static str, u64, u64);

/// By how many percent the closed form is off.
fn off((name, changes, load, window, from, to): &Case) -> f64 {
    let described = changed(name, changes);
    100.0 * (formal(&described, *load, window) / simulated(&described, *load, *from, *to) - 1.0)
}

const MINUTE: &str = "60 seconds";
const LONG: &str = "9 hours";

#[test]
fn closed_form_and_simulation_of_an_array_agree_where_they_should() {
    let cases: &[Case] = &[
        // One at a time, and times that vary as the closed form takes them.
        ("disk-array", "", (1.0, 4, 1, 1), MINUTE, 0, 20),
        ("disk-array", "variation=1", (1.0, 8, 6, 4), MINUTE, 1, 11),
        ("disk-array", "variation=1 failed_modules=2", (1.0, 8, 6, 16), MINUTE, 1, 11),
        ("flash-array-2d", "variation=1", (1.0, 4, 1, 64), MINUTE, 0, 1),
        // Saturated parts: modules by large reads, controllers, a path by its bytes.
        ("disk-array", "", (1.0, 256, 6, 32), MINUTE, 1, 11),
        ("flash-array-2d", "", (1.0, 4, 1, 512), MINUTE, 0, 1),
        ("flash-array-2d", "failed_paths=7", (1.0, 64, 1, 512), MINUTE, 0, 1),
        ("flash-array-2d", "failed_controllers=1", (1.0, 4, 1, 512), MINUTE, 0, 1),
        ("flash-array-2d", "distance_km=100", (1.0, 4, 1, 32), MINUTE, 0, 1),
        // Writes: into the cache, at the rate of destaging, and through to the modules.
        ("disk-array", "write_cache=60000", (0.0, 8, 6, 32), "1 seconds", 0, 1),
        ("disk-array", "write_cache=20", (0.0, 8, 6, 32), LONG, 2, 12),
        ("disk-array", "write_cache=20 level=10", (0.7, 8, 6, 64), LONG, 2, 12),
        ("disk-array", "write_cache=20 level=6 destages=400", (0.0, 8, 6, 64), LONG, 2, 12),
        ("disk-array", "write_cache=0 variation=0", (0.0, 8, 6, 1), MINUTE, 1, 11),
        // Two modules that work side by side are done with the slower one.
        ("disk-array", "write_cache=0", (0.0, 8, 6, 1), MINUTE, 1, 11),
        ("flash-array-2d", "write_cache=10 failed_channels=1", (0.0, 4, 1, 512), LONG, 1, 2),
    ];
    for case in cases {
        let off = off(case);
        assert!(off.abs() < 3.5, "{case:?}: off by {off:.1} %");
    }
}

#[test]
fn where_closed_form_and_simulation_of_an_array_part_it_is_for_the_reasons_that_are_told() {
    // Times that vary little wait less than exponential ones; degraded groups as well.
    for changes in ["", "failed_modules=6"] {
        let off = off(&("disk-array", changes, (1.0, 8, 6, 16), MINUTE, 1, 11));
        assert!((-13.0..-2.0).contains(&off), "{changes}: {off:.1} %");
    }
}

#[test]
fn each_failure_of_an_array_costs_what_it_should_in_both() {
    let rate = |changes: &str, load: Load| {
        let described = changed("disk-array", changes);
        [formal(&described, load, MINUTE), simulated(&described, load, 1, 6)]
    };
    let fall = |changes: &str, load: Load| {
        let (healthy, hurt) = (rate("", load), rate(changes, load));
        [hurt[0] / healthy[0], hurt[1] / healthy[1]]
    };
    // One group, every read of a lost disk becomes nine: 1.8 reads over nine disks instead of one over ten.
    for share in fall("failed_modules=1", (1.0, 8, 1, 256)) {
        assert!((share - 0.5).abs() < 0.04, "{share}");
    }
    // Two dimensions: modules with 8+1 channels write by a ninth slower.
    for channels in ["failed_channels=1 write_cache=0", "write_cache=0"] {
        let described = changed("flash-array-2d", channels);
        let wanted = if channels.starts_with("failed") { 8.0 / 9.0 } else { 1.0 };
        let whole = formal(&changed("flash-array-2d", "write_cache=0"), (0.0, 4, 1, 4_096), LONG);
        let share = simulated(&described, (0.0, 4, 1, 4_096), 0, 1) / whole;
        assert!((share / wanted - 1.0).abs() < 0.03, "{channels}: {share}");
    }
    let rebuilding =
        simulated(&changed("disk-array", "failed_modules=1 rebuilding=1 head_start=0"), (1.0, 8, 1, 16), 1, 6);
    let degraded = rate("failed_modules=1", (1.0, 8, 1, 16))[1];
    assert!(rebuilding < 0.95 * degraded, "{rebuilding} while rebuilding, {degraded} while degraded");
}

#[test]
fn what_the_closed_form_of_an_array_has_none_of_it_refuses() {
    let table = rows::read("row_id,test,transfer_kb,modules,window\na,random_read,8,6,1 minute\n").unwrap();
    let answer = |changes: &str| changed("disk-array", changes).answer(&table.rows[0], "rate");
    assert!(answer("").is_ok());
    assert_eq!(answer("failed_modules=1 rebuilding=1"), Err(Unanswered::Simulated("the work of a rebuild")));
    assert_eq!(answer("power_loss_at=1 power_loss=2"), Err(Unanswered::Simulated("a loss of power")));
}

#[test]
fn a_loss_of_power_is_a_number_of_the_machine_and_what_is_under_way_goes_again() {
    let described = changed("disk-array", "power_loss_at=1 power_loss=2");
    let quiet = simulated(&described, (0.7, 8, 6, 4), 1, 3);
    assert_eq!(quiet, 0.0, "nothing is served");
    assert!(simulated(&described, (0.7, 8, 6, 4), 3, 4) > 1_000.0);
}

#[test]
fn failures_that_an_array_cannot_have_are_refused() {
    let text = models().iter().find(|model| model.name == "disk-array").unwrap().text;
    let array = file::read("disk-array", text).unwrap();
    for (name, number, told) in [
        ("failed_modules", "7", "at most 6, or some group of RAID 5 loses what it holds, got 7"),
        ("failed_controllers", "2", "at most 1, for one controller must be left, got 2"),
        ("failed_paths", "4", "one path to a controller that is left, got none"),
        ("level", "4", "0, 1, 5, 6 or 10, got 4"),
        ("stripe_unit", "48", "a power of two, got 48"),
        ("low_watermark", "0.9", "the low watermark is at most the high one, 0.5, got 0.9"),
        ("members", "2", "RAID 5 has 3 to 64 modules in a group, got 2"),
        ("groups", "9000", "groups times members is at most 65536 modules"),
    ] {
        let refused = array.changed(&[(name.to_owned(), number.to_owned())]).unwrap_err().to_string();
        assert!(refused.contains(told), "{refused}");
    }
}
