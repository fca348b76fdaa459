//! What commits that wait for a mirror wait for, as both servers tell it.
//!
//! The one idea: the primary times its mirror's answers, and the mirror times its own flushes; nothing of it needs a clock of ours.

use super::mirror::NAME;
use crate::server::{Lags, WatchLags};
use crate::{DatabaseError, Session};

/// A session on a primary.
pub struct LagWatch {
    primary: Box<dyn Session>,
    place: String,
    /// Which of its mirrors is meant, as a condition; none for the one that commits wait for first.
    mirror: Option<String>,
}

impl LagWatch {
    /// Somebody who looks at what commits wait for, from the primary of this mirror.
    pub(super) fn at(primary: Box<dyn Session>, place: String) -> LagWatch {
        LagWatch { primary, place, mirror: Some(format!("application_name = '{NAME}'")) }
    }

    /// One who looks at whatever mirror a running primary has; the session needs the rights of `pg_monitor`.
    pub fn of(primary: Box<dyn Session>, place: String) -> LagWatch {
        LagWatch { primary, place, mirror: None }
    }
}

impl WatchLags for LagWatch {
    fn look(&mut self) -> Result<Lags, DatabaseError> {
        let seconds = ["write", "flush", "replay"].map(|what| format!("extract(epoch FROM r.{what}_lag)::float8"));
        let sql = format!(
            "SELECT {}, (SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'), \
             txid_snapshot_xmax(txid_current_snapshot()) FROM (SELECT 1) one \
             LEFT JOIN (SELECT * FROM pg_stat_replication WHERE {} \
             ORDER BY sync_state IN ('sync', 'quorum') DESC, sync_priority, pid LIMIT 1) r ON true",
            seconds.join(", "),
            self.mirror.as_deref().unwrap_or("true")
        );
        let failed = |failure| DatabaseError::statement(&self.place, "look at its mirror", failure);
        let rows = self.primary.query(&sql).map_err(failed)?;
        let number = |at: usize| rows.first()?.get(at)?.number();
        Ok(Lags {
            heard: [0, 1, 2].map(number),
            waiting: number(3).unwrap_or_default(),
            changing: number(4).unwrap_or_default(),
        })
    }
}
