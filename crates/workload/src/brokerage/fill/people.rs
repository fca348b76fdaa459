//! Rows of customers, brokers and accounts, with what hangs on them.
//!
//! What it does not do: it knows the trades of an account only as sums.

use super::Maker;
use super::fixed::levy_id;
use crate::brokerage::charges::{levies_of, tax_status};
use crate::brokerage::codes::ACTIVE;
use crate::brokerage::scale::LAST_DAY;
use crate::brokerage::{Scale, names};
use crate::dataset::Row;
use random::mix;

const ACCOUNT_KINDS: [&str; 5] = ["savings", "pension", "household", "education", "travel"];

/// Addresses 1 to 4 are those of the exchanges, then come the companies, then the customers.
pub(super) const EXCHANGE_ADDRESSES: u64 = 4;

pub(super) fn address_of_company(company: u64) -> u64 {
    EXCHANGE_ADDRESSES + company
}

fn address_of_customer(scale: &Scale, customer: u64) -> u64 {
    EXCHANGE_ADDRESSES + scale.companies() + customer
}

pub(super) fn address(_: &mut Maker, unit: u64, _: u32, row: &mut Row<'_>) -> bool {
    let random = mix(unit ^ 0x6164_6472);
    row.number(unit + 1).build(|to| names::push_street(unit, to));
    if random.is_multiple_of(3) {
        row.numbered("Floor", random >> 32 & 15)
    } else {
        row.text("")
    };
    row.build(|to| names::push_area((random >> 8) % names::AREAS, to)).text("Alder Republic").end()
}

pub(super) fn customer(maker: &mut Maker, unit: u64, _: u32, row: &mut Row<'_>) -> bool {
    let scale = maker.history.scale();
    let (customer, random) = (unit + 1, mix(unit ^ 0x6375_7374));
    row.number(customer).build(|to| scale.push_tax_id(customer, to)).text(ACTIVE);
    row.build(|to| names::push_last(customer, to))
        .build(|to| names::push_first(customer, to))
        .int(scale.tier(customer));
    row.int(LAST_DAY - 20 * 365 - (random % 20_000) as i64).number(address_of_customer(scale, customer));
    row.build(|to| {
        to.push_str("+00 ");
        names::push_padded(random % 1_000, 3, to);
        to.push(' ');
        names::push_padded((random >> 16) % 10_000_000, 7, to);
    });
    row.build(|to| {
        names::push_last(customer, to);
        names::push_number(customer, to);
        to.push_str("@post.example");
    });
    row.end()
}

pub(super) fn customer_levy(_: &mut Maker, unit: u64, _: u32, row: &mut Row<'_>) -> bool {
    row.number(unit / 2 + 1);
    levy_id(levies_of(unit / 2 + 1)[(unit % 2) as usize], row);
    row.end()
}

pub(super) fn broker(maker: &mut Maker, unit: u64, _: u32, row: &mut Row<'_>) -> bool {
    let (broker, scale) = (unit + 1, *maker.history.scale());
    let (mut trades, mut commission) = (0, 0);
    let accounts = if maker.sums { scale.accounts() } else { 0 };
    for account in (1..=accounts).filter(|account| scale.broker_of(*account) == broker) {
        let rounds = scale.trades_of(account);
        trades += rounds;
        let trades = (0..rounds).map(|round| maker.history.trade(scale.trade_number(account, round)));
        commission += trades.map(|trade| trade.commission_cents).sum::<i64>();
    }
    row.number(broker).text(ACTIVE).build(|to| to.push_str(&names::broker_name(broker)));
    row.number(trades).int(commission).end()
}

pub(super) fn account(maker: &mut Maker, unit: u64, _: u32, row: &mut Row<'_>) -> bool {
    let (account, scale) = (unit + 1, *maker.history.scale());
    let customer = scale.customer_of(account);
    let rounds = if maker.sums { scale.trades_of(account) } else { 0 };
    let trades = (0..rounds).map(|round| maker.history.trade(scale.trade_number(account, round)));
    let paid: i64 = trades.filter(|trade| trade.is_cash).map(|trade| trade.amount_cents()).sum();
    let opening = maker.history.opening_cents(account);
    row.number(account).number(customer).number(scale.broker_of(account));
    row.build(|to| {
        names::push_last(customer, to);
        to.push(' ');
        to.push_str(ACCOUNT_KINDS[(account % 5) as usize]);
    });
    row.int(tax_status(account)).int(opening).int(opening + paid).end()
}

/// The owner first; a third of accounts have one more who may trade, and some have two.
pub(super) fn access_grant(maker: &mut Maker, unit: u64, sub: u32, row: &mut Row<'_>) -> bool {
    let scale = maker.history.scale();
    let (account, random) = (unit + 1, mix(unit ^ 0x6772_616e) % 100);
    let most = 1 + u32::from(random < 38) + u32::from(random < 4);
    if sub >= most {
        return false;
    }
    let customer = (scale.customer_of(account) - 1 + u64::from(sub) * 3) % scale.customers + 1;
    row.number(account).build(|to| scale.push_tax_id(customer, to)).text(["OWN", "ALL", "BUY"][sub as usize]);
    row.build(|to| names::push_last(customer, to)).build(|to| names::push_first(customer, to)).end()
}

pub(super) fn watchlist(_: &mut Maker, unit: u64, _: u32, row: &mut Row<'_>) -> bool {
    row.number(unit + 1).number(unit + 1).end()
}

/// Securities of each list: a hundred, or half of all where there are fewer.
pub(super) fn watched(scale: &Scale) -> u64 {
    (scale.securities() / 2).min(100)
}

/// Steps of one length from a place of the list's own, too short to meet.
pub(super) fn watch_entry(maker: &mut Maker, unit: u64, _: u32, row: &mut Row<'_>) -> bool {
    let scale = maker.history.scale();
    let (all, each) = (scale.securities(), watched(scale));
    let (list, entry) = (unit / each, unit % each);
    let random = mix(list ^ 0x7761_7463);
    let stride = 1 + (random >> 32) % (all / each);
    let security = (scale.draw_security(random) + entry * stride) % all;
    row.number(list + 1).build(|to| scale.push_symbol(security, to)).end()
}
