//! Two nodes that only remember: who runs, in which role, with which settings, what was done to them, and what clients committed, who
//! write between any two steps wherever they may.

use crate::MirrorError;
use crate::nodes::{Nodes, Settings};
use database::server::Behind;
use database::{DatabaseError, Failure, Rows, Session};
use pair::Node;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use units::Nanos;
use workload::transaction::{Answers, Batch, Value};

#[derive(Clone, Default)]
pub struct One {
    data: bool,
    up: bool,
    pub recovers: bool,
    slot: bool,
    settings: Settings,
    /// Commits, in their order.
    log: Vec<u64>,
}

impl One {
    fn set(&self, name: &str) -> &str {
        self.settings.iter().find(|(key, _)| key == name).map_or("", |(_, value)| value)
    }

    /// It is gone, with nothing under way.
    pub fn stops(&mut self) {
        self.up = false;
    }

    fn writes(&self) -> bool {
        self.set("default_transaction_read_only") == "off"
    }
}

pub struct Inner {
    pub nodes: [One; 2],
    done: Vec<String>,
    now: u64,
    pub acknowledged: BTreeSet<u64>,
    next: u64,
    /// Steps until the command is killed.
    pub left: usize,
    /// Whether the list is lost; the slot that is made next is not.
    pub lost: bool,
    pub drains: bool,
    /// Whether the log of a node that is down can be read, and how far that of a primary was seen to have come.
    pub readable: bool,
    pub place: &'static str,
    pub back: bool,
    /// Rows of the one table of the one database, as each node counts them; none where there is no database.
    pub rows: Option<[&'static str; 2]>,
}

#[derive(Clone)]
pub struct World(Arc<Mutex<Inner>>);

impl Default for World {
    fn default() -> World {
        let inner = Inner {
            nodes: Default::default(),
            done: Vec::new(),
            now: 1,
            acknowledged: BTreeSet::new(),
            next: 0,
            left: usize::MAX,
            lost: false,
            drains: true,
            readable: true,
            place: "0",
            back: true,
            rows: None,
        };
        World(Arc::new(Mutex::new(inner)))
    }
}

fn at(node: Node) -> usize {
    node as usize
}

impl Inner {
    /// One step of a command that may be killed.
    fn step(&mut self, what: String) -> Result<(), MirrorError> {
        if self.left == 0 {
            return Err(DatabaseError::Stopped.into());
        }
        self.left = self.left.saturating_sub(1);
        self.done.push(what);
        let writers = self.nodes.iter().filter(|one| one.up && !one.recovers);
        let writers = writers.filter(|one| one.writes()).count();
        assert!(writers < 2, "two nodes let clients write: {:#?}", self.done);
        self.commits();
        Ok(())
    }

    /// A client commits wherever it may, and who follows gets it.
    fn commits(&mut self) {
        for node in Node::ALL {
            let (follows, one) = (self.follows(node.other()), &mut self.nodes[at(node)]);
            let (waits, writes) = (!one.set("synchronous_standby_names").is_empty(), one.writes());
            if one.up && !one.recovers && writes {
                one.log.push(self.next);
                if follows || !waits {
                    self.acknowledged.insert(self.next);
                }
                self.next += 1;
            }
            if follows {
                let (from, to) = (self.nodes[at(node)].log.clone(), &mut self.nodes[at(node.other())].log);
                assert!(from.starts_with(to), "{node} is followed by one who has what it has not: {:#?}", self.done);
                *to = from;
            }
        }
    }

    fn give(&mut self, node: Node, settings: &Settings) -> Result<(), MirrorError> {
        let said = |settings: &Settings, name: &str, full: String, none: String| {
            let value = settings.iter().find(|(key, _)| key == name).map_or("", |(_, value)| value);
            (name.to_owned(), if value.is_empty() || value == "on" { none } else { full })
        };
        let other = node.other();
        let words = |settings: &Settings| {
            [
                said(
                    settings,
                    "synchronous_standby_names",
                    format!("{node} waits for {other}"),
                    format!("{node} waits for nobody"),
                ),
                said(settings, "primary_conninfo", format!("{node} follows {other}"), format!("{node} follows nobody")),
                said(
                    settings,
                    "default_transaction_read_only",
                    format!("{node} writes"),
                    format!("{node} is read only"),
                ),
            ]
        };
        let (before, after) = (words(&self.nodes[at(node)].settings), words(settings));
        for (now, _) in after.into_iter().zip(before).filter(|(now, old)| now != old) {
            self.step(now.1)?;
        }
        self.nodes[at(node)].settings = settings.clone();
        Ok(())
    }

    fn follows(&self, node: Node) -> bool {
        let (one, other) = (&self.nodes[at(node)], &self.nodes[at(node.other())]);
        one.up && one.recovers && other.up && !other.recovers && !one.set("primary_conninfo").is_empty()
    }

    fn answer(&mut self, node: Node, sql: &str) -> Vec<Vec<&'static str>> {
        let (one, other) = (self.nodes[at(node)].clone(), node.other());
        let word = |is: bool| if is { "true" } else { "false" };
        let row = |is: bool| if is { vec![vec!["1"]] } else { Vec::new() };
        let has = |what: &str| sql.contains(what);
        match () {
            () if has("pg_is_in_recovery()::text, ") => {
                let writes = !one.recovers && one.set("default_transaction_read_only") == "off";
                vec![vec![word(one.recovers), word(writes)]]
            }
            () if has("pg_is_in_recovery") => vec![vec![word(one.recovers)]],
            () if has("pg_promote") => {
                self.nodes[at(node)].recovers = false;
                vec![vec!["true"]]
            }
            () if has("pg_create_physical") => {
                (self.nodes[at(node)].slot, self.lost) = (true, false);
                Vec::new()
            }
            () if has("pg_drop_replication_slot") => {
                let goes = if has("'lost'") { self.lost } else { !self.follows(other) };
                self.nodes[at(node)].slot &= !goes;
                Vec::new()
            }
            () if has("sync_state IN") => row(self.follows(other) && !one.set("synchronous_standby_names").is_empty()),
            () if has("CASE WHEN r.flush_lsn") => {
                let left = if self.follows(other) { "0" } else { "" };
                vec![vec![left, if self.lost || !one.slot { "lost" } else { "reserved" }]]
            }
            () if has("restart_lsn") => {
                if one.slot && !self.lost {
                    vec![vec!["4096", "1000000"]]
                } else {
                    Vec::new()
                }
            }
            () if has("SELECT datname") => self.rows.iter().map(|_| vec!["db"]).collect(),
            () if has("relpersistence = 'p'") => vec![vec!["public.t", "true"]],
            () if has("FROM ONLY public.t") => self.rows.iter().map(|rows| vec![rows[at(node)], "hash"]).collect(),
            () if has("pg_current_wal_flush_lsn() -") => vec![vec![self.place]],
            () if has("pg_last_wal_replay_lsn() -") => vec![vec!["0"]],
            () if has("pg_last_wal_replay_lsn() >=") => vec![vec!["true"]],
            () if has("pg_last_wal_replay_lsn() >") => row(self.drains),
            () if has("NOT EXISTS (SELECT 1 FROM pg_stat_activity") => row(true),
            () if has("state = 'streaming'") => row(self.follows(other)),
            () if has("flush_lsn()") => vec![vec!["0/5"]],
            () => Vec::new(),
        }
    }
}

impl World {
    pub fn with<T>(&self, work: impl FnOnce(&mut Inner) -> T) -> T {
        work(&mut self.0.lock().unwrap())
    }

    /// A node is gone; a primary had a commit under way that nobody heard of.
    pub fn kill(&self, node: Node) {
        self.with(|inner| {
            let (next, one) = (inner.next, &mut inner.nodes[at(node)]);
            one.log.extend((one.up && !one.recovers && one.writes()).then_some(next));
            one.up = false;
            inner.next += 1;
        });
    }

    /// The same, and the client was told that the commit stands: he had lowered what his commits wait for.
    pub fn kill_lowered(&self, node: Node) {
        self.kill(node);
        self.with(|inner| inner.acknowledged.extend(inner.nodes[at(node)].log.last()));
    }

    /// Whether a node has all that was acknowledged.
    pub fn has_all(&self, node: Node) -> bool {
        self.with(|inner| inner.acknowledged.iter().all(|id| inner.nodes[at(node)].log.contains(id)))
    }

    /// Whether clients write on a node, and their commits wait for the other.
    pub fn serves(&self, node: Node) -> bool {
        self.with(|inner| {
            let one = &inner.nodes[at(node)];
            one.up && !one.recovers && one.writes() && !one.set("synchronous_standby_names").is_empty()
        })
    }

    pub fn follows(&self, node: Node) -> bool {
        self.with(|inner| inner.follows(node))
    }

    /// Both hold the same, and all that was acknowledged.
    pub fn is_whole(&self) -> bool {
        self.with(|inner| {
            let [a, b] = &inner.nodes;
            a.log == b.log && inner.acknowledged.iter().all(|id| a.log.contains(id))
        })
    }

    pub fn notes(&self, what: String) {
        self.with(|inner| inner.done.push(what));
    }

    pub fn forget(&self) {
        self.with(|inner| inner.done.clear());
    }

    pub fn done(&self) -> Vec<String> {
        self.with(|inner| inner.done.clone())
    }
}

impl Nodes for World {
    fn now(&self) -> Nanos {
        Nanos(self.with(|inner| inner.now))
    }

    fn pass(&mut self, time: Nanos) {
        self.with(|inner| inner.now += time.0);
    }

    fn say(&mut self, text: &str) {
        self.with(|inner| inner.done.push(format!("says {text}")));
    }

    fn session(&mut self, node: Node, _database: &str) -> Result<Box<dyn Session>, MirrorError> {
        let refused = || DatabaseError::Refused { place: node.to_string(), text: "nobody is there".to_owned() };
        let (up, left) = self.with(|inner| (inner.nodes[at(node)].up, inner.left));
        if left == 0 {
            return Err(DatabaseError::Stopped.into());
        }
        if up { Ok(Box::new(Asked { world: self.clone(), node })) } else { Err(refused().into()) }
    }

    fn has_data(&self, node: Node) -> bool {
        self.with(|inner| inner.nodes[at(node)].data)
    }

    fn serve(&mut self, node: Node, settings: &Settings, stands_by: bool) -> Result<(), MirrorError> {
        self.with(|inner| {
            let one = &inner.nodes[at(node)];
            let recovers = one.recovers || stands_by && !one.up;
            inner.step(format!("{node} {}", if stands_by { "stands by" } else { "serves" }))?;
            inner.give(node, settings)?;
            let one = &mut inner.nodes[at(node)];
            (one.up, one.data, one.recovers) = (true, true, recovers);
            Ok(())
        })
    }

    fn told(&mut self, node: Node, settings: &Settings, _answers: bool) -> Result<(), MirrorError> {
        self.with(|inner| inner.give(node, settings))
    }

    fn end(&mut self, node: Node) -> Result<(), MirrorError> {
        self.with(|inner| {
            inner.step(format!("{node} ends"))?;
            inner.nodes[at(node)].up = false;
            Ok(())
        })
    }

    fn bar(&mut self, node: Node, _: bool) -> Result<(), MirrorError> {
        self.with(|inner| {
            inner.step(format!("{node} is barred"))?;
            (inner.nodes[at(node)].up, inner.nodes[at(node)].recovers) = (false, true);
            Ok(())
        })
    }

    fn copy(&mut self, node: Node, _via: Option<&str>, _slot: &str) -> Result<(), MirrorError> {
        self.with(|inner| {
            inner.nodes[at(node)].up = false;
            inner.step(format!("{node} copies"))?;
            let one = &mut inner.nodes[at(node)];
            (one.data, one.recovers, one.slot) = (true, true, false);
            inner.nodes[at(node)].log = inner.nodes[at(node.other())].log.clone();
            Ok(())
        })
    }

    fn back(&mut self, node: Node) -> Result<(), MirrorError> {
        self.with(|inner| {
            inner.nodes[at(node)].up = false;
            inner.step(format!("{node} goes back"))?;
            let other = inner.nodes[at(node.other())].log.clone();
            let log = &mut inner.nodes[at(node)].log;
            let same = log.iter().zip(&other).take_while(|(one, other)| one == other).count();
            log.truncate(same);
            if inner.back { Ok(()) } else { Err(MirrorError::Late("its log does not reach so far", 0)) }
        })
    }

    fn closed_at(&mut self, _node: Node) -> Result<Option<String>, MirrorError> {
        Ok(Some("0/5".to_owned()))
    }

    fn log_behind(&mut self, node: Node, _from: u64) -> Result<Option<Behind>, MirrorError> {
        Ok(self.with(|inner| {
            let (one, other) = (&inner.nodes[at(node)], &inner.nodes[at(node.other())]);
            let commits = one.log.iter().filter(|id| !other.log.contains(id)).count() as u64;
            (inner.readable && one.data && !one.up).then_some(Behind { end: commits, commits })
        }))
    }

    fn remove(&mut self, node: Node) -> Result<(), MirrorError> {
        self.with(|inner| {
            inner.nodes[at(node)].up = false;
            inner.step(format!("{node} is removed"))?;
            inner.nodes[at(node)] = One::default();
            Ok(())
        })
    }

    fn reached_by(&self, node: Node, _via: Option<&str>, _name: &str) -> String {
        format!("host={node}")
    }
}

/// A session on one of them.
struct Asked {
    world: World,
    node: Node,
}

impl Session for Asked {
    fn run(&mut self, _batch: &Batch, _answers: &mut Answers) -> Result<(), Failure> {
        unreachable!("nobody runs batches here")
    }

    fn script(&mut self, sql: &str) -> Result<(), Failure> {
        self.query(sql).map(drop)
    }

    fn query(&mut self, sql: &str) -> Result<Vec<Vec<Value>>, Failure> {
        let node = self.node;
        self.world.with(|inner| {
            let killed = |_| Failure::new(database::FailureKind::Stopped, "the command was killed");
            let kept = sql.strip_prefix("SELECT ").filter(|rest| rest.starts_with("pg_create_physical"));
            inner.step(format!("{node} asks {}", kept.unwrap_or(sql))).map_err(killed)?;
            let rows = inner.answer(node, sql);
            Ok(rows.into_iter().map(|row| row.into_iter().map(|text| Value::Text(text.to_owned())).collect()).collect())
        })
    }

    fn load(&mut self, _table: &str, _columns: &[&str], _rows: &mut dyn Rows) -> Result<u64, Failure> {
        unreachable!("nobody loads rows here")
    }
}
