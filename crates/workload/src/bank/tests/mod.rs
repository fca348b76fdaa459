//! The bank on a real database in memory.

mod damage;
mod day;
mod demand;
mod night;

use super::day::{Day, Spec};
use super::{Scale, data_set};
use crate::bench::Bench;
use crate::dataset::SEED;
use crate::dataset::{DataSet, Indexes};
use units::Nanos;

const SCALE: Scale = Scale { accounts: 1_000, days: 20, indexes: Indexes::Usual };

/// A small bank's day.
pub(super) fn day() -> Spec {
    Spec { scale: SCALE, payments: 1, reads: 1, hot: 60, run_every: Nanos::from_secs(30), run_orders: 200 }
}

fn data() -> DataSet {
    data_set::seeded(SCALE, SEED)
}

#[test]
fn more_and_fewer_indexes_change_the_schema_and_neither_rows_nor_answers() {
    let carried = |indexes| {
        let scale = Scale { indexes, ..SCALE };
        let data = data_set::seeded(scale, SEED);
        let mut bench = Bench::filled(&data, super::day::statements());
        day::run(&mut bench, &mut Day::new(Spec { scale, ..day() }, &day::share(0, 0)), 300);
        assert_eq!(bench.broken(&data), [""; 0]);
        let count = bench.number("select count(*) from sqlite_master where type = 'index' and sql is not null");
        (count, (bench.touched.clone(), night::checksums(&bench, &data)), data.name())
    };
    let [few, usual, more] = [Indexes::Few, Indexes::Usual, Indexes::More].map(carried);
    assert_eq!((few.0, usual.0, more.0), (0, 4, 7));
    assert!(few.1 == usual.1 && usual.1 == more.1);
    assert!(few.2 != usual.2 && usual.2 != more.2);
}

#[test]
fn what_the_fill_makes_is_in_order_and_as_many_rows_as_it_says() {
    for (accounts, days, seed) in [(1_000, 20, 1), (1_017, 7, 2), (4_500, 45, 3)] {
        let data = data_set::seeded(Scale { accounts, days, ..SCALE }, seed);
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
