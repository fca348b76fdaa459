//! A pool of jobs: at most so many are inside, and others wait in order.
//!
//! The one idea: whoever is inside may wait for anything else there; only who leaves makes room.

use super::{Watch, Who};
use std::collections::VecDeque;
use units::Nanos;

/// One pool, for those who are known by a `W`.
#[derive(Clone, Debug)]
pub struct Pool<W = Who> {
    jobs: u32,
    free: u32,
    waiting: VecDeque<W>,
    /// What it did; busy is the share of its jobs that are taken.
    pub watch: Watch,
}

impl<W> Pool<W> {
    /// So many jobs, with room for so many that wait.
    pub fn new(jobs: u32, room: usize) -> Pool<W> {
        Pool { jobs: jobs.max(1), free: jobs.max(1), waiting: VecDeque::with_capacity(room), watch: Watch::default() }
    }

    /// Somebody comes; whether a job takes him at once.
    #[inline]
    pub fn enter(&mut self, now: Nanos, who: W) -> bool {
        let enters = self.free > 0;
        if enters {
            self.free -= 1;
        } else {
            self.waiting.push_back(who);
        }
        self.turn(now);
        enters
    }

    /// Somebody leaves; who comes in for him.
    #[inline]
    pub fn leave(&mut self, now: Nanos) -> Option<W> {
        self.watch.done();
        let next = self.waiting.pop_front();
        self.free += u32::from(next.is_none());
        self.turn(now);
        next
    }

    /// How many are inside or wait.
    #[inline]
    pub fn here(&self) -> u32 {
        self.jobs - self.free + self.waiting.len() as u32
    }

    #[inline]
    fn turn(&mut self, now: Nanos) {
        let inside = self.jobs - self.free;
        self.watch.turn(now, self.here(), f64::from(inside) / f64::from(self.jobs));
    }
}

// Alike servers that take work in the order in which it comes.

/// `m` servers, one queue: a pool whose jobs take the time that each asks for.
#[derive(Clone, Debug)]
pub struct Servers(Pool<(Who, u64)>);

impl Servers {
    /// So many servers, with room for so many that wait.
    pub fn new(count: u32, room: usize) -> Servers {
        Servers(Pool::new(count, room))
    }

    /// Somebody comes who needs `service`. When a server is free, the answer is when he will be done.
    #[inline]
    pub fn arrive(&mut self, now: Nanos, who: Who, service: Nanos) -> Option<Nanos> {
        self.0.enter(now, (who, service.0)).then(|| now + service)
    }

    /// Somebody is done. The answer is who is served next, and when he will be done.
    #[inline]
    pub fn depart(&mut self, now: Nanos) -> Option<(Who, Nanos)> {
        self.0.leave(now).map(|(who, service)| (who, Nanos(now.0 + service)))
    }

    /// What it did.
    pub fn watch(&mut self) -> &mut Watch {
        &mut self.0.watch
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_are_inside_than_there_are_jobs_and_others_come_in_order() {
        let mut pool = Pool::new(2, 8);
        let entered: Vec<bool> = (1..=4).map(|who| pool.enter(Nanos(0), who)).collect();
        assert_eq!(entered, [true, true, false, false]);
        assert_eq!((pool.leave(Nanos(10)), pool.leave(Nanos(10)), pool.leave(Nanos(20))), (Some(3), Some(4), None));
        assert_eq!(pool.watch.mean_here(Nanos(20)), 3.0, "four for a half, two for the other");
        assert!(pool.enter(Nanos(30), 5), "one is free again");
        assert_eq!(pool.watch.count(), 3);
    }

    #[test]
    fn work_is_taken_in_order_by_whoever_is_free() {
        let mut servers = Servers::new(2, 4);
        assert_eq!(servers.arrive(Nanos(0), 1, Nanos(10)), Some(Nanos(10)));
        assert_eq!(servers.arrive(Nanos(1), 2, Nanos(10)), Some(Nanos(11)));
        assert_eq!(servers.arrive(Nanos(2), 3, Nanos(5)), None);
        assert_eq!(servers.arrive(Nanos(3), 4, Nanos(1)), None);
        assert_eq!(servers.0.here(), 4);
        assert_eq!(servers.depart(Nanos(10)), Some((3, Nanos(15))));
        assert_eq!(servers.depart(Nanos(11)), Some((4, Nanos(12))));
        assert_eq!(servers.depart(Nanos(12)), None);
        assert_eq!(servers.0.here(), 1);
        let watch = servers.watch();
        assert!((watch.utilisation(Nanos(12)) - 23.0 / 24.0).abs() < 1e-12);
        assert_eq!(watch.count(), 3);
    }
}
