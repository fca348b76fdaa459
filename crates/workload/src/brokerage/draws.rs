//! The random inputs of one transaction.
//!
//! The one idea: the inputs follow from (seed, purpose, number), so that the same number asks the same of every engine,
//! whoever carries it out and however often it is tried.
//!
//! What it does not do: it holds no state beyond a counter that starts anew with each transaction.

use super::Scale;
use crate::kind::numbers::on_half;
use random::{GOLDEN, mix};

/// What draws are for; those of different purposes share nothing.
#[derive(Clone, Copy, Debug)]
pub(super) enum Purpose {
    Class = 1,
    Inputs = 2,
    Delay = 3,
    Quotes = 4,
    Maintenance = 5,
}

/// Draws one after the other.
#[derive(Clone, Copy, Debug)]
pub(super) struct Draws {
    draws: random::Draws,
    half: Option<u32>,
}

impl Draws {
    pub(super) fn new(seed: u64, purpose: Purpose, n: u64) -> Draws {
        let lane = mix(seed ^ mix(GOLDEN.wrapping_mul(purpose as u64)));
        Draws { draws: random::Draws::from_state(mix(lane ^ mix(n.wrapping_add(GOLDEN)))), half: None }
    }

    /// The same draws, of customers and securities of one half of them all.
    pub(super) fn on(self, half: Option<u32>) -> Draws {
        Draws { half, ..self }
    }

    /// 64 even bits.
    pub(super) fn bits(&mut self) -> u64 {
        self.draws.bits()
    }

    /// A number below `n`.
    pub(super) fn below(&mut self, n: u64) -> u64 {
        self.draws.below(n)
    }

    /// A number from `low` to `high`, both included.
    pub(super) fn between(&mut self, low: i64, high: i64) -> i64 {
        low + self.below((high - low + 1) as u64) as i64
    }

    /// Yes in `percent` of a hundred.
    pub(super) fn percent(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// A customer; some are likelier than others.
    pub(super) fn customer(&mut self, scale: &Scale) -> u64 {
        on_half(scale.draw_customer(self.bits()), self.half, scale.customers)
    }

    /// An account of a customer drawn so.
    pub(super) fn account(&mut self, scale: &Scale) -> i64 {
        let customer = self.customer(scale);
        (scale.first_account(customer) + self.below(scale.accounts_of(customer))) as i64
    }

    /// The symbol of a security; some are likelier than others.
    pub(super) fn symbol(&mut self, scale: &Scale) -> String {
        scale.symbol(on_half(scale.draw_security(self.bits()) + 1, self.half, scale.securities()) - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_of_a_seed_stay_what_they_are() {
        use Purpose::{Class, Delay, Inputs, Maintenance, Quotes};
        let firsts = [Class, Inputs, Delay, Quotes, Maintenance].map(|purpose| {
            let mut draws = Draws::new(42, purpose, 7);
            [draws.bits(), draws.bits()]
        });
        assert_eq!(
            firsts,
            [
                [17_236_734_577_210_659_525, 14_378_275_048_127_228_881],
                [14_118_326_883_202_989_112, 9_022_425_973_485_689_514],
                [13_869_971_217_351_578_373, 11_582_782_829_192_082_878],
                [11_554_223_100_189_308_551, 8_566_522_597_815_012_671],
                [4_245_759_967_922_918_833, 476_422_899_291_980_103]
            ]
        );
        let mut draws = Draws::new(u64::MAX, Inputs, u64::MAX);
        assert_eq!((draws.below(1_000_000), draws.between(-50, 50), draws.percent(50)), (699_679, -36, true));
    }
}
