//! Writing a trial while it runs, and reading it back.
//!
//! The one idea: a trial is begun, appended to, and then finished or left. An attempt that was left keeps its cells and is
//! marked; the next attempt at the same trial gets rows of its own.

use crate::columns::{Stored as _, insert, read as read_rows, select, stored, word};
use crate::error::During;
use crate::{RunFile, StoreError, cells, checked, checksum, label, reserve, series};
use observation::{Account, Cell, CellSource, CpuTime, Event, Mishap, Observations, Series, TrialLabel};
use rusqlite::{Connection, Error, OptionalExtension, Row, params, params_from_iter};

/// How a trial ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrialState {
    /// As planned.
    Finished,
    /// Before its time; its finished intervals are kept, and a resumed run runs it again.
    Interrupted,
}

/// A trial as it stands in the file.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredTrial {
    /// Which trial.
    pub label: TrialLabel,
    /// How its last attempt ended.
    pub state: TrialState,
    /// How many attempts were made; all but the last were interrupted.
    pub attempts: u32,
}

stored! {
    Observations {
        provenance, started_unix_ns, window_start_ns = window.start, window_end_ns = window.end, interval_ns = interval,
        generators, generator_cpu_user_s = generator_cpu.user_s, generator_cpu_system_s = generator_cpu.system_s,
        elapsed_s, validated_reads,
    }

    Account { planned, done, failed, censored, service_ns, lateness_ns, think_ns, slots_ns }
}

/// The trial that is being written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OpenTrial {
    index: u32,
    id: i64,
    cells: u32,
    readings: u32,
    events: u32,
}

/// The cells of one attempt at a trial, where they lie.
#[derive(Debug)]
pub struct StoredCells<'a> {
    file: &'a RunFile,
    id: i64,
}

impl CellSource for StoredCells<'_> {
    type Error = StoreError;

    fn each(&self, visit: &mut dyn FnMut(&Cell)) -> Result<(), StoreError> {
        self.file.read("reading the intervals of a trial", |connection| cells::each(connection, self.id, visit))
    }
}

impl RunFile {
    /// Begins a trial, of which the window as planned and the like are known; what it records replaces these when it ends. An
    /// earlier attempt at it that was interrupted is kept beside the new one.
    ///
    /// # Errors
    /// [`StoreError::WrongState`] when the trial has finished already or another is still open.
    pub fn begin_trial(&mut self, label: &TrialLabel, planned: &Observations) -> Result<(), StoreError> {
        if self.open.is_some() {
            return Err(self.wrong_state(label.index, "was begun while another is still open"));
        }
        if let Some((_, TrialState::Finished)) = self.attempt(label.index, None)? {
            return Err(self.wrong_state(label.index, "has finished already"));
        }
        let id = self.change("beginning a trial", |connection| begin(connection, label, planned))?;
        self.open = Some(OpenTrial { index: label.index, id, cells: 0, readings: 0, events: 0 });
        Ok(())
    }

    /// Appends what came since the last interval in one go: cells of finished intervals and readings of probes, of which those
    /// of a probe that was seen before in this trial join its series. When this returns, the end of this process cannot lose
    /// them any more.
    ///
    /// # Errors
    /// [`StoreError::Full`] when the reserve and the disk are used up; none of this is kept then, and all that was appended
    /// earlier is.
    pub fn append_interval(&mut self, index: u32, cells: &[Cell], series: &[Series]) -> Result<(), StoreError> {
        self.append(index, "appending an interval", (cells, series, &[]))
    }

    fn append(
        &mut self,
        index: u32,
        action: &'static str,
        (cells, series, events): (&[Cell], &[Series], &[Event]),
    ) -> Result<(), StoreError> {
        let OpenTrial { id, cells: first, readings, events: event, .. } = *self.opened(index)?;
        let written = self.change(action, |connection| {
            cells::write(connection, id, first, cells)?;
            series::write_events(connection, id, event, events)?;
            series::write(connection, id, readings, series)
        })?;
        if let Some(open) = &mut self.open {
            open.cells += cells.len() as u32;
            open.readings += written;
            open.events += events.len() as u32;
        }
        Ok(())
    }

    /// Ends a trial as planned and makes it durable. `rest` holds everything that was not appended before: its cells and
    /// series are added to those, the other values replace what was known at the beginning.
    ///
    /// # Errors
    /// As [`RunFile::append_interval`].
    pub fn finish_trial(&mut self, index: u32, rest: &Observations) -> Result<(), StoreError> {
        self.append(index, "appending an interval", (&rest.cells, &[], &[]))?;
        self.append(index, "appending readings", (&[], &rest.series, &[]))?;
        self.append_events(index, &rest.events, &rest.mishaps)?;
        if !rest.checks.is_empty() {
            self.append_checks(index, &rest.checks)?;
        }
        let id = self.opened(index)?.id;
        self.change("finishing a trial", |connection| finish(connection, id, rest))?;
        self.open = None;
        reserve::checkpoint(&self.connection, "RESTART", &self.path)
    }

    /// Keeps what happened in an open trial and what went wrong in it. When this returns, the end of this process cannot lose it
    /// any more.
    ///
    /// # Errors
    /// As [`RunFile::append_interval`].
    pub fn append_events(&mut self, index: u32, events: &[Event], mishaps: &[Mishap]) -> Result<(), StoreError> {
        self.append(index, "appending events", (&[], &[], events))?;
        let id = self.opened(index)?.id;
        self.change("keeping what went wrong", |connection| checked::write_mishaps(connection, id, mishaps))
    }

    /// The row of the trial that is open.
    pub(crate) fn open_row(&self, index: u32) -> Result<i64, StoreError> {
        self.opened(index).map(|open| open.id)
    }

    /// Ends a trial before its time. What was appended stays in the file, marked as interrupted.
    ///
    /// # Errors
    /// [`StoreError::WrongState`] when the trial is not open.
    pub fn discard_trial(&mut self, index: u32) -> Result<(), StoreError> {
        let id = self.opened(index)?.id;
        self.open = None;
        self.change("marking an interrupted trial", |connection| {
            connection.execute("UPDATE trial SET state = 'interrupted' WHERE id = ?1", [id])?;
            checksum::end_trial(connection, id)
        })?;
        reserve::checkpoint(&self.connection, "RESTART", &self.path)
    }

    /// All trials that were begun, in the order of the plan, one each however often it was tried.
    ///
    /// # Errors
    /// When the file is damaged.
    pub fn trials(&self) -> Result<Vec<StoredTrial>, StoreError> {
        let trials = self.read("reading the trials", |connection| {
            let sql = "SELECT id, state, attempt FROM trial WHERE (number, attempt) IN
                       (SELECT number, max(attempt) FROM trial GROUP BY number) ORDER BY number";
            read_rows(connection, sql, (), |row| {
                let (label, state) = (label::read(connection, row.get(0)?)?, state(row, 1)?);
                Ok(StoredTrial { label, state, attempts: row.get::<_, u32>(2)?.saturating_add(1) })
            })
        })?;
        // A trial that is being measured has no end yet, and is told as none.
        let ended = |trial: &StoredTrial| !self.running || trial.state == TrialState::Finished;
        let trials: Vec<StoredTrial> = trials.into_iter().filter(ended).collect();
        // An index that somebody tampered with would have each of them read again and again.
        match trials.windows(2).find(|pair| pair[0].label.index >= pair[1].label.index) {
            Some(pair) => {
                let twice = format!("the trial {} is there twice", pair[1].label.index);
                Err(StoreError::Damaged(self.path.clone(), twice))
            }
            None => Ok(trials),
        }
    }

    /// What the last attempt at a trial recorded, but for its cells. Of an interrupted one: what it had when it was.
    ///
    /// # Errors
    /// [`StoreError::NoTrial`], or the file is damaged.
    pub fn observations(&self, index: u32) -> Result<Observations, StoreError> {
        let id = self.cells(index)?.id;
        self.read("reading a trial", |connection| all_but_cells(connection, id))
    }

    /// The cells of the last attempt at a trial, to be walked without holding them. Of an interrupted one: all intervals that
    /// it finished.
    ///
    /// # Errors
    /// [`StoreError::NoTrial`], or the file is damaged.
    pub fn cells(&self, index: u32) -> Result<StoredCells<'_>, StoreError> {
        self.stored(index, None)
    }

    /// The cells of one attempt at a trial, counted from 0.
    ///
    /// # Errors
    /// [`StoreError::NoTrial`], or the file is damaged.
    pub fn cells_of_attempt(&self, index: u32, attempt: u32) -> Result<StoredCells<'_>, StoreError> {
        self.stored(index, Some(attempt))
    }

    fn stored(&self, index: u32, attempt: Option<u32>) -> Result<StoredCells<'_>, StoreError> {
        let found = self.attempt(index, attempt)?.ok_or_else(|| StoreError::NoTrial(self.path.clone(), index));
        Ok(StoredCells { file: self, id: found?.0 })
    }

    fn wrong_state(&self, index: u32, state: &'static str) -> StoreError {
        StoreError::WrongState(self.path.clone(), index, state)
    }

    fn opened(&self, index: u32) -> Result<&OpenTrial, StoreError> {
        self.open.as_ref().filter(|open| open.index == index).ok_or_else(|| self.wrong_state(index, "is not open"))
    }

    fn read<T>(
        &self,
        action: &'static str,
        work: impl FnOnce(&Connection) -> Result<T, Error>,
    ) -> Result<T, StoreError> {
        work(&self.connection).during(action, &self.path)
    }

    /// Row and state of an attempt at a trial, or of the last.
    fn attempt(&self, index: u32, attempt: Option<u32>) -> Result<Option<(i64, TrialState)>, StoreError> {
        self.read("looking for a trial", |connection| {
            let sql = "SELECT id, state FROM trial WHERE number = ?1 AND attempt = coalesce(?2, attempt)
                       ORDER BY attempt DESC LIMIT 1";
            connection.query_row(sql, params![index, attempt], |row| Ok((row_of(row)?, state(row, 1)?))).optional()
        })
    }
}

/// The row of a trial: small enough that no other trial has the same rows in the tables that are numbered by it.
fn row_of(row: &Row<'_>) -> Result<i64, Error> {
    Ok(i64::from(row.get::<_, i32>(0)?))
}

/// Marks every trial that was not ended, because the process that ran it is gone.
pub(crate) fn interrupt_all(connection: &Connection) -> Result<(), Error> {
    let running = read_rows(connection, "SELECT id FROM trial WHERE state = 'running'", (), row_of)?;
    connection.execute("UPDATE trial SET state = 'interrupted' WHERE state = 'running'", ())?;
    running.into_iter().try_for_each(|id| checksum::end_trial(connection, id))
}

fn state(row: &Row<'_>, column: usize) -> Result<TrialState, Error> {
    word(row, column, |text| match text {
        "finished" => Some(TrialState::Finished),
        // Whoever reads this holds the lock, so that nobody is running it any more.
        "interrupted" | "running" => Some(TrialState::Interrupted),
        _ => None,
    })
}

fn begin(connection: &Connection, label: &TrialLabel, planned: &Observations) -> Result<i64, Error> {
    connection.execute("UPDATE trial SET state = 'interrupted' WHERE number = ?1", [label.index])?;
    let sql = "SELECT count(*) FROM trial WHERE number = ?1";
    let attempt: i64 = connection.query_row(sql, [label.index], |row| row.get(0))?;
    let keys = [("attempt", attempt.into()), ("state", "running".into())];
    // Nothing of the generator's CPU time is known yet.
    let cpu_unknown = |(name, _): &(&str, _)| !name.starts_with("generator_cpu");
    let known = planned.save()?.into_iter().filter(cpu_unknown);
    insert(connection, "trial", keys.into_iter().chain(label.save()?).chain(known))?;
    let id = connection.last_insert_rowid();
    label::write(connection, id, label)?;
    write_endpoints(connection, id, &planned.endpoints)?;
    Ok(id)
}

fn write_endpoints(connection: &Connection, id: i64, names: &[String]) -> Result<(), Error> {
    connection.execute("DELETE FROM endpoint WHERE trial = ?1", [id])?;
    for (place, name) in names.iter().enumerate() {
        connection.execute(
            "INSERT INTO endpoint (trial, endpoint, name) VALUES (?1, ?2, ?3)",
            params![id, place as i64, name],
        )?;
    }
    Ok(())
}

fn finish(connection: &Connection, id: i64, rest: &Observations) -> Result<(), Error> {
    let (names, values): (Vec<&str>, Vec<_>) = rest.save()?.into_iter().unzip();
    let sql = format!("UPDATE trial SET state = 'finished', {} = ? WHERE id = {id}", names.join(" = ?, "));
    connection.execute(&sql, params_from_iter(values))?;
    write_endpoints(connection, id, &rest.endpoints)?;
    for (stream, account) in (0i64..).zip(&rest.accounts) {
        let keys = [("trial", id.into()), ("stream", stream.into())];
        insert(connection, "account", keys.into_iter().chain(account.save()?))?;
    }
    checksum::end_trial(connection, id)
}

fn all_but_cells(connection: &Connection, id: i64) -> Result<Observations, Error> {
    let sql = format!("SELECT {} FROM trial WHERE id = ?1", Observations::NAMES.join(", "));
    let head = connection.query_row(&sql, [id], Observations::load)?;
    // An interrupted trial has no sum of its CPU time; its accounts are missing for the same reason.
    let known = |seconds: f64| if seconds.is_nan() { 0.0 } else { seconds };
    let CpuTime { user_s, system_s } = head.generator_cpu;
    let endpoints = "SELECT name FROM endpoint WHERE trial = ?1 ORDER BY endpoint";
    Ok(Observations {
        generator_cpu: CpuTime { user_s: known(user_s), system_s: known(system_s) },
        endpoints: read_rows(connection, endpoints, [id], |row| row.get(0))?,
        accounts: select(connection, "account WHERE trial = ?1 ORDER BY stream", [id])?,
        series: series::read(connection, id)?,
        events: series::read_events(connection, id)?,
        mishaps: checked::read_mishaps(connection, id)?,
        checks: checked::read_checks(connection, id)?,
        ..head
    })
}
