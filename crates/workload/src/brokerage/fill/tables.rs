//! Which rows each table has.
//!
//! What it does not do: it makes none.

use super::{Maker, fixed, market, people, trades};
use crate::brokerage::charges::LEVIES;
use crate::brokerage::{Scale, names, scale::PRICE_DAYS};
use crate::dataset::Source;

/// One lot of each block is kept, and some trades of the last block are open still.
fn lots(scale: &Scale) -> u64 {
    scale.trades() / 20 + scale.accounts() * 5 / 2
}

/// The kept lots of an account are in about a dozen securities.
fn positions(scale: &Scale) -> u64 {
    let blocks = scale.trades() / scale.accounts() / 20;
    scale.accounts() * (25 + 90 * blocks / (blocks + 10)) / 10
}

/// The rows of the table of that name: exactly so many where each unit has one, else an estimate for progress.
pub(in crate::brokerage) fn source(scale: &Scale, table: &str) -> Source<Maker> {
    let (customers, accounts, companies) = (scale.customers, scale.accounts(), scale.companies());
    let (securities, trades) = (scale.securities(), scale.trades());
    match table {
        "status" => Source::one(fixed::COUNT_OF_STATUSES, fixed::status),
        "postal_area" => Source::one(names::AREAS, fixed::postal_area),
        "levy" => Source::one(LEVIES, fixed::levy),
        "order_type" => Source::one(5, fixed::order_type),
        "exchange" => Source::one(4, fixed::exchange),
        "sector" => Source::one(12, fixed::sector),
        "industry" => Source::one(names::INDUSTRIES, fixed::industry),
        "fee" => Source::one(15, fixed::fee),
        "commission_rate" => Source::one(240, fixed::commission_rate),
        "address" => Source::one(people::EXCHANGE_ADDRESSES + companies + customers, people::address),
        "customer" => Source::one(customers, people::customer),
        "customer_levy" => Source::one(customers * 2, people::customer_levy),
        "broker" => Source::one(scale.brokers(), people::broker),
        "account" => Source::one(accounts, people::account),
        "access_grant" => Source::several(accounts, accounts * 142 / 100, people::access_grant),
        "watchlist" => Source::one(customers, people::watchlist),
        "watch_entry" => Source::one(customers * people::watched(scale), people::watch_entry),
        "company" => Source::one(companies, market::company),
        "competitor" => Source::one(companies * 3, market::competitor),
        "financial" => Source::one(companies * market::QUARTERS, market::financial),
        "article" => Source::one(companies * 2, market::article),
        "article_link" => Source::one(companies * 2, market::article_link),
        "security" => Source::one(securities, market::security),
        "quote" => Source::one(securities, market::quote),
        "daily_price" => Source::one(securities * PRICE_DAYS as u64, market::daily_price),
        "trade" => Source::one(trades, trades::trade),
        "trade_event" => Source::several(trades, trades * 240 / 100, trades::trade_event),
        "settlement" => Source::one(trades, trades::settlement),
        "cash_entry" => Source::one(trades, trades::cash_entry).about(trades * 92 / 100),
        "position" => Source::several(accounts, positions(scale), trades::position),
        "lot" => Source::several(accounts, lots(scale), trades::lot),
        "lot_change" => Source::several(trades, trades * 122 / 100, trades::lot_change),
        _ => Source::empty(),
    }
}
