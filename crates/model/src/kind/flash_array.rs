//! An array of flash modules behind ports.
//!
//! The one idea: modules add up until a port in front of them is full. A module overlaps operations up to a rate and moves
//! bytes up to a speed; a read that follows a write waits for it; what a rested module takes beyond its sustained write
//! rate is credit. A single operation has nothing to wait for: reads stream, writes go in the module's units.
//!
//! What failed is part of the question: modules that are gone, ports whose modules are reached over others, and channels
//! inside every module, whose stripe goes on narrower and slower.

use super::law::{Carries, Law};
use super::{OF_STORAGE, Unanswered, Values, number, word};
use crate::array::{Array, Path, Sectors, narrower, reached_over};
use crate::form::service_time::{Affine, Stepped};
use crate::form::sustained::Burst;
use crate::rows::Row;

super::asks! {
    counted "modules" "modules" 100_000.0 "flash modules";
    counted "modules_per_port" "modules" 10_000.0 "modules behind one port; they are filled up port by port";
    asked "module_reads" "1/s" 1.0 1e9 "random reads of 4 KB that a module completes at most";
    asked "module_writes" "1/s" 1.0 1e9 "random writes of 4 KB that a rested module completes at most";
    asked "turnaround" "us" 1e-4 1e6 "what an operation takes longer when the one before it was of the other direction";
    asked "module_read_speed" "MB/s" 0.01 1e6 "bytes that a module reads at most";
    asked "module_write_speed" "MB/s" 0.01 1e6 "bytes that a module writes at most";
    asked "port_operations" "1/s" 1.0 1e10 "operations that a port passes at most";
    asked "port_speed" "MB/s" 0.01 1e7 "bytes that a port passes at most, in each direction";
    asked "sustained_writes" "1/s" 1.0 1e9 "random writes of 4 KB that a module keeps up for ever";
    asked "write_credit" "operations" 1.0 1e12 "writes that a rested module takes beyond the sustained rate";
    asked "read_fixed" "us" 0.01 1e7 "a single read, whatever its size";
    asked "read_each" "us/KB" 1e-5 1e5 "a single read, for each KB";
    asked "write_fixed" "us" 0.01 1e7 "a single write, whatever its size";
    asked "write_each" "us/KB" 1e-5 1e5 "a single write, for each KB of the first unit";
    asked "write_unit" "KB" 0.5 1e6 "the unit in which a module writes";
    asked "write_unit_time" "us" 0.01 1e7 "each further unit of a single write";
    asked "sector" "KB" 0.0 1e6 "the unit in which modules read and write; 0 when nothing is known of it" or 0.0;
    asked "below_sector" "1" 1.0 1e3
        "how many times as long a write takes that is not whole sectors: they are read, changed and written" or 1.0;
    counted "channels" "channels" 1_000.0
        "channels of a module, one of them parity; 1 is a module without a stripe inside" or 10.0;
    maybe "failed_modules" "modules" 100_000.0 "modules that are gone: nothing reaches what they held";
    maybe "failed_ports" "ports" 100_000.0
        "ports lost, the first ones; the modules behind each are reached over one port that is left, which then serves both";
    maybe "failed_channels" "channels" 1_000.0
        "channels lost in every module: its stripe is narrower by so many, and slower";
}

pub(super) const LAW: Law = Law::closed(ASKS, OF_STORAGE, answer)
    .keys(&["shift"], &["pattern", "size"])
    .placed(&["shift_kb"])
    .fitting(fits)
    .carrying(Carries::Operations {
        modules: |values| (values.of("modules") - values.of("failed_modules")) as u32,
        module_bytes: |_| None,
        build: |_, values, setting| Ok(Box::new(Array::new(Path::of(values), setting.modules, setting.slots))),
    });

/// The size for which operation rates are given, KB.
const SMALL_KB: f64 = 4.0;
/// A window that no one stated is taken for a minute, the length of the runs at most.
const MINUTE_S: f64 = 60.0;

fn answer(values: &Values, row: &Row, quantity: &str) -> Result<f64, Unanswered> {
    match quantity {
        "service-time" => {
            // With more outstanding an operation waits, and its time is no service time.
            if let Some(text) = row.text("outstanding").filter(|text| *text != "1") {
                let (column, text) = ("outstanding".to_owned(), text.to_owned());
                return Err(Unanswered::Unknown { column, text, known: "1, or nothing" });
            }
            let kb = number(row, "transfer_kb")?;
            Ok(service_ms(values, reads(word(row, "op")?, "op")?, kb, shift_kb(row)))
        }
        _ => {
            let (rate, kb) = rate(values, row)?;
            Ok(if quantity == "speed" { rate * kb * 1024.0 / 1e6 } else { rate })
        }
    }
}

/// What failed leaves at least one port, one module, and in every module data and parity.
fn fits(values: &Values) -> Result<(), (&'static str, String)> {
    let (modules, behind) = (values.of("modules"), values.of("modules_per_port"));
    let fewer = |name: &'static str, most: f64, of: &str| {
        let got = values.of(name);
        let told = || (name, format!("at most {most}, for {of}, got {got}"));
        if got <= most { Ok(()) } else { Err(told()) }
    };
    let ports = libm::ceil(modules / behind);
    let (channels, spared) = (values.of("channels"), values.of("channels").min(2.0));
    fewer("failed_modules", modules - 1.0, &format!("there are {modules} modules and one must be left"))?;
    fewer("failed_ports", ports - 1.0, &format!("there are {ports} ports and one must be left"))?;
    fewer("failed_channels", channels - spared, &format!("of {channels} channels data and parity must be left"))
}

/// A single operation of pure reads or writes; of a mix, the mean.
fn service_ms(values: &Values, read: f64, kb: f64, shift_kb: f64) -> f64 {
    let (kb, times) = sectors(values, kb, shift_kb);
    let [slow_read, slow_write] = narrower(values);
    let reading = Affine { fixed_s: values.of("read_fixed"), per_byte_s: values.of("read_each") * slow_read };
    let first = Affine { fixed_s: values.of("write_fixed"), per_byte_s: values.of("write_each") * slow_write };
    let unit_s = values.of("write_unit_time") * slow_write;
    let writing = Stepped { first, unit_bytes: values.of("write_unit"), unit_s };
    // The laws keep the unit that they are given: microseconds and kilobytes here.
    (read * reading.seconds(kb) + (1.0 - read) * times * writing.seconds(kb)) / 1e3
}

/// Seconds under load before the window.
pub(super) fn warm_up_s(row: &Row) -> f64 {
    row.number("warm_up_s").unwrap_or(0.0).max(0.0)
}

/// How far off their alignment operations begin.
fn shift_kb(row: &Row) -> f64 {
    row.number("shift_kb").unwrap_or(0.0).max(0.0)
}

/// KB of the sectors that an operation touches, and how many times as long it takes if it writes.
fn sectors(values: &Values, kb: f64, shift_kb: f64) -> (f64, f64) {
    let (bytes, times) = Sectors::of(values).mean(1_024.0 * kb, 1_024.0 * shift_kb);
    (bytes / 1_024.0, times)
}

/// Operations a second of all modules, and the size of one in KB.
fn rate(values: &Values, row: &Row) -> Result<(f64, f64), Unanswered> {
    let (test, kb, modules) = (word(row, "test")?, number(row, "transfer_kb")?, number(row, "modules")?);
    let read = reads(test, "test")?;
    let window = (warm_up_s(row), window_s(row.text("window").unwrap_or("unstated"))?);
    let module = module_rate(values, read, sectors(values, kb, shift_kb(row)), window);
    let port = port_rate(values, read, kb);
    let most = behind_ports(values, modules, module, port);
    // Few outstanding leave modules idle: each round takes at least its single time.
    let rounds = |outstanding: f64| 1e3 * outstanding / service_ms(values, read, kb, shift_kb(row));
    Ok((row.number("outstanding").map_or(most, |outstanding| most.min(rounds(outstanding))), kb))
}

/// All that modules and ports give together. A machine that is asked for more modules than it has is taken for one that has
/// them; what failed is missing from either.
fn behind_ports(values: &Values, asked: f64, module: f64, port: f64) -> f64 {
    let (all, behind) = (values.of("modules").max(asked), values.of("modules_per_port"));
    let modules = asked.min(all - values.of("failed_modules"));
    let full = libm::floor(modules / behind);
    let rest = modules - full * behind;
    let lost = values.of("failed_ports") as usize;
    if lost == 0 {
        return full * (behind * module).min(port) + (rest * module).min(port);
    }
    let mut ports = vec![0.0; libm::ceil(all / behind) as usize];
    let loaded = (0..full as usize).map(|port| (port, behind)).chain([(full as usize, rest)]);
    for (own, modules) in loaded.filter(|(_, modules)| *modules > 0.0) {
        let over = reached_over(own, lost, ports.len());
        ports[over] += modules;
    }
    ports.iter().map(|modules| (modules * module).min(port)).sum()
}

/// One module, by what fills up first: its operations or its bytes.
fn module_rate(values: &Values, read: f64, (kb, times): (f64, f64), window: (f64, f64)) -> f64 {
    let [slow_read, slow_write] = narrower(values);
    let most = values.of("module_writes") / slow_write;
    let sustained = (values.of("sustained_writes") / slow_write).min(most);
    let writes = Burst { most_per_s: most, sustained_per_s: sustained, credit: values.of("write_credit") };
    let bytes_mb = kb * 1024.0 / 1e6;
    // Seconds of the module for one operation: the longer of the operation's own turn and of its bytes' way.
    let turn = |rate: f64, speed: f64| (1.0 / rate).max(bytes_mb / speed);
    let reading = slow_read * turn(values.of("module_reads"), values.of("module_read_speed"));
    let scaled = (kb / SMALL_KB).max(1.0);
    let small_writes = writes.mean_behind(window.0 * scaled, window.1 * scaled);
    let writing = times * turn(small_writes, values.of("module_write_speed") / slow_write);
    let changes = 2.0 * read * (1.0 - read);
    1.0 / (read * reading + (1.0 - read) * writing + changes * values.of("turnaround") / 1e6)
}

/// One port: operations, and bytes in the busier direction.
fn port_rate(values: &Values, read: f64, kb: f64) -> f64 {
    let busier = read.max(1.0 - read);
    values.of("port_operations").min(values.of("port_speed") * 1e6 / (kb * 1024.0 * busier))
}

/// The share of reads that a test's name says.
pub(super) fn reads(name: &str, column: &str) -> Result<f64, Unanswered> {
    let known = "names with `read`, `write`, or `rw` and the percentage of reads";
    let unknown = || Unanswered::Unknown { column: column.to_owned(), text: name.to_owned(), known };
    let mut parts = name.split(['_', '-', ' ']);
    if parts.clone().any(|part| part == "read") {
        return Ok(1.0);
    }
    if parts.clone().any(|part| part == "write") {
        return Ok(0.0);
    }
    let mixed = parts.find_map(|part| part.strip_prefix("rw")?.parse::<f64>().ok());
    mixed.filter(|percent| (0.0..=100.0).contains(percent)).map(|percent| percent / 100.0).ok_or_else(unknown)
}

/// Seconds of a window such as `maximum delivered, 1 minute`.
pub(super) fn window_s(text: &str) -> Result<f64, Unanswered> {
    if text == "unstated" {
        return Ok(MINUTE_S);
    }
    let known = "`unstated`, or a number of seconds, minutes or hours such as `sustained, 1 hour`";
    let words: Vec<&str> = text.split([' ', ',']).filter(|word| !word.is_empty()).collect();
    let length = |pair: &[&str]| {
        let unit = match pair[1].trim_end_matches('s') {
            "second" => 1.0,
            "minute" => 60.0,
            "hour" => 3_600.0,
            _ => return None,
        };
        Some(pair[0].parse::<f64>().ok()? * unit)
    };
    let unknown = || Unanswered::Unknown { column: "window".to_owned(), text: text.to_owned(), known };
    words.windows(2).find_map(length).ok_or_else(unknown)
}
