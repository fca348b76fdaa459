//! The invariants.
//!
//! The one idea: each looks at a cube once, and at all cubes in one query: facts against what deltas logged, against the orders and
//! products that were looked up for them and against their own measures, each cell of an aggregate against its facts, and keys
//! against the members of the dimensions, which are numbered without a gap.
//!
//! What it does not do: it holds no moments, which are of the clock of a trial.

use crate::dataset::Invariant;
use crate::warehouse::scale::{CHANNELS, CUBES, DAYS, FIRST_LOADED, Level, NUMBERS_A_DELTA, RECENT_DAYS, SITES, Scale};

/// All of them.
pub(in crate::warehouse) fn invariants(scale: &Scale) -> Vec<Invariant> {
    let numbers = [
        ("{days}", DAYS.to_string()),
        ("{recent_days}", RECENT_DAYS.to_string()),
        ("{cubes}", CUBES.len().to_string()),
        ("{share}", scale.orders_a_share().to_string()),
        ("{first_loaded}", FIRST_LOADED.to_string()),
        ("{numbers_a_delta}", NUMBERS_A_DELTA.to_string()),
        ("{customers}", scale.customers().to_string()),
        ("{products}", scale.products().to_string()),
        ("{sites}", SITES.to_string()),
        ("{channels}", CHANNELS.to_string()),
    ];
    let mut all = Invariant::all(include_str!("invariants.sql"), &numbers);
    all.iter_mut().for_each(|one| one.sql = of_cubes(&one.sql));
    all.extend(scale.levels().iter().map(|level| {
        let (name, says) = match level {
            Level::GroupRegion => {
                ("aggregates by group", "each cell of months, product groups and regions is what its facts add up to")
            }
            Level::CategoryCountry => {
                ("aggregates by country", "each cell of months, categories and countries is what its facts add up to")
            }
            Level::CategoryRegion => {
                ("aggregates by quarter", "each cell of quarters, categories and regions is what its facts add up to")
            }
        };
        let sql = format!("{} LIMIT 10", aggregates(*level));
        Invariant { name, says, tables: vec!["calendar_day", "product", "customer"], sql }
    }));
    all
}

/// What stands in square brackets is the part of one cube: it is said of all of them.
fn of_cubes(sql: &str) -> String {
    let Some(((before, each), behind)) =
        sql.split_once(']').and_then(|(at, behind)| Some((at.split_once('[')?, behind)))
    else {
        return sql.to_owned();
    };
    let of = |(id, cube): (usize, &str)| each.replace("{id}", &id.to_string()).replace("{cube}", cube);
    let parts: Vec<String> = (1..).zip(CUBES).map(of).collect();
    format!("{before}{}{behind}", parts.join(" UNION ALL "))
}

/// Facts of every cube, rolled up as loads do it, beside what stands in an aggregate: cell by cell nothing may be left.
fn aggregates(level: Level) -> String {
    let key = level.key();
    let (by, [period, product, customer]) = (key.join(", "), [key[0], key[1], key[2]]);
    let sums = |sum: fn(&str) -> String| SUMS.map(sum).join(", ");
    let (added, stated, left) = (
        sums(|name| format!("SUM(f.{name}) AS {name}")),
        sums(|name| format!("-a.{name}")),
        sums(|name| format!("SUM(x.{name}) AS {name}")),
    );
    let all = format!(
        "[SELECT {{id}} AS cube_id, d.{period}, p.{product}, c.{customer}, 1 AS cells, COUNT(*) AS facts, {added} FROM {{cube}} f \
         JOIN calendar_day d ON d.id = f.day_id JOIN product p ON p.id = f.product_id \
         JOIN customer c ON c.id = f.customer_id GROUP BY d.{period}, p.{product}, c.{customer} \
         UNION ALL SELECT {{id}}, {by}, -1, -a.facts, {stated} FROM {} a]",
        level.table("{cube}")
    );
    let differ = SUMS.map(|name| format!("SUM(x.{name}) <> 0")).join(" OR ");
    of_cubes(&format!(
        "SELECT x.cube_id, {by}, SUM(x.facts) AS facts, {left} FROM ({all}) x GROUP BY x.cube_id, {by} \
         HAVING SUM(x.cells) <> 0 OR SUM(x.facts) <> 0 OR {differ}"
    ))
}

/// What is added up beside the number of facts.
const SUMS: [&str; 4] = ["quantity", "gross_cents", "net_cents", "cost_cents"];
