//! The rows of every table, made from a scale and a seed.
//!
//! The one idea: a table has units (an account, a branch, an order), and the rows of a unit are a function of it. So a part of a
//! table is a span of units, and any part can be made alone, again, and beside the others.
//!
//! What it does not do: it writes to no database.

use super::history::{History, Items};
use super::scale::{CENTS_MAX, OF_FIRMS, OWN, PRODUCTS, Scale, TODAY};
use crate::brokerage::names::{self, push_first, push_last};
use crate::dataset::{Row, Source};
use random::{below, mix};

/// What rows are made from, and how far it is with the rows of a unit.
#[derive(Clone, Debug)]
pub(super) struct Maker {
    history: History,
    items: Option<Items>,
    /// Of one account: what was turned over on each day of the history and today.
    turnovers: Vec<i64>,
    balance: i64,
}

impl Maker {
    pub(super) fn new(scale: Scale, seed: u64) -> Maker {
        Maker { history: History::new(scale, seed), items: None, turnovers: Vec::new(), balance: 0 }
    }

    fn scale(&self) -> Scale {
        *self.history.scale()
    }

    fn opening(&self, account: u64) -> i64 {
        self.history.opening_cents(account)
    }

    /// What an account has when the history ends; its turnovers by value day are left behind.
    fn turn_over(&mut self, account: u64) -> i64 {
        let first = self.scale().first_day();
        self.turnovers.clear();
        self.turnovers.resize(self.scale().days as usize + 1, 0);
        let (mut items, mut balance) = (self.history.items_of(account), self.opening(account));
        while let Some(item) = items.next(&self.history) {
            self.turnovers[(item.value_day - first) as usize] += item.cents;
            balance += item.cents;
        }
        balance
    }
}

/// How the rows of a table are made; how many there are is exact.
pub(super) fn source(scale: &Scale, seed: u64, table: &str) -> Source<Maker> {
    let history = History::new(*scale, seed);
    let (orders, kept) = (scale.accounts + scale.open_orders(), history.kept_orders() + scale.open_orders());
    match table {
        "bank" => Source::one(scale.banks(), bank),
        "branch" => Source::one(scale.branches(), branch),
        "product" => Source::one(OWN, product),
        "terms" => Source::one(OWN, terms),
        "customer" => Source::one(scale.customers(), customer),
        "account" => Source::one(scale.all_accounts(), account),
        "payment_order" => Source::one(orders, payment_order).about(kept),
        "order_item" => Source::one(orders, order_item).about(kept),
        "standing_order" => Source::one(scale.standing_orders(), standing_order),
        "prenote" => Source::one(scale.open_orders(), prenote),
        "item" => Source::several(scale.accounts, history.items(), item),
        "balance" => Source::several(scale.all_accounts(), scale.all_accounts() * (scale.days + 1), balance),
        "statement" => Source::one(scale.accounts, statement),
        _ => Source::empty(),
    }
}

fn bank(_: &mut Maker, unit: u64, _: u32, row: &mut Row<'_>) -> bool {
    row.number(unit + 1).build(|to| names::push_company(unit, to)).code("BANK", unit + 1, 4).end()
}

fn branch(_: &mut Maker, unit: u64, _: u32, row: &mut Row<'_>) -> bool {
    row.number(unit + 1).number(unit / 50 + 1).build(|to| names::push_town(mix(unit) % names::AREAS, to)).end()
}

fn product(_: &mut Maker, unit: u64, _: u32, row: &mut Row<'_>) -> bool {
    row.number(unit + 1);
    match unit + 1 {
        OF_FIRMS => row.text("Account of a firm"),
        OWN => row.text("Account of the bank"),
        product => row.numbered("Account", product),
    };
    row.end()
}

/// Charges, the limit, and interest in basis points a year: on debts, and in three steps on what is had.
fn terms(_: &mut Maker, unit: u64, _: u32, row: &mut Row<'_>) -> bool {
    let n = unit as i64;
    let terms = match unit + 1 {
        OF_FIRMS => [2_500, 2, CENTS_MAX, 900, 0, 10_000_000, 5, 100_000_000, 10],
        OWN => [0, 0, CENTS_MAX, 0, 0, CENTS_MAX, 0, CENTS_MAX, 0],
        _ => [
            100 * n,
            5 * (n % 3),
            limit_cents(unit + 1),
            1_150 - 50 * n,
            10 * n,
            1_000_000,
            25 * n + 25,
            5_000_000,
            30 * n + 50,
        ],
    };
    row.number(unit + 1);
    terms.iter().for_each(|number| {
        row.int(*number);
    });
    row.end()
}

/// How far an account of a product may go below nothing.
fn limit_cents(product: u64) -> i64 {
    match product {
        1..=PRODUCTS => 200_000 * product as i64,
        _ => CENTS_MAX,
    }
}

fn customer(maker: &mut Maker, unit: u64, _: u32, row: &mut Row<'_>) -> bool {
    let (customer, scale, random) = (unit + 1, maker.scale(), mix(unit ^ 0x6375_7374));
    row.number(customer).number(scale.branch_of(scale.account_of_customer(customer)));
    row.build(|to| push_last(customer, to)).build(|to| push_first(customer, to));
    row.int(TODAY - 20 * 365 - (random % 20_000) as i64).build(|to| names::push_street(unit, to));
    row.build(|to| names::push_town((random >> 8) % names::AREAS, to)).code("+00 ", random >> 32 & 0xff_ffff, 8).end()
}

fn account(maker: &mut Maker, unit: u64, _: u32, row: &mut Row<'_>) -> bool {
    let (account, scale) = (unit + 1, maker.scale());
    let (customer, product, branch) = match account.checked_sub(scale.accounts + 1) {
        // The bank's own accounts are in the name of its first customer.
        Some(own) => (1, OWN, own + 1),
        None => (scale.customer_of(account), scale.product_of(account), scale.branch_of(account)),
    };
    let (opening, balance) = (maker.opening(account), maker.turn_over(account));
    row.number(account).number(customer).number(product).number(branch).int(limit_cents(product));
    row.int(opening).int(balance).int(0).end()
}

/// The orders of the last round by account, then those for a day to come.
fn payment_order(maker: &mut Maker, unit: u64, _: u32, row: &mut Row<'_>) -> bool {
    let (history, scale) = (&maker.history, maker.scale());
    if let Some(open) = unit.checked_sub(scale.accounts) {
        let Open { order, account, day, cents, .. } = Open::of(history, open);
        row.number(order).text("single").text("open").number(account).int(TODAY - 1).int(day).int(1).int(cents);
        return row.end();
    }
    let Some(item) = history.known_by(history.rounds() - 1, unit + 1) else { return false };
    let payer = if item.cents < 0 { item.account } else { item.contra };
    row.number(item.order).text(item.kind).text("posted").number(payer).int(item.posted_day).int(item.posted_day);
    row.int(1).int(item.cents.abs()).end()
}

fn order_item(maker: &mut Maker, unit: u64, _: u32, row: &mut Row<'_>) -> bool {
    let (history, scale) = (&maker.history, maker.scale());
    let (order, payee, cents) = match unit.checked_sub(scale.accounts) {
        Some(open) => {
            let Open { order, payee, cents, .. } = Open::of(history, open);
            (order, payee, cents)
        }
        None => {
            let Some(item) = history.known_by(history.rounds() - 1, unit + 1) else { return false };
            (item.order, if item.cents < 0 { item.contra } else { item.account }, item.cents.abs())
        }
    };
    row.number(order).int(0).number(payee).int(cents).numbered("order", order).end()
}

/// An order for a day to come.
struct Open {
    order: u64,
    account: u64,
    payee: u64,
    day: i64,
    cents: i64,
}

impl Open {
    fn of(history: &History, place: u64) -> Open {
        let (scale, random) = (history.scale(), mix(place ^ 0x6f70_656e));
        let account = place * 50 + 1 + random % 50;
        Open {
            order: history.last_order() + 1 + place,
            account,
            payee: account % scale.accounts + 1,
            day: TODAY + 1 + (random >> 32 & 15) as i64,
            cents: 1_000 + below(mix(random), 20_000) as i64,
        }
    }
}

fn standing_order(maker: &mut Maker, unit: u64, _: u32, row: &mut Row<'_>) -> bool {
    let (scale, random) = (maker.scale(), mix(unit ^ 0x7374_616e));
    let account = unit * 4 + 1 + random % 4;
    let payee = (account + (random >> 8) % (scale.accounts - 1)) % scale.accounts + 1;
    row.number(unit + 1).number(account).number(payee).int(1_000 + (random >> 32 & 0x3fff) as i64);
    row.int(TODAY + (unit % 20) as i64).int(20).end()
}

fn prenote(maker: &mut Maker, unit: u64, _: u32, row: &mut Row<'_>) -> bool {
    let Open { order, account, day, cents, .. } = Open::of(&maker.history, unit);
    row.number(order).number(account).int(day).int(cents).end()
}

fn item(maker: &mut Maker, unit: u64, _sub: u32, row: &mut Row<'_>) -> bool {
    let items = maker.items.get_or_insert_with(|| maker.history.items_of(unit + 1));
    let Some(item) = items.next(&maker.history) else {
        maker.items = None;
        return false;
    };
    row.number(item.account)
        .int(item.posted_day)
        .number(item.order)
        .int(item.value_day)
        .int(item.cents)
        .text(item.kind);
    row.number(item.contra).numbered("order", item.order).end()
}

fn balance(maker: &mut Maker, unit: u64, sub: u32, row: &mut Row<'_>) -> bool {
    let account = unit + 1;
    if sub == 0 {
        maker.turn_over(account);
        maker.balance = maker.opening(account);
    }
    let Some(turnover) = maker.turnovers.get(sub as usize) else { return false };
    maker.balance += turnover;
    row.number(account).int(maker.scale().first_day() + i64::from(sub)).int(*turnover).int(maker.balance).end()
}

/// How the period before the history ended.
fn statement(maker: &mut Maker, unit: u64, _: u32, row: &mut Row<'_>) -> bool {
    let opening = maker.opening(unit + 1);
    row.number(unit + 1).int(0).int(maker.scale().first_day() - 1).int(opening).int(opening).int(0).end()
}
