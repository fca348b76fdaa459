//! What this machine lets the load generator and its models do at most.
//!
//! What it does not do: it measures nothing; the engine does.

use crate::words;

/// What the generator can do, measured on a null system before the run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Ceiling {
    /// One operation through load machine, driver and recorder, nanoseconds.
    pub null_operation_ns: f64,
    /// One reading of the clock, nanoseconds.
    pub clock_read_ns: f64,
    /// How late the generator issues at p99 under an open load, nanoseconds.
    pub lateness_p99_ns: f64,
    /// How far the arrivals issued are from those asked for, percent.
    pub open_rate_error_pct: f64,
}

/// One way to an answer, timed.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelCeiling {
    /// Its name.
    pub path: &'static str,
    /// What was timed, in words.
    pub what: &'static str,
    /// Unit of the figures.
    pub unit: CeilingUnit,
    /// The figure; none when the model could not be run.
    pub value: Option<f64>,
    /// What it is meant to reach: at most such a time, at least so many a second.
    pub aim: f64,
}

impl ModelCeiling {
    /// Whether it reaches what it is meant to.
    pub fn reached(&self) -> bool {
        self.value.is_some_and(|value| if self.unit.is_time() { value <= self.aim } else { value >= self.aim })
    }
}

words! {
    /// Units of such figures.
    pub enum CeilingUnit {
        Microseconds = "us" "Microseconds.",
        Seconds = "s" "Seconds.",
        PerSecond = "1/s" "Of something a second.",
    }
}

impl CeilingUnit {
    /// Whether it is a time, of which less is better.
    pub fn is_time(self) -> bool {
        self != CeilingUnit::PerSecond
    }
}

/// One operation alone, by one driver of storage.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DriverCost {
    /// From one operation to the next.
    pub time_ns: f64,
    /// CPU of its thread.
    pub cpu_ns: f64,
}

words! {
    /// What carries operations to storage.
    pub enum Carrier {
        Ring = "io_uring" "A ring of the kernel.",
        Plain = "pread" "Calls that return when the operation has ended.",
    }
}

/// One operation alone, by either driver of storage: the medians of many turns.
#[derive(Clone, Debug, PartialEq)]
pub struct Alone {
    /// Over io_uring.
    pub ring: DriverCost,
    /// By `pread`.
    pub plain: DriverCost,
    /// What carries single operations here.
    pub taken: Carrier,
}
