//! Counts and sums of what the fill made and no load changes.
//!
//! What it does not do: of more than five million rows only the counts are compared; a look at more of them takes longer than
//! anybody waits.

use crate::dataset::Figure;
use crate::warehouse::fill::{Fact, Facts, row_count};
use crate::warehouse::scale::{CUBES, Scale};
use crate::warehouse::schema::{Holds, holds, tables};

/// Rows of all cubes at most of which sums are compared.
const ROWS_MAX: u64 = 5_000_000;

/// Tables that loads add to.
const GROWING: [&str; 2] = ["delta", "change_log"];

/// Everything that is counted or added up.
pub(in crate::warehouse) fn figures(scale: &Scale, seed: u64, history: bool) -> Vec<Figure> {
    let count = |table: &str| Figure {
        what: format!("rows of {table}"),
        sql: format!("SELECT COUNT(*) FROM {table}"),
        is: row_count(scale, table) as i64,
    };
    let tables = tables(scale);
    let plain = tables.iter().filter(|table| matches!(holds(&table.name), Some(Holds::Plain(_))));
    let resting = plain.filter(|table| !GROWING.contains(&&*table.name));
    let mut all: Vec<Figure> = resting.map(|table| count(&table.name)).collect();
    if history {
        all.extend((0..).zip(CUBES).flat_map(|(cube, name)| of_cube(scale, seed, cube, name)));
    }
    all
}

fn of_cube(scale: &Scale, seed: u64, cube: u64, name: &str) -> Vec<Figure> {
    let figure = |what: &str, column: &str, is: i64| Figure {
        what: format!("{what} of the rows that the fill made in {name}"),
        sql: format!("SELECT COALESCE({column}, 0) FROM {name} WHERE delta_id = 0"),
        is,
    };
    let mut all = vec![figure("count", "COUNT(*)", scale.facts(cube) as i64)];
    if scale.rows <= ROWS_MAX {
        let facts = Facts::new(*scale, seed, cube);
        let sum = |part: fn(&Fact) -> i64| (0..scale.facts(cube)).map(|number| part(&facts.fact(number))).sum();
        all.push(figure("quantities", "SUM(quantity)", sum(|fact| fact.quantity)));
        all.push(figure("net amounts", "SUM(net_cents)", sum(|fact| fact.net_cents)));
    }
    all
}
