//! What the fill made and no transaction changes: counts of rows, sums of money, and prices that nothing has moved yet.
//!
//! The one idea: a filled row is a function of its number, so that what must be there is known without having been stored.
//!
//! What it does not do: texts and dates of such rows are not looked at.

use crate::brokerage::codes::COMPLETED;
use crate::brokerage::fill::{Maker, source};
use crate::brokerage::history::History;
use crate::brokerage::scale::NOW_US;
use crate::brokerage::schema::tables;
use crate::brokerage::{Scale, price_cents};
use crate::dataset::{Figure, RowCheck, Table};
use crate::transaction::Value;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, PoisonError};

/// Tables that transactions add to or take from.
const MOVING: [&str; 8] =
    ["trade", "trade_event", "settlement", "cash_entry", "pending_order", "position", "lot", "lot_change"];

/// A history of more trades is not summed up: a look at it takes longer than anybody waits for a check.
const TRADES_MAX: u64 = 5_000_000;

/// Sums over a history, by what it was made for.
static HISTORIES: Mutex<BTreeMap<(u64, u64, bool, u64), Sums>> = Mutex::new(BTreeMap::new());

/// What all trades of a history add up to.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    quantity: i64,
    price_cents: i64,
    fee_cents: i64,
    commission_cents: i64,
    tax_cents: i64,
}

/// Everything that is counted or added up.
pub fn figures(scale: Scale, seed: u64, history: bool) -> Vec<Figure> {
    let count = |table: &'static Table| Figure::rows_of(&table.name, rows(scale, seed, table));
    let resting = tables(scale.preset).filter(|table| !MOVING.contains(&&*table.name));
    let mut all: Vec<Figure> = resting.map(count).collect();
    all.push(opening(scale, seed));
    if history {
        all.extend(of_history(scale, seed));
    }
    all
}

/// Exact also where the fill only estimates.
fn rows(scale: Scale, seed: u64, table: &'static Table) -> u64 {
    let source = source(&scale, &table.name);
    if table.name != "access_grant" {
        return source.rows;
    }
    let (mut rows, mut row) = (source.part(Maker::new(scale, seed, true), (0, 1)), Vec::new());
    (0..).take_while(|_| rows.next(&mut row)).count() as u64
}

fn opening(scale: Scale, seed: u64) -> Figure {
    let history = History::new(scale, seed);
    Figure {
        what: "cents that all accounts began with".to_owned(),
        sql: "SELECT SUM(opening_cents) FROM account".to_owned(),
        is: (1..=scale.accounts()).map(|account| history.opening_cents(account)).sum(),
    }
}

fn of_history(scale: Scale, seed: u64) -> Vec<Figure> {
    let trades = scale.trades();
    let of = |what: &str, column: &str, is: i64| Figure {
        what: format!("{what} of the history's trades"),
        sql: format!("SELECT {column} FROM trade WHERE id <= {trades}"),
        is,
    };
    let mut all = vec![of("count", "COUNT(*)", trades as i64)];
    if trades <= TRADES_MAX {
        let sums = sums(scale, seed);
        all.extend([
            of("quantities", "SUM(quantity)", sums.quantity),
            of("prices", "SUM(price_cents)", sums.price_cents),
            of("fees", "SUM(fee_cents)", sums.fee_cents),
            of("commissions", "SUM(commission_cents)", sums.commission_cents),
            of("taxes", "SUM(tax_cents)", sums.tax_cents),
        ]);
    }
    all
}

/// Worked out once for each history: every trial of a run asks for it.
fn sums(scale: Scale, seed: u64) -> Sums {
    let house = scale.preset == crate::brokerage::Preset::House;
    let key = (scale.customers, scale.days, house, seed);
    let known = HISTORIES.lock().unwrap_or_else(PoisonError::into_inner).get(&key).copied();
    known.unwrap_or_else(|| {
        let history = History::new(scale, seed);
        let mut sums = Sums::default();
        for trade in (1..=scale.trades()).map(|number| history.trade(number)) {
            sums.quantity += trade.quantity;
            sums.price_cents += trade.price_cents;
            sums.fee_cents += trade.fee_cents;
            sums.commission_cents += trade.commission_cents;
            sums.tax_cents += trade.tax_cents;
        }
        HISTORIES.lock().unwrap_or_else(PoisonError::into_inner).insert(key, sums);
        sums
    })
}

/// Quotes, each against the price that its security opened with.
pub fn row_checks(scale: Scale, seed: u64) -> Vec<RowCheck> {
    let opened: HashMap<String, i64> =
        (0..scale.securities()).map(|security| (scale.symbol(security), price_cents(seed, security, NOW_US))).collect();
    let holds = move |row: &[Value]| {
        let number = |place: usize| row.get(place).and_then(Value::int);
        let open = row.first().and_then(Value::text).and_then(|symbol| opened.get(symbol));
        let (Some(open), Some(at), Some(price), Some(stated), Some(volume), Some(traded)) =
            (open, number(1), number(2), number(3), number(4), number(5))
        else {
            return false;
        };
        // A round of quotes states its moment, and adds what was filled to the volume; before the first one nothing has moved.
        let moved = at != NOW_US;
        let fits = if moved { price >= 1 && (0..=traded).contains(&volume) } else { price == *open && volume == 0 };
        stated == *open && fits
    };
    vec![RowCheck {
        name: "quotes",
        says: "each quote opened with the price of its security and stays so until its first round; from then on its price is a \
               cent or more, and its volume at most what was traded",
        sql: format!(
            "SELECT q.symbol, q.at, q.price_cents, q.open_cents, q.volume, CAST(COALESCE(d.traded, 0) AS INTEGER) AS traded \
             FROM quote q LEFT JOIN (SELECT symbol, SUM(quantity) AS traded FROM trade \
             WHERE id > {} AND status = '{COMPLETED}' GROUP BY symbol) d ON d.symbol = q.symbol",
            scale.trades()
        ),
        holds: Box::new(holds),
    }]
}
