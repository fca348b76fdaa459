//! The time of a single operation by its size.
//!
//! The one idea: reads stream, so their time is a fixed part and a part for each byte; a device that writes in units of its
//! own takes each further unit whole, so write time climbs in steps.

/// A fixed time, and one for each byte.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Affine {
    /// Whatever the size, seconds.
    pub fixed_s: f64,
    /// For each byte, seconds.
    pub per_byte_s: f64,
}

impl Affine {
    /// Seconds for one operation.
    pub fn seconds(&self, bytes: f64) -> f64 {
        self.fixed_s + self.per_byte_s * bytes
    }
}

/// Affine inside the first unit of the device; each unit more, begun or full, takes the time of a unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stepped {
    /// Up to the first unit.
    pub first: Affine,
    /// Bytes of a unit.
    pub unit_bytes: f64,
    /// Seconds for each unit behind the first.
    pub unit_s: f64,
}

impl Stepped {
    /// Seconds for one operation.
    pub fn seconds(&self, bytes: f64) -> f64 {
        let units = libm::ceil(bytes / self.unit_bytes).max(1.0);
        self.first.seconds(bytes.min(self.unit_bytes)) + (units - 1.0) * self.unit_s
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WRITE: Stepped =
        Stepped { first: Affine { fixed_s: 200e-6, per_byte_s: 10e-9 }, unit_bytes: 32_768.0, unit_s: 600e-6 };

    #[test]
    fn a_write_beyond_a_unit_takes_the_next_one_whole() {
        let us = |kb: f64| WRITE.seconds(kb * 1024.0) * 1e6;
        assert!((us(4.0) - 240.96).abs() < 1e-9);
        assert!((us(32.0) - 527.68).abs() < 1e-9);
        assert!((us(33.0) - 1_127.68).abs() < 1e-9, "one kilobyte more begins a second unit");
        assert_eq!(us(33.0), us(64.0));
    }
}
