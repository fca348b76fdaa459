//! The statements: one report for each cube and axis, and what a delta says.
//!
//! The one idea: a report is one text for each cube and axis, answered from the smallest aggregate that has what it shows; its
//! period, its slice and what its rows lie below are parameters. `0` stands for all in a slice.
//!
//! What it does not do: it knows no engine's own SQL.

use super::scale::{CUBES, Level, Scale};
use super::walk::Axis;
use crate::transaction::{Sample, Statement, Value};

/// Rows of a report that lists products or customers: those that sold best.
const TOP: u64 = 50;

/// Rows of a report at most: five countries or channels, or ten categories, in twelve months or four quarters.
pub(super) const MOST: usize = 60;

/// The place of the statement that reads the marker of a cube.
pub(super) const MARKER: u16 = 0;

/// The place of a report.
pub(super) fn report(cube: u64, rows: Axis) -> u16 {
    1 + cube as u16 * Axis::ALL.len() as u16 + rows as u16
}

/// Statements before those of deltas.
pub(super) const REPORTS: u16 = 1 + (CUBES.len() * Axis::ALL.len()) as u16;

/// The aggregate that a report is answered from; none when only the facts have what it shows.
pub(super) fn source(scale: &Scale, rows: Axis) -> Option<Level> {
    let fits = |level: &&Level| match level {
        Level::CategoryRegion => matches!(rows, Axis::Category | Axis::Region),
        Level::CategoryCountry => matches!(rows, Axis::Category | Axis::Region | Axis::Country),
        Level::GroupRegion => matches!(rows, Axis::Category | Axis::Region | Axis::Group),
    };
    // The coarser the smaller.
    scale.levels().iter().rev().find(fits).copied()
}

/// The periods of a report, the first and the last, in what its source counts.
pub(super) fn periods(level: Option<Level>, from: u64, quarters: u64) -> (u64, u64) {
    let (first, last) = (from, from + quarters - 1);
    match level {
        Some(Level::CategoryRegion) => (first, last),
        Some(_) => (first * 3 - 2, last * 3),
        None => (super::scale::first_day(first * 3 - 2), super::scale::first_day(last * 3 + 1) - 1),
    }
}

/// All statements, those of reports in the order of [`report`], with what each gives on a data set of about this shape.
pub(super) fn reports(scale: &Scale) -> Vec<(Statement, Option<Sample>)> {
    let said = |name: String, sql: String, sample| (Statement { name, sql, rows: true }, Some(sample));
    let newest = "select delta_id, moment from marker where cube_id = $1".to_owned();
    let marker = said("read marker".to_owned(), newest, Sample::new(1.0, vec![vec![Value::Int(0), Value::Int(0)]]));
    let report = |cube: &'static str, rows: Axis| {
        let sql = source(scale, rows).map_or_else(|| from_facts(cube, rows), |level| from_aggregate(cube, level, rows));
        let (often, period) = match rows {
            Axis::Product | Axis::Customer => (20.0, None),
            _ => (30.0, Some(5)),
        };
        let numbers = period.into_iter().chain([100, 1_000, 5_000_000, 3_000_000]);
        let row = [Value::from("Tools")].into_iter().chain(numbers.map(Value::Int)).collect();
        said(format!("{cube}: {}", rows.word()), sql, Sample::new(often, vec![row]))
    };
    let reports = CUBES.into_iter().flat_map(|cube| Axis::ALL.iter().map(move |&rows| (cube, rows)));
    [marker].into_iter().chain(reports.map(|(cube, rows)| report(cube, rows))).collect()
}

/// The name of the rows, the period of the columns, and what the rows lie below, by the aliases of dimensions: `d` of days,
/// `p` of products, `c` of customers.
struct Shape {
    name: &'static str,
    period: Option<&'static str>,
    below: Option<&'static str>,
}

fn shape(rows: Axis) -> Shape {
    let (month, quarter) = (Some("d.month_id"), Some("d.quarter_id"));
    let (name, period, below) = match rows {
        Axis::Category => ("p.category", quarter, None),
        Axis::Group => ("p.product_group", month, Some("p.category_id")),
        Axis::Product => ("p.name", None, Some("p.group_id")),
        Axis::Region => ("c.region", quarter, None),
        Axis::Country => ("c.country", month, Some("c.region_id")),
        Axis::Customer => ("c.name", None, Some("c.country_id")),
        Axis::Channel => ("h.name", month, None),
    };
    Shape { name, period, below }
}

fn from_facts(cube: &str, rows: Axis) -> String {
    let shape = shape(rows);
    let sums = "count(*), sum(f.quantity), sum(f.net_cents), sum(f.cost_cents)";
    let channel = if rows == Axis::Channel { " join channel h on h.id = f.channel_id" } else { "" };
    let from = format!(
        "{cube} f join calendar_day d on d.id = f.day_id join product p on p.id = f.product_id \
         join customer c on c.id = f.customer_id{channel}"
    );
    let slice = if rows.sliced_by_category() { "p.category_id" } else { "c.region_id" };
    let below = shape.below.map(|below| format!(" and {below} = $4")).unwrap_or_default();
    let filter = format!("f.day_id >= $1 and f.day_id <= $2 and ({slice} = $3 or $3 = 0){below}");
    grouped(shape.name, shape.period, sums, &from, &filter)
}

fn from_aggregate(cube: &str, level: Level, rows: Axis) -> String {
    let sums = "sum(a.facts), sum(a.quantity), sum(a.net_cents), sum(a.cost_cents)";
    let [period, product, customer] = [level.key()[0], level.key()[1], level.key()[2]];
    let (table, by_group, by_country) =
        (level.table(cube), level == Level::GroupRegion, level == Level::CategoryCountry);
    let (products, category) = if by_group { ("product_group", "p.category") } else { ("category", "p.name") };
    let (customers, region) = if by_country { ("country", "c.region") } else { ("region", "c.name") };
    let category_id = if by_group { "p.category_id" } else { "p.id" };
    let region_id = if by_country { "c.region_id" } else { "c.id" };
    let name = match rows {
        Axis::Category => category,
        Axis::Region => region,
        _ if rows.sliced_by_category() => "c.name",
        _ => "p.name",
    };
    let (slice, below) = if rows.sliced_by_category() { (category_id, region_id) } else { (region_id, category_id) };
    let below = shape(rows).below.map(|_| format!(" and {below} = $4")).unwrap_or_default();
    // An aggregate by quarters needs no calendar.
    let quarters = period == "quarter_id";
    let calendar = if quarters { "" } else { " join calendar_month d on d.id = a.month_id" };
    let column = match shape(rows).period {
        Some("d.month_id") => "a.month_id",
        _ if quarters => "a.quarter_id",
        _ => "d.quarter_id",
    };
    let from = format!(
        "{table} a{calendar} join {products} p on p.id = a.{product} join {customers} c on c.id = a.{customer}"
    );
    let filter = format!("a.{period} >= $1 and a.{period} <= $2 and ({slice} = $3 or $3 = 0){below}");
    grouped(name, Some(column), sums, &from, &filter)
}

fn grouped(name: &str, period: Option<&str>, sums: &str, from: &str, filter: &str) -> String {
    match period {
        Some(period) => format!(
            "select {name}, {period}, {sums} from {from} where {filter} group by {name}, {period} \
             order by {name}, {period}"
        ),
        None => format!(
            "select {name}, {sums} from {from} where {filter} group by {name} order by 4 desc, {name} limit {TOP}"
        ),
    }
}
