//! What an order means for two PostgreSQL servers.
//!
//! The one idea: what a role changes is a few settings, which follow from the record alone; an order changes the record and hands the
//! settings out. The list of what a mirror lacks is a replication slot of its primary, which is there as long as the mirror may
//! come back; so there is no moment at which something changes and is not noted. Every order may be carried out twice.

use crate::nodes::{Nodes, Settings};
use crate::{MirrorError, Pair};
use pair::{Action, Event, Node, State};
use units::{Bytes, Nanos};

/// Between two looks at what is waited for.
const LOOK: Nanos = Nanos::from_millis(50);

/// How many looks are a second.
const LOOKS_A_SECOND: u64 = 20;

/// How long a mirror may take to be seen by its primary.
const SEEN_SECONDS: u64 = 10;

/// How long a mirror that is sent what it lacks may stand still.
const STILL_SECONDS: u64 = 60;

/// How long clients have to end what they have begun before roles change.
const ENDING_SECONDS: u64 = 5;

/// How long the last of a log may take to the mirror when roles change.
const DRAIN_SECONDS: u64 = 30;

/// The name of a node as the other knows it, and of the slot in which its log is kept.
pub(crate) fn name(node: Node) -> String {
    format!("prony_{node}")
}

impl<N: Nodes> Pair<N> {
    /// The settings of a node in a role.
    pub(crate) fn settings(&self, node: Node, primary: bool) -> Settings {
        let record = &self.record;
        let waits_for =
            if primary && record.waits { format!("FIRST 1 ({})", name(node.other())) } else { String::new() };
        let source = self.nodes.reached_by(node.other(), record.via.as_deref(), &name(node));
        let follows = if !primary && record.follows { source } else { String::new() };
        let may_write = primary && record.writes[node as usize];
        let list = (record.list_bytes >> 20).max(1);
        [
            ("cluster_name", name(node)),
            ("default_transaction_read_only", if may_write { "off" } else { "on" }.to_owned()),
            ("hot_standby", "on".to_owned()),
            ("max_replication_slots", "10".to_owned()),
            ("max_slot_wal_keep_size", format!("{list}MB")),
            ("max_wal_senders", "10".to_owned()),
            ("primary_conninfo", follows),
            ("primary_slot_name", if primary { String::new() } else { name(node) }),
            ("synchronous_commit", record.sync.clone()),
            ("synchronous_standby_names", waits_for),
            // For one who goes back, from before its slot was made.
            ("wal_keep_size", format!("{}MB", list.min(256))),
            ("wal_level", "replica".to_owned()),
            ("wal_receiver_status_interval", "1s".to_owned()),
            ("wal_log_hints", "on".to_owned()),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .into()
    }

    /// Hands a node the settings of its role.
    pub(crate) fn tells(&mut self, node: Node) -> Result<(), MirrorError> {
        let settings = self.settings(node, node == self.life().primary());
        self.nodes.told(node, &settings, self.life().is_up(node))
    }

    /// Starts a node as a mirror that follows, or not.
    pub(crate) fn stands_by(&mut self, node: Node) -> Result<(), MirrorError> {
        if self.by_rows() {
            return self.row_serves(node);
        }
        if self.by_sets() {
            return self.set_serves(node);
        }
        let settings = self.settings(node, false);
        self.nodes.serve(node, &settings, true)
    }

    /// Starts a node as a primary, and promotes it where its data are those of a mirror.
    pub(crate) fn raise(&mut self, node: Node) -> Result<(), MirrorError> {
        if self.by_rows() {
            return self.row_serves(node);
        }
        if self.by_sets() {
            return self.set_leads(node, true);
        }
        let settings = self.settings(node, true);
        self.nodes.serve(node, &settings, false)?;
        if self.recovers(node)? {
            self.nodes.ask(node, "promote it", "SELECT pg_promote(true, 300)::text")?;
            if self.recovers(node)? {
                return Err(MirrorError::Late("the mirror did not become a primary", 300));
            }
        }
        Ok(())
    }

    /// Whether a node is a mirror by its own account. One of a pair that is mirrored by rows is what it was told.
    pub(crate) fn recovers(&mut self, node: Node) -> Result<bool, MirrorError> {
        if self.by_rows() {
            let mirror = node == self.life().mirror();
            return self.nodes.ask(node, "look at it", "SELECT 1").map(|_| mirror);
        }
        if self.by_sets() {
            let mirror = node == self.life().mirror();
            return self.word(node, crate::group::STANDING).map(|_| mirror);
        }
        let rows = self.nodes.ask(node, "ask for its role", "SELECT pg_is_in_recovery()::text")?;
        Ok(rows.first().is_some_and(|row| row[0] == "true"))
    }

    /// Carries out one order, and answers with what that brought about.
    pub(crate) fn carry_out(&mut self, action: Action) -> Result<Option<Event>, MirrorError> {
        if self.by_rows() {
            return self.row_carries_out(action);
        }
        if self.by_sets() {
            return self.set_carries_out(action);
        }
        match action {
            Action::Wait(waits) => return self.wait(waits),
            Action::Writes(node, may) => {
                self.record.writes[node as usize] = may;
                self.tells(node)?;
            }
            Action::Track => self.track()?,
            Action::Forget => self.forget()?,
            Action::Promote(node) => {
                // It may only be slow, and wake up.
                self.nodes.bar(node.other(), true)?;
                self.raise(node)?;
            }
            Action::Rewind(node) => self.rewind(node)?,
            Action::Send => return self.send().map(Some),
            Action::Copy => return self.fill().map(Some),
            Action::Compare => return self.compares().map(Some),
            Action::Exchange => return self.exchange().map(Some),
        }
        Ok(None)
    }

    /// Compares both nodes, and says what differs.
    pub(crate) fn compares(&mut self) -> Result<Event, MirrorError> {
        let compared = match self.compare() {
            // Nothing is known against the mirror: it stays behind as it was, and may be resumed later.
            Err(error @ MirrorError::KeptOut(..)) => {
                self.tell(Event::Suspend)?;
                return Err(error);
            }
            compared => compared?,
        };
        let told: Vec<String> =
            compared.tables.iter().filter(|table| !table.equal()).map(|table| table.says()).collect();
        told.iter().for_each(|text| self.nodes.say(text));
        Ok(Event::Compared { equal: told.is_empty() })
    }

    fn wait(&mut self, waits: bool) -> Result<Option<Event>, MirrorError> {
        let (primary, mirror) = (self.life().primary(), self.life().mirror());
        self.record.waits = waits;
        self.tells(primary)?;
        if waits {
            // One that commits do not wait for, though they should, is one that does not follow.
            return Ok((!self.is_waited_for(primary, mirror)?).then_some(Event::Cut));
        }
        if matches!(self.life().state(), State::Tracking(..) | State::CopyNeeded(_) | State::Diverged) {
            // Commits wait for nobody any more, so that the mirror may stay behind.
            self.record.follows = false;
            self.tells(mirror)?;
        }
        Ok(None)
    }

    /// Whether the primary takes the mirror for one that commits wait for, now or within a while.
    fn is_waited_for(&mut self, primary: Node, mirror: Node) -> Result<bool, MirrorError> {
        let seen = "SELECT 1 FROM pg_stat_replication WHERE sync_state IN ('sync', 'quorum') AND application_name = ";
        self.comes_true(primary, SEEN_SECONDS, &format!("{seen}'{}'", name(mirror)))
    }

    /// Whether a node gives rows to a question, now or within so many seconds.
    pub(crate) fn comes_true(&mut self, node: Node, seconds: u64, sql: &str) -> Result<bool, MirrorError> {
        let came =
            self.until(seconds, "it did not come true", |pair| Ok(!pair.nodes.ask(node, "look", sql)?.is_empty()));
        match came {
            Err(MirrorError::Late(..)) => Ok(false),
            other => other.map(|()| true),
        }
    }

    /// The slot of the mirror: its log is kept from now on, if it was not before. One that was given up is made anew.
    pub(crate) fn track(&mut self) -> Result<(), MirrorError> {
        if self.by_rows() {
            return Ok(());
        }
        if self.by_sets() {
            return self.set_tracks();
        }
        let (primary, mirror) = (self.life().primary(), self.life().mirror());
        self.forget_slots(primary, "wal_status = 'lost'")?;
        self.keeps(primary, mirror)
    }

    /// A node keeps its log for the other from now on, if it did not before.
    fn keeps(&mut self, primary: Node, mirror: Node) -> Result<(), MirrorError> {
        let slot = name(mirror);
        let sql = format!(
            "SELECT pg_create_physical_replication_slot('{slot}', true)::text \
             WHERE NOT EXISTS (SELECT 1 FROM pg_replication_slots WHERE slot_name = '{slot}')"
        );
        self.nodes.ask(primary, "keep its log for the mirror", &sql).map(drop)
    }

    /// Where the list is full, all of it goes, and nobody follows; else what a former role left behind on the mirror does.
    fn forget(&mut self) -> Result<(), MirrorError> {
        let (primary, mirror) = (self.life().primary(), self.life().mirror());
        if !matches!(self.life().state(), State::CopyNeeded(_)) {
            return self.forget_slots(mirror, "true");
        }
        self.record.follows = false;
        self.tells(mirror)?;
        self.forget_slots(primary, "true")
    }

    fn forget_slots(&mut self, node: Node, which: &str) -> Result<(), MirrorError> {
        let sql = format!(
            "SELECT pg_drop_replication_slot(slot_name)::text FROM pg_replication_slots \
             WHERE NOT active AND slot_name LIKE 'prony%' AND {which}"
        );
        self.nodes.ask(node, "drop a slot", &sql).map(drop)
    }

    /// The node goes back to where both were the same, and follows. Where its log does not reach so far, it is filled anew.
    fn rewind(&mut self, node: Node) -> Result<(), MirrorError> {
        self.track()?;
        self.record.follows = true;
        if self.record.returns[node as usize] {
            // The server that it goes back to says on the disk only with a checkpoint that it was promoted.
            self.checkpoint()?;
            let back = self.nodes.back(node).and_then(|()| self.stands_by(node)).and_then(|()| self.streams());
            if !matches!(back, Ok(true)) {
                let why = back.err().map_or("it does not follow then".to_owned(), |error| error.to_string());
                self.nodes.say(&format!("node {node} cannot go back, so that everything is copied to it: {why}"));
                self.copy_to(node)?;
            }
            self.record.returns[node as usize] = false;
        }
        self.stands_by(node)
    }

    /// A checkpoint on the primary.
    pub(crate) fn checkpoint(&mut self) -> Result<(), MirrorError> {
        if self.by_sets() {
            return Ok(());
        }
        let primary = self.life().primary();
        self.nodes.ask(primary, "make a checkpoint", "CHECKPOINT").map(drop)
    }

    pub(crate) fn copy_to(&mut self, node: Node) -> Result<(), MirrorError> {
        // Whatever differed goes with what was there.
        self.record.checked = None;
        if self.by_rows() {
            return self.row_copy(node);
        }
        if self.by_sets() {
            return self.set_copy(node);
        }
        let via = self.record.via.clone();
        self.nodes.copy(node, via.as_deref(), &name(node))
    }

    /// A copy of everything.
    fn fill(&mut self) -> Result<Event, MirrorError> {
        let mirror = self.life().mirror();
        self.track()?;
        self.copy_to(mirror)?;
        self.record.returns[mirror as usize] = false;
        self.send()
    }

    /// The mirror follows, and all that the primary has now is on its disk.
    fn send(&mut self) -> Result<Event, MirrorError> {
        let (primary, mirror) = (self.life().primary(), self.life().mirror());
        if self.record.returns[mirror as usize] {
            self.rewind(mirror)?;
        }
        self.record.follows = true;
        self.stands_by(mirror)?;
        let goal =
            self.nodes.ask(primary, "look at its log", "SELECT pg_current_wal_flush_lsn()::text")?.concat().concat();
        let (mut least, mut still, mut looks) = (u64::MAX, 0, 0);
        loop {
            let left = match self.left(primary, mirror, &goal)? {
                None => return Ok(Event::Full),
                Some(0) => return Ok(Event::Sent),
                Some(left) => left,
            };
            still = if left < least { 0 } else { still + 1 };
            least = least.min(left);
            if still > STILL_SECONDS * LOOKS_A_SECOND {
                return Err(MirrorError::Late("the mirror took nothing of what it lacks", STILL_SECONDS));
            }
            looks += 1;
            if looks % LOOKS_A_SECOND == 0 && left != u64::MAX {
                self.nodes.say(&format!("the mirror still lacks {}", units::bytes(Bytes(left))));
            }
            self.nodes.pass(LOOK);
        }
    }

    /// Bytes up to a place in the log that are not on the mirror's disk; none when the list of them is lost, and all of them when
    /// the mirror is not there yet.
    fn left(&mut self, primary: Node, mirror: Node, goal: &str) -> Result<Option<u64>, MirrorError> {
        let name = name(mirror);
        let sql = format!(
            "SELECT CASE WHEN r.flush_lsn IS NOT NULL THEN greatest(0, pg_wal_lsn_diff('{goal}', r.flush_lsn))::text END, s.wal_status FROM pg_replication_slots s \
             LEFT JOIN pg_stat_replication r ON r.application_name = '{name}' AND r.state = 'streaming' WHERE s.slot_name = '{name}'"
        );
        let rows = self.nodes.ask(primary, "look at its mirror", &sql)?;
        let Some(row) = rows.first().filter(|row| row[1] != "lost") else { return Ok(None) };
        Ok(Some(row[0].parse().unwrap_or(u64::MAX)))
    }

    /// Clients end what they have begun, all of the log goes to the mirror, and both change their roles. What was cut off is gone on with.
    fn exchange(&mut self) -> Result<Event, MirrorError> {
        let (old, new) = (self.life().primary(), self.life().mirror());
        if self.recovers(new)? {
            self.clients_end(old)?;
            self.nodes.end(old)?;
            if !self.drained(old, new)? {
                self.raise(old)?;
                self.nodes.say(&MirrorError::NotDrained(new, old, DRAIN_SECONDS).to_string());
                return Ok(Event::Cut);
            }
            self.raise(new)?;
        }
        self.keeps(new, old)?;
        self.record.follows = true;
        self.stands_by(old)?;
        Ok(Event::Swapped)
    }

    /// Waits a while for those who write; whoever has not ended by then is cut off by the end of the server.
    fn clients_end(&mut self, node: Node) -> Result<(), MirrorError> {
        if self.nodes.session(node, "postgres").is_err() {
            return Ok(());
        }
        let sql = "SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM pg_stat_activity WHERE backend_xid IS NOT NULL AND backend_type = 'client backend')";
        if !self.comes_true(node, ENDING_SECONDS, sql)? {
            self.nodes.say(&format!(
                "clients did not end what they have begun within {ENDING_SECONDS} s; it is undone, and they may try again on the other node"
            ));
        }
        Ok(())
    }

    /// Whether the mirror replayed the log of a primary that ended in order to its end.
    fn drained(&mut self, old: Node, new: Node) -> Result<bool, MirrorError> {
        let Some(end) = self.nodes.closed_at(old)? else { return Ok(false) };
        self.comes_true(new, DRAIN_SECONDS, &format!("SELECT 1 WHERE pg_last_wal_replay_lsn() > '{end}'"))
    }

    /// Waits until something holds.
    pub(crate) fn until(
        &mut self,
        seconds: u64,
        late: &'static str,
        mut holds: impl FnMut(&mut Pair<N>) -> Result<bool, MirrorError>,
    ) -> Result<(), MirrorError> {
        for _ in 0..=seconds * LOOKS_A_SECOND {
            if holds(self)? {
                return Ok(());
            }
            self.nodes.pass(LOOK);
        }
        Err(MirrorError::Late(late, seconds))
    }
}
