//! What a lost primary left behind, and who of its clients may have been told of it.
//!
//! The one idea: any session may have its own commits wait for less than the pair's, and tells nobody. So what a mirror lacks follows from
//! no setting: the log that the primary left says it, where it can be read.

use crate::nodes::Nodes;
use crate::{Kind, MirrorError, Pair};
use database::server::Behind;
use pair::{Event, State};

/// How long a mirror may take to replay what it has received.
const REPLAY_SECONDS: u64 = 2;

/// How far commits may come, the least first.
const RUNGS: [&str; 5] = ["off", "local", "remote_write", "on", "remote_apply"];

impl<N: Nodes> Pair<N> {
    fn by_log(&self) -> bool {
        self.record.kind == Kind::Log.word()
    }

    /// Takes down that the primary is there, and how far its log has come.
    pub(crate) fn sees_place(&mut self) {
        let primary = self.life().primary();
        if !self.life().is_up(primary) {
            return;
        }
        let sql = "SELECT (pg_current_wal_flush_lsn() - '0/0')::bigint::text";
        let place = if self.by_log() { self.place_of(primary, sql) } else { Some(0) };
        let Some(place) = place else { return };
        self.record.looked = Some((self.nodes.now(), place));
    }

    fn place_of(&mut self, node: pair::Node, sql: &str) -> Option<u64> {
        self.nodes.ask(node, "ask for its place in the log", sql).ok()?.concat().concat().parse().ok()
    }

    /// Reads in what a lost primary left how many commits its mirror lacks.
    pub(crate) fn reads_left(&mut self) -> Result<(), MirrorError> {
        let (primary, mirror) = (self.life().primary(), self.life().mirror());
        let unserved = matches!(self.life().state(), State::Unserved(_)) && self.life().is_up(mirror);
        if !self.by_log() || !unserved {
            return Ok(());
        }
        let all = "SELECT 1 WHERE coalesce(pg_last_wal_replay_lsn() >= pg_last_wal_receive_lsn(), true) \
            AND NOT EXISTS (SELECT 1 FROM pg_stat_wal_receiver WHERE status = 'streaming')";
        // What is received in a part is never replayed; and what is not replayed yet counts as missing.
        self.comes_true(mirror, REPLAY_SECONDS, all)?;
        let Some(from) = self.place_of(mirror, "SELECT (pg_last_wal_replay_lsn() - '0/0')::bigint::text") else {
            return Ok(());
        };
        let seen = self.record.looked.map_or(0, |(_, place)| place);
        match self.nodes.log_behind(primary, from)? {
            // A log that ends before what was seen of it has lost something.
            Some(Behind { end, commits }) if end >= seen => {
                let bytes = if commits == 0 { 0 } else { end.saturating_sub(from).max(1) };
                self.happened(Event::Noted { bytes, objects: Some(commits) })
            }
            _ => Ok(()),
        }
    }

    /// Who has commits wait for less than the pair's, as far as a node that answers tells: what a session sets for itself is not seen.
    pub(crate) fn lowered(&mut self, node: pair::Node) -> Vec<String> {
        let sql = include_str!("left_lowered.sql");
        if !self.by_log() || !self.life().rule.waits {
            return Vec::new();
        }
        let rung = |word: &str| RUNGS.iter().position(|rung| *rung == word);
        let pairs = rung(&self.record.sync);
        let rows = self.nodes.ask(node, "ask who waits for less", sql).unwrap_or_default();
        let lower = rows.into_iter().filter(|row| row.len() == 2 && rung(&row[1]) < pairs);
        lower.map(|row| format!("{} with synchronous_commit = {}", row[0], row[1])).collect()
    }
}
