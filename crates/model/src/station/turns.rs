//! Alike servers in order, as a calendar: whoever comes is told at once when he will be done.
//!
//! The one idea: in order and with a known service, nothing that happens later changes an end, so nobody needs to stand in
//! a queue. What was there over time is exact in whole nanoseconds: departures less arrivals.

use units::Nanos;

/// Servers by when each is free.
#[derive(Clone, Debug)]
pub struct Turns {
    free: Vec<u64>,
    /// Where to look first for one that is free.
    next: usize,
    since: u64,
    busy: u64,
    /// Departures less arrivals, modulo 2^64: the sum that stays is small.
    area: u64,
    here: u32,
    done: u64,
}

impl Turns {
    /// So many servers.
    pub fn new(count: u32) -> Turns {
        Turns { free: vec![0; count.max(1) as usize], next: 0, since: 0, busy: 0, area: 0, here: 0, done: 0 }
    }

    /// Somebody comes who needs `service`; the answer is when he will be done. Whoever owns the agenda calls `leave` then.
    #[inline]
    pub fn arrive(&mut self, now: Nanos, service: u64) -> Nanos {
        let server = match self.free.len() {
            1 => 0,
            // Who comes is done at the same time by whichever is free, and the others stay free.
            _ if self.free[self.next] <= now.0 => self.next,
            _ => self.earliest(),
        };
        self.next = if server + 1 == self.free.len() { 0 } else { server + 1 };
        let end = self.free[server].max(now.0) + service;
        self.free[server] = end;
        self.busy += service;
        self.area = self.area.wrapping_sub(now.0);
        self.here += 1;
        Nanos(end)
    }

    /// Somebody leaves.
    #[inline]
    pub fn leave(&mut self, now: Nanos) {
        self.area = self.area.wrapping_add(now.0);
        self.here -= 1;
        self.done += 1;
    }

    #[inline]
    fn earliest(&self) -> usize {
        let mut least = 0;
        for (server, free) in self.free.iter().enumerate() {
            if *free < self.free[least] {
                least = server;
            }
        }
        least
    }

    /// Sends everybody away with his work undone: all servers are free.
    pub fn abandon(&mut self, now: Nanos) {
        self.busy -= self.ahead(now);
        self.area = self.area.wrapping_add(now.0.wrapping_mul(u64::from(self.here)));
        self.here = 0;
        self.free.iter_mut().for_each(|free| *free = (*free).min(now.0));
    }

    /// Forgets what was before.
    pub fn clear(&mut self, now: Nanos) {
        (self.since, self.busy, self.done) = (now.0, self.ahead(now), 0);
        self.area = now.0.wrapping_mul(u64::from(self.here)).wrapping_neg();
    }

    /// Share of the servers that was busy, up to now.
    pub fn utilisation(&self, now: Nanos) -> f64 {
        let watched = (now.0 - self.since).max(1) as f64 * self.free.len() as f64;
        (self.busy - self.ahead(now)) as f64 / watched
    }

    /// Mean number that were here, up to now.
    pub fn mean_here(&self, now: Nanos) -> f64 {
        let sum = self.area.wrapping_add(now.0.wrapping_mul(u64::from(self.here)));
        sum as f64 / (now.0 - self.since).max(1) as f64
    }

    /// How many left.
    pub fn count(&self) -> u64 {
        self.done
    }

    /// Work that is promised beyond a moment.
    fn ahead(&self, now: Nanos) -> u64 {
        self.free.iter().map(|free| free.saturating_sub(now.0)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_are_known_on_arrival_and_sums_are_exact() {
        let mut turns = Turns::new(2);
        assert_eq!(turns.arrive(Nanos(0), 10), Nanos(10));
        assert_eq!(turns.arrive(Nanos(1), 10), Nanos(11));
        assert_eq!(turns.arrive(Nanos(2), 5), Nanos(15));
        turns.leave(Nanos(10));
        turns.leave(Nanos(11));
        assert_eq!(turns.here, 1);
        assert!((turns.mean_here(Nanos(12)) - (10.0 + 10.0 + 10.0) / 12.0).abs() < 1e-12);
        assert!((turns.utilisation(Nanos(12)) - 22.0 / 24.0).abs() < 1e-12);
        let mut left = turns.clone();
        left.abandon(Nanos(12));
        assert_eq!((left.here, left.arrive(Nanos(12), 4)), (0, Nanos(16)));
        assert!((left.mean_here(Nanos(16)) - (30.0 + 4.0) / 16.0).abs() < 1e-12);
        assert!((left.utilisation(Nanos(16)) - 26.0 / 32.0).abs() < 1e-12);
        turns.clear(Nanos(12));
        assert!((turns.utilisation(Nanos(18)) - 3.0 / 12.0).abs() < 1e-12);
        assert!((turns.mean_here(Nanos(15)) - 1.0).abs() < 1e-12);
    }
}
