//! A general array: host, I/O processors, paths, controllers with caches, and RAID groups of modules.
//!
//! The one idea: an operation asks every part of its way for some time, RAID says how often it asks the modules, and mean
//! value analysis says how many go round. What nobody waits for (destages, rebuilds) asks the same modules and so bounds what
//! lasts; what the write cache takes beyond that is credit.
//!
//! What it does not do: between one operation and saturation it takes times as exponential, so that a machine whose times do
//! not vary is faster than it says. Studies that ask for that, or for writes that a cache holds, are left to the simulation,
//! and so are a rebuild, a loss of power, and a transfer over so many rows that its own parts wait for each other.

use super::flash_array::{reads, window_s};
use super::law::{Carries, Law, Unbuilt};
use super::{OF_STORAGE, Unanswered, Values, number, one_each, word};
use crate::array::general::{General, Spec, SpecError, spec};
use crate::array::raid::{Level, Raid};
use crate::form::closed::{Part, parts};
use crate::form::slowest::slowest;
use crate::form::sustained::Burst;
use crate::rows::Row;
use crate::station::FIBRE_NS_PER_KM;
use units::Nanos;
use workload::happening::{self, Happening};

/// A second, in nanoseconds.
const S: f64 = 1e9;

super::asks! {
    counted "host_processors" "processors" 10_000.0 "processors of the host that begin operations";
    asked "host_time" "us" 1e-3 1e7 "one of them, for an operation";
    counted "io_processors" "processors" 10_000.0 "I/O processors of the host";
    asked "io_time" "us" 1e-3 1e7 "one of them, for an operation";
    counted "paths" "paths" 10_000.0
        "paths, each a channel, a port and a link of its own, dealt out to the controllers in turn";
    chosen "policy" 2.0
        "the path that an operation takes: 0 in turn, 1 the one with the fewest under way, 2 in turn among those of the controller that owns the group" or 0.0;
    chosen "waits" 1.0
        "an operation without a path, or whose array lost its power: 1 waits and goes again, 0 fails" or 1.0;
    asked "channel_operations" "1/s" 1.0 1e10 "operations that a channel passes at most";
    asked "port_operations" "1/s" 1.0 1e10 "operations that a port passes at most";
    asked "link_speed" "MB/s" 0.01 1e7 "bytes that a link passes at most, in each direction";
    asked "distance_km" "km" 0.0 20_000.0 "fibre between host and controllers" or 0.0;
    counted "controllers" "controllers" 64.0 "controllers; groups belong to them in turn";
    counted "controller_processors" "processors" 10_000.0 "processors of a controller";
    asked "controller_time" "us" 1e-3 1e7 "one of them, for an operation";
    asked "write_weight" "1" 1e-3 1e3
        "priority of writes: their weight beside reads where both wait for a controller" or 1.0;
    asked "write_cap" "share" 1e-3 1.0 "share of the controllers that writes have at most while reads wait" or 1.0;
    asked "read_hits" "share" 0.0 1.0 "reads that the cache answers";
    asked "write_cache" "MB" 0.0 65_536.0 "writes that the cache holds; 0 sends writes through";
    asked "high_watermark" "share" 0.0 1.0 "destaging begins when so much of the write cache is full" or 0.5;
    asked "low_watermark" "share" 0.0 1.0 "and ends here" or 0.2;
    counted "destages" "operations" 10_000.0 "writes that are destaged at once";
    asked "mirror_speed" "MB/s" 0.01 1e7
        "bytes that a controller sends to the other one, for every write that its cache promises";
    counted "groups" "groups" 10_000.0 "RAID groups; a group is a module of a study";
    maybe "level" "level" 10.0 "RAID level: 0, 1, 5, 6 or 10" or 5.0;
    counted "members" "modules" 64.0 "modules of a group";
    asked "stripe_unit" "KB" 0.5 1e6 "stripe unit, a power of two";
    counted "module_overlap" "operations" 10_000.0 "operations that a module works on at once";
    asked "read_fixed" "us" 1e-3 1e7 "a read of a module, whatever its size";
    asked "write_fixed" "us" 1e-3 1e7 "a write of a module, whatever its size";
    asked "module_read_speed" "MB/s" 0.01 1e6 "bytes that each of its operations reads";
    asked "module_write_speed" "MB/s" 0.01 1e6 "bytes that each of its operations writes";
    asked "variation" "share" 0.0 2.0 "coefficient of variation of these times" or 0.0;
    asked "head_start" "ms" 0.0 1e6
        "waiting that the foreground need not have done to go before destages, and these before rebuilds" or 10.0;
    counted "channels" "channels" 1_000.0
        "channels of a module, one of them parity; 1 is a module without a stripe inside" or 1.0;
    asked "module_size" "GB" 0.001 1e6 "bytes of a module that a rebuild makes again";
    asked "rebuild_speed" "MB/s" 0.01 1e6 "bytes of a spare that a rebuild makes at most";
    counted "rebuild_rows" "rows" 10_000.0 "rows that are made at once" or 4.0;
    maybe "failed_paths" "paths" 10_000.0 "paths lost with their ports, the first ones";
    maybe "failed_controllers" "controllers" 64.0
        "controllers lost with their paths, the last ones; with one left, writes go through its cache";
    maybe "failed_modules" "modules" 65_536.0 "modules lost, one of each group in turn; their groups are degraded";
    maybe "failed_channels" "channels" 1_000.0
        "channels lost in every module: its stripe is narrower by so many, and slower";
    chosen "rebuilding" 1.0
        "whether lost modules are made again on spares meanwhile, one after the other: 1 they are, 0 they are not" or 0.0;
    asked "power_loss_at" "s" 0.0 1e9
        "when the array loses its power, from the beginning of a trial with its warm-up" or 0.0;
    asked "power_loss" "s" 0.0 1e9 "for how long; 0 is never. The closed form has none, and refuses" or 0.0;
}

pub(super) const LAW: Law = Law {
    // Which member of a group an operation asks follows from its place.
    keys: &["pattern", "offsets", "shift", "range", "size"],
    fits,
    happens,
    carries: Carries::Operations {
        modules: |values| values.of("groups") as u32,
        module_bytes: |_| None,
        build: |name, values, setting| match General::of(values, setting.slots, setting.seed) {
            Ok(array) => Ok(Box::new(array)),
            Err(error) => Err(Unbuilt::Parts { name, why: error.to_string() }),
        },
    },
    ..Law::closed(ASKS, OF_STORAGE, answer)
};

/// Paths, controllers, modules and channels inside them fail, spares come in, and firmware is updated.
fn happens(values: &Values, _: u32) -> super::Happens {
    let (count, modules) = (|name: &str| values.of(name) as u32, spec(values).numbered());
    let mut all = Vec::from(Happening::of_parts(happening::Part::Path, count("paths")));
    all.extend(Happening::of_parts(happening::Part::Controller, count("controllers")));
    all.extend(
        [happening::Part::Module, happening::Part::Channel].map(|part| (Happening::Fail(part, 0).word(), modules)),
    );
    all.extend([Happening::Spare, Happening::Firmware(Nanos::ZERO)].map(|one| (one.word(), 1)));
    all
}

/// The parameter that is to be changed when the parts cannot be built.
fn blamed(error: &SpecError) -> &'static str {
    match error {
        SpecError::Raid(_) => "members",
        SpecError::Watermarks { .. } => "low_watermark",
        _ => "groups",
    }
}

/// What failed leaves a path, and no group loses what it held; and the parts can be built.
fn fits(values: &Values) -> Result<(), (&'static str, String)> {
    let level = values.of("level");
    if Level::of(level as u32).is_none() {
        return Err(("level", format!("0, 1, 5, 6 or 10, got {level}")));
    }
    let unit = 1_024.0 * values.of("stripe_unit");
    if unit.fract() != 0.0 || !(unit as u32).is_power_of_two() {
        return Err(("stripe_unit", format!("a power of two, got {}", values.of("stripe_unit"))));
    }
    spec(values).check().map_err(|error| (blamed(&error), error.to_string()))?;
    let (members, groups) = (values.of("members"), values.of("groups"));
    let spared = match level as u32 {
        0 => 0.0,
        1 => members - 1.0,
        5 => 1.0,
        6 => 2.0,
        _ => members / 2.0,
    };
    let (channels, kept) = (values.of("channels"), values.of("channels").min(2.0));
    let fewer = |name: &'static str, most: f64, why: &str| super::fewer(values, name, most, why);
    fewer("failed_modules", spared * groups, &format!("or some group of RAID {level} loses what it holds"))?;
    fewer("failed_channels", channels - kept, "for data and parity must be left")?;
    fewer("failed_controllers", values.of("controllers") - 1.0, "for one controller must be left")?;
    if paths_left(values).iter().sum::<f64>() < 1.0 {
        return Err(("failed_paths", "one path to a controller that is left, got none".to_owned()));
    }
    Ok(())
}

/// Paths that are left, by controller that is left.
fn paths_left(values: &Values) -> Vec<f64> {
    let controllers = values.of("controllers") as usize;
    let mut left = vec![0.0; controllers - (values.of("failed_controllers") as usize).min(controllers - 1)];
    for path in values.of("failed_paths") as usize..values.of("paths") as usize {
        if let Some(paths) = left.get_mut(path % controllers) {
            *paths += 1.0;
        }
    }
    left
}

fn answer(values: &Values, row: &Row, quantity: &str) -> Result<f64, Unanswered> {
    if values.of("power_loss") > 0.0 {
        return Err(Unanswered::Simulated("a loss of power"));
    }
    if values.of("rebuilding") > 0.0 && values.of("failed_modules") > 0.0 {
        return Err(Unanswered::Simulated("the work of a rebuild"));
    }
    let single = quantity == "service-time";
    if single {
        one_each(row)?;
    }
    let (test, outstanding) = if single { ("op", Some(1.0)) } else { ("test", row.number("outstanding")) };
    let groups = if single { row.number("modules").unwrap_or(f64::INFINITY) } else { number(row, "modules")? };
    let (read, bytes) = (reads(word(row, test)?, test)?, 1_024.0 * number(row, "transfer_kb")?);
    let asked = Load { read, bytes, groups: groups.min(values.of("groups")) };
    // A study can be simulated, and the form is no better than it says between one outstanding and saturation.
    let between = outstanding.is_some_and(|outstanding| outstanding > 1.0 && outstanding != groups);
    if row.number("warm_up_s").is_some() && (between || asked.read < 1.0 && !asked.through(values)) {
        return Err(Unanswered::Simulated("writes that a cache holds, and modules that are neither idle nor full"));
    }
    if outstanding.is_some_and(|outstanding| outstanding <= groups) && asked.waits_for_itself(values) {
        return Err(Unanswered::Simulated("transfers whose own parts wait for each other at a module"));
    }
    if single {
        return Ok(1e3 * asked.single_s(values));
    }
    let rate = asked.rate(values, outstanding, window_s(row.text("window").unwrap_or("unstated"))?);
    Ok(if quantity == "speed" { rate * asked.bytes / 1e6 } else { rate })
}

/// What is asked of an array.
#[derive(Clone, Copy, Debug)]
struct Load {
    /// Share of reads.
    read: f64,
    bytes: f64,
    /// Groups that are loaded, all alike.
    groups: f64,
}

/// What an operation behind the controllers takes: seconds of modules in sum, and seconds in which it is there alone.
#[derive(Clone, Copy, Debug, Default)]
struct Behind {
    work_s: f64,
    latency_s: f64,
}

impl Load {
    /// Operations a second, over groups of which the first ones are degraded. Each group has its part of those outstanding,
    /// and goes on as if all were like it.
    fn rate(&self, values: &Values, outstanding: Option<f64>, window_s: f64) -> f64 {
        // Without a number there are always enough.
        let population = outstanding.unwrap_or(1e5).clamp(1.0, 1e5) as u32;
        if population == 1 && (self.read == 1.0 || self.through(values)) {
            return 1.0 / self.single_s(values);
        }
        let mut rate = 0.0;
        for (lost, share) in self.degraded(values) {
            if share > 0.0 {
                let front = self.front(values, population, lost);
                let writes = self.bytes / self.bytes.max(4_096.0) * values.of("write_cache") * 1e6 / self.bytes;
                let credit = if self.through(values) { 0.0 } else { writes / (1.0 - self.read).max(1e-9) };
                let lasting = self.lasting(values, lost).min(front);
                rate += share * Burst { most_per_s: front, sustained_per_s: lasting, credit }.mean_over(window_s);
            }
        }
        rate
    }

    /// Seconds of an operation with no other under way, which goes to each group in turn.
    fn single_s(&self, values: &Values) -> f64 {
        let alone = Load { groups: 1.0, ..*self };
        let groups = self.degraded(values).into_iter().filter(|(_, share)| *share > 0.0);
        groups.map(|(lost, share)| share / alone.front(values, 1, lost)).sum()
    }

    /// How many modules groups have lost, and the share of the loaded groups that lost so many: the first ones have lost one more.
    fn degraded(&self, values: &Values) -> [(u32, f64); 2] {
        let (groups, failed) = (values.of("groups"), values.of("failed_modules"));
        let worse = (failed % groups).min(self.groups) / self.groups;
        let all = libm::floor(failed / groups) as u32;
        [(all + 1, worse), (all, 1.0 - worse)]
    }

    /// Whether writes wait for modules: none are held, this one is too large, or only one of several controllers is left.
    fn through(&self, values: &Values) -> bool {
        let left = paths_left(values).len() as f64;
        left < values.of("controllers").min(2.0) || self.bytes > values.of("write_cache") * 1e6
    }

    /// Operations a second of so many outstanding, by the parts for which they wait.
    fn front(&self, values: &Values, population: u32, lost: u32) -> f64 {
        let spec = spec(values);
        let s = |ns: u64| ns as f64 / S;
        let by_controller = paths_left(values);
        let paths: f64 = by_controller.iter().sum();
        let busiest = by_controller.iter().fold(0.0f64, |most, paths| most.max(*paths)) / paths;
        let one = |count: f64, seconds: f64| Part::of(count, 1.0, seconds, seconds);
        let several = |count: f64, (servers, ns): (u32, u64)| Part::of(count, f64::from(servers), s(ns), s(ns));
        let link = self.bytes / spec.link_bytes_per_s;
        let mut way = vec![
            several(1.0, spec.host),
            several(1.0, spec.processors),
            one(paths, s(spec.channel_ns)),
            one(paths, s(spec.port_ns)),
            one(paths, (1.0 - self.read) * link),
            one(paths, self.read * link),
            several(1.0 / busiest, spec.controller),
        ];
        let misses = self.read * (1.0 - spec.cache.read_hits);
        let [reading, writing] = self.behind(&spec, lost, f64::from(population) <= self.groups);
        let mut behind = Behind { work_s: misses * reading.work_s, latency_s: misses * reading.latency_s };
        if self.through(values) {
            behind.work_s += (1.0 - self.read) * writing.work_s;
            behind.latency_s += (1.0 - self.read) * writing.latency_s;
        } else {
            way.push(one(1.0 / busiest, (1.0 - self.read) * self.bytes / spec.cache.mirror_bytes_per_s));
        }
        let overlap = f64::from(spec.modules.overlap);
        way.push(Part::of(self.groups * f64::from(spec.members - lost), overlap, behind.work_s, behind.latency_s));
        // Each group keeps what it has outstanding, and has its part of everything.
        let apart = self.groups.min(f64::from(population));
        let population = libm::round(f64::from(population) / apart) as u32;
        let way: Vec<Part> = way.into_iter().map(|part| part.among(apart)).collect();
        apart * parts(population, 2.0 * spec.link_km * FIBRE_NS_PER_KM / S, &way).rate_per_s
    }

    /// Operations a second for ever, when the write cache is full: its destages go round between the modules that reads leave
    /// them, and a write comes in for each that is done. Without a cache, what modules carry.
    fn lasting(&self, values: &Values, lost: u32) -> f64 {
        let spec = spec(values);
        let [reading, writing] = self.behind(&spec, lost, false);
        let (modules, overlap) = (self.groups * f64::from(spec.members - lost), f64::from(spec.modules.overlap));
        let of_reads = self.read * (1.0 - spec.cache.read_hits) * reading.work_s;
        let most = modules * overlap / (of_reads + (1.0 - self.read) * writing.work_s);
        if self.through(values) || self.read == 1.0 {
            return most;
        }
        let destaged = |rate: f64| {
            let slower = 1.0 / (1.0 - rate * of_reads / (modules * overlap)).max(1e-6);
            let part = Part::of(modules, overlap, writing.work_s * slower, writing.latency_s * slower);
            parts(spec.cache.destages, 0.0, &[part]).rate_per_s
        };
        let (mut low, mut high) = (0.0, most);
        for _ in 0..40 {
            let middle = 0.5 * (low + high);
            if destaged(middle) > middle * (1.0 - self.read) { low = middle } else { high = middle }
        }
        low
    }

    /// What a read and a write, alone or among others, ask of the modules of a group with so many lost, over all places in a row.
    fn behind(&self, spec: &Spec, lost: u32, alone: bool) -> [Behind; 2] {
        let Ok(raid) = spec.check() else { return [Behind::default(); 2] };
        [false, true].map(|write| self.mean(&raid, spec, (write, alone), members(spec, lost)))
    }

    /// Where operations begin. Rows repeat when parity has gone round; of large groups some places stand for all.
    fn places(&self, raid: &Raid) -> impl ExactSizeIterator<Item = u64> {
        let step = self.bytes.max(f64::from(raid.unit())) as u64;
        (0..(raid.members() * raid.data()).min(512)).map(move |place| u64::from(place) * step)
    }

    /// Whether some operation asks a module for more at once than that works on, as it goes over several rows.
    fn waits_for_itself(&self, values: &Values) -> bool {
        let spec = spec(values);
        let Ok(raid) = spec.check() else { return false };
        let sides = [self.read > 0.0, self.read < 1.0 && self.through(values)];
        let waits = |(lost, _)| {
            let lost = members(&spec, lost);
            let asked = |write| self.places(&raid).map(move |place| raid.most(write, place, self.bytes as u32, lost));
            [false, true]
                .into_iter()
                .zip(sides)
                .any(|(write, is_asked)| is_asked && asked(write).any(|most| most > spec.modules.overlap))
        };
        self.bytes > f64::from(raid.unit())
            && self.degraded(values).into_iter().filter(|state| state.1 > 0.0).any(waits)
    }

    fn mean(&self, raid: &Raid, spec: &Spec, (write, alone): (bool, bool), lost: u64) -> Behind {
        let places = self.places(raid);
        let [reading, writing] = seconds(spec, self.bytes.min(f64::from(raid.unit())));
        let mut sum = Behind::default();
        // Modules that work side by side are done with the slowest; places of a kind ask for the same numbers of them. Among
        // others that is left out: it is about as much as taking all times as exponential adds to their waits.
        let variation = if alone { spec.modules.variation } else { 0.0 };
        let mut known = [(0, 0.0); 2];
        let mut side_by_side = |phase: usize, modules: u32| {
            if known[phase].0 != modules {
                known[phase] = (modules, slowest(modules, variation));
            }
            known[phase].1
        };
        let count = places.len() as f64;
        for place in places {
            let (reads, writes) = raid.cost(write, place, self.bytes as u32, lost).unwrap_or((0, 0));
            sum.work_s += f64::from(reads) * reading + f64::from(writes) * writing;
            sum.latency_s += side_by_side(0, reads) * reading + side_by_side(1, writes) * writing;
        }
        Behind { work_s: sum.work_s / count, latency_s: sum.latency_s / count }
    }
}

/// So many lost members of a group, as bits: the first ones, of pairs the first of each.
fn members(spec: &Spec, lost: u32) -> u64 {
    let apart = if spec.level == Level::Raid10 { 2 } else { 1 };
    (0..lost).fold(0, |lost, member| lost | 1u64 << (apart * member))
}

/// Seconds of a module for a read and for a write of so many bytes.
fn seconds(spec: &Spec, bytes: f64) -> [f64; 2] {
    [0, 1].map(|side| (spec.modules.fixed_ns[side] as f64 + spec.modules.byte_ns[side] * bytes) / S)
}
