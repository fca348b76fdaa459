//! The bank on a real database in memory.

mod damage;
mod day;
mod demand;
mod night;

use super::day::Spec;
use super::{Scale, data_set};
use crate::bench::Bench;
use crate::dataset::DataSet;
use units::Nanos;

const SCALE: Scale = Scale { accounts: 1_000, days: 20 };

/// A small bank's day.
pub(super) fn day() -> Spec {
    Spec { scale: SCALE, payments: 1, reads: 1, hot: 60, run_every: Nanos::from_secs(30), run_orders: 200 }
}

fn data() -> DataSet {
    data_set::data_set(SCALE)
}

#[test]
fn what_the_fill_makes_is_in_order_and_as_many_rows_as_it_says() {
    for (accounts, days, seed) in [(1_000, 20, 1), (1_017, 7, 2), (4_500, 45, 3)] {
        let data = data_set::seeded(Scale { accounts, days }, seed);
        let bench = Bench::filled(&data, Vec::new());
        assert_eq!(bench.broken(&data), [""; 0], "{accounts} accounts, {days} days");
        for table in data.tables() {
            let rows = bench.number(&format!("select count(*) from {}", table.name));
            assert_eq!(rows as u64, data.row_count(&table), "{} of {accounts} accounts", table.name);
        }
        for figure in data.figures(true) {
            assert_eq!(bench.number(&figure.sql), figure.is, "{}", figure.what);
        }
    }
}
