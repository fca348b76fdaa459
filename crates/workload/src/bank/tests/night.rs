//! A bank's night in memory.

use super::day::share;
use super::{Bench, SCALE, data, day};
use crate::bank::day::{self as by_day, Day};
use crate::bank::night::{Spec, statements};
use crate::dataset::DataSet;
use crate::kind::{Around, Ledger, Share, Transactions};
use crate::transaction::{Begun, Business, Ending};
use units::Nanos;

const SPEC: Spec = Spec { scale: SCALE, commit_every: 70 };

fn night(spec: Spec, jobs: u32) -> Box<dyn Business> {
    let ready = spec.ready(&Around { textual: false, sessions: jobs, file: &|_| unreachable!("no file") });
    let share = Share { worker: 0, workers: 1, first: 0, slots: 1, seed: 5, epoch: 0, half: None };
    ready.ok().unwrap().business(&share)
}

/// A night of so many transactions at most, with what it says of itself at its end; a piece that cannot go on fails.
pub(super) fn run(bench: &mut Bench, spec: Spec, most: u64) -> (bool, String) {
    run_by(bench, spec, 1, most)
}

/// The same in the order in which so many jobs take turns.
fn run_by(bench: &mut Bench, spec: Spec, jobs: u32, most: u64) -> (bool, String) {
    let found = spec.begin(bench, jobs, true).unwrap();
    let mut business = night(spec, jobs);
    for n in 0..spec.work().unwrap().min(most) {
        let carried = bench.carry(&mut *business, 0, Begun { n, payload: 0, at: Nanos::ZERO });
        let ending = if carried.is_ok() { Ending::Done } else { Ending::Failed };
        business.ended(0, ending, Nanos::ZERO, &mut Vec::new());
    }
    let ledger = spec.ledger(1, &found, &[&*business]).unwrap();
    let verdict = spec.hold(bench, &ledger).unwrap().remove(0);
    (verdict.damaged, verdict.text)
}

pub(super) fn checksums(bench: &Bench, data: &DataSet) -> Vec<Vec<i64>> {
    let sums = |sql: &str| {
        let mut prepared = bench.db.prepare(sql).unwrap();
        let columns = prepared.column_count();
        prepared.query_row([], |row| (0..columns).map(|column| row.get(column)).collect()).unwrap()
    };
    data.checksums().iter().map(|(_, sql)| sums(sql)).collect()
}

#[test]
fn every_statement_is_understood_and_says_truly_whether_it_gives_rows() {
    let bench = Bench::empty(&data().tables(), statements());
    for statement in statements() {
        assert_eq!(bench.prepare(&statement).0 > 0, statement.rows, "{}", statement.name);
    }
}

#[test]
fn a_night_settles_every_account_once_and_leaves_the_books_in_order() {
    let data = data();
    let mut bench = Bench::filled(&data, statements());
    assert_eq!(run(&mut bench, SPEC, u64::MAX), (false, "1000 accounts are settled, as was acknowledged".to_owned()));
    assert_eq!(bench.broken(&data), [""; 0]);
    assert_eq!(bench.number("select count(*) from account where settled = 1"), 1_000);
    assert_eq!(bench.number("select accounts from cut_off"), 1_000);
    for sign in ["> 0", "< 0"] {
        let interest = format!("select count(*) from settlement where interest_cents {sign}");
        assert!(bench.number(&interest) > 0, "interest {sign}");
    }
    assert!(bench.touched.iter().all(|touched| *touched > 0), "every statement is called and finds something");
}

#[test]
fn a_ledger_or_a_cut_off_that_is_gone_after_a_whole_night_is_missed() {
    let data = data();
    let mut bench = Bench::filled(&data, statements());
    let found = SPEC.begin(&mut bench, 1, true).unwrap();
    let mut business = night(SPEC, 1);
    let pieces = SPEC.work().unwrap();
    let mut ledgers = Vec::new();
    for n in 0..pieces {
        bench.carry(&mut *business, 0, Begun { n, payload: 0, at: Nanos::ZERO }).unwrap();
        business.ended(0, Ending::Done, Nanos::ZERO, &mut Vec::new());
        ledgers.push(SPEC.ledger(1, &found, &[&*business]).unwrap());
    }
    let damaged = |bench: &mut Bench, ledger: &Ledger| {
        SPEC.hold(bench, ledger)
            .unwrap()
            .iter()
            .filter(|verdict| verdict.damaged)
            .map(|verdict| verdict.name)
            .collect::<Vec<_>>()
    };
    let whole = ledgers.last().unwrap();
    assert_eq!(damaged(&mut bench, whole), [""; 0]);
    for gone in [
        "delete from cut_off",
        "delete from cut_off; delete from ledger",
        "delete from cut_off; delete from ledger where branch_id = 1",
    ] {
        bench.db.execute_batch(&format!("begin; {gone}")).unwrap();
        assert_eq!(bench.broken(&data), [""; 0], "{gone}: a night that was killed looks like that");
        assert_eq!(damaged(&mut bench, whole), ["closed"], "{gone}");
        bench.db.execute_batch("rollback").unwrap();
    }
    // A night that was killed has acknowledged no more than it did.
    bench.db.execute_batch("delete from cut_off; delete from ledger where branch_id = 2").unwrap();
    assert_eq!(damaged(&mut bench, &ledgers[pieces as usize - 3]), [""; 0]);
    assert_eq!(damaged(&mut bench, &ledgers[pieces as usize - 2]), ["closed"]);
}

#[test]
fn interest_is_what_a_clerk_would_compute() {
    let data = data();
    let mut bench = Bench::filled(&data, statements());
    run(&mut bench, SPEC, u64::MAX);
    let mut prepared = bench
        .db
        .prepare(
            "select s.numbers, s.interest_cents, s.charge_cents, s.items, t.charge_cents, t.item_cents, t.debit_bp, t.first_bp, \
             t.second_cents, t.second_bp, t.third_cents, t.third_bp, a.id from settlement s join account a on a.id = s.account_id \
             join terms t on t.product_id = a.product_id order by a.id",
        )
        .unwrap();
    let mut rows = prepared.query([]).unwrap();
    while let Some(row) = rows.next().unwrap() {
        let of = |column: usize| row.get::<_, i64>(column).unwrap();
        let days = format!(
            "select balance_cents from balance where account_id = {} and value_day < 20454 order by value_day",
            of(12)
        );
        let mut days = bench.db.prepare(&days).unwrap();
        let balances: Vec<i64> = days.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
        assert_eq!(balances.len(), 20);
        let rate = |cents: i64| match cents {
            ..0 => of(6),
            _ if cents < of(8) => of(7),
            _ if cents < of(10) => of(9),
            _ => of(11),
        };
        let numbers: i64 = balances.iter().map(|cents| cents * rate(*cents)).sum();
        assert_eq!((of(0), of(1)), (numbers, numbers / 3_600_000), "account {}", of(12));
        assert_eq!(of(2), of(4) + of(5) * of(3), "account {}", of(12));
    }
}

#[test]
fn a_night_that_is_killed_anywhere_is_gone_on_with_and_posts_nothing_twice() {
    let data = data();
    let mut whole = Bench::filled(&data, statements());
    run(&mut whole, SPEC, u64::MAX);
    for (kept, later) in [(0, 70), (1, 13), (7, 70), (14, 200), (15, 70), (16, 999), (17, 70)] {
        let mut bench = Bench::filled(&data, statements());
        assert!(!run(&mut bench, SPEC, kept).0);
        assert_eq!(bench.broken(&data), [""; 0], "killed after {kept}");
        // The next transaction is under way when it is killed.
        let mut cut = night(SPEC, 1);
        cut.begin(0, Begun { n: kept, payload: 0, at: Nanos::ZERO });
        let (mut batch, mut answers) = Default::default();
        cut.step(0, &answers, &mut batch);
        if !batch.is_empty() {
            bench.carry_out(&batch, &mut answers);
        }
        bench.undo();
        let next = Spec { commit_every: later, ..SPEC };
        assert!(!run(&mut bench, next, u64::MAX).0);
        assert_eq!(bench.broken(&data), [""; 0], "killed after {kept}, then {later} a commit");
        assert_eq!(checksums(&bench, &data), checksums(&whole, &data), "killed after {kept}, then {later} a commit");
    }
}

#[test]
fn the_books_at_the_end_of_a_night_do_not_tell_how_long_spans_were_or_how_many_jobs_there_were() {
    let data = data();
    let after = |commit_every: u64, jobs: u32| {
        let mut bench = Bench::filled(&data, statements());
        assert!(!run_by(&mut bench, Spec { commit_every, ..SPEC }, jobs, u64::MAX).0);
        assert_eq!(bench.broken(&data), [""; 0], "{commit_every} a commit, {jobs} jobs");
        let elsewhere = "select count(*) from item i join account a on a.id = i.account_id join account o on o.id = i.contra_id \
                         where i.order_id >= 9007199254740992 and o.branch_id <> a.branch_id";
        assert_eq!(bench.number(elsewhere), 0, "{commit_every} a commit");
        checksums(&bench, &data)
    };
    let one = after(100, 1);
    for (commit_every, jobs) in [(7, 3), (333, 2), (1_000_000, 8)] {
        assert!(after(commit_every, jobs) == one, "{commit_every} a commit, {jobs} jobs");
    }
}

#[test]
fn what_is_left_of_a_span_in_pieces_is_settled_in_one_transaction() {
    let data = data();
    let mut bench = Bench::filled(&data, statements());
    // Three jobs that are killed leave gaps in the ranges of a night with longer spans.
    run_by(&mut bench, SPEC, 3, 5);
    assert_eq!(bench.number("select count(*) from settlement"), 5 * 70);
    assert!(!run(&mut bench, Spec { commit_every: 1_000, ..SPEC }, 1).0);
    assert_eq!(bench.number("select count(*) from settlement"), 1_000);
    assert_eq!(bench.broken(&data), [""; 0]);
}

#[test]
fn a_night_that_is_gone_on_with_gives_the_accounts_that_were_left_and_no_others() {
    let data = data();
    let mut bench = Bench::filled(&data, statements());
    let mut given = |spec: Spec, most: u64| {
        let mut business = night(spec, 1);
        let one = |n| {
            let carried = bench.carry(&mut *business, 0, Begun { n, payload: 0, at: Nanos::ZERO });
            business.ended(
                0,
                if carried.is_ok() { Ending::Done } else { Ending::Failed },
                Nanos::ZERO,
                &mut Vec::new(),
            );
            if carried.is_ok() { business.gave(0) } else { 0 }
        };
        (0..spec.work().unwrap().min(most)).map(one).sum::<u64>()
    };
    assert_eq!(given(SPEC, 6), 6 * 70, "killed after six spans");
    assert_eq!(given(SPEC, 3), 0, "nothing is left of the first");
    let other = Spec { commit_every: 100, ..SPEC };
    assert_eq!(given(other, u64::MAX), 1_000 - 6 * 70, "spans of another size, one of which has a part left");
    assert_eq!(bench.number("select count(*) from settlement"), 1_000);
}

#[test]
fn a_night_that_came_to_its_end_is_taken_back_before_the_next_one() {
    let data = data();
    let mut bench = Bench::filled(&data, statements());
    let fresh = checksums(&bench, &data);
    run(&mut bench, SPEC, u64::MAX);
    let settled = checksums(&bench, &data);
    assert_ne!(fresh, settled);
    SPEC.begin(&mut bench, 1, true).unwrap();
    assert_eq!(checksums(&bench, &data), fresh);
    run(&mut bench, SPEC, u64::MAX);
    assert_eq!(checksums(&bench, &data), settled);
}

#[test]
fn a_branch_with_accounts_that_are_not_settled_is_not_closed() {
    let data = data();
    let mut bench = Bench::filled(&data, statements());
    let mut business = night(SPEC, 1);
    let spans = 1_000u64.div_ceil(70);
    for n in 0..SPEC.work().unwrap() {
        // The first span fails, and so must the first branch and the cut-off.
        let carried = match n {
            0 => {
                business.begin(0, Begun { n, payload: 0, at: Nanos::ZERO });
                Err(None)
            }
            _ => bench.carry(&mut *business, 0, Begun { n, payload: 0, at: Nanos::ZERO }),
        };
        let failed = carried.is_err();
        assert_eq!(failed, n == 0 || n == spans || n == spans + 2, "{n}: {carried:?}");
        if n == spans {
            let complaint = carried.unwrap_err().unwrap();
            assert!(complaint.starts_with("70 accounts of branch 1 are not settled"), "{complaint}");
        }
        business.ended(0, if failed { Ending::Failed } else { Ending::Done }, Nanos::ZERO, &mut Vec::new());
    }
    assert_eq!(bench.broken(&data), [""; 0]);
    assert!(!run(&mut bench, SPEC, u64::MAX).0);
    assert_eq!((bench.broken(&data), bench.number("select count(*) from cut_off")), (Vec::new(), 1));
}

#[test]
fn a_posting_that_is_back_dated_earns_interest_until_its_account_is_settled_and_counts_from_today_after_that() {
    let data = data();
    let numbers = |bench: &Bench| bench.number("select sum(numbers) from settlement");
    let mut untouched = Bench::filled(&data, statements());
    run(&mut untouched, SPEC, u64::MAX);
    let mut bench = Bench::filled(&data, by_day::statements());
    let mut worker = Day::new(day(), &share(0, 0));
    day::run(&mut bench, &mut worker, 1_000);
    let earlier = "select count(*) from item where posted_day = 20454 and value_day = 20453";
    let back_dated = bench.number(earlier);
    assert!(back_dated > 100, "{back_dated}");
    (bench.statements, bench.touched) = (statements(), vec![0; statements().len()]);
    run(&mut bench, SPEC, u64::MAX);
    assert_ne!(numbers(&bench), numbers(&untouched));
    (bench.statements, bench.touched) = (by_day::statements(), vec![0; by_day::statements().len()]);
    day::run(&mut bench, &mut Day::new(day(), &share(0, 1)), 1_000);
    assert_eq!((bench.number(earlier), bench.broken(&data)), (back_dated, Vec::new()));
}
