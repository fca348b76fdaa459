//! The ends that a saved seed stands for: a simulated run that is repeated must be the same to the nanosecond.

use model::Setting;
use units::Nanos;
use workload::{Operation, OperationKind};

/// Ends, events and reports of a closed load on a shipped model with some changes, all added up (FNV-1a).
fn ends(name: &str, changes: &[(&str, &str)], count: u32) -> u64 {
    let text = model::models().iter().find(|model| model.name == name).unwrap().text;
    let changes: Vec<_> = changes.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    let described = model::file::read(name, text).unwrap_or_else(|problems| panic!("{problems}"));
    let described = described.changed(&changes).unwrap_or_else(|problems| panic!("{problems}"));
    let modules = model::modules(&described).unwrap_or(1).min(3);
    let setting = Setting { modules, slots: 24, seed: 42, module_bytes: 1 << 26, ..Setting::default() };
    let mut machine = model::machine(&described, &setting).unwrap_or_else(|problem| panic!("{problem}"));
    let (mut state, mut sum) = (9u64, 0xcbf2_9ce4_8422_2325u64);
    let mut add = |value: u64| sum = (sum ^ value).wrapping_mul(0x0100_0000_01b3);
    let mut draw = |slot: u32| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let kind = match state >> 60 {
            _ if model::transactions(&described) => OperationKind::Sync,
            0..=8 => OperationKind::Read,
            9..=14 => OperationKind::Write,
            _ => OperationKind::Sync,
        };
        let offset = (state >> 20) % 4_096 * 4_096;
        Operation {
            kind,
            class: (state >> 40) as u16 % 3,
            module: (slot % modules) as u16,
            offset,
            bytes: 4_096 << ((state >> 33) % 3),
        }
    };
    (0..setting.slots).for_each(|slot| machine.submit(Nanos::ZERO, slot, &draw(slot)));
    let (mut ended, mut done) = (Vec::new(), 0);
    while done < count {
        machine.advance(Nanos(u64::MAX), &mut ended);
        for one in ended.drain(..) {
            done += 1;
            add(one.at.0 ^ u64::from(one.slot) << 50 ^ u64::from(one.failed) << 63);
            add(machine.outside(one.slot).0);
            machine.submit(one.at, one.slot, &draw(one.slot));
        }
        if done == count / 2 {
            machine.clear();
        }
    }
    add(machine.events());
    for report in machine.reports() {
        report.name.bytes().for_each(|byte| add(byte.into()));
        add(report.utilisation.to_bits());
        add(report.mean_there.to_bits());
        add(report.completed);
    }
    machine.cores().iter().for_each(|cores| add(cores.busy.to_bits()));
    sum
}

#[test]
fn operations_on_models_end_as_their_seed_says() {
    let seen = [
        ends("f5100", &[], 20_000),
        ends("f5100", &[("failed_ports", "1"), ("failed_channels", "1")], 5_000),
        ends("disk-array", &[], 5_000),
        ends(
            "disk-array",
            &[("failed_modules", "1"), ("rebuilding", "1"), ("write_cache", "20"), ("variation", "0.5")],
            5_000,
        ),
        ends(
            "flash-array-2d",
            &[("failed_paths", "3"), ("policy", "1"), ("power_loss_at", "0.01"), ("power_loss", "0.01")],
            20_000,
        ),
    ];
    assert_eq!(
        seen,
        [
            5_079_543_583_821_022_795,
            6_456_995_420_348_139_728,
            14_900_950_844_333_513_836,
            11_169_858_753_829_355_787,
            12_962_468_888_246_889_170
        ]
    );
}

#[test]
fn devices_end_as_their_seed_says() {
    let names = model::models().iter().map(|model| model.name).filter(|name| !name.contains("array"));
    let seen: Vec<(&str, u64)> = names
        .filter(|name| {
            let text = model::models().iter().find(|model| model.name == *name).unwrap().text;
            let described = model::file::read(name, text).unwrap_or_else(|problems| panic!("{problems}"));
            model::modules(&described).is_some() || model::transactions(&described)
        })
        .map(|name| {
            (
                name,
                ends(
                    name,
                    if name.contains("mirror") || name.contains("pair") { &[("source_cores", "16")] } else { &[] },
                    6_000,
                ),
            )
        })
        .collect();
    assert_eq!(
        seen,
        [
            ("f5100", 2_230_326_021_718_763_624),
            ("s824-fs840", 11_131_470_575_096_661_301),
            ("power770-san", 18_080_292_120_259_384_105),
            ("small-server", 10_715_111_498_084_567_358),
            ("mirror-case1", 6_957_081_804_900_623_219),
            ("mirror-case2", 11_225_682_505_824_488_123),
            ("mirror-case3", 15_070_534_724_759_738_966),
            ("nand-device", 10_855_228_545_007_780_949),
            ("disk-15k", 9_133_353_990_931_851_634),
            ("tiered", 12_007_523_991_712_217_623),
            ("this-machine", 17_946_065_594_937_560_085),
            ("z-ds8300", 5_194_629_925_318_333_331),
            ("power550-mixed", 12_107_721_614_112_658_036),
            ("power550-bw", 7_171_162_736_216_579_122),
        ]
    );
}
