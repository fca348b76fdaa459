//! Rows of companies, securities, their prices and what is written about them.
//!
//! What it does not do: prices come from `price`; nothing here knows of trades.

use super::people::address_of_company;
use super::{Maker, article};
use crate::brokerage::charges::{EXCHANGES, exchange_of};
use crate::brokerage::codes::ACTIVE;
use crate::brokerage::scale::{CALENDAR_DAY_US, DAY_US, LAST_DAY, NOW_US, OPENS_US, PRICE_DAYS};
use crate::brokerage::{names, price_cents};
use crate::dataset::Row;
use random::mix;

const RATINGS: [&str; 8] = ["A1", "A2", "A3", "B1", "B2", "B3", "C1", "C2"];
/// Quarters of financials of each company, in five years.
pub(super) const QUARTERS: u64 = 20;
/// Year of the first quarter.
const FIRST_YEAR: i64 = 2_021;
/// Days since 1970 of 2021-01-01.
const FIRST_YEAR_DAY: i64 = 18_628;

pub(super) fn company(_: &mut Maker, unit: u64, _: u32, row: &mut Row<'_>) -> bool {
    let (company, random) = (unit + 1, mix(unit ^ 0x636f_6d70));
    let industry = names::industry_of(company);
    row.number(company).build(|to| names::push_company(company, to)).text(ACTIVE);
    row.build(|to| names::push_industry_id(industry, to)).text(RATINGS[(random % 8) as usize]);
    row.number(address_of_company(company)).build(|to| names::push_person((1 << 41) + company, to));
    row.int(LAST_DAY - 3_000 - (random >> 8) as i64 % 30_000);
    row.build(|to| article::push_summary(company ^ 1 << 40, to)).end()
}

/// Three rivals of each company: neighbours at three distances.
pub(super) fn competitor(maker: &mut Maker, unit: u64, _: u32, row: &mut Row<'_>) -> bool {
    let scale = maker.history.scale();
    let (company, which, all) = (unit / 3 + 1, unit % 3, scale.companies());
    let rival = (company - 1 + [1, 3, 7][which as usize]) % all + 1;
    row.number(company).number(rival);
    row.build(|to| names::push_industry_id(names::industry_of(rival), to)).end()
}

pub(super) fn financial(_: &mut Maker, unit: u64, _: u32, row: &mut Row<'_>) -> bool {
    let (company, quarter) = (unit / QUARTERS + 1, (unit % QUARTERS) as i64);
    let (years, part) = (quarter / 4, quarter % 4);
    let started = FIRST_YEAR_DAY + years * 365 + i64::from(years >= 4) + part * 91;
    let random = mix(unit ^ 0x6669_6e61);
    let shares = shares_of(company);
    let revenue = 1_000_000_000 + (mix(company) % 90_000_000_000) as i64 + (random % 900_000_000) as i64;
    let margin = 200 + (random >> 32) as i64 % 2_300;
    let (earnings, diluted) = (revenue / 10_000 * margin, shares + shares / 20);
    row.number(company).int(FIRST_YEAR + years).int(part + 1).int(started).int(revenue).int(earnings);
    row.int(earnings / shares).int(earnings / diluted).int(margin).int(revenue / 7).int(revenue * 3).int(revenue * 2);
    row.int(shares).int(diluted).end()
}

fn shares_of(company: u64) -> i64 {
    10_000_000 + (mix(company ^ 0x7368) % 900_000_000) as i64
}

pub(super) fn article(_: &mut Maker, unit: u64, _: u32, row: &mut Row<'_>) -> bool {
    let (id, random) = (unit + 1, mix(unit ^ 0x6172_7469));
    row.number(id).build(|to| article::push_headline(id, to)).build(|to| article::push_summary(id, to));
    row.build(|to| article::push_body(id, to)).int(NOW_US - (random % (300 * CALENDAR_DAY_US as u64)) as i64);
    row.build(|to| {
        names::push_town(random >> 32, to);
        to.push_str(" Courier");
    });
    row.build(|to| names::push_person((1 << 42) + random % 1_000, to)).end()
}

pub(super) fn article_link(_: &mut Maker, unit: u64, _: u32, row: &mut Row<'_>) -> bool {
    row.number(unit + 1).number(unit / 2 + 1).end()
}

pub(super) fn security(maker: &mut Maker, unit: u64, _: u32, row: &mut Row<'_>) -> bool {
    let (scale, random) = (maker.history.scale(), mix(unit ^ 0x7365_6375));
    let (company, seed) = (scale.company_of(unit), maker.history.seed());
    let weekly = || (0..53).map(|week| price_cents(seed, unit, NOW_US - week * 7 * CALENDAR_DAY_US));
    let (high, low) = (weekly().max().unwrap_or(0), weekly().min().unwrap_or(0));
    let issued = LAST_DAY - 2_000 - (random % 9_000) as i64;
    let dividend = (random >> 16) as i64 % 300;
    row.build(|to| scale.push_symbol(unit, to));
    row.build(|to| {
        names::push_company(company, to);
        to.push_str(if unit < scale.companies() { " common" } else { " preferred" });
    });
    row.text(ACTIVE).text(EXCHANGES[exchange_of(unit)]).number(company).int(shares_of(company)).int(issued);
    row.int(issued + 3).int(600 + (random >> 32) as i64 % 4_000).int(high).int(low).int(dividend);
    row.int(dividend * 10_000 / price_cents(seed, unit, NOW_US)).end()
}

pub(super) fn quote(maker: &mut Maker, unit: u64, _: u32, row: &mut Row<'_>) -> bool {
    let price = price_cents(maker.history.seed(), unit, NOW_US);
    row.build(|to| maker.history.scale().push_symbol(unit, to)).int(NOW_US).int(price).int(price).int(0).end()
}

/// High and low bound the prices of a day at five moments.
pub(super) fn daily_price(maker: &mut Maker, unit: u64, _: u32, row: &mut Row<'_>) -> bool {
    let (security, back) = (unit / PRICE_DAYS as u64, (unit % PRICE_DAYS as u64) as i64);
    let day = LAST_DAY - PRICE_DAYS + back;
    let seed = maker.history.seed();
    let prices: [i64; 5] = std::array::from_fn(|moment| {
        price_cents(seed, security, day * CALENDAR_DAY_US + OPENS_US + moment as i64 * (DAY_US / 4))
    });
    let (high, low) =
        prices.iter().fold((prices[0], prices[0]), |(high, low), price| (high.max(*price), low.min(*price)));
    row.build(|to| maker.history.scale().push_symbol(security, to)).int(day).int(prices[4]).int(high).int(low);
    row.int((mix(unit ^ seed) % 5_000_000) as i64).end()
}
