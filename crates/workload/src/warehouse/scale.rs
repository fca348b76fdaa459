//! How many there are of everything, and what belongs to what: arithmetic on numbers, so that users and loads find valid
//! customers, products and days without asking the database.
//!
//! The one idea: members of a hierarchy are numbered one after the other below their parent, so that a parent is a quotient
//! and its members are a range.
//!
//! What it does not do: it names nothing.

use super::spec::{Indexes, Spec};

/// The cubes, each a table of facts of one shape.
pub const CUBES: [&str; 10] =
    ["orders", "deliveries", "invoices", "stock", "purchases", "receipts", "payments", "costs", "complaints", "budget"];

/// Aggregates in the order in which `aggregates` adds them.
pub const LEVELS: [Level; 3] = [Level::GroupRegion, Level::CategoryCountry, Level::CategoryRegion];

/// An aggregate of a cube.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// By month, product group and region.
    GroupRegion,
    /// By month, category and country.
    CategoryCountry,
    /// By quarter, category and region.
    CategoryRegion,
}

impl Level {
    /// Columns of its key: the period, the product's side, the customer's side.
    pub fn key(self) -> &'static [&'static str] {
        match self {
            Level::GroupRegion => &["month_id", "group_id", "region_id"],
            Level::CategoryCountry => &["month_id", "category_id", "country_id"],
            Level::CategoryRegion => &["quarter_id", "category_id", "region_id"],
        }
    }

    /// Its table below a cube.
    pub fn table(self, cube: &str) -> String {
        match self {
            Level::GroupRegion => format!("{cube}_by_group_region"),
            Level::CategoryCountry => format!("{cube}_by_category_country"),
            Level::CategoryRegion => format!("{cube}_by_quarter"),
        }
    }

    /// Periods that it tells apart.
    pub fn periods(self) -> u64 {
        if self == Level::CategoryRegion { QUARTERS } else { MONTHS }
    }

    /// Members of the product's and of the customer's side.
    pub fn sides(self) -> (u64, u64) {
        match self {
            Level::GroupRegion => (GROUPS, REGIONS),
            Level::CategoryCountry => (CATEGORIES, COUNTRIES),
            Level::CategoryRegion => (CATEGORIES, REGIONS),
        }
    }
}

/// Years of the calendar, which begins with [`FIRST_YEAR`].
pub const YEARS: u64 = 3;
/// The first year.
pub const FIRST_YEAR: u64 = 2023;
/// Quarters of the calendar.
pub const QUARTERS: u64 = YEARS * 4;
/// Months of the calendar.
pub const MONTHS: u64 = YEARS * 12;
/// Days of the calendar; the second year is a leap year.
pub const DAYS: u64 = 1_096;
/// Product categories.
pub const CATEGORIES: u64 = 10;
/// Product groups, five to a category.
pub const GROUPS: u64 = 50;
/// Regions.
pub const REGIONS: u64 = 6;
/// Countries, five to a region.
pub const COUNTRIES: u64 = 30;
/// Members below a category or a region.
pub const BELOW: u64 = 5;
/// Sales sites.
pub const SITES: u64 = 24;
/// Channels of sale.
pub const CHANNELS: u64 = 5;
/// Streams of deltas.
pub const STREAMS: u64 = 3;
/// The last days of the calendar, to which changed orders are moved.
pub const RECENT_DAYS: u64 = 28;
/// Rows of deltas are numbered from here, above those of the fill.
pub const FIRST_LOADED: i64 = 1 << 40;
/// Numbers that a delta has for its rows.
pub const NUMBERS_A_DELTA: i64 = 1 << 20;

/// Counts of one data set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scale {
    /// Rows of all cubes together.
    pub rows: u64,
    /// Aggregates of each cube.
    pub aggregates: u32,
    /// Indexes on the cubes.
    pub indexes: Indexes,
}

impl Scale {
    /// The scale of a spec.
    pub fn of(spec: &Spec) -> Scale {
        Scale { rows: spec.rows, aggregates: spec.aggregates, indexes: spec.indexes }
    }

    /// The aggregates that each cube has.
    pub fn levels(&self) -> &'static [Level] {
        &LEVELS[..(self.aggregates as usize).min(LEVELS.len())]
    }

    /// Rows of a cube, counted from 0, as the fill leaves it.
    pub fn facts(&self, cube: u64) -> u64 {
        let cubes = CUBES.len() as u64;
        self.rows / cubes + u64::from(cube < self.rows % cubes)
    }

    /// Products of each group.
    pub fn products_a_group(&self) -> u64 {
        (self.rows / 50_000).clamp(4, 2_000)
    }

    /// Products.
    pub fn products(&self) -> u64 {
        GROUPS * self.products_a_group()
    }

    /// Customers of each country.
    pub fn customers_a_country(&self) -> u64 {
        (self.rows / 3_000).clamp(10, 30_000)
    }

    /// Customers.
    pub fn customers(&self) -> u64 {
        COUNTRIES * self.customers_a_country()
    }

    /// Source orders that one stream changes for one cube: no two deltas that may run at once share an order.
    pub fn orders_a_share(&self) -> u64 {
        (self.rows / 5).clamp(6_000, 10_000_000) / (STREAMS * CUBES.len() as u64)
    }

    /// Orders of the source.
    pub fn source_orders(&self) -> u64 {
        self.orders_a_share() * STREAMS * CUBES.len() as u64
    }

    /// The first of the orders (from 1) that a stream changes for a cube.
    pub fn first_order(&self, stream: u64, cube: u64) -> u64 {
        1 + (stream * CUBES.len() as u64 + cube) * self.orders_a_share()
    }

    /// The cube (from 0) of an order (from 1).
    pub fn cube_of(&self, order: u64) -> u64 {
        (order - 1) / self.orders_a_share() % CUBES.len() as u64
    }

    /// Orders of a delta when so many are asked for.
    pub fn delta(&self, asked: u64) -> u64 {
        asked.clamp(1, self.orders_a_share())
    }

    /// The day (from 1) of a fact, counted from 0, of a cube with so many: facts are numbered in the order of days.
    pub fn day_of(facts: u64, fact: u64) -> u64 {
        1 + (u128::from(fact) * u128::from(DAYS) / u128::from(facts)) as u64
    }

    /// The first fact, counted from 0, of a day or of a later one.
    pub fn first_fact(facts: u64, day: u64) -> u64 {
        (u128::from(day - 1) * u128::from(facts)).div_ceil(u128::from(DAYS)) as u64
    }
}

/// The first day (from 1) of a month (from 1); of the month after the last, the day after the last.
pub fn first_day(month: u64) -> u64 {
    const BEFORE: [u64; 12] = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334];
    let (year, month) = ((month - 1) / 12, (month - 1) % 12);
    let leap = u64::from(year > 1 || (year == 1 && month > 1));
    1 + year * 365 + BEFORE[month as usize] + leap
}

/// The month (from 1) of a day (from 1).
pub fn month_of(day: u64) -> u64 {
    let guess = (day - 1) / 31 + 1;
    (guess..=MONTHS).take_while(|month| first_day(*month) <= day).last().unwrap_or(guess)
}

/// The quarter (from 1) of a month (from 1).
pub fn quarter_of(month: u64) -> u64 {
    (month - 1) / 3 + 1
}

/// The member's parent, both from 1, where each parent has so many.
pub fn parent(member: u64, members: u64) -> u64 {
    (member - 1) / members + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) const SCALE: Scale = Scale { rows: 100_003, aggregates: 3, indexes: Indexes::Usual };

    #[test]
    fn months_and_days_find_each_other() {
        assert_eq!((first_day(1), first_day(14), first_day(15), first_day(MONTHS + 1)), (1, 397, 426, DAYS + 1));
        for month in 1..=MONTHS {
            assert!((28..=31).contains(&(first_day(month + 1) - first_day(month))), "{month}");
            for day in first_day(month)..first_day(month + 1) {
                assert_eq!(month_of(day), month);
            }
        }
    }

    #[test]
    fn facts_are_numbered_in_the_order_of_days() {
        for facts in [1, 7, 1_000, 10_001, 12_345_678] {
            for day in (1..=DAYS).step_by(13) {
                let first = Scale::first_fact(facts, day);
                assert!(first == facts || Scale::day_of(facts, first) >= day, "{facts} {day}");
                assert!(first == 0 || Scale::day_of(facts, first - 1) < day, "{facts} {day}");
            }
        }
        assert_eq!((0..10).map(|cube| SCALE.facts(cube)).sum::<u64>(), SCALE.rows);
    }

    #[test]
    fn no_order_belongs_to_two_streams_or_cubes() {
        let share = SCALE.orders_a_share();
        let firsts: Vec<u64> = (0..3).flat_map(|s| (0..10).map(move |c| SCALE.first_order(s, c))).collect();
        assert!(firsts.windows(2).all(|two| two[1] - two[0] == share), "{firsts:?}");
        assert_eq!(SCALE.source_orders(), firsts[29] + share - 1);
        assert_eq!((SCALE.cube_of(firsts[17]), SCALE.cube_of(firsts[17] + share - 1)), (7, 7));
        assert_eq!((SCALE.delta(500), SCALE.delta(5_000)), (500, share));
    }
}
