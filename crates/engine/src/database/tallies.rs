//! Batch jobs held to their tallies: what the data grew by during a trial is what was acknowledged.
//!
//! The one idea: each job counts the rows whose commit it heard of; the database is asked once before the trial and once after.
//!
//! What it does not do: it looks only at jobs that run in the trial.

use database::{Database, DatabaseError, Session, Texts};
use observation::EventKind;
use study::{Engine, Sessions, Stream, Trial, Workload};
use workload::rows::{Spec, Tally, tables, tally_statement};
use workload::transaction::Value;

/// Empties the tables that earlier trials copied to, and counts what the data holds of each job that will run.
///
/// # Errors
/// When the database refuses.
pub(crate) fn begin(database: &dyn Database, trial: &Trial) -> Result<Vec<i64>, DatabaseError> {
    let Some((spec, stream)) = batch(trial) else { return Ok(Vec::new()) };
    let mut session = database.session(&Texts::none(database.engine()), &Sessions::default())?;
    let failed = |failure| DatabaseError::statement(&database.place(), "clean up after the last trial", failure);
    for target in tables(spec).iter().filter(|table| !table.filled) {
        let verb = if database.engine() == Engine::Sqlite { "DELETE FROM" } else { "TRUNCATE TABLE" };
        session.script(&format!("{verb} {}", target.name)).map_err(failed)?;
    }
    if stream.pool.is_some_and(|pool| pool.check) {
        held(database, &mut *session, spec, jobs(spec, stream))
    } else {
        Ok(Vec::new())
    }
}

/// What the tallies of a trial come to, as an event; none when it has no batch jobs.
///
/// # Errors
/// When the database refuses.
pub(crate) fn end(
    database: &dyn Database,
    trial: &Trial,
    before: &[i64],
    told: impl Iterator<Item = Tally>,
) -> Result<Option<(EventKind, String)>, DatabaseError> {
    let Some((spec, stream)) = batch(trial) else { return Ok(None) };
    let mut session = database.session(&Texts::none(database.engine()), &Sessions::default())?;
    let after = held(database, &mut *session, spec, jobs(spec, stream))?;
    let mut tallies: Vec<Tally> = (0..after.len() as u32).map(|job| Tally { job, ..Tally::default() }).collect();
    for tally in told {
        if let Some(own) = tallies.get_mut(tally.job as usize) {
            own.done += tally.done;
            own.unknown += tally.unknown;
        }
    }
    Ok(Some(words(&tallies, before, &after)))
}

/// The jobs of a trial. Streams that run at once share one data set, and so the first stands for all.
fn batch(trial: &Trial) -> Option<(&Spec, &Stream)> {
    trial.streams.iter().find_map(|stream| match &stream.workload {
        Workload::Rows(spec) => Some((spec, stream)),
        _ => None,
    })
}

fn jobs(spec: &Spec, stream: &Stream) -> u32 {
    stream.pool.map_or(1, |pool| pool.sessions).min(spec.jobs)
}

fn held(database: &dyn Database, session: &mut dyn Session, spec: &Spec, jobs: u32) -> Result<Vec<i64>, DatabaseError> {
    let one = |job| {
        let rows = session.query(&tally_statement(spec, job));
        let rows =
            rows.map_err(|failure| DatabaseError::statement(&database.place(), "count the rows of a job", failure))?;
        Ok(rows.first().and_then(|row| row.first()).and_then(number).unwrap_or(0))
    };
    (0..jobs).map(one).collect()
}

/// A sum of whole numbers comes as another type where the engine has a wider type for it.
fn number(value: &Value) -> Option<i64> {
    match value {
        Value::Float(number) => Some(*number as i64),
        Value::Text(text) => text.parse().ok(),
        _ => value.int(),
    }
}

fn words(tallies: &[Tally], before: &[i64], after: &[i64]) -> (EventKind, String) {
    let grown = |tally: &Tally| {
        let at = tally.job as usize;
        (before.get(at).copied().unwrap_or(0), after.get(at).copied().unwrap_or(0))
    };
    let wrong: Vec<&Tally> = tallies.iter().filter(|tally| !tally.agrees(grown(tally).0, grown(tally).1)).collect();
    let done: u64 = tallies.iter().map(|tally| tally.done).sum();
    let unknown: u64 = tallies.iter().map(|tally| tally.unknown).sum();
    match wrong.first() {
        None if unknown == 0 => (EventKind::Note, format!("tally: all {done} acknowledged rows are there")),
        None => {
            (EventKind::Note, format!("tally: all {done} acknowledged rows are there; {unknown} of unknown outcome"))
        }
        Some(first) => {
            let (was, is) = grown(first);
            let text = format!(
                "tally: {} of {} jobs do not agree; job {} was told of {} rows and its data grew by {}",
                wrong.len(),
                tallies.len(),
                first.job,
                first.done,
                is - was
            );
            (EventKind::Damage, text)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_that_was_acknowledged_and_is_not_there_is_damage() {
        let tally = |job, done, unknown| Tally { job, done, unknown };
        let told = [tally(0, 10, 0), tally(1, 5, 2)];
        assert_eq!(words(&told, &[100, 0], &[110, 7]).0, EventKind::Note);
        let (kind, text) = words(&told, &[100, 0], &[109, 7]);
        assert_eq!(kind, EventKind::Damage);
        assert!(text.contains("job 0 was told of 10 rows and its data grew by 9"), "{text}");
        assert_eq!(words(&told, &[100, 0], &[110, 8]).0, EventKind::Damage);
    }
}
