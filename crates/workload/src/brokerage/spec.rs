//! What a brokerage workload is, as a study says it.

use crate::kind::DAYS;
use reading::key::{Choice, Count, Flag};
use reading::{Settings, keys};

units::words! {
    /// Which shape of the house.
    #[derive(Default)]
    pub enum Preset {
        #[default]
        Desk = "desk" "12 tables and 6 transactions: fills in seconds.",
        House = "house" "33 tables, ten transactions, maintenance and clean-up.",
    }
}

units::words! {
    /// When the market answers an order.
    #[derive(Default)]
    pub enum Market {
        #[default]
        ByTime = "by-time" "After a time, as a market does.",
        ByCount = "by-count" "After a count of transactions, so that one session does the same on every engine.",
    }
}

/// A brokerage workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Spec {
    /// The shape.
    pub preset: Preset,
    /// Customers of the data set.
    pub customers: u64,
    /// Days of history.
    pub days: u64,
    /// When the market answers.
    pub market: Market,
    /// Run the once-a-minute maintenance beside the mix.
    pub maintenance: bool,
    /// Carry transactions out as stored procedures, where the engine has them.
    pub procedures: bool,
}

// What a study may say of a brokerage house.

keys! {
    /// All of them, in the order of the reference page.
    pub KEYS;
    /// Shape of the brokerage house: `desk` has 12 tables and 6 transactions, `house` 33 tables and all of them.
    PRESET "preset": Choice<Preset> = Choice(Preset::WORDS), Is("desk");
    /// Customers of the data set; everything else scales with them.
    CUSTOMERS "customers": Count = Count { min: 10, max: 10_000_000 }, Is("1000");
    DAYS;
    /// When the exchange answers an order: after a time, or after a count of transactions, which one session repeats
    /// exactly.
    MARKET "market": Choice<Market> = Choice(Market::WORDS), Is("by-time");
    /// Run the once-a-minute maintenance beside the mix of the house.
    MAINTENANCE "maintenance": Flag = Flag, Is("true");
    /// Carry each transaction out as one call of a stored procedure in the data set's schema, where the engine has
    /// them: PostgreSQL and MariaDB.
    PROCEDURES "procedures": Flag = Flag, Is("false");
}

/// The workload that these settings ask for.
pub fn read(settings: &mut dyn Settings) -> Spec {
    Spec {
        preset: settings.get(&PRESET),
        customers: settings.get(&CUSTOMERS),
        days: settings.given(&DAYS).unwrap_or(5),
        market: settings.get(&MARKET),
        maintenance: settings.get(&MAINTENANCE),
        procedures: settings.get(&PROCEDURES),
    }
}
