//! Servers whose classes have weighted shares and caps, which act only when the servers are full.
//!
//! The one idea: a class that waits is served by the smallest tag, and a tag moves on by work over weight (Goyal, Vin, Cheng:
//! Start-time fair queueing, SIGCOMM 1996). A cap is a second clock: a class that is ahead of it lets others go first. With
//! a server free there is nobody to choose between, and neither counts.

use super::{Watch, Who};
use std::collections::VecDeque;
use units::Nanos;

/// What a class is promised, and what it is held to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Share {
    /// Its weight beside the others.
    pub weight: f64,
    /// The share of the servers that it has at most while others wait.
    pub cap: f64,
}

/// Alike servers and a queue for each class.
#[derive(Clone, Debug)]
pub struct Shares {
    free: u32,
    count: u32,
    /// Where the tags are: the start of whoever was chosen last.
    virtual_now: f64,
    classes: Vec<Class>,
    waiting: u32,
    /// What it did.
    pub watch: Watch,
}

#[derive(Clone, Debug)]
struct Class {
    per_weight: f64,
    per_cap: f64,
    tag: f64,
    /// Until when the class is ahead of its cap.
    ahead: u64,
    queue: VecDeque<(Who, u64)>,
}

impl Class {
    #[inline]
    fn charge(&mut self, now: Nanos, service: u64) {
        // A turn that it came late for may be caught up with, or turns of whole services would hold it below its cap.
        let takes = (service as f64 * self.per_cap) as u64;
        self.ahead = self.ahead.max(now.0.saturating_sub(takes)) + takes;
    }
}

impl Shares {
    /// So many servers for these classes, with room for so many that wait in each.
    pub fn new(count: u32, shares: &[Share], room: usize) -> Shares {
        let class = |share: &Share| Class {
            per_weight: 1.0 / share.weight,
            per_cap: 1.0 / (share.cap * f64::from(count)),
            tag: 0.0,
            ahead: 0,
            queue: VecDeque::with_capacity(room),
        };
        let classes = shares.iter().map(class).collect();
        Shares { free: count, count, virtual_now: 0.0, classes, waiting: 0, watch: Watch::default() }
    }

    /// Somebody of a class comes. When a server is free, the answer is when he will be done.
    #[inline]
    pub fn arrive(&mut self, now: Nanos, class: usize, who: Who, service: u64) -> Option<Nanos> {
        let begins = self.free > 0;
        if begins {
            self.free -= 1;
            self.classes[class].charge(now, service);
        } else {
            let class = &mut self.classes[class];
            if class.queue.is_empty() {
                class.tag = class.tag.max(self.virtual_now);
            }
            class.queue.push_back((who, service));
            self.waiting += 1;
        }
        self.turn(now);
        begins.then(|| Nanos(now.0 + service))
    }

    /// Somebody is done. The answer is who is served next, and when he will be done.
    #[inline]
    pub fn depart(&mut self, now: Nanos) -> Option<(Who, Nanos)> {
        self.watch.done();
        let next = self.choose(now);
        if next.is_none() {
            self.free += 1;
        }
        self.turn(now);
        next.map(|(who, service)| (who, Nanos(now.0 + service)))
    }

    /// Takes out one who waits, for him to go elsewhere.
    pub fn drain(&mut self, now: Nanos) -> Option<Who> {
        let found = self.classes.iter_mut().find_map(|class| class.queue.pop_front())?;
        self.waiting -= 1;
        self.turn(now);
        Some(found.0)
    }

    /// Sends everybody away with his work undone: all servers are free.
    pub fn abandon(&mut self, now: Nanos) {
        (self.free, self.waiting) = (self.count, 0);
        self.classes.iter_mut().for_each(|class| class.queue.clear());
        self.turn(now);
    }

    #[inline]
    fn choose(&mut self, now: Nanos) -> Option<(Who, u64)> {
        if self.waiting == 0 {
            return None;
        }
        let mut best: Option<(bool, f64, usize)> = None;
        for (number, class) in self.classes.iter().enumerate().filter(|(_, class)| !class.queue.is_empty()) {
            let key = (class.ahead > now.0, class.tag, number);
            if best.is_none_or(|best| (key.0, key.1) < (best.0, best.1)) {
                best = Some(key);
            }
        }
        let class = &mut self.classes[best?.2];
        let (who, service) = class.queue.pop_front()?;
        self.waiting -= 1;
        self.virtual_now = self.virtual_now.max(class.tag);
        class.tag += service as f64 * class.per_weight;
        class.charge(now, service);
        Some((who, service))
    }

    #[inline]
    fn turn(&mut self, now: Nanos) {
        let busy = self.count - self.free;
        self.watch.turn(now, busy + self.waiting, f64::from(busy) / f64::from(self.count));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Shares of one server that two classes have when both, or only the first, always wait.
    fn served(shares: [Share; 2], both: bool) -> [f64; 2] {
        let mut desk = Shares::new(1, &shares, 8);
        let mut end = desk.arrive(Nanos(0), 0, 0, 10_000);
        let mut counts = [0u32; 2];
        (0..4).for_each(|n| {
            desk.arrive(Nanos(0), if both { n % 2 } else { 0 }, if both { n as u32 % 2 } else { 0 }, 10_000);
        });
        let mut class = 0u32;
        while let Some(now) = end.filter(|end| end.0 < 1_000_000_000) {
            counts[class as usize] += 1;
            desk.arrive(now, class as usize, class, 10_000);
            let next = desk.depart(now);
            class = next.map_or(0, |(who, _)| who);
            end = next.map(|(_, end)| end);
        }
        counts.map(|count| f64::from(count) / 100_000.0)
    }

    const OPEN: Share = Share { weight: 1.0, cap: 1.0 };

    #[test]
    fn weights_share_a_full_server() {
        let [first, second] = served([Share { weight: 3.0, ..OPEN }, OPEN], true);
        assert!((first - 0.75).abs() < 0.001 && (second - 0.25).abs() < 0.001, "{first} {second}");
    }

    #[test]
    fn a_cap_holds_while_others_wait_and_not_alone() {
        let capped = [Share { weight: 9.0, cap: 0.3 }, OPEN];
        let [first, second] = served(capped, true);
        assert!((first - 0.3).abs() < 0.001 && (second - 0.7).abs() < 0.001, "{first} {second}");
        assert!((served(capped, false)[0] - 1.0).abs() < 0.001, "nobody else waits");
    }
}
