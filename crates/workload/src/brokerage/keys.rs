//! What a study may say of a brokerage house.

use super::{Market, Preset, Spec};
use crate::kind::DAYS;
use reading::key::{Choice, Count, Flag};
use reading::{Settings, keys};

keys! {
    /// All of them, in the order of the reference page.
    pub KEYS;
    PRESET "preset": Choice<Preset> = Choice(Preset::WORDS), Is("desk"),
        "Shape of the brokerage house: `desk` has 12 tables and 6 transactions, `house` 33 tables and all of them.";
    CUSTOMERS "customers": Count = Count { min: 10, max: 10_000_000 }, Is("1000"),
        "Customers of the data set; everything else scales with them.";
    DAYS;
    MARKET "market": Choice<Market> = Choice(Market::WORDS), Is("by-time"),
        "When the exchange answers an order: after a time, or after a count of transactions, which one session repeats exactly.";
    MAINTENANCE "maintenance": Flag = Flag, Is("true"), "Run the once-a-minute maintenance beside the mix of the house.";
    PROCEDURES "procedures": Flag = Flag, Is("false"),
        "Carry each transaction out as one call of a stored procedure in the data set's schema, where the engine has them: \
         PostgreSQL and MariaDB.";
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
