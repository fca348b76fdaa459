//! What an observer is handed while a trial goes on, and what is left to return.

use crate::bench::{blocks, closed, open, run, script, stream, trial};
use engine::{Observer, TrialError, run_trial};
use observation::{Cell, CellSource, Series};
use std::sync::atomic::{AtomicBool, Ordering};
use study::{Place, Storage, Trial};
use units::Nanos;

/// Keeps all that comes, and may stop the trial when so many calls have come.
struct Keeper<'a> {
    cells: Vec<Cell>,
    series: Vec<Series>,
    calls: usize,
    stop: Option<(usize, &'a AtomicBool)>,
}

impl<'a> Keeper<'a> {
    fn new(stop: Option<(usize, &'a AtomicBool)>) -> Keeper<'a> {
        Keeper { cells: Vec::new(), series: Vec::new(), calls: 0, stop }
    }
}

impl Observer for Keeper<'_> {
    fn interval(&mut self, _: &Trial, cells: &[Cell], series: &[Series]) {
        self.cells.extend_from_slice(cells);
        self.series.extend_from_slice(series);
        self.calls += 1;
        if let Some((_, flag)) = self.stop.filter(|(calls, _)| *calls == self.calls) {
            flag.store(true, Ordering::Relaxed);
        }
    }

    fn keeps(&self) -> bool {
        true
    }
}

fn one(measure: Nanos) -> Trial {
    trial(vec![stream(Storage::Block(blocks(1.0)), closed(4))], measure)
}

#[test]
fn what_the_observer_keeps_is_all_there_is_and_comes_back_from_nobody_else() {
    let trial = one(Nanos::from_secs(1));
    let script = || Place::Scripted(script(Nanos::from_micros(100), 8));
    let returned = run(&mut open(script(), 1), &trial);
    let mut keeper = Keeper::new(None);
    let kept = run_trial(&mut open(script(), 1), &trial, &mut keeper, &AtomicBool::new(false)).expect("it ends");
    assert!(kept.cells.is_empty() && kept.series.is_empty());
    let ordered = |cells: &[Cell]| {
        let mut ordered = Vec::new();
        let Ok(()) = cells.each(&mut |cell| ordered.push(cell.clone()));
        ordered
    };
    assert_eq!(ordered(&keeper.cells), ordered(&returned.cells));
    assert_eq!(kept.accounts, returned.accounts);
}

#[test]
fn probes_are_told_as_the_trial_goes_on() {
    let mut keeper = Keeper::new(None);
    let trial = one(Nanos::from_millis(600));
    let kept = run_trial(&mut open(Place::Null, 1), &trial, &mut keeper, &AtomicBool::new(false)).expect("it ends");
    assert!(kept.cells.is_empty() && kept.series.is_empty());
    let mut told: Vec<Nanos> = keeper.series.iter().flat_map(|series| &series.points).map(|point| point.0).collect();
    assert!(told.is_sorted(), "points came late");
    told.dedup();
    assert!(!told.is_empty());
    assert!(!run(&mut open(Place::Null, 1), &trial).series.is_empty(), "without a keeper they are returned");
}

#[test]
fn a_trial_that_is_stopped_hands_over_whole_intervals_only() {
    let stop = AtomicBool::new(false);
    let mut keeper = Keeper::new(Some((8, &stop)));
    let trial = one(Nanos::from_secs(60));
    let stopped = run_trial(&mut open(Place::Null, 1), &trial, &mut keeper, &stop);
    assert!(matches!(stopped, Err(TrialError::Stopped)), "{stopped:?}");
    let newest = keeper.cells.iter().map(|cell| cell.key.interval).max().expect("intervals were finished");
    let done = |interval: u32| -> u64 {
        let here = keeper.cells.iter().filter(|cell| cell.key.interval == interval);
        here.map(|cell| cell.tally.done).sum()
    };
    let last = keeper.series.iter().flat_map(|series| &series.points).map(|point| point.0).max().expect("a reading");
    let end = trial.phases.interval.0 * (u64::from(newest) + 1);
    assert!(end <= last.0, "interval {newest} ends at {end} ns, and the trial was stopped before {last:?}");
    assert!(done(newest) > 0);
}
