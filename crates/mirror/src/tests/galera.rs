//! Pairs that Galera joins on a cluster that only counts votes: nobody goes on without a majority, what is told is so, and nothing that was
//! acknowledged is lost where a vote decides.

use super::ASKED;
use super::cluster::Cluster;
use crate::home::Asked;
use crate::nodes::Nodes as _;
use crate::{Home, Kind, MirrorError, Pair};
use database::server::mariadb::{Group, Ports};
use pair::{Node, Reason, State};
use random::Draws;
use std::io::Write as _;
use study::Voter;
use units::Nanos;

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

    /// What a look tells is so.
    fn is_told_truly(&self) {
        let mut pair = self.open();
        if pair.look().is_err() {
            return;
        }
        self.cluster.with(|inner| inner.accepted = false);
        let (state, mirror) = (pair.life().state(), pair.life().mirror());
        let seen = pair.seen().expect("both were looked at");
        let joined = self.cluster.with(|inner| inner.nodes.iter().all(|one| one.up && one.primary));
        assert!(state != State::Replicating || joined, "replicating, and apart: {:#?}", self.done());
        let alone = matches!(state, State::Tracking(..) | State::CopyNeeded(_));
        assert!(
            !alone || !seen.nodes[mirror as usize].writes,
            "the mirror is behind, and takes writes: {:#?}",
            self.done()
        );
        let blocked = matches!(state, State::Unserved(_));
        assert!(!blocked || seen.nodes.iter().all(|node| !node.writes), "blocked, and written on: {:#?}", self.done());
    }

    fn is_brought_back(&self, after: &str) {
        self.cluster.with(|inner| inner.left = usize::MAX);
        for _ in 0..5 {
            // Who is lost is seen by then.
            self.cluster.clone().pass(Nanos::from_secs(20));
            let mut pair = self.comes_up().unwrap_or_else(|error| panic!("{after}: {error}: {:#?}", self.done()));
            if pair.life().state() == State::Replicating {
                break;
            }
            let _ = pair.heal();
            let _ = pair.resume(false);
        }
        let state = self.open().life().state();
        assert_eq!(state, State::Replicating, "{after}: {:#?}", self.done());
        let equal = self.cluster.with(|inner| inner.nodes[0].log == inner.nodes[1].log);
        assert!(equal && self.kept(Node::A), "{after}: {:#?}", self.done());
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

#[test]
fn a_look_that_was_ended_before_the_voter_decided_leaves_that_to_the_next_one() {
    for seed in 0..50 {
        let Some(joined) = Joined::up(Voter::Garbd, seed) else { return };
        joined.kill(Node::A);
        let mut pair = joined.open();
        pair.happened(pair::Event::Lost(Node::A)).expect("it is written down");
        drop(pair);
        // What is seen, and what votes bring about.
        (0..2).for_each(|_| joined.cluster.clone().pass(Nanos::from_secs(20)));
        joined.open().look().unwrap_or_else(|error| panic!("seed {seed}: {error}: {:#?}", joined.done()));
        assert_eq!(joined.open().life().primary(), Node::B, "seed {seed}: {:#?}", joined.done());
    }
}

#[test]
fn a_primary_that_was_taken_off_the_wire_by_hand_is_not_founded_anew_beside_the_one_that_goes_on_with_the_voter() {
    for seed in 0..200 {
        let Some(joined) = Joined::up(Voter::Garbd, seed) else { return };
        joined.cluster.with(|inner| inner.isolates(0, true));
        // Sometimes before anybody has seen that, and before votes are counted.
        joined.cluster.clone().pass(Nanos::from_millis(seed % 5 * 3000));
        joined.open().look().unwrap_or_else(|error| panic!("seed {seed}: {error}: {:#?}", joined.done()));
        joined.cluster.clone().pass(Nanos::from_secs(20));
        joined.is_told_truly();
        let life = joined.open().life().clone();
        assert!(matches!(life.state(), State::Tracking(Reason::TakenOver, _)), "seed {seed}: {:#?}", joined.done());
        assert!(life.primary() == Node::B && joined.kept(Node::B), "seed {seed}: {:#?}", joined.done());
        assert!(!joined.done().iter().any(|one| one.contains("pc.bootstrap")), "seed {seed}: {:#?}", joined.done());
        joined.is_brought_back(&format!("seed {seed}"));
    }
}

#[test]
fn a_primary_that_was_taken_off_the_wire_by_hand_goes_on_alone_when_the_other_is_gone_too() {
    for seed in 0..50 {
        let Some(joined) = Joined::up(Voter::Garbd, seed) else { return };
        joined.cluster.with(|inner| inner.isolates(0, true));
        joined.kill(Node::B);
        // Whoever takes that over accepts what the other one had acknowledged.
        joined.cluster.with(|inner| inner.accepted = true);
        joined.open().look().unwrap_or_else(|error| panic!("seed {seed}: {error}: {:#?}", joined.done()));
        let life = joined.open().life().clone();
        assert!(matches!(life.state(), State::Tracking(Reason::MirrorLost, _)), "seed {seed}: {:#?}", joined.done());
        assert!(joined.done().iter().any(|one| one.contains("pc.bootstrap")), "seed {seed}: {:#?}", joined.done());
        joined.is_told_truly();
    }
}

#[test]
fn in_hundreds_of_lives_no_two_nodes_go_on_apart_and_what_a_vote_decided_is_kept() {
    // Those behind the first ones once found something.
    for seed in (0..150).chain([279, 728, 741, 1501, 2931, 3080]) {
        let voter = Voter::ALL[(seed % 3) as usize];
        let Some(joined) = Joined::up(voter, seed) else { return };
        let mut draws = Draws::named(seed, &[1]);
        for _ in 0..8 {
            let node = if draws.chance(0.5) { Node::A } else { Node::B };
            // Half of all commands come to their end.
            let steps = if draws.chance(0.5) { usize::MAX } else { draws.below(80) as usize };
            let what = draws.below(10);
            joined.cluster.with(|inner| {
                inner.left = steps;
                inner.done.push(format!("== {what} on {node}, killed after {steps} steps"));
            });
            // What is refused, and what is cut off, is part of a life.
            let _ = match what {
                0 | 1 => {
                    joined.kill(node);
                    Ok(())
                }
                2 => joined.open().suspend(),
                3 | 4 => joined.open().resume(false),
                5 => {
                    joined.cluster.with(|inner| inner.voter = false);
                    Ok(())
                }
                6 => {
                    let accepts = draws.chance(0.5);
                    joined.cluster.with(|inner| inner.accepted |= accepts);
                    joined.open().take_over(accepts)
                }
                7 => joined.open().cut(),
                8 => joined.open().heal(),
                _ => joined.comes_up().map(drop),
            };
            joined.cluster.with(|inner| inner.left = usize::MAX);
            joined.is_told_truly();
        }
        joined.is_brought_back(&format!("seed {seed}, {voter:?}"));
    }
}
