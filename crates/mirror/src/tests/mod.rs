//! Pairs on scripted nodes: what is done in which order, and what is left when a command is killed between any two steps.

mod cluster;
mod galera;
mod world;

use crate::home::Asked;
use crate::{Home, Kind, MirrorError, Pair};
use pair::{Node, Reason, Refusal, State};
use random::Draws;
use study::{Voter, Waits};
use world::World;

const ASKED: Asked = Asked {
    sync: Waits::Flushed,
    list_bytes: 64 << 20,
    cores: None,
    via: None,
    kind: Kind::Log,
    voter: Voter::None,
    left_out: Vec::new(),
    devices: None,
};

struct Scratch {
    folder: tempfile::TempDir,
    world: World,
}

impl Scratch {
    fn new() -> Scratch {
        // Records are brought to the disk, of which some have a thousand: in memory that costs nothing.
        let memory = std::path::Path::new("/dev/shm");
        let folder = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() };
        Scratch { folder: folder.expect("a folder"), world: World::default() }
    }

    fn home(&self) -> Home {
        Home::make(&self.folder.path().join("pair")).expect("an empty folder")
    }

    fn up(&self) -> Result<Pair<World>, MirrorError> {
        Pair::up(self.home(), self.world.clone(), &ASKED)
    }

    fn open(&self) -> Pair<World> {
        Pair::open(self.home(), self.world.clone()).expect("it was begun")
    }

    /// Whoever mends it has a pair again, which lost nothing.
    fn is_brought_back(&self, after: &str) {
        self.world.with(|inner| inner.left = usize::MAX);
        for _ in 0..4 {
            let mut pair = self.up().unwrap_or_else(|error| panic!("{after}: {error}: {:#?}", self.world.done()));
            if pair.life().state() == State::Replicating {
                break;
            }
            let _ = pair.heal();
            let _ = pair.resume(false);
        }
        let pair = self.open();
        assert_eq!(pair.life().state(), State::Replicating, "{after}: {:#?}", self.world.done());
        let (primary, mirror) = (pair.life().primary(), pair.life().mirror());
        assert!(self.world.follows(mirror) && self.world.serves(primary), "{after}: {:#?}", self.world.done());
        assert!(self.world.is_whole(), "{after}: {:#?}", self.world.done());
    }

    /// What is done meanwhile.
    fn done<T>(&self, work: impl FnOnce(&mut Pair<World>) -> T) -> (T, Vec<String>) {
        let mut pair = self.open();
        self.world.forget();
        let worked = work(&mut pair);
        (worked, self.world.done())
    }
}

fn place(done: &[String], what: &str) -> usize {
    done.iter().position(|one| one.contains(what)).unwrap_or_else(|| panic!("{what} was not done: {done:#?}"))
}

fn in_order(done: &[String], wanted: &[&str]) {
    let places: Vec<usize> = wanted.iter().map(|what| place(done, what)).collect();
    assert!(places.is_sorted(), "{wanted:?} stand at {places:?}: {done:#?}");
}

#[test]
fn a_new_mirror_is_filled_from_a_kept_log_and_compared_before_the_pair_counts_as_replicating() {
    let scratch = Scratch::new();
    let pair = scratch.up().expect("it comes up");
    assert_eq!(pair.life().state(), State::Replicating);
    in_order(
        &scratch.world.done(),
        &["a serves", "a asks pg_create_physical", "b copies", "b stands by", "a waits for b", "a asks SELECT datname"],
    );
    assert!(scratch.world.follows(Node::B));
}

#[test]
fn commits_stop_waiting_before_a_suspended_mirror_stops_to_follow_and_wait_again_only_when_it_has_all() {
    let scratch = Scratch::new();
    scratch.up().expect("it comes up");
    let (suspended, done) = scratch.done(Pair::suspend);
    suspended.expect("it may");
    in_order(&done, &["a asks pg_create_physical", "a waits for nobody", "b follows nobody"]);
    let (again, done) = scratch.done(Pair::suspend);
    assert!(again.is_ok() && !done.iter().any(|one| one.contains("waits")), "{done:?}");
    let (resumed, done) = scratch.done(|pair| pair.resume(false));
    resumed.expect("it may");
    in_order(&done, &["b follows a", "CASE WHEN r.flush_lsn", "a waits for b", "SELECT datname"]);
    assert!(!done.iter().any(|one| one.contains("copies") || one.contains("goes back")), "{done:?}");
}

#[test]
fn a_mirror_that_is_lost_is_waited_for_no_more_and_a_resume_says_who_is_away() {
    let scratch = Scratch::new();
    scratch.up().expect("it comes up");
    scratch.world.kill(Node::B);
    let (looked, done) = scratch.done(Pair::look);
    looked.expect("the primary answers");
    place(&done, "a waits for nobody");
    let mut pair = scratch.open();
    assert!(matches!(pair.life().state(), State::Tracking(Reason::MirrorLost, _)));
    assert!(matches!(pair.resume(false), Err(MirrorError::Refused(Refusal::Away(Node::B)))));
}

#[test]
fn a_take_over_bars_the_lost_primary_before_the_mirror_is_promoted_and_it_goes_back_before_it_follows() {
    let scratch = Scratch::new();
    scratch.up().expect("it comes up");
    assert!(matches!(scratch.open().take_over(true), Err(MirrorError::Refused(Refusal::Served(Node::A)))));
    scratch.world.kill(Node::A);
    // What was under way may be one that a client was told of.
    assert!(matches!(scratch.open().take_over(false), Err(MirrorError::Refused(Refusal::Commits(1)))));
    let (taken, done) = scratch.done(|pair| pair.take_over(true));
    taken.expect("it is accepted");
    in_order(
        &done,
        &["a is barred", "b asks SELECT pg_promote", "b asks pg_create_physical", "b writes", "CHECKPOINT"],
    );
    scratch.up().expect("the old primary starts");
    let (resumed, done) = scratch.done(|pair| pair.resume(false));
    resumed.expect("both answer");
    in_order(&done, &["b asks CHECKPOINT", "a goes back", "a stands by", "b waits for a"]);
}

#[test]
fn what_a_mirror_lacks_of_the_log_that_a_primary_left_is_counted_whatever_the_pair_promises() {
    let missing = |readable: bool, place: &'static str| {
        let scratch = Scratch::new();
        scratch.world.with(|inner| (inner.readable, inner.place) = (readable, place));
        scratch.up().expect("it comes up");
        scratch.world.kill_lowered(Node::A);
        scratch.open().look().expect("the mirror answers");
        let refused = scratch.open().take_over(false);
        assert!(
            matches!(refused, Err(MirrorError::Refused(_))),
            "a commit that a client was told of is lost: {refused:?}"
        );
        scratch.is_brought_back("the lost primary was started again");
        refused.expect_err("it was refused").to_string()
    };
    assert!(missing(true, "1").contains("in the log of the lost primary that the mirror lacks: 1,"));
    assert!(missing(false, "0").contains("nobody knows what the mirror lacks"), "the log cannot be read");
    assert!(missing(true, "2").contains("nobody knows what the mirror lacks"), "the log is shorter than it was seen");
}

#[test]
fn a_mirror_that_has_every_commit_in_the_log_of_a_lost_primary_takes_over_without_a_question() {
    let scratch = Scratch::new();
    scratch.up().expect("it comes up");
    // Nobody commits in the moment in which it is lost.
    scratch.world.with(|inner| inner.nodes[0].stops());
    let behind = |scratch: &Scratch| match scratch.open().life().state() {
        State::Unserved(behind) => behind.map(|behind| (behind.bytes, behind.objects)),
        state => panic!("{state:?}"),
    };
    scratch.open().look().expect("the mirror answers");
    assert_eq!(behind(&scratch), Some((0, Some(0))));
    scratch.open().take_over(false).expect("it has all");
    assert!(scratch.world.has_all(Node::B));
}

#[test]
fn roles_are_swapped_only_when_the_mirror_has_the_last_of_the_log() {
    let scratch = Scratch::new();
    scratch.up().expect("it comes up");
    let (swapped, done) = scratch.done(|pair| pair.swap(false));
    swapped.expect("it may");
    in_order(
        &done,
        &["a is read only", "a ends", "pg_last_wal_replay_lsn", "b asks SELECT pg_promote", "a stands by", "b writes"],
    );
    assert_eq!(scratch.open().life().primary(), Node::B);
    scratch.world.with(|inner| inner.drains = false);
    let (kept, done) = scratch.done(|pair| pair.swap(false));
    kept.expect("the roles stay, and that is said");
    assert!(done.iter().any(|one| one.contains("so that the roles stay")), "{done:?}");
    let pair = scratch.open();
    assert_eq!(pair.life().primary(), Node::B);
    assert!(matches!(pair.life().state(), State::Tracking(Reason::LinkCut, _)));
}

#[test]
fn a_list_that_is_lost_and_data_that_cannot_go_back_mean_a_copy_and_that_is_said() {
    let scratch = Scratch::new();
    scratch.up().expect("it comes up");
    scratch.open().suspend().expect("it may");
    scratch.world.with(|inner| inner.lost = true);
    scratch.open().look().expect("both answer");
    assert_eq!(scratch.open().life().state(), State::CopyNeeded(Reason::ListLost));
    let (resumed, done) = scratch.done(|pair| pair.resume(false));
    resumed.expect("both answer");
    in_order(&done, &["a asks pg_create_physical", "b copies", "a waits for b"]);
    scratch.world.kill(Node::A);
    scratch.open().take_over(true).expect("it is accepted");
    scratch.up().expect("the old primary starts");
    scratch.world.with(|inner| inner.back = false);
    let (resumed, done) = scratch.done(|pair| pair.resume(false));
    resumed.expect("both answer");
    in_order(&done, &["says node a cannot go back", "a copies"]);
}

#[test]
fn a_mirror_that_somebody_promoted_is_named_and_loses_its_writes_only_when_told_so() {
    let scratch = Scratch::new();
    scratch.up().expect("it comes up");
    scratch.world.with(|inner| inner.nodes[1].recovers = false);
    let mut pair = scratch.open();
    pair.look().expect("both answer");
    assert_eq!(pair.seen().expect("both answer").split, Some(Node::B));
    assert!(matches!(pair.resume(false), Err(MirrorError::Split(Node::B))));
    assert!(matches!(pair.swap(false), Err(MirrorError::Split(Node::B))));
    assert!(matches!(pair.check(), Err(MirrorError::Split(Node::B))), "it answers, and is no mirror");
    assert!(pair.seen().expect("both answer").nodes[1].writes, "what takes writes of its own is not told as read-only");
    let (resumed, done) = scratch.done(|pair| pair.resume(true));
    resumed.expect("it was told");
    in_order(&done, &["b is barred", "b goes back", "a waits for b"]);
    assert_eq!(scratch.open().life().state(), State::Replicating);
}

#[test]
fn what_a_check_found_is_kept_until_another_one_finds_both_equal_or_everything_is_copied() {
    let scratch = Scratch::new();
    scratch.up().expect("it comes up");
    let found = || scratch.open().seen().expect("both answer").record.checked.expect("they were compared");
    assert_eq!((found().tables, found().differ.len()), (0, 0), "the copy was compared");
    scratch.world.with(|inner| inner.rows = Some(["3", "4"]));
    assert!(!scratch.open().check().expect("both answer").equal());
    for _ in 0..2 {
        scratch.open().look().expect("both answer");
        let kept = found();
        assert!(kept.in_step && kept.tables == 1 && kept.at > units::Nanos::ZERO, "{kept:?}");
        let told: Vec<String> = kept.differ.iter().map(crate::differs).collect();
        assert_eq!(told, ["DIFFERS  db: public.t: 3 rows on node a, 4 rows on node b"]);
    }
    scratch.open().suspend().expect("it may");
    scratch.open().check().expect("both answer");
    assert!(!found().in_step && !found().differ.is_empty());
    scratch.world.with(|inner| inner.rows = Some(["4", "4"]));
    scratch.open().resume(false).expect("both answer");
    assert!(found().in_step && found().differ.is_empty(), "what was sent is compared");
    scratch.world.with(|inner| inner.rows = Some(["4", "5"]));
    scratch.open().check().expect("both answer");
    scratch.world.with(|inner| inner.nodes[1] = Default::default());
    scratch.open().look().expect("the primary answers");
    let pair = scratch.up().expect("it is filled anew");
    assert_eq!(pair.record.checked, None, "nobody compared since everything was copied");
}

#[test]
fn a_primary_whose_data_are_gone_is_not_made_anew_and_the_mirror_takes_over() {
    let scratch = Scratch::new();
    scratch.up().expect("it comes up");
    scratch.open().down().expect("both end");
    scratch.world.with(|inner| inner.nodes[0] = Default::default());
    for _ in 0..2 {
        assert!(matches!(scratch.up(), Err(MirrorError::Gone(Node::A, true))));
    }
    assert!(!scratch.world.done().iter().any(|one| one.contains("b is removed")), "{:#?}", scratch.world.done());
    let refused = scratch.open().take_over(false);
    assert!(matches!(refused, Err(MirrorError::Refused(Refusal::MayBeMissing))), "its log went with it: {refused:?}");
    scratch.open().take_over(true).expect("it is accepted");
    scratch.up().expect("the other one is filled anew");
    scratch.open().resume(false).expect("both answer");
    scratch.is_brought_back("a primary that was removed");
    scratch.world.with(|inner| inner.nodes = Default::default());
    assert!(matches!(scratch.up(), Err(MirrorError::Gone(Node::B, false))));
}

#[test]
fn whoever_lowers_what_commits_wait_for_is_heard_at_the_next_up() {
    let scratch = Scratch::new();
    scratch.up().expect("it comes up");
    scratch.world.forget();
    let asked = Asked { sync: Waits::Local, ..ASKED };
    let pair = Pair::up(scratch.home(), scratch.world.clone(), &asked).expect("it is up");
    place(&scratch.world.done(), "a waits for nobody");
    assert!(!pair.life().rule.waits && scratch.world.follows(Node::B));
}

/// A way through the life of a pair.
type Way = fn(&Scratch) -> Result<(), MirrorError>;

const WAYS: [Way; 5] = [
    |scratch| scratch.up().map(drop),
    |scratch| scratch.open().suspend().and_then(|()| scratch.open().resume(false)),
    |scratch| scratch.open().swap(false),
    |scratch| {
        scratch.world.kill(scratch.open().life().primary());
        scratch.open().look()?;
        scratch.open().take_over(true)
    },
    |scratch| {
        scratch.world.kill(scratch.open().life().mirror());
        scratch.open().look()?;
        scratch.up().map(drop)?;
        scratch.open().resume(false)
    },
];

#[test]
fn a_command_that_is_killed_between_any_two_steps_loses_nothing_and_the_next_ones_bring_the_pair_back() {
    for (number, way) in WAYS.iter().enumerate() {
        let mut steps = 0;
        loop {
            let scratch = Scratch::new();
            if number > 0 {
                scratch.up().expect("it comes up");
            }
            scratch.world.with(|inner| inner.left = steps);
            let killed = way(&scratch).is_err();
            scratch.is_brought_back(&format!("way {number}, step {steps}"));
            if !killed {
                break;
            }
            steps += 1;
        }
        assert!(steps > 10, "way {number} has {steps} steps");
    }
}

#[test]
fn a_pair_whose_making_was_cut_off_at_any_step_is_made_anew_and_nobody_could_write_on_it() {
    for steps in 0.. {
        let scratch = Scratch::new();
        scratch.world.with(|inner| inner.left = steps);
        let cut = scratch.up().is_err();
        scratch.world.with(|inner| inner.left = usize::MAX);
        if scratch.open().record.made {
            assert!(steps > 10, "it was whole after {steps} steps");
            assert!(cut, "what a whole pair lacks is gone on with: {steps}");
            break;
        }
        assert!(scratch.world.with(|inner| inner.acknowledged.is_empty()), "{:#?}", scratch.world.done());
        let (refused, done) = scratch.done(|pair| pair.resume(false));
        assert!(matches!(refused, Err(MirrorError::HalfMade(..))) && done.is_empty(), "{refused:?}: {done:#?}");
        scratch.up().expect("it is made anew");
        in_order(&scratch.world.done(), &["a is removed", "b is removed", "a serves", "b copies", "a writes"]);
        assert_eq!(scratch.open().life().state(), State::Replicating);
    }
}

#[test]
fn a_folder_that_holds_anything_else_is_left_alone_and_one_command_works_at_a_time() {
    let folder = tempfile::tempdir().expect("a folder");
    let strange = folder.path().join("strange");
    std::fs::create_dir(&strange).expect("a folder");
    std::fs::write(strange.join("mine"), "mine").expect("a file");
    assert!(matches!(Home::make(&strange), Err(MirrorError::NotOurs(_, name)) if name == "mine"));
    assert!(matches!(Home::find(&strange), Err(MirrorError::NoPair(_))));
    assert_eq!(std::fs::read_dir(&strange).expect("it is there").count(), 1);
    let home = Home::make(&folder.path().join("pair")).expect("it is not there yet");
    let held = home.hold().expect("nobody works on it");
    assert!(matches!(home.hold(), Err(MirrorError::Busy(_))));
    drop(held);
    home.hold().expect("nobody works on it any more");
}

#[test]
fn in_hundreds_of_lives_with_nodes_and_commands_that_are_killed_nothing_acknowledged_is_lost() {
    for seed in 0..250 {
        let scratch = Scratch::new();
        scratch.up().expect("it comes up");
        let mut draws = Draws::named(seed, &[]);
        for _ in 0..8 {
            let node = if draws.chance(0.5) { Node::A } else { Node::B };
            // Half of all commands come to their end.
            let steps = if draws.chance(0.5) { usize::MAX } else { draws.below(60) as usize };
            scratch.world.with(|inner| inner.left = steps);
            let what = draws.below(10);
            scratch.world.notes(format!("== {what} on {node}, killed after {steps} steps"));
            // What is refused, and what is cut off, is part of a life.
            let _ = match what {
                0 | 1 => {
                    scratch.world.kill(node);
                    Ok(())
                }
                2 => scratch.open().suspend(),
                3 | 4 => scratch.open().resume(false),
                5 => scratch.open().swap(false),
                6 => {
                    let accepts = scratch.world.has_all(scratch.open().life().mirror());
                    scratch.open().take_over(accepts)
                }
                7 => scratch.open().cut(),
                8 => scratch.open().heal(),
                _ => scratch.up().map(drop),
            };
        }
        scratch.is_brought_back(&format!("seed {seed}"));
    }
}
