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
    let texts = [
        ("{logged}", logged(scale)),
        ("{facts_and_deltas}", facts_and_deltas()),
        ("{look_ups}", look_ups()),
        ("{measures}", measures()),
        ("{keys}", keys(scale)),
    ];
    let mut all = Invariant::all(include_str!("invariants.sql"), &texts);
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

/// The number of a delta's stream follows from its orders, its day from its own number.
fn logged(scale: &Scale) -> String {
    let (share, cubes) = (scale.orders_a_share(), CUBES.len());
    format!(
        "SELECT g.delta_id, g.order_id, g.cube_id, g.day_id FROM change_log g LEFT JOIN delta d ON d.id = g.delta_id \
         LEFT JOIN source_order s ON s.id = g.order_id WHERE d.id IS NULL OR s.id IS NULL OR g.cube_id <> d.cube_id \
         OR g.day_id <> d.day_id OR g.order_id < d.first_order OR g.order_id >= d.first_order + d.orders \
         OR g.gross_cents <> g.quantity * s.price_cents UNION ALL SELECT id, first_order, cube_id, day_id FROM delta \
         WHERE day_id <> {DAYS} - id % {RECENT_DAYS} OR NOT applied IN (0, 1) \
         OR first_order <= (stream * {cubes} + cube_id - 1) * {share} \
         OR first_order + orders - 1 > (stream * {cubes} + cube_id) * {share}"
    )
}

fn look_ups() -> String {
    let looked_up = ["customer_id", "product_id", "site_id", "channel_id", "document", "currency", "unit"]
        .map(|column| format!("f.{column} <> s.{column}"))
        .join(" OR ");
    let broken = of_cubes(|id, cube| {
        format!(
            "SELECT {id} AS cube_id, f.id, f.delta_id, f.order_id FROM {cube} f LEFT JOIN delta d ON d.id = f.delta_id \
             LEFT JOIN change_log g ON g.delta_id = f.delta_id AND g.order_id = f.order_id \
             LEFT JOIN source_order s ON s.id = f.order_id WHERE f.delta_id <> 0 AND (d.id IS NULL OR g.order_id IS NULL \
             OR s.id IS NULL OR f.id <> {FIRST_LOADED} + d.id * {NUMBERS_A_DELTA} + f.order_id - d.first_order \
             OR f.day_id <> g.day_id OR f.quantity <> g.quantity OR f.gross_cents <> g.gross_cents OR {looked_up})"
        )
    });
    format!("SELECT x.* FROM ({broken}) x")
}

/// Rests are taken off before a division, as loads do it; the fill takes them off its freight as a whole.
fn measures() -> String {
    let broken = of_cubes(|id, cube| {
        format!(
            "SELECT {id} AS cube_id, f.id, f.quantity, f.gross_cents, f.discount_cents, f.net_cents, f.tax_cents, f.freight_cents, \
             f.cost_cents, f.weight_g, f.volume_ml, f.day_id, f.due_day_id FROM {cube} f \
             LEFT JOIN product p ON p.id = f.product_id WHERE p.id IS NULL OR f.gross_cents <> f.quantity * p.price_cents \
             OR f.net_cents <> f.gross_cents - f.discount_cents OR f.tax_cents * 100 <> f.net_cents * 19 - (f.net_cents * 19) % 100 \
             OR f.cost_cents <> f.quantity * p.cost_cents OR f.weight_g <> f.quantity * p.weight_g \
             OR f.volume_ml <> f.quantity * p.volume_ml OR f.currency <> 'EUR' OR f.unit <> 'PC' \
             OR f.freight_cents * 10 <> CASE WHEN f.delta_id = 0 THEN f.weight_g - f.weight_g % 10 \
             ELSE f.quantity * (p.weight_g - p.weight_g % 10) END OR (f.delta_id = 0 AND (f.order_id <> 0 \
             OR f.item <> 1 + (f.id - 1) % 7 * 10 OR f.discount_cents < 0 OR f.discount_cents * 100 > f.gross_cents * 15 \
             OR f.due_day_id > f.day_id + 14 OR (f.due_day_id < f.day_id + 3 AND f.due_day_id <> {DAYS}))) \
             OR (f.delta_id <> 0 AND (f.discount_cents <> 0 OR f.item <> 10 OR f.due_day_id <> f.day_id))"
        )
    });
    format!("SELECT x.* FROM ({broken}) x")
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
