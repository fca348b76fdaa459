//! A second private MariaDB that Galera joins to a first one, so that both take writes.
//!
//! The one idea: outside of trials there is one server without Galera. For a trial it is started as the first node of a pair, which
//! copies itself to an empty second one; behind the trial the second ends, and the first is what it was.
//!
//! What it does not do: it carries nothing between both: the second reaches the first by the wire that it is given. A copy, and what
//! one sends the other that was away, go past that.

use super::group::{Group, MARK, Ports, library};
use super::voter::Garbd;
use super::{Mariadb, Server};
use crate::server::kind::ServerKind as _;
use crate::server::{Look, Mirror, Private as _, Shared, Watch, folder, life, process};
use crate::{DatabaseError, Failure, Session};
use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use study::{Voter, Waits};
use units::Nanos;
use workload::transaction::Value;

/// What stands in the command line of whoever holds a second server.
const PROGRAM: &str = "prony";

/// How long both may take to have all of each other.
const CATCH_UP_SECONDS: u64 = 600;

/// How long a server may take to see that the other is gone.
const ALONE_SECONDS: u64 = 60;

/// The state of a node that has all.
const SYNCED: u64 = 4;

/// How far in the order of all changes a node has come.
const COMMITTED: &str = "wsrep_last_committed";

/// How many members a node sees, voters among them; and the addresses of those that are servers.
const SIZE: &str = "wsrep_cluster_size";
const SERVERS: &str = "wsrep_incoming_addresses";

/// Whether it may go on, and the word that says so.
const STANDING: &str = "wsrep_cluster_status";
const PRIMARY: &str = "Primary";

/// What both nodes count of conflicts: those that were found when a change had its place in the order, and transactions that were
/// aborted for a change of the other node.
const CONFLICTS: [&str; 2] = ["wsrep_local_cert_failures", "wsrep_local_bf_aborts"];

/// Where Galera keeps the place of files in the order of all changes.
pub(super) const PLACE: &str = "grastate.dat";

/// Files of Galera's in the data of a server.
const FILES: [&str; 5] = [PLACE, "gvwstate.dat", "galera.cache", "wsrep_sst.pid", "tables_flushed"];

/// Two servers that Galera joins.
#[derive(Debug)]
pub struct Galera {
    nodes: [Server; 2],
    voter: Voter,
    garbd: Garbd,
    ports: OnceLock<Ports>,
    /// Nanoseconds after which a silent node is given up; 0 is Galera's own choice.
    patience: AtomicU64,
}

/// A session on a server that looks at the other one.
struct Watcher {
    session: Box<dyn Session>,
    pair: Galera,
    /// The server that it looks from.
    from: usize,
    /// What the pair had sent when the other one was lost.
    since: Option<u64>,
    /// Whether the other one had not all at the last look.
    catches_up: bool,
}

impl Server {
    /// This server and the one that may be joined to it.
    pub fn galera(&self, voter: Voter) -> Galera {
        let second = Server { folder: folder::beside(&self.folder, "mirror"), ..self.clone() };
        let garbd = Garbd::of(folder::beside(&self.folder, "voter"), self.owner.clone());
        Galera { nodes: [self.clone(), second], voter, garbd, ports: OnceLock::new(), patience: AtomicU64::new(0) }
    }

    /// Where sessions of the server that may be joined to this one come in.
    pub(crate) fn second_socket(&self) -> PathBuf {
        Mariadb::socket(&folder::beside(&self.folder, "mirror"))
    }

    /// The configuration as it is without Galera.
    fn plain(&self) -> String {
        let conf = folder::read(&self.conf()).unwrap_or_default();
        conf.split(MARK).next().unwrap_or_default().to_owned()
    }

    /// At which place in the order the files of a server stand that ended, as `GROUP:NUMBER`; what a crash left half done is ended.
    pub(super) fn position(&self) -> Result<Option<String>, DatabaseError> {
        let mut command = self.owner.command(&self.kind.server);
        command.arg(self.mark()).arg("--wsrep-recover");
        let said = process::output(command, &self.stop)?;
        let said = [said.stdout, said.stderr].concat();
        let said = String::from_utf8_lossy(&said).into_owned();
        Ok(said.rsplit_once("Recovered position: ").and_then(|(_, at)| at.lines().next()).map(str::to_owned))
    }

    /// The line of a configuration that has a server start at its place.
    pub(super) fn starts_at(&self) -> Result<String, DatabaseError> {
        Ok(self.position()?.map(|at| format!("wsrep_start_position={at}\n")).unwrap_or_default())
    }

    /// Removes what Galera keeps in its data, so that it has no place in any order. What copies outlives a node that was killed, and
    /// would keep the next one from it.
    pub(super) fn forgets_group(&self) -> Result<(), DatabaseError> {
        let data = self.data().display().to_string();
        ["wsrep_sst", "rsync"].iter().for_each(|program| process::end_all(&[program, &data]));
        FILES.iter().try_for_each(|file| folder::gone(&self.data().join(file)))
    }

    /// Ends it, does something to its files, and starts it with this configuration.
    fn anew(&self, conf: &str, work: impl FnOnce() -> Result<(), DatabaseError>) -> Result<(), DatabaseError> {
        self.stopped(|| {
            folder::write(&self.conf(), conf)?;
            work()
        })
    }
}

impl Galera {
    fn ports(&self) -> Result<Ports, DatabaseError> {
        match self.ports.get() {
            Some(ports) => Ok(*ports),
            None => Ports::free().map(|ports| *self.ports.get_or_init(|| ports)),
        }
    }

    fn group(&self) -> Result<Group, DatabaseError> {
        let patience = Some(Nanos(self.patience.load(Ordering::Relaxed))).filter(|patience| *patience > Nanos::ZERO);
        Ok(Group { ports: self.ports()?, voter: self.voter, patience, cache: None })
    }

    /// The configuration of a node that finds the other one there, or founds the pair where nothing is said.
    fn conf(&self, node: usize, plain: &str, other: Option<u16>) -> Result<String, DatabaseError> {
        let lines = self.group()?.node(node, node == 0, other)?;
        let lines: String = lines.iter().map(|(key, value)| format!("{key}={value}\n")).collect();
        Ok(format!("{plain}{MARK}{lines}"))
    }

    /// Starts the third voter, where there is one, and waits until it has its vote.
    fn votes(&self) -> Result<(), DatabaseError> {
        if self.voter != Voter::Garbd {
            return Ok(());
        }
        self.garbd.start(&self.group()?)?;
        let mut first = self.nodes[0].entered()?;
        self.until("see the voter", || Ok(self.status(&mut *first, SIZE)? == 3))
    }

    /// The second server's configuration without Galera: that of the first in another folder.
    fn second_plain(&self) -> String {
        let [first, second] = self.nodes.each_ref().map(|node| node.folder.display().to_string());
        self.nodes[0].plain().replace(&first, &second)
    }

    fn failed(&self, failure: Failure) -> DatabaseError {
        DatabaseError::statement(&self.nodes[0].shown(), "see to its second server", failure)
    }

    /// A word of a server's status.
    fn word(&self, session: &mut dyn Session, name: &str) -> Result<String, DatabaseError> {
        let rows =
            session.query(&format!("SHOW GLOBAL STATUS LIKE '{name}'")).map_err(|failure| self.failed(failure))?;
        Ok(rows.first().and_then(|row| row.get(1)).and_then(Value::text).unwrap_or_default().to_owned())
    }

    /// A number of a server's status; 0 where it has none.
    fn status(&self, session: &mut dyn Session, name: &str) -> Result<u64, DatabaseError> {
        Ok(self.word(session, name)?.parse().unwrap_or(0))
    }

    /// How many servers a server sees.
    fn servers(&self, session: &mut dyn Session) -> Result<usize, DatabaseError> {
        Ok(self.word(session, SERVERS)?.split(',').filter(|address| !address.is_empty()).count())
    }

    /// Has the first or the second server go on without the other: by itself, where votes give it the majority; else because it is told
    /// to, once it sees that it is alone. The majority is waited for, however late it comes on a busy machine: who is told to go on
    /// throws away what the other one got ordered, and may have acknowledged.
    fn goes_on(&self, node: usize, session: &mut dyn Session) -> Result<(), DatabaseError> {
        let has_majority = self.voter == Voter::Garbd || (self.voter == Voter::Weight && node == 0);
        let mut alone = false;
        for _ in 0..ALONE_SECONDS * process::LOOKS_A_SECOND {
            alone = self.servers(session)? < 2;
            if alone && self.word(session, STANDING)? == PRIMARY {
                return Ok(());
            }
            if alone && !has_majority {
                let order = "SET GLOBAL wsrep_provider_options = 'pc.bootstrap=YES'";
                return session.script(order).map_err(|failure| self.failed(failure));
            }
            std::thread::sleep(process::LOOK);
        }
        let what = if alone { "had no majority by its votes" } else { "did not see that the other one is gone" };
        Err(self.nodes[node].says(format!("the server that is left {what} within {ALONE_SECONDS} s")))
    }

    /// Starts a node that finds the other one there, at the place in the order where its files stand.
    fn join(&self, node: usize, plain: &str, other: u16) -> Result<(), DatabaseError> {
        let (server, mut conf) = (&self.nodes[node], self.conf(node, plain, Some(other))?);
        folder::ours(&server.folder, &server.owner)?;
        folder::given(&life::run(&server.folder), &server.owner)?;
        folder::given(&server.data(), &server.owner)?;
        if server.data().join(PLACE).exists() {
            folder::write(&server.conf(), &conf)?;
            conf.push_str(&server.starts_at()?);
        }
        self.while_it_lives(1 - node, server, || server.anew(&conf, || Ok(())))
    }

    /// Starts a server that waits for what another one sends, and ends it when there is nobody any more.
    fn while_it_lives(
        &self,
        other: usize,
        server: &Server,
        start: impl FnOnce() -> Result<(), DatabaseError>,
    ) -> Result<(), DatabaseError> {
        let (other, done) = (&self.nodes[other], AtomicBool::new(false));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    if other.pid().is_none() && server.process().is_some() {
                        // Whether anybody of it stayed is seen, and said, when it is started again.
                        let _ = server.end_at_once();
                    }
                    std::thread::sleep(process::LOOK);
                }
            });
            let started = start();
            done.store(true, Ordering::Relaxed);
            started
        })
    }

    /// Waits until both are one pair and have all of each other.
    fn joined(&self) -> Result<(), DatabaseError> {
        let [mut first, mut second] = [self.nodes[0].entered()?, self.nodes[1].entered()?];
        self.until("have what the other one has", || {
            let of = |session: &mut Box<dyn Session>, name| self.status(&mut **session, name);
            let synced = [&mut first, &mut second].map(|session| of(session, "wsrep_local_state"));
            let [first, second] = [&mut first, &mut second].map(|session| of(session, COMMITTED));
            Ok(synced.into_iter().all(|state| state.is_ok_and(|state| state == SYNCED)) && first? == second?)
        })
    }

    /// Waits until something is so.
    fn until(&self, what: &str, is_so: impl FnMut() -> Result<bool, DatabaseError>) -> Result<(), DatabaseError> {
        self.nodes[0].until(CATCH_UP_SECONDS, &format!("a node of the pair did not {what}"), is_so)
    }

    /// The file that says which Prony has a pair here.
    fn holder(&self) -> PathBuf {
        self.nodes[1].folder.join("holder")
    }

    /// Ends what a run that was killed left here. What a run that goes on has here is left alone.
    ///
    /// # Errors
    /// When the second server does not end, or a file of it stays.
    pub fn alone(&self) -> Result<(), DatabaseError> {
        match process::number(&self.holder()) {
            Some(holder) if !process::runs(holder, PROGRAM) => {
                self.garbd.remove()?;
                self.nodes[1].forgets_group()?;
                self.nodes[1].remove().map(drop)
            }
            _ => Ok(()),
        }
    }
}

impl Watch for Watcher {
    fn look(&mut self) -> Result<Look, DatabaseError> {
        let (pair, session) = (&self.pair, &mut *self.session);
        let written = pair.status(session, COMMITTED)?;
        let together = pair.servers(session)? == 2;
        let alone = !together && pair.word(session, STANDING)? == PRIMARY;
        let sent = pair.status(session, "wsrep_replicated_bytes")?;
        let kept = if together { 0 } else { sent - *self.since.get_or_insert(sent) };
        self.since = self.since.filter(|_| !together);
        let level = || pair.status(&mut *pair.nodes[1].entered()?, "wsrep_local_state");
        let streaming = together && self.from == 0 && (!self.catches_up || level().is_ok_and(|state| state == SYNCED));
        self.catches_up = !streaming;
        Ok(Look { written, confirmed: together.then_some(written), streaming, kept, waiting: 0, alone })
    }

    fn take_over(&mut self) -> Result<(), DatabaseError> {
        let [first, second] = &self.pair.nodes;
        (self.session, self.from) = (second.entered()?, 1);
        self.pair.goes_on(1, &mut *self.session)?;
        life::stand_in(first, second)
    }

    fn swap(&mut self, _settings: &[(String, String)]) -> Result<(), DatabaseError> {
        Err(self.pair.nodes[0].says("both servers of the pair take writes: they have no roles to swap".to_owned()))
    }

    fn wait(&mut self, waits: bool) -> Result<(), DatabaseError> {
        if waits { Ok(()) } else { self.pair.goes_on(self.from, &mut *self.session) }
    }
}

impl Mirror for Galera {
    fn wires(&self) -> Result<Vec<[String; 2]>, DatabaseError> {
        let Ports { wire, nodes, .. } = self.ports()?;
        Ok(vec![[wire, nodes[0][0]].map(|port| format!("127.0.0.1:{port}"))])
    }

    fn begin(
        &self,
        _waits: Waits,
        _settings: &[(String, String)],
        patience: Option<Nanos>,
    ) -> Result<(), DatabaseError> {
        library()?;
        self.patience.store(patience.map_or(0, |patience| patience.0), Ordering::Relaxed);
        self.garbd.remove()?;
        let [first, second] = &self.nodes;
        self.nodes[1].forgets_group()?;
        second.remove()?;
        folder::ours(&second.folder, &second.owner)?;
        folder::write(&self.holder(), &std::process::id().to_string())?;
        first.anew(&self.conf(0, &first.plain(), None)?, || self.nodes[0].forgets_group())?;
        self.join(1, &self.second_plain(), self.ports()?.wire)?;
        self.joined()?;
        self.votes()
    }

    fn gathered(&self) -> Result<(), DatabaseError> {
        // One that is away has committed nothing that the other lacks.
        let (Ok(mut first), Ok(mut second)) = (self.nodes[0].entered(), self.nodes[1].entered()) else { return Ok(()) };
        let written = self.status(&mut *second, COMMITTED)?;
        self.until("show what the other one committed", || Ok(self.status(&mut *first, COMMITTED)? >= written))
    }

    fn level(&self) -> Result<String, DatabaseError> {
        self.joined()?;
        let mut told = Vec::new();
        for (node, name) in self.nodes.iter().zip(["first", "second"]) {
            let mut session = node.entered()?;
            let [refused, aborted] = CONFLICTS.map(|counter| self.status(&mut *session, counter));
            let paused = self.status(&mut *session, "wsrep_flow_control_paused_ns")?;
            told.push(format!(
                "the {name} server refused {} at their commit and aborted {} before it, for changes of the other, and its writers were held \
                 for {} until appliers came after",
                units::counted(refused?, "transactions"),
                units::counted(aborted?, "transactions"),
                units::duration(Nanos(paused))
            ));
        }
        Ok(told.join("; "))
    }

    /// Rows are counted and their checksums added up, whatever their order.
    fn content(&self, table: &str) -> String {
        format!("CHECKSUM TABLE {table} EXTENDED")
    }

    fn pid(&self) -> Option<u32> {
        self.nodes[1].pid()
    }

    fn parted(&self) -> Result<(), Shared> {
        Err(Shared::Ports)
    }

    fn reader(&self) -> Result<Box<dyn Session>, DatabaseError> {
        self.nodes[1].entered()
    }

    fn start(&self, _settings: &[(String, String)]) -> Result<(), DatabaseError> {
        match self.pid() {
            Some(_) => Ok(()),
            None => self.join(1, &self.second_plain(), self.ports()?.wire),
        }
    }

    fn stop(&self) -> Result<(), DatabaseError> {
        self.nodes[1].down().map(drop)
    }

    fn kill(&self) -> Result<(), DatabaseError> {
        self.nodes[1].kill()
    }

    fn kill_primary(&self) -> Result<(), DatabaseError> {
        self.nodes[0].kill()
    }

    fn watch(&self, _waits: Waits) -> Result<Box<dyn Watch>, DatabaseError> {
        let pair = Galera { ports: self.ports.clone(), ..self.nodes[0].galera(self.voter) };
        Ok(Box::new(Watcher { session: self.nodes[0].entered()?, pair, from: 0, since: None, catches_up: false }))
    }

    fn released(&self) -> Result<(), DatabaseError> {
        self.goes_on(0, &mut *self.nodes[0].entered()?)
    }

    /// Who leaves in order takes its vote along, so that the first goes on.
    fn leave(&self) -> Result<(), DatabaseError> {
        self.stop()?;
        self.garbd.remove()
    }

    /// It is started anew as it is for a trial with both, so that either finds the same buffers.
    fn stand_alone(&self) -> Result<(), DatabaseError> {
        self.leave()?;
        let first = &self.nodes[0];
        first.anew(&first.plain(), || self.nodes[0].forgets_group())
    }

    /// The first comes back as the second did, with what it missed.
    fn come_back(&self) -> Result<bool, DatabaseError> {
        let first = &self.nodes[0];
        folder::gone(&Mariadb::socket(&first.folder))?;
        self.join(0, &first.plain(), self.ports()?.nodes[1][0])?;
        Ok(true)
    }

    fn forget(&self) -> Result<(), DatabaseError> {
        self.garbd.remove()?;
        self.nodes[1].forgets_group()?;
        self.nodes[1].remove()?;
        let first = &self.nodes[0];
        let paired = folder::read(&first.conf()).is_some_and(|conf| conf.contains(MARK));
        if paired { first.anew(&first.plain(), || self.nodes[0].forgets_group()) } else { Ok(()) }
    }
}
