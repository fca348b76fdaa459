//! Pairs that Galera joins on a cluster that only counts votes.

use super::ASKED;
use super::cluster::Cluster;
use crate::home::Asked;
use crate::{Home, Kind, MirrorError, Pair};
use database::server::mariadb::{Group, Ports};
use pair::{Node, Reason, State};
use std::io::Write as _;
use study::Voter;

struct Joined {
    folder: tempfile::TempDir,
    cluster: Cluster,
    asked: Asked,
}

impl Joined {
    /// One that replicates; none, said, where the library is not installed of which settings name the place.
    fn up(voter: Voter, seed: u64) -> Option<Joined> {
        let ports = Ports::of(&[1, 2, 3, 4, 5, 6, 7, 8]).expect("eight of them");
        if (Group { ports, voter, patience: None, cache: None }).node(0, true, None).is_err() {
            std::io::stderr().write_all(b"skipped: no package galera-4\n").expect("a place for it");
            return None;
        }
        let memory = std::path::Path::new("/dev/shm");
        let folder = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() };
        let asked = Asked { kind: Kind::Sets, voter, ..ASKED };
        let joined = Joined { folder: folder.expect("a folder"), cluster: Cluster::new(seed), asked };
        let pair = joined.comes_up().expect("it comes up");
        assert_eq!(pair.life().state(), State::Replicating);
        Some(joined)
    }

    fn home(&self) -> Home {
        Home::make(&self.folder.path().join("pair")).expect("ours, or not there yet")
    }

    fn comes_up(&self) -> Result<Pair<Cluster>, MirrorError> {
        Pair::up(self.home(), self.cluster.clone(), &self.asked)
    }

    fn open(&self) -> Pair<Cluster> {
        Pair::open(self.home(), self.cluster.clone()).expect("it was begun")
    }

    fn kill(&self, node: Node) {
        self.cluster.with(|inner| inner.kill(node as usize));
    }

    fn kept(&self, node: Node) -> bool {
        self.cluster.with(|inner| inner.acknowledged.iter().all(|id| inner.nodes[node as usize].log.contains(id)))
    }

    fn done(&self) -> Vec<String> {
        self.cluster.with(|inner| inner.done.clone())
    }
}

#[test]
fn a_primary_with_two_votes_is_not_told_to_go_on_before_they_are_counted() {
    for seed in 0..200 {
        let Some(joined) = Joined::up(Voter::Weight, seed) else { return };
        joined.kill(Node::B);
        let mut pair = joined.open();
        pair.look().expect("the primary answers");
        assert!(matches!(pair.life().state(), State::Tracking(Reason::MirrorLost, _)));
        assert!(joined.kept(Node::A), "seed {seed}: {:#?}", joined.done());
        assert!(!joined.done().iter().any(|one| one.contains("pc.bootstrap")), "seed {seed}: {:#?}", joined.done());
    }
}
