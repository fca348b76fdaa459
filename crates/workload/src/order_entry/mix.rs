//! The classes of transactions, their shares, how fast they should answer, and what one of each asks for.

use crate::kind::numbers::share_at;
use crate::kind::{self, Demand};
use random::Lane;

macro_rules! classes {
    ($($class:ident $name:literal $weight:literal $limit_s:literal, $statements:literal $lookups:literal $changes:literal;)*) => {
        /// A class of transactions.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum Class { $($class),* }

        /// Class, name, percent of all, limit in seconds, and what one asks for, as a test counts it.
        const ALL: &[(Class, &str, u64, f64, Demand)] = &[$((Class::$class, $name, $weight, $limit_s, Demand {
            statements: $statements, lookups: $lookups, changes: $changes,
        })),*];
    };
}

// Percent, limit; then statements, rows found, and rows changed. A look at stock goes through 20 orders, 190 lines and their stock in one
// statement, which counts as eleven ([`Demand::over_sets`]).
classes! {
    NewOrder "new-order" 43 1.0, 54.5 42.2 22.0;
    Payment "payment" 40 1.0, 9.0 7.2 4.0;
    Status "order-status" 8 1.0, 3.0 11.8 0.0;
    Delivery "delivery" 4 3.0, 60.0 145.0 30.0;
    Stock "stock-level" 5 3.0, 12.0 230.0 0.0;
}

impl Class {
    /// That of arrival `n` of the schedule.
    pub(super) fn drawn(lane: Lane, n: u64) -> Class {
        let drawn = share_at(random::below(lane.at(n), 100), ALL.iter().map(|part| part.2));
        drawn.map_or(Class::NewOrder, |place| ALL[place].0)
    }
}

/// The mixes: one.
pub const MIXES: &[fn() -> Vec<kind::Class>] = &[classes];

/// The classes with their shares and limits; [`Business::class`](crate::transaction::Business::class) is a place in this list.
pub fn classes() -> Vec<kind::Class> {
    let planned = |&(_, name, percent, limit_s, demand): &(Class, &str, u64, f64, Demand)| kind::Class {
        share: Some(percent as f64 / 100.0),
        limit_s: Some(limit_s),
        demand: Some(demand),
        ..kind::Class::plain(name)
    };
    ALL.iter().map(planned).collect()
}
