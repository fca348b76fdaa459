//! When an operation came that follows an answer.
//!
//! The one idea: a program that keeps so many operations outstanding asks for the next one as soon as it has an answer. The device sees
//! that late where the cores are busy with other answers, and each such delay would be time of the device. So an operation that comes
//! soon after an answer counts from the moment at which the program had that answer; each answer is followed once.
//!
//! What it does not do: see whether a program thought for some microseconds in between. Nothing tells that from the wait for a core.

use std::collections::VecDeque;
use units::Nanos;

/// How many times the way through the kernel an operation may take to follow an answer.
const SOON: u64 = 4;

/// Answers that no operation has followed yet.
#[derive(Debug, Default)]
pub(crate) struct Answered {
    /// When each left the device, oldest first.
    left: VecDeque<Nanos>,
}

impl Answered {
    /// An answer leaves the device at a time.
    pub(crate) fn leaves(&mut self, at: Nanos) {
        self.left.push_back(at);
    }

    /// When an operation that the device saw at a time would have been seen with no wait for a core, where the way through the kernel
    /// takes so long, there and back.
    pub(crate) fn followed_by(&mut self, seen: Nanos, way: Nanos) -> Nanos {
        while self.left.front().is_some_and(|left| *left + Nanos(way.0 * SOON) < seen) {
            self.left.pop_front();
        }
        match self.left.front() {
            Some(left) if *left <= seen => {
                let soonest = *left + way;
                self.left.pop_front();
                soonest.min(seen)
            }
            _ => seen,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WAY: Nanos = Nanos::from_micros(10);

    fn seen(answered: &mut Answered, at_us: u64) -> u64 {
        answered.followed_by(Nanos::from_micros(at_us), WAY).0 / 1000
    }

    #[test]
    fn an_operation_that_waited_for_a_core_counts_from_the_answer_that_it_follows() {
        let mut answered = Answered::default();
        let _ = [100, 103].map(|at| answered.leaves(Nanos::from_micros(at)));
        assert_eq!([seen(&mut answered, 130), seen(&mut answered, 139)], [110, 113]);
        // Both are followed.
        assert_eq!(seen(&mut answered, 140), 140);
    }

    #[test]
    fn an_operation_that_comes_by_itself_counts_from_when_it_was_seen() {
        let mut answered = Answered::default();
        answered.leaves(Nanos::from_micros(100));
        assert_eq!(seen(&mut answered, 141), 141, "long after the answer");
        answered.leaves(Nanos::from_micros(200));
        assert_eq!(seen(&mut answered, 190), 190, "before the answer");
        assert_eq!(seen(&mut answered, 205), 205, "sooner than the way takes");
    }
}
