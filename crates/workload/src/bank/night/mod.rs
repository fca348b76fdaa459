//! A bank's night.

/// Orders of the night are numbered from here, above all others.
pub const FIRST_ORDER: u64 = 1 << 53;
