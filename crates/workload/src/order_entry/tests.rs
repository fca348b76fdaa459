//! A wholesaler on a real database in memory.

use super::business::Entry;
use super::house::{CUSTOMERS, DISTRICTS, House, depot_of};
use super::mix::Class;
use super::statements::SAID;
use super::{classes, data_set};
use crate::bench::Bench;
use crate::dataset::DataSet;
use crate::kind::{Ledger, Share, Transactions};
use crate::transaction::{Begun, Business, Ending};
use std::collections::BTreeMap;
use units::Nanos;

const HOUSE: House = House { depots: 2 };

fn share(worker: u32, half: Option<u32>) -> Share {
    Share { worker, workers: 2, first: 0, slots: 1, seed: 5, epoch: 0, half }
}

fn filled() -> (Bench, DataSet) {
    let data = DataSet::new(data_set::MARKED, HOUSE);
    (Bench::filled(&data, SAID.statements()), data)
}

/// So many arrivals; how many there were of each class.
fn run(bench: &mut Bench, worker: &mut Entry, arrivals: std::ops::Range<u64>) -> BTreeMap<String, u64> {
    let mut counts = BTreeMap::new();
    for n in arrivals {
        let class = classes()[usize::from(worker.class(n, 0))].name.clone();
        *counts.entry(class).or_default() += 1;
        bench.carry(worker, 0, Begun { n, payload: 0, at: Nanos::ZERO }).unwrap();
        worker.ended(0, Ending::Done, Nanos::ZERO, &mut Vec::new());
    }
    counts
}

#[test]
fn what_the_fill_makes_is_in_order_as_many_rows_as_it_says_and_found_again_page_by_page() {
    let (mut bench, data) = filled();
    assert_eq!(bench.broken(&data), [""; 0]);
    for table in data.tables() {
        let rows = bench.number(&format!("select count(*) from {}", table.name));
        assert_eq!(rows as u64, data.row_count(&table), "{}", table.name);
    }
    for figure in data.figures(true) {
        assert_eq!(Bench::number(&bench, &figure.sql), figure.is, "{}", figure.what);
    }
    let pages: Vec<_> = data.pages().collect();
    assert!(pages.iter().all(|page| bench.differences(page).is_empty()) && pages.len() > 50, "{}", pages.len());
    for customer in [1, 43, CUSTOMERS, CUSTOMERS + 1, HOUSE.customers()] {
        assert_eq!(HOUSE.past_of(customer).customer, customer, "its order is found again");
    }
    for statement in &bench.statements {
        assert_eq!(bench.prepare(statement).0 > 0, statement.rows, "{}", statement.name);
    }
    let known = |name: &str| Some(if name == "depots" { "2" } else { "order-entry" }.to_owned());
    assert_eq!(data_set::described(&known), Some(data), "its mark is read again");
}

#[test]
fn thousands_of_transactions_keep_every_sum_and_three_statements_in_five_read() {
    let (mut bench, data) = filled();
    let mut worker = Entry::new(HOUSE, &share(0, None));
    let before = HOUSE.begin(&mut bench, 1, true).unwrap();
    let counts = run(&mut bench, &mut worker, 0..4_000);
    assert_eq!(bench.broken(&data), [""; 0]);
    for class in classes() {
        let (share, count) = (class.share.unwrap(), counts[&class.name] as f64);
        assert!((count - 4_000.0 * share).abs() < 4.0 * (4_000.0 * share).sqrt(), "{}: {count}", class.name);
    }
    assert!(bench.touched.iter().all(|touched| *touched > 0), "every statement is called and finds something");
    let [changing, reading] = bench.called;
    let read = reading as f64 / (reading + changing) as f64;
    assert!((0.58..0.62).contains(&read), "{read} of the statements read");

    let ledger = HOUSE.ledger(1, &before, &[&worker]).unwrap();
    let damaged = |bench: &mut Bench, ledger: &Ledger| -> Vec<&str> {
        let verdicts = HOUSE.hold(bench, ledger).unwrap().into_iter();
        verdicts.filter(|verdict| verdict.damaged).map(|verdict| verdict.name).collect()
    };
    assert_eq!(damaged(&mut bench, &ledger), [""; 0]);
    for (forgotten, by) in [
        ("delete from customer_order where id = (select max(id) from customer_order)", "ledger"),
        (
            "update customer_order set status = 'open' where id = (select max(id) from customer_order where status = 'delivered')",
            "ledger",
        ),
        ("delete from payment where id = (select max(id) from payment)", "count"),
    ] {
        bench.db.execute_batch(&format!("begin; {forgotten}")).unwrap();
        assert_eq!(damaged(&mut bench, &ledger), [by], "{forgotten}");
        bench.db.execute_batch("rollback").unwrap();
    }
    // A later trial takes numbers of its own, and what the first knows still holds.
    let later = HOUSE.begin(&mut bench, 1, true).unwrap();
    assert_eq!((before.epoch, later.epoch), (0, 1));
    run(&mut bench, &mut Entry::new(HOUSE, &Share { epoch: 1, ..share(0, None) }), 0..500);
    assert_eq!(bench.broken(&data), [""; 0]);
}

#[test]
fn orders_that_are_called_off_leave_nothing_and_the_oldest_are_delivered_first() {
    let (mut bench, data) = filled();
    let mut worker = Entry::new(HOUSE, &share(0, None));
    run(&mut bench, &mut worker, 0..1_500);
    let known = |worker: &Entry, what| worker.ledger().count(what) as i64;
    use crate::kind::orders::Known::{Filled, Placed, RolledBack};
    assert_eq!(bench.number("select count(*) from customer_order where id >= 1000000"), known(&worker, Placed));
    assert!(known(&worker, RolledBack) > 0);
    let delivered = bench.number("select count(*) from customer_order where status = 'delivered'");
    assert_eq!(delivered, 240 * (HOUSE.districts() as i64) + known(&worker, Filled));
    let passed_over = "select count(*) from customer_order o join customer_order p on p.district_id = o.district_id \
                       and p.number < o.number where o.status = 'delivered' and p.status = 'open'";
    assert_eq!(bench.number(passed_over), 0);
    // A delivery finds nothing where every queue is empty.
    bench.db.execute_batch("update customer_order set status = 'delivered'; delete from open_order").unwrap();
    let delivery = (0..).find(|n| worker.class(*n, 0) == Class::Delivery as u16).unwrap();
    let before = known(&worker, Filled);
    run(&mut bench, &mut worker, delivery..delivery + 1);
    assert_eq!((worker.ledger().count(Filled) as i64, bench.broken(&data)), (before, vec!["balances"]));
}

#[test]
fn a_second_try_is_the_same_transaction() {
    let (mut bench, data) = filled();
    let mut worker = Entry::new(HOUSE, &share(0, None));
    for n in 0..100 {
        let mut batches = Vec::new();
        worker.begin(0, Begun { n, payload: 0, at: Nanos::ZERO });
        for _ in 0..2 {
            let (mut batch, mut answers) = (Default::default(), Default::default());
            worker.step(0, &answers, &mut batch);
            bench.carry_out(&batch, &mut answers);
            batches.push(batch);
            bench.undo();
            worker.restart(0);
        }
        assert_eq!(batches[0], batches[1], "{n}");
        worker.ended(0, Ending::Failed, Nanos::ZERO, &mut Vec::new());
    }
    assert_eq!(bench.broken(&data), [""; 0]);
}

#[test]
fn sessions_of_either_server_enter_orders_at_depots_that_those_of_the_other_never_do() {
    let (mut bench, data) = filled();
    for half in [0, 1] {
        run(&mut bench, &mut Entry::new(HOUSE, &share(half, Some(half))), 0..1_000);
    }
    assert_eq!(bench.broken(&data), [""; 0]);
    let depots = |of: &str| -> Vec<(i64, i64)> {
        let mut prepared = bench.db.prepare(of).unwrap();
        prepared.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap().map(Result::unwrap).collect()
    };
    let second = 1_000_000 + (1_i64 << 27);
    let districts = format!("select id >= {second}, district_id from customer_order where id >= 1000000");
    let orders = depots(&districts);
    assert!(orders.len() > 500);
    // Even depots are of the first half.
    assert!(orders.iter().all(|(second, district)| depot_of(*district as u64) as i64 == 2 - second), "{orders:?}");
    let lines = depots(&format!("select order_id >= {second}, depot_id from order_line where order_id >= 1000000"));
    let crossing = lines.iter().filter(|(second, depot)| *depot != 2 - second).count();
    assert!((1..lines.len() / 50).contains(&crossing), "{crossing} of {} lines cross", lines.len());
    assert_eq!(depot_of(DISTRICTS + 1), 2);
}

/// What is done to the data, and which invariants must see it.
const DAMAGES: &[(&str, &[&str])] = &[
    ("update district set next_number = next_number + 1 where id = 3", &["order numbers"]),
    ("delete from customer_order where id = (select max(id) from customer_order)", &["order lines", "open orders"]),
    ("update customer_order set number = number + 1000 where id = 5", &["order numbers"]),
    (
        "delete from order_line where order_id = (select max(order_id) from order_line) and line = 2",
        &["order lines", "stock"],
    ),
    ("update order_line set line = 40 where line = 5", &["order lines"]),
    ("update order_line set quantity = quantity + 1 where order_id = 9", &["prices"]),
    (
        "update customer_order set tax_cents = tax_cents + 1, total_cents = total_cents + 1 where id = 9",
        &["prices", "balances"],
    ),
    ("update customer_order set status = 'lost' where id = 9", &["open orders"]),
    ("delete from open_order where number = 300", &["open orders"]),
    ("update open_order set order_id = order_id + 1 where number = 300", &["open orders"]),
    ("update stock set quantity = quantity + 1 where depot_id = 2 and article_id = 7", &["stock"]),
    ("update stock set sold = sold + 1, quantity = quantity - 1 where depot_id = 2 and article_id = 7", &["stock"]),
    ("update stock set orders = orders + 1 where depot_id = 1 and article_id = 1", &["stock"]),
    ("update customer set balance_cents = balance_cents - 1 where id = 77", &["balances"]),
    ("update customer set paid_cents = paid_cents + 1, balance_cents = balance_cents - 1 where id = 77", &["payments"]),
    ("update district set paid_cents = paid_cents + 1 where id = 3", &["payments"]),
    ("update depot set paid_cents = paid_cents + 1 where id = 2", &["payments"]),
    ("delete from payment where id = (select max(id) from payment)", &["payments"]),
    ("update customer_order set customer_id = customer_id + 300 where id = 5", &["districts of orders"]),
];

#[test]
fn each_damage_is_seen_and_so_is_a_change_of_any_column_of_any_table() {
    let (mut bench, data) = filled();
    run(&mut bench, &mut Entry::new(HOUSE, &share(0, None)), 0..400);
    assert_eq!(bench.broken(&data), [""; 0]);
    bench.db.execute_batch("pragma foreign_keys = off").unwrap();
    bench.sees(&data, DAMAGES);
    // Nothing refers to a payment.
    assert_eq!(bench.unseen(&data, &[("payment", "id", "id >= 1000000")]), [""; 0]);
}
