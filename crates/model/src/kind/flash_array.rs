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
use crate::array::{Array, Path, READ, WRITE, reached_over};
use crate::form::sustained::Burst;
use crate::rows::Row;
use workload::happening::{Happening, Part};

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

pub(super) const LAW: Law = Law {
    keys: &["shift"],
    held: &["pattern", "size"],
    places: &["shift_kb"],
    fits,
    happens,
    carries: Carries::Operations {
        modules: |values| (values.of("modules") - values.of("failed_modules")) as u32,
        module_bytes: |_| None,
        build: |_, values, setting| Ok(Box::new(Array::new(Path::of(values), setting.modules, setting.slots))),
    },
    ..Law::closed(ASKS, OF_STORAGE, answer)
};

/// Ports, modules and channels inside them fail; ports and modules come back.
fn happens(values: &Values, taking_part: u32) -> super::Happens {
    let modules = ((values.of("modules") - values.of("failed_modules")) as u32).min(taking_part);
    let ports = libm::ceil(values.of("modules") / values.of("modules_per_port")) as u32;
    let mut all = Vec::from(Happening::of_parts(Part::Port, ports));
    all.extend(Happening::of_parts(Part::Module, modules));
    all.push((Happening::Fail(Part::Channel, 0).word(), modules));
    all
}

/// How many times as many as keep a module busy there must be before it is full, where reads and writes take different times.
const FULL: f64 = 4.0;
/// A window that no one stated is taken for a minute, the length of the runs at most.
const MINUTE_S: f64 = 60.0;

fn answer(values: &Values, row: &Row, quantity: &str) -> Result<f64, Unanswered> {
    match quantity {
        "service-time" => {
            // With more outstanding an operation waits, and its time is no service time.
            if let Some(text) = row.text("outstanding").filter(|text| *text != "1") {
                return Err(Unanswered::unknown("outstanding", text, "1, or nothing"));
            }
            Ok(1e3 * Asked::of(values, row, "op")?.single_s())
        }
        _ => {
            let (rate, bytes) = rate(values, row)?;
            Ok(if quantity == "speed" { rate * bytes / 1e6 } else { rate })
        }
    }
}

/// What failed leaves at least one port, one module, and in every module data and parity.
fn fits(values: &Values) -> Result<(), (&'static str, String)> {
    let (modules, behind) = (values.of("modules"), values.of("modules_per_port"));
    let fewer = |name: &'static str, most: f64, of: &str| super::fewer(values, name, most, &format!("for {of}"));
    let ports = libm::ceil(modules / behind);
    let (channels, spared) = (values.of("channels"), values.of("channels").min(2.0));
    fewer("failed_modules", modules - 1.0, &format!("there are {modules} modules and one must be left"))?;
    fewer("failed_ports", ports - 1.0, &format!("there are {ports} ports and one must be left"))?;
    fewer("failed_channels", channels - spared, &format!("of {channels} channels data and parity must be left"))
}

/// Seconds under load before the window.
pub(super) fn warm_up_s(row: &Row) -> f64 {
    row.number("warm_up_s").unwrap_or(0.0).max(0.0)
}

/// What is asked of an array, and the parts that its simulation has too.
struct Asked {
    path: Path,
    read: f64,
    bytes: f64,
    /// By how much operations are off their natural alignment.
    shift: f64,
}

impl Asked {
    fn of(values: &Values, row: &Row, test: &str) -> Result<Asked, Unanswered> {
        let (read, bytes) = (reads(word(row, test)?, test)?, 1_024.0 * number(row, "transfer_kb")?);
        let path = Path::of(values);
        let shift = 1_024.0 * row.number("shift_kb").unwrap_or(0.0).max(0.0);
        Ok(Asked { path, read, bytes, shift })
    }

    /// The mean over reads and writes and over their places, in seconds.
    fn mixed(&self, ns: impl Fn(usize, (f64, f64)) -> f64) -> f64 {
        let places = self.path.sectors.places(self.bytes, self.shift);
        let (read, count) = (self.read, places.len() as f64);
        let mean = |(touched, times)| read * ns(READ, (touched, 1.0)) + (1.0 - read) * ns(WRITE, (touched, times));
        places.map(mean).sum::<f64>() / count / 1e9
    }

    /// Seconds by which operations take longer because the one before went the other way.
    fn turned_s(&self) -> f64 {
        2.0 * self.read * (1.0 - self.read) * self.path.turnaround_ns / 1e9
    }

    /// Seconds of an operation with no other under way.
    fn single_s(&self) -> f64 {
        self.mixed(|direction, sectors| self.path.single_ns(direction, sectors)) + self.turned_s()
    }

    /// Operations a second of one of so many modules, over which those outstanding are dealt out.
    fn module(&self, outstanding: Option<f64>, modules: f64) -> Result<f64, Unanswered> {
        let turn_s =
            self.mixed(|direction, (bytes, times)| self.path.module_ns(direction, bytes, times)) + self.turned_s();
        let (outstanding, single_s) = (outstanding.unwrap_or(f64::INFINITY), self.single_s());
        let each = outstanding / modules;
        let alone = outstanding <= 1.0 || each == 1.0;
        if self.read * (1.0 - self.read) > 0.0 && !alone && each * turn_s < FULL * single_s {
            return Err(Unanswered::Simulated("reads and writes at modules that are neither idle nor full"));
        }
        let rounds = |each: f64| (each / single_s).min(1.0 / turn_s);
        if !(1.0..1e6).contains(&each) {
            return Ok(rounds(each));
        }
        // Of operations that do not go into the modules some have one more.
        let (few, more) = (libm::floor(each), each.fract());
        Ok((1.0 - more) * rounds(few) + more * rounds(few + 1.0))
    }

    /// Operations a second of a port: its turns, in the busier direction.
    fn port(&self) -> f64 {
        let bytes = self.path.port_byte_ns * self.bytes * self.read.max(1.0 - self.read);
        1e9 / bytes.max(self.path.port_turn_ns)
    }

    /// Operations a second of one of so many modules behind a port, over a window: what a rested module takes beyond its
    /// sustained writes is credit.
    fn share(&self, module: f64, behind: f64, (warm_up_s, window_s): (f64, f64)) -> f64 {
        let most_per_s = module.min(self.port() / behind);
        let (sustained, credit) = self.path.sustained_writes;
        let writes = (1.0 - self.read).max(1e-12);
        let sustained_per_s = (sustained / writes).min(most_per_s);
        Burst { most_per_s, sustained_per_s, credit: credit / writes }.mean_behind(warm_up_s, window_s)
    }
}

/// Operations a second of all modules and ports together, and bytes of one. A machine that is asked for more modules than it
/// has is taken for one that has them; what failed is missing from either.
fn rate(values: &Values, row: &Row) -> Result<(f64, f64), Unanswered> {
    let (asked, modules) = (Asked::of(values, row, "test")?, number(row, "modules")?);
    let window = (warm_up_s(row), window_s(row.text("window").unwrap_or("unstated"))?);
    let (all, behind) = (values.of("modules").max(modules), values.of("modules_per_port"));
    let loaded = modules.min(all - values.of("failed_modules"));
    let module = asked.module(row.number("outstanding"), loaded)?;
    let port = |modules: f64| if modules > 0.0 { modules * asked.share(module, modules, window) } else { 0.0 };
    let full = libm::floor(loaded / behind);
    let rest = loaded - full * behind;
    let lost = values.of("failed_ports") as usize;
    if lost == 0 {
        return Ok((full * port(behind) + port(rest), asked.bytes));
    }
    let mut ports = vec![0.0; libm::ceil(all / behind) as usize];
    let own = (0..full as usize).map(|port| (port, behind)).chain([(full as usize, rest)]);
    for (own, modules) in own.filter(|(_, modules)| *modules > 0.0) {
        let over = reached_over(own, lost, ports.len());
        ports[over] += modules;
    }
    Ok((ports.into_iter().map(port).sum(), asked.bytes))
}

/// The share of reads that a test's name says.
pub(super) fn reads(name: &str, column: &str) -> Result<f64, Unanswered> {
    let known = "names with `read`, `write`, or `rw` and the percentage of reads";
    let unknown = || Unanswered::unknown(column, name, known);
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
    let unknown = || Unanswered::unknown("window", text, known);
    words.windows(2).find_map(length).ok_or_else(unknown)
}
