//! The invariants.
//!
//! The one idea: each looks at a cube once, and at all cubes in one query: facts against what deltas logged, aggregates
//! against facts by quarters, and keys against the members of the dimensions, which are numbered without a gap.
//!
//! What it does not do: what moved from one member of a dimension to another within a quarter is seen where aggregates
//! disagree among each other, not against the facts.

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
    if !scale.levels().is_empty() {
        let says = "in each quarter every aggregate of a cube adds up to what its facts do";
        all.push(holds("aggregates", says, &["calendar_day", "calendar_month"], aggregates(scale)));
    }
    if scale.levels().len() > 1 {
        let says = "all aggregates of a cube agree by quarter, category and region";
        let tables = &["calendar_month", "product_group", "country"];
        all.push(holds("aggregates among each other", says, tables, among_each_other(scale)));
    }
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

/// Sums that must be equal; those of facts count themselves.
const SUMS: [&str; 5] = ["facts", "quantity", "gross_cents", "net_cents", "cost_cents"];

/// The sums of a row, each added up.
fn summed(of: &str, counts: &str) -> String {
    let sum = |name: &&str| match *name {
        "facts" => format!("{counts} AS facts"),
        name => format!("SUM({of}.{name}) AS {name}"),
    };
    SUMS.iter().map(sum).collect::<Vec<_>>().join(", ")
}

/// That all rows of a group, of which there must be so many, have the same sums.
fn unequal(rows: usize) -> String {
    let differ = SUMS.map(|name| format!("MIN(x.{name}) <> MAX(x.{name})")).join(" OR ");
    format!("COUNT(*) <> {rows} OR {differ}")
}

fn aggregates(scale: &Scale) -> String {
    let from_level = |id: usize, cube: &str, level: &Level| {
        let (table, sums) = (level.table(cube), summed("a", "SUM(a.facts)"));
        match level {
            Level::CategoryRegion => {
                format!(" UNION ALL SELECT {id}, a.quarter_id, {sums} FROM {table} a GROUP BY a.quarter_id")
            }
            _ => format!(
                " UNION ALL SELECT {id}, m.quarter_id, {sums} FROM {table} a JOIN calendar_month m ON m.id = a.month_id \
                 GROUP BY m.quarter_id"
            ),
        }
    };
    let all = of_cubes(|id, cube| {
        let levels: String = scale.levels().iter().map(|level| from_level(id, cube, level)).collect();
        format!(
            "SELECT {id} AS cube_id, d.quarter_id, {} FROM {cube} f JOIN calendar_day d ON d.id = f.day_id \
             GROUP BY d.quarter_id{levels}",
            summed("f", "COUNT(*)")
        )
    });
    grouped(&all, "x.cube_id, x.quarter_id", scale.levels().len() + 1)
}

fn among_each_other(scale: &Scale) -> String {
    let from_level = |id: usize, cube: &str, level: &Level| {
        let (table, sums) = (level.table(cube), summed("a", "SUM(a.facts)"));
        let (joins, by) = match level {
            Level::GroupRegion => (
                " JOIN calendar_month m ON m.id = a.month_id JOIN product_group g ON g.id = a.group_id",
                "m.quarter_id, g.category_id, a.region_id",
            ),
            Level::CategoryCountry => (
                " JOIN calendar_month m ON m.id = a.month_id JOIN country c ON c.id = a.country_id",
                "m.quarter_id, a.category_id, c.region_id",
            ),
            Level::CategoryRegion => ("", "a.quarter_id, a.category_id, a.region_id"),
        };
        format!("SELECT {id} AS cube_id, {by}, {sums} FROM {table} a{joins} GROUP BY {by}")
    };
    let all = of_cubes(|id, cube| {
        let levels: Vec<String> = scale.levels().iter().map(|level| from_level(id, cube, level)).collect();
        levels.join(" UNION ALL ")
    });
    grouped(&all, "x.cube_id, x.quarter_id, x.category_id, x.region_id", scale.levels().len())
}

fn grouped(all: &str, by: &str, rows: usize) -> String {
    format!(
        "SELECT {by}, MIN(x.facts) AS least, MAX(x.facts) AS most FROM ({all}) x GROUP BY {by} HAVING {}",
        unequal(rows)
    )
}
