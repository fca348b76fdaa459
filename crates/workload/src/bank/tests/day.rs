//! A bank's day in memory.

use super::{Bench, data, day};
use crate::bank::day::{Day, classes, statements};
use crate::kind::{Share, Transactions};
use crate::transaction::{Begun, Business, Caused, Ending};
use std::collections::{BTreeMap, VecDeque};
use units::Nanos;

pub(super) fn share(worker: u32, epoch: u64) -> Share {
    Share { worker, workers: 1, first: 0, slots: 1, seed: 5, epoch, half: None }
}

/// So many arrivals, what comes by the clock and all that is caused beside them; how many there were of each class, and what each
/// class gave.
pub(super) fn run(bench: &mut Bench, worker: &mut Day, arrivals: u64) -> BTreeMap<String, (u64, u64)> {
    let (mut counts, mut queue) = (BTreeMap::<String, (u64, u64)>::new(), VecDeque::new());
    let mut clock = day().clock();
    let mut one = |n: u64, payload: u64, at: Nanos, queue: &mut VecDeque<Caused>| {
        let mut caused = Vec::new();
        let class = classes()[usize::from(worker.class(n, payload))].name.clone();
        bench.carry(worker, 0, Begun { n, payload, at }).unwrap();
        worker.ended(0, Ending::Done, at, &mut caused);
        let (count, given) = counts.entry(class).or_default();
        (*count, *given) = (*count + 1, *given + worker.gave(0));
        queue.extend(caused);
    };
    for n in 0..arrivals {
        let at = Nanos::from_millis(10 * n);
        one(n, 0, at, &mut queue);
        for clocked in &mut clock {
            if at.0.is_multiple_of(clocked.every.0) {
                queue.push_back(Caused { due: at, payload: clocked.payload });
                clocked.payload += clocked.transactions;
            }
        }
        while let Some(next) = queue.pop_front() {
            one(1 << 63 | n, next.payload, at, &mut queue);
        }
    }
    counts
}

#[test]
fn every_statement_is_understood_and_says_truly_whether_it_gives_rows() {
    let bench = Bench::empty(&data().tables(), statements());
    for statement in statements() {
        assert_eq!(bench.prepare(&statement).0 > 0, statement.rows, "{}", statement.name);
    }
}

#[test]
fn thousands_of_calls_leave_the_books_in_order_and_post_what_each_class_says() {
    let data = data();
    let mut bench = Bench::filled(&data, statements());
    let mut worker = Day::new(day(), &share(0, 0));
    let found = run(&mut bench, &mut worker, 4_000);
    let counts: BTreeMap<&str, u64> = found.iter().map(|(class, (count, _))| (class.as_str(), *count)).collect();
    assert_eq!(bench.broken(&data), [""; 0]);
    assert_eq!(counts.len(), classes().len(), "all classes come: {counts:?}");
    assert_eq!((counts["payment-run"], counts["standing-order"]), (8, 400));
    assert!(bench.touched.iter().all(|touched| *touched > 0), "every statement is called and finds something");
    let of = |kind: &str, status: &str| {
        bench.number(&format!(
            "select count(*) from payment_order where id >= 1000000 and kind = '{kind}' and status = '{status}'"
        )) as u64
    };
    assert_eq!(of("bulk", "posted"), counts["bulk-posting"]);
    assert_eq!(of("run", "posted"), counts["payment-run"]);
    assert_eq!(of("card", "posted") + of("card", "rejected"), counts["card-posting"]);
    assert_eq!(of("single", "posted") + of("single", "rejected") + of("single", "open"), counts["payment-order"]);
    assert!(of("card", "rejected") > 0 && of("single", "open") > 0);
    // What each class gave is what the data holds: what was rejected, or is for a day to come, posted nothing.
    for (class, kind) in [
        ("bulk-posting", "bulk"),
        ("card-posting", "card"),
        ("payment-order", "single"),
        ("payment-run", "run"),
        ("standing-order", "standing"),
    ] {
        let posted = bench.number(&format!(
            "select count(*) from order_item i join payment_order o on o.id = i.order_id \
             where o.id >= 1000000 and o.status = 'posted' and o.kind = '{kind}'"
        ));
        assert_eq!(found[class].1 as i64, posted, "{class}");
    }
    assert!(found["card-posting"].1 < counts["card-posting"] && found["payment-order"].1 < counts["payment-order"]);
    assert_eq!(found["balance"].1, 0);
    let items = bench.number("select count(*) from item where kind = 'bulk' and amount_cents > 0") as u64;
    assert_eq!(items, 30 * counts["bulk-posting"]);
    let earlier = |kind: &str| {
        bench.number(&format!(
            "select count(distinct order_id) from item where kind = '{kind}' and posted_day = 20454 and value_day = 20453"
        )) as u64
    };
    for (kind, class) in [("bulk", "bulk-posting"), ("single", "payment-order")] {
        assert!((1..counts[class] / 8).contains(&earlier(kind)), "{} of {} {class}", earlier(kind), counts[class]);
    }
    assert_eq!(earlier("card") + earlier("run") + earlier("standing"), 0);
}

#[test]
fn a_second_try_is_the_same_transaction() {
    let data = data();
    let mut bench = Bench::filled(&data, statements());
    let mut worker = Day::new(day(), &share(0, 0));
    for n in 0..100 {
        let begun = Begun { n, payload: 0, at: Nanos::ZERO };
        let mut batches = Vec::new();
        worker.begin(0, begun);
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
fn sessions_of_either_server_post_to_accounts_that_those_of_the_other_never_do_but_for_standing_orders() {
    let data = data();
    let mut bench = Bench::filled(&data, statements());
    for (worker, half) in [(0, 0), (1, 1)] {
        run(&mut bench, &mut Day::new(day(), &Share { half: Some(half), ..share(worker, 0) }), 1_500);
    }
    assert_eq!(bench.broken(&data), [""; 0]);
    let second = 1_000_000 + (1 << 27);
    let of = |from: i64, to: i64, which: &str| {
        format!("select {which} from item where order_id >= {from} and order_id < {to} and kind <> 'standing'")
    };
    let [one, other] = [of(1_000_000, second, "account_id"), of(second, 1 << 53, "account_id")];
    assert_eq!(bench.number(&format!("select count(*) from ({one} intersect {other})")), 0);
    for half in [one, other] {
        assert!(bench.number(&format!("select count(*) from ({half} group by account_id)")) > 300, "{half}");
    }
    let rejected = "from payment_order where id >= 1000000 and status = 'rejected'";
    let share = bench.number(&format!(
        "select count(*) * 1000 / (select count(*) from payment_order where id >= 1000000) {rejected}"
    ));
    assert!((1..30).contains(&share), "firms pay with the limits of firms: {share} in a thousand rejected");
}
