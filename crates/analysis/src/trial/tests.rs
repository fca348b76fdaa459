//! Observations made by hand, whose summaries can be worked out by hand.

use super::{outcome, summarise_from, summarise_interrupted};
use crate::run::tests::judgement;
use crate::{CaveatKind, SteadyAnswer, TrialSummary};
use observation::{
    Account, Cell, CellKey, Check, CheckKind, ClassKind, CpuTime, Event, EventKind, Gives, Histogram, Observations,
    Probe, Provenance, Series, StreamLabel, Tally, TrialLabel, Whole, Window,
};
use study::Judgement;
use units::{Nanos, PerSecond};

pub(super) const MS: u64 = 1_000_000;

/// Two seconds of warm-up and ten of window, in intervals of one second; 1000 reads of 4 KiB a second, each of 1 ms but
/// every hundredth of 5 ms, and a data sync of 20 ms a second.
pub(super) fn observations() -> Observations {
    let cells =
        (0..12).flat_map(|interval| [cell(interval, 0, reads(), 1000, 4096), cell(interval, 1, syncs(), 10, 0)]);
    Observations {
        provenance: Provenance::Measured,
        started_unix_ns: 7,
        window: Window { start: Nanos::from_secs(2), end: Nanos::from_secs(12) },
        interval: Nanos::from_secs(1),
        endpoints: vec!["m0".to_owned()],
        generators: 1,
        cells: cells.collect(),
        accounts: vec![Account {
            planned: 10_100,
            done: 10_100,
            service_ns: 79_960 * 1_000_000,
            slots_ns: 80_000 * 1_000_000,
            ..Account::default()
        }],
        generator_cpu: CpuTime { user_s: 0.1, system_s: 0.3 },
        ..Observations::default()
    }
}

fn reads() -> Vec<u64> {
    (0..1000).map(|i| if i % 100 == 0 { 5 * MS } else { MS }).collect()
}

fn syncs() -> Vec<u64> {
    vec![20 * MS; 10]
}

pub(super) fn cell(interval: u32, class: u16, times: Vec<u64>, done: u64, bytes: u64) -> Cell {
    let histogram = Histogram::from_values(times);
    Cell {
        key: CellKey { interval, class, ..CellKey::default() },
        service: histogram.clone(),
        lateness: Histogram::from_values(vec![0; histogram.count() as usize]),
        response: histogram,
        censored: Histogram::default(),
        tally: Tally { done, bytes: done * bytes, ..Tally::default() },
    }
}

pub(super) fn label() -> TrialLabel {
    let mut label = crate::run::tests::trial(3, "a", 0, 1.0).label;
    label.streams = vec![StreamLabel {
        classes: vec![("read".to_owned(), ClassKind::Work), ("sync".to_owned(), ClassKind::Upkeep)],
        ..label.streams[0].clone()
    }];
    label
}

pub fn summarise(label: &TrialLabel, observations: &Observations, judgement: &Judgement) -> TrialSummary {
    let Ok(summary) = summarise_from(label, observations, observations.cells.as_slice(), judgement);
    summary
}

fn summary(observations: &Observations) -> TrialSummary {
    summarise(&label(), observations, &judgement())
}

fn kinds(observations: &Observations) -> Vec<CaveatKind> {
    summary(observations).caveats.iter().map(|caveat| caveat.kind).collect()
}

fn text(observations: &Observations, kind: CaveatKind) -> String {
    summary(observations).caveats.into_iter().find(|caveat| caveat.kind == kind).expect("the caveat").text
}

pub(super) fn series(probe: &str, value: f64) -> Series {
    let points = (1..=12).map(|second| (Nanos::from_secs(second), value)).collect();
    Series { probe: Probe::read(probe, ""), points }
}

#[test]
fn what_transactions_give_is_told_with_an_interval_and_counts_every_class() {
    let mut label = label();
    // One in ten intervals has a sync, which gives far more than a read.
    let gives = |class, amount| Gives { class, amount, what: "postings".into(), offered_per_s: None };
    label.streams[0].gives = vec![gives(0, 2.0), gives(1, 30.0)];
    let observations = observations();
    let summary = summarise(&label, &observations, &judgement());
    let stream = &summary.streams[0];
    let classes = |name| stream.classes.iter().find(|class| class.name == name).unwrap().throughput_per_s;
    let [given] = stream.yields.as_slice() else { panic!("one kind of thing is given") };
    let expected = 2.0 * classes("read") + 30.0 * classes("sync");
    assert!((given.per_s.value - expected).abs() < 1e-9 && classes("sync") > 0.0, "{given:?}");
    assert!(given.per_s.low < expected && expected < given.per_s.high && given.most == 30.0, "{given:?}");
}

#[test]
fn what_was_counted_is_told_as_it_is_and_is_no_work_of_its_own() {
    let mut label = label();
    label.streams[0].gives = vec![Gives { class: 0, amount: 30.0, what: "postings".into(), offered_per_s: None }];
    let without = summarise(&label, &observations(), &judgement());
    label.streams[0].classes.push(("postings".into(), ClassKind::Yield));
    let class = label.streams[0].classes.len() as u16 - 1;
    let mut observations = observations();
    // Seven postings in each second of the window, whatever the mean says, and a hundred before it.
    for interval in 0..12 {
        let given = if interval < 2 { 100 } else { 7 };
        observations.cells.push(cell(interval, class, Vec::new(), given, 0));
    }
    let summary = summarise(&label, &observations, &judgement());
    let (stream, before) = (&summary.streams[0], &without.streams[0]);
    assert_eq!((stream.yields[0].per_s.value, stream.yields[0].what.as_str()), (7.0, "postings"));
    assert_eq!(stream.yields.len(), 1);
    assert_eq!((stream.throughput_per_s, stream.bytes_per_s), (before.throughput_per_s, before.bytes_per_s));
    assert_eq!(stream.classes.len(), before.classes.len());
    assert_eq!(summary.generator_cpu, without.generator_cpu);
}

#[test]
fn an_unremarkable_trial_has_its_figures_and_no_caveat() {
    let summary = summary(&observations());
    assert_eq!(summary.caveats, vec![]);
    let stream = &summary.streams[0];
    // Eight slots, of which each may have been cut off at the end of ten seconds.
    assert_eq!((stream.throughput_per_s.value, stream.throughput_per_s.low), (1000.0, 999.2));
    assert_eq!(stream.bytes_per_s, 4_096_000.0);
    assert_eq!(stream.response.count, 10_000);
    assert!((stream.response.mean_ms - 1.04).abs() < 1e-9);
    assert!((stream.response.p50_ms - 1.0).abs() < 1e-3 && (stream.response.p999_ms - 5.0).abs() < 5e-3);
    assert_eq!(stream.response.max_ms, 5.0);
    assert!(stream.response.tail.p99_firm && !stream.response.tail.p999_firm);
    assert_eq!(stream.steady.answer, SteadyAnswer::Yes);
    assert!((stream.little_gap_pct.unwrap() - 0.05).abs() < 1e-9);
    let cpu = stream.cpu.unwrap();
    assert!((cpu.user_us - 10.0).abs() < 1e-9 && (cpu.system_us - 30.0).abs() < 1e-9);
    assert_eq!(summary.timeline.len(), 12);
    assert_eq!(summary.timeline.iter().filter(|point| point.at_s >= summary.window.start.seconds()).count(), 10);
}

#[test]
fn upkeep_is_a_class_and_no_throughput() {
    let summary = summary(&observations());
    let [read, sync] = summary.streams[0].classes.as_slice() else { panic!("two classes") };
    assert_eq!((read.name.as_str(), read.done, read.throughput_per_s), ("read", 10_000, 1000.0));
    assert_eq!((sync.name.as_str(), sync.done, sync.throughput_per_s), ("sync", 100, 10.0));
    assert!((sync.response.p50_ms - 20.0).abs() < 0.02);
}

#[test]
fn the_warm_up_changes_nothing_but_the_time_axis() {
    let mut other = observations();
    other.cells.retain(|cell| cell.key.interval >= 2);
    let (with, without) = (summary(&observations()), summary(&other));
    assert_eq!(with.streams, without.streams);
    assert_eq!(without.timeline[0].throughput_per_s, vec![0.0]);
}

#[test]
fn operations_that_never_ended_are_in_their_place_and_mark_the_tail() {
    let mut stuck = observations();
    stuck.cells[4].censored = Histogram::from_values(vec![3000 * MS; 150]);
    stuck.accounts[0].planned += 150;
    stuck.accounts[0].censored = 150;
    let summary = summary(&stuck);
    let response = &summary.streams[0].response;
    assert!(response.tail.censored);
    assert_eq!((response.count, response.max_ms), (10_150, 3000.0));
    // 150 of 10 150 lie at three seconds: p99 is among them.
    assert!(response.p99_ms > 2990.0);
    let text = text(&stuck, CaveatKind::Censored);
    assert!(text.starts_with("150 operations never ended") && text.contains("98.5%"), "{text}");
}

#[test]
fn books_that_do_not_close_are_called_a_defect() {
    let mut broken = observations();
    broken.accounts[0].planned += 1;
    assert!(text(&broken, CaveatKind::Other).contains("a defect of the measurement"));
}

#[test]
fn time_outside_the_system_is_named() {
    let mut late = observations();
    late.accounts[0].service_ns = 72_000 * 1_000_000;
    late.accounts[0].lateness_ns = 6_400 * 1_000_000;
    let text = text(&late, CaveatKind::LittleGap);
    assert!(text.starts_with("the queue stood empty for 10% of the time"), "{text}");
    assert!(text.contains(": 7.2 of 8 were in use"), "{text}");
    assert!(text.contains("more `workers` fill it"), "eight slots, one worker: {text}");
    late.generators = 8;
    let text = self::text(&late, CaveatKind::LittleGap);
    assert!(!text.contains("more `workers`") && text.ends_with("were in use"), "{text}");
}

#[test]
fn advice_on_workers_is_given_where_it_can_be_followed() {
    let mut busy = observations();
    busy.generator_cpu.user_s = 9.9;
    assert!(text(&busy, CaveatKind::GeneratorBound).contains("give it more workers, or compare CPU"));
    let mut one = label();
    one.streams[0].slots = Some(1);
    busy.accounts[0].slots_ns = 0;
    let caveats = summarise(&one, &busy, &judgement()).caveats;
    let bound = caveats.iter().find(|caveat| caveat.kind == CaveatKind::GeneratorBound).expect("the caveat");
    assert!(bound.text.ends_with("may set this rate; compare CPU per operation instead"), "{}", bound.text);
    let mut pressed = observations();
    pressed.series = vec![series("pressure.cpu.some", 0.2)];
    assert!(text(&pressed, CaveatKind::Pressure).ends_with("; stop other work"), "one worker");
    pressed.generators = 4;
    assert!(text(&pressed, CaveatKind::Pressure).ends_with("or use fewer workers than there are cores"));
}

#[test]
fn a_thin_tail_is_never_rounded_to_enough_and_names_no_window_that_is_refused() {
    let mut thin = observations();
    // 9 990 reads: a hundredth of them is 99.9.
    thin.cells[4] = cell(2, 0, reads().split_off(10), 990, 4096);
    let told = text(&thin, CaveatKind::ThinTail);
    assert_eq!(
        told,
        format!("p99 rests on 99 of {} operations, fewer than 100; needs --set measure=13s", units::count(9_990))
    );
    let mut rare = observations();
    rare.cells.retain(|cell| cell.key.interval == 5 && cell.key.class == 0);
    rare.cells[0] = cell(5, 0, vec![MS], 1, 4096);
    rare.window.end = Nanos::from_secs(3_000);
    let told = text(&rare, CaveatKind::ThinTail);
    assert!(
        told.contains("rests on 0 of 1 operation, fewer than 100; at this rate no window is long enough"),
        "{told}"
    );
}

#[test]
fn time_outside_of_responses_is_called_what_the_machine_says_it_is() {
    for (probe, words) in [
        ("model.outside.driver", "2% of the sessions' time was the load driver's own work, which"),
        ("model.outside.think", "2% of the sessions' time was what a job does between its transactions (`think`"),
    ] {
        let mut simulated = observations();
        simulated.provenance = Provenance::Simulated;
        simulated.accounts[0].service_ns = 78_400 * 1_000_000;
        simulated.series.push(series(probe, 1.6));
        let text = text(&simulated, CaveatKind::LittleGap);
        assert!(text.contains(words), "{text}");
    }
}

#[test]
fn a_backlog_that_grows_is_not_sustained_and_one_that_fluctuates_is() {
    let mut open = observations();
    let mut label = label();
    label.streams[0].offered = Some(PerSecond(1500.0));
    open.accounts[0] = Account {
        planned: 15_000,
        done: 15_000,
        // On average 2500 in the system: half of what the backlog reached.
        service_ns: 8_000 * 1_000_000,
        lateness_ns: 25_000_000 * 1_000_000 / 1000,
        ..Account::default()
    };
    let summary = summarise(&label, &open, &judgement());
    let caveat = summary.caveats.iter().find(|caveat| caveat.kind == CaveatKind::NotSustained).expect("not sustained");
    assert!(caveat.text.contains("the backlog grew by 490 /s"), "{}", caveat.text);
    assert!(caveat.text.contains("offer less than"), "{}", caveat.text);
    assert!(outcome(&summary).backlog_grew);
    let mut starved = open.clone();
    starved.series.push(series("generator.waited_for_cpu", 0.4));
    let summary = summarise(&label, &starved, &judgement());
    let caveat = summary.caveats.iter().find(|caveat| caveat.kind == CaveatKind::NotSustained).expect("not sustained");
    assert!(caveat.text.contains("waited for a CPU for 40% of the measured window"), "{}", caveat.text);
    assert!(!caveat.text.contains("offer less"), "{}", caveat.text);
    open.accounts[0].planned = 10_150;
    open.accounts[0].done = 10_150;
    let kinds: Vec<_> = summarise(&label, &open, &judgement()).caveats.iter().map(|caveat| caveat.kind).collect();
    assert!(!kinds.contains(&CaveatKind::NotSustained));
}

#[test]
fn every_disturbance_becomes_a_caveat_beside_the_trial() {
    let with = |probe: &str, value: f64| {
        let mut disturbed = observations();
        disturbed.series = vec![series(probe, value)];
        kinds(&disturbed)
    };
    assert_eq!(with("machine.cpu.steal", 0.02), [CaveatKind::Steal]);
    assert_eq!(with("pressure.cpu.some", 0.2), [CaveatKind::Pressure]);
    assert_eq!(with("pressure.memory.some", 0.02), [CaveatKind::Pressure]);
    assert_eq!(with("cgroup.throttled", 0.1), [CaveatKind::Throttled]);
    assert_eq!(with("disks.others.bytes_written", 5e6), [CaveatKind::OtherWriters]);
    assert_eq!(with("disk.vda.bytes_read", 1e5), [CaveatKind::Cached]);
    assert_eq!(with("machine.power.mains", 0.0), [CaveatKind::Frequency]);
    assert_eq!(with("disk.vda.bytes_read", 4.1e6), []);
    assert_eq!(with("pressure.io.full", 0.9), []);
}

#[test]
fn pauses_and_damage_are_told_with_the_first_of_them() {
    let mut disturbed = observations();
    let event = |second, kind, text: &str| Event { at: Nanos::from_secs(second), kind, text: text.to_owned() };
    disturbed.events = vec![
        event(1, EventKind::Pause, "in the warm-up"),
        event(5, EventKind::Pause, "paused for 300 ms"),
        event(6, EventKind::Damage, "torn block at 4096 of m0"),
    ];
    assert_eq!(kinds(&disturbed), [CaveatKind::ClockPause, CaveatKind::Damage]);
    assert!(text(&disturbed, CaveatKind::ClockPause).contains("one pause in the window; the first: paused for 300 ms"));
    assert!(text(&disturbed, CaveatKind::Damage).contains("torn block at 4096 of m0"));
}

#[test]
fn a_short_trial_says_how_long_it_should_be() {
    let mut short = observations();
    short.window.end = Nanos::from_secs(5);
    assert_eq!(kinds(&short), [CaveatKind::WindowTooShort, CaveatKind::ThinTail]);
    assert!(text(&short, CaveatKind::WindowTooShort).contains("--set measure=5s"));
    // Three intervals say nothing of their resemblance; 10 s would hold 100 samples beyond.
    assert!(text(&short, CaveatKind::ThinTail).contains("--set measure=19s"));
}

/// Ten intervals of a second in which so many operations were done.
fn rates(done: [u64; 10]) -> TrialSummary {
    let mut noisy = observations();
    for cell in noisy.cells.iter_mut().filter(|cell| cell.key.class == 0) {
        let of = cell.key.interval.checked_sub(2).and_then(|at| done.get(at as usize));
        cell.tally.done = *of.unwrap_or(&cell.tally.done);
    }
    summary(&noisy)
}

#[test]
fn parts_that_vary_by_less_than_noise_are_no_note_and_by_more_are_told_beside_it() {
    let told = |one: &TrialSummary| {
        let found = one.caveats.iter().find(|caveat| caveat.kind == CaveatKind::WindowTooShort);
        (one.streams[0].steady.answer, found.map(|caveat| caveat.text.clone()))
    };
    let level = rates([400, 1600, 1500, 500, 600, 1400, 1700, 300, 900, 1100]);
    assert_eq!(told(&level), (SteadyAnswer::CannotTell, None));
    let apart = rates([902, 722, 816, 996, 1090, 910, 1004, 1184, 1278, 1098]);
    let (answer, text) = told(&apart);
    assert_eq!(answer, SteadyAnswer::CannotTell);
    let text = text.expect("it is told");
    assert!(text.contains("the rates of its 5 parts ranged over "), "{text}");
    assert!(text.contains("% within which noise alone keeps them in 19 of 20"), "{text}");
}

#[test]
fn figures_beside_jobs_end_with_the_jobs_and_their_end_is_no_stall() {
    let mut beside = observations();
    // Nothing is asked any more from the sixth second on, because the job is over.
    beside.cells.retain(|cell| cell.key.interval < 6);
    let before = summary(&beside);
    assert!(before.streams[0].stall.is_some() && before.streams[0].throughput_per_s.value < 500.0);
    let told = text(&beside, CaveatKind::Stalled);
    let begins = before.streams[0].stall.unwrap().at_s;
    assert!(told.contains(&format!("without a completion from {begins} s into the window: all ")), "{told}");
    assert!(told.contains("waited, and no other was sent; arrivals at the mean rate"), "{told}");
    let mut stopped = beside.clone();
    stopped.events =
        vec![Event { at: Nanos::from_secs(7), kind: EventKind::Pause, text: "paused for 900 ms".to_owned() }];
    let told = text(&stopped, CaveatKind::Stalled);
    assert!(
        told.contains("the machine or Prony itself paused then") && !told.contains("pause of the device"),
        "{told}"
    );
    let mut late = observations();
    late.cells.retain(|cell| cell.key.interval >= 6);
    let told = text(&late, CaveatKind::Stalled);
    assert!(told.contains("without a completion from the start of the window: all "), "{told}");
    let ended = Nanos::from_millis(5_400);
    beside.series.push(Series { probe: Whole::JobsEnded.into(), points: vec![(ended, ended.seconds())] });
    let after = summary(&beside);
    // The job itself is timed to the moment: its four thousand operations over 3.4 s.
    assert_eq!(after.window, Window { start: Nanos::from_secs(2), end: ended });
    assert_eq!((after.elapsed_s, after.streams[0].throughput_per_s.value), (3.4, 4_000.0 / 3.4));
    assert!(after.streams[0].stall.is_none());
}

#[test]
fn a_time_in_which_everything_failed_at_once_is_told_as_that_and_nobody_waited_in_it() {
    let mut fails = observations();
    // From 6 to 9 s nothing is read; each operation fails at once and is followed by the next one.
    fails.cells.retain(|cell| !(6..9).contains(&cell.key.interval));
    for interval in 6..9 {
        let mut failing = cell(interval, 0, Vec::new(), 0, 0);
        failing.tally.failed = 26_626;
        fails.cells.push(failing);
    }
    fails.cells.sort_by_key(|cell| cell.key.interval);
    fails.accounts[0].failed = 79_878;
    let told = summary(&fails);
    assert!(told.streams[0].stall.is_none() && !kinds(&fails).contains(&CaveatKind::Stalled), "{:?}", kinds(&fails));
    let words = text(&fails, CaveatKind::Failures);
    let spaced = units::count(79_878);
    assert!(
        words.contains(&format!("failed; for 3 s from 4 s into the window every one failed, {spaced} of them; rates")),
        "{words}"
    );
    // What was in flight failed once, and then nothing came: that is a wait.
    fails.cells.iter_mut().for_each(|cell| cell.tally.failed = cell.tally.failed.min(2));
    fails.cells.iter_mut().filter(|cell| cell.key.interval > 6).for_each(|cell| cell.tally.failed = 0);
    assert!(!text(&fails, CaveatKind::Failures).contains("every one failed"));
    assert_eq!(summary(&fails).streams[0].stall.map(|stall| (stall.at_s, stall.lasted_s)), Some((5.0, 2.0)));
}

#[test]
fn a_server_that_was_lost_and_waited_for_is_told_with_its_seconds_its_errors_and_the_check_behind_it() {
    let mut lost = observations();
    lost.cells.retain(|cell| !(6..9).contains(&cell.key.interval));
    assert!(kinds(&lost).contains(&CaveatKind::Stalled) && !kinds(&lost).contains(&CaveatKind::Outage));
    let event = |second, kind, text: &str| Event { at: Nanos::from_secs(second), kind, text: text.to_owned() };
    let words = "connection lost: reset; its session was opened again after 3.25 s";
    lost.events = vec![event(9, EventKind::Failure, words)];
    let found = "14 orders are as acknowledged".to_owned();
    lost.checks = vec![Check { kind: CheckKind::Ledger, found, ..Check::default() }];
    lost.accounts[0].failed = 4;
    let told = text(&lost, CaveatKind::Outage);
    let begin = "the server was lost from 4 s into the window: 3 s without a completion, and its sessions were open again after 3.25 s";
    assert!(told.starts_with(begin), "{told}");
    assert!(told.contains("4 operations failed; the check behind it: 14 orders are as acknowledged; arr"), "{told}");
    assert!(!kinds(&lost).contains(&CaveatKind::Stalled), "it is told once");
    lost.events[0].at = Nanos::from_secs(12);
    lost.events[0].text = words.replace("3.25", "5");
    assert!(
        kinds(&lost).contains(&CaveatKind::Outage),
        "a session that is open again behind the window was lost in it"
    );
    // Beside what the study itself let happen rates differ for more than that.
    let mut disturbed = lost.clone();
    disturbed.events.push(event(4, EventKind::Change, "kill-primary"));
    let told = text(&disturbed, CaveatKind::Outage);
    assert!(told.starts_with("the server was lost") && !told.contains("queued behind it"), "{told}");
    let mut thinking = label();
    thinking.streams[0].think_mean = Nanos::from_millis(50);
    let told = summarise(&thinking, &lost, &judgement()).caveats;
    let told = told.iter().find(|one| one.kind == CaveatKind::Outage).expect("who thinks loses the server, too");
    assert!(told.text.contains("3 s without a completion") && !told.text.contains("queued behind it"), "{}", told.text);
    lost.events[0].text = words.to_owned();
    lost.events[0].at = Nanos::from_secs(3);
    assert!(kinds(&lost).contains(&CaveatKind::Stalled), "a session that was lost at another time does not explain it");
}

#[test]
fn a_lock_that_was_held_for_long_is_told_where_nothing_ended_meanwhile_or_else_by_itself() {
    let held =
        |second, text: &str| Event { at: Nanos::from_secs(second), kind: EventKind::Held, text: text.to_owned() };
    let mut locked = observations();
    locked.events = vec![held(6, "`write` waited 2 s for a lock"), held(1, "`early` waited 1 s for a lock")];
    let told = text(&locked, CaveatKind::LockHeld);
    assert_eq!(told, "from 4 s into the window, `write` waited 2 s for a lock");
    assert_eq!(text(&locked, CaveatKind::Other), "in the warm-up, `early` waited 1 s for a lock");
    locked.events.pop();
    locked.cells.retain(|cell| !(6..9).contains(&cell.key.interval));
    let told = text(&locked, CaveatKind::Stalled);
    assert!(told.contains("no other was sent; `write` waited 2 s for a lock; arrivals"), "{told}");
    assert!(told.ends_with("; measure latency with an open load (`rate`)"), "{told}");
    assert!(!kinds(&locked).contains(&CaveatKind::LockHeld), "it is told once");
}

#[test]
fn a_trace_that_is_silent_for_a_while_is_no_stall_of_the_system() {
    let mut silent = observations();
    silent.cells.retain(|cell| cell.key.interval < 6);
    let mut label = label();
    for (load, stalls) in [("closed, 8 sessions", true), ("the moments of the trace, 8 sessions", false)] {
        load.clone_into(&mut label.streams[0].load);
        let told = summarise(&label, &silent, &judgement());
        let caveat = told.caveats.iter().any(|one| one.kind == CaveatKind::Stalled);
        assert_eq!((told.streams[0].stall.is_some(), caveat), (stalls, stalls), "{load}");
    }
}

#[test]
fn a_window_that_ends_with_jobs_wants_more_work_for_them_and_no_longer_measure() {
    let mut beside = observations();
    let ended = Nanos::from_millis(5_400);
    beside.series.push(Series { probe: Whole::JobsEnded.into(), points: vec![(ended, ended.seconds())] });
    let told = summary(&beside).caveats;
    let texts: Vec<&str> = told.iter().map(|caveat| caveat.text.as_str()).collect();
    assert!(
        texts.iter().any(|text| text.contains("5 parts of 1 s each need 2 times as much work for the jobs")),
        "{texts:?}"
    );
    assert!(texts.iter().any(|text| text.starts_with("p99") && text.ends_with("such as accounts")), "{texts:?}");
    assert!(!texts.iter().any(|text| text.contains("--set measure") || text.contains("measure longer")), "{texts:?}");
}

#[test]
fn work_beside_a_job_is_counted_over_whole_intervals_with_its_books_and_a_job_within_one_is_told() {
    let beside = |ended_ms: u64| {
        let mut beside = observations();
        let ended = Nanos::from_millis(ended_ms);
        beside.series.push(Series { probe: Whole::JobsEnded.into(), points: vec![(ended, ended.seconds())] });
        summary(&beside)
    };
    // Work that goes on behind the job: the interval in which the job ended is left out.
    let after = beside(5_400);
    let stream = &after.streams[0];
    assert_eq!((after.elapsed_s, stream.throughput_per_s.value), (3.4, 1_000.0));
    assert_eq!((stream.account.planned, stream.account.done), (3_000, 3_000));
    assert!(!after.caveats.iter().any(|caveat| caveat.text.contains("within one recording interval")));
    let within = beside(2_300);
    assert_eq!((within.elapsed_s, within.streams[0].account.done), (0.3, 1_000));
    let text = &within.caveats.last().expect("it is told").text;
    assert!(text.starts_with("the jobs were over after 300 ms, within one recording interval of 1 s"), "{text}");
}

/// The last third of a second of fixed work was drawn as a whole one, and the rate seemed to collapse.
#[test]
fn the_last_interval_of_fixed_work_is_as_long_as_the_work_lasts() {
    let mut work = observations();
    work.elapsed_s = Some(9.5);
    let rates: Vec<f64> = summary(&work).timeline.iter().map(|point| point.throughput_per_s[0]).collect();
    assert_eq!(rates[2..], [[1_000.0; 9].as_slice(), &[2_000.0]].concat());
}

#[test]
fn fixed_work_is_timed_and_not_asked_for_steadiness() {
    let mut work = observations();
    work.elapsed_s = Some(8.0);
    let summary = summary(&work);
    assert!(summary.fixed_work && summary.caveats.is_empty());
    assert_eq!(summary.streams[0].throughput_per_s.value, 1250.0);
    assert!(!summary.streams[0].throughput_per_s.has_interval());
}

#[test]
fn disks_are_averaged_over_the_window_and_waits_over_operations() {
    let mut probed = observations();
    let busy_then_idle = |probe: &str, busy: f64, idle: f64| {
        let points = (1..=12).map(|s| (Nanos::from_secs(s), if s <= 7 { busy } else { idle })).collect();
        Series { probe: Probe::read(probe, ""), points }
    };
    probed.series = vec![
        busy_then_idle("disk.nvme0n1.reads", 900.0, 100.0),
        busy_then_idle("disk.nvme0n1.writes", 0.0, 0.0),
        busy_then_idle("disk.nvme0n1.wait", 2.0, 12.0),
        busy_then_idle("disk.nvme0n1.utilisation", 0.8, 0.2),
        busy_then_idle("disk.nvme0n1.bytes_read", 8e6, 2e6),
    ];
    let disk = summary(&probed).machine.disks.remove(0);
    assert_eq!((disk.name.as_str(), disk.operations_per_s, disk.bytes_per_s), ("nvme0n1", 500.0, 5e6));
    assert!((disk.utilisation - 0.5).abs() < 1e-12 && (disk.wait_ms - 3.0).abs() < 1e-12);
}

#[test]
fn a_trial_without_anything_in_it_is_summarised_without_fail() {
    let empty =
        Observations { window: observations().window, interval: Nanos::from_secs(1), ..Observations::default() };
    let summary = summary(&empty);
    assert_eq!(summary.streams[0].response.count, 0);
    assert!(outcome(&summary).response_quantile_ms.p99.is_nan());
    let nothing = Observations::default();
    assert_eq!(summarise(&label(), &nothing, &judgement()).timeline, vec![]);
}

#[test]
fn cells_in_another_order_and_in_parts_give_the_same_summary() {
    let mut shuffled = observations();
    shuffled.cells.reverse();
    // A late completion sends a second cell of an interval long after the first.
    let mut late = cell(4, 0, vec![7 * MS], 1, 4096);
    late.tally.retried = 2;
    let mut whole = observations();
    whole.cells[8].merge(&late);
    shuffled.cells.push(late);
    assert_eq!(summary(&shuffled), summary(&whole));
}

/// What a run that was killed after so many seconds of its trial leaves: cells, and neither books nor CPU time.
fn killed_after(seconds: u32) -> Observations {
    let mut left = observations();
    left.cells.retain(|cell| cell.key.interval < seconds);
    (left.accounts, left.generator_cpu) = (Vec::new(), CpuTime::default());
    left
}

fn interrupted(left: &Observations) -> Option<TrialSummary> {
    let Ok(summary) = summarise_interrupted(&label(), left, left.cells.as_slice(), &judgement());
    summary
}

#[test]
fn an_interrupted_trial_is_reduced_over_the_intervals_that_it_finished() {
    let mut left = killed_after(6);
    left.cells[10].tally.failed = 3;
    left.cells[10].censored = Histogram::from_values(vec![9 * MS; 2]);
    let summary = interrupted(&left).expect("four seconds of the window");
    assert!(summary.interrupted);
    assert_eq!(summary.window, Window { start: Nanos::from_secs(2), end: Nanos::from_secs(6) });
    let stream = &summary.streams[0];
    assert_eq!((stream.throughput_per_s.value, stream.response.count), (1000.0, 4002));
    let account = stream.account;
    assert_eq!((account.planned, account.done, account.failed, account.censored), (4005, 4000, 3, 2));
    assert_eq!(stream.little_gap_pct, None);
    let kinds: Vec<CaveatKind> = summary.caveats.iter().map(|caveat| caveat.kind).collect();
    assert_eq!(kinds, [CaveatKind::Unfinished, CaveatKind::Failures, CaveatKind::Censored]);
    let text = &summary.caveats[0].text;
    assert!(text.starts_with("this trial was interrupted after 4 s of the 10 s of its window"), "{text}");
}

#[test]
fn an_interrupted_open_load_is_not_said_to_have_a_backlog() {
    let mut label = label();
    label.streams[0].offered = Some(PerSecond(5000.0));
    let left = killed_after(3);
    let Ok(summary) = summarise_interrupted(&label, &left, left.cells.as_slice(), &judgement());
    let kinds: Vec<CaveatKind> = summary.expect("a second").caveats.iter().map(|caveat| caveat.kind).collect();
    assert_eq!(kinds, [CaveatKind::Unfinished]);
}

#[test]
fn a_trial_that_was_interrupted_in_its_warm_up_has_nothing_to_show() {
    assert_eq!(interrupted(&killed_after(2)), None);
    assert_eq!(interrupted(&killed_after(0)), None);
}
