//! A link: bytes leave one after the other, and arrive a distance later.

use super::Watch;
use units::Nanos;

/// One direction of a link.
#[derive(Clone, Debug)]
pub struct Link {
    ns_per_byte: f64,
    distance: u64,
    free: u64,
    /// What of a nanosecond is owed from the last message.
    rest: f64,
    /// What it did.
    pub watch: Watch,
}

/// Light in fibre, nanoseconds a kilometre, one way.
pub const FIBRE_NS_PER_KM: f64 = 5_000.0;

impl Link {
    /// A link of so many bytes a second over so many kilometres of fibre.
    pub fn new(bytes_per_s: f64, km: f64) -> Link {
        let distance = libm::round(km * FIBRE_NS_PER_KM) as u64;
        Link { ns_per_byte: 1e9 / bytes_per_s, distance, free: 0, rest: 0.0, watch: Watch::default() }
    }

    /// Sends bytes. The answer is when the last of them has left and when it arrives.
    #[inline]
    pub fn send(&mut self, now: Nanos, bytes: u64) -> (Nanos, Nanos) {
        let takes = bytes as f64 * self.ns_per_byte + self.rest;
        let whole = libm::floor(takes);
        self.rest = takes - whole;
        let begins = self.free.max(now.0);
        if begins > self.free {
            self.watch.turn(Nanos(self.free), 0, 0.0);
        }
        self.watch.turn(Nanos(begins), 1, 1.0);
        self.free = begins + whole as u64;
        self.watch.done();
        (Nanos(self.free), Nanos(self.free + self.distance))
    }

    /// Forgets what has not left yet.
    pub fn abandon(&mut self, now: Nanos) {
        self.free = self.free.min(now.0);
        self.watch.turn(now, 0, 0.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_queue_and_distance_does_not() {
        let mut link = Link::new(1e9, 10.0);
        assert_eq!(link.send(Nanos(0), 1_000), (Nanos(1_000), Nanos(51_000)));
        assert_eq!(link.send(Nanos(0), 1_000), (Nanos(2_000), Nanos(52_000)));
        assert_eq!(link.send(Nanos(9_000), 1), (Nanos(9_001), Nanos(59_001)));
    }

    #[test]
    fn parts_of_a_nanosecond_are_not_lost() {
        let mut link = Link::new(3e9, 0.0);
        (0..2_999).for_each(|_| {
            link.send(Nanos(0), 1);
        });
        assert_eq!(link.send(Nanos(0), 1).0, Nanos(1_000));
    }
}
