//! What must hold for the data of a bank, as SQL that every engine understands unchanged.
//!
//! The one idea: an invariant is a query for rows that break it. Mostly both sides of a sum are stacked and grouped once, so that
//! what is missing on either side is seen; where one side is known to be complete, the other is joined to it, which is faster.
//!
//! What it does not do: it runs no query.

use super::fill::{TableRows, row_count};
use super::history::History;
use super::scale::FIRST_ORDER;
use super::scale::{Scale, TODAY};
use super::schema::table;
use crate::dataset::{Figure, Invariant, Page};
use crate::transaction::Value;

/// An invariant as `"name" of [tables] "what holds" = SQL with numbers in braces;`.
macro_rules! invariants {
    ($($name:literal of $tables:tt $says:literal = $sql:literal;)*) => {
        /// The invariants.
        pub(super) fn invariants(scale: Scale, seed: u64) -> Vec<Invariant> {
            let numbers = Numbers::of(scale, seed);
            vec![$(Invariant { name: $name, says: $says, tables: &$tables, sql: numbers.put_into($sql) }),*]
        }
    };
}

invariants! {
    "double entry" of ["item"]
        "the items of each order add up to nothing" =
        "SELECT order_id, SUM(amount_cents) AS summed FROM item GROUP BY order_id HAVING SUM(amount_cents) <> 0 LIMIT 10";
    "double entry by day" of ["item"]
        "the items of each day add up to nothing" =
        "SELECT posted_day, SUM(amount_cents) AS summed FROM item GROUP BY posted_day HAVING SUM(amount_cents) <> 0 LIMIT 10";
    "turnovers" of ["balance", "item"]
        "what each account turned over on each value date is what was posted for it" =
        "SELECT b.account_id, b.value_day, b.turnover_cents, i.posted FROM balance b \
         LEFT JOIN (SELECT account_id, value_day, SUM(amount_cents) AS posted FROM item GROUP BY account_id, value_day) i \
         ON i.account_id = b.account_id AND i.value_day = b.value_day \
         WHERE b.turnover_cents <> COALESCE(i.posted, 0) LIMIT 10";
    "balances" of ["balance", "account"]
        "each balance is that of the day before with the turnover of its own value date" =
        "SELECT b.account_id, b.value_day, p.balance_cents AS earlier, b.turnover_cents, b.balance_cents FROM balance b \
         JOIN balance p ON p.account_id = b.account_id AND p.value_day = b.value_day - 1 \
         WHERE b.balance_cents <> p.balance_cents + b.turnover_cents \
         UNION ALL SELECT a.id, b.value_day, a.opening_cents, b.turnover_cents, b.balance_cents FROM account a \
         JOIN balance b ON b.account_id = a.id AND b.value_day = {first_day} \
         WHERE b.balance_cents <> a.opening_cents + b.turnover_cents LIMIT 10";
    "accounts" of ["account", "balance"]
        "each account has a balance for every day of the history and for today, and has what its last one says" =
        "SELECT a.id, a.balance_cents, b.balance_cents AS last, c.days, c.inside FROM account a \
         LEFT JOIN balance b ON b.account_id = a.id AND b.value_day = {today} \
         LEFT JOIN (SELECT account_id, COUNT(*) AS days, SUM(CASE WHEN value_day >= {first_day} AND value_day <= {today} \
         THEN 1 ELSE 0 END) AS inside FROM balance GROUP BY account_id) c ON c.account_id = a.id \
         WHERE b.account_id IS NULL OR b.balance_cents <> a.balance_cents OR c.days <> {balances} \
         OR c.inside <> {balances} LIMIT 10";
    "orders" of ["payment_order", "item"]
        "each order is open, posted or rejected, and only a posted one has items" =
        "SELECT o.id, o.status, i.items FROM payment_order o \
         LEFT JOIN (SELECT order_id, COUNT(*) AS items FROM item WHERE order_id >= {first_order} GROUP BY order_id) i \
         ON i.order_id = o.id WHERE NOT o.status IN ('open', 'posted', 'rejected') \
         OR (o.status = 'posted' AND i.order_id IS NULL) OR (o.status <> 'posted' AND i.order_id IS NOT NULL) LIMIT 10";
    "order items" of ["payment_order", "order_item"]
        "each order has as many items of its own as it says, which add up to its total; those of the night have none" =
        "SELECT x.id, SUM(x.stated) AS stated, SUM(x.summed) AS summed, SUM(x.said) AS said, SUM(x.counted) AS counted \
         FROM (SELECT id, total_cents AS stated, 0 AS summed, items AS said, 0 AS counted FROM payment_order \
         WHERE kind <> 'night' UNION ALL SELECT order_id, 0, amount_cents, 0, 1 FROM order_item) x GROUP BY x.id \
         HAVING SUM(x.stated) <> SUM(x.summed) OR SUM(x.said) <> SUM(x.counted) LIMIT 10";
    "posted orders" of ["payment_order", "item"]
        "what was posted to payees of an order is its total" =
        "SELECT o.id, o.total_cents, i.posted FROM payment_order o \
         JOIN (SELECT order_id, SUM(CASE WHEN amount_cents > 0 THEN amount_cents ELSE 0 END) AS posted FROM item \
         WHERE order_id >= {first_order} GROUP BY order_id) i ON i.order_id = o.id \
         WHERE o.kind <> 'night' AND o.total_cents <> i.posted LIMIT 10";
    "items" of ["item", "account", "payment_order"]
        "each item is of an account, of a day that has balances, and of an order if that is not archived" =
        "SELECT i.account_id, i.order_id, i.value_day FROM item i LEFT JOIN account a ON a.id = i.account_id \
         LEFT JOIN payment_order o ON o.id = i.order_id \
         WHERE a.id IS NULL OR i.value_day < {first_day} OR i.value_day > {today} \
         OR (o.id IS NULL AND i.order_id >= {first_order}) LIMIT 10";
    "prenotes" of ["payment_order", "prenote"]
        "each open order has a prenote of its account, day and total, and no other order has one" =
        "SELECT o.id, o.status, p.account_id FROM payment_order o LEFT JOIN prenote p ON p.order_id = o.id \
         WHERE (o.status = 'open' AND (p.order_id IS NULL OR p.account_id <> o.account_id OR p.value_day <> o.due_day \
         OR p.amount_cents <> o.total_cents)) OR (o.status <> 'open' AND p.order_id IS NOT NULL) LIMIT 10";
    "payees" of ["order_item", "standing_order", "prenote", "account", "payment_order"]
        "whoever is to be paid, or to pay, has an account" =
        "SELECT x.account_id FROM (SELECT account_id FROM order_item UNION ALL SELECT account_id FROM standing_order \
         UNION ALL SELECT payee_id FROM standing_order UNION ALL SELECT account_id FROM prenote \
         UNION ALL SELECT account_id FROM payment_order WHERE kind <> 'night') x \
         LEFT JOIN account a ON a.id = x.account_id WHERE a.id IS NULL LIMIT 10";
    "settlements" of ["account", "settlement", "statement", "item"]
        "each account was settled once a period, with its statement and exactly the items of its settlement" =
        "SELECT a.id, a.settled, s.settlements, s.interest, s.charges, t.statements, i.interest AS posted_interest, \
         i.charges AS posted_charges, i.items FROM account a \
         LEFT JOIN (SELECT account_id, COUNT(*) AS settlements, SUM(interest_cents) AS interest, \
         SUM(charge_cents) AS charges, SUM(CASE WHEN interest_cents <> 0 THEN 1 ELSE 0 END \
         + CASE WHEN charge_cents <> 0 THEN 1 ELSE 0 END) AS items FROM settlement GROUP BY account_id) s ON s.account_id = a.id \
         LEFT JOIN (SELECT account_id, COUNT(*) AS statements FROM statement WHERE period > 0 GROUP BY account_id) t \
         ON t.account_id = a.id \
         LEFT JOIN (SELECT account_id, SUM(CASE WHEN kind = 'interest' THEN amount_cents ELSE 0 END) AS interest, \
         SUM(CASE WHEN kind = 'charge' THEN -amount_cents ELSE 0 END) AS charges, COUNT(*) AS items FROM item \
         WHERE order_id >= {first_of_night} AND account_id <= {accounts} GROUP BY account_id) i ON i.account_id = a.id \
         WHERE a.id <= {accounts} AND (a.settled <> COALESCE(s.settlements, 0) OR a.settled <> COALESCE(t.statements, 0) \
         OR COALESCE(s.interest, 0) <> COALESCE(i.interest, 0) OR COALESCE(s.charges, 0) <> COALESCE(i.charges, 0) \
         OR COALESCE(s.items, 0) <> COALESCE(i.items, 0)) LIMIT 10";
    "ledger" of ["ledger", "account", "item"]
        "the ledger's totals of a branch by product and day are those of the items, once the branch is closed" =
        "SELECT x.branch_id, x.product_id, x.day, SUM(x.stated) AS stated, SUM(x.posted) AS posted, SUM(x.items) AS items \
         FROM (SELECT branch_id, product_id, day, credit_cents - debit_cents AS stated, credit_cents + debit_cents AS moved, \
         0 AS posted, items FROM ledger UNION ALL SELECT a.branch_id, a.product_id, i.posted_day, 0, \
         SUM(CASE WHEN i.amount_cents < 0 THEN i.amount_cents ELSE -i.amount_cents END), SUM(i.amount_cents), -COUNT(*) \
         FROM item i JOIN account a ON a.id = i.account_id WHERE i.posted_day < {today} \
         AND a.branch_id IN (SELECT branch_id FROM ledger) GROUP BY a.branch_id, a.product_id, i.posted_day) x \
         GROUP BY x.branch_id, x.product_id, x.day \
         HAVING SUM(x.stated) <> SUM(x.posted) OR SUM(x.moved) <> 0 OR SUM(x.items) <> 0 LIMIT 10";
    "cut-off" of ["cut_off", "account", "ledger"]
        "when a period is cut off every account is settled, and its totals are those of the ledger" =
        "SELECT c.period, c.accounts, a.settled, c.debit_cents, c.credit_cents FROM cut_off c \
         CROSS JOIN (SELECT COALESCE(SUM(CASE WHEN settled > 0 THEN 1 ELSE 0 END), 0) AS settled FROM account \
         WHERE id <= {accounts}) a \
         CROSS JOIN (SELECT COALESCE(SUM(debit_cents), 0) AS debits, COALESCE(SUM(credit_cents), 0) AS credits FROM ledger) l \
         WHERE c.accounts <> {accounts} OR a.settled <> {accounts} OR c.debit_cents <> l.debits \
         OR c.credit_cents <> l.credits OR c.debit_cents <> c.credit_cents LIMIT 10";
}

/// What stands in braces in the texts.
struct Numbers([(&'static str, String); 6]);

impl Numbers {
    fn of(scale: Scale, seed: u64) -> Numbers {
        let history = History::new(scale, seed);
        Numbers([
            ("{first_day}", scale.first_day().to_string()),
            ("{today}", TODAY.to_string()),
            ("{balances}", (scale.days + 1).to_string()),
            ("{accounts}", scale.accounts.to_string()),
            ("{first_order}", history.first_kept_order().to_string()),
            ("{first_of_night}", FIRST_ORDER.to_string()),
        ])
    }

    fn put_into(&self, sql: &str) -> String {
        self.0.iter().fold(sql.to_owned(), |sql, (name, number)| sql.replace(name, number))
    }
}

/// Tables that no transaction grows or shrinks.
const RESTING: [&str; 8] = ["bank", "branch", "product", "terms", "customer", "account", "standing_order", "balance"];

/// Everything that is counted or added up.
pub(super) fn figures(scale: Scale, seed: u64, history: bool) -> Vec<Figure> {
    let told = History::new(scale, seed);
    let count = |table: &str| Figure {
        what: format!("rows of {table}"),
        sql: format!("SELECT COUNT(*) FROM {table}"),
        is: row_count(scale, seed, table) as i64,
    };
    let mut all: Vec<Figure> = RESTING.iter().map(|table| count(table)).collect();
    all.push(Figure {
        what: "cents that all accounts began with".to_owned(),
        sql: "SELECT SUM(opening_cents) FROM account".to_owned(),
        is: (1..=scale.accounts).map(|account| told.opening_cents(account)).sum(),
    });
    if history {
        all.push(Figure {
            what: "items of the history".to_owned(),
            sql: format!("SELECT COUNT(*) FROM item WHERE order_id <= {}", told.last_order()),
            is: told.items() as i64,
        });
    }
    all
}

/// Tables whose rows of the fill stay, but for the named columns.
const STAYING: [(&str, &[&str]); 10] = [
    ("bank", &[]),
    ("branch", &[]),
    ("product", &[]),
    ("terms", &[]),
    ("customer", &[]),
    ("account", &["balance_cents", "settled"]),
    ("payment_order", &[]),
    ("order_item", &[]),
    ("standing_order", &["due_day"]),
    ("item", &[]),
];

/// Rows of a page, about, and pages of a table that are compared.
const ROWS: u64 = 2_000;
const PAGES: u64 = 100;

/// Pages of all tables whose rows stay; of a large table, evenly spread ones.
pub(super) fn pages(scale: Scale, seed: u64) -> impl Iterator<Item = Page> {
    STAYING.iter().flat_map(move |(name, changed)| {
        let parts = row_count(scale, seed, name).div_ceil(ROWS).max(1);
        let compared = parts.min(PAGES);
        (0..compared).filter_map(move |nth| {
            let rows = TableRows::new(scale, seed, name, (nth * parts / compared) as u32, parts as u32);
            page(name, changed, rows)
        })
    })
}

fn page(name: &'static str, changed: &[&str], mut made: TableRows) -> Option<Page> {
    let table = table(name)?;
    let places: Vec<usize> =
        (0..table.columns.len()).filter(|place| !changed.contains(&table.columns[*place].name)).collect();
    let columns: Vec<&str> = places.iter().map(|place| table.columns[*place].name).collect();
    let (mut rows, mut row) = (Vec::new(), Vec::new());
    while made.next(&mut row) {
        rows.push(places.iter().map(|place| row[*place].clone()).collect::<Vec<Value>>());
    }
    // The first column of every key is the first column of its table.
    let keys = || rows.iter().filter_map(|row| row.first()?.int());
    let (first, last) = (keys().min()?, keys().max()?);
    let sql =
        format!("SELECT {} FROM {name} WHERE {} BETWEEN {first} AND {last}", columns.join(", "), table.key.first()?);
    Some(Page { table: name, sql, columns, key: table.key, rows })
}
