//! Members of the dimensions.
//!
//! What it does not do: names of products and customers are not unique words; the number at their end makes them so.

use super::super::scale::{BELOW, FIRST_YEAR, Scale, first_day, month_of, parent, quarter_of};
use super::facts::Prices;
use crate::dataset::{Row, push_padded};

const REGIONS: [&str; 6] = ["North", "East", "South", "West", "Islands", "Overseas"];
const CATEGORIES: [&str; 10] =
    ["Tools", "Garden", "Kitchen", "Lighting", "Paint", "Timber", "Plumbing", "Heating", "Storage", "Safety"];
const SEGMENTS: [&str; 4] = ["trade", "retail", "public", "industry"];
const CHANNELS: [&str; 5] = ["counter", "telephone", "web", "agent", "wholesale"];
const ORGANISATIONS: [&str; 4] = ["Home", "Export", "Projects", "Service"];

/// Writes member `number` (from 0) of a dimension.
pub(super) fn member(scale: &Scale, prices: Prices, name: &str, number: u64, row: &mut Row<'_>) {
    let id = number + 1;
    row.number(id);
    match name {
        "calendar_month" => month(id, row),
        "calendar_day" => day(id, row),
        "region" => region(id, row),
        "category" => category(id, row),
        "country" => country(id, row),
        "product_group" => group(id, row),
        "customer" => customer(scale, id, row),
        "product" => product(scale, prices, id, row),
        "site" => {
            row.numbered("Site", id).text(ORGANISATIONS[(number / 6) as usize % ORGANISATIONS.len()]);
        }
        _ => {
            row.text(CHANNELS[number as usize % CHANNELS.len()]);
        }
    }
}

fn month(id: u64, row: &mut Row<'_>) {
    row.build(|to| push_month(id, to)).number(quarter_of(id)).number(year(id));
}

fn year(month: u64) -> u64 {
    FIRST_YEAR + (month - 1) / 12
}

fn push_month(month: u64, to: &mut String) {
    push_padded(year(month), 4, to);
    to.push('-');
    push_padded((month - 1) % 12 + 1, 2, to);
}

fn day(id: u64, row: &mut Row<'_>) {
    let month = month_of(id);
    row.build(|to| {
        push_month(month, to);
        to.push('-');
        push_padded(id - first_day(month) + 1, 2, to);
    });
    // The calendar begins on a Sunday.
    row.number((id - 1) % 7).number(month).number(quarter_of(month)).number(year(month));
}

fn region(id: u64, row: &mut Row<'_>) {
    row.text(REGIONS[(id - 1) as usize % REGIONS.len()]);
}

fn category(id: u64, row: &mut Row<'_>) {
    row.text(CATEGORIES[(id - 1) as usize % CATEGORIES.len()]);
}

fn country(id: u64, row: &mut Row<'_>) {
    row.code("Country ", id, 2).number(parent(id, BELOW));
    region(parent(id, BELOW), row);
}

fn group(id: u64, row: &mut Row<'_>) {
    row.code("Group ", id, 2).number(parent(id, BELOW));
    category(parent(id, BELOW), row);
}

fn customer(scale: &Scale, id: u64, row: &mut Row<'_>) {
    let in_country = parent(id, scale.customers_a_country());
    row.code("Customer ", id, 7).text(SEGMENTS[(id % 4) as usize]).number(in_country);
    country(in_country, row);
}

fn product(scale: &Scale, prices: Prices, id: u64, row: &mut Row<'_>) {
    let in_group = parent(id, scale.products_a_group());
    row.code("Product ", id, 6).number(in_group);
    group(in_group, row);
    row.int(prices.price_cents(id)).int(prices.cost_cents(id)).int(prices.weight_g(id)).int(prices.volume_ml(id));
}
