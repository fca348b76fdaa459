//! Counts and sums of what the fill made and no load changes.
//!
//! What it does not do: of more than five million rows only the counts are compared; a look at more of them takes longer than
//! anybody waits.

use crate::dataset::Figure;
use crate::warehouse::fill::{Facts, ordered, row_count};
use crate::warehouse::scale::{CUBES, Scale};
use crate::warehouse::schema::{Holds, holds, tables};

/// Rows of all cubes at most of which sums are compared.
const ROWS_MAX: u64 = 5_000_000;

/// Tables that loads add to.
const GROWING: [&str; 2] = ["delta", "change_log"];

/// Everything that is counted or added up.
pub(in crate::warehouse) fn figures(scale: &Scale, seed: u64, history: bool) -> Vec<Figure> {
    let count = |table: &str| Figure::rows_of(table, row_count(scale, table));
    let tables = tables(scale);
    let plain = tables.iter().filter(|table| matches!(holds(&table.name), Some(Holds::Plain(_))));
    let resting = plain.filter(|table| !GROWING.contains(&&*table.name));
    let mut all: Vec<Figure> = resting.map(|table| count(&table.name)).collect();
    if history {
        all.push(ordered_first(scale));
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
        let weighed = |number: u64| {
            let fact = facts.fact(number);
            let [day, due, customer, product] =
                [fact.day, fact.due_day(), fact.customer, fact.product].map(|id| id as i64);
            let (site, channel) = (fact.site() as i64, fact.channel() as i64);
            let sum = day * 3 + due * 5 + customer * 7 + product * 11 + site * 13 + channel * 17;
            (sum + fact.quantity * 19 + fact.net_cents * 23) * ((number + 1) % 997 + 1) as i64
        };
        all.push(figure(
            "days, members, quantities and net amounts, weighted and added up,",
            "SUM((day_id * 3 + due_day_id * 5 + customer_id * 7 + product_id * 11 + site_id * 13 + channel_id * 17 \
             + quantity * 19 + net_cents * 23) * (id % 997 + 1))",
            (0..scale.facts(cube)).map(weighed).sum(),
        ));
    }
    all
}

/// What all orders of the source were for before anything was changed, weighted.
fn ordered_first(scale: &Scale) -> Figure {
    let weight = |id: u64| (id % 997 + 1) as i64;
    Figure {
        what: "quantities that all orders began with, weighted and added up".to_owned(),
        sql:
            "SELECT SUM(a.quantity * (a.id % 997 + 1)) - (SELECT COALESCE(SUM(g.quantity * (g.order_id % 997 + 1)), 0) \
              FROM change_log g) FROM active_order a"
                .to_owned(),
        is: (1..=scale.source_orders()).map(|id| ordered(scale, id).1 * weight(id)).sum(),
    }
}
