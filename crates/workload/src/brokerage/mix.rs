//! The classes of transactions, their shares of all, and how fast they should answer.
//!
//! The one idea: shares and limits are our own. Reads are about 77 percent; results and quotes are caused by orders, so
//! that customers' arrivals are drawn among the others only.
//!
//! What it does not do: it does not judge a run.

use super::Preset;
use super::draws::{Draws, Purpose};
use crate::kind::numbers::share_at;
use crate::kind::{Class as Planned, Demand};

units::words! {
    /// A class of transactions.
    pub(super) enum Class {
        Order = "trade-order",
        Result = "trade-result",
        Feed = "market-feed",
        Lookup = "trade-lookup",
        Status = "trade-status",
        Update = "trade-update",
        Position = "customer-position",
        Watch = "market-watch",
        Detail = "security-detail",
        Volume = "broker-volume",
        Maintenance = "data-maintenance",
    }
}

/// Class, thousandths of all transactions, and seconds.
pub(super) type Part = (Class, u64, Option<f64>);

const HOUSE: &[Part] = &[
    (Class::Order, 101, Some(2.0)),
    (Class::Result, 100, Some(2.0)),
    (Class::Feed, 10, Some(2.0)),
    (Class::Lookup, 80, Some(3.0)),
    (Class::Status, 190, Some(1.0)),
    (Class::Update, 20, Some(3.0)),
    (Class::Position, 130, Some(3.0)),
    (Class::Watch, 180, Some(3.0)),
    (Class::Detail, 140, Some(3.0)),
    (Class::Volume, 49, Some(3.0)),
    (Class::Maintenance, 0, None),
];

const DESK: &[Part] = &[
    (Class::Position, 210, Some(3.0)),
    (Class::Status, 320, Some(1.0)),
    (Class::Watch, 259, Some(3.0)),
    (Class::Order, 101, Some(2.0)),
    (Class::Result, 100, Some(2.0)),
    (Class::Feed, 10, Some(2.0)),
];

impl Class {
    /// Its place among the classes of a preset.
    pub(super) fn place(self, preset: Preset) -> u16 {
        parts(preset).iter().position(|part| part.0 == self).unwrap_or(0) as u16
    }

    /// The class of an arrival of the schedule: drawn among what customers ask for.
    pub(super) fn drawn(preset: Preset, seed: u64, n: u64) -> Class {
        let asked = || parts(preset).iter().filter(|part| !matches!(part.0, Class::Result | Class::Feed));
        let shares = || asked().map(|part| part.1);
        let drawn = share_at(Draws::new(seed, Purpose::Class, n).below(shares().sum()), shares());
        drawn.and_then(|place| asked().nth(place)).map_or(Class::Status, |part| part.0)
    }
}

/// Classes, shares and limits of a preset.
pub(super) fn parts(preset: Preset) -> &'static [Part] {
    match preset {
        Preset::Desk => DESK,
        Preset::House => HOUSE,
    }
}

/// The share of all transactions that others cause: nobody asks for them, and they come when their time has come.
pub(super) fn caused(preset: Preset) -> f64 {
    let caused = parts(preset).iter().filter(|part| matches!(part.0, Class::Result | Class::Feed));
    let all: u64 = parts(preset).iter().map(|part| part.1).sum();
    caused.map(|part| part.1).sum::<u64>() as f64 / all as f64
}

/// What the mean transaction of the house asks for, with all that orders cause. Models of servers hold for it unless they say
/// otherwise. A test counts it on the null database: looked up are the rows that statements give back, and those that they
/// change in place.
pub const MEAN: Demand = Demand { statements: 5.79, lookups: 40.7, changes: 1.89 };

/// The mixes of all presets.
pub const MIXES: &[fn() -> Vec<Planned>] = &[|| classes(Preset::Desk), || classes(Preset::House)];

/// The classes of a preset with their shares and response limits; [`Business::class`](crate::transaction::Business::class) is a
/// place in this list.
pub fn classes(preset: Preset) -> Vec<Planned> {
    let share = |thousandths: u64| (thousandths > 0).then_some(thousandths as f64 / 1000.0);
    let planned = |(class, thousandths, limit_s): &Part| Planned {
        share: share(*thousandths),
        limit_s: *limit_s,
        ..Planned::plain(class.word())
    };
    parts(preset).iter().map(planned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_add_up_and_reads_are_about_77_percent() {
        for preset in [Preset::Desk, Preset::House] {
            assert_eq!(parts(preset).iter().map(|part| part.1).sum::<u64>(), 1_000);
            let writes = [Class::Order, Class::Result, Class::Feed, Class::Update];
            let written: u64 = parts(preset).iter().filter(|part| writes.contains(&part.0)).map(|part| part.1).sum();
            assert!((200..=235).contains(&written), "{written}");
        }
    }

    #[test]
    fn a_hundred_thousand_arrivals_have_the_shares_of_the_customers_mix() {
        for preset in [Preset::Desk, Preset::House] {
            let n = 100_000u64;
            let mut counts = vec![0u64; parts(preset).len()];
            (0..n).for_each(|k| counts[usize::from(Class::drawn(preset, 42, k).place(preset))] += 1);
            let caused = |class| matches!(class, Class::Result | Class::Feed | Class::Maintenance);
            let asked: u64 = parts(preset).iter().filter(|part| !caused(part.0)).map(|part| part.1).sum();
            for (part, count) in parts(preset).iter().zip(counts) {
                let share = if caused(part.0) { 0.0 } else { part.1 as f64 / asked as f64 };
                let (mean, sigma) = (share * n as f64, (share * (1.0 - share) * n as f64).sqrt());
                assert!((count as f64 - mean).abs() <= 4.0 * sigma, "{:?}: {count} of {mean}", part.0);
            }
        }
    }
}
