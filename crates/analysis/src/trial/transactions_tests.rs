//! Trials of transactions made by hand: mix, server and the words of their caveats.

use super::tests::{MS, cell, label, observations, series, summarise};
use crate::run::tests::judgement;
use crate::{CaveatKind, TrialSummary};
use observation::{Account, Asks, ClassKind, Counter, Event, EventKind, Histogram, Observations, TrialLabel};
use units::{Nanos, PerSecond};

/// The classes of the small preset with how many of each end in a second, a thousand in all, as planned.
const PLANNED: [(&str, u64); 6] = [
    ("customer-position", 210),
    ("trade-status", 320),
    ("market-watch", 259),
    ("trade-order", 101),
    ("trade-result", 100),
    ("market-feed", 10),
];

fn asking() -> TrialLabel {
    let mut asking = label();
    asking.streams[0].asks = Asks::Transactions;
    asking.streams[0].classes = PLANNED.iter().map(|(name, _)| ((*name).to_owned(), ClassKind::Work)).collect();
    asking
}

/// Every class as planned but for trade-status, of which `status` end in a second, each after `ms`.
fn mixed(status: u64, ms: u64) -> Observations {
    let second = |interval| {
        (0..).zip(PLANNED).map(move |(class, (name, planned))| {
            let (done, ms) = if name == "trade-status" { (status, ms) } else { (planned, 10) };
            cell(interval, class, vec![ms * MS; done as usize], done, 0)
        })
    };
    Observations { cells: (0..12).flat_map(second).collect(), ..observations() }
}

fn summary(observations: &Observations) -> TrialSummary {
    summarise(&asking(), observations, &judgement())
}

fn text(summary: &TrialSummary, kind: CaveatKind) -> &str {
    summary.caveats.iter().find(|caveat| caveat.kind == kind).map_or("", |caveat| &caveat.text)
}

#[test]
fn a_mix_as_planned_is_ok_and_one_that_is_off_or_late_is_not() {
    let verdicts = |observations: &Observations| {
        let summary = summary(observations);
        let status = summary.streams[0].classes.iter().find(|class| class.name == "trade-status").unwrap().mix;
        assert_eq!((status.planned_share, status.limit_s), (Some(0.32), Some(1.0)));
        (status.share.unwrap(), status.mix_ok.unwrap(), status.response_ok.unwrap())
    };
    assert_eq!(verdicts(&mixed(320, 10)), (0.32, true, true));
    assert_eq!(verdicts(&mixed(320, 1_100)), (0.32, true, false));
    assert_eq!(verdicts(&mixed(480, 10)), (480.0 / 1_160.0, false, true));
}

#[test]
fn the_mirror_of_a_server_is_no_other_program_and_where_it_cannot_be_told_apart_nobody_is_asked_to_stop_it() {
    let told = |readings: &[(&str, f64)]| {
        let mut seen = mixed(320, 10);
        let machine = [
            ("machine.cpu.user", 1.9),
            ("machine.cpu.system", 0.0),
            ("machine.cpu.core.0.busy", 0.95),
            ("machine.cpu.core.1.busy", 0.95),
        ];
        let server = [("server.cpu.user", 0.3), ("server.cpu.system", 0.0), ("pressure.cpu.some", 0.2)];
        seen.series = machine.iter().chain(&server).chain(readings).map(|(probe, at)| series(probe, *at)).collect();
        seen.generator_cpu = observation::CpuTime::default();
        text(&summary(&seen), CaveatKind::Pressure).to_owned()
    };
    assert!(
        told(&[]).ends_with("other programs kept 80% of this machine's cores busy; stop them and run again"),
        "{}",
        told(&[])
    );
    let some = told(&[("mirror.cpu", 0.6)]);
    assert!(some.ends_with("other programs kept 50% of this machine's cores busy; stop them and run again"), "{some}");
    let own = told(&[("mirror.cpu", 1.0), ("generator.children.cpu", 0.5)]);
    assert!(own.contains("both servers and load generator fill them"), "{own}");
    let unknown = told(&[("mirror.waiting now", 1.0)]);
    let words = "programs besides the first server and the load generator kept 80% of this machine's cores busy; what of it was the mirror is not known";
    assert!(unknown.ends_with(words), "{unknown}");
}

/// Servers that were held to a fifth of a core were said to fill both.
#[test]
fn who_waits_for_a_cpu_while_most_of_the_machine_is_idle_waits_for_no_other_program() {
    let told = |user: f64| {
        let mut seen = mixed(320, 10);
        let machine = [("machine.cpu.user", user), ("machine.cpu.system", 0.0)];
        let cores = [("machine.cpu.core.0.busy", user / 2.0), ("machine.cpu.core.1.busy", user / 2.0)];
        let rest = [("server.cpu.user", user), ("server.cpu.system", 0.0), ("pressure.cpu.some", 0.97)];
        seen.series = machine.iter().chain(&cores).chain(&rest).map(|(probe, at)| series(probe, *at)).collect();
        text(&summary(&seen), CaveatKind::Pressure).to_owned()
    };
    assert_eq!(told(0.9), "");
    let some =
        "some task waited for a CPU 97% of the time: server and load generator keep 1.1 of this machine's 2 cores busy";
    assert!(told(1.1).starts_with(some), "{}", told(1.1));
}

#[test]
fn users_who_wait_longer_than_their_limit_are_a_caveat_with_what_they_wait_for() {
    let late = text(&summary(&mixed(320, 1_100)), CaveatKind::Late).to_owned();
    assert!(
        late.starts_with("1 of 6 classes miss the limit within which nine of ten should answer: trade-status"),
        "{late}"
    );
    assert_eq!(text(&summary(&mixed(320, 10)), CaveatKind::Late), "");
    let mut queued = mixed(320, 1_100);
    queued.cells.iter_mut().for_each(|cell| cell.service = Histogram::from_values([MS; 5]));
    assert!(!text(&summary(&queued), CaveatKind::Late).contains("session"), "nobody waits for one");
    let mut pooled = asking();
    (pooled.streams[0].slots, pooled.streams[0].load) = (Some(64), "64 users, 8 sessions".to_owned());
    let pooled = summarise(&pooled, &queued, &judgement());
    let late = text(&pooled, CaveatKind::Late).to_owned();
    assert!(late.contains("of the latency is the wait for a free session: try more `sessions`"), "{late}");
}

#[test]
fn a_class_whose_p90_is_withheld_is_neither_in_time_nor_late() {
    let judged = |seconds: u32| {
        let mut few = mixed(1, 1_100);
        few.cells.retain(|cell| cell.key.class != 1 || cell.key.interval < 2 + seconds);
        let classes = summary(&few).streams.remove(0).classes;
        classes.into_iter().filter(|class| class.response.count == u64::from(seconds)).map(|c| c.mix.response_ok).next()
    };
    assert_eq!(judged(9), Some(None));
    assert_eq!(judged(10), Some(Some(false)));
}

#[test]
fn a_planned_class_that_never_came_is_told() {
    let mut starved = mixed(320, 10);
    starved.cells.retain(|cell| cell.key.class != 5);
    let summary = summary(&starved);
    let feed = summary.streams[0].classes.last().unwrap();
    assert_eq!((&*feed.name, feed.mix.share, feed.mix.mix_ok), ("market-feed", Some(0.0), Some(false)));
    assert_eq!(feed.mix.response_ok, None, "nothing answered, in time or late");
}

#[test]
fn an_overload_says_that_its_backlog_grew_and_by_how_much() {
    let mut label = asking();
    label.streams[0].load = "open, 1500 /s Poisson, 8 sessions".to_owned();
    label.streams[0].offered = Some(PerSecond(1_500.0));
    let mut open = mixed(320, 10);
    // What customers asked for caused another 300 a second.
    open.accounts[0] = Account { planned: 18_000, done: 10_000, censored: 8_000, ..Account::default() };
    let summary = summarise(&label, &open, &judgement());
    let verdict = text(&summary, CaveatKind::NotSustained);
    assert!(
        verdict.starts_with("the load was not sustained, the backlog grew by 800 /s: of 1800 /s offered"),
        "{verdict}"
    );
}

/// Ten seconds with a thousand transactions due in each, of which `late` took longer than the limit and `skipped` never left.
fn limited(late: u64, skipped: u64) -> TrialSummary {
    let mut label = asking();
    label.streams[0].offered = Some(PerSecond(1_000.0));
    label.streams[0]
        .classes
        .extend([("over 50 ms".to_owned(), ClassKind::Late), ("skipped".to_owned(), ClassKind::Skipped)]);
    let mut seen = mixed(320, 10);
    for interval in 0..12 {
        // Before the window nothing counts.
        let times = if interval < 2 { 50 } else { 1 };
        seen.cells.push(cell(interval, 6, Vec::new(), times * late, 0));
        seen.cells.push(cell(interval, 7, Vec::new(), times * skipped, 0));
    }
    summarise(&label, &seen, &judgement())
}

#[test]
fn what_misses_a_limit_of_latency_is_a_share_with_an_interval_and_what_is_skipped_is_one_of_all_that_was_due() {
    let summary = limited(30, 250);
    let limit = summary.streams[0].limit.as_ref().expect("a limit");
    assert_eq!((limit.words.as_str(), limit.late, limit.skipped), ("over 50 ms", 300, Some(2_500)));
    assert_eq!((limit.late_share.value, limit.skipped_share.unwrap().value), (0.03, 0.2));
    assert!(limit.late_share.low <= 0.03 && 0.03 <= limit.late_share.high, "{limit:?}");
    let told = text(&summary, CaveatKind::NotSustained);
    assert!(told.starts_with("the load was not sustained: 20% of what was due ("), "{told}");
    assert!(summary.streams[0].classes.iter().all(|class| class.name != "skipped" && class.name != "over 50 ms"));
    let none = limited(0, 0);
    let none_late = none.streams[0].limit.as_ref().unwrap().late_share;
    // Of ten thousand that all were in time, 3.69 may have been about to be late.
    assert_eq!((none_late.value, none_late.low, none_late.high), (0.0, 0.0, 3.69 / 10_000.0));
    assert_eq!(text(&none, CaveatKind::NotSustained), "");
}

#[test]
fn storage_has_shares_but_neither_a_plan_nor_a_server() {
    let summary = summarise(&label(), &observations(), &judgement());
    assert_eq!(summary.server, None);
    let shares: Vec<_> = summary.streams[0].classes.iter().map(|class| (class.mix.share, class.mix.mix_ok)).collect();
    assert_eq!(shares, [(Some(1.0), None), (None, None)], "a sync is upkeep");
}

#[test]
fn a_server_is_priced_by_the_transactions_of_the_window_and_levels_are_left_out() {
    let mut watched = mixed(320, 10);
    watched.series = vec![
        series("server.cpu.user", 1.5),
        series("server.cpu.system", 0.5),
        series("server.bytes_written", 5e6),
        series("disk.sda.reads", 250.0),
        series("database.log bytes", 2e6),
        series("database.lock waits now", 3.0),
        series("database.threads running now", 7.0),
        series("machine.cpu.core.0.busy", 1.0),
        series("machine.cpu.core.1.busy", 1.0),
    ];
    let server = summary(&watched).server.unwrap();
    assert_eq!(server.per_transaction.cpu_ms, Some(2.0));
    assert_eq!(server.per_transaction.bytes_written, Some(5_000.0));
    assert_eq!(server.per_transaction.log_bytes, Some(2_000.0));
    assert_eq!((server.per_transaction.device_reads, server.per_transaction.device_writes), (Some(0.25), None));
    assert_eq!((server.per_machine_core_per_s, server.per_server_core_per_s), (Some(500.0), Some(500.0)));
    let waits = "three that wait in each look are three seconds of waits a second";
    assert_eq!(server.counters, [(Counter::LogBytes, 2e6), (Counter::LockSeconds, 3.0)], "{waits}");
    assert_eq!(server.bytes_read_per_s, None, "what was not observed is not zero");
}

#[test]
fn sessions_of_loads_and_of_what_never_ended_are_sessions_too() {
    // A thousand a second of 10 ms each, of which the market feed is upkeep.
    let mut beside = asking();
    beside.streams[0].classes[5].1 = ClassKind::Upkeep;
    let mut watched = mixed(320, 10);
    watched.accounts = Vec::new();
    let of = |observations: &Observations| summarise(&beside, observations, &judgement()).server.unwrap().in_sessions;
    let ended = of(&watched);
    assert!((ended.busy - 10.0).abs() < 1e-6 && ended.per_s == 1_000.0, "{ended:?}");
    // The books know of three sessions more in which nothing ended.
    watched.accounts = vec![Account { service_ns: 13 * 10_000_000_000, ..Account::default() }];
    assert!((of(&watched).busy - 13.0).abs() < 1e-6);
}

#[test]
fn a_server_that_tells_its_cores_itself_is_priced_in_the_same_way() {
    let mut told = mixed(320, 10);
    told.series = vec![series("server.cores", 24.0), series("server.cpu.busy", 8.0)];
    let summary = summary(&told);
    let server = summary.server.unwrap();
    assert_eq!((summary.machine.cores, server.per_transaction.cpu_ms), (Some(24), Some(8.0)));
    assert_eq!((server.per_machine_core_per_s, server.per_server_core_per_s), (Some(1_000.0 / 24.0), Some(125.0)));
}

#[test]
fn a_process_that_ends_takes_its_reading_along() {
    let mut watched = mixed(320, 10);
    let mut written = series("server.bytes_written", 5e6);
    let mut processes = series("server.processes", 22.0);
    written.points.last_mut().unwrap().1 = 700e6;
    processes.points.last_mut().unwrap().1 = 6.0;
    watched.series = vec![written.clone(), processes];
    assert_eq!(summary(&watched).server.unwrap().bytes_written_per_s, Some(5e6));
    watched.series = vec![written];
    assert_eq!(summary(&watched).server.unwrap().bytes_written_per_s, Some(74.5e6), "nothing tells that one ended");
}

#[test]
fn damage_and_failures_are_told_of_a_database() {
    let mut damaged = mixed(320, 10);
    let text_of = "1 of 10 invariants are broken: cash (cash equals its entries): first broken by account 7";
    damaged.events = vec![Event { at: Nanos::from_secs(12), kind: EventKind::Damage, text: text_of.to_owned() }];
    damaged.accounts[0].failed = 100;
    damaged.accounts[0].done -= 100;
    let summary = summary(&damaged);
    let damage = text(&summary, CaveatKind::Damage);
    assert!(damage.contains("first broken by account 7; do not trust this database before"), "{damage}");
    assert!(text(&summary, CaveatKind::Failures).starts_with("100 transactions (0.99%) failed"));
}

#[test]
fn what_the_server_writes_is_not_blamed_on_others() {
    let mut watched = mixed(320, 10);
    watched.series = vec![series("server.bytes_written", 8e6), series("disks.others.bytes_written", 11e6)];
    assert_eq!(text(&summary(&watched), CaveatKind::OtherWriters), "");
    watched.series[1] = series("disks.others.bytes_written", 60e6);
    assert!(text(&summary(&watched), CaveatKind::OtherWriters).starts_with("48 MB/s was written to the disks besides"));
}
