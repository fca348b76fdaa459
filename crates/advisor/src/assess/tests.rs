//! Assessments whose numbers are worked out by hand.

use super::*;
use proptest::prelude::*;

fn session(id: usize, doing: Doing, writes: bool) -> Session {
    Session {
        id: id.to_string(),
        here: true,
        user: "clerk".to_owned(),
        application: "shop".to_owned(),
        doing,
        wait: Wait::None,
        writes,
        age_s: Some(2e-3),
        since_s: 1e-3,
    }
}

/// Eight sessions that take turns: each is busy in half of the samples.
fn taking_turns(seen: &mut Seen) {
    for (at, sample) in seen.samples.iter_mut().enumerate() {
        for (id, one) in sample.sessions.iter_mut().enumerate() {
            one.doing = if (id + at) % 2 == 0 { Doing::Working } else { Doing::Idle };
        }
    }
}

fn table(rows: Rows) -> Table {
    Table { rows, live: 1e6, file: 1.0, keyed: true, kept: Kept::Logged }
}

/// Eight sessions, four of them busy, in 10 s: 10,000 transactions, half of which write three rows each, and 2,500 flushes.
pub(super) fn seen() -> Seen {
    let rows = Rows { read: 50_000.0, inserted: 5_000.0, updated: 10_000.0, deleted: 0.0 };
    let totals = [
        (Total::Commits, 10_000.0),
        (Total::Rollbacks, 0.0),
        (Total::Written, 5_000.0),
        (Total::LogBytes, 1e7),
        (Total::Flushes, 2_500.0),
    ];
    let doing = |at: usize| if at < 4 { Doing::Working } else { Doing::Idle };
    let sample =
        |at: usize| Sample { at_s: at as f64, sessions: (0..8).map(|id| session(id, doing(id), id < 2)).collect() };
    let before = Tally {
        totals: totals.iter().map(|(total, _)| (*total, 0.0)).collect(),
        tables: [("public.orders".to_owned(), table(Rows::default()))].into(),
        ..Tally::default()
    };
    let after =
        Tally { totals: totals.into(), tables: [("public.orders".to_owned(), table(rows))].into(), ..Tally::default() };
    let mut seen = Seen { window_s: 10.0, before, after, samples: (1..=10).map(sample).collect(), ..Seen::default() };
    taking_turns(&mut seen);
    seen
}

fn pair(kind: Kind) -> Pair {
    Pair { kind, one_way_s: 50e-6, flush: Some((1e-3, FlushFrom::Given)), home: Home::Own }
}

fn statement(user: &str, text: &str, calls: f64, rows: f64) -> Statement {
    Statement { user: user.to_owned(), text: text.to_owned(), calls, rows, seconds: 1.0, planned: None }
}

#[test]
fn counters_become_rates_and_samples_become_sessions() {
    let mix = Mix::of(&seen());
    assert_eq!((mix.commits, mix.written), (1000.0, Some(500.0)));
    assert!((mix.sessions - 8.0).abs() < 1e-9 && (mix.busy - 4.0).abs() < 1e-9, "{mix:?}");
    assert_eq!((mix.rows.changed(), mix.rows_each()), (1500.0, 3.0));
    assert!((mix.response_s().expect("transactions ended") - 4e-3).abs() < 1e-9, "{mix:?}");
    let caller = &mix.callers[0];
    assert!(caller.sessions > 7.99, "{caller:?}");
    assert_eq!((caller.shown().as_str(), caller.at_once, mix.callers.len()), ("shop (clerk)", 4, 1));
    assert!((caller.writing - 1.0).abs() < 1e-9);
}

#[test]
fn a_session_that_works_now_and_then_counts_for_little_and_a_pool_that_takes_turns_in_full() {
    let mut seen = seen();
    for (at, sample) in seen.samples.iter_mut().enumerate() {
        sample.sessions.truncate(1);
        sample.sessions[0].doing = Doing::Working;
        sample.sessions.push(session(9, if at == 3 { Doing::Working } else { Doing::Idle }, false));
    }
    // Shares of 1 and 0.1, the square of which is all sampling: 1.1^2 / 1.
    assert!((Mix::of(&seen).sessions - 1.21).abs() < 1e-9);
    // Ten that are seen at work once each are ten.
    for (at, sample) in seen.samples.iter_mut().enumerate() {
        sample.sessions =
            (0..10).map(|id| session(id, if id == at { Doing::Working } else { Doing::Idle }, false)).collect();
    }
    seen.before.totals.insert(Total::BusySeconds, 0.0);
    seen.after.totals.insert(Total::BusySeconds, 10.0);
    assert!((Mix::of(&seen).sessions - 10.0).abs() < 1e-9);
}

#[test]
fn what_the_watcher_does_itself_is_no_part_of_the_work_and_a_counter_that_was_reset_counts_from_zero() {
    let mut seen = seen();
    seen.own = 100.0;
    seen.before.totals.insert(Total::Written, 9e9);
    let mix = Mix::of(&seen);
    assert_eq!((mix.commits, mix.written), (990.0, Some(500.0)));
}

#[test]
fn what_other_databases_of_the_server_write_is_taken_off_by_their_rows() {
    let mut seen = seen();
    seen.before.totals.insert(Total::RowsElsewhere, 0.0);
    seen.after.totals.insert(Total::RowsElsewhere, 5_000.0);
    // 15,000 rows here: three quarters.
    assert_eq!(Mix::of(&seen).written, Some(375.0));
}

#[test]
fn where_only_statements_are_counted_those_that_commit_themselves_are_transactions_if_few_commits_are_sent() {
    let mut seen = seen();
    seen.before.totals.insert(Total::StatementCommits, 0.0);
    seen.after.totals.insert(Total::StatementCommits, 60_000.0);
    assert_eq!(Mix::of(&seen).commits, 1000.0);
    seen.after.totals.insert(Total::Commits, 1_000.0);
    assert_eq!(Mix::of(&seen).commits, 6100.0);
}

#[test]
fn a_flush_takes_as_long_as_sessions_are_seen_waiting_for_one() {
    let mut seen = seen();
    seen.samples[3].sessions[0].wait = Wait::Flush;
    seen.samples[7].sessions[1].wait = Wait::Flush;
    // Two in ten samples at 250 a second: 0.2 / 250.
    let (seconds, timed) = Mix::of(&seen).flush.expect("it is seen");
    assert!((seconds - 0.8e-3).abs() < 1e-9 && !timed, "{seconds}");
    for tally in [&mut seen.before, &mut seen.after] {
        tally.totals.insert(Total::FlushSeconds, 0.0);
    }
    seen.after.totals.insert(Total::FlushSeconds, 1.0);
    assert_eq!(Mix::of(&seen).flush, Some((0.4e-3, true)));
}

#[test]
fn a_statement_is_told_by_its_first_word_and_a_locking_read_by_its_last() {
    for (text, class) in [
        ("select * from t where a = ? for update", Class::ReadForUpdate),
        ("select * from t for no key update skip locked", Class::ReadForUpdate),
        ("select a from t lock in share mode", Class::ReadForUpdate),
        ("select update_time from t", Class::Read),
        ("with x as (select a from t) update u set a = ?", Class::Update),
        ("with x as (select a from t) select * from x", Class::Read),
        ("with x as (select a from t for update) select * from x", Class::ReadForUpdate),
        ("insert into t values (?) on conflict do update set a = ?", Class::Insert),
        ("(select ?)", Class::Read),
        ("end", Class::End),
        ("vacuum t", Class::Other),
        ("", Class::Other),
    ] {
        assert_eq!(Class::of(text), class, "{text}");
    }
}

#[test]
fn rows_that_are_locked_for_nothing_are_worth_a_round_trip_each_where_rows_are_waited_for() {
    let mut seen = seen();
    seen.after.statements.insert("1".to_owned(), statement("clerk", "select a from t for update", 10_000.0, 30_000.0));
    let told = assess(&seen, &pair(Kind::Row));
    // 3,000 locked, 1,000 updated: 2,000 for nothing, each 160 us; all locked rows are in the wait of a transaction.
    let change = told.changes.iter().find(|one| one.what.starts_with("read without a lock")).expect("it is told");
    assert!((change.saved.value - 2000.0 * 160e-6).abs() < 1e-9, "{change:?}");
    assert_eq!(told.mix.rows_each(), 9.0);
    // Deletes from another table excuse no lock.
    let put = |seen: &mut Seen, text: &str| {
        seen.after.statements.insert("1".to_owned(), statement("clerk", text, 10_000.0, 30_000.0));
        seen.after.tables.insert("public.jobs".to_owned(), table(Rows { deleted: 50_000.0, ..Rows::default() }));
        let told = assess(seen, &pair(Kind::Row));
        told.changes.into_iter().find(|one| one.what.starts_with("read without a lock"))
    };
    let change = put(&mut seen, "select a from orders where b = ? for update").expect("it is told");
    assert!(
        (change.saved.value - 2000.0 * 160e-6).abs() < 1e-9 && change.why.ends_with("(public.orders)"),
        "{change:?}"
    );
    assert_eq!(put(&mut seen, "select a from jobs for update"), None);
    let told = assess(&seen, &pair(Kind::Row));
    assert_eq!(told.mix.users, [("clerk".to_owned(), Rows { read: 3000.0, ..Rows::default() })]);
}

#[test]
fn one_session_that_commits_row_after_row_is_told_with_what_blocks_of_ten_would_save() {
    let mut seen = seen();
    for sample in &mut seen.samples {
        let mut batch = session(100, Doing::Working, true);
        "loader".clone_into(&mut batch.application);
        batch.age_s = Some(1e-3);
        sample.sessions.push(batch);
    }
    let told = assess(&seen, &pair(Kind::Commit));
    let change = &told.changes[0];
    assert!(change.what.contains("loader (clerk)"), "{told:?}");
    // Ages of 1 ms on the median: transactions of 1.7 ms, but no more than all 500 that write; nine waits of ten go.
    assert!((change.saved.value - 0.9 * 500.0 * told.prediction.wait_s.value).abs() < 1e-9, "{change:?}");
    assert!(told.changes.iter().all(|one| !one.what.contains("shop")), "four at once are no batch: {told:?}");
}

#[test]
fn connections_that_are_opened_again_and_again_and_statements_that_are_planned_each_time_are_told() {
    let mut seen = seen();
    seen.before.totals.insert(Total::Connections, 5.0);
    seen.after.totals.insert(Total::Connections, 2005.0);
    let planned = Statement { planned: Some((8000.0, 2.0)), ..statement("clerk", "select ?", 8000.0, 8000.0) };
    seen.after.statements.insert("1".to_owned(), planned);
    let told = assess(&seen, &pair(Kind::Commit));
    let saved: Vec<(&str, f64)> = told.changes.iter().map(|one| (one.what.as_str(), one.saved.value)).collect();
    assert_eq!(saved, [("keep connections open: a pool", 0.4), ("prepare statements once a session", 0.2)]);
}

#[test]
fn tables_are_left_out_by_what_was_measured_and_a_name_is_only_a_hint() {
    let mut seen = seen();
    let queue = Rows { read: 0.0, inserted: 10_000.0, updated: 0.0, deleted: 10_000.0 };
    let mut put = |name: &str, after: Table, before_file: f64| {
        seen.before.tables.insert(name.to_owned(), Table { rows: Rows::default(), file: before_file, ..after.clone() });
        seen.after.tables.insert(name.to_owned(), after);
    };
    put("public.jobs", Table { live: 500.0, ..table(queue) }, 1.0);
    put("public.emptied", Table { file: 2.0, ..table(Rows { inserted: 5_000.0, ..Rows::default() }) }, 1.0);
    put("public.scratch", Table { kept: Kept::Unlogged, keyed: false, ..table(Rows::default()) }, 1.0);
    put("public.audit_log", table(Rows::default()), 1.0);
    put("public.catalogue", Table { keyed: false, ..table(Rows::default()) }, 1.0);
    let told = assess(&seen, &pair(Kind::Row));
    let left: Vec<(&str, bool)> = told.left_out.iter().map(|one| (one.table.as_str(), one.certain)).collect();
    assert_eq!(
        left,
        [("public.jobs", true), ("public.emptied", true), ("public.scratch", true), ("public.audit_log", false)]
    );
    assert!((told.left_out[0].share - 0.5).abs() < 1e-9 && told.left_out[0].reason.contains("0.5 s"), "{told:?}");
    let keyless = told.obstacles.iter().find(|one| one.what.contains("primary key")).expect("it is told");
    assert_eq!(keyless.tables, ["public.catalogue"]);
}

#[test]
fn a_server_where_nothing_happens_has_a_wait_and_no_throughput() {
    let told = assess(&Seen { window_s: 10.0, ..Seen::default() }, &pair(Kind::Commit));
    assert!(told.prediction.wait_s.value > 1e-3, "{told:?}");
    assert_eq!((told.prediction.throughput, told.prediction.response_s, told.changes.len()), (None, None, 0));
}

proptest! {
    #[test]
    fn who_is_shown_less_is_told_an_interval_that_holds_that_of_who_sees_more(
        locked in 0usize..4, flushing in 0usize..2, shown in 0usize..8, busy in prop::option::of(0.05f64..0.95), km in 0.0f64..200.0,
    ) {
        let mut all = seen();
        all.machine = busy.map(|busy| Machine { cores: 4.0, busy, server_cores: 0.05 });
        all.before.totals.insert(Total::BusySeconds, 0.0);
        all.after.totals.insert(Total::BusySeconds, 40.0);
        for sample in &mut all.samples {
            let mut working = sample.sessions.iter_mut().filter(|one| one.doing == Doing::Working);
            working.by_ref().take(locked).for_each(|one| one.wait = Wait::Lock);
            working.take(flushing).for_each(|one| one.wait = Wait::Flush);
        }
        let mut less = all.clone();
        for one in less.samples.iter_mut().flat_map(|sample| &mut sample.sessions[shown..]) {
            (one.doing, one.wait, one.writes, one.age_s) = (Doing::Hidden, Wait::None, false, None);
        }
        let pair = Pair { flush: None, one_way_s: km * FIBRE_S_PER_KM, ..pair(Kind::Commit) };
        let [all, less] = [all, less].map(|seen| assess(&seen, &pair));
        let spans = |told: &Assessment| {
            let one = &told.prediction;
            [one.flush_s, one.wait_s, one.response_s.unwrap().1, one.throughput.unwrap().1, one.sessions.unwrap().1]
        };
        let slack = 1e-6;
        for (at, (wide, narrow)) in spans(&less).into_iter().zip(spans(&all)).enumerate() {
            let holds = wide.low <= narrow.low * (1.0 + slack) && wide.high >= narrow.high * (1.0 - slack);
            // A flush of which nothing was seen by either is the same assumption.
            prop_assert!(holds, "{at}: {wide:?} does not hold {narrow:?}; {:?}", less.mix);
            prop_assert!(wide.low <= wide.value && wide.value <= wide.high, "{at}: {wide:?}");
        }
        prop_assert!(less.mix.locked_most() >= all.mix.locked - slack);
    }

    #[test]
    fn shares_of_changed_rows_sum_to_one_and_no_change_saves_more_than_is_added(
        counts in prop::collection::vec((0.0f64..1e5, 0.0f64..1e5, 0.0f64..1e5), 1..6), locked in 0.0f64..1e6, which in 0usize..3,
    ) {
        let mut seen = seen();
        for (at, (inserted, updated, deleted)) in counts.iter().enumerate() {
            let rows = Rows { read: 0.0, inserted: *inserted, updated: *updated, deleted: *deleted };
            let temporary = Table { kept: Kept::Temporary, ..table(rows) };
            seen.after.tables.insert(format!("t{at}"), temporary);
        }
        seen.after.statements.insert("1".to_owned(), statement("clerk", "select ? for update", locked, locked));
        let told = assess(&seen, &pair(Kind::ALL[which]));
        let all: f64 = told.mix.tables.iter().map(|(_, rows)| rows.changed() / told.mix.rows.changed()).sum();
        prop_assert!((all - 1.0).abs() < 1e-9);
        let left: f64 = told.left_out.iter().map(|one| one.share).sum();
        prop_assert!((left + 1500.0 / told.mix.rows.changed() - 1.0).abs() < 1e-9);
        for change in &told.changes {
            prop_assert!(change.of_added.is_none_or(|share| (0.0..=1.0).contains(&share)), "{change:?}");
            prop_assert!(change.saved.low <= change.saved.value && change.saved.value <= change.saved.high, "{change:?}");
        }
    }
}
