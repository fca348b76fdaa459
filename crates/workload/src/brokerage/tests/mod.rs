//! The transactions on a real database in memory, and their shape without one.

mod bench;
mod market;
mod shape;

use super::ledger::Known;
use super::numbers::Errand;
use super::{Brokerage, Market, Preset, Scale, Spec, cleanup_statements, codes, ledger::Judged, schema, statements};
use bench::Bench;

const PRESETS: [Preset; 2] = [Preset::Desk, Preset::House];

fn spec(preset: Preset, market: Market) -> Spec {
    Spec { preset, customers: 60, days: 1, market, procedures: false, maintenance: true }
}

fn house(spec: Spec, epoch: u64) -> Brokerage {
    Brokerage::new(spec, 5, 0, 1, 1, epoch)
}

/// Texts that count what must not be; the house has a history of lots beside.
fn faults(preset: Preset) -> Vec<&'static str> {
    let mut faults = vec![
        "select count(*) from broker b where trades <> (select count(*) from trade t join account a on a.id = t.account_id \
         where a.broker_id = b.id and t.status = 'CMPT')",
        "select count(*) from broker b where commission_cents <> (select coalesce(sum(t.commission_cents), 0) from trade t \
         join account a on a.id = t.account_id where a.broker_id = b.id and t.status = 'CMPT')",
        "select count(*) from position p where quantity <= 0 or quantity <> (select coalesce(sum(l.quantity), 0) from lot l \
         where l.account_id = p.account_id and l.symbol = p.symbol)",
        "select count(*) from lot l where quantity <= 0 or not exists (select 1 from position p \
         where p.account_id = l.account_id and p.symbol = l.symbol)",
        "select count(*) from account a where balance_cents <> opening_cents + (select coalesce(sum(c.amount_cents), 0) \
         from cash_entry c join trade t on t.id = c.trade_id where t.account_id = a.id)",
        "select count(*) from trade t where (status = 'CMPT') <> (select count(*) from settlement s where s.trade_id = t.id)",
        "select count(*) from trade t where not exists (select 1 from trade_event e where e.trade_id = t.id \
         and e.status = t.status)",
        "select count(*) from trade t where (status = 'PNDG') <> (select count(*) from pending_order p \
         where p.trade_id = t.id)",
        "select count(*) from trade_event c join trade_event s on s.trade_id = c.trade_id and s.status = 'SBMT' \
         where c.status = 'CMPT' and c.at < s.at",
    ];
    if preset == Preset::House {
        faults.push(
            "select count(*) from (select lot_id, sum(quantity_after - quantity_before) as left_over from lot_change \
             group by lot_id) h left join lot l on l.trade_id = h.lot_id where coalesce(l.quantity, 0) <> h.left_over",
        );
    }
    faults
}

fn judge(bench: &Bench, house: &Brokerage) -> Judged {
    let mut prepared = bench.db.prepare("select id, status from trade order by id").unwrap();
    let rows = prepared.query_map([], |row| Ok((row.get::<_, i64>(0)? as u64, row.get::<_, String>(1)?))).unwrap();
    house.ledger().judge(rows.map(Result::unwrap))
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
        let count = |bench: &Bench, sql: &str| bench.number(sql);
        faults(preset).iter().for_each(|sql| assert_eq!(count(&bench, sql), 0, "after the fill: {sql}"));
        let mut house = house(bench.spec, 3);
        bench.run(&mut house, 0..4_000);
        if preset == Preset::House {
            // All twelve tables, both ways.
            (100..124).for_each(|round| bench.caused(&mut house, Errand::Maintenance(round)));
        }
        assert!(bench.failures.is_empty(), "{:?}", bench.failures);
        faults(preset).iter().for_each(|sql| assert_eq!(count(&bench, sql), 0, "after the run: {sql}"));
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
        assert_eq!(count(&bench, "select count(*) from trade where id >= 9007199254740992"), 0);
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
            dumps.push(schema::tables(preset).map(|table| bench.dump(table.name)).collect::<Vec<_>>());
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
        let open = "select count(*) from trade where status in ('PNDG', 'SBMT')";
        assert!(bench.number(open) > 0);
        for sql in cleanup_statements(&Scale::of(&bench.spec)) {
            bench.db.execute_batch(&sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
        }
        assert_eq!((bench.number(open), bench.number("select count(*) from pending_order")), (0, 0));
        assert!(bench.number("select count(*) from trade_event where status = 'CNCL'") > 0);
        let mut second = house(bench.spec, 2);
        bench.run(&mut second, 0..1_500);
        faults(preset).iter().for_each(|sql| assert_eq!(bench.number(sql), 0, "{sql}"));
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
    let newest = "(select max(id) from trade where status = 'CMPT')";
    bench.db.execute_batch(&format!("delete from trade where id = {newest}")).unwrap();
    let sql = format!("update trade set status = '{}' where id = {newest}", codes::SUBMITTED);
    bench.db.execute_batch(&sql).unwrap();
    let judged = judge(&bench, &house);
    assert_eq!((judged.missing.count, judged.unfilled.count, judged.resurrected.count), (1, 1, 0));
}
