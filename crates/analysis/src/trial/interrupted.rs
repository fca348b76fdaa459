//! A trial that was killed or stopped, reduced over what it had finished.
//!
//! The one idea: the window is cut at the end of the last interval that is there. The figures are those of a shorter
//! trial; how the rest would have gone is not known, so they are shown and nothing is concluded from them.

use super::cut::Cut;
use super::latency::Placed;
use super::summarise::reduce;
use crate::TrialSummary;
use observation::{Account, CellSource, Observations, TrialLabel, Window};
use study::Judgement;

/// Reduces what an interrupted trial left. `observations` has the window as planned; nothing when no interval of it was
/// finished.
///
/// # Errors
/// Whatever keeps the cells from being read.
pub fn summarise_interrupted<S: CellSource + ?Sized>(
    label: &TrialLabel,
    observations: &Observations,
    cells: &S,
    judgement: &Judgement,
) -> Result<Option<TrialSummary>, S::Error> {
    let Some(window) = finished_window(observations, cells)? else { return Ok(None) };
    let planned = observations.window.length();
    let part = Observations { window, cells: Vec::new(), ..observations.clone() };
    reduce(label, &part, cells, judgement, Some(planned)).map(Some)
}

/// The planned window up to the end of the last interval in it that holds anything.
fn finished_window<S: CellSource + ?Sized>(observations: &Observations, cells: &S) -> Result<Option<Window>, S::Error> {
    let planned = observations.window;
    let mut last = None;
    cells.each(&mut |cell| {
        let interval = cell.key.interval;
        if planned.contains(observations.interval_start(interval)) {
            last = last.max(Some(interval));
        }
    })?;
    let end = |last: u32| observations.interval_start(last.saturating_add(1)).min(planned.end);
    Ok(last.map(|last| Window { end: end(last), ..planned }))
}

/// Books of what is there: they close by themselves, and say nothing of the time of the slots.
pub fn account_of(cut: &Cut, response: &Placed) -> Account {
    let censored = response.censored.count();
    let done = response.all.count() - censored;
    let failed = cut.work_tally().failed;
    Account { planned: done + failed + censored, done, failed, censored, ..Account::default() }
}
