//! The tables: a star of ten cubes with shared dimensions, their aggregates, and the source that deltas come from.
//!
//! The one idea: all cubes have one shape, and each aggregate is the same shape below every cube. A cube's key begins with the
//! day, so that its rows lie in the order in which reports ask for them, on every engine. Money is whole cents; days, months
//! and quarters are counted from 1.
//!
//! What it does not do: cubes declare no references, as those of warehouses mostly do not; invariants look at them.

use super::scale::{CUBES, LEVELS, Level, Scale};
use super::spec::Indexes;
use crate::dataset::{Column, Table, tables as listed};

/// The dimensions that cubes share; then the source of the deltas, and what is known of them.
const PLAIN: &[Table] = &listed! {
    calendar_month (id int, name text 10, quarter_id int, year int) key (id);
    calendar_day (id int, name text 10, weekday int, month_id int, quarter_id int, year int) key (id)
        refers [calendar_month(month_id)];
    region (id int, name text 30) key (id);
    country (id int, name text 30, region_id int, region text 30) key (id) refers [region(region_id)];
    customer (id int, name text 40, segment text 20, country_id int, country text 30, region_id int, region text 30)
        key (id) refers [country(country_id)];
    category (id int, name text 30) key (id);
    product_group (id int, name text 30, category_id int, category text 30) key (id) refers [category(category_id)];
    product (id int, name text 40, group_id int, product_group text 30, category_id int, category text 30, price_cents int,
        cost_cents int, weight_g int, volume_ml int) key (id) refers [product_group(group_id)];
    site (id int, name text 30, organisation text 30) key (id);
    channel (id int, name text 30) key (id);

    source_order (id int, customer_id int, product_id int, site_id int, channel_id int, document text 12, currency text 3,
        unit text 3, quantity int, price_cents int, changed int) key (id);
    active_order (id int, quantity int, gross_cents int, delta_id int) key (id);
    delta (id int, stream int, cube_id int, first_order int, orders int, day_id int, moment int, applied int) key (id)
        indexes [(stream, applied)];
    change_log (delta_id int, order_id int, cube_id int, day_id int, quantity int, gross_cents int)
        key (delta_id, order_id);
    marker (cube_id int, name text 20, deltas int, facts int, delta_id int, moment int) key (cube_id);
};

/// The shape of a cube. Rows of the fill are of delta 0.
const CUBE: &[Table] = &listed! {
    cube (id int, day_id int, due_day_id int, customer_id int, product_id int, site_id int, channel_id int, order_id int,
        item int, document text 12, currency text 3, unit text 3, quantity int, gross_cents int, discount_cents int,
        net_cents int, tax_cents int, freight_cents int, cost_cents int, weight_g int, volume_ml int, delta_id int)
        key (day_id, id);
};

/// What an aggregate adds up, behind its key.
const SUMS: [&str; 5] = ["facts", "quantity", "gross_cents", "net_cents", "cost_cents"];

/// All tables; one comes after those that it refers to.
pub(super) fn tables(scale: &Scale) -> Vec<Table> {
    let mut all = PLAIN.to_vec();
    for cube in CUBES {
        let shape = CUBE.iter().cloned();
        all.extend(shape.map(|shape| Table { name: cube.into(), indexes: indexes(scale.indexes), ..shape }));
        all.extend(scale.levels().iter().map(|level| aggregate(*level, cube)));
    }
    all
}

fn indexes(indexes: Indexes) -> &'static [&'static [&'static str]] {
    match indexes {
        Indexes::Few => &[],
        Indexes::Usual => &[&["product_id"]],
        Indexes::More => &[&["product_id"], &["customer_id"], &["delta_id"]],
    }
}

fn aggregate(level: Level, cube: &str) -> Table {
    let columns: Vec<Column> = level.key().iter().copied().chain(SUMS).map(Column::int).collect();
    Table::plain(level.table(cube), columns, level.key())
}

/// What a table of the data set holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Holds {
    /// A dimension, or a table of the source.
    Plain(&'static str),
    /// The facts of a cube, counted from 0.
    Facts(u64),
    /// An aggregate of a cube.
    Aggregate(Level, u64),
}

/// What the table of that name holds.
pub(super) fn holds(name: &str) -> Option<Holds> {
    let plain = PLAIN.iter().find(|plain| plain.name == name).map(|plain| Holds::Plain(&plain.name));
    plain.or_else(|| {
        let mut cubes = (0..).zip(CUBES);
        cubes.find_map(|(cube, word)| match name.strip_prefix(word)? {
            "" => Some(Holds::Facts(cube)),
            _ => {
                let level = LEVELS.into_iter().find(|level| level.table(word) == name)?;
                Some(Holds::Aggregate(level, cube))
            }
        })
    })
}
