//! The books of a stream: does every operation have an end, and does Little's law close?

use observation::Account;

/// Where the time of the slots of a closed load went, as shares of all of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SlotTime {
    /// Neither in service nor thinking: 1 - X (service + think) / N.
    pub gap: f64,
    /// Of the gap, waiting in the generator between the intended start and the issue.
    pub lateness: f64,
}

/// Little's law over the window: N = X (service + think), with time integrated and clipped at the window's ends, so that
/// it holds exactly when every slot is always in service or thinking (Little, Operations Research 9, 1961). Nothing for
/// an open load.
pub fn slot_time(account: &Account) -> Option<SlotTime> {
    if account.slots_ns == 0 {
        return None;
    }
    let whole = account.slots_ns as f64;
    let inside = account.service_ns as f64 + account.think_ns as f64;
    Some(SlotTime { gap: 1.0 - inside / whole, lateness: account.lateness_ns as f64 / whole })
}
