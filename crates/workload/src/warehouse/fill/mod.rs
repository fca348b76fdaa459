//! The rows of every table, made from a scale and a seed.
//!
//! The one idea: a fact is a function of its cube and number, and facts are numbered in the order of days. So a part of a cube
//! is a span of numbers, and an aggregate's rows of a month are added up over the numbers of that month, without a database.
//!
//! What it does not do: it writes to no database.

mod aggregates;
mod dimensions;
mod facts;
mod source;

pub(super) use facts::{Facts, Prices};
pub(super) use source::ordered;

use super::scale::{CATEGORIES, CHANNELS, COUNTRIES, CUBES, DAYS, GROUPS, MONTHS, REGIONS, SITES, Scale};
use super::schema::{Holds, holds};
use crate::dataset::{Made, Row, Rows, span};
use crate::transaction::Value;
use std::ops::Range;

/// Rows of a table: exact, but for aggregates, where it is an estimate for progress.
pub(super) fn row_count(scale: &Scale, table: &str) -> u64 {
    match holds(table) {
        Some(Holds::Plain(name)) => plain_count(scale, name),
        Some(Holds::Facts(cube)) => scale.facts(cube),
        Some(Holds::Aggregate(level, cube)) => {
            let (products, customers) = level.sides();
            (level.periods() * products * customers).min(scale.facts(cube))
        }
        None => 0,
    }
}

fn plain_count(scale: &Scale, name: &str) -> u64 {
    match name {
        "calendar_month" => MONTHS,
        "calendar_day" => DAYS,
        "region" => REGIONS,
        "country" => COUNTRIES,
        "customer" => scale.customers(),
        "category" => CATEGORIES,
        "product_group" => GROUPS,
        "product" => scale.products(),
        "site" => SITES,
        "channel" => CHANNELS,
        "source_order" | "active_order" => scale.source_orders(),
        "marker" => CUBES.len() as u64,
        _ => 0,
    }
}

/// The rows of part `part` of `parts` of a table.
pub(super) fn part(scale: Scale, seed: u64, table: &str, part: u32, parts: u32) -> Box<dyn Rows> {
    let split = |count: u64| span(count, (part, parts));
    match holds(table) {
        Some(Holds::Plain(name)) => plain(scale, seed, name, split(plain_count(&scale, name))),
        Some(Holds::Facts(cube)) => facts::rows(scale, seed, cube, split(scale.facts(cube))),
        Some(Holds::Aggregate(level, cube)) => aggregates::rows(scale, seed, level, cube, split(level.periods())),
        None => Box::new(Made(|_: &mut Vec<Value>| false)),
    }
}

fn plain(scale: Scale, seed: u64, name: &'static str, numbers: Range<u64>) -> Box<dyn Rows> {
    let prices = Prices::new(seed);
    each(numbers, move |number, row| match name {
        "source_order" => source::order(&scale, prices, number, row),
        "active_order" => source::active(&scale, prices, number, row),
        "marker" => source::marker(number, row),
        _ => dimensions::member(&scale, prices, name, number, row),
    })
}

/// One row for each number, over the one before it.
fn each(mut numbers: Range<u64>, made: impl Fn(u64, &mut Row<'_>) + 'static) -> Box<dyn Rows> {
    Box::new(Made(move |fields: &mut Vec<Value>| {
        let Some(number) = numbers.next() else { return false };
        let mut row = Row::over(fields);
        made(number, &mut row);
        row.end()
    }))
}
