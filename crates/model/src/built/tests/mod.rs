//! What a described machine must do when it is driven.

use super::*;
use crate::asked::Values;
use crate::device::flash;
use crate::{file, models, rows};
use random::Draws;
use units::Nanos;
use workload::{Operation, OperationKind};

fn shipped(name: &str) -> Description {
    let text = models().iter().find(|model| model.name == name).unwrap().text;
    file::read(name, text).unwrap()
}

fn device(overlap: f64, wake: f64) -> Description {
    let parameter = |name: &str, value: f64, unit: &str| {
        format!("[parameters.{name}]\nvalue = {value}\nunit = \"{unit}\"\nfrom = \"given: this test\"\n")
    };
    let text = format!(
        "title = \"a device\"\nkind = \"queue-device\"\n{}{}{}{}",
        parameter("device_time", 80.0, "us"),
        parameter("overlap", overlap, "operations"),
        parameter("host_time", 20.0, "us"),
        parameter("wake_time", wake, "us"),
    );
    file::read("device", &text).unwrap()
}

/// Operations a second of a closed load over some simulated seconds.
fn rate(machine: &mut dyn Machine, outstanding: u32, seconds: u64) -> f64 {
    let operation = Operation { kind: OperationKind::Read, class: 0, module: 0, offset: 0, bytes: 4096 };
    (0..outstanding).for_each(|slot| machine.submit(Nanos::ZERO, slot, &operation));
    let (end, mut done, mut ended) = (Nanos::from_secs(seconds), 0u64, Vec::new());
    while machine.advance(end, &mut ended) < end {
        for one in ended.drain(..) {
            done += 1;
            machine.submit(one.at, one.slot, &operation);
        }
    }
    done as f64 / seconds as f64
}

#[test]
fn a_device_behind_a_queue_is_as_fast_as_its_closed_form() {
    for (overlap, wake, outstanding) in
        [(1.0, 1.0, 1), (3.5, 1.0, 2), (3.5, 40.0, 8), (6.0, 10.0, 32), (64.0, 60.0, 16)]
    {
        let described = device(overlap, wake);
        let table = rows::read(&format!("row_id,outstanding,rate\na,{outstanding},1\n")).unwrap();
        let formal = described.answer(&table.rows[0], "rate").unwrap();
        let setting = Setting { modules: 1, slots: outstanding, seed: 11, module_bytes: 1 << 30, ..Setting::default() };
        let simulated = rate(&mut *machine(&described, &setting).unwrap(), outstanding, 20);
        assert!((simulated / formal - 1.0).abs() < 0.01, "{overlap} {outstanding}: {simulated} against {formal}");
    }
}

#[test]
fn a_machine_has_no_more_modules_than_its_file_says() {
    let f5100 = shipped("f5100");
    assert_eq!(modules(&f5100), Some(80));
    let refused = machine(&f5100, &Setting { modules: 81, slots: 1, seed: 1, module_bytes: 0, ..Setting::default() })
        .err()
        .unwrap();
    assert_eq!(refused.to_string(), "the model `f5100` has 80 modules, got 81");
}

/// Operations a second of so many modules of the shipped array with 32 outstanding each, formal and simulated.
fn both(changes: &[(&str, &str)], modules: u32, asked: OperationKind) -> (f64, f64) {
    let owned = |(name, text): &(&str, &str)| ((*name).to_owned(), (*text).to_owned());
    let changes: Vec<(String, String)> = changes.iter().map(owned).collect();
    let described = shipped("f5100").changed(&changes).unwrap_or_else(|problems| panic!("{problems}"));
    let test = if asked == OperationKind::Read { "random_read_4k" } else { "random_write_4k" };
    let table = format!("row_id,test,transfer_kb,modules,outstanding\na,{test},4,{modules},{}\n", 32 * modules);
    let formal = described.answer(&rows::read(&table).unwrap().rows[0], "rate").unwrap();
    let setting = Setting { modules, slots: 32 * modules, seed: 1, module_bytes: 1 << 30, ..Setting::default() };
    let mut machine = machine(&described, &setting).unwrap();
    let operation =
        |slot: u32| Operation { kind: asked, class: 0, module: (slot % modules) as u16, offset: 0, bytes: 4096 };
    (0..setting.slots).for_each(|slot| machine.submit(Nanos::ZERO, slot, &operation(slot)));
    let (warm, end, mut done, mut ended) = (Nanos::from_millis(500), Nanos::from_millis(1_500), 0u32, Vec::new());
    while machine.advance(end, &mut ended) < end {
        for one in ended.drain(..) {
            done += u32::from(one.at > warm);
            machine.submit(one.at, one.slot, &operation(one.slot));
        }
    }
    (formal, f64::from(done))
}

#[test]
fn what_failed_limits_a_flash_array_alike_in_closed_form_and_simulation() {
    for (changes, modules, asked) in [
        (&[][..], 10, OperationKind::Read),
        (&[("failed_ports", "1")], 10, OperationKind::Read),
        (&[("failed_ports", "15")], 20, OperationKind::Write),
        (&[("failed_channels", "1")], 3, OperationKind::Read),
        (&[("failed_channels", "2")], 3, OperationKind::Write),
        (&[("failed_channels", "8"), ("failed_ports", "2"), ("failed_modules", "60")], 15, OperationKind::Read),
    ] {
        let (formal, simulated) = both(changes, modules, asked);
        assert!((simulated / formal - 1.0).abs() < 0.01, "{changes:?}: {simulated} against {formal}");
    }
}

#[test]
fn a_failure_never_makes_an_array_faster_and_a_limit_that_is_set_does_limit() {
    let rate = |changes: &[(&str, &str)], modules| both(changes, modules, OperationKind::Read).0;
    for modules in [1, 5, 10, 23, 79] {
        let healthy = rate(&[], modules);
        for changes in [[("failed_ports", "1")], [("failed_ports", "7")], [("failed_channels", "1")]] {
            assert!(rate(&changes, modules) <= healthy + 1e-6, "{changes:?} on {modules}");
        }
    }
    let port = shipped("f5100").parameter("port_operations").unwrap().value;
    assert!((rate(&[("failed_ports", "15")], 80) - port).abs() < 1e-6, "all goes over the one port that is left");
    assert!((rate(&[("failed_channels", "1")], 1) / rate(&[], 1) - 0.9).abs() < 1e-9, "9 of 10 channels read");
    let writes = |changes: &[(&str, &str)]| both(changes, 1, OperationKind::Write).0;
    assert!((writes(&[("failed_channels", "1")]) / writes(&[]) - 8.0 / 9.0).abs() < 1e-9, "8+1 instead of 9+1");
}

#[test]
fn failed_modules_are_not_there_to_be_loaded() {
    let few = shipped("f5100").changed(&[("failed_modules".to_owned(), "2".to_owned())]).unwrap();
    assert_eq!(modules(&few), Some(78));
    for (name, text, told) in [
        ("failed_modules", "80", "there are 80 modules and one must be left, got 80"),
        ("failed_ports", "16", "there are 16 ports and one must be left, got 16"),
        ("failed_channels", "9", "of 10 channels data and parity must be left, got 9"),
    ] {
        let refused = shipped("f5100").changed(&[(name.to_owned(), text.to_owned())]).unwrap_err().to_string();
        assert!(refused.contains(told), "{refused}");
    }
}

#[test]
fn a_kind_without_stations_says_so() {
    let refused = machine(
        &shipped("mirror-link"),
        &Setting { modules: 1, slots: 1, seed: 1, module_bytes: 0, ..Setting::default() },
    )
    .err()
    .unwrap();
    assert!(refused.to_string().contains("a mirror-link, which has laws and no stations"), "{refused}");
}

/// A value in the place of the one that ships.
fn with(mut described: Description, name: &str, value: f64) -> Description {
    described.parameters.iter_mut().find(|parameter| parameter.name == name).unwrap().value = value;
    described
}

/// What a study asks of a device, over its whole size.
#[derive(Clone, Copy)]
struct Work {
    kind: OperationKind,
    bytes: u32,
    sequential: bool,
    outstanding: u32,
    modules: u32,
}

/// Operations a second of a module.
fn carried_out(described: &Description, work: Work, seconds: u64) -> f64 {
    let (slots, size) = (work.outstanding * work.modules, module_bytes(described).unwrap());
    let setting = Setting { modules: work.modules, slots, seed: 5, module_bytes: size, ..Setting::default() };
    let mut machine = machine(described, &setting).unwrap();
    let (mut random, places) = (Draws::numbered(5, 1 << 40), size / u64::from(work.bytes));
    let mut next = vec![0u64; work.modules as usize];
    let mut ask = |slot: u32| {
        let module = slot % work.modules;
        let place = if work.sequential { next[module as usize] } else { random.below(places) };
        next[module as usize] += 1;
        let offset = place % places * u64::from(work.bytes);
        Operation { kind: work.kind, class: 0, module: module as u16, offset, bytes: work.bytes }
    };
    (0..slots).for_each(|slot| machine.submit(Nanos::ZERO, slot, &ask(slot)));
    let (end, mut done, mut ended) = (Nanos::from_secs(seconds), 0u64, Vec::new());
    while machine.advance(end, &mut ended) < end {
        for one in ended.drain(..) {
            done += 1;
            machine.submit(one.at, one.slot, &ask(one.slot));
        }
    }
    done as f64 / seconds as f64 / f64::from(work.modules)
}

fn formal(described: &Description, test: &str, bytes: u32) -> f64 {
    let table = rows::read(&format!("row_id,test,transfer_kb,rate\na,{test},{},1\n", bytes / 1_024)).unwrap();
    described.answer(&table.rows[0], "rate").unwrap()
}

#[test]
fn a_study_on_flash_devices_is_as_fast_as_the_closed_form_says_at_most() {
    let flash = shipped("nand-device");
    let base = Work { kind: OperationKind::Read, bytes: 16_384, sequential: false, outstanding: 512, modules: 1 };
    let large = Work { bytes: 1 << 20, sequential: true, outstanding: 32, ..base };
    // The form lets every die find work for both planes, which chance does not.
    for (work, test, seconds, least) in [
        (base, "random_read", 1, 0.75),
        (Work { kind: OperationKind::Write, ..base }, "random_write", 2, 0.9),
        (large, "seq_read", 2, 0.95),
        (Work { kind: OperationKind::Write, ..large }, "seq_write", 2, 0.9),
        (Work { modules: 3, outstanding: 64, ..large }, "seq_read", 1, 0.95),
    ] {
        let (found, most) = (carried_out(&flash, work, seconds), formal(&flash, test, work.bytes));
        assert!((least..1.02).contains(&(found / most)), "{test} {}: {found} against {most}", work.bytes);
    }
}

#[test]
fn a_rested_device_takes_as_much_as_its_erased_flash_and_not_as_little_as_is_simulated() {
    // 28 percent of 40 GB at some 640 MB/s are used up after 17 seconds, whatever part of the blocks is simulated.
    let device = with(shipped("nand-device"), "capacity", 40.0);
    let write = Work { kind: OperationKind::Write, bytes: 16_384, sequential: false, outstanding: 512, modules: 1 };
    let most = formal(&device, "random_write", 16_384);
    let shape = flash::Shape::of(&Values::new(device.kind.asks(), &device.numbers()), 1);
    assert!(shape.stands_for > 1.4, "only a part is simulated: {}", shape.stands_for);
    let lasts = 0.28 * 40e9 / 16_384.0 / most;
    assert!(carried_out(&device, write, (0.9 * lasts) as u64) > 0.9 * most);
    let long = carried_out(&device, write, (3.0 * lasts) as u64);
    assert!(long < 0.75 * most, "{long} against {most}: cleaning begins when erased flash is used up");
}

#[test]
fn a_study_on_a_disk_is_as_fast_as_the_closed_form_alone_and_in_order_and_gains_with_a_queue() {
    let disk = shipped("disk-15k");
    let base = Work { kind: OperationKind::Read, bytes: 65_536, sequential: false, outstanding: 1, modules: 1 };
    let close = |work: Work, test: &str, off: f64| {
        let (found, law) = (carried_out(&disk, work, 100), formal(&disk, test, work.bytes));
        assert!((found / law - 1.0).abs() < off, "{test} {}: {found} against {law}", work.bytes);
    };
    close(base, "random_read", 0.03);
    close(Work { modules: 4, ..base }, "random_read", 0.03);
    close(Work { kind: OperationKind::Write, ..base }, "random_write", 0.03);
    // Over a hundred seconds the arm leaves the outermost zone, so a little is lost; commands of the next overlap.
    let large = Work { bytes: 1 << 20, sequential: true, ..base };
    close(large, "seq_read", 0.04);
    close(Work { outstanding: 8, ..large }, "seq_read", 0.04);
    close(Work { kind: OperationKind::Write, outstanding: 8, ..large }, "seq_write", 0.04);
    let (alone, queued) = (carried_out(&disk, base, 50), carried_out(&disk, Work { outstanding: 32, ..base }, 50));
    assert!(queued > 1.5 * alone, "{queued} with 32 outstanding, {alone} alone");
}

#[test]
fn a_small_part_of_a_disk_is_faster_than_all_of_it() {
    let disk = shipped("disk-15k");
    let rate = |module_bytes: u64| {
        let mut machine =
            machine(&disk, &Setting { modules: 1, slots: 1, seed: 1, module_bytes, ..Setting::default() }).unwrap();
        let (mut random, mut ended, mut at) = (Draws::numbered(1, 1), Vec::new(), Nanos::ZERO);
        for _ in 0..2_000 {
            let offset = 4_096 * random.below(module_bytes / 4_096);
            machine.submit(at, 0, &Operation { kind: OperationKind::Read, class: 0, module: 0, offset, bytes: 4_096 });
            at = machine.advance(Nanos(u64::MAX), &mut ended);
        }
        2e12 / at.0 as f64
    };
    let (part, whole) = (rate(1 << 30), rate(module_bytes(&disk).unwrap()));
    assert!(part > 1.3 * whole, "{part} of a gibibyte, {whole} of all");
}

#[test]
fn a_tier_lies_between_disks_alone_and_flash_alone_simulated_and_in_closed_form() {
    let mut before = 0.0;
    for share in [0.0, 2.0, 10.0, 50.0, 100.0] {
        let tiered = with(with(shipped("tiered"), "fast_share", share), "drift", 0.0);
        let setting = Setting { modules: 1, slots: 64, seed: 3, module_bytes: 1 << 30, ..Setting::default() };
        let found = rate(&mut *machine(&tiered, &setting).unwrap(), 64, 100);
        let table = rows::read("row_id,outstanding,transfer_kb,rate\na,64,4,1\n").unwrap();
        let law = tiered.answer(&table.rows[0], "rate").unwrap();
        assert!((found / law - 1.0).abs() < 0.02, "{share} %: {found} against {law}");
        assert!(found > 1.05 * before, "{share} %: {found} after {before}");
        before = found;
    }
}

#[test]
fn a_pair_carries_transactions_as_its_closed_form_says_once_it_knows_its_cores() {
    let setting = Setting { modules: 1, slots: 100, seed: 3, module_bytes: 0, ..Setting::default() };
    let refused = machine(&shipped("mirror-case2"), &setting).err().unwrap().to_string();
    assert!(refused.contains("source_cores=16"), "{refused}");
    let pair = with(shipped("mirror-case2"), "source_cores", 22.0);
    assert!(transactions(&pair));
    let table = rows::read("row_id,threads,throughput\na,100,1\n").unwrap();
    for (name, value) in
        [("mirroring", 0.0), ("mirroring", 1.0), ("mirroring", 2.0), ("suspended", 1.0), ("distance", 50.0)]
    {
        let pair = with(pair.clone(), name, value);
        let found = rate(&mut *machine(&pair, &setting).unwrap(), 100, 12);
        let law = pair.answer(&table.rows[0], "throughput").unwrap();
        assert!((found / law - 1.0).abs() < 0.01, "{name} {value}: {found} against {law}");
    }
}

#[test]
fn a_link_a_log_and_jobs_at_the_target_hold_a_pair_up_in_closed_form_as_in_simulation() {
    for asked in [
        "target_log=1",
        "target_log=10",
        "link_speed=10 trip_bytes=1000",
        "link_speed=1 link_share=80 trip_bytes=1000",
        "link_speed=1 trip_bytes=1000 mirroring=2",
        "target_workers=1",
        "target_workers=4 target_cores=1",
        "target_workers=40 target_log=2",
        "target_workers=1 mirroring=2",
        "target_workers=2 link_speed=2 trip_bytes=1000 distance=20",
    ] {
        let pairs = asked.split(' ').chain(["source_cores=22"]).filter_map(|part| part.split_once('='));
        let changes: Vec<(String, String)> = pairs.map(|(name, text)| (name.to_owned(), text.to_owned())).collect();
        let pair = shipped("mirror-case2").changed(&changes).unwrap_or_else(|problems| panic!("{problems}"));
        for sessions in [2, 40, 60, 80, 160] {
            let setting = Setting { modules: 1, slots: sessions, seed: 3, module_bytes: 0, ..Setting::default() };
            let found = rate(&mut *machine(&pair, &setting).unwrap(), sessions, 4);
            let table = rows::read(&format!("row_id,threads,throughput\na,{sessions},1\n")).unwrap();
            let law = pair.answer(&table.rows[0], "throughput").unwrap();
            // Two jobs meet at a slow log more often than at random.
            let most = if sessions == 2 && asked == "target_log=10" { 0.07 } else { 0.03 };
            assert!((found / law - 1.0).abs() < most, "{asked} with {sessions}: {found} against {law}");
        }
    }
}

#[test]
fn what_is_said_of_a_link_and_moves_nothing_is_refused() {
    let told = |name: &str, text: &str| {
        let changes = [(name.to_owned(), text.to_owned())];
        shipped("mirror-case2").changed(&changes).unwrap_err().to_string()
    };
    assert!(told("link_share", "50").contains("100 as long as `link_speed` is 0"), "{}", told("link_share", "50"));
    assert!(told("link_speed", "10").contains("at least 1 beside a `link_speed`"), "{}", told("link_speed", "10"));
}

#[test]
fn what_a_device_cannot_hold_is_refused_with_its_limit() {
    let flash = shipped("nand-device");
    let most = modules(&flash).unwrap();
    assert!(most >= 8, "{most}");
    let ask = |modules: u32, module_bytes: u64| {
        let setting = Setting { modules, slots: 1, seed: 1, module_bytes, ..Setting::default() };
        machine(&flash, &setting).err().map(|error| error.to_string())
    };
    assert_eq!(ask(1, 400_000_000_000), None);
    let large = ask(1, 500_000_000_000).unwrap();
    assert_eq!(large, "a module of the model `nand-device` holds 373 GiB, got a size of 466 GiB; set a smaller `size`");
    assert_eq!(ask(most + 1, 0).unwrap(), format!("the model `nand-device` has {most} modules, got {}", most + 1));
    let huge = with(with(flash.clone(), "channels", 256.0), "dies", 256.0);
    let refused = machine(&huge, &Setting { modules: 1, slots: 1, seed: 1, module_bytes: 0, ..Setting::default() })
        .err()
        .unwrap();
    assert!(refused.to_string().contains("at most 256 MiB"), "{refused}");
}

#[test]
fn large_writes_in_order_go_on_at_a_modules_speed_when_small_ones_have_used_up_their_credit() {
    let described = shipped("f5100");
    let table = rows::read("row_id,test,transfer_kb,modules,window\na,seq_write_1m,1024,1,600 seconds\n").unwrap();
    let formal = described.answer(&table.rows[0], "rate").unwrap();
    let setting = Setting { modules: 1, slots: 32, seed: 5, module_bytes: 1 << 30, ..Setting::default() };
    let mut machine = machine(&described, &setting).unwrap();
    let operation = Operation { kind: OperationKind::Write, class: 0, module: 0, offset: 0, bytes: 1 << 20 };
    (0..32).for_each(|slot| machine.submit(Nanos::ZERO, slot, &operation));
    let (end, mut done, mut ended) = (Nanos::from_secs(600), 0u64, Vec::new());
    while machine.advance(end, &mut ended) < end {
        for one in ended.drain(..) {
            done += 1;
            machine.submit(one.at, one.slot, &operation);
        }
    }
    let simulated = done as f64 / 600.0;
    assert!((simulated / formal - 1.0).abs() < 0.01, "{simulated} against {formal}");
}

#[test]
fn a_model_that_was_never_calibrated_is_as_doubtful_as_its_assumptions() {
    let described = shipped("small-server");
    let table = rows::read("row_id,threads\na,4\n").unwrap();
    let (low, high) = described.interval(&table.rows[0], "throughput", 0.0);
    assert!(high / low > 1.5, "{low} to {high}");
}

/// Reads and writes a second of a described array that does nothing but its controllers, with as many outstanding of each.
fn reads_and_writes(changes: &[(&str, &str)]) -> [f64; 2] {
    let always = [("read_hits", "1"), ("controllers", "1"), ("controller_processors", "1"), ("controller_time", "400")];
    let owned = |(name, text): &(&str, &str)| ((*name).to_owned(), (*text).to_owned());
    let changes: Vec<(String, String)> = always.iter().chain(changes).map(owned).collect();
    let described = shipped("disk-array").changed(&changes).unwrap_or_else(|problems| panic!("{problems}"));
    let setting = Setting { modules: 1, slots: 32, seed: 5, module_bytes: 1 << 30, ..Setting::default() };
    let mut machine = machine(&described, &setting).unwrap();
    let ask = |slot: u32| {
        let (kind, class) = if slot.is_multiple_of(2) { (OperationKind::Read, 0) } else { (OperationKind::Write, 1) };
        Operation { kind, class, module: 0, offset: u64::from(slot) << 20, bytes: 4096 }
    };
    (0..32).for_each(|slot| machine.submit(Nanos::ZERO, slot, &ask(slot)));
    let (end, mut done, mut ended) = (Nanos::from_secs(4), [0.0; 2], Vec::new());
    while machine.advance(end, &mut ended) < end {
        for one in ended.drain(..) {
            done[one.slot as usize % 2] += 0.25;
            machine.submit(one.at, one.slot, &ask(one.slot));
        }
    }
    done
}

#[test]
fn writes_of_an_array_have_the_weight_and_the_cap_that_its_file_gives_them() {
    let share = |changes: &[(&str, &str)]| {
        let [reads, writes] = reads_and_writes(changes);
        writes / (reads + writes)
    };
    assert!((share(&[]) - 0.5).abs() < 0.02, "{}", share(&[]));
    assert!((share(&[("write_cap", "0.2")]) - 0.2).abs() < 0.02, "{}", share(&[("write_cap", "0.2")]));
    assert!((share(&[("write_weight", "3")]) - 0.75).abs() < 0.02, "{}", share(&[("write_weight", "3")]));
}

#[test]
fn nonsense_in_a_model_file_is_told_once_with_its_line_and_column() {
    let text = models().iter().find(|model| model.name == "disk-array").unwrap().text;
    let told = |name: &str, value: &str| {
        let from = text.find(&format!("[parameters.{name}]")).unwrap();
        let start = from + text[from..].find("value = ").unwrap() + "value = ".len();
        let end = start + text[start..].find('\n').unwrap();
        let wrong = format!("{}{value}{}", &text[..start], &text[end..]);
        let line = |at: usize| text[..at].matches('\n').count() + 1;
        let problems = file::read("wrong", &wrong).unwrap_err().to_string();
        (problems, format!("wrong:{}:", line(from)), format!("wrong:{}:9:", line(start)))
    };
    let (problems, at, _) = told("members", "1");
    assert!(problems.contains(&at) && problems.contains("RAID 5 has 3 to 64 modules in a group, got 1"), "{problems}");
    for (name, value) in [("paths", "0"), ("read_fixed", "-5")] {
        let (problems, _, at) = told(name, value);
        assert!(problems.contains(&at) && !problems.contains("missing"), "{name}: {problems}");
    }
}
