//! What the mirror lacks goes to it, beside the load.

use crate::doubt::PREPARED_SECONDS;
use crate::nodes::{Nodes, asked, said};
use crate::rows::send::{self, BATCH, Sent};
use crate::rows::{Asks, PREPARED, SERVES, defining, quoted};
use crate::{MirrorError, Pair};
use database::{Failure, FailureKind, Session};
use pair::{Event, Node, State};

/// A session on each node, whose transactions are committed on both.
struct Both {
    primary: Node,
    near: Box<dyn Session>,
    far: Box<dyn Session>,
    owner: String,
    commits: u64,
}

/// What is sent, and the isolation in which it is read.
type Sends = (&'static str, fn(&mut dyn Asks, &mut dyn Asks, usize, usize) -> Result<Sent, Failure>);

/// What others change meanwhile is seen, and left for later.
const COMMITTED: &str = "BEGIN ISOLATION LEVEL READ COMMITTED";

/// All of it is of one moment.
const ONE_MOMENT: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ";

impl Both {
    /// Carries out one transaction.
    fn does(
        &mut self,
        begin: &str,
        work: impl FnOnce(&mut dyn Asks, &mut dyn Asks) -> Result<Sent, Failure>,
    ) -> Result<Sent, Failure> {
        self.commits += 1;
        let gid = format!("{PREPARED}{}_{}_{}", self.owner, std::process::id(), self.commits);
        let done = self
            .near
            .script(begin)
            .and_then(|()| self.far.script("BEGIN"))
            .and_then(|()| work(&mut self.near, &mut self.far));
        let prepared = match done {
            Ok(sent) if sent.entries == 0 => Err(None),
            Ok(sent) => self.near.script(&format!("PREPARE TRANSACTION '{gid}'")).map(|()| sent).map_err(Some),
            Err(failure) => Err(Some(failure)),
        };
        let sent = match prepared {
            Ok(sent) => sent,
            Err(failure) => {
                for session in [&mut self.near, &mut self.far] {
                    // One that is gone keeps nothing either.
                    let _ = session.script("ROLLBACK");
                }
                return failure.map_or(Ok(Sent::default()), Err);
            }
        };
        if let Err(failure) = self.far.script(&format!("PREPARE TRANSACTION '{gid}'")) {
            if failure.kind == FailureKind::Lost {
                self.near.script(&format!("SELECT prony_pair.undone('{gid}')"))?;
            }
            self.near.script(&format!("ROLLBACK PREPARED '{gid}'"))?;
            return Err(failure);
        }
        self.near.script(&format!("COMMIT PREPARED '{gid}'"))?;
        self.far.script(&format!("COMMIT PREPARED '{gid}'"))?;
        Ok(sent)
    }

    /// Tells how far the sequences come that no column owns.
    fn tells_sequences(&mut self) -> Result<(), MirrorError> {
        let sql =
            "SELECT a.said::text FROM prony_pair.free f, LATERAL prony_pair.ahead(f.oid) a WHERE a.said IS NOT NULL";
        for said in asked(&mut *self.near, self.primary, "look at its sequences", sql)?.concat() {
            let sql = format!("SELECT prony_pair.hear({})", quoted(&said));
            asked(&mut *self.far, self.primary.other(), "set a sequence", &sql)?;
        }
        Ok(())
    }

    /// Sends until less than a batch is left.
    fn sends(&mut self, part: usize, parts: usize, all: bool, what: Sends) -> Result<Sent, MirrorError> {
        let (mut total, mut conflicts) = (Sent::default(), 0);
        loop {
            match self.does(what.0, |near, far| what.1(near, far, part, parts)) {
                Ok(sent) => {
                    total.add(sent);
                    if sent.entries == 0 || !all && sent.entries < BATCH as u64 / 2 {
                        return Ok(total);
                    }
                }
                Err(failure) if failure.retryable() && conflicts < 100 => conflicts += 1,
                Err(failure) => {
                    return Err(MirrorError::Statement(self.primary.other(), "take what it lacks", failure));
                }
            }
        }
    }
}

const KEYS: Sends = (COMMITTED, send::keys);
const ADDED: Sends = (COMMITTED, |near, far, _, _| send::added(near, far));
const WHOLE: Sends = (ONE_MOMENT, |near, far, _, _| send::whole(near, far));

impl<N: Nodes> Pair<N> {
    fn both(&mut self, database: &str) -> Result<Both, MirrorError> {
        let (primary, mirror) = (self.life().primary(), self.life().mirror());
        let (mut near, mut far) = (self.hand(primary, database)?, self.hand(mirror, database)?);
        let owner = asked(&mut *near, primary, "ask for its number", "SELECT pg_backend_pid()")?.concat().concat();
        // What waits for a lock that nobody lets go ends with that as the reason.
        let limit = format!("SET lock_timeout = '{PREPARED_SECONDS}s'");
        said(&mut *near, primary, "prepare a session", &limit)?;
        let limit = format!("{limit}; SET application_name = '{SERVES}{owner}'");
        said(&mut *far, mirror, "prepare a session", &limit)?;
        Ok(Both { primary, near, far, owner, commits: 0 })
    }

    /// All that the mirror lacks goes to it: most of it beside the load, the rest while nobody writes, who are shipped from then on.
    pub(crate) fn sends(&mut self) -> Result<Event, MirrorError> {
        let (primary, mirror) = (self.life().primary(), self.life().mirror());
        if self.record.returns[mirror as usize] {
            self.rewinds(mirror)?;
        }
        self.resolve()?;
        let mut total = Sent::default();
        let databases = self.databases(primary)?;
        for round in 0..2 {
            for database in &databases {
                if let Err(MirrorError::Statement(node, _, failure)) = self.replays(database) {
                    if failure.kind == FailureKind::Lost || round == 0 {
                        continue;
                    }
                    self.nodes.say(&format!(
                        "node {node} does not take a definition, so that everything is to be copied: {failure}"
                    ));
                    return Ok(Event::Full);
                }
            }
        }
        for database in &databases {
            total.add(self.sends_beside(database)?);
        }
        self.record.waits = true;
        self.save()?;
        for database in &databases {
            total.add(self.sends_rest(database)?);
        }
        self.record.sent = (total.rows, total.bytes);
        self.record.lacks.clear();
        // Behind a copy of everything there is mostly nothing to send.
        if total.rows > 0 || matches!(self.life().state(), State::Resynchronising(_)) {
            self.nodes.say(&format!(
                "sent {} in {}",
                units::counted(total.rows, "rows"),
                units::bytes(units::Bytes(total.bytes))
            ));
        }
        Ok(Event::Sent)
    }

    /// Definitions, in their order.
    fn replays(&mut self, database: &str) -> Result<(), MirrorError> {
        let (primary, mirror) = (self.life().primary(), self.life().mirror());
        let mut near = self.hand(primary, database)?;
        loop {
            let sql = "SELECT id, said, path, role, inside::text FROM prony_pair.defined ORDER BY id LIMIT 1";
            let Some(row) = asked(&mut *near, primary, "look at its list", sql)?.into_iter().next() else {
                return Ok(());
            };
            let gone = format!("DELETE FROM prony_pair.defined WHERE id = {}", row[0]);
            let failed = |failure| MirrorError::Statement(mirror, "take a definition", failure);
            if row[4] == "true" {
                let texts = defining(&row[1], &row[2], &row[3]);
                let taken = self.both(database)?.does(COMMITTED, |near, far| {
                    texts.iter().try_for_each(|text| far.ask(text).map(drop))?;
                    near.ask(&gone).map(|_| Sent { entries: 1, ..Sent::default() })
                });
                taken.map_err(failed)?;
                continue;
            }
            let mut far = self.hand(mirror, database)?;
            let path = format!("SELECT set_config('search_path', {}, false)", quoted(&row[2]));
            match far.script(&path).and_then(|()| far.script(&row[1])) {
                // It came so far before somebody was killed.
                Err(failure) if !failure.text.contains("already exists") => return Err(failed(failure)),
                _ => drop(asked(&mut *near, primary, "shorten its list", &gone)?),
            }
        }
    }

    /// What can be sent beside writers, by as many sessions at once as were asked for.
    fn sends_beside(&mut self, database: &str) -> Result<Sent, MirrorError> {
        let mut first = self.both(database)?;
        let mut total = first.sends(0, 1, true, WHOLE)?;
        total.add(first.sends(0, 1, false, ADDED)?);
        let parts = self.parallel.max(1);
        let mut all = vec![first];
        while all.len() < parts {
            all.push(self.both(database)?);
        }
        let sent: Vec<Result<Sent, MirrorError>> = std::thread::scope(|scope| {
            let begin = |(part, mut both): (usize, Both)| scope.spawn(move || both.sends(part, parts, false, KEYS));
            let threads: Vec<_> = all.into_iter().enumerate().map(begin).collect();
            threads.into_iter().filter_map(|thread| thread.join().ok()).collect()
        });
        for sent in sent {
            match sent {
                // A value that must be unique is held by a row that is sent later.
                Err(MirrorError::Statement(_, _, failure)) if failure.text.contains("23505") => self.marks(database)?,
                sent => total.add(sent?),
            }
        }
        Ok(total)
    }

    /// Tables in which rows wait are copied whole.
    fn marks(&mut self, database: &str) -> Result<(), MirrorError> {
        let primary = self.life().primary();
        let sql = "SELECT prony_pair.whole(relation) FROM (SELECT DISTINCT relation FROM prony_pair.changed WHERE kind = 'k') x";
        self.ask_in(primary, database, "mark tables to be copied", sql).map(drop)
    }

    /// The rest, while nobody writes; then writers are shipped.
    fn sends_rest(&mut self, database: &str) -> Result<Sent, MirrorError> {
        let primary = self.life().primary();
        let mut both = self.both(database)?;
        let mut alone = self.hand(primary, database)?;
        self.alone(&mut alone, primary)?;
        self.replays(database)?;
        let mut total = both.sends(0, 1, true, WHOLE)?;
        for what in [ADDED, KEYS] {
            total.add(both.sends(0, 1, true, what)?);
        }
        both.tells_sequences()?;
        self.sets(&mut alone, primary, "1")?;
        Ok(total)
    }

    /// A primary that was lost goes back: what it changed alone is noted by its successor, whose rows take their place.
    pub(crate) fn rewinds(&mut self, node: Node) -> Result<(), MirrorError> {
        let primary = self.life().primary();
        if !self.record.returns[node as usize] {
            return Ok(());
        }
        self.resolve()?;
        let mut copies = self.databases(node)? != self.databases(primary)?;
        for database in self.databases(node)? {
            if copies {
                break;
            }
            let mut old = self.hand(node, &database)?;
            copies = !asked(&mut *old, node, "look at its list", "SELECT 1 FROM prony_pair.defined")?.is_empty();
            let lists = "SELECT relation, kind::text, array_agg(item)::text FROM prony_pair.changed GROUP BY 1, 2";
            for row in asked(&mut *old, node, "look at its list", lists)? {
                let (relation, items) = (quoted(&row[0]), quoted(&row[2]));
                let sql = match row[1].as_str() {
                    "k" => format!(
                        "INSERT INTO prony_pair.changed AS c (relation, kind, item) SELECT {relation}, 'k', unnest({items}::text[]) \
                         ON CONFLICT (relation, item) WHERE kind <> 'r' DO UPDATE SET n = c.n + 1"
                    ),
                    _ => format!("SELECT prony_pair.whole({relation})"),
                };
                self.ask_in(primary, &database, "lengthen its list", &sql)?;
            }
        }
        if copies {
            self.nodes.say(&format!(
                "node {node} defined tables that node {primary} does not have, so that everything is copied to it"
            ));
            return self.row_copy(node);
        }
        self.clears(node)?;
        self.record.returns[node as usize] = false;
        self.save()
    }
}
