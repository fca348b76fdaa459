//! Pairs that Galera joins: both nodes take writes, and what a commit changed has one place in an order on both.
//!
//! The one idea: whoever is not joined is a server alone that nobody writes on. What it lacks lies in the cache of the other one and is sent
//! when it joins again; what does not lie there any more comes as a copy, which Galera brings by itself. A node that cannot say where it
//! stands, or stands elsewhere, gives its place up and is copied to.

use crate::nodes::{Nodes, Settings, asked, said};
use crate::seen::SeenNode;
use crate::{Compared, Kind, Left, MirrorError, Pair, Table};
use database::server::mariadb::{Group, Ports};
use database::{DatabaseError, Session};
use pair::{Action, Event, Node, Reason, State};
use std::collections::BTreeMap;
use study::Voter;

/// Whether a node may go on, and the word that says so.
pub(crate) const STANDING: &str = "wsrep_cluster_status";
const PRIMARY: &str = "Primary";

/// How far in the order of all changes a node has come.
const COMMITTED: &str = "wsrep_last_committed";

/// The state of a node that has all.
const SYNCED: &str = "4";

/// How long a node may take to see that the other is gone: a silent one is given up after 5 s, and a vote follows.
const ALONE_SECONDS: u64 = 60;

/// How long a node that joined may take to have all.
const SYNC_SECONDS: u64 = 600;

/// How long the third voter may take to join, or to vote.
const VOTE_SECONDS: u64 = 60;

/// How often one node is held until the other has come as far.
const HOLDS: u32 = 40;

/// How long that may take each time.
const REACH_SECONDS: u64 = 10;

/// All tables of users, with the engine that keeps each.
const TABLES: &str = "SELECT table_schema, table_name, coalesce(engine, '') FROM information_schema.tables WHERE table_type = 'BASE TABLE' \
    AND table_schema NOT IN ('mysql', 'sys', 'information_schema', 'performance_schema') ORDER BY 1, 2";

/// Keeps writers and appliers out, and lets them go on.
const HOLD: &str = "FLUSH TABLES WITH READ LOCK";
const LET_GO: &str = "UNLOCK TABLES";

impl<N: Nodes> Pair<N> {
    /// Whether Galera joins its nodes.
    pub(crate) fn by_sets(&self) -> bool {
        self.record.kind == Kind::Sets.word()
    }

    /// Who decides when both lose each other.
    fn voter(&self) -> Voter {
        Voter::of_word(&self.record.voter).unwrap_or_default()
    }

    /// Gives the pair ports; other ones, where somebody took one while it was down.
    pub(crate) fn settles_ports(&mut self) -> Result<(), MirrorError> {
        if !self.by_sets() {
            return Ok(());
        }
        let there = Ports::of(&self.record.ports);
        let down = Node::ALL.iter().all(|node| self.nodes.session(*node, "").is_err());
        if there.is_none_or(|ports| down && !ports.are_free()) {
            self.record.ports = Ports::free()?.all();
        }
        Ok(())
    }

    /// Has the node go on that has come further in the order of all changes, when the primary was lost: it has all that the other one has.
    pub(crate) fn settles_leader(&mut self) -> Result<(), MirrorError> {
        let whole = self.life().before == Some(State::Replicating) && matches!(self.life().state(), State::Unserved(_));
        let (primary, mirror) = (self.life().primary(), self.life().mirror());
        if !self.by_sets() || !whole || self.life().is_up(primary) {
            return Ok(());
        }
        let Some((first, second)) = self.place(primary)?.zip(self.place(mirror)?) else { return Ok(()) };
        // Of two that have come as far, the one goes on that answers.
        let further = second.1 > first.1 || second.1 == first.1 && self.life().is_up(mirror);
        if first.0 != second.0 || !further {
            return Ok(());
        }
        let has = match second.1 - first.1 {
            0 => "no fewer transactions than".to_owned(),
            more => format!("{} more than", units::counted(more, "transactions")),
        };
        self.nodes.say(&format!("node {mirror} has {has} node {primary}, so that it goes on as the primary"));
        if !self.life().is_up(mirror) {
            self.record.follows = false;
            self.set_serves(mirror)?;
            self.tell(Event::Back(mirror))?;
        }
        self.tell(Event::TakeOver { accept_missing: true })
    }

    /// The group of a node, and how far it has come in its order; none where neither it nor its files say.
    fn place(&mut self, node: Node) -> Result<Option<(String, u64)>, MirrorError> {
        if self.life().is_up(node) {
            return Ok(Some((self.word(node, "wsrep_local_state_uuid")?, self.number(node, COMMITTED)?)));
        }
        let closed = self.nodes.closed_at(node)?;
        let place = closed.as_deref().and_then(|at| at.rsplit_once(':'));
        Ok(place.and_then(|(group, number)| Some((group.to_owned(), number.parse().ok()?))))
    }

    fn group(&self) -> Result<Group, MirrorError> {
        let ports = match Ports::of(&self.record.ports) {
            Some(ports) => ports,
            None => Ports::free()?,
        };
        Ok(Group { ports, voter: self.voter(), patience: None, cache: Some(self.record.list_bytes) })
    }

    /// The settings of a node as it is to be now.
    fn set_settings(&self, node: Node, follows: bool) -> Result<Settings, MirrorError> {
        let line = |name: &str, on: bool| (name.to_owned(), if on { "ON" } else { "OFF" }.to_owned());
        let leads = node == self.life().primary();
        if !leads && !follows {
            return Ok(vec![line("read_only", true), line("innodb_read_only", true)]);
        }
        let group = self.group()?;
        let other = (!leads).then_some(group.ports.nodes[node.other() as usize][0]);
        let mut settings = group.node(node as usize, leads, other)?;
        settings.push(line("read_only", !self.record.writes[node as usize]));
        Ok(settings)
    }

    /// Starts a node as it is to be now.
    pub(crate) fn set_serves(&mut self, node: Node) -> Result<(), MirrorError> {
        // Nobody who is started is off the wire, so that one that is to be so starts alone.
        let apart = !self.life().linked && !self.is_on(node, "wsrep_on").unwrap_or(false);
        let settings = self.set_settings(node, self.record.follows && !apart)?;
        self.nodes.serve(node, &settings, node == self.life().mirror())
    }

    /// Starts a node that leads, or led already. One that runs and was left without a majority goes on.
    pub(crate) fn set_leads(&mut self, node: Node, led: bool) -> Result<(), MirrorError> {
        let other = node.other();
        if self.word(node, STANDING).is_err() && self.is_on(other, "wsrep_on").unwrap_or(false) {
            // With the vote of the third it would go on beside the group that is founded now.
            self.nodes.end(other)?;
        }
        self.set_serves(node)?;
        let votes = if self.voter() == Voter::Weight { 2 } else { 1 };
        self.says(node, "give it its votes", &format!("SET GLOBAL wsrep_provider_options = 'pc.weight={votes}'"))?;
        if self.may_go_on(node)? { Ok(()) } else { self.goes_on(node, led) }
    }

    /// Has the third voter run where there is one, once there is somebody whom it can join.
    pub(crate) fn votes(&mut self) -> Result<(), MirrorError> {
        if !self.by_sets() {
            return Ok(());
        }
        let group = if self.voter() == Voter::Garbd { Some(self.group()?) } else { None };
        self.nodes.voter(group.as_ref())?;
        let primary = self.life().primary();
        // It does not reach one that was taken off the wire and took over.
        if group.is_none() || !self.life().linked || !self.may_go_on(primary)? {
            return Ok(());
        }
        // A member that is lost while it joins keeps it from its vote for long.
        self.until(VOTE_SECONDS, "the voter did not join: see its log in the folder `voter`", |pair| {
            Ok(pair.number(primary, "wsrep_cluster_size")? > pair.servers(primary)? as u64)
        })
    }

    /// A word of a node's status.
    pub(crate) fn word(&mut self, node: Node, name: &str) -> Result<String, MirrorError> {
        let rows = self.ask(node, "look at it", &format!("SHOW GLOBAL STATUS LIKE '{name}'"))?;
        Ok(rows.into_iter().next().and_then(|row| row.into_iter().nth(1)).unwrap_or_default())
    }

    fn number(&mut self, node: Node, name: &str) -> Result<u64, MirrorError> {
        Ok(self.word(node, name)?.parse().unwrap_or(0))
    }

    fn ask(&mut self, node: Node, doing: &'static str, sql: &str) -> Result<crate::Rows, MirrorError> {
        asked(&mut *self.nodes.session(node, "")?, node, doing, sql)
    }

    fn says(&mut self, node: Node, doing: &'static str, sql: &str) -> Result<(), MirrorError> {
        said(&mut *self.nodes.session(node, "")?, node, doing, sql)
    }

    /// Whether a setting of a node is on.
    fn is_on(&mut self, node: Node, name: &str) -> Result<bool, MirrorError> {
        let rows = self.ask(node, "look at its settings", &format!("SHOW GLOBAL VARIABLES LIKE '{name}'"))?;
        Ok(rows.first().and_then(|row| row.get(1)).is_some_and(|value| value == "ON"))
    }

    /// How many servers a node sees in its group; a voter has no address.
    fn servers(&mut self, node: Node) -> Result<usize, MirrorError> {
        Ok(self.word(node, "wsrep_incoming_addresses")?.split(',').filter(|address| !address.is_empty()).count())
    }

    fn may_go_on(&mut self, node: Node) -> Result<bool, MirrorError> {
        Ok(self.word(node, STANDING)? == PRIMARY)
    }

    /// Whether both are one group, now or within so many seconds.
    pub(crate) fn are_joined(&mut self, seconds: u64) -> Result<bool, MirrorError> {
        let primary = self.life().primary();
        let joined = self
            .until(seconds, "they were not joined", |pair| Ok(pair.servers(primary)? == 2 && pair.may_go_on(primary)?));
        match joined {
            Err(MirrorError::Late(..)) => Ok(false),
            other => other.map(|()| true),
        }
    }

    /// Whether the node that is left has a majority, so that it took over by itself when the primary was lost.
    ///
    /// # Errors
    /// When somebody wants an end.
    pub(crate) fn is_taken_over(&mut self) -> Result<bool, MirrorError> {
        let mirror = self.life().mirror();
        let unserved = matches!(self.life().state(), State::Unserved(_)) && self.life().is_up(mirror);
        let votes = self.by_sets() && self.life().rule.waits;
        if !votes || !unserved {
            return Ok(false);
        }
        let sees = self.until(ALONE_SECONDS, "it saw nothing", |pair| Ok(pair.servers(mirror)? < 2));
        match sees.and_then(|()| self.may_go_on(mirror)) {
            Err(error @ MirrorError::Database(DatabaseError::Stopped)) => Err(error),
            goes_on => Ok(goes_on.unwrap_or(false)),
        }
    }

    /// Whether both go on without each other.
    pub(crate) fn both_lead(&mut self) -> bool {
        Node::ALL
            .into_iter()
            .all(|node| self.may_go_on(node).unwrap_or(false) && self.servers(node).is_ok_and(|all| all < 2))
    }

    /// Has a node go on without the other: by itself, where it has a majority; else because it is told to, once it sees that it is
    /// alone. Votes may be counted late on a busy machine, those of a third voter and the two of who `led`, and who is told to go on
    /// without them throws away what the other node got ordered.
    fn goes_on(&mut self, node: Node, led: bool) -> Result<(), MirrorError> {
        // Behind a wire that carries again the other one is back by itself.
        let healed = self.life().linked
            && matches!(self.life().state(), State::Tracking(Reason::LinkCut, _) | State::CopyNeeded(Reason::LinkCut));
        let most = if healed { 2 } else { 1 };
        // Nobody votes for one that took over while it was off the wire.
        let votes = led || self.voter() == Voter::Garbd && self.life().linked;
        if self.voter() != Voter::None && votes {
            let voted = self.until(VOTE_SECONDS, "votes gave it no majority", |pair| {
                Ok(pair.servers(node)? <= most && pair.may_go_on(node)?)
            });
            match voted {
                Err(MirrorError::Late(..)) => {}
                other => return other,
            }
        }
        self.until(ALONE_SECONDS, "the node that is left did not see that the other one is gone", |pair| {
            let order = "SET GLOBAL wsrep_provider_options = 'pc.bootstrap=YES'";
            match (pair.servers(node)?, pair.may_go_on(node)?) {
                (all, true) => Ok(all <= most),
                (2.., false) => Ok(false),
                (_, false) => {
                    pair.parts_from(node.other())?;
                    pair.says(node, "let it go on alone", order).map(|()| false)
                }
            }
        })
    }

    /// Sees to it that a node may be told to go on beside this one, which must not go on by itself: it answers and has no majority, or is
    /// ended, since it might wake up beside a voter.
    fn parts_from(&mut self, other: Node) -> Result<(), MirrorError> {
        match self.may_go_on(other) {
            Ok(true) => Err(MirrorError::Outvoted(other.other(), other)),
            Err(error @ MirrorError::Database(DatabaseError::Stopped)) => Err(error),
            Err(_) if self.voter() == Voter::Garbd => self.nodes.bar(other, true),
            _ => Ok(()),
        }
    }

    /// Whether the primary answers and serves nobody, since the mirror goes on with the majority: somebody took it off the wire.
    pub(crate) fn is_outvoted(&mut self) -> bool {
        let (primary, mirror) = (self.life().primary(), self.life().mirror());
        self.by_sets()
            && self.life().rule.waits
            && self.may_go_on(primary).is_ok_and(|may| !may)
            && self.may_go_on(mirror).unwrap_or(false)
            && self.servers(mirror).is_ok_and(|all| all < 2)
    }

    /// Takes the mirror off the wire, or puts it back; one that is not joined has none. Whoever took over since is put back, too.
    pub(crate) fn isolates(&mut self, isolated: bool) -> Result<(), MirrorError> {
        let (primary, mirror) = (self.life().primary(), self.life().mirror());
        let order = format!("SET GLOBAL wsrep_provider_options = 'gmcast.isolate={}'", u8::from(isolated));
        for node in [mirror, primary].into_iter().take(if isolated { 1 } else { 2 }) {
            if self.by_sets() && self.is_on(node, "wsrep_on").unwrap_or(false) {
                self.says(node, "take it off the wire, or put it back", &order)?;
            }
        }
        Ok(())
    }

    /// From here on the primary keeps what the mirror lacks.
    pub(crate) fn set_tracks(&mut self) -> Result<(), MirrorError> {
        let primary = self.life().primary();
        self.record.lacks_from = (self.number(primary, COMMITTED)?, self.number(primary, "wsrep_replicated_bytes")?);
        Ok(())
    }

    /// Bytes of changes that are kept for the mirror, and what is left of their room; none when the first of them is gone, or there is no
    /// room.
    pub(crate) fn set_kept(&mut self) -> Result<Option<(u64, u64)>, MirrorError> {
        let primary = self.life().primary();
        if !matches!(self.life().state(), State::Tracking(..) | State::Resynchronising(_)) {
            return Ok(Some((0, self.record.list_bytes)));
        }
        let (from, before) = self.record.lacks_from;
        let lost =
            self.number(primary, COMMITTED)? > from && self.number(primary, "wsrep_local_cached_downto")? > from + 1;
        let sent = self.number(primary, "wsrep_replicated_bytes")?;
        // A primary that was started again counts anew.
        let bytes = sent.checked_sub(before).unwrap_or(sent);
        // Galera keeps more than it was given room for as long as it can; what was said holds.
        Ok((!lost && bytes <= self.record.list_bytes).then(|| (bytes, self.record.list_bytes - bytes)))
    }

    /// What is seen of a node.
    pub(crate) fn set_seen(&mut self, node: Node) -> SeenNode {
        let Ok(standing) = self.word(node, STANDING) else { return SeenNode::default() };
        let writes = standing == PRIMARY && !self.is_on(node, "read_only").unwrap_or(true);
        SeenNode { answers: true, recovers: Some(node == self.life().mirror()), writes }
    }

    /// Carries out one order, as [`Pair::carry_out`].
    pub(crate) fn set_carries_out(&mut self, action: Action) -> Result<Option<Event>, MirrorError> {
        match action {
            Action::Wait(waits) => self.set_waits(waits)?,
            Action::Writes(node, may) => self.set_writes(node, may)?,
            Action::Track => self.set_tracks()?,
            Action::Forget if matches!(self.life().state(), State::CopyNeeded(_)) => self.record.follows = false,
            Action::Forget => {}
            Action::Promote(node) => {
                // It may only be slow, and wake up.
                self.nodes.bar(node.other(), true)?;
                self.set_leads(node, false)?;
                self.goes_on(node, false)?;
            }
            // It joins at the place where it is; whether that is one of the other's order is seen then.
            Action::Rewind(_) => {}
            Action::Send => return self.set_sends().map(Some),
            Action::Copy => {
                self.set_copy(self.life().mirror())?;
                return self.set_sends().map(Some);
            }
            Action::Compare => return self.compares().map(Some),
            Action::Exchange => return Err(MirrorError::NoRoles),
        }
        Ok(None)
    }

    /// The mirror leaves, unless a cut wire parted it already, and the primary goes on alone. Who is joined always waits.
    fn set_waits(&mut self, waits: bool) -> Result<(), MirrorError> {
        let (primary, mirror) = (self.life().primary(), self.life().mirror());
        self.record.waits = self.are_joined(0)?;
        if waits {
            return Ok(());
        }
        match self.life().state() {
            State::Tracking(Reason::LinkCut, _) | State::CopyNeeded(Reason::LinkCut) => {}
            State::Tracking(..) | State::CopyNeeded(_) | State::Diverged => {
                self.record.follows = false;
                if self.life().is_up(mirror) {
                    self.set_serves(mirror)?;
                }
            }
            _ => return Ok(()),
        }
        self.record.waits = false;
        self.goes_on(primary, true)
    }

    /// A node lets clients write, or does not. One without a majority refuses all by itself.
    fn set_writes(&mut self, node: Node, may: bool) -> Result<(), MirrorError> {
        self.record.writes[node as usize] = may;
        let settings = self.set_settings(node, self.record.follows)?;
        self.nodes.told(node, &settings, self.life().is_up(node))?;
        let word = if may { "OFF" } else { "ON" };
        if self.life().is_up(node) && self.may_go_on(node)? && self.is_on(node, "read_only")? == may {
            self.says(node, "let clients write, or not", &format!("SET GLOBAL read_only = {word}"))?;
        }
        Ok(())
    }

    /// Gives the place of a node in the order up, so that everything is copied to it when it joins.
    pub(crate) fn set_copy(&mut self, node: Node) -> Result<(), MirrorError> {
        self.nodes.copy(node, None, "")
    }

    /// The mirror joins, and has all that the primary has now.
    fn set_sends(&mut self) -> Result<Event, MirrorError> {
        let mirror = self.life().mirror();
        self.record.follows = true;
        match self.set_joins(mirror) {
            Ok(()) => {}
            Err(error @ MirrorError::Database(DatabaseError::Stopped)) => return Err(error),
            Err(error) => {
                // Galera refuses a node that has what the other one never had.
                let said = format!("node {mirror} cannot join as it is, so that everything is copied to it: {error}");
                self.nodes.say(&said);
                self.set_copy(mirror)?;
                self.set_joins(mirror)?;
            }
        }
        self.record.returns[mirror as usize] = false;
        self.record.waits = true;
        self.votes()?;
        Ok(Event::Sent)
    }

    fn set_joins(&mut self, mirror: Node) -> Result<(), MirrorError> {
        self.set_serves(mirror)?;
        self.until(SYNC_SECONDS, "the node did not get all that the other one has", |pair| {
            let synced = pair.word(mirror, "wsrep_local_state")? == SYNCED && pair.servers(mirror)? == 2;
            Ok(synced && pair.may_go_on(mirror)?)
        })
    }

    /// Compares both nodes at one moment: at one place in the order, where they are joined.
    pub(crate) fn set_compare(&mut self) -> Result<Compared, MirrorError> {
        let [primary, mirror] = [self.life().primary(), self.life().mirror()];
        let mut sessions = [self.snapshot(primary)?, self.snapshot(mirror)?];
        self.hold_both([primary, mirror], &mut sessions)?;
        let mut compared = Compared::default();
        let mut tables = BTreeMap::<[String; 2], Table>::new();
        for (node, [_, reads]) in [primary, mirror].into_iter().zip(&mut sessions) {
            for row in asked(&mut **reads, node, "list its tables", TABLES)? {
                let [database, name, engine] = [0, 1, 2].map(|at| row[at].clone());
                if engine != "InnoDB" {
                    let why = format!("{engine} keeps it: Galera mirrors tables of InnoDB");
                    let left = Left { database, name, why, shared: false };
                    compared.left_out.extend((!compared.left_out.contains(&left)).then_some(left));
                    continue;
                }
                let quoted = [&database, &name].map(|name| format!("`{}`", name.replace('`', "``"))).join(".");
                let rows = format!("SELECT count(*) FROM {quoted}");
                let rows = asked(&mut **reads, node, "read a table", &rows)?.concat().concat();
                let sum = asked(&mut **reads, node, "read a table", &format!("CHECKSUM TABLE {quoted} EXTENDED"))?;
                let held = (rows.parse().unwrap_or(0), sum.concat().pop().unwrap_or_default());
                let key = [database.clone(), name.clone()];
                let table = tables.entry(key).or_insert(Table { database, name, held: [None, None] });
                table.held[node as usize] = Some(held);
            }
        }
        compared.tables = tables.into_values().collect();
        Ok(compared)
    }

    /// A session that holds a node, and one that reads it.
    fn snapshot(&mut self, node: Node) -> Result<[Box<dyn Session>; 2], MirrorError> {
        Ok([self.nodes.session(node, "")?, self.nodes.session(node, "")?])
    }

    /// Has the second session of each node see the same moment: one node is held until the other has come as far.
    fn hold_both(&mut self, nodes: [Node; 2], sessions: &mut [[Box<dyn Session>; 2]; 2]) -> Result<(), MirrorError> {
        let joined = self.are_joined(0)? && self.is_on(nodes[1], "wsrep_on")?;
        for hold in 0..HOLDS {
            let order = if hold % 2 == 0 { [0, 1] } else { [1, 0] };
            let mut at = [0; 2];
            for one in order {
                if joined && one == order[1] {
                    let reached = at[order[0]];
                    self.until(REACH_SECONDS, "a node did not come as far as the other one", |pair| {
                        Ok(pair.number(nodes[one], COMMITTED)? >= reached)
                    })?;
                }
                said(&mut *sessions[one][0], nodes[one], "keep writers out for a moment", HOLD)?;
                at[one] = self.number(nodes[one], COMMITTED)?;
            }
            let level = !joined || at[0] == at[1];
            for one in order {
                let [holds, reads] = &mut sessions[one];
                if level {
                    said(&mut **reads, nodes[one], "take a snapshot", "START TRANSACTION WITH CONSISTENT SNAPSHOT")?;
                }
                said(&mut **holds, nodes[one], "let writers go on", LET_GO)?;
            }
            if level {
                return Ok(());
            }
        }
        Err(MirrorError::Restless(HOLDS))
    }
}
