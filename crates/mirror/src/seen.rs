//! What a pair is doing, as values for whoever tells it.

use crate::act::name;
use crate::nodes::Nodes;
use crate::{MirrorError, Pair};
use pair::{Node, State};
use store::PairRecord;
use units::Nanos;

/// Between two looks at how fast what is sent goes.
const LOOK: Nanos = Nanos::from_millis(500);

/// What is seen of a node.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SeenNode {
    /// Whether it answers.
    pub answers: bool,
    /// Whether it is a mirror by its own account; none when it does not answer.
    pub recovers: Option<bool>,
    /// Whether it lets clients write.
    pub writes: bool,
}

/// The list of what the mirror lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct List {
    /// Bytes that it holds.
    pub bytes: u64,
    /// Bytes until it is full.
    pub left: u64,
}

/// What is seen of a pair.
#[derive(Clone, Debug, PartialEq)]
pub struct Seen {
    /// What is written of it.
    pub record: PairRecord,
    /// Its nodes, the first first.
    pub nodes: [SeenNode; 2],
    /// The list; none when there is no primary to ask, or no list.
    pub list: Option<List>,
    /// Commits that wait for the mirror at this moment.
    pub waiting: u64,
    /// How long what is being sent will still take, by how fast it went just now.
    pub time_left: Option<Nanos>,
    /// The mirror that takes writes of its own.
    pub split: Option<Node>,
    /// Roles and databases whose commits wait for less than the pair's.
    pub lowered: Vec<String>,
    /// Whether another command works on the pair, as whoever asked knows.
    pub busy: bool,
}

impl<N: Nodes> Pair<N> {
    /// What is seen at this moment. Changes nothing.
    ///
    /// # Errors
    /// When a node that answers refuses to say something.
    pub fn seen(&mut self) -> Result<Seen, MirrorError> {
        let record = self.record.clone();
        if record.down {
            return Ok(Seen {
                record,
                nodes: Default::default(),
                list: None,
                waiting: 0,
                time_left: None,
                split: None,
                lowered: Vec::new(),
                busy: false,
            });
        }
        let mut nodes = Node::ALL.map(|node| self.seen_node(node));
        let primary = self.life().primary();
        // One that is still made holds nothing that could be asked for.
        let serves = record.made && nodes[primary as usize].recovers == Some(false);
        let list = if serves { self.kept()?.map(|(bytes, left)| List { bytes, left }) } else { None };
        let waiting = "SELECT count(*)::text FROM pg_stat_activity WHERE wait_event = 'SyncRep'";
        let waiting = if serves && !self.by_sets() {
            self.nodes.ask(primary, "look at its clients", waiting)?.concat().concat()
        } else {
            String::new()
        };
        let time_left = if serves { self.time_left()? } else { None };
        let split = self.splits().then_some(self.life().mirror());
        if let Some(node) = split {
            // A session may write there whatever its default is.
            nodes[node as usize].writes = true;
        }
        let lowered = if serves { self.lowered(primary) } else { Vec::new() };
        let waiting = waiting.parse().unwrap_or(0);
        Ok(Seen { record, nodes, list, waiting, time_left, split, lowered, busy: false })
    }

    fn seen_node(&mut self, node: Node) -> SeenNode {
        if self.by_rows() {
            let answers = self.recovers(node).is_ok();
            let writes = answers && node == self.life().primary() && self.record.writes[node as usize];
            return SeenNode { answers, recovers: answers.then(|| node == self.life().mirror()), writes };
        }
        if self.by_sets() {
            return self.set_seen(node);
        }
        let sql = "SELECT pg_is_in_recovery()::text, (NOT pg_is_in_recovery() AND NOT current_setting('default_transaction_read_only')::bool)::text";
        match self.nodes.ask(node, "ask for its role", sql) {
            Ok(rows) => {
                let says = |at: usize| rows.first().is_some_and(|row| row[at] == "true");
                SeenNode { answers: true, recovers: Some(says(0)), writes: says(1) }
            }
            Err(_) => SeenNode::default(),
        }
    }

    fn time_left(&mut self) -> Result<Option<Nanos>, MirrorError> {
        let (primary, name) = (self.life().primary(), name(self.life().mirror()));
        if !matches!(self.life().state(), State::Resynchronising(_)) || self.by_rows() || self.by_sets() {
            return Ok(None);
        }
        let sql = format!(
            "SELECT pg_wal_lsn_diff(pg_current_wal_flush_lsn(), flush_lsn)::text FROM pg_stat_replication WHERE application_name = '{name}'"
        );
        let left = |pair: &mut Pair<N>| -> Result<Option<f64>, MirrorError> {
            Ok(pair.nodes.ask(primary, "look at its mirror", &sql)?.concat().concat().parse().ok())
        };
        let before = left(self)?;
        self.nodes.pass(LOOK);
        let both = before.zip(left(self)?).filter(|(before, after)| before > after);
        Ok(both.map(|(before, after)| Nanos::from_seconds(after / (before - after) * LOOK.seconds())))
    }
}
