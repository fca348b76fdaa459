//! Trials whose rate dips while a checkpoint is written, made by hand: what whole cycles give, and what any other window gives.

use super::tests::{MS, cell, label, summarise};
use crate::run::tests::judgement;
use crate::{CaveatKind, Checkpoints, Held, TrialSummary};
use observation::{
    Account, Asks, ClassKind, CpuTime, Observations, Probe, Provenance, Series, StatePolicy, TrialLabel, Window,
};
use units::{Nanos, PerSecond};

/// A cycle of eight seconds: 400 /s in the first two, while the checkpoint is written, then 1000 /s.
const CYCLE: u32 = 8;
const MEAN: f64 = (2.0 * 400.0 + 6.0 * 1_000.0) / 8.0;

fn asking(state: &str) -> TrialLabel {
    let mut asking = label();
    asking.streams[0].asks = Asks::Transactions;
    asking.streams[0].classes = vec![("order".to_owned(), ClassKind::Work)];
    asking.state = StatePolicy::read(state);
    asking
}

fn rate(second: u32) -> u64 {
    // The first checkpoint after the start begins at second 5.
    if (second + CYCLE - 5) % CYCLE < 2 && second >= 5 { 400 } else { 1_000 }
}

/// Two seconds of warm-up and `measure` of window, in intervals of one second, with a reading of the counters at each border.
fn observations(measure: u32) -> Observations {
    let end = 2 + measure;
    let done: u64 = (2..end).map(rate).sum();
    let begins = |second: u32| second >= 5 && (second - 5).is_multiple_of(CYCLE);
    let counted = |second: u32| (second_of(second), f64::from(u8::from(begins(second))));
    Observations {
        provenance: Provenance::Measured,
        window: Window { start: second_of(2), end: second_of(end) },
        interval: Nanos::from_secs(1),
        generators: 1,
        cells: (0..end).map(|second| cell(second, 0, vec![5 * MS; rate(second) as usize], rate(second), 0)).collect(),
        accounts: vec![Account { planned: done, done, ..Account::default() }],
        generator_cpu: CpuTime { user_s: done as f64 / 1e4, system_s: 0.0 },
        series: vec![
            told("database.checkpoints timed", (1..=end).map(|second| (second_of(second), 0.0)).collect()),
            told("database.checkpoints requested", (1..=end).map(counted).collect()),
            told("database.log bytes", (1..=end).map(|second| (second_of(second), 2_097_152.0)).collect()),
            told("database.log before a checkpoint bytes now", vec![(second_of(end), 16_777_216.0)]),
            told("database.checkpoint timeout seconds now", vec![(second_of(end), 300.0)]),
        ],
        ..Observations::default()
    }
}

fn second_of(second: u32) -> Nanos {
    Nanos::from_secs(u64::from(second))
}

fn told(probe: &str, points: Vec<(Nanos, f64)>) -> Series {
    Series { probe: Probe::read(probe, ""), points }
}

fn found(summary: &TrialSummary) -> &Checkpoints {
    summary.server.as_ref().expect("it asks a database").checkpoints.as_ref().expect("checkpoints are counted")
}

fn throughput(summary: &TrialSummary) -> f64 {
    summary.streams[0].throughput_per_s.value
}

fn doubted(summary: &TrialSummary) -> bool {
    summary.caveats.iter().any(|caveat| caveat.kind == CaveatKind::NoWholeCycle)
}

#[test]
fn a_window_of_whole_cycles_gives_the_rate_of_the_long_run_and_any_other_does_not() {
    // Checkpoints begin at 5, 13 and 21 of a window from 2 to 23: the one that is written at the end is left out.
    let whole = summarise(&asking(""), &observations(21), &judgement());
    assert_eq!(whole.window, Window { start: second_of(5), end: second_of(21) });
    assert_eq!(throughput(&whole), MEAN);
    assert!(!doubted(&whole));
    let as_asked = summarise(
        &asking("caches as left, a checkpoint forced and the window as asked for"),
        &observations(21),
        &judgement(),
    );
    assert_eq!(as_asked.window, Window { start: second_of(2), end: second_of(23) });
    assert!((throughput(&as_asked) - MEAN).abs() > 10.0, "{}", throughput(&as_asked));
    assert_eq!((found(&as_asked).held, found(&as_asked).cycles), (Held::Forced, 2));
    assert!(doubted(&as_asked));
}

#[test]
fn the_words_name_cycles_their_length_and_what_longer_windows_need() {
    let whole = summarise(&asking(""), &observations(21), &judgement());
    let cycles = found(&whole);
    assert_eq!((cycles.held, cycles.cycles, cycles.begun, cycles.cycle_s), (Held::Cycles, 2, Some(3), Some(8.0)));
    assert_eq!(cycles.measured, Window { start: second_of(2), end: second_of(23) });
    assert_eq!(
        cycles.text,
        "the window holds 2 whole checkpoint cycles of 8 s: of the 21 s asked for, the 16 s from the begin of the first \
         checkpoint to that of the last are counted; twice as many need --set measure=40s"
    );
}

#[test]
fn a_window_without_a_whole_cycle_stays_and_says_what_it_leaves_out() {
    let short = summarise(&asking(""), &observations(10), &judgement());
    assert_eq!(short.window, Window { start: second_of(2), end: second_of(12) });
    let none = found(&short);
    assert_eq!((none.held, none.cycles, none.begun, none.cycle_s), (Held::Forced, 0, Some(1), Some(8.0)));
    assert_eq!(
        none.text,
        "the window begins right after a forced checkpoint and holds no whole cycle from one checkpoint to the next (one \
         checkpoint began in it), so what checkpoints cost is not in its figures; a cycle takes about 8 s (one is due after 16 MiB \
         of log, which grows by 2.1 MB/s); use --set measure=16s, in which one falls as a whole wherever it begins, 32s for three"
    );
    assert!(doubted(&short));
    let left = summarise(&asking("caches as left, checkpoints left alone"), &observations(10), &judgement());
    assert!(found(&left).text.starts_with("the window begins wherever checkpoints were (none was forced)"));
    assert_eq!(found(&left).held, Held::AsItCame);
}

#[test]
fn checkpoints_that_begin_between_two_readings_show_no_cycle_and_the_words_say_so() {
    let mut at_once = observations(10);
    at_once.series[1].points.iter_mut().for_each(|(at, begun)| *begun = if *at == second_of(7) { 10.0 } else { 0.0 });
    let summary = summarise(&asking(""), &at_once, &judgement());
    let found = found(&summary);
    assert_eq!((found.cycles, found.begun), (0, Some(10)));
    let words = "(10 checkpoints began in it, all between two readings of the server's counters)";
    assert!(found.text.contains(words), "{}", found.text);
}

#[test]
fn a_cycle_that_time_ends_before_the_log_is_full_takes_its_timeout() {
    let mut slow = observations(10);
    slow.series[2].points.iter_mut().for_each(|point| point.1 = 2e4);
    slow.series[1].points.iter_mut().for_each(|point| point.1 = 0.0);
    let summary = summarise(&asking(""), &slow, &judgement());
    assert_eq!(found(&summary).cycle_s, Some(300.0));
    let text = &found(&summary).text;
    assert!(text.contains("a cycle takes about 5 min (by its timeout; the log alone would take 14 min)"), "{text}");
    assert!(
        text.contains("(none began in it)") && text.contains("use --set measure=10min, in which one falls as a whole"),
        "{text}"
    );
}

#[test]
fn where_hardly_anything_is_written_nothing_is_doubted() {
    let mut reading = observations(10);
    reading.series[1].points.iter_mut().for_each(|point| point.1 = 0.0);
    reading.series[2].points.iter_mut().for_each(|point| point.1 = 12.0);
    let summary = summarise(&asking(""), &reading, &judgement());
    assert!(!doubted(&summary));
    assert!(found(&summary).text.ends_with("hardly anything is written, so checkpoints cost nothing here"));
}

#[test]
fn books_and_cpu_of_the_whole_window_are_shared_out_by_work() {
    let whole = summarise(&asking(""), &observations(21), &judgement());
    let done = 16.0 * MEAN;
    assert!((whole.generator_cpu.user_s - done / 1e4).abs() < 1e-9, "{:?}", whole.generator_cpu);
    let cpu = whole.streams[0].cpu.expect("one stream has its price");
    assert!((cpu.user_us - 100.0).abs() < 1e-9, "{cpu:?}");
    assert!(whole.streams[0].account.closes());
    // The load is open and was carried: cutting the window must not make a backlog of what lies outside.
    let mut open = asking("");
    open.streams[0].load = "open, 830 /s Poisson, 8 sessions".to_owned();
    open.streams[0].offered = Some(PerSecond(830.0));
    let summary = summarise(&open, &observations(21), &judgement());
    assert!(summary.caveats.iter().all(|caveat| caveat.kind != CaveatKind::NotSustained), "{:?}", summary.caveats);
}

#[test]
fn fixed_work_keeps_its_window() {
    let mut fixed = observations(21);
    fixed.elapsed_s = Some(21.0);
    let summary = summarise(&asking(""), &fixed, &judgement());
    assert_eq!(summary.window, Window { start: second_of(2), end: second_of(23) });
}

#[test]
fn fixed_work_that_holds_no_cycle_is_asked_to_be_more_and_not_to_be_measured_for_longer() {
    let mut fixed = observations(10);
    fixed.elapsed_s = Some(10.0);
    let summary = summarise(&asking(""), &fixed, &judgement());
    let text = &found(&summary).text;
    assert!(text.ends_with("2.1 MB/s): the work would have to be about 2 times as much"), "{text}");
}

fn fuzzy(ages: [f64; 2]) -> Observations {
    let mut fuzzy = observations(10);
    let age = |second: u32| ages[0] + (ages[1] - ages[0]) * f64::from(second - 2) / 10.0;
    fuzzy.series = vec![
        told("database.checkpoint age bytes now", (2..=12).map(|second| (second_of(second), age(second))).collect()),
        told("database.log bytes", (1..=12).map(|second| (second_of(second), 2_097_152.0)).collect()),
        told("database.log capacity bytes now", vec![(second_of(12), 104_857_600.0)]),
    ];
    fuzzy
}

#[test]
fn fuzzy_checkpoints_have_no_cycles_and_owe_what_their_age_grew_by() {
    let owing = summarise(&asking(""), &fuzzy([1_048_576.0, 22_020_096.0]), &judgement());
    assert_eq!(found(&owing).held, Held::NoCycles);
    let text = &found(&owing).text;
    assert!(text.contains("is not yet written back grew from 1 MiB to 21 MiB: sustained figures leave out"), "{text}");
    assert!(
        text.contains("the log of 100 MiB goes round in about 50 s: a window behind that needs --set warm_up=50s"),
        "{text}"
    );
    assert!(doubted(&owing));
    let even = summarise(&asking(""), &fuzzy([80e6, 80.5e6]), &judgement());
    assert!(found(&even).text.contains("writing back keeps up"), "{}", found(&even).text);
    assert!(!doubted(&even));
}

#[test]
fn commits_that_write_back_themselves_hold_what_it_costs() {
    let mut embedded = observations(10);
    embedded.series = vec![told("database.log before a checkpoint bytes now", vec![(second_of(12), 4_194_304.0)])];
    let summary = summarise(&asking(""), &embedded, &judgement());
    assert!(
        found(&summary)
            .text
            .starts_with("SQLite runs its checkpoint inside the commit that fills 4 MiB of log, so its cost")
    );
    assert!(!doubted(&summary));
}
