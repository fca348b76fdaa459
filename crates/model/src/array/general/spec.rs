//! The numbers of a general array.

use super::array::General;
use super::changes::Change;
use super::paths::Policy;
use crate::array::raid::{Level, Raid, RaidError, Stripe};
use crate::asked::Values;
use crate::station::Share;
use units::Nanos;

/// What an array is built of. Times are those of one operation at one server.
#[derive(Clone, Debug, PartialEq)]
pub struct Spec {
    /// Processors of the host, and nanoseconds of one for an operation.
    pub host: (u32, u64),
    /// I/O processors, and nanoseconds of one for an operation.
    pub processors: (u32, u64),
    /// Paths, each a channel, a port and a link of its own.
    pub paths: u32,
    /// How a path is chosen.
    pub policy: Policy,
    /// Whether an operation without a path, or whose array lost its power, waits and goes again; else it fails.
    pub waits: bool,
    /// Nanoseconds of a channel for an operation: its operations limit, turned over.
    pub channel_ns: u64,
    /// Nanoseconds of a port for an operation.
    pub port_ns: u64,
    /// Bytes a second of a path's link, in each direction.
    pub link_bytes_per_s: f64,
    /// Its length.
    pub link_km: f64,
    /// Controllers; paths and groups are dealt out to them in turn.
    pub controllers: u32,
    /// Processors of a controller, and nanoseconds of one for an operation.
    pub controller: (u32, u64),
    /// Shares of the controllers by class of operation; the last one is for all classes beyond.
    pub shares: Vec<Share>,
    /// The cache.
    pub cache: Cache,
    /// RAID groups.
    pub groups: u32,
    /// The level of each.
    pub level: Level,
    /// Modules of each.
    pub members: u32,
    /// Stripe unit, bytes.
    pub unit_bytes: u32,
    /// The modules.
    pub modules: Modules,
    /// How a lost module is made again on a spare.
    pub rebuild: Rebuild,
}

impl Spec {
    /// Group and member of a module by its number: one of each group in turn, and of mirrored pairs the one first.
    pub(super) fn place(&self, number: u32) -> (u32, u32) {
        (number % self.groups, self.apart() * (number / self.groups))
    }

    /// Modules that have a number.
    pub fn numbered(&self) -> u32 {
        self.groups * (self.members / self.apart())
    }

    fn apart(&self) -> u32 {
        if self.level == Level::Raid10 { 2 } else { 1 }
    }
}

/// Caches of the controllers.
#[derive(Clone, Debug, PartialEq)]
pub struct Cache {
    /// Share of reads that the cache answers.
    pub read_hits: f64,
    /// Bytes of writes that it holds; 0 sends writes through.
    pub write_bytes: u64,
    /// Destaging begins at this share of them.
    pub high: f64,
    /// It ends at this one.
    pub low: f64,
    /// Writes that are destaged at once.
    pub destages: u32,
    /// Bytes a second of the link between the controllers, over which a write is mirrored.
    pub mirror_bytes_per_s: f64,
}

/// Modules behind the controllers.
#[derive(Clone, Debug, PartialEq)]
pub struct Modules {
    /// Operations that one overlaps.
    pub overlap: u32,
    /// Nanoseconds of a read and of a write, whatever their size.
    pub fixed_ns: [u64; 2],
    /// Nanoseconds for a byte of each.
    pub byte_ns: [f64; 2],
    /// Coefficient of variation of these times.
    pub variation: f64,
    /// Channels of the stripe inside, one of them parity.
    pub channels: u32,
    /// Nanoseconds that a foreground operation need not have waited to go before a destage, and a destage before a rebuild.
    pub head_start_ns: u64,
}

/// How a lost module is made again.
#[derive(Clone, Debug, PartialEq)]
pub struct Rebuild {
    /// Bytes of a module that are made again.
    pub module_bytes: u64,
    /// Bytes a second of the spare, at most.
    pub bytes_per_s: f64,
    /// Rows that are made at once.
    pub rows: u32,
    /// Modules that can take the place of lost ones; a group whose module finds none stays degraded.
    pub spares: u32,
}

/// An array that nobody can build.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[allow(missing_docs, reason = "each message says what its parts are")]
pub enum SpecError {
    /// A number outside of its range.
    #[error("{what} is {range}, got {got}")]
    Range { what: &'static str, range: &'static str, got: f64 },
    /// A low watermark above the high one.
    #[error("the low watermark is at most the high one, {high}, got {low}")]
    Watermarks { low: f64, high: f64 },
    /// More modules than have a number.
    #[error("groups times members is at most {MODULES} modules, got {groups} times {members}")]
    Modules { groups: u32, members: u32 },
    /// A group that is none.
    #[error(transparent)]
    Raid(#[from] RaidError),
}

/// Modules have numbers of sixteen bits.
const MODULES: u32 = 1 << 16;

impl Spec {
    /// Whether it can be built; its RAID groups.
    ///
    /// # Errors
    /// Names the first number that makes no sense.
    pub fn check(&self) -> Result<Raid, SpecError> {
        let count = |what, got: u32| (what, "1 to 10000", f64::from(got), (1..=10_000).contains(&got));
        let speed = |what, got: f64| (what, "a number above 0", got, got > 0.0 && got.is_finite());
        let share = |what, got: f64| (what, "0 to 1", got, (0.0..=1.0).contains(&got));
        let each_byte =
            |got: f64| ("nanoseconds of a module for a byte", "0 to 1000000", got, (0.0..=1e6).contains(&got));
        let ranges = [
            count("number of host processors", self.host.0),
            count("number of I/O processors", self.processors.0),
            count("number of paths", self.paths),
            ("number of controllers", "1 to 64", f64::from(self.controllers), (1..=64).contains(&self.controllers)),
            count("number of processors of a controller", self.controller.0),
            count("number of classes", self.shares.len() as u32),
            count("number of RAID groups", self.groups),
            count("overlap of a module", self.modules.overlap),
            count("number of channels of a module", self.modules.channels),
            count("number of destages at once", self.cache.destages),
            count("number of rows rebuilt at once", self.rebuild.rows),
            speed("bytes a second of a link", self.link_bytes_per_s),
            speed("bytes a second between controllers", self.cache.mirror_bytes_per_s),
            speed("bytes a second of a rebuild", self.rebuild.bytes_per_s),
            ("kilometres of a link", "0 to 100000", self.link_km, (0.0..=1e5).contains(&self.link_km)),
            each_byte(self.modules.byte_ns[0]),
            each_byte(self.modules.byte_ns[1]),
            share("share of read hits", self.cache.read_hits),
            share("high watermark", self.cache.high),
            share("low watermark", self.cache.low),
        ];
        if let Some((what, range, got, _)) = ranges.into_iter().find(|(.., fine)| !fine) {
            return Err(SpecError::Range { what, range, got });
        }
        let Cache { low, high, .. } = self.cache;
        if low > high {
            return Err(SpecError::Watermarks { low, high });
        }
        let (groups, members) = (self.groups, self.members);
        if u64::from(groups) * u64::from(members) > u64::from(MODULES) {
            return Err(SpecError::Modules { groups, members });
        }
        let wrong = |share: &&Share| !(share.weight > 0.0 && share.cap > 0.0 && share.cap <= 1.0);
        if let Some(share) = self.shares.iter().find(wrong) {
            let got = if share.weight > 0.0 { share.cap } else { share.weight };
            return Err(SpecError::Range { what: "weight or cap of a class", range: "above 0, a cap up to 1", got });
        }
        Ok(Raid::new(self.level, self.members, self.unit_bytes)?)
    }
}

// A general array from the parameters of its kind.

impl General {
    /// The array of a model, with what has failed in it before anything begins and the loss of power that is planned.
    ///
    /// # Errors
    /// When its parts make no sense.
    pub fn of(values: &Values, slots: u32, seed: u64) -> Result<General, SpecError> {
        let mut array = General::new(spec(values), slots, seed)?;
        let count = |name: &str| values.of(name) as u32;
        (0..count("failed_paths")).for_each(|path| array.plan(Nanos::ZERO, Change::PathLost(path)));
        let controllers = count("controllers");
        for controller in controllers - count("failed_controllers")..controllers {
            array.plan(Nanos::ZERO, Change::ControllerLost(controller));
        }
        for number in 0..count("failed_modules") {
            let (group, member) = array.spec.place(number);
            array.plan(Nanos::ZERO, Change::ModuleLost { group, member });
        }
        if values.of("power_loss") > 0.0 {
            let ns = |name: &str| Nanos::from_seconds(values.of(name));
            array.power_loss(ns("power_loss_at"), ns("power_loss"));
        }
        Ok(array)
    }
}

/// A second, in nanoseconds.
const S: f64 = 1e9;

/// The array that the parameters describe.
pub(crate) fn spec(values: &Values) -> Spec {
    let count = |name: &str| values.of(name) as u32;
    let ns = |name: &str| libm::round(1e3 * values.of(name)) as u64;
    let each = |name: &str| libm::round(S / values.of(name)) as u64;
    let bytes = |name: &str| 1e6 * values.of(name);
    let failed = count("failed_channels").min(count("channels"));
    let mut stripe = Stripe::new(count("channels"));
    (0..failed).for_each(|_| {
        stripe.lose();
    });
    let [slow_read, slow_write] = [stripe.reading(), stripe.writing()];
    let fixed = |name: &str, slower: f64| libm::round(1e3 * values.of(name) * slower) as u64;
    Spec {
        host: (count("host_processors"), ns("host_time")),
        processors: (count("io_processors"), ns("io_time")),
        paths: count("paths"),
        policy: [Policy::RoundRobin, Policy::LeastQueue, Policy::Preferred][count("policy").min(2) as usize],
        waits: values.of("waits") > 0.0,
        channel_ns: each("channel_operations"),
        port_ns: each("port_operations"),
        link_bytes_per_s: bytes("link_speed"),
        link_km: values.of("distance_km"),
        controllers: count("controllers"),
        controller: (count("controller_processors"), ns("controller_time")),
        shares: shares(values),
        cache: Cache {
            read_hits: values.of("read_hits"),
            write_bytes: bytes("write_cache") as u64,
            high: values.of("high_watermark"),
            low: values.of("low_watermark"),
            destages: count("destages"),
            mirror_bytes_per_s: bytes("mirror_speed"),
        },
        groups: count("groups"),
        level: Level::of(count("level")).unwrap_or(Level::Raid5),
        members: count("members"),
        unit_bytes: (1_024.0 * values.of("stripe_unit")) as u32,
        // A narrower stripe stands in the times, so that a spare of a rebuild is no whole module among narrower ones.
        modules: Modules {
            overlap: count("module_overlap"),
            fixed_ns: [fixed("read_fixed", slow_read), fixed("write_fixed", slow_write)],
            byte_ns: [
                1e3 / values.of("module_read_speed") * slow_read,
                1e3 / values.of("module_write_speed") * slow_write,
            ],
            variation: values.of("variation"),
            channels: if failed == 0 { count("channels") } else { 1 },
            head_start_ns: libm::round(1e6 * values.of("head_start")) as u64,
        },
        rebuild: Rebuild {
            module_bytes: (1e9 * values.of("module_size")) as u64,
            bytes_per_s: bytes("rebuild_speed"),
            rows: count("rebuild_rows"),
            spares: if values.of("rebuilding") > 0.0 { count("failed_modules") } else { 0 },
        },
    }
}

/// Classes of operations are reads, writes and the rest; where none is set apart there is one for all.
fn shares(values: &Values) -> Vec<Share> {
    let plain = Share { weight: 1.0, cap: 1.0 };
    let writes = Share { weight: values.of("write_weight"), cap: values.of("write_cap") };
    if writes == plain { vec![plain] } else { vec![plain, writes, plain] }
}
