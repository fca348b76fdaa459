//! The checks on SQLite in memory: they hold after loads, and each kind of damage is seen by the check that is for it.

use crate::dataset::Page;
use crate::transaction::Value;
use crate::warehouse::Spec;
use crate::warehouse::scale::CUBES;
use crate::warehouse::tests::bench::{Bench, SPEC};

fn loaded(spec: Spec) -> Bench {
    let mut bench = Bench::filled(spec);
    let mut worker = bench.worker();
    bench.run(&mut *worker, 60);
    assert_eq!(bench.complaints, [""; 0]);
    bench
}

/// What the rows of the fill are found to be.
fn differences(bench: &Bench) -> Vec<String> {
    bench.dataset.pages().flat_map(|page| page.differences(&bench.rows(&page.sql))).collect()
}

/// Figures that are not what they must be.
fn wrong(bench: &Bench) -> Vec<String> {
    let all = bench.dataset.figures(true).into_iter();
    all.filter(|figure| bench.rows(&figure.sql)[0][0] != Value::Int(figure.is)).map(|figure| figure.what).collect()
}

/// The checksums of the tables that a damage names.
fn checksums(bench: &Bench, damage: &str) -> Vec<Vec<Value>> {
    let all = bench.dataset.checksums().into_iter();
    all.filter(|(table, _)| damage.contains(&format!(" {table} "))).flat_map(|(_, sql)| bench.rows(&sql)).collect()
}

/// What sees a stale aggregate, at each level.
const STALE: &[&str] = &["aggregates by group", "aggregates by country", "aggregates by quarter"];

/// What is done to the data, and which invariants must see it. The first delta of all is loaded into orders.
const DAMAGES: &[(&str, &[&str])] = &[
    // A delta that was acknowledged and is lost, in part or with all that is known of it.
    ("DELETE FROM orders WHERE delta_id = 1", &["facts and deltas", "aggregates by group"]),
    ("UPDATE delta SET applied = 0 WHERE id = 1", &["deltas", "changes"]),
    ("DELETE FROM delta WHERE id = 1", &["deltas", "changes"]),
    (
        "DELETE FROM orders WHERE delta_id = 1; DELETE FROM change_log WHERE delta_id = 1",
        &["changes", "aggregates by country"],
    ),
    (
        "DELETE FROM orders WHERE delta_id = 1; DELETE FROM change_log WHERE delta_id = 1; DELETE FROM delta WHERE id = 1",
        &["deltas", "aggregates by quarter"],
    ),
    // One that was applied twice.
    (
        "UPDATE orders SET id = id + 1000000000000 WHERE delta_id = 1; INSERT INTO orders SELECT id - 1000000000000, day_id, \
         due_day_id, customer_id, product_id, site_id, channel_id, order_id, item, document, currency, unit, quantity, \
         gross_cents, discount_cents, net_cents, tax_cents, freight_cents, cost_cents, weight_g, volume_ml, delta_id \
         FROM orders WHERE delta_id = 1",
        &["facts and deltas", "aggregates by group"],
    ),
    ("UPDATE marker SET deltas = deltas + 1 WHERE cube_id = 1", &["deltas"]),
    ("UPDATE change_log SET quantity = quantity + 1 WHERE delta_id = 1 AND order_id = 1", &["facts and deltas"]),
    ("UPDATE orders SET day_id = day_id - 1 WHERE delta_id = 1", &["facts and deltas"]),
    ("UPDATE active_order SET quantity = quantity + 1 WHERE id = 5900", &["active orders"]),
    ("DELETE FROM active_order WHERE id = 5900", &["active orders"]),
    // An aggregate that is stale by one.
    (
        "UPDATE stock_by_group_region SET facts = facts - 1 WHERE month_id = 5 AND group_id = 1 AND region_id = 1",
        &["aggregates by group"],
    ),
    (
        "UPDATE stock_by_quarter SET net_cents = net_cents + 1 WHERE quarter_id = 5 AND category_id = 1 AND region_id = 1",
        &["aggregates by quarter"],
    ),
    ("DELETE FROM costs_by_category_country WHERE quantity > 0 AND month_id = 1", &["aggregates by country"]),
    ("INSERT INTO stock_by_quarter VALUES (99, 1, 1, 0, 0, 0, 0, 0)", &["aggregates by quarter"]),
    // One whose facts lie in another cell: of another month of the quarter, another group of the category, another country of
    // the region.
    (
        "UPDATE stock_by_group_region SET gross_cents = gross_cents + CASE month_id WHEN 1 THEN 1 ELSE -1 END \
         WHERE month_id IN (1, 2) AND group_id = 1 AND region_id = 1",
        &["aggregates by group"],
    ),
    (
        "UPDATE stock_by_group_region SET facts = facts + CASE group_id WHEN 1 THEN 1 ELSE -1 END \
         WHERE month_id = 5 AND group_id IN (1, 2) AND region_id = 1",
        &["aggregates by group"],
    ),
    (
        "UPDATE stock_by_category_country SET cost_cents = cost_cents + CASE country_id WHEN 1 THEN 1 ELSE -1 END \
         WHERE month_id = 5 AND category_id = 1 AND country_id IN (1, 2)",
        &["aggregates by country"],
    ),
    // Facts that lie elsewhere than those that were rolled up, also where nothing else tells.
    ("UPDATE receipts SET product_id = product_id + 4 WHERE id = 77", &["aggregates by group"]),
    ("UPDATE receipts SET customer_id = customer_id + 10 WHERE id = 77", &["aggregates by country"]),
    // Facts of the fill.
    ("DELETE FROM receipts WHERE id = 77", STALE),
    ("UPDATE receipts SET quantity = quantity + 1 WHERE id = 77", STALE),
    ("UPDATE receipts SET customer_id = 0 WHERE id = 77", &["keys"]),
    ("UPDATE receipts SET product_id = 1000000 WHERE id = 77", &["keys", "measures"]),
    // What a load looked up of its orders, or computed.
    ("UPDATE orders SET customer_id = customer_id % 100 + 1 WHERE delta_id = 1", &["look-ups"]),
    ("UPDATE orders SET product_id = product_id % 4 + 1 WHERE delta_id = 1", &["look-ups", "measures"]),
    ("UPDATE orders SET site_id = site_id % 24 + 1 WHERE delta_id = 1", &["look-ups"]),
    ("UPDATE orders SET channel_id = channel_id % 5 + 1 WHERE delta_id = 1", &["look-ups"]),
    ("UPDATE orders SET document = 'SO' WHERE delta_id = 1", &["look-ups"]),
    ("UPDATE orders SET currency = 'USD' WHERE delta_id = 1", &["look-ups", "measures"]),
    ("UPDATE orders SET order_id = order_id + 1 WHERE delta_id = 1", &["look-ups"]),
    (
        "UPDATE orders SET quantity = quantity + CASE order_id WHEN 1 THEN 1 WHEN 2 THEN -1 ELSE 0 END WHERE delta_id = 1",
        &["look-ups", "measures"],
    ),
    ("UPDATE orders SET discount_cents = discount_cents + 1 WHERE delta_id = 1", &["measures"]),
    ("UPDATE orders SET due_day_id = due_day_id + 1 WHERE delta_id = 1", &["measures"]),
    // Measures that no aggregate has.
    ("UPDATE receipts SET discount_cents = discount_cents + 1 WHERE id = 77", &["measures"]),
    ("UPDATE receipts SET tax_cents = tax_cents + 1 WHERE id = 77", &["measures"]),
    ("UPDATE receipts SET freight_cents = freight_cents + 1 WHERE id = 77", &["measures"]),
    ("UPDATE receipts SET weight_g = weight_g + 1 WHERE id = 77", &["measures"]),
    ("UPDATE receipts SET volume_ml = volume_ml + 1 WHERE id = 77", &["measures"]),
    ("UPDATE receipts SET due_day_id = due_day_id + 12 WHERE id = 77", &["measures"]),
    // What is known of deltas and their orders.
    ("UPDATE change_log SET day_id = day_id - 1 WHERE delta_id = 1", &["logged changes", "look-ups"]),
    ("UPDATE change_log SET gross_cents = gross_cents + 1 WHERE delta_id = 1 AND order_id = 1", &["logged changes"]),
    ("UPDATE delta SET stream = stream + 1 WHERE id = 1", &["logged changes"]),
    ("UPDATE delta SET day_id = day_id - 1 WHERE id = 1", &["logged changes"]),
    ("UPDATE marker SET delta_id = delta_id + 1 WHERE cube_id = 1", &["deltas"]),
    ("UPDATE active_order SET delta_id = delta_id + 1 WHERE id = 1", &["active orders"]),
    ("UPDATE source_order SET changed = changed + 1 WHERE id = 5900", &["active orders"]),
];

#[test]
fn a_warehouse_that_was_filled_and_loaded_passes() {
    for aggregates in 0..=3 {
        let bench = loaded(Spec { aggregates, ..SPEC });
        assert_eq!(bench.broken(), [""; 0], "{aggregates}");
        assert_eq!(wrong(&bench), [""; 0]);
        assert_eq!(differences(&bench), [""; 0]);
    }
}

#[test]
fn each_damage_is_seen_by_the_checks_that_are_for_it_and_by_the_checksums() {
    let bench = loaded(SPEC);
    let mut seen = Vec::new();
    for (damage, by) in DAMAGES {
        let whole = checksums(&bench, damage);
        bench.script("SAVEPOINT damage");
        bench.script(damage);
        let found = bench.broken();
        assert!(by.iter().all(|name| found.contains(name)), "{damage}: {found:?}");
        assert_ne!(checksums(&bench, damage), whole, "{damage}");
        bench.script("ROLLBACK TO damage");
        seen.extend(*by);
    }
    assert!(bench.dataset.invariants().iter().all(|invariant| seen.contains(&invariant.name)));
}

#[test]
fn a_change_of_any_column_of_any_table_is_seen_but_for_moments() {
    let bench = loaded(SPEC);
    bench.script("PRAGMA foreign_keys = OFF");
    let (invariants, figures) = (bench.dataset.invariants(), bench.dataset.figures(true));
    let pages: Vec<Page> = bench.dataset.pages().collect();
    let seen = || {
        invariants.iter().any(|invariant| !bench.rows(&invariant.sql).is_empty())
            || figures.iter().any(|figure| bench.rows(&figure.sql)[0][0] != Value::Int(figure.is))
            || pages.iter().any(|page| !page.differences(&bench.rows(&page.sql)).is_empty())
    };
    // One cube and its aggregates stand for all.
    let other = |name: &str| CUBES[1..].iter().any(|cube| name.starts_with(cube));
    let mut unseen = Vec::new();
    for table in bench.dataset.tables().into_iter().filter(|table| !other(&table.name)) {
        let count = bench.number(&format!("select count(*) from {}", table.name));
        for (name, column) in table.columns.iter().map(|column| (&table.name, column.name)) {
            // The first row of a cube is of the fill, the last one of a delta.
            for row in [0, count - 1] {
                bench.script("SAVEPOINT damage");
                bench.script(&format!(
                    "UPDATE {name} SET {column} = CASE WHEN typeof({column}) = 'text' THEN {column} || 'x' ELSE {column} + 1000003 \
                     END WHERE rowid = (SELECT rowid FROM {name} ORDER BY rowid LIMIT 1 OFFSET {row})"
                ));
                if column != "moment" && !seen() {
                    unseen.push(format!("{column} of row {row} of {name}"));
                }
                bench.script("ROLLBACK TO damage");
            }
        }
    }
    assert_eq!(unseen, [""; 0]);
}

#[test]
fn a_row_of_the_fill_that_was_changed_or_is_gone_is_found() {
    let bench = loaded(Spec { aggregates: 0, ..SPEC });
    bench.script("DELETE FROM receipts WHERE id = 77");
    bench.script("UPDATE product SET price_cents = price_cents + 1 WHERE id = 9");
    let found = differences(&bench);
    assert!(found.len() == 2 && found[0].starts_with("product 9: price_cents is "), "{found:?}");
    assert!(found[1].starts_with("receipts ") && found[1].ends_with(",77 is not there"), "{found:?}");
    assert!(wrong(&bench).contains(&"count of the rows that the fill made in receipts".to_owned()));
}
