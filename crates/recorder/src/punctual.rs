//! How long before a moment a thread wakes up to be there in time.
//!
//! The one idea: the kernel wakes late by an amount that changes with the load. Who wakes earlier waits the rest awake, which takes a core
//! away from others; so the lead is learned from each wake-up, and shrinks again after punctual ones.

use units::Nanos;

/// The least and the greatest lead.
const LEAD: (Nanos, Nanos) = (Nanos::from_micros(4), Nanos::from_micros(100));

/// The lead of one thread.
#[derive(Clone, Copy, Debug)]
pub struct Lead(Nanos);

impl Default for Lead {
    fn default() -> Lead {
        Lead(LEAD.1)
    }
}

impl Lead {
    /// So long before a moment a sleep ends.
    pub fn time(self) -> Nanos {
        self.0
    }

    /// Takes in how late a sleep ended.
    pub fn learn(&mut self, late: Nanos) {
        let wanted = Nanos((late.0 + late.0 / 4).max(self.0.0 - self.0.0 / 32));
        self.0 = wanted.clamp(LEAD.0, LEAD.1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lead_grows_at_once_and_shrinks_by_and_by() {
        let mut lead = Lead::default();
        (0..1_000).for_each(|_| lead.learn(Nanos::ZERO));
        assert_eq!(lead.time(), LEAD.0);
        lead.learn(Nanos::from_micros(40));
        assert_eq!(lead.time(), Nanos::from_micros(50));
        lead.learn(Nanos::from_millis(1));
        assert_eq!(lead.time(), LEAD.1);
    }
}
