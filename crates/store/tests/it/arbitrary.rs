//! Run facts and observations that nobody would make up, and some whose values all differ.

use observation::{
    Account, Asks, Ceiling, Cell, CellKey, CellSource, Check, CheckKind, CheckMoment, CheckResult, ClassKind, CpuTime,
    Event, EventKind, Fact, Factor, Footprint, Gives, Histogram, Level, Mishap, Observations, Probe, Provenance,
    RunFacts, Searched, Series, StatePolicy, StreamLabel, SystemFacts, Tally, TrialLabel, Window,
};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use std::path::Path;
use store::{RunFile, StoreError, StoredCells};
use units::{Nanos, PerSecond};

fn text() -> impl Strategy<Value = String> {
    "\\PC{0,12}"
}

fn float() -> impl Strategy<Value = f64> {
    prop_oneof![Just(0.0), Just(1e-300), Just(f64::MAX), -1e12..1e12]
}

fn histogram() -> impl Strategy<Value = Histogram> {
    vec(prop_oneof![0u64..5_000, 0u64..1 << 44, any::<u64>()], 0..40).prop_map(Histogram::from_values)
}

fn tally() -> impl Strategy<Value = Tally> {
    let count = || 0u64..1 << 40;
    (count(), count(), count(), count(), 0u64..1 << 50).prop_map(|(done, failed, retried, rolled_back, bytes)| Tally {
        done,
        failed,
        retried,
        rolled_back,
        bytes,
    })
}

fn key() -> impl Strategy<Value = CellKey> {
    (any::<u32>(), any::<u16>(), any::<u16>(), any::<u16>(), any::<u16>()).prop_map(
        |(interval, stream, class, endpoint, generator)| CellKey { interval, stream, class, endpoint, generator },
    )
}

pub fn cell() -> impl Strategy<Value = Cell> {
    (key(), histogram(), histogram(), histogram(), histogram(), tally()).prop_map(
        |(key, response, service, lateness, censored, tally)| Cell {
            key,
            response,
            service,
            lateness,
            censored,
            tally,
        },
    )
}

fn account() -> impl Strategy<Value = Account> {
    // As many as a trial can have at most.
    (any::<[u64; 4]>(), any::<[u128; 4]>()).prop_map(|(counts, sums)| Account {
        planned: counts[0] >> 14,
        done: counts[1] >> 14,
        failed: counts[2] >> 14,
        censored: counts[3] >> 14,
        service_ns: sums[0] >> 28,
        lateness_ns: sums[1] >> 28,
        think_ns: sums[2] >> 28,
        slots_ns: sums[3] >> 28,
    })
}

fn series() -> impl Strategy<Value = Vec<Series>> {
    // A probe has one series a trial: names are made different by their place.
    let point = (any::<u64>(), float()).prop_map(|(at, value)| (Nanos(at), value));
    let one = (text(), text(), vec(point, 0..6));
    vec(one, 0..4).prop_map(|all| {
        let named = |(at, (name, unit, points)): (usize, (String, String, _))| Series {
            probe: Probe::read(&format!("{at}.{name}"), &unit),
            points,
        };
        all.into_iter().enumerate().map(named).collect()
    })
}

fn event() -> impl Strategy<Value = Event> {
    let kinds = [EventKind::Phase, EventKind::Pause, EventKind::Damage, EventKind::Failure, EventKind::Note];
    (any::<u64>(), proptest::sample::select(kinds.to_vec()), text()).prop_map(|(at, kind, text)| Event {
        at: Nanos(at),
        kind,
        text,
    })
}

fn mishap() -> impl Strategy<Value = Mishap> {
    let kinds = vec![EventKind::Damage, EventKind::Failure];
    (any::<u16>(), proptest::sample::select(kinds), text(), any::<u64>(), text())
        .prop_map(|(stream, kind, what, count, first)| Mishap { stream, kind, what, count: count >> 24, first })
}

fn check() -> impl Strategy<Value = Check> {
    let kind = proptest::sample::select(CheckKind::ALL.to_vec());
    let moment = proptest::sample::select(CheckMoment::ALL.to_vec());
    let result = proptest::sample::select(CheckResult::ALL.to_vec());
    (kind, moment, result, [text(), text(), text()], float()).prop_map(|(kind, moment, result, texts, took_s)| {
        let [name, says, found] = texts;
        Check { kind, moment, name, says, result, found, took_s }
    })
}

fn provenance() -> impl Strategy<Value = Provenance> {
    use Provenance::{Imported, Measured, Published, Simulated};
    proptest::sample::select(vec![Measured, Simulated, Imported, Published])
}

pub fn observations() -> impl Strategy<Value = Observations> {
    let head = (provenance(), any::<i64>(), any::<[u64; 4]>(), vec(text(), 0..4), any::<u16>());
    let body = (vec(cell(), 0..8), vec(account(), 0..3), float(), float(), option::of(float()));
    let wrong = (vec(mishap(), 0..3), vec(check(), 0..3));
    (head, body, series(), vec(event(), 0..5), wrong).prop_map(|(head, body, series, events, wrong)| Observations {
        provenance: head.0,
        started_unix_ns: head.1,
        window: Window { start: Nanos(head.2[0] >> 11), end: Nanos(head.2[1] >> 11) },
        interval: Nanos(head.2[2] >> 11),
        validated_reads: head.2[3] >> 14,
        endpoints: head.3,
        generators: head.4,
        cells: body.0,
        accounts: body.1,
        generator_cpu: CpuTime { user_s: body.2, system_s: body.3 },
        elapsed_s: body.4,
        series,
        events,
        mishaps: wrong.0,
        checks: wrong.1,
    })
}

fn level() -> impl Strategy<Value = Level> {
    prop_oneof![text().prop_map(Level::Word), (float(), text()).prop_map(|(value, text)| Level::Number { value, text })]
}

fn stream() -> impl Strategy<Value = StreamLabel> {
    let gives = option::of((0.0..1e9, "[a-z]{1,9}( [a-z]{1,9})?", option::of(0.0..1e9)));
    let class = (
        text(),
        prop_oneof![Just(ClassKind::Work), Just(ClassKind::Upkeep), Just(ClassKind::Age), Just(ClassKind::Yield)],
        gives,
    );
    ([text(), text(), text()], option::of(any::<u32>()), any::<u64>(), option::of(float()), vec(class, 0..4)).prop_map(
        |([name, workload, load], slots, think, offered, classes)| StreamLabel {
            name,
            workload,
            asks: Asks::of_load(&load),
            load,
            slots,
            think_mean: Nanos(think),
            offered: offered.map(PerSecond),
            gives: given(&classes),
            classes: classes.into_iter().map(|(name, kind, _)| (name, kind)).collect(),
        },
    )
}

/// A class with what it gives.
type Giving = (String, ClassKind, Option<(f64, String, Option<f64>)>);

fn given(classes: &[Giving]) -> Vec<Gives> {
    let numbered = (0..).zip(classes);
    let given = numbered.filter_map(|(class, (_, _, given))| {
        given.clone().map(|(amount, what, offered_per_s)| Gives { class, amount, what, offered_per_s })
    });
    given.collect()
}

pub fn label() -> impl Strategy<Value = TrialLabel> {
    let factor = (text(), level()).prop_map(|(name, level)| Factor { name, level });
    (any::<[u32; 3]>(), [text(), text(), text()], vec(factor, 0..4), vec(stream(), 0..3), option::of(text())).prop_map(
        |([index, replicate, block], [experiment, system, state], factors, streams, search)| TrialLabel {
            index,
            experiment,
            system,
            replicate,
            block,
            factors,
            streams,
            state: StatePolicy::read(&state),
            search: search.map(Searched::read),
        },
    )
}

fn system() -> impl Strategy<Value = SystemFacts> {
    let fact = (text(), text(), any::<bool>()).prop_map(|(key, value, private)| Fact { key, value, private });
    let part = || option::of(float());
    ([text(), text(), text(), text()], any::<u32>(), vec(fact, 0..4), part(), part(), part(), part(), part()).prop_map(
        |([name, kind, place, driver], modules, fingerprint, drives, watts, rack_units, price, floor)| SystemFacts {
            name,
            kind,
            place,
            modules,
            driver,
            fingerprint,
            footprint: Footprint { drives, watts, rack_units, price, floor },
        },
    )
}

pub fn facts() -> impl Strategy<Value = RunFacts> {
    let texts = [text(), text(), text(), text(), text(), text(), text(), text()];
    let lists = [vec(text(), 0..3), vec(text(), 0..3), vec(text(), 0..3), vec(text(), 0..3)];
    let ceiling = option::of((float(), float(), float(), float()));
    (texts, lists, any::<i64>(), any::<u64>(), vec(system(), 0..3), ceiling, any::<bool>()).prop_map(
        |(texts, lists, started_unix_ns, seed, systems, ceiling, finished)| {
            let [id, study, title, question, version, commit, study_text, note] = texts;
            let [targets, settings, only, tags] = lists;
            let ceiling = ceiling.map(|(operation, clock, lateness, error)| Ceiling {
                null_operation_ns: operation,
                clock_read_ns: clock,
                lateness_p99_ns: lateness,
                open_rate_error_pct: error,
            });
            RunFacts {
                id,
                study,
                title,
                question,
                started_unix_ns,
                seed,
                version,
                commit,
                study_text,
                targets,
                settings,
                only,
                tags,
                note,
                systems,
                ceiling,
                finished,
                running: false,
            }
        },
    )
}

/// The label of a small trial.
pub fn plain_label(index: u32) -> TrialLabel {
    TrialLabel {
        index,
        experiment: "rates by modules".into(),
        system: "target".into(),
        replicate: 1,
        block: 2,
        factors: vec![
            Factor { name: "transfer".into(), level: Level::Number { value: 4096.0, text: "4 KiB".into() } },
            Factor { name: "cache".into(), level: Level::Word("cold".into()) },
        ],
        streams: vec![StreamLabel {
            name: "random-read".into(),
            workload: "random-read".into(),
            asks: Asks::Operations,
            load: "closed, 32 outstanding".into(),
            slots: Some(32),
            think_mean: Nanos(3),
            offered: None,
            classes: vec![("read".into(), ClassKind::Work), ("sync".into(), ClassKind::Upkeep)],
            gives: Vec::new(),
        }],
        state: StatePolicy::read("as the last trial left it"),
        search: None,
    }
}

/// One interval of that trial; every number of it follows from `interval`.
pub fn plain_cell(interval: u32) -> Cell {
    let n = u64::from(interval) + 1;
    let spread = |scale: u64| Histogram::from_values((1..=20).map(|i| i * i * scale + n));
    Cell {
        key: CellKey { interval, stream: 0, class: 0, endpoint: 0, generator: 0 },
        response: spread(1000),
        service: spread(900),
        lateness: spread(100),
        censored: Histogram::default(),
        tally: Tally { done: 20, failed: n % 3, retried: 0, rolled_back: 0, bytes: 20 * 4096 },
    }
}

/// What is left to say when all cells of that trial are appended.
pub fn plain_rest(intervals: u32) -> Observations {
    let second = 1_000_000_000;
    Observations {
        provenance: Provenance::Simulated,
        started_unix_ns: 1_795_296_600_000_000_007,
        window: Window { start: Nanos(second), end: Nanos(u64::from(intervals) * second) },
        interval: Nanos(second),
        endpoints: vec!["module 0".into()],
        generators: 1,
        cells: Vec::new(),
        accounts: vec![Account { planned: 20, done: 18, failed: 1, censored: 1, ..Account::default() }],
        generator_cpu: CpuTime { user_s: 0.25, system_s: 0.5 },
        elapsed_s: Some(2.5),
        validated_reads: 7,
        series: vec![Series {
            probe: Probe::read("machine.cpu.iowait", "share"),
            points: vec![(Nanos(second), 0.125), (Nanos(2 * second), 0.375)],
        }],
        events: vec![Event { at: Nanos(5), kind: EventKind::Phase, text: "warm-up".into() }],
        mishaps: Vec::new(),
        checks: Vec::new(),
    }
}

/// Facts whose values all differ.
pub fn plain_facts() -> RunFacts {
    RunFacts {
        id: "2026-11-21T2130-flash".into(),
        study: "flash".into(),
        title: "Flash characterisation".into(),
        question: "What does this storage deliver, at most and sustained?".into(),
        started_unix_ns: 1_795_296_600_000_000_001,
        seed: 0xfeed_beef_dead_cafe,
        version: "0.1.0".into(),
        commit: "abc1234".into(),
        study_text: "title = \"Flash characterisation\"\n".into(),
        targets: vec!["null:".into()],
        settings: vec!["modules=1,2".into()],
        only: vec!["random-read".into()],
        tags: vec!["spring".into(), "new firmware".into()],
        note: "after the change of cables".into(),
        systems: vec![SystemFacts {
            name: "target".into(),
            kind: "null".into(),
            place: "nowhere".into(),
            modules: 4,
            driver: "none".into(),
            fingerprint: vec![
                Fact { key: "kernel.release".into(), value: "6.12.0".into(), private: false },
                Fact { key: "host.name".into(), value: "goldfinch".into(), private: true },
            ],
            footprint: Footprint { drives: Some(2.0), rack_units: Some(0.5), ..Footprint::default() },
        }],
        ceiling: Some(Ceiling {
            null_operation_ns: 41.5,
            clock_read_ns: 7.25,
            lateness_p99_ns: 180.0,
            open_rate_error_pct: 0.03,
        }),
        finished: false,
        running: false,
    }
}

/// Writes a run of one finished trial, closed.
pub fn plain_run(path: &Path) {
    let mut file = RunFile::create(path, &plain_facts(), 32 << 10).unwrap();
    file.begin_trial(&plain_label(0), &plain_rest(3)).unwrap();
    file.append_interval(0, &[plain_cell(0), plain_cell(1)], &[]).unwrap();
    file.finish_trial(0, &plain_rest(3)).unwrap();
    file.close().unwrap();
}

/// All cells of an attempt, ascending by interval.
pub fn cells(stored: Result<StoredCells<'_>, StoreError>) -> Vec<Cell> {
    let mut all = Vec::new();
    stored.unwrap().each(&mut |cell| all.push(cell.clone())).unwrap();
    all
}

/// The last attempt at a trial with its cells.
pub fn whole(file: &RunFile, index: u32) -> Observations {
    Observations { cells: cells(file.cells(index)), ..file.observations(index).unwrap() }
}
