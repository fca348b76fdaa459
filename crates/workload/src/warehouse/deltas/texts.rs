//! What changes and loads say.
//!
//! What it does not do: only the insert into an aggregate differs between engines, and is written as PostgreSQL writes it.

use super::super::scale::{CUBES, Level, Scale};
use super::super::statements::REPORTS;
use crate::transaction::texts::list;
use crate::transaction::{Sample, Statement};

list! { Said from REPORTS, SAID in "statements.sql":
    InsertDelta ChangeOrders FindDelta MoveMarker LogChanges Activate Apply
}

/// The place of the insert into a cube.
pub(super) fn facts(cube: u64) -> u16 {
    REPORTS + SAID.ids.len() as u16 + cube as u16
}

/// The place of the insert into an aggregate of a cube.
pub(super) fn aggregate(scale: &Scale, cube: u64, level: usize) -> u16 {
    facts(CUBES.len() as u64 + cube * scale.levels().len() as u64) + level as u16
}

/// All statements of deltas, in the order of their places behind those of reports.
pub(in crate::warehouse) fn delta_statements(scale: &Scale) -> Vec<Statement> {
    let named = |name: String, sql: String| Statement { name, sql, rows: false };
    let facts = CUBES.iter().map(|cube| named(format!("delta-load: insert {cube}"), into_facts(cube)));
    let rolled = CUBES.iter().flat_map(|cube| {
        let rolled = |level: &Level| named(format!("delta-load: roll up {}", level.table(cube)), roll_up(*level, cube));
        scale.levels().iter().map(rolled)
    });
    SAID.statements().into_iter().chain(facts).chain(rolled).collect()
}

/// What the same statements give on a database that holds nothing.
pub(in crate::warehouse) fn delta_samples(scale: &Scale) -> Vec<Option<Sample>> {
    let inserts = CUBES.len() * (1 + scale.levels().len());
    SAID.samples().into_iter().chain(std::iter::repeat_n(None, inserts)).collect()
}

/// What was logged of a delta with the master data of its orders.
const CHANGED: &str = "change_log g join source_order s on s.id = g.order_id join product p on p.id = s.product_id \
                       join customer c on c.id = s.customer_id";

/// A division leaves no rest, because engines do not agree on what becomes of one.
fn into_facts(cube: &str) -> String {
    format!(
        "insert into {cube} (id, day_id, due_day_id, customer_id, product_id, site_id, channel_id, order_id, item, document, \
         currency, unit, quantity, gross_cents, discount_cents, net_cents, tax_cents, freight_cents, cost_cents, weight_g, \
         volume_ml, delta_id) \
         select g.order_id + $1, g.day_id, g.day_id, c.id, p.id, s.site_id, s.channel_id, g.order_id, 10, s.document, \
         s.currency, s.unit, g.quantity, g.gross_cents, 0, g.gross_cents, \
         (g.gross_cents * 19 - (g.gross_cents * 19) % 100) / 100, \
         g.quantity * ((p.weight_g - p.weight_g % 10) / 10), g.quantity * p.cost_cents, g.quantity * p.weight_g, \
         g.quantity * p.volume_ml, g.delta_id from {CHANGED} where g.delta_id = $2"
    )
}

fn roll_up(level: Level, cube: &str) -> String {
    let [period, product, customer] = [level.key()[0], level.key()[1], level.key()[2]];
    let (table, key) = (level.table(cube), level.key().join(", "));
    let by = format!("d.{period}, p.{product}, c.{customer}");
    let sums = ["facts", "quantity", "gross_cents", "net_cents", "cost_cents"];
    let added = sums.map(|sum| format!("{sum} = {table}.{sum} + excluded.{sum}")).join(", ");
    format!(
        "insert into {table} ({key}, {}) select {by}, count(*), sum(g.quantity), sum(g.gross_cents), sum(g.gross_cents), \
         sum(g.quantity * p.cost_cents) from {CHANGED} join calendar_day d on d.id = g.day_id where g.delta_id = $1 \
         group by {by} on conflict ({key}) do update set {added}",
        sums.join(", ")
    )
}
