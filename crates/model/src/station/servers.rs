//! Alike servers that take work in the order in which it comes.

use super::{Pool, Watch, Who};
use units::Nanos;

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
        self.0.watch()
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
