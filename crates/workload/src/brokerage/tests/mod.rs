//! The transactions on a real database in memory, and their shape without one.

mod bench;
mod market;
mod shape;

use super::checks::invariants;
use super::ledger::Known;
use super::numbers::Errand;
use super::{Brokerage, Market, Preset, Scale, Spec, cleanup_statements, codes, ledger::Judged, schema, statements};
use bench::Bench;

const PRESETS: [Preset; 2] = [Preset::Desk, Preset::House];

fn spec(preset: Preset, market: Market) -> Spec {
    Spec { preset, customers: 60, days: 1, market, maintenance: true, procedures: false }
}

fn house(spec: Spec, epoch: u64) -> Brokerage {
    Brokerage::new(spec, 5, 0, 1, 1, epoch)
}

/// All invariants hold.
fn books_are_in_order(bench: &Bench, when: &str) {
    for invariant in invariants(bench.spec.preset) {
        let broken = format!("select count(*) from ({})", invariant.sql);
        assert_eq!(bench.number(&broken), 0, "{when}: {} ({})", invariant.says, invariant.name);
    }
}

fn judge(bench: &Bench, house: &Brokerage) -> Judged {
    let mut prepared = bench.db.prepare("select id, status from trade order by id").unwrap();
    let rows = prepared.query_map([], |row| Ok((row.get::<_, i64>(0)? as u64, row.get::<_, String>(1)?))).unwrap();
    house.ledger().judge(rows.map(Result::unwrap), codes::COMPLETED)
}

#[test]
fn every_statement_is_understood_and_says_truly_whether_it_gives_rows() {
    for preset in PRESETS {
        let bench = Bench::empty(spec(preset, Market::ByCount));
        let list = statements(preset);
        for statement in &list {
            let (columns, _) = bench.prepare(statement);
            assert_eq!(columns > 0, statement.rows, "{}", statement.name);
        }
        let mut names: Vec<&String> = list.iter().map(|statement| &statement.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), list.len(), "names differ");
    }
}

#[test]
fn thousands_of_transactions_leave_the_books_of_both_presets_in_order() {
    for preset in PRESETS {
        let mut bench = Bench::filled(spec(preset, Market::ByCount));
        books_are_in_order(&bench, "after the fill");
        let mut house = house(bench.spec, 3);
        bench.run(&mut house, 0..4_000);
        if preset == Preset::House {
            // All twelve tables, both ways.
            (100..124).for_each(|round| bench.caused(&mut house, Errand::Maintenance(round)));
        }
        assert!(bench.failures.is_empty(), "{:?}", bench.failures);
        books_are_in_order(&bench, "after the run");
        assert_eq!(bench.db.query_row("pragma foreign_key_check", [], |_| Ok(())).ok(), None);
        let judged = judge(&bench, &house);
        assert!(judged.passed(), "{judged:?}");
        assert!(house.ledger().count(Known::RolledBack) > 0);
        assert_eq!(bench.counts.len(), super::classes(preset).len(), "{:?}", bench.counts);
        let (orders, results) = (bench.counts["trade-order"], bench.counts["trade-result"]);
        assert!(results * 100 > orders * 85 && results <= orders, "{:?}", bench.counts);
        let filled = house.ledger().count(Known::Filled);
        assert!(filled * 100 > results * 95, "{filled} of {results}");
        // The last round of quotes may still be on its way.
        assert!((filled / 10 - 1..=filled / 10).contains(&bench.counts["market-feed"]), "{:?}", bench.counts);
        let idle: Vec<&str> = bench
            .statements
            .iter()
            .zip(&bench.touched)
            .filter(|(_, touched)| **touched == 0)
            .map(|(statement, _)| statement.name.as_str())
            .collect();
        assert!(idle.is_empty(), "no row was ever touched by {idle:?}");
        assert_eq!(bench.number("select count(*) from trade where id >= 9007199254740992"), 0);
    }
}

#[test]
fn by_count_the_clock_does_not_matter_and_the_same_seed_leaves_the_same_rows() {
    for preset in PRESETS {
        let mut dumps = Vec::new();
        for pace in [1_000, 77_000_000] {
            let mut bench = Bench::filled(spec(preset, Market::ByCount));
            bench.pace = pace;
            let mut house = house(bench.spec, 0);
            bench.run(&mut house, 0..600);
            dumps.push(schema::tables(preset).map(|table| bench.dump(&table.name)).collect::<Vec<_>>());
        }
        assert!(dumps[0] == dumps[1], "{preset:?}");
    }
}

#[test]
fn a_later_trial_uses_numbers_of_its_own_and_leftovers_are_cancelled_before_it() {
    for preset in PRESETS {
        let mut bench = Bench::filled(spec(preset, Market::ByTime));
        let mut first = house(bench.spec, 1);
        bench.run(&mut first, 0..1_500);
        // An order whose fill never came, as when a run is cut off.
        let open = "select count(*) from trade where status in ('wait', 'sent')";
        assert!(bench.number(open) > 0);
        for sql in cleanup_statements(&Scale::of(&bench.spec)) {
            bench.db.execute_batch(&sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
        }
        assert_eq!((bench.number(open), bench.number("select count(*) from pending_order")), (0, 0));
        assert!(bench.number("select count(*) from trade_event where status = 'void'") > 0);
        let mut second = house(bench.spec, 2);
        bench.run(&mut second, 0..1_500);
        books_are_in_order(&bench, "after two trials");
        assert!(judge(&bench, &second).passed());
        let mut both = first.ledger().clone();
        both.merge(second.ledger());
        let placed = first.ledger().count(Known::Placed) + second.ledger().count(Known::Placed);
        assert_eq!(both.count(Known::Placed), placed);
    }
}

#[test]
fn a_ledger_finds_a_commit_that_the_database_forgot() {
    let mut bench = Bench::filled(spec(Preset::Desk, Market::ByTime));
    let mut house = house(bench.spec, 1);
    bench.run(&mut house, 0..500);
    bench.db.execute_batch("pragma foreign_keys = off").unwrap();
    let newest = "(select max(id) from trade where status = 'done')";
    bench.db.execute_batch(&format!("delete from trade where id = {newest}")).unwrap();
    let sql = format!("update trade set status = '{}' where id = {newest}", codes::SUBMITTED);
    bench.db.execute_batch(&sql).unwrap();
    let judged = judge(&bench, &house);
    assert_eq!((judged.missing.count, judged.unfilled.count, judged.resurrected.count), (1, 1, 0));
}

#[test]
fn sessions_of_either_server_trade_for_customers_and_in_securities_that_those_of_the_other_never_do() {
    for preset in PRESETS {
        let mut bench = Bench::filled(spec(preset, Market::ByTime));
        for (worker, half) in [(0, 0), (1, 1)] {
            let mut house = Brokerage::new(bench.spec, 5, worker, 2, 1, 1).on(Some(half));
            bench.run(&mut house, 0..1_500);
            assert!(judge(&bench, &house).passed());
        }
        books_are_in_order(&bench, "after both");
        let scale = Scale::of(&bench.spec);
        let first = scale.first_new_trade() + (1 << 38);
        let mut prepared =
            bench.db.prepare("select id, account_id, symbol, order_type from trade where id >= ?").unwrap();
        let mut rows = prepared.query([first as i64]).unwrap();
        let (mut bought, securities) = ([0, 0], scale.securities());
        while let Some(row) = rows.next().unwrap() {
            let number = |place| row.get::<_, i64>(place).unwrap() as u64;
            let text = |place| row.get::<_, String>(place).unwrap();
            let half = (number(0) - first) >> 27;
            assert_eq!(scale.customer_of(number(1)) % 2, half, "trade {} of account {}", number(0), number(1));
            // A sale is of what the account holds, in securities of either half.
            if !codes::sells(&text(3)) {
                let security = (0..securities).find(|one| scale.symbol(*one) == text(2)).unwrap();
                assert_eq!((security + 1) % 2, half, "trade {} in {}", number(0), text(2));
                bought[half as usize] += 1;
            }
        }
        assert!(bought.iter().all(|count| *count > 30), "{bought:?}");
    }
}
