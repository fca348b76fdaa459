//! What a tiered store is made of.

use crate::asked::Values;

/// One tier: alike places, each of which serves one operation after the other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Place {
    /// Places: disks, or parts of flash devices that work at once.
    pub count: u32,
    /// Mean time of an operation without its bytes, nanoseconds.
    pub time_ns: f64,
    /// Nanoseconds a byte.
    pub byte_ns: f64,
}

impl Place {
    /// Mean time of an operation of so many bytes, nanoseconds.
    pub fn mean_ns(&self, bytes: f64) -> f64 {
        self.time_ns + self.byte_ns * bytes
    }
}

/// Where data lies at the beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// The hottest on flash, but for what drifted since the mover looked: what it has settled at.
    Settled,
    /// By chance, so that the mover has everything to do.
    Chance,
}

/// A tiered store.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spec {
    /// The slow tier.
    pub disks: Place,
    /// The fast one.
    pub flash: Place,
    /// Parts of one flash device.
    pub ways: u32,
    /// Extents of data, which are moved whole.
    pub extents: u32,
    /// Bytes of one.
    pub extent_bytes: u64,
    /// How many of them the fast tier holds.
    pub fast: u32,
    /// The extent of rank `r` is asked for in proportion to `r` to the power of minus this; with 0, operations go where they say.
    pub skew: f64,
    /// Seconds after which the mover looks at what it has counted.
    pub period_s: f64,
    /// Periods over which counts are remembered.
    pub memory: f64,
    /// Bytes a second that it moves at most; with 0 it is off.
    pub mover_bytes_per_s: f64,
    /// How long a piece of an extent waits behind operations before it goes ahead of them, nanoseconds.
    pub head_start_ns: u64,
    /// Share of the extents whose heat is another after an hour.
    pub drift_per_hour: f64,
    /// Whether flash holds the blocks that were asked for last; nothing is moved then.
    pub cache: bool,
    /// Where data lies at the beginning.
    pub start: Start,
}

impl Spec {
    /// The store that a `tiered` model describes, settled.
    pub fn of(values: &Values) -> Spec {
        let extents = values.of("extents");
        let byte_ns = |name: &str| 1e3 / values.of(name);
        let ways = values.of("flash_ways") as u32;
        Spec {
            disks: Place {
                count: values.of("disks") as u32,
                time_ns: 1e6 * values.of("disk_time"),
                byte_ns: byte_ns("disk_speed"),
            },
            flash: Place {
                count: values.of("flash") as u32 * ways,
                time_ns: 1e3 * values.of("flash_time"),
                byte_ns: byte_ns("flash_speed"),
            },
            ways,
            extents: extents as u32,
            extent_bytes: (values.of("extent") * 1_048_576.0) as u64,
            fast: libm::round(extents * values.of("fast_share") / 100.0) as u32,
            skew: values.of("skew"),
            period_s: values.of("mover_period"),
            memory: values.of("mover_memory"),
            mover_bytes_per_s: 1e6 * values.of("mover_speed"),
            head_start_ns: (1e6 * values.of("head_start")) as u64,
            drift_per_hour: values.of("drift") / 100.0,
            cache: values.of("cache") >= 0.5,
            start: Start::Settled,
        }
    }

    /// Extents a second whose heat becomes another.
    pub fn drifting_per_s(&self) -> f64 {
        self.drift_per_hour * f64::from(self.extents) / 3_600.0
    }
}
