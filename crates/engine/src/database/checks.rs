//! What holds after a trial on a database: the invariants of its data, and the ledger of acknowledged commits.
//!
//! The one idea: checks come after the books of the trial are closed, on a session of their own, so that they cost the
//! measurement nothing; what they find becomes events of the trial.

use crate::TrialError;
use crate::database::databases::Databases;
use crate::database::tallies;
use crate::observer::{Observer, Phase};
use crate::worker::transactions::Transactions;
use database::dataset::{self, CheckOutcome};
use database::{DataSet, Texts};
use observation::{Event, EventKind};
use recorder::{Clock, WallClock};
use std::time::Duration;
use study::{Engine, Sessions, Trial};
use units::Nanos;
use workload::brokerage::Ledger;
use workload::brokerage::ledger::{Faulty, Judged};

/// Checks the data behind a trial, when the study wants it and it has a data set.
///
/// # Errors
/// When the database refuses a query.
pub(crate) fn check(
    databases: &Databases,
    trial: &Trial,
    transactions: &[Transactions],
    observer: &mut dyn Observer,
    clock: &WallClock,
) -> Result<Vec<Event>, TrialError> {
    let wanted = trial.streams.iter().filter_map(|stream| stream.pool.as_ref()).any(|pool| pool.check);
    if wanted && databases.current()?.0.engine() == Engine::Null {
        let text =
            "a database that answers at once keeps nothing: neither invariants nor a ledger can be checked".to_owned();
        return Ok(vec![Event { at: end_of(trial), kind: EventKind::Note, text }]);
    }
    let (true, Some((database, dataset))) = (wanted, databases.checked()) else { return Ok(Vec::new()) };
    observer.phase(trial, Phase::Check, Nanos::ZERO);
    let refused = databases.refused();
    if !matches!(dataset, DataSet::Brokerage { .. }) {
        let (_, begun) = databases.current()?;
        let told = transactions.iter().flat_map(|work| work.business.tallies());
        let told = tallies::end(database, trial, &begun.tallies, told).map_err(&refused)?;
        return Ok(told.map(|(kind, text)| Event { at: end_of(trial), kind, text }).into_iter().collect());
    }
    let mut session = database.session(&Texts::none(database.engine()), &Sessions::default()).map_err(&refused)?;
    let now = || Duration::from_nanos(clock.now().0);
    let outcomes = dataset::check(session.as_mut(), dataset, &now).map_err(&refused)?;
    let mut events = vec![invariants_words(&outcomes)];
    let mut ledger = Ledger::default();
    transactions.iter().filter_map(|work| work.business.ledger()).for_each(|own| ledger.merge(own));
    if let Some(first) = ledger.entries().next() {
        let judged = dataset::check_ledger(session.as_mut(), dataset, &ledger, first.trade).map_err(&refused)?;
        events.push(ledger_words(&judged));
    }
    Ok(events.into_iter().map(|(kind, text)| Event { at: end_of(trial), kind, text }).collect())
}

fn end_of(trial: &Trial) -> Nanos {
    trial.phases.warm_up + trial.phases.measure
}

fn invariants_words(outcomes: &[CheckOutcome]) -> (EventKind, String) {
    let took: Duration = outcomes.iter().map(|outcome| outcome.took).sum();
    let broken: Vec<String> = outcomes
        .iter()
        .filter(|outcome| !outcome.passed)
        .map(|outcome| {
            let first = outcome.violations.first().map_or("", String::as_str);
            format!("{} ({}): first broken by {first}", outcome.name, outcome.says)
        })
        .collect();
    if broken.is_empty() {
        let text = format!("all {} invariants hold, checked in {:.1} s", outcomes.len(), took.as_secs_f64());
        return (EventKind::Note, text);
    }
    let text = format!("{} of {} invariants are broken: {}", broken.len(), outcomes.len(), broken.join("; "));
    (EventKind::Damage, text)
}

fn ledger_words(judged: &Judged) -> (EventKind, String) {
    let unknown = match (judged.unknown_kept, judged.unknown_lost) {
        (0, 0) => String::new(),
        (kept, lost) => format!("; of unknown outcome {kept} were kept and {lost} were not"),
    };
    if judged.passed() {
        return (EventKind::Note, format!("ledger: {} orders are as acknowledged{unknown}", judged.ok));
    }
    let fault = |what: &str, faulty: &Faulty| {
        (faulty.count > 0).then(|| {
            format!("{} {what}, the first is trade {}", faulty.count, faulty.first.first().copied().unwrap_or(0))
        })
    };
    let faults: Vec<String> = [
        fault("acknowledged orders are missing", &judged.missing),
        fault("orders that were rolled back are there", &judged.resurrected),
        fault("acknowledged fills are missing", &judged.unfilled),
    ]
    .into_iter()
    .flatten()
    .collect();
    (EventKind::Damage, format!("ledger: {}{unknown}", faults.join("; ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lost_commit_is_damage_and_an_unknown_one_is_not() {
        let kept = Judged { ok: 5, unknown_kept: 1, ..Judged::default() };
        assert_eq!(ledger_words(&kept).0, EventKind::Note);
        let lost = Judged { missing: Faulty { count: 1, first: vec![42] }, ..Judged::default() };
        let (kind, text) = ledger_words(&lost);
        assert_eq!(kind, EventKind::Damage);
        assert!(text.contains("1 acknowledged orders are missing, the first is trade 42"), "{text}");
    }
}
