//! Two private servers in the folder of a pair.

use crate::nodes::{Nodes, Settings};
use crate::{Home, Kind, MirrorError};
use database::server::mariadb::{self, Garbd, Group};
use database::server::{Behind, Member, Shared, own_network, parted, postgres};
use database::{DatabaseError, Session};
use pair::Node;
use probe::Quota;
use recorder::{Clock as _, WallClock};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use study::TierFolder;
use units::Nanos;

/// Who lets nobody in for so long is silent, and is not asked again for a while.
const SILENT: Nanos = Nanos::from_secs(1);
const QUIET: Nanos = Nanos::from_secs(5);

/// The servers of a pair.
pub struct Servers {
    servers: [Box<dyn Member>; 2],
    /// The third voter of nodes that Galera joins; none for others.
    garbd: Option<Garbd>,
    stop: Arc<AtomicBool>,
    cores: Option<[f64; 2]>,
    clock: WallClock,
    /// Nodes that let nobody in for as long as is waited: their process, until when they are not asked again, and what was said.
    silent: [Option<(u32, Nanos, String)>; 2],
    say: Box<dyn FnMut(&str)>,
}

impl Servers {
    /// Those in this folder, whether they run or not; with cores for each, and where each lies if not there.
    ///
    /// # Errors
    /// When their engine is not installed.
    pub fn of(
        home: &Home,
        kind: Kind,
        (cores, places): (Option<[f64; 2]>, Option<[TierFolder; 2]>),
        stop: &Arc<AtomicBool>,
        say: impl FnMut(&str) + 'static,
    ) -> Result<Servers, MirrorError> {
        let server = |node: Node| -> Result<Box<dyn Member>, DatabaseError> {
            let folder = home.folder().join(node.to_string());
            let place = places.as_ref().map(|places| &places[node as usize]);
            Ok(match kind {
                Kind::Sets => Box::new(mariadb::Server::at(&folder, stop.clone())?),
                Kind::Log | Kind::Rows => Box::new(postgres::Server::at(&folder, stop.clone())?.lying_on(place)),
            })
        };
        let servers = [server(Node::A)?, server(Node::B)?];
        let garbd = (kind == Kind::Sets).then(|| Garbd::at(&home.folder().join("voter")));
        Ok(Servers {
            servers,
            garbd,
            stop: stop.clone(),
            cores,
            clock: WallClock::new(),
            silent: [None, None],
            say: Box::new(say),
        })
    }

    /// The address of a node, as commands take it.
    pub fn url(&self, node: Node) -> String {
        self.at(node).url()
    }

    /// Its folder.
    pub fn folder(&self, node: Node) -> PathBuf {
        self.at(node).folder().to_owned()
    }

    /// Its first process.
    pub fn process(&self, node: Node) -> Option<u32> {
        self.at(node).first_process()
    }

    /// Cores that it may use; none where it shares those of the machine.
    pub fn cores(&self, node: Node) -> Option<f64> {
        Quota::of(self.at(node).folder()).and_then(|quota| quota.cores())
    }

    /// The network that is a node's own; none where it shares that of the machine, or does not run.
    pub fn network(&self, node: Node) -> Option<String> {
        self.process(node).and_then(own_network)
    }

    /// Whether both have a network of their own each.
    ///
    /// # Errors
    /// Why they have not.
    pub fn parted(&self) -> Result<(), Shared> {
        if self.garbd.is_some() { Err(Shared::Ports) } else { parted(Node::ALL.map(|node| self.process(node))) }
    }

    /// Removes both, with what they have elsewhere.
    ///
    /// # Errors
    /// When a file stays.
    pub fn removed(&self) -> Result<(), MirrorError> {
        Ok(self.servers.iter().try_for_each(|server| server.removed())?)
    }

    /// Ends both and takes their control groups away.
    pub fn released(&self) {
        self.servers.iter().filter_map(|server| Quota::of(server.folder())).for_each(|quota| quota.remove());
    }

    fn at(&self, node: Node) -> &dyn Member {
        &*self.servers[node as usize]
    }

    /// The process of the third voter, when it runs.
    pub fn voter_process(&self) -> Option<u32> {
        self.garbd.as_ref()?.process()
    }

    /// Whether somebody wants an end.
    pub fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Takes down that a node let somebody in, or did not within that time. One that is silent is told once.
    fn hears(&mut self, node: Node, waited: Option<Nanos>) {
        let silent = waited.filter(|waited| *waited >= SILENT && !self.is_stopped()).zip(self.process(node));
        let Some((waited, process)) = silent else {
            self.silent[node as usize] = self.silent[node as usize].take().filter(|_| waited.is_some());
            return;
        };
        let text = format!("it did not answer within {}", units::duration(waited));
        if self.silent[node as usize].as_ref().is_none_or(|(before, ..)| *before != process) {
            (self.say)(&format!(
                "node {node} did not answer within {}, though its process {process} is there; `kill -9 {process}` ends it, where it is to go",
                units::duration(waited)
            ));
        }
        self.silent[node as usize] = Some((process, self.clock.now() + QUIET, text));
    }

    /// Holds a node that was started to its cores.
    fn limit(&mut self, node: Node) {
        let (Some(cores), Some(process)) = (self.cores, self.process(node)) else { return };
        let limited = Quota::of(self.at(node).folder()).map(|quota| quota.set(cores[node as usize], process));
        if !matches!(limited, Some(Ok(()))) {
            let why = limited.and_then(Result::err).map(|error| format!(": {error}")).unwrap_or_default();
            (self.say)(&format!(
                "node {node} is not held to its cores, no control group for the processor can be made{why}"
            ));
        }
    }
}

impl Nodes for Servers {
    fn now(&self) -> Nanos {
        Nanos((self.clock.unix_start_ns().max(0) as u64).saturating_add(self.clock.now().0))
    }

    fn pass(&mut self, time: Nanos) {
        std::thread::sleep(Duration::from_nanos(time.0));
    }

    fn say(&mut self, text: &str) {
        (self.say)(text);
    }

    fn voter(&mut self, group: Option<&Group>) -> Result<(), MirrorError> {
        let Some(garbd) = &self.garbd else { return Ok(()) };
        Ok(group.map_or_else(|| garbd.end(), |group| garbd.start(group))?)
    }

    fn session(&mut self, node: Node, database: &str) -> Result<Box<dyn Session>, MirrorError> {
        // Whatever is waited for is asked about again and again.
        if self.stop.load(Ordering::Relaxed) {
            return Err(DatabaseError::Stopped.into());
        }
        if let Some((process, until, text)) = &self.silent[node as usize]
            && *until > self.clock.now()
            && self.process(node) == Some(*process)
        {
            return Err(DatabaseError::Refused { place: format!("node {node}"), text: text.clone() }.into());
        }
        let began = self.clock.now();
        let entered = self.at(node).session(database);
        let took = self.clock.now().saturating_sub(began);
        self.hears(node, entered.is_err().then_some(took));
        Ok(entered?)
    }

    fn has_data(&self, node: Node) -> bool {
        self.at(node).has_data()
    }

    fn serve(&mut self, node: Node, settings: &Settings, stands_by: bool) -> Result<(), MirrorError> {
        self.at(node).serve(settings, stands_by)?;
        self.limit(node);
        Ok(())
    }

    fn told(&mut self, node: Node, settings: &Settings, answers: bool) -> Result<(), MirrorError> {
        Ok(self.at(node).told(settings, answers)?)
    }

    fn unoccupied(&self, node: Node) -> Result<(), MirrorError> {
        Ok(self.at(node).unoccupied()?)
    }

    fn end(&mut self, node: Node) -> Result<(), MirrorError> {
        Ok(self.at(node).ended()?)
    }

    fn bar(&mut self, node: Node, stands_by: bool) -> Result<(), MirrorError> {
        Ok(self.at(node).barred(stands_by)?)
    }

    fn copy(&mut self, node: Node, via: Option<&str>, slot: &str) -> Result<(), MirrorError> {
        let source = self.reached_by(node.other(), via, if slot.is_empty() { "prony_copy" } else { slot });
        Ok(self.at(node).copied_from(&source, slot)?)
    }

    fn back(&mut self, node: Node) -> Result<(), MirrorError> {
        let source = self.at(node.other()).reached_by(None, "prony_back");
        Ok(self.at(node).back_to(&source)?)
    }

    fn closed_at(&mut self, node: Node) -> Result<Option<String>, MirrorError> {
        Ok(self.at(node).closed_at()?)
    }

    fn log_behind(&mut self, node: Node, from: u64) -> Result<Option<Behind>, MirrorError> {
        Ok(self.at(node).log_behind(from)?)
    }

    fn remove(&mut self, node: Node) -> Result<(), MirrorError> {
        self.at(node).barred(false)?;
        Ok(self.at(node).removed()?)
    }

    fn reached_by(&self, node: Node, via: Option<&str>, name: &str) -> String {
        self.at(node).reached_by(link(node, via).as_deref(), name)
    }
}

/// The folder of the socket that leads to a node.
fn link(node: Node, via: Option<&str>) -> Option<String> {
    via.map(|folder| format!("{folder}/{node}"))
}
