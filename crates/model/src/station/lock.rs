//! A lock that one holds and others wait for, in order.

use super::Who;
use std::collections::VecDeque;

/// One lock.
#[derive(Clone, Debug, Default)]
pub struct Lock {
    holder: Option<Who>,
    waiting: VecDeque<Who>,
}

impl Lock {
    /// With room for so many that wait.
    pub fn with_room(room: usize) -> Lock {
        Lock { holder: None, waiting: VecDeque::with_capacity(room) }
    }

    /// Asks for it; whether it was free.
    #[inline]
    pub fn ask(&mut self, who: Who) -> bool {
        if self.holder.is_none() {
            self.holder = Some(who);
            return true;
        }
        self.waiting.push_back(who);
        false
    }

    /// Gives it back; who holds it now.
    #[inline]
    pub fn give(&mut self) -> Option<Who> {
        self.holder = self.waiting.pop_front();
        self.holder
    }

    /// How many wait.
    pub fn waiting(&self) -> u32 {
        self.waiting.len() as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_goes_round_in_order() {
        let mut lock = Lock::with_room(2);
        assert!(lock.ask(7));
        assert!(!lock.ask(8) && !lock.ask(9));
        assert_eq!((lock.give(), lock.give(), lock.give()), (Some(8), Some(9), None));
        assert!(lock.ask(7));
    }
}
