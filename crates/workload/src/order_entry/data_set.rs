//! The tables of the wholesaler, and their rows.
//!
//! The one idea: a table has units (a depot, a customer, an order), and the rows of a unit are a function of it.
//!
//! What it does not do: what is written all day long refers to other tables by the checks alone.

use super::house::{
    ARTICLES, CUSTOMERS, DISTRICTS, GROUPS, House, LINES, QUEUED, depot_of, depot_tax_bp, district_tax_bp, group,
    last_name, list_price, price, push_town,
};
use crate::brokerage::names;
use crate::dataset::{
    Contents, DataSet, Figure, Invariant, Made, Page, Row, Rows, Staying, Table, Units, checksum, letters,
    tables as listed,
};
use crate::transaction::Value;
use random::{GOLDEN, mix};

/// All tables, referred-to ones first.
pub(super) const TABLES: &[Table] = &listed! {
    depot (id int, town text 60, tax_bp int, paid_cents int) key (id);
    district (id int, depot_id int, town text 60, tax_bp int, next_number int, paid_cents int) key (id)
        refers [depot(depot_id)];
    customer (id int, district_id int, last_name text 25, first_name text 20, street text 60, town text 60, price_group int,
        credit_cents int, balance_cents int, paid_cents int, remark text 200) key (id)
        refers [district(district_id)] indexes [(district_id, last_name)];
    article (id int, name text 60, price_cents int) key (id);
    price (price_group int, article_id int, price_cents int) key (price_group, article_id) refers [article(article_id)];
    stock (depot_id int, article_id int, opening int, quantity int, restocked int, sold int, orders int, label text 100)
        key (depot_id, article_id) refers [depot(depot_id), article(article_id)];
    customer_order (id int, district_id int, number int, customer_id int, status text 9, line_count int, tax_cents int,
        total_cents int) key (id) indexes [(district_id, number), (customer_id, number)];
    order_line (order_id int, line int, article_id int, depot_id int, quantity int, amount_cents int) key (order_id, line);
    open_order (district_id int, number int, order_id int) key (district_id, number);
    payment (id int, customer_id int, district_id int, amount_cents int) key (id) indexes [(customer_id, id)];
};

/// What an order is.
pub(super) const OPEN: &str = "open";
pub(super) const DELIVERED: &str = "delivered";

/// The word of the kind in marks.
pub const MARKED: &str = "order-entry";

/// The data set that the facts of a mark describe.
pub fn described(fact: &dyn Fn(&str) -> Option<String>) -> Option<DataSet> {
    Some(DataSet::new(MARKED, House { depots: fact("depots")?.parse().ok()? }))
}

/// How row `sub` (from 0) of a unit (from 1) is written; false where it has none.
type Write = fn(&House, unit: u64, sub: u64, row: &mut Row<'_>) -> bool;

/// Units of a table, how many rows each has at most, and how they are written.
fn source(house: &House, table: &str) -> (u64, u64, Write) {
    match table {
        "depot" => (house.depots, 1, depot),
        "district" => (house.districts(), 1, district),
        "customer" => (house.customers(), 1, customer),
        "article" => (ARTICLES, 1, article),
        "price" => (GROUPS, ARTICLES, prices),
        "stock" => (house.depots, ARTICLES, stock),
        "customer_order" => (house.customers(), 1, order),
        "order_line" => (house.customers(), LINES.0 + LINES.1, line),
        "open_order" => (house.customers(), 1, open_order),
        "payment" => (house.customers(), 1, payment),
        _ => (0, 0, |_, _, _, _| false),
    }
}

/// What so many customers paid behind those of the units before.
fn paid(unit: u64, count: u64) -> u64 {
    ((unit - 1) * count + 1..=unit * count).map(House::paid).sum()
}

fn depot(_: &House, unit: u64, _: u64, row: &mut Row<'_>) -> bool {
    row.number(unit).build(|to| push_town(unit, to)).number(depot_tax_bp(unit));
    row.number(paid(unit, DISTRICTS * CUSTOMERS)).end()
}

fn district(_: &House, unit: u64, _: u64, row: &mut Row<'_>) -> bool {
    row.number(unit).number(depot_of(unit)).build(|to| push_town(unit << 20, to)).number(district_tax_bp(unit));
    row.number(CUSTOMERS + 1).number(paid(unit, CUSTOMERS)).end()
}

fn customer(house: &House, unit: u64, _: u64, row: &mut Row<'_>) -> bool {
    let (past, paid) = (house.past_of(unit), House::paid(unit) as i64);
    let owed = if past.open() { 0 } else { past.tax_and_total().1 as i64 };
    row.number(unit).number(past.district).text(&last_name(unit)).build(|to| names::push_first(unit, to));
    row.build(|to| names::push_street(unit, to)).build(|to| push_town(unit, to)).number(group(unit));
    row.number(500_000 + mix(unit) % 500_000).int(owed - paid).int(paid);
    row.text(&letters(unit, GOLDEN, 150 + (unit % 50) as usize)).end()
}

fn article(_: &House, unit: u64, _: u64, row: &mut Row<'_>) -> bool {
    row.number(unit).build(|to| names::push_company(unit, to)).number(list_price(unit)).end()
}

fn prices(_: &House, unit: u64, sub: u64, row: &mut Row<'_>) -> bool {
    row.number(unit - 1).number(sub + 1).number(price(unit - 1, sub + 1)).end()
}

fn stock(_: &House, unit: u64, sub: u64, row: &mut Row<'_>) -> bool {
    let random = mix(unit << 32 | sub);
    let had = 20 + random % 80;
    row.number(unit).number(sub + 1).number(had).number(had).int(0).int(0).int(0);
    row.text(&letters(random, GOLDEN, 100)).end()
}

fn order(house: &House, unit: u64, _: u64, row: &mut Row<'_>) -> bool {
    let past = house.past(unit);
    let (tax, total) = past.tax_and_total();
    row.number(unit).number(past.district).number(past.number).number(past.customer);
    row.text(if past.open() { OPEN } else { DELIVERED }).number(past.lines).number(tax).number(total).end()
}

fn line(house: &House, unit: u64, sub: u64, row: &mut Row<'_>) -> bool {
    let past = house.past(unit);
    let [article, quantity, cents] = past.line(sub + 1);
    row.number(unit).number(sub + 1).number(article).number(depot_of(past.district)).number(quantity).number(cents);
    row.end() && sub < past.lines
}

fn open_order(house: &House, unit: u64, _: u64, row: &mut Row<'_>) -> bool {
    let past = house.past(unit);
    past.open() && row.number(past.district).number(past.number).number(unit).end()
}

fn payment(_: &House, unit: u64, _: u64, row: &mut Row<'_>) -> bool {
    row.number(unit).number(unit).number((unit - 1) / CUSTOMERS + 1).number(House::paid(unit)).end()
}

/// Columns of a table that transactions change; none for a table whose rows do not stay.
fn changed(table: &str) -> Option<&'static [&'static str]> {
    match table {
        "open_order" => None,
        "depot" => Some(&["paid_cents"]),
        "district" => Some(&["next_number", "paid_cents"]),
        "customer" => Some(&["balance_cents", "paid_cents"]),
        "stock" => Some(&["quantity", "restocked", "sold", "orders"]),
        "customer_order" => Some(&["status"]),
        _ => Some(&[]),
    }
}

impl Contents for House {
    fn facts(&self) -> Vec<(&'static str, String)> {
        vec![("depots", self.depots.to_string())]
    }

    fn tables(&self) -> Vec<Table> {
        TABLES.to_vec()
    }

    fn row_count(&self, table: &str) -> u64 {
        let (units, each, _) = source(self, table);
        match table {
            "order_line" => units * (2 * LINES.0 + LINES.1 - 1) / 2,
            "open_order" => self.districts() * QUEUED,
            _ => units * each,
        }
    }

    fn part(&self, table: &str, part: u32, parts: u32) -> Box<dyn Rows> {
        let (house, (units, each, write)) = (*self, source(self, table));
        let mut units = Units::of_part(units, (part, parts));
        let made =
            move |unit, sub, row: &mut Row<'_>| u64::from(sub) < each && write(&house, unit + 1, u64::from(sub), row);
        Box::new(Made(move |row: &mut Vec<Value>| units.next(row, made)))
    }

    fn invariants(&self) -> Vec<Invariant> {
        Invariant::all(include_str!("invariants.sql"), &[("{first}", self.first_new().to_string())])
    }

    /// Tables that no transaction grows or shrinks.
    fn figures(&self, _history: bool) -> Vec<Figure> {
        let resting = TABLES.iter().take_while(|table| table.name != "customer_order");
        resting.map(|table| Figure::rows_of(&table.name, self.row_count(&table.name))).collect()
    }

    fn pages(&self) -> Box<dyn Iterator<Item = Page>> {
        Page::staying(*self, &const { Staying::but(changed) })
    }

    fn checksums(&self) -> Vec<(String, String)> {
        TABLES.iter().map(checksum).collect()
    }
}
