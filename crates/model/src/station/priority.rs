//! One server for several classes, the more important first, and nobody for ever last.
//!
//! The one idea: whoever waits grows more important with time, so that a class of low rank is slowed down and not starved.

use super::{Watch, Who};
use std::collections::VecDeque;
use units::Nanos;

/// Alike servers, and a queue for each class.
#[derive(Clone, Debug)]
pub struct Priority {
    free: u32,
    count: u32,
    classes: Vec<Class>,
    /// What it did.
    pub watch: Watch,
}

/// A class with those who wait in it.
#[derive(Clone, Debug)]
struct Class {
    head_start: u64,
    /// Who, since when, for what service.
    queue: VecDeque<(Who, u64, u64)>,
}

impl Priority {
    /// `head_starts` says for each class how much waiting it need not have done: a class of ten milliseconds goes before one
    /// of none until that one has waited ten milliseconds longer.
    pub fn new(count: u32, head_starts: &[Nanos], room: usize) -> Priority {
        let classes = head_starts
            .iter()
            .map(|start| Class { head_start: start.0, queue: VecDeque::with_capacity(room) })
            .collect();
        Priority { free: count, count, classes, watch: Watch::default() }
    }

    /// Somebody of a class comes. When a server is free, the answer is when he will be done.
    #[inline]
    pub fn arrive(&mut self, now: Nanos, class: usize, who: Who, service: Nanos) -> Option<Nanos> {
        let begins = self.free > 0;
        if begins {
            self.free -= 1;
        } else {
            self.classes[class].queue.push_back((who, now.0, service.0));
        }
        self.turn(now);
        begins.then(|| Nanos(now.0 + service.0))
    }

    /// Somebody is done. The answer is who is served next: of all that are first in their classes, the one who has waited
    /// longest with his head start.
    #[inline]
    pub fn depart(&mut self, now: Nanos) -> Option<(Who, Nanos)> {
        self.watch.done();
        let since =
            |class: &Class| class.queue.front().map(|(_, came, _)| i128::from(*came) - i128::from(class.head_start));
        let first =
            (0..self.classes.len()).filter_map(|class| since(&self.classes[class]).map(|came| (came, class))).min();
        let next = first.and_then(|(_, class)| self.classes[class].queue.pop_front());
        if next.is_none() {
            self.free += 1;
        }
        self.turn(now);
        next.map(|(who, _, service)| (who, Nanos(now.0 + service)))
    }

    /// Sends everybody away with his work undone: all servers are free.
    pub fn abandon(&mut self, now: Nanos) {
        self.free = self.count;
        self.classes.iter_mut().for_each(|class| class.queue.clear());
        self.turn(now);
    }

    fn turn(&mut self, now: Nanos) {
        let busy = self.count - self.free;
        let waiting: usize = self.classes.iter().map(|class| class.queue.len()).sum();
        self.watch.turn(now, busy + waiting as u32, f64::from(busy) / f64::from(self.count));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_important_go_first_until_the_others_have_waited_long_enough() {
        let mut desk = Priority::new(1, &[Nanos(100), Nanos(0)], 8);
        desk.arrive(Nanos(0), 1, 1, Nanos(50));
        desk.arrive(Nanos(1), 1, 2, Nanos(50));
        desk.arrive(Nanos(2), 0, 3, Nanos(50));
        assert_eq!(desk.depart(Nanos(50)).map(|(who, _)| who), Some(3));
        desk.arrive(Nanos(120), 0, 4, Nanos(50));
        assert_eq!(desk.depart(Nanos(150)).map(|(who, _)| who), Some(2), "it waited since 1; 4 since 20 at best");
    }
}
