//! Tables whose rows do not depend on the scale: words, price lists and the map.
//!
//! What it does not do: it charges nobody; `charges` holds the numbers.

use super::Maker;
use crate::brokerage::charges::{
    BRACKETS, EXCHANGES, NATIONAL_LEVIES, ORDER_TYPES, exchange_of, levy_rate, listed_fee, listed_rate,
};
use crate::brokerage::codes::{ACTIVE, CANCELLED, COMPLETED, PENDING, SUBMITTED, sells, waits};
use crate::brokerage::names;
use crate::dataset::Row;

const STATUSES: [(&str, &str); 5] = [
    (ACTIVE, "active"),
    (SUBMITTED, "submitted"),
    (PENDING, "pending"),
    (COMPLETED, "completed"),
    (CANCELLED, "cancelled"),
];

const ORDER_NAMES: [&str; 5] = ["market buy", "market sell", "limit buy", "limit sell", "stop loss"];

const EXCHANGE_NAMES: [&str; 4] = ["Aurora Exchange", "Boreas Market", "Coral Board", "Delta Floor"];

pub(super) const COUNT_OF_STATUSES: u64 = STATUSES.len() as u64;

pub(super) fn status(_: &mut Maker, unit: u64, _: u32, row: &mut Row<'_>) -> bool {
    let (id, name) = STATUSES[unit as usize];
    row.text(id).text(name).end()
}

pub(super) fn postal_area(_: &mut Maker, unit: u64, _: u32, row: &mut Row<'_>) -> bool {
    row.build(|to| names::push_area(unit, to)).build(|to| names::push_town(unit, to)).text(names::division(unit)).end()
}

pub(super) fn levy(_: &mut Maker, unit: u64, _: u32, row: &mut Row<'_>) -> bool {
    levy_id(unit, row);
    let name = if unit < NATIONAL_LEVIES { "national levy" } else { "area levy" };
    row.numbered(name, unit).int(levy_rate(unit)).end()
}

pub(super) fn levy_id(levy: u64, row: &mut Row<'_>) {
    row.code(if levy < NATIONAL_LEVIES { "N" } else { "A" }, levy, 3);
}

pub(super) fn order_type(_: &mut Maker, unit: u64, _: u32, row: &mut Row<'_>) -> bool {
    let id = ORDER_TYPES[unit as usize];
    row.text(id).text(ORDER_NAMES[unit as usize]).int(i64::from(sells(id))).int(i64::from(!waits(id))).end()
}

/// An exchange opens and closes at minutes after midnight.
pub(super) fn exchange(maker: &mut Maker, unit: u64, _: u32, row: &mut Row<'_>) -> bool {
    let scale = maker.history.scale();
    let all = scale.securities();
    let listed = (0..4).filter(|first| exchange_of(*first) as u64 == unit).map(|first| (all + 3 - first) / 4).sum();
    row.text(EXCHANGES[unit as usize]).text(EXCHANGE_NAMES[unit as usize]).int(9 * 60).int(17 * 60).number(listed);
    row.text("trades shares of listed companies on every day of the year").number(unit + 1).end()
}

pub(super) fn sector(_: &mut Maker, unit: u64, _: u32, row: &mut Row<'_>) -> bool {
    row.text(names::SECTOR_IDS[unit as usize]).text(names::SECTORS[unit as usize]).end()
}

pub(super) fn industry(_: &mut Maker, unit: u64, _: u32, row: &mut Row<'_>) -> bool {
    let sector = (unit / 8) as usize;
    row.build(|to| names::push_industry_id(unit, to)).build(|to| {
        to.push_str(names::SECTORS[sector]);
        to.push(' ');
        to.push_str(names::BRANCHES[(unit % 8) as usize]);
    });
    row.text(names::SECTOR_IDS[sector]).end()
}

pub(super) fn fee(_: &mut Maker, unit: u64, _: u32, row: &mut Row<'_>) -> bool {
    let (tier, order_type) = ((unit / 5 + 1) as i64, (unit % 5) as usize);
    row.int(tier).text(ORDER_TYPES[order_type]).int(listed_fee(tier, order_type)).end()
}

pub(super) fn commission_rate(_: &mut Maker, unit: u64, _: u32, row: &mut Row<'_>) -> bool {
    let (bracket, exchange) = ((unit % 4) as usize, (unit / 4 % 4) as usize);
    let (order_type, tier) = ((unit / 16 % 5) as usize, (unit / 80 + 1) as i64);
    let (from, to) = BRACKETS[bracket];
    row.int(tier).text(ORDER_TYPES[order_type]).text(EXCHANGES[exchange]).int(from).int(to);
    row.int(listed_rate(tier, order_type, exchange, bracket)).end()
}
