//! What the draws of a block workload decide.

use random::Lane;

/// A purpose; draws of different purposes are independent.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Purpose {
    Offset = 1,
    Direction = 2,
    Size = 3,
    Scatter = 4,
    Heat = 5,
    Tape = 6,
    Pool = 7,
    Payload = 8,
    Twin = 9,
}

impl Purpose {
    /// The draws for it on a module.
    #[inline]
    pub(crate) fn lane(self, seed: u64, module: u64) -> Lane {
        Lane::new(seed, module, self as u64)
    }
}
