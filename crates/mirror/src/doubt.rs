//! What is prepared on the nodes of a pair when nobody coordinates it any more.
//!
//! The one idea: a transaction is prepared on the primary first, and committed there first; so what a crash leaves can be told apart by who
//! has it. What is decided while the mirror is away is written down before it is done.

use crate::nodes::{Nodes, asked, said};
use crate::rows::{PREPARED, SERVES};
use crate::{MirrorError, Pair};
use pair::Node;

/// How long prepared transactions may take to their end.
pub(crate) const PREPARED_SECONDS: u64 = 30;

/// A prepared transaction, and the database in which it was.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Doubt {
    gid: String,
    database: String,
    /// Whether the session that prepared it on the other node is gone.
    forsaken: bool,
}

impl Doubt {
    /// The number of the session on the primary.
    fn owner(&self) -> &str {
        self.gid.trim_start_matches(PREPARED).split('_').next().unwrap_or("")
    }
}

impl<N: Nodes> Pair<N> {
    fn doubts(&mut self, node: Node) -> Result<Vec<Doubt>, MirrorError> {
        let sql = format!(
            "SELECT gid, database, (NOT EXISTS (SELECT 1 FROM pg_stat_activity s WHERE s.backend_start <= p.prepared \
             AND s.application_name = '{SERVES}' || split_part(substr(gid, {}), '_', 1)))::text \
             FROM pg_prepared_xacts p WHERE starts_with(gid, '{PREPARED}') ORDER BY 1",
            PREPARED.len() + 1
        );
        let rows = self.nodes.ask(node, "look for what is in doubt", &sql)?;
        let doubt =
            |row: Vec<String>| Doubt { gid: row[0].clone(), database: row[1].clone(), forsaken: row[2] == "true" };
        Ok(rows.into_iter().map(doubt).collect())
    }

    /// Ends what was left prepared by who coordinates no more.
    pub(crate) fn resolve(&mut self) -> Result<(), MirrorError> {
        self.resolves(self.life().is_up(self.life().mirror()))
    }

    /// The same, whether the mirror is there or not.
    pub(crate) fn resolves(&mut self, there: bool) -> Result<(), MirrorError> {
        let (primary, mirror) = (self.life().primary(), self.life().mirror());
        let (near, far) = (self.doubts(primary)?, if there { self.doubts(mirror)? } else { Vec::new() });
        if near.is_empty() && far.is_empty() {
            return Ok(());
        }
        let live = self.nodes.ask(primary, "list its sessions", "SELECT pid FROM pg_stat_activity")?.concat();
        let lives = |doubt: &Doubt| live.iter().any(|pid| pid == doubt.owner());
        // Of one who goes on, what the primary has ended and the mirror forgot who was to end it: that crashed meanwhile.
        let left: Vec<Doubt> = far.iter().filter(|doubt| lives(doubt) && doubt.forsaken).cloned().collect();
        let mut all: Vec<Doubt> = near.into_iter().chain(far).filter(|doubt| !lives(doubt)).collect();
        all.sort();
        all.dedup_by(|one, other| one.gid == other.gid);
        if there {
            for doubt in &all {
                self.parts(mirror, doubt)?;
            }
        }
        // Only now nobody can prepare it any more.
        let on_near = self.doubts(primary)?;
        let on_far = if there { Some(self.doubts(mirror)?) } else { None };
        let has = |on: &[Doubt], doubt: &Doubt| on.iter().any(|one| one.gid == doubt.gid);
        all.extend(left.into_iter().filter(|doubt| !has(&on_near, doubt)));
        for doubt in all {
            let far = on_far.as_ref().map(|on_far| has(on_far, &doubt));
            self.decides(&doubt, has(&on_near, &doubt), far)?;
        }
        Ok(())
    }

    /// Ends the sessions of a coordinator on the other node.
    fn parts(&mut self, mirror: Node, doubt: &Doubt) -> Result<(), MirrorError> {
        let which = format!("FROM pg_stat_activity WHERE application_name = '{SERVES}{}'", doubt.owner());
        self.nodes.ask(mirror, "end a session", &format!("SELECT pg_terminate_backend(pid)::text {which}"))?;
        let gone = format!("SELECT 1 WHERE NOT EXISTS (SELECT 1 {which})");
        if self.comes_true(mirror, PREPARED_SECONDS, &gone)? {
            Ok(())
        } else {
            Err(MirrorError::Late("a session did not end", PREPARED_SECONDS))
        }
    }

    /// What is prepared on both was to be committed; what only the primary has was never prepared on the mirror; what only the mirror
    /// has was committed on the primary, unless that wrote down that it was undone, or the mirror was a primary that was lost.
    fn decides(&mut self, doubt: &Doubt, near: bool, far: Option<bool>) -> Result<(), MirrorError> {
        let (primary, mirror) = (self.life().primary(), self.life().mirror());
        let mut session = self.hand(primary, &doubt.database)?;
        let gid = &doubt.gid;
        let verdict = format!("SELECT commits::text FROM prony_pair.verdict WHERE gid = '{gid}'");
        let verdict = asked(&mut *session, primary, "look what became of a transaction", &verdict)?.concat().concat();
        let stale = self.record.returns[mirror as usize];
        let commits = match (verdict.as_str(), near, far) {
            ("true", ..) => true,
            ("false", ..) | (_, true, Some(false) | None) => false,
            (_, true, Some(true)) => true,
            (_, false, _) => !stale,
        };
        if !commits && far.is_none() {
            let undone = format!("SELECT prony_pair.undone('{gid}')");
            said(&mut *session, primary, "write down that a transaction is undone", &undone)?;
        }
        let what = format!("{} PREPARED '{gid}'", if commits { "COMMIT" } else { "ROLLBACK" });
        let doing = "end what is in doubt";
        if near {
            said(&mut *session, primary, doing, &what)?;
        }
        match far {
            Some(true) => said(&mut *self.hand(mirror, &doubt.database)?, mirror, doing, &what),
            _ => Ok(()),
        }
    }

    /// What a lost primary may have acknowledged is committed, and sequences go on behind what is there.
    pub(crate) fn takes_on(&mut self, node: Node) -> Result<(), MirrorError> {
        let doing = "commit what was prepared";
        for doubt in self.doubts(node)? {
            self.parts(node, &doubt)?;
            let (mut session, gid) = (self.hand(node, &doubt.database)?, &doubt.gid);
            let verdict = format!("INSERT INTO prony_pair.verdict VALUES ('{gid}', true) ON CONFLICT DO NOTHING");
            [verdict, format!("COMMIT PREPARED '{gid}'")]
                .iter()
                .try_for_each(|sql| said(&mut *session, node, doing, sql))?;
        }
        self.everywhere(node, doing, "SELECT prony_pair.lift()")
    }
}
