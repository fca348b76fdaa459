//! The four quantities that cross room borders.

use std::ops::{Add, AddAssign, Sub};

/// A length of time, or a moment on the clock of a run (nanoseconds since that clock started).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Nanos(pub u64);

impl Nanos {
    /// No time at all; also the moment at which a run's clock starts.
    pub const ZERO: Nanos = Nanos(0);
    /// The end of time: later than any moment a run can reach.
    pub const MAX: Nanos = Nanos(u64::MAX);

    /// Whole seconds.
    pub const fn from_secs(seconds: u64) -> Nanos {
        Nanos(seconds * 1_000_000_000)
    }

    /// Whole milliseconds.
    pub const fn from_millis(milliseconds: u64) -> Nanos {
        Nanos(milliseconds * 1_000_000)
    }

    /// Whole microseconds.
    pub const fn from_micros(microseconds: u64) -> Nanos {
        Nanos(microseconds * 1_000)
    }

    /// Seconds as a fraction; negative and not-a-number become zero, because a length of time is neither.
    pub fn from_seconds(seconds: f64) -> Nanos {
        Nanos((seconds * 1e9).round() as u64)
    }

    /// Seconds.
    pub fn seconds(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// Milliseconds.
    pub fn milliseconds(self) -> f64 {
        self.0 as f64 / 1e6
    }

    /// The difference, or zero when `earlier` is the later one.
    pub fn saturating_sub(self, earlier: Nanos) -> Nanos {
        Nanos(self.0.saturating_sub(earlier.0))
    }

    /// The sum, or the end of time.
    pub fn saturating_add(self, more: Nanos) -> Nanos {
        Nanos(self.0.saturating_add(more.0))
    }
}

impl Add for Nanos {
    type Output = Nanos;
    fn add(self, other: Nanos) -> Nanos {
        Nanos(self.0 + other.0)
    }
}

impl AddAssign for Nanos {
    fn add_assign(&mut self, other: Nanos) {
        self.0 += other.0;
    }
}

impl Sub for Nanos {
    type Output = Nanos;
    fn sub(self, other: Nanos) -> Nanos {
        Nanos(self.0 - other.0)
    }
}

/// A size in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(pub u64);

impl Bytes {
    /// Binary kilobytes (1024 bytes).
    pub const fn kib(n: u64) -> Bytes {
        Bytes(n << 10)
    }

    /// Binary megabytes (1024 KiB).
    pub const fn mib(n: u64) -> Bytes {
        Bytes(n << 20)
    }

    /// Binary gigabytes (1024 MiB).
    pub const fn gib(n: u64) -> Bytes {
        Bytes(n << 30)
    }
}

/// Events a second.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct PerSecond(pub f64);

/// A part of a whole: 0 is none, 1 is all.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Share(pub f64);
