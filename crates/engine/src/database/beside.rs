//! The mirror of a running server: both are measured as they are.
//!
//! The one idea: nothing of either is changed. The first gets the load, as any server by its URL; the second is looked at for its lag
//! and its processor time, and behind the load both are compared, as soon as the second has all or a deadline is over.
//!
//! What it does not do: it sets nothing right. What keeps both equal is theirs.

use crate::TrialError;
use crate::database::databases::Databases;
use crate::database::lags::Sampling;
use crate::told::{Ended, Told, of_mirror, remark};
use database::server::postgres::{LagWatch, content};
use database::{Database, DatabaseError, OpenOptions, Profiling};
use observation::{Check, CheckResult};
use recorder::{Clock, WallClock};
use std::time::Duration;
use study::Engine;
use units::{Nanos, counted, duration};
use workload::transaction::Value;

/// How long the second may take to have all that the first has.
const DEADLINE: Nanos = Nanos::from_secs(60);

/// Between two comparisons.
const BETWEEN: Duration = Duration::from_millis(100);

/// The second server of a running pair.
pub(crate) struct Beside {
    second: Box<dyn Database>,
    sampling: Option<Sampling>,
}

impl Databases {
    /// Finds the mirror that a running server has, where the study names one.
    pub(crate) fn see_to_beside(&mut self) -> Result<Vec<String>, TrialError> {
        self.beside = None;
        let (Some(spec), refused) = (self.spec.second(), self.refused()) else { return Ok(Vec::new()) };
        let options = OpenOptions {
            cache_dir: std::path::PathBuf::new(),
            dataset: None,
            settings: Vec::new(),
            profiling: Profiling::default(),
            stop: self.stop.clone(),
        };
        let second = database::open(&spec, &options).map_err(&refused)?;
        let mut told = vec!["its mirror is looked at; nothing of both is changed".to_owned()];
        let mut sampling = None;
        if let Some(first) = self.open().filter(|first| first.engine() == Engine::Postgres) {
            sampling = Some(Sampling::of_any(LagWatch::of(first.outside().map_err(&refused)?, first.place())));
        } else {
            told.push(
                "how far the mirror is behind is only seen behind the load: this engine tells whole seconds".to_owned(),
            );
        }
        self.beside = Some(Beside { second, sampling });
        Ok(told)
    }

    /// Compares both once the second has all, and says how long that took.
    pub(crate) fn leave_beside(&mut self, ended: Ended<'_>) -> Result<Told, TrialError> {
        let Some(Beside { second, sampling }) = self.beside.take() else { return Ok(Told::default()) };
        let refused = self.refused();
        let series = sampling.zip(ended.started_unix_ns).map(|(sampling, started)| sampling.ended(started));
        let mut told = Told { series: series.unwrap_or_default(), ..Told::default() };
        if let Some((check, words)) = self.compared(&*second).map_err(&refused)? {
            told.checks.push(check);
            told.events.push(remark(words));
        }
        Ok(told)
    }

    /// The processes of the second server, when it runs on this machine.
    pub(crate) fn beside_processes(&self) -> Vec<u32> {
        self.beside.as_ref().map_or_else(Vec::new, |beside| beside.second.server_processes())
    }

    fn compared(&self, second: &dyn Database) -> Result<Option<(Check, String)>, DatabaseError> {
        let Some((first, dataset)) = self.checked() else { return Ok(None) };
        let (clock, mut here, mut there) = (WallClock::new(), first.outside()?, second.outside()?);
        let begun = clock.now();
        let took = || clock.now().saturating_sub(begun);
        let tables = dataset.tables();
        let mut differ = Vec::new();
        for table in &tables {
            let name = format!("{}.{}", dataset.schema(), table.name);
            let sql = match first.engine() {
                Engine::Postgres => content(&name),
                _ => format!("CHECKSUM TABLE {name} EXTENDED"),
            };
            let failed = |failure| DatabaseError::statement(&first.place(), "compare it with its mirror", failure);
            let one: Vec<Vec<Value>> = here.query(&sql).map_err(failed)?;
            loop {
                // What the mirror does not have yet may come.
                let other = there.query(&sql);
                if other.as_ref().is_ok_and(|other| *other == one) {
                    break;
                }
                if took() >= DEADLINE {
                    differ.push(format!("{name}: {one:?} and on the mirror {other:?}"));
                    break;
                }
                std::thread::sleep(BETWEEN);
            }
        }
        let (result, found) = match differ.as_slice() {
            [] => {
                (CheckResult::Passed, format!("{} with the same rows on both", counted(tables.len() as u64, "tables")))
            }
            differ => (CheckResult::Failed, format!("{} behind the load: {}", duration(took()), differ.join("\n"))),
        };
        let words = format!("both were compared within {} behind the load: {found}", duration(took()));
        Ok(Some((of_mirror(result, found), words)))
    }
}
