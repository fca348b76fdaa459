//! What a described machine must do when it is driven.

use super::*;
use crate::file;
use crate::machine::{Kind as Asked, Operation};
use crate::models;
use crate::rows;
use units::Nanos;

fn shipped(name: &str) -> Description {
    let text = models().iter().find(|model| model.name == name).unwrap().text;
    file::read(name, text).unwrap()
}

fn device(overlap: f64) -> Description {
    let parameter = |name: &str, value: f64, unit: &str| {
        format!("[parameters.{name}]\nvalue = {value}\nunit = \"{unit}\"\nfrom = \"given: this test\"\n")
    };
    let text = format!(
        "title = \"a device\"\nkind = \"queue-device\"\n{}{}{}",
        parameter("device_time", 80.0, "us"),
        parameter("overlap", overlap, "operations"),
        parameter("host_time", 20.0, "us"),
    );
    file::read("device", &text).unwrap()
}

/// Operations a second of a closed load over some simulated seconds.
fn rate(machine: &mut dyn Machine, outstanding: u32, seconds: u64) -> f64 {
    let operation = Operation { kind: Asked::Read, class: 0, module: 0, offset: 0, bytes: 4096 };
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
    for (overlap, outstanding) in [(1.0, 1), (3.5, 2), (3.5, 8), (6.0, 32)] {
        let described = device(overlap);
        let table = rows::read(&format!("row_id,outstanding,rate\na,{outstanding},1\n")).unwrap();
        let formal = described.answer(&table.rows[0], "rate").unwrap();
        let setting = Setting { modules: 1, slots: outstanding, seed: 11 };
        let simulated = rate(&mut *machine(&described, &setting).unwrap(), outstanding, 20);
        assert!((simulated / formal - 1.0).abs() < 0.01, "{overlap} {outstanding}: {simulated} against {formal}");
    }
}

#[test]
fn a_machine_has_no_more_modules_than_its_file_says() {
    let f5100 = shipped("f5100");
    assert_eq!(modules(&f5100), Some(80));
    let refused = machine(&f5100, &Setting { modules: 81, slots: 1, seed: 1 }).err().unwrap();
    assert_eq!(refused.to_string(), "the model `f5100` has 80 modules, got 81");
}

#[test]
fn a_kind_without_stations_says_so() {
    let refused = machine(&shipped("mirror-link"), &Setting { modules: 1, slots: 1, seed: 1 }).err().unwrap();
    assert!(refused.to_string().contains("a mirror-link, which has laws and no stations"), "{refused}");
}
