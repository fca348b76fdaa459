//! The invariants.
//!
//! The one idea: each looks at a cube once, and at all cubes in one query: facts against what deltas logged, each cell of an
//! aggregate against its facts, and keys against the members of the dimensions, which are numbered without a gap.
//!
//! What it does not do: it asks no more than that sums agree; two facts of one cell and one delta that swapped an amount are alike.

use crate::dataset::Invariant;
use crate::warehouse::scale::{CHANNELS, CUBES, DAYS, Level, SITES, Scale};

/// All of them.
pub(in crate::warehouse) fn invariants(scale: &Scale) -> Vec<Invariant> {
    let holds = |name, says, tables, sql: String| Invariant { name, says, tables, sql: format!("{sql} LIMIT 10") };
    let mut all = vec![
        holds(
            "deltas",
            "each cube counts the deltas that were loaded into it, and their orders",
            &["marker", "delta"],
            "SELECT x.cube_id, SUM(x.deltas) AS deltas, SUM(x.orders) AS orders FROM (SELECT cube_id, deltas, facts AS orders \
             FROM marker UNION ALL SELECT cube_id, -1, -orders FROM delta WHERE applied = 1) x GROUP BY x.cube_id \
             HAVING SUM(x.deltas) <> 0 OR SUM(x.orders) <> 0"
                .to_owned(),
        ),
        holds(
            "changes",
            "each delta that was loaded logged each of its orders once, and no other logged any",
            &["delta", "change_log"],
            "SELECT x.delta_id, SUM(x.stated) AS stated, SUM(x.logged) AS logged FROM (SELECT id AS delta_id, \
             orders * applied AS stated, 0 AS logged FROM delta UNION ALL SELECT delta_id, 0, 1 FROM change_log) x \
             GROUP BY x.delta_id HAVING SUM(x.stated) <> SUM(x.logged)"
                .to_owned(),
        ),
        holds(
            "active orders",
            "the active state of each order is that of the source, unless a delta that changed it is to be loaded yet",
            &["source_order", "active_order", "delta"],
            "SELECT s.id, s.quantity, a.quantity AS active, a.gross_cents FROM source_order s \
             LEFT JOIN active_order a ON a.id = s.id WHERE a.id IS NULL OR ((s.quantity <> a.quantity \
             OR s.quantity * s.price_cents <> a.gross_cents) AND NOT EXISTS (SELECT 1 FROM delta d WHERE d.applied = 0 \
             AND d.first_order <= s.id AND s.id < d.first_order + d.orders))"
                .to_owned(),
        ),
        holds(
            "facts and deltas",
            "the facts of each delta are those that it logged, in count and in sums, in its cube and on its day",
            &["change_log"],
            facts_and_deltas(),
        ),
        holds("keys", "each fact leads to members of all dimensions", &[], keys(scale)),
    ];
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
        holds(name, says, &["calendar_day", "product", "customer"], aggregates(*level))
    }));
    all
}

/// One query over all cubes, of which `each` gives the part of one that is numbered from 1.
fn of_cubes(each: impl Fn(usize, &str) -> String) -> String {
    let parts: Vec<String> = CUBES.iter().zip(1..).map(|(cube, id)| each(id, cube)).collect();
    parts.join(" UNION ALL ")
}

fn facts_and_deltas() -> String {
    let facts = of_cubes(|id, cube| {
        format!("SELECT {id}, delta_id, day_id, -1, -quantity, -gross_cents FROM {cube} WHERE delta_id <> 0")
    });
    format!(
        "SELECT x.cube_id, x.delta_id, x.day_id, SUM(x.missing) AS missing, SUM(x.quantity) AS quantity, \
         SUM(x.gross_cents) AS gross_cents FROM (SELECT cube_id, delta_id, day_id, 1 AS missing, quantity, gross_cents \
         FROM change_log UNION ALL {facts}) x GROUP BY x.cube_id, x.delta_id, x.day_id \
         HAVING SUM(x.missing) <> 0 OR SUM(x.quantity) <> 0 OR SUM(x.gross_cents) <> 0"
    )
}

fn keys(scale: &Scale) -> String {
    let ends = [
        ("day_id", DAYS),
        ("customer_id", scale.customers()),
        ("product_id", scale.products()),
        ("site_id", SITES),
        ("channel_id", CHANNELS),
    ];
    let outside: Vec<String> = ends.iter().map(|(column, last)| format!("{column} < 1 OR {column} > {last}")).collect();
    let outside = outside.join(" OR ");
    let broken = of_cubes(|id, cube| {
        format!(
            "SELECT {id} AS cube_id, id, day_id, customer_id, product_id, site_id, channel_id FROM {cube} WHERE {outside}"
        )
    });
    format!("SELECT x.* FROM ({broken}) x")
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
    let all = of_cubes(|id, cube| {
        format!(
            "SELECT {id} AS cube_id, d.{period}, p.{product}, c.{customer}, 1 AS cells, COUNT(*) AS facts, {added} FROM {cube} f \
             JOIN calendar_day d ON d.id = f.day_id JOIN product p ON p.id = f.product_id \
             JOIN customer c ON c.id = f.customer_id GROUP BY d.{period}, p.{product}, c.{customer} \
             UNION ALL SELECT {id}, {by}, -1, -a.facts, {stated} FROM {} a",
            level.table(cube)
        )
    });
    let differ = SUMS.map(|name| format!("SUM(x.{name}) <> 0")).join(" OR ");
    format!(
        "SELECT x.cube_id, {by}, SUM(x.facts) AS facts, {left} FROM ({all}) x GROUP BY x.cube_id, {by} \
         HAVING SUM(x.cells) <> 0 OR SUM(x.facts) <> 0 OR {differ}"
    )
}

/// What is added up beside the number of facts.
const SUMS: [&str; 4] = ["quantity", "gross_cents", "net_cents", "cost_cents"];
