//! What holds after a trial on a database: the invariants of its data, and the ledger of acknowledged commits.
//!
//! The one idea: checks come after the books of the trial are closed, on a session of their own, so that they cost the
//! measurement nothing; what they find is kept check by check, and told as events of the trial.

use crate::TrialError;
use crate::database::databases::{Databases, asked};
use crate::observer::{Observer, Phase};
use crate::worker::transactions::Transactions;
use database::dataset::{self, Asking, CheckOutcome, Depth, Since};
use database::{DataSet, Database, DatabaseError, Texts};
use observation::{Check, CheckKind, CheckMoment, CheckResult, Event, EventKind, Ledger};
use recorder::{Clock, WallClock};
use std::time::Duration;
use study::{Engine, Sessions, Trial};
use units::{Nanos, first_bytes};
use workload::kind::{self, Verdict};
use workload::transaction::Business;

/// Bytes that are kept of what one check found.
const FOUND_MAX: usize = 16 << 10;

/// What the workers of a trial know of acknowledged work, when the study wants it checked.
pub(crate) fn ledger(databases: &Databases, trial: &Trial, transactions: &[Transactions]) -> Option<Ledger> {
    let (asked, pool) = asked(trial).next().filter(|(_, pool)| pool.check)?;
    databases.checked()?;
    let (_, found) = databases.current().ok()?;
    let businesses: Vec<&dyn Business> = transactions.iter().map(|own| own.business.as_ref()).collect();
    let kind::Ledger { counts, pages } = asked.ledger(pool.sessions, found, &businesses)?;
    Some(Ledger { counts, pages })
}

/// Checks the data behind a trial, when the study wants it and it has a data set.
///
/// # Errors
/// When the database refuses a query.
pub(crate) fn check(
    databases: &Databases,
    trial: &Trial,
    ledger: Option<&Ledger>,
    moment: CheckMoment,
    (observer, clock): (&mut dyn Observer, &WallClock),
) -> Result<Vec<Check>, TrialError> {
    let wanted = asked(trial).any(|(_, pool)| pool.check);
    let (true, Some((database, dataset))) = (wanted, databases.checked()) else { return Ok(Vec::new()) };
    observer.phase(trial, Phase::Check, Nanos::ZERO);
    let depth = if moment == CheckMoment::Outage { Depth::All } else { Depth::Moved };
    let now = || Duration::from_nanos(clock.now().0);
    let held = invariants(database, dataset, depth, &now).and_then(|mut checks| {
        let failed = |name: &str| checks.iter().any(|own| own.name == name && own.result == CheckResult::Failed);
        // What somebody altered, such as an index that is gone, stays as he wants it.
        if dataset.invariants().iter().any(|own| failed(own.name))
            || dataset.row_checks().iter().any(|own| failed(own.name))
        {
            dataset::found_broken(database)?;
        }
        if let (Some((asked, _)), Some(ledger)) = (asked(trial).next(), ledger) {
            checks.extend(hold(database, asked, ledger, &now)?);
        }
        Ok(checks)
    });
    let checks = held.map_err(databases.refused())?;
    Ok(checks.into_iter().map(|check| Check { moment, ..check }).collect())
}

/// Holds the data set against its invariants.
///
/// # Errors
/// When the database refuses a query.
fn invariants(
    database: &dyn Database,
    dataset: &DataSet,
    depth: Depth,
    now: Since,
) -> Result<Vec<Check>, DatabaseError> {
    let outcomes = dataset::check_database(database, dataset, depth, now)?;
    Ok(outcomes.into_iter().map(of_invariant).collect())
}

/// Looks before the load whether the data set is still the one that was filled.
///
/// # Errors
/// When the database refuses a query.
pub(crate) fn fingerprint(database: &dyn Database, dataset: &DataSet) -> Result<Vec<Check>, DatabaseError> {
    let clock = WallClock::new();
    let now = || Duration::from_nanos(clock.now().0);
    let mut session = database.session(&Texts::none(database.engine()), &Sessions::default())?;
    let outcomes = dataset::fingerprint(session.as_mut(), database.engine(), dataset, &now)?;
    let told = |outcome| Check { kind: CheckKind::Fingerprint, moment: CheckMoment::Before, ..of_invariant(outcome) };
    Ok(outcomes.into_iter().map(told).collect())
}

/// What such a look found to be wrong, as events at the beginning.
pub(crate) fn altered(checks: &[Check]) -> Vec<Event> {
    let failed = checks.iter().filter(|check| check.result == CheckResult::Failed);
    let told = |check: &Check| {
        let first = check.found.lines().next().unwrap_or_default();
        let text = format!("the data set was altered before the trial: {}: {first}", check.name);
        Event { at: Nanos::ZERO, kind: EventKind::Damage, text }
    };
    failed.map(told).collect()
}

/// Holds a ledger against the data of the workload that kept it.
///
/// # Errors
/// When the database refuses a query.
pub fn hold(
    database: &dyn Database,
    asked: &dyn kind::Transactions,
    ledger: &Ledger,
    now: &dyn Fn() -> Duration,
) -> Result<Vec<Check>, DatabaseError> {
    let began = now();
    let Ledger { counts, pages } = ledger.clone();
    let verdicts = Asking::on(database, |queries| asked.hold(queries, &kind::Ledger { counts, pages }))?;
    let took_s = now().saturating_sub(began).as_secs_f64();
    let held = |Verdict { name, damaged, text }: Verdict| Check {
        kind: CheckKind::Ledger,
        name: name.to_owned(),
        says: "the data agrees with what the ledger knows of acknowledged work".to_owned(),
        result: if damaged { CheckResult::Failed } else { CheckResult::Passed },
        found: bounded(&text),
        took_s,
        ..Check::default()
    };
    Ok(verdicts.into_iter().map(held).collect())
}

fn of_invariant(outcome: CheckOutcome) -> Check {
    Check {
        kind: CheckKind::Invariant,
        result: if outcome.passed { CheckResult::Passed } else { CheckResult::Failed },
        found: bounded(&outcome.violations.join("\n")),
        took_s: outcome.took.as_secs_f64(),
        name: outcome.name,
        says: outcome.says,
        ..Check::default()
    }
}

fn bounded(text: &str) -> String {
    first_bytes(text, FOUND_MAX).to_owned()
}

/// Checks as events at the end of a trial: one for all invariants, and one for each other.
pub(crate) fn events(trial: &Trial, checks: &[Check]) -> Vec<Event> {
    let at = trial.phases.warm_up + trial.phases.measure;
    let (invariants, others): (Vec<&Check>, Vec<&Check>) =
        checks.iter().partition(|check| check.kind == CheckKind::Invariant);
    let told = (!invariants.is_empty()).then(|| invariants_words(&invariants));
    let others = others.into_iter().map(|check| {
        let kind = if check.result == CheckResult::Failed { EventKind::Damage } else { EventKind::Note };
        // Beside it stand counts of the window alone.
        let whole = if check.kind == CheckKind::Ledger { " (in the whole trial, warm-up included)" } else { "" };
        (kind, format!("{}: {}{whole}", check.name, check.found))
    });
    told.into_iter().chain(others).map(|(kind, text)| Event { at, kind, text }).collect()
}

/// Why nothing is checked where nothing is kept.
pub(crate) fn nothing_kept(databases: &Databases, trial: &Trial) -> Option<Event> {
    let wanted = asked(trial).any(|(_, pool)| pool.check);
    let keeps_nothing = databases.open().is_some_and(|database| database.engine() == Engine::Null);
    (wanted && keeps_nothing).then(|| {
        let text = "a database that answers at once keeps nothing: neither its data nor a ledger can be checked";
        Event { at: trial.phases.warm_up + trial.phases.measure, kind: EventKind::Note, text: text.to_owned() }
    })
}

fn invariants_words(checks: &[&Check]) -> (EventKind, String) {
    let took: f64 = checks.iter().map(|check| check.took_s).sum();
    let broken: Vec<String> = checks
        .iter()
        .filter(|check| check.result != CheckResult::Passed)
        .map(|check| {
            let first = check.found.lines().next().unwrap_or_default();
            format!("{} ({}): first broken by {first}", check.name, check.says)
        })
        .collect();
    if broken.is_empty() {
        let text = format!("all {} checks of the data hold, done in {took:.1} s", checks.len());
        return (EventKind::Note, text);
    }
    let text =
        format!("{} of {} checks of the data found it broken: {}", broken.len(), checks.len(), broken.join("; "));
    (EventKind::Damage, text)
}
