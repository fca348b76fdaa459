//! The stripe inside a module: data and one parity over its channels, narrower by one with each channel that fails.
//!
//! The one idea: the second dimension of a two-dimensional RAID. A module that loses a channel goes on with 8+1 instead of
//! 9+1: its rate falls with its channels, each write costs a little more parity, and the system's RAID notices nothing.

/// A stripe over the channels of a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stripe {
    channels: u32,
    failed: u32,
}

impl Stripe {
    /// Over so many channels, one of them parity. A module of one channel has no stripe inside.
    pub fn new(channels: u32) -> Stripe {
        Stripe { channels: channels.max(1), failed: 0 }
    }

    /// The channels that carry data in a stripe: one less than there are, as long as two are left.
    pub fn data(self) -> u32 {
        let left = self.channels - self.failed;
        if self.channels == 1 { left } else { left.saturating_sub(1) }
    }

    /// Loses a channel. Whether the module still works: data and parity need two channels.
    pub fn lose(&mut self) -> bool {
        self.failed = (self.failed + 1).min(self.channels);
        self.data() > 0
    }

    /// By how much longer the module takes for a byte read than with all channels.
    pub fn reading(self) -> f64 {
        f64::from(self.channels) / f64::from((self.channels - self.failed).max(1))
    }

    /// The same for a byte written: fewer channels, of which parity takes a greater part.
    pub fn writing(self) -> f64 {
        f64::from(Stripe::new(self.channels).data()) / f64::from(self.data().max(1))
    }
}
