//! What commits that wait for a mirror wait for, as both servers tell it.
//!
//! The one idea: the primary times its mirror's answers, and the mirror times its own flushes; nothing of it needs a clock of ours.

use super::mirror::{Mirror, NAME};
use crate::{DatabaseError, Session};

/// What the primary tells at one moment. Seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Lags {
    /// From when log was handed to the sender's socket until the mirror's word came that it was written, flushed and applied; none
    /// while nothing is new.
    pub heard: [Option<f64>; 3],
    /// Commits that wait for the mirror.
    pub waiting: f64,
    /// Transactions that have changed or locked something since the server was made; those that were undone are among them.
    pub changing: f64,
}

/// Sessions on both servers.
pub struct LagWatch {
    primary: Box<dyn Session>,
    mirror: Box<dyn Session>,
    of: Mirror,
}

impl Mirror {
    /// Somebody who looks at what commits wait for.
    ///
    /// # Errors
    /// When one of both servers takes no session.
    pub fn lag_watch(&self) -> Result<LagWatch, DatabaseError> {
        Ok(LagWatch { primary: self.session()?, mirror: self.reader()?, of: self.clone() })
    }
}

impl LagWatch {
    /// How the primary's commits stand now.
    ///
    /// # Errors
    /// When it does not answer.
    pub fn look(&mut self) -> Result<Lags, DatabaseError> {
        let seconds = ["write", "flush", "replay"].map(|what| format!("extract(epoch FROM r.{what}_lag)::float8"));
        let sql = format!(
            "SELECT {}, (SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'), \
             txid_snapshot_xmax(txid_current_snapshot()) FROM (SELECT 1) one \
             LEFT JOIN pg_stat_replication r ON r.application_name = '{NAME}'",
            seconds.join(", ")
        );
        let rows = self.primary.query(&sql).map_err(|failure| self.of.failed(failure))?;
        let number = |at: usize| rows.first()?.get(at)?.number();
        Ok(Lags {
            heard: [0, 1, 2].map(number),
            waiting: number(3).unwrap_or_default(),
            changing: number(4).unwrap_or_default(),
        })
    }

    /// How often the mirror has flushed its log, and how many seconds that took; none where its version does not say.
    ///
    /// # Errors
    /// When it does not answer.
    pub fn flushes(&mut self) -> Result<Option<(f64, f64)>, DatabaseError> {
        let sql = "SELECT wal_sync::float8, wal_sync_time / 1000 FROM pg_stat_wal";
        let rows = match self.mirror.query(sql) {
            Ok(rows) => rows,
            // Before version 14 and since 18 it says so elsewhere or not at all.
            Err(failure) if failure.text.contains("wal_sync") || failure.text.contains("pg_stat_wal") => {
                return Ok(None);
            }
            Err(failure) => return Err(self.of.failed(failure)),
        };
        let number = |at: usize| rows.first()?.get(at)?.number();
        Ok(number(0).zip(number(1)))
    }
}
