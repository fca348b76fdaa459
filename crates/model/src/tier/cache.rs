//! What a cache of blocks holds: what was asked for last.
//!
//! The one idea: every request stands in a queue with its number, and a block is known by its last one. A request that comes to the
//! front when there is no room gives up its block, unless that was asked for again behind it.
//!
//! What it does not do: what it takes in costs no time, and it absorbs no writes.

use std::collections::{HashMap, VecDeque};

#[derive(Clone, Debug)]
pub(super) struct Cache {
    /// Bytes that fit.
    room: u64,
    /// Blocks that are there, by their last request, with their bytes.
    there: HashMap<u64, (u64, u64)>,
    requests: VecDeque<(u64, u64)>,
    used: u64,
    number: u64,
}

impl Cache {
    /// An empty one.
    pub fn new(room: u64) -> Cache {
        Cache { room, there: HashMap::new(), requests: VecDeque::new(), used: 0, number: 0 }
    }

    /// A block of so many bytes is asked for: whether it was there. It is from now on.
    pub fn asked(&mut self, block: u64, bytes: u64) -> bool {
        self.number += 1;
        let before = self.there.insert(block, (self.number, bytes));
        self.requests.push_back((block, self.number));
        self.used += bytes;
        self.used -= before.map_or(0, |(_, bytes)| bytes);
        while self.used > self.room {
            let Some((oldest, number)) = self.requests.pop_front() else { break };
            if self.there.get(&oldest).is_some_and(|(last, _)| *last == number) {
                self.used -= self.there.remove(&oldest).map_or(0, |(_, bytes)| bytes);
            }
        }
        before.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_asked_for_longest_ago_leaves_first_and_no_more_fits_than_there_is_room() {
        let mut cache = Cache::new(30);
        assert!([1, 2, 3].into_iter().all(|block| !cache.asked(block, 10)));
        assert!(cache.asked(1, 10));
        assert!(!cache.asked(4, 10), "the fourth is new, and takes the place of 2");
        assert_eq!([1, 3, 4].map(|block| cache.asked(block, 10)), [true; 3]);
        assert!(!cache.asked(2, 10) && cache.used == 30 && cache.there.len() == 3);
        assert!(!cache.asked(9, 31) && cache.there.is_empty(), "what is larger than all of it is not kept");
    }
}
