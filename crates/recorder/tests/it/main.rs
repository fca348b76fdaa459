//! The recorder against a naive reading of the same operations.

mod naive;

use naive::{Operation, accounted, cells_of, operations};
use observation::{Account, Cell, CellKey, Window};
use proptest::prelude::*;
use recorder::{Collector, Layout, Live, Origin, Outcome};
use std::collections::BTreeMap;
use units::Nanos;

const INTERVAL: u64 = 1_000;

fn layout(window: Window, start: u64) -> Layout {
    Layout { stream: 3, generator: 1, classes: 2, endpoints: 3, window, interval: Nanos(INTERVAL), start: Nanos(start) }
}

/// Everything that a recorder and its collector make of the operations, equal keys added up.
struct Recorded {
    cells: BTreeMap<CellKey, Cell>,
    account: Account,
    live: Live,
}

/// Feeds operations in the order of their ends. The collector looks after every `patience`-th operation.
fn record(operations: &[Operation], window: Window, start: u64, patience: usize) -> Recorded {
    let mut collector = Collector::default();
    let mut recorder = collector.recorder(layout(window, start));
    let mut collected = Vec::new();
    let at = |ns: u64| Nanos(start + ns);
    for (index, operation) in operations.iter().enumerate() {
        let outcome = match operation.completed {
            Some(_) if operation.done => Outcome::done(operation.bytes.into()),
            Some(_) => Outcome::Failed,
            None => Outcome::Censored,
        };
        recorder.record(recorder::Operation {
            class: operation.class,
            endpoint: operation.endpoint,
            origin: Origin::Planned,
            intended: at(operation.intended),
            issued: operation.issued.map(at),
            completed: at(operation.completed.unwrap_or(naive::END)),
            outcome,
        });
        if index % patience == 0 {
            collector.collect(&mut collected);
            recorder.roll(at(operation.completed.unwrap_or(naive::END)));
        }
    }
    let planned = operations.iter().filter(|o| window.contains(Nanos(o.intended))).count() as u64;
    let account = recorder.finish(planned).unwrap();
    collector.collect(&mut collected);
    let mut cells = BTreeMap::<CellKey, Cell>::new();
    for cell in &collected {
        cells.entry(cell.key).or_insert_with(|| Cell { key: cell.key, ..Cell::default() }).merge(cell);
    }
    Recorded { cells, account, live: collector.live() }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// Every total is kept, so any window that is cut at interval borders equals the naive one.
    #[test]
    fn cells_equal_the_naive_reading_whatever_the_order_and_however_long_the_stalls(
        operations in operations(300),
        borders in (0u64..20, 1u64..30),
        start in 0u64..1 << 40,
        patience in 1usize..400,
    ) {
        let window = Window {
            start: Nanos(borders.0 * INTERVAL),
            end: Nanos((borders.0 + borders.1) * INTERVAL),
        };
        let recorded = record(&operations, window, start, patience);
        let expected = cells_of(&operations, 3, 1, INTERVAL);
        prop_assert_eq!(&recorded.cells, &expected);
        prop_assert_eq!(recorded.account, accounted(&operations, window));
        let ended = |done: bool| operations.iter().filter(|o| o.completed.is_some() && o.done == done).count() as u64;
        prop_assert_eq!(recorded.live, Live { done: ended(true), failed: ended(false) });
    }
}

/// An operation that ended well; its class and its endpoint have the same number.
fn done(index: u16) -> recorder::Operation {
    recorder::Operation {
        class: index,
        endpoint: index,
        origin: Origin::Planned,
        intended: Nanos(10),
        issued: Some(Nanos(10)),
        completed: Nanos(20),
        outcome: Outcome::done(1),
    }
}

#[test]
fn finished_intervals_leave_while_nothing_completes() {
    let window = Window { start: Nanos(0), end: Nanos(10 * INTERVAL) };
    let mut collector = Collector::default();
    let mut recorder = collector.recorder(layout(window, 0));
    recorder.record(done(0));
    let mut cells = Vec::new();
    // The interval is over, but what was out at its end is waited for a quarter of an interval.
    recorder.roll(Nanos(INTERVAL + 1));
    collector.collect(&mut cells);
    assert_eq!(cells.len(), 0);
    recorder.roll(Nanos(INTERVAL + INTERVAL / 4));
    collector.collect(&mut cells);
    assert_eq!(cells.len(), 1);
    assert_eq!(cells[0].tally.done, 1);
}

/// Histograms are taken as zeroed memory of which only what is written to becomes resident: here half a gigabyte is asked
/// for, and a hundredth of it used.
#[test]
fn histograms_that_are_never_touched_take_no_memory() {
    let resident = || {
        let pages = std::fs::read_to_string("/proc/self/statm").unwrap();
        pages.split(' ').nth(1).unwrap().parse::<u64>().unwrap() * 4096
    };
    let window = Window { start: Nanos(0), end: Nanos(10 * INTERVAL) };
    let before = resident();
    let mut collector = Collector::default();
    let mut recorder = collector.recorder(Layout { classes: 10, endpoints: 10, ..layout(window, 0) });
    for endpoint in 0..10 {
        recorder.record(done(endpoint));
    }
    // The other tests of this program may take some memory meanwhile.
    assert!(resident().saturating_sub(before) < 64 << 20);
    recorder.finish(10).unwrap();
}
