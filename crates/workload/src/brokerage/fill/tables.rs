//! Which rows each table has.
//!
//! What it does not do: it makes none.

use super::{Maker, fixed, market, people, trades};
use crate::brokerage::charges::LEVIES;
use crate::brokerage::{Scale, names, scale::PRICE_DAYS};
use crate::dataset::Row;

/// How the rows of a unit are written. Each writes a row and says true, or says false when the unit has no such row.
#[derive(Clone, Copy, Debug)]
pub(super) enum Rows {
    /// One row a unit, the same at every scale.
    Fixed(fn(u64, &mut Row<'_>) -> bool),
    /// One row a unit.
    Scaled(fn(&Scale, u64, &mut Row<'_>) -> bool),
    /// One row a unit, from the history or the prices.
    Made(fn(&mut Maker, u64, &mut Row<'_>) -> bool),
    /// Several rows a unit, counted from 0.
    Granted(fn(&Scale, u64, u32, &mut Row<'_>) -> bool),
    /// Several rows a unit, from the history.
    Several(fn(&mut Maker, u64, u32, &mut Row<'_>) -> bool),
    /// None.
    Empty,
}

impl Rows {
    #[inline]
    pub(super) fn write(self, maker: &mut Maker, unit: u64, sub: u32, row: &mut Row<'_>) -> bool {
        match self {
            Rows::Fixed(write) => sub == 0 && write(unit, row),
            Rows::Scaled(write) => sub == 0 && write(maker.history.scale(), unit, row),
            Rows::Made(write) => sub == 0 && write(maker, unit, row),
            Rows::Granted(write) => write(maker.history.scale(), unit, sub, row),
            Rows::Several(write) => write(maker, unit, sub, row),
            Rows::Empty => false,
        }
    }
}

/// The rows of a table.
#[derive(Clone, Copy, Debug)]
pub(super) struct Source {
    pub(super) units: fn(&Scale) -> u64,
    /// Rows, exactly or about.
    pub(super) count: fn(&Scale) -> u64,
    pub(super) rows: Rows,
}

const fn each(units: fn(&Scale) -> u64, rows: Rows) -> Source {
    Source { units, count: units, rows }
}

const fn about(count: fn(&Scale) -> u64, units: fn(&Scale) -> u64, rows: Rows) -> Source {
    Source { units, count, rows }
}

/// One lot of each block is kept, and some trades of the last block are open still.
fn lots(scale: &Scale) -> u64 {
    scale.trades() / 20 + scale.accounts() * 5 / 2
}

/// The kept lots of an account are in about a dozen securities.
fn positions(scale: &Scale) -> u64 {
    let blocks = scale.trades() / scale.accounts() / 20;
    scale.accounts() * (25 + 90 * blocks / (blocks + 10)) / 10
}

/// The rows of the table of that name.
pub(super) fn source(table: &str) -> Source {
    let addresses: fn(&Scale) -> u64 = |scale| people::EXCHANGE_ADDRESSES + scale.companies() + scale.customers;
    match table {
        "status" => each(|_| fixed::COUNT_OF_STATUSES, Rows::Fixed(fixed::status)),
        "postal_area" => each(|_| names::AREAS, Rows::Fixed(fixed::postal_area)),
        "levy" => each(|_| LEVIES, Rows::Fixed(fixed::levy)),
        "order_type" => each(|_| 5, Rows::Fixed(fixed::order_type)),
        "exchange" => each(|_| 4, Rows::Scaled(fixed::exchange)),
        "sector" => each(|_| 12, Rows::Fixed(fixed::sector)),
        "industry" => each(|_| names::INDUSTRIES, Rows::Fixed(fixed::industry)),
        "fee" => each(|_| 15, Rows::Fixed(fixed::fee)),
        "commission_rate" => each(|_| 240, Rows::Fixed(fixed::commission_rate)),
        "address" => each(addresses, Rows::Fixed(people::address)),
        "customer" => each(|scale| scale.customers, Rows::Scaled(people::customer)),
        "customer_levy" => each(|scale| scale.customers * 2, Rows::Fixed(people::customer_levy)),
        "broker" => each(Scale::brokers, Rows::Made(people::broker)),
        "account" => each(Scale::accounts, Rows::Made(people::account)),
        "access_grant" => {
            about(|scale| scale.accounts() * 142 / 100, Scale::accounts, Rows::Granted(people::access_grant))
        }
        "watchlist" => each(|scale| scale.customers, Rows::Fixed(people::watchlist)),
        "watch_entry" => each(|scale| scale.customers * people::watched(scale), Rows::Scaled(people::watch_entry)),
        "company" => each(Scale::companies, Rows::Fixed(market::company)),
        "competitor" => each(|scale| scale.companies() * 3, Rows::Scaled(market::competitor)),
        "financial" => each(|scale| scale.companies() * market::QUARTERS, Rows::Fixed(market::financial)),
        "article" => each(|scale| scale.companies() * 2, Rows::Fixed(market::article)),
        "article_link" => each(|scale| scale.companies() * 2, Rows::Fixed(market::article_link)),
        "security" => each(Scale::securities, Rows::Made(market::security)),
        "quote" => each(Scale::securities, Rows::Made(market::quote)),
        "daily_price" => each(|scale| scale.securities() * PRICE_DAYS as u64, Rows::Made(market::daily_price)),
        "trade" => each(Scale::trades, Rows::Made(trades::trade)),
        "trade_event" => about(|scale| scale.trades() * 240 / 100, Scale::trades, Rows::Several(trades::trade_event)),
        "settlement" => each(Scale::trades, Rows::Made(trades::settlement)),
        "cash_entry" => about(|scale| scale.trades() * 92 / 100, Scale::trades, Rows::Several(trades::cash_entry)),
        "pending_order" => each(|_| 0, Rows::Empty),
        "position" => about(positions, Scale::accounts, Rows::Several(trades::position)),
        "lot" => about(lots, Scale::accounts, Rows::Several(trades::lot)),
        "lot_change" => about(|scale| scale.trades() * 122 / 100, Scale::trades, Rows::Several(trades::lot_change)),
        _ => panic!("the brokerage has no table {table}"),
    }
}
