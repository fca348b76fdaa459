//! Alike servers that take work in the order in which it comes.

use super::{Watch, Who};
use std::collections::VecDeque;
use units::Nanos;

/// `m` servers, one queue.
#[derive(Clone, Debug)]
pub struct Servers {
    free: u32,
    count: u32,
    queue: VecDeque<(Who, u64)>,
    watch: Watch,
}

impl Servers {
    /// So many servers, with room for so many that wait.
    pub fn new(count: u32, room: usize) -> Servers {
        Servers { free: count, count, queue: VecDeque::with_capacity(room), watch: Watch::default() }
    }

    /// Somebody comes who needs `service`. When a server is free, the answer is when he will be done.
    #[inline]
    pub fn arrive(&mut self, now: Nanos, who: Who, service: Nanos) -> Option<Nanos> {
        let begins = self.free > 0;
        if begins {
            self.free -= 1;
        } else {
            self.queue.push_back((who, service.0));
        }
        self.turn(now);
        begins.then(|| Nanos(now.0 + service.0))
    }

    /// Somebody is done. The answer is who is served next, and when he will be done.
    #[inline]
    pub fn depart(&mut self, now: Nanos) -> Option<(Who, Nanos)> {
        self.watch.done();
        let next = self.queue.pop_front();
        if next.is_none() {
            self.free += 1;
        }
        self.turn(now);
        next.map(|(who, service)| (who, Nanos(now.0 + service)))
    }

    /// How many are here.
    pub fn here(&self) -> u32 {
        self.count - self.free + self.queue.len() as u32
    }

    /// What it did.
    pub fn watch(&mut self) -> &mut Watch {
        &mut self.watch
    }

    #[inline]
    fn turn(&mut self, now: Nanos) {
        let busy = self.count - self.free;
        self.watch.turn(now, busy + self.queue.len() as u32, f64::from(busy) / f64::from(self.count));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_taken_in_order_by_whoever_is_free() {
        let mut servers = Servers::new(2, 4);
        assert_eq!(servers.arrive(Nanos(0), 1, Nanos(10)), Some(Nanos(10)));
        assert_eq!(servers.arrive(Nanos(1), 2, Nanos(10)), Some(Nanos(11)));
        assert_eq!(servers.arrive(Nanos(2), 3, Nanos(5)), None);
        assert_eq!(servers.arrive(Nanos(3), 4, Nanos(1)), None);
        assert_eq!(servers.here(), 4);
        assert_eq!(servers.depart(Nanos(10)), Some((3, Nanos(15))));
        assert_eq!(servers.depart(Nanos(11)), Some((4, Nanos(12))));
        assert_eq!(servers.depart(Nanos(12)), None);
        assert_eq!(servers.here(), 1);
        let watch = servers.watch();
        assert!((watch.utilisation(Nanos(12)) - 23.0 / 24.0).abs() < 1e-12);
        assert_eq!(watch.count(), 3);
    }
}
