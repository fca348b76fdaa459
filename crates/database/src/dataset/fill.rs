//! Filling: from nothing, or from what an interrupted fill left, to a data set that is ready.
//!
//! The one idea: the mark is there before the first row and says `ready` after the last index, so that whatever happens in between,
//! the next fill knows what it found. Parts of tables are loaded side by side; what is built from rows follows.
//!
//! What it does not do: it drops nothing that does not carry our mark, and no table of somebody else's beside it.

use super::crowd::{Crowd, Job};
use super::{DataSet, Found, Mark, Progress, Stage, State};
use crate::dialect::Definitions;
use crate::mark;
use crate::{Database, DatabaseError};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use study::{Engine, Sessions};

/// Rows that one part of a table has at least, so that its load outweighs its beginning.
const PART: u64 = 100_000;

/// What a fill did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Filled {
    /// The data set was there already.
    Reused {
        /// [`State::Ready`]; [`State::Used`] when transactions have changed it since, [`State::Broken`] when a check found it broken.
        state: State,
    },
    /// It was brought back to the copy that was kept.
    Restored,
    /// It was copied from the fill of all layouts, and laid out.
    Copied,
    /// It was filled.
    Anew {
        /// Rows of all tables.
        rows: u64,
    },
}

/// Sees to it that the data set is there. With `copy` it is also as a fill leaves it, and a copy is kept to bring it back to.
///
/// # Errors
/// When the place holds something else (nothing is touched then), the database refuses, or the user stops it.
pub fn fill(
    database: &dyn Database,
    dataset: &DataSet,
    copy: bool,
    progress: &(dyn Fn(Progress) + Sync),
    stop: &AtomicBool,
) -> Result<Filled, DatabaseError> {
    let copied = copied(database, dataset, copy, progress, stop)?;
    if let Some(reused) = reuse(database, dataset, copy)? {
        add_procedures(database, dataset)?;
        return Ok(if copied { Filled::Copied } else { reused });
    }
    let filled = anew(database, &Crowd { database, dataset, progress, stop }).map_err(|error| database.explain(error));
    let rows = filled.inspect_err(|error| {
        // What is of no use makes room for less data. That it could not be removed is no news beside the full disk.
        if matches!(error, DatabaseError::Full { .. }) {
            let _ = database.clear(dataset);
        }
    })?;
    if copy {
        progress(Progress { stage: Stage::Copy, done: 0, of: 1 });
        database.keep_copy(dataset)?;
    }
    Ok(Filled::Anew { rows })
}

/// Brings the data set of a server with a layout in from the one that was filled for all layouts, unless it is there, and sees to it
/// that everything lies where it should. Answers whether it was brought in.
fn copied(
    database: &dyn Database,
    dataset: &DataSet,
    copy: bool,
    progress: &(dyn Fn(Progress) + Sync),
    stop: &AtomicBool,
) -> Result<bool, DatabaseError> {
    let Some(private) = database.private().filter(|private| private.is_laid_out()) else { return Ok(false) };
    let there = match recognise(database, dataset)? {
        Recognised::Filled(state) => state == State::Ready || !copy || database.has_copy(dataset),
        Recognised::Nothing | Recognised::Unfinished => false,
    };
    if !there && let Some(seed) = database.seed()? {
        let _claim = seed.claim(dataset)?;
        fill(seed.as_ref(), dataset, false, progress, stop)?;
        let other = seed.private().ok_or_else(|| crate::database::no_copies(seed.place()))?;
        progress(Progress { stage: Stage::Copy, done: 0, of: 1 });
        private.take(other)?;
    }
    database.lay_out()?;
    if !there {
        DatabaseError::unless_not_allowed(database.checkpoint())?;
    }
    Ok(!there)
}

/// Procedures come with the data where the user may make them. Who may not learns it from the run that asks for them.
fn add_procedures(database: &dyn Database, dataset: &DataSet) -> Result<(), DatabaseError> {
    match crate::procedures::see_to(database, dataset) {
        Ok(_) | Err(DatabaseError::Privilege { .. } | DatabaseError::Version { .. }) => Ok(()),
        Err(error) => Err(error),
    }
}

/// What is there, when it can be used. Otherwise the place is empty afterwards, with the mark of a fill.
fn reuse(database: &dyn Database, dataset: &DataSet, copy: bool) -> Result<Option<Filled>, DatabaseError> {
    match recognise(database, dataset)? {
        Recognised::Nothing => {}
        Recognised::Filled(state) if !copy || state == State::Ready => {
            if copy && !database.has_copy(dataset) {
                database.keep_copy(dataset)?;
            }
            return Ok(Some(Filled::Reused { state }));
        }
        Recognised::Filled(_) if database.has_copy(dataset) => {
            database.restore(dataset)?;
            return Ok(Some(Filled::Restored));
        }
        Recognised::Unfinished | Recognised::Filled(_) => database.clear(dataset)?,
    }
    database.make(dataset)?;
    Ok(None)
}

/// What the place of a data set means for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recognised {
    /// There is nothing.
    Nothing,
    /// A fill of ours did not end, or another version of Prony made it where only Prony keeps anything.
    Unfinished,
    /// It is there, and the fill ended.
    Filled(State),
}

/// Looks whether the data set is there. Changes nothing.
///
/// # Errors
/// When the place holds something that is not ours, or another data set.
pub fn recognise(database: &dyn Database, dataset: &DataSet) -> Result<Recognised, DatabaseError> {
    let place = database.place();
    Ok(match database.find(dataset)? {
        Found::Nothing | Found::Empty => Recognised::Nothing,
        Found::NotOurs => return Err(DatabaseError::NotOurs { name: database.name_of(dataset), place }),
        Found::CutOff => Recognised::Unfinished,
        Found::OtherFormat(_) if database.alone() => Recognised::Unfinished,
        Found::OtherFormat(format) => {
            return Err(DatabaseError::OtherFormat { name: database.name_of(dataset), place, format });
        }
        Found::Ours(mark) if mark.dataset == *dataset => match mark.state {
            State::Filling => Recognised::Unfinished,
            state => Recognised::Filled(state),
        },
        // A file says by its head that it is ours, and half of another data set is of no use. A schema has the name of its own.
        Found::Ours(Mark { state: State::Filling, .. }) if database.engine() == Engine::Sqlite => {
            Recognised::Unfinished
        }
        Found::Ours(Mark { dataset: found, .. }) => {
            let (name, found, wanted) = (database.name_of(dataset), found.name(), dataset.name());
            return Err(DatabaseError::OtherDataSet { place, name, found, wanted });
        }
    })
}

/// Notes that transactions are about to change the data set, so that nobody takes it for what a fill left.
///
/// # Errors
/// When the database refuses.
pub fn use_up(database: &dyn Database, _dataset: &DataSet) -> Result<(), DatabaseError> {
    set_state(database, State::Used)
}

/// Notes that a check found the data set broken, so that nobody goes on with it unawares.
///
/// # Errors
/// When the database refuses.
pub fn found_broken(database: &dyn Database) -> Result<(), DatabaseError> {
    set_state(database, State::Broken)
}

/// Puts a data set aside that a check found broken, where nobody but Prony keeps anything, and answers with where it is now: its place
/// is empty then, and the database is to be opened anew. What is somebody else's stays as it is.
///
/// # Errors
/// When the place holds something else, or cannot be moved.
pub fn put_aside(database: &dyn Database, dataset: &DataSet) -> Result<Option<PathBuf>, DatabaseError> {
    if !database.alone() || recognise(database, dataset)? != Recognised::Filled(State::Broken) {
        return Ok(None);
    }
    database.put_aside().map(Some)
}

fn set_state(database: &dyn Database, state: State) -> Result<(), DatabaseError> {
    let mut session = database.session(&crate::Texts::none(database.engine()), &Sessions::default())?;
    let done = session.script(&mark::now(state));
    done.map_err(|failure| DatabaseError::statement(&database.place(), "mark the data set", failure))
}

fn anew(database: &dyn Database, crowd: &Crowd<'_>) -> Result<u64, DatabaseError> {
    let dataset = crowd.dataset;
    let definitions = Definitions::of(database.engine(), &dataset.tables());
    // In their order, and by one: a table may refer to an earlier one.
    crowd.all(Stage::Tables, &statements(definitions.tables), 1)?;
    let rows = crowd.all(Stage::Rows, &parts(dataset, database.fill_sessions()), database.fill_sessions())?;
    for (stage, list) in [
        (Stage::Keys, definitions.keys),
        (Stage::Indexes, definitions.indexes),
        (Stage::References, definitions.references),
        (Stage::Statistics, definitions.statistics),
    ] {
        crowd.all(stage, &statements(list), database.fill_sessions())?;
    }
    database.settle(dataset)?;
    add_procedures(database, dataset)?;
    // What was loaded reaches the disk before the mark says so, on every engine.
    DatabaseError::unless_not_allowed(database.checkpoint())?;
    if crowd.stop.load(Ordering::Relaxed) {
        return Err(DatabaseError::Stopped);
    }
    set_state(database, State::Ready)?;
    Ok(rows)
}

fn statements(list: Vec<String>) -> Vec<Job> {
    list.into_iter().map(Job::Statement).collect()
}

/// All tables in parts, the largest first, so that none is left for the end.
fn parts(dataset: &DataSet, sessions: usize) -> Vec<Job> {
    let mut tables: Vec<_> = dataset.tables().into_iter().map(|table| (dataset.row_count(&table), table)).collect();
    tables.sort_by_key(|(rows, _)| std::cmp::Reverse(*rows));
    let split = |rows: u64| if sessions > 1 { (rows / PART).clamp(1, 1_000) as u32 } else { 1 };
    let jobs = tables.into_iter().flat_map(|(rows, table)| {
        let parts = split(rows);
        (0..parts).map(move |part| Job::Rows { table: table.clone(), part, parts })
    });
    jobs.collect()
}
