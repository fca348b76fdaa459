//! What holds after a trial on a database: the invariants of its data, and the ledger of acknowledged commits.
//!
//! The one idea: checks come after the books of the trial are closed, on a session of their own, so that they cost the
//! measurement nothing; what they find becomes events of the trial.

use crate::TrialError;
use crate::database::databases::{Databases, asked};
use crate::observer::{Observer, Phase};
use crate::worker::transactions::Transactions;
use database::Texts;
use database::dataset::{self, Asking, CheckOutcome};
use observation::{Event, EventKind};
use recorder::{Clock, WallClock};
use std::time::Duration;
use study::{Engine, Sessions, Trial};
use units::Nanos;
use workload::kind::{Queries, Verdict};
use workload::transaction::Business;

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
    let wanted = asked(trial).any(|(_, pool)| pool.check);
    if wanted && databases.current()?.0.engine() == Engine::Null {
        let text =
            "a database that answers at once keeps nothing: neither invariants nor a ledger can be checked".to_owned();
        return Ok(vec![Event { at: end_of(trial), kind: EventKind::Note, text }]);
    }
    let (true, Some((database, dataset))) = (wanted, databases.checked()) else { return Ok(Vec::new()) };
    observer.phase(trial, Phase::Check, Nanos::ZERO);
    let refused = databases.refused();
    let now = || Duration::from_nanos(clock.now().0);
    let mut events = Vec::new();
    let mut session = database.session(&Texts::none(database.engine()), &Sessions::default()).map_err(&refused)?;
    let outcomes = dataset::check(session.as_mut(), dataset, &now).map_err(&refused)?;
    drop(session);
    if !outcomes.is_empty() {
        events.push(invariants_words(&outcomes));
    }
    if let Some((asked, pool)) = asked(trial).next() {
        let (_, found) = databases.current()?;
        let businesses: Vec<&dyn Business> = transactions.iter().map(|own| own.business.as_ref()).collect();
        let check = |queries: &mut dyn Queries| asked.check(queries, pool.sessions, found, &businesses);
        let verdicts = Asking::on(database, check).map_err(&refused)?;
        events.extend(
            verdicts
                .into_iter()
                .map(|Verdict { damaged, text }| (if damaged { EventKind::Damage } else { EventKind::Note }, text)),
        );
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
