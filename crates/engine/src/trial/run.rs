//! One trial from state to observations.

use crate::TrialError;
use crate::hot::drive::Driven;
use crate::hot::hung::Hung;
use crate::observer::{Found, Observer, Phase};
use crate::target::backing::{Asked, Carried, Ended, Simulation, remark};
use crate::target::opened::Opened;
use crate::trial::by_clock;
use crate::trial::coordinator::{self, Watchers};
use crate::trial::events;
use crate::trial::outcome::Outcome;
use crate::trial::read_back;
use crate::trial::state;
use crate::worker::assign::{streams, window};
use observation::{Event, EventKind, Observations, Provenance, Series, Whole};
use recorder::{Clock, Collector};
use std::sync::atomic::AtomicBool;
use study::Trial;
use units::{Nanos, counted};

/// Runs one trial: brings the system into its state, loads it, and returns what was seen. Finished intervals go to the
/// observer as they come, so that a trial which ends early leaves them behind; what the observer keeps is not returned
/// again.
///
/// # Errors
/// [`TrialError::Stopped`] when `stop` was set, and whatever kept the trial from ending.
pub fn run_trial(
    opened: &mut Opened,
    trial: &Trial,
    observer: &mut dyn Observer,
    stop: &AtomicBool,
) -> Result<Observations, TrialError> {
    let hung_before = after_hanging(opened)?;
    events::put_right(opened, trial)?;
    let mut remarks = state::prepare(opened, trial, observer, stop)?;
    remarks.extend(hung_before.map(|n| {
        let operations = counted(u64::from(n), "operations");
        format!("{operations} hung in the trial before: what the system still did for them may be part of this one")
    }));
    remarks.extend(trial.seldom());
    keep_ledger(opened, trial, observer);
    if opened.simulated() {
        observer.phase(trial, Phase::Measure, window(trial).end);
    }
    let mut collector = Collector::default();
    let asked = Asked { trial, setting: &opened.setting, collector: &mut collector, stop };
    let mut outcome = match opened.backing.carry(asked)? {
        Carried::Simulated(simulation) => simulated(opened, trial, simulation, &mut collector, observer)?,
        Carried::Workers(shares) => {
            let watchers = Watchers { observer: &mut *observer, stop, enough: &mut |_| false };
            let (outcome, ended) = coordinator::run(opened, trial, shares, collector, watchers);
            // Whoever ended early did not come to the end of the window.
            events::put_right(opened, trial)?;
            look_back(opened, trial, outcome, ended, observer)?
        }
    };
    if trial.phases.fixed_work {
        same_work(trial, &outcome)?;
    }
    keep_ledger(opened, trial, observer);
    remarks.extend(read_back::after(opened, trial, &mut outcome, observer, stop)?);
    let mut of_generator = outcome.of_generator();
    of_generator.extend(outcome.of_jobs(trial));
    let closed = outcome.closed;
    of_generator.extend(hung_before.map(|n| {
        let points = vec![(closed, f64::from(n))];
        Series { probe: Whole::HungBefore.into(), points }
    }));
    let jobs_ended = jobs_ended(trial, &outcome);
    if let Some(ended) = jobs_ended {
        remarks.extend(trial.seldom_beside_jobs(ended.saturating_sub(window(trial).start)));
    }
    of_generator
        .extend(jobs_ended.map(|at| Series { probe: Whole::JobsEnded.into(), points: vec![(at, at.seconds())] }));
    let behind = by_clock::behind(trial, &outcome, jobs_ended);
    outcome.seen.events.extend(behind);
    outcome.show(trial, &[], of_generator, observer);
    Ok(observations(opened, trial, outcome, remarks))
}

/// What is known of all writes goes to the observer, before and after those of the trial: should it never end, what was
/// acknowledged before it is still known.
fn keep_ledger(opened: &Opened, trial: &Trial, observer: &mut dyn Observer) {
    if let Some(ledger) = opened.setting.data.ledger().filter(|_| trial.watched()) {
        observer.ledger(trial, &ledger);
    }
}

/// How many operations hung in the trial before, when any did. What is still out would land in this one.
fn after_hanging(opened: &mut Opened) -> Result<Option<u32>, TrialError> {
    if let Some(hung) = opened.hung.iter().find(|hung| hung.is_out()) {
        let (system, what) = (opened.setting.system.clone(), hung.what.clone());
        return Err(TrialError::StillOut { system, place: opened.backing.address().unwrap_or_default(), what });
    }
    let hung = std::mem::take(&mut opened.hung);
    Ok((!hung.is_empty()).then(|| hung.iter().map(|hung| hung.operations).sum()))
}

/// A trial in virtual time is over when anybody looks: all that it came to is shown at once.
fn simulated(
    opened: &Opened,
    trial: &Trial,
    simulation: Simulation,
    collector: &mut Collector,
    observer: &mut dyn Observer,
) -> Result<Outcome, TrialError> {
    let Simulation { driven, home, told } = simulation;
    let mut outcome = Outcome::new(trial, home.len() as u16);
    home.into_iter().try_for_each(|home| outcome.welcome(home))?;
    // In virtual time nothing outlives its trial.
    outcome.hung.clear();
    let mut cells = Vec::new();
    collector.collect(&mut cells);
    if !matches!(driven, Driven::Finished { .. }) {
        // The newest interval was cut short, and only whole ones are kept.
        let newest = cells.iter().map(|cell| cell.key.interval).max();
        cells.retain(|cell| Some(cell.key.interval) < newest);
    }
    outcome.show(trial, &cells, Vec::new(), observer);
    outcome.hear(trial, told, observer);
    if matches!(driven, Driven::Stopped) {
        return Err(TrialError::Stopped);
    }
    let done = outcome.seen.accounts.iter().map(|account| account.done).sum();
    outcome.check_gone(opened, done)?;
    Ok(outcome)
}

/// A trial ends with a look at what its load left behind; so does one whose system went away.
fn look_back(
    opened: &mut Opened,
    trial: &Trial,
    mut outcome: Outcome,
    ended: Result<(), TrialError>,
    observer: &mut dyn Observer,
) -> Result<Outcome, TrialError> {
    let transactions = std::mem::take(&mut outcome.transactions);
    let Outcome { started_unix_ns, ended: at, .. } = outcome;
    let after = Ended { trial, clock: &opened.clock, started_unix_ns, transactions: &transactions, at };
    match ended {
        Ok(()) => {
            let told = opened.backing.look_back(after, observer)?;
            outcome.hear(trial, told, observer);
            Ok(outcome)
        }
        Err(gone @ TrialError::Gone { .. }) => {
            // The trial will not end as planned: what is known of it is kept before anything else is tried.
            observer.found(trial, &Found { events: &outcome.seen.events, mishaps: &outcome.seen.mishaps, checks: &[] });
            Err(opened.backing.outage(gone, after, observer))
        }
        Err(error) => Err(error),
    }
}

/// Fixed work compares only when it is the same everywhere: every step that was planned must have been done.
fn same_work(trial: &Trial, outcome: &Outcome) -> Result<(), TrialError> {
    for (stream, account) in streams(trial).zip(&outcome.seen.accounts) {
        let planned = stream.operations().unwrap_or(account.planned);
        let whole = stream.stream().files().is_some() || stream.stream().transactions().is_some();
        if account.done != planned && whole {
            return Err(TrialError::WorkDiffers { stream: stream.name(), done: account.done, planned });
        }
    }
    Ok(())
}

/// When the jobs beside other work were over, where the window went on: what came behind is of the other work alone.
fn jobs_ended(trial: &Trial, outcome: &Outcome) -> Option<Nanos> {
    let jobs = trial.streams.iter().zip(&outcome.streams_ended).filter(|(stream, _)| stream.work().is_some());
    let at = jobs.map(|(_, ended)| *ended).max().filter(|_| !trial.phases.fixed_work)?;
    (at < window(trial).end).then_some(at)
}

fn observations(opened: &mut Opened, trial: &Trial, outcome: Outcome, remarks: Vec<String>) -> Observations {
    let Outcome { mut seen, started_unix_ns, ended, hung, .. } = outcome;
    let mut window = window(trial);
    if trial.phases.fixed_work {
        // What ends on a border belongs to the interval behind it: the last operation is counted, too.
        window.end = round_up(Nanos(ended.0 + 1), trial.phases.interval).clamp(window.start, window.end);
        // Slots fall idle one by one at the end of fixed work, so there is no population to hold Little's law against.
        seen.accounts.iter_mut().for_each(|account| account.slots_ns = 0);
        seen.elapsed_s = Some(ended.saturating_sub(window.start).seconds());
    }
    for (stream, account) in trial.streams.iter().zip(&mut seen.accounts) {
        // Users who are more than the sessions wait for one, as they are meant to: no number of them is under way. The slots of
        // a job stand idle once it has ended.
        if stream.work().is_some() || stream.transactions().is_some_and(|(_, pool)| pool.sessions < stream.slots()) {
            account.slots_ns = 0;
        }
    }
    if let Some(last) = hung.iter().map(|hung| hung.at).max() {
        let event = |hung: &Hung| Event { at: last, kind: EventKind::Failure, text: on(opened, hung) };
        seen.events.extend(hung.iter().map(event));
    }
    opened.hung = hung;
    seen.events.splice(0..0, remarks.into_iter().map(remark));
    let now = || opened.clock.unix_start_ns() + opened.clock.now().0 as i64;
    Observations {
        provenance: if opened.simulated() { Provenance::Simulated } else { Provenance::Measured },
        started_unix_ns: started_unix_ns.unwrap_or_else(now),
        window,
        interval: trial.phases.interval,
        endpoints: (0..trial.modules.max(1)).map(|module| format!("module {module}")).collect(),
        ..seen
    }
}

/// What hung, with the place of the system.
fn on(opened: &Opened, hung: &Hung) -> String {
    let place = opened.backing.address().map_or_else(String::new, |place| format!(" at {place}"));
    format!("on {}{place}: {}", opened.setting.system, hung.told())
}

fn round_up(at: Nanos, interval: Nanos) -> Nanos {
    Nanos(at.0.div_ceil(interval.0.max(1)) * interval.0.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hot::hung::Held;
    use crate::hot::lane::Out;
    use crate::observer::Unobserved;
    use crate::sample;
    use load::{Spec, Think};
    use study::Place;
    use units::Bytes;

    #[test]
    fn after_an_operation_that_hung_the_next_trial_is_refused_while_it_is_out_and_doubted_when_it_came_back() {
        let trial = sample::trial(Spec::Closed { slots: 1, think: Think::None }, Nanos::from_millis(100));
        let mut opened = sample::open(Place::Null, 1, Bytes::gib(1), None).unwrap();
        let run = |opened: &mut Opened| run_trial(opened, &trial, &mut Unobserved, &AtomicBool::new(false));
        let (reader, kernel) = std::io::pipe().unwrap();
        let out = Out { operations: 3, oldest: Nanos::from_secs(12), at: Nanos::from_secs(20) };
        let mut hung = Hung::new("Write of 4096 B at offset 8192 of module 0".to_owned(), out);
        hung.held = Some(Held::new(2, Some(reader.into()), Box::new(())));
        opened.hung.push(hung);
        for _ in 0..2 {
            let refused = run(&mut opened).unwrap_err();
            assert_eq!(
                refused.to_string(),
                "system `null` still holds what hung in the trial before: Write of 4096 B at offset 8192 of module 0"
            );
            assert!(refused.hint().is_some());
        }
        drop(kernel);
        let before = |seen: &Observations| seen.series_of(&Whole::HungBefore.into()).map(|series| series.points[0].1);
        let doubted = run(&mut opened).unwrap();
        assert_eq!(before(&doubted), Some(3.0));
        assert!(doubted.events.iter().any(|event| event.text.starts_with("3 operations hung in the trial before")));
        assert_eq!(before(&run(&mut opened).unwrap()), None, "once");
    }

    #[test]
    fn what_hung_is_carried_into_the_result_with_its_system() {
        let trial = sample::trial(Spec::Closed { slots: 1, think: Think::None }, Nanos::from_millis(100));
        let mut opened = sample::open(Place::Null, 1, Bytes::gib(1), None).unwrap();
        let mut outcome = Outcome::new(&trial, 1);
        let out = Out { operations: 2, oldest: Nanos::from_secs(12), at: Nanos::from_secs(20) };
        outcome.hung.push(Hung::new("Read of 512 B at offset 0 of module 1".to_owned(), out));
        let told = Series { probe: Whole::Hung.into(), points: vec![(Nanos::from_secs(20), 2.0)] };
        assert_eq!(outcome.of_generator(), [told]);
        let seen = observations(&mut opened, &trial, outcome, Vec::new());
        let expected = "on null: Read of 512 B at offset 0 of module 1 hung: it had been out for 12 s, and 1 other operation with \
                        it when the time to drain was over; it came back after that";
        assert_eq!(seen.events[0].text, expected);
        assert_eq!(opened.hung.len(), 1);
    }
}
