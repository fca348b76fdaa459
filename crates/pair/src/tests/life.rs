//! Pairs in a world of their own: commits, crashes and cuts at any moment, also between two actions.

use super::*;
use random::Draws;
use std::collections::BTreeSet;

/// Two nodes and a link, and clients who write wherever they may.
struct World {
    life: Life,
    rule: Rule,
    draws: Draws,
    data: [BTreeSet<u64>; 2],
    up: [bool; 2],
    linked: bool,
    writes: [bool; 2],
    waits: bool,
    noting: bool,
    moving: bool,
    comparing: bool,
    exchanging: bool,
    acknowledged: BTreeSet<u64>,
    /// On the primary, and not acknowledged: the mirror did not answer.
    hanging: BTreeSet<u64>,
    next: u64,
    now: Nanos,
}

impl World {
    fn new(rule: Rule, seed: u64) -> World {
        World {
            life: Life::new(rule),
            rule,
            draws: Draws::named(seed, &[]),
            data: Default::default(),
            up: [true; 2],
            linked: true,
            writes: [true, rule.both_write],
            waits: rule.waits,
            noting: false,
            moving: false,
            comparing: false,
            exchanging: false,
            acknowledged: BTreeSet::new(),
            hanging: BTreeSet::new(),
            next: 0,
            now: Nanos::ZERO,
        }
    }

    fn lacks(&self) -> BTreeSet<u64> {
        &self.data[self.life.primary() as usize] - &self.data[self.life.mirror() as usize]
    }

    fn reached(&self) -> bool {
        self.linked && self.up == [true; 2]
    }

    /// A client commits on a node.
    fn commit(&mut self, node: Node) {
        let at = node as usize;
        if !self.up[at] || !self.writes[at] {
            return;
        }
        self.next += 1;
        let id = self.next;
        self.data[at].insert(id);
        let lowered = self.rule.by_session && self.draws.chance(0.2);
        if lowered {
            // Who lowers what his own commits wait for is told at once, and it is on its way.
        } else if self.waits || self.rule.both_write && self.life.state() == State::Replicating {
            if self.reached() {
                self.data[node.other() as usize].insert(id);
            } else {
                self.hanging.insert(id);
                return;
            }
        } else if self.rule.waits {
            let gone = matches!(self.life.state(), State::CopyNeeded(_) | State::Copying | State::Diverged);
            assert!(self.noting || gone, "acknowledged alone, and not noted: {:?}", self.life);
        }
        self.acknowledged.insert(id);
    }

    fn clients(&mut self) {
        for _ in 0..self.draws.below(3) {
            let node = if self.draws.chance(0.5) { Node::A } else { Node::B };
            self.commit(node);
        }
        let writers = Node::ALL.iter().filter(|node| self.up[**node as usize] && self.writes[**node as usize]).count();
        assert!(writers < 2 || self.rule.both_write, "two nodes may write: {:?}", self.life);
    }

    fn does(&mut self, action: Action) {
        let (primary, mirror) = (self.life.primary() as usize, self.life.mirror() as usize);
        match action {
            Action::Wait(waits) => {
                self.waits = waits;
                if !waits {
                    // Who waited is told that it is done, as PostgreSQL does when the rule is loosened.
                    let released = std::mem::take(&mut self.hanging);
                    let kept = released.into_iter().filter(|id| self.data[primary].contains(id));
                    self.acknowledged.extend(kept);
                }
            }
            Action::Writes(node, may) => self.writes[node as usize] = may,
            Action::Track => self.noting = true,
            Action::Forget => self.noting = false,
            Action::Promote(node) => assert_eq!(node as usize, primary),
            Action::Rewind(node) => {
                assert_eq!(node as usize, mirror);
                self.data[mirror] = &self.data[mirror] & &self.data[primary];
            }
            Action::Send => self.moving = true,
            Action::Copy => {
                self.data[mirror].clear();
                self.moving = true;
            }
            Action::Compare => self.comparing = true,
            Action::Exchange => self.exchanging = true,
        }
    }

    fn tell(&mut self, event: Event) -> Result<(), Refusal> {
        self.now = Nanos(self.now.0 + 1);
        let before = self.life.clone();
        let actions = self.life.step(self.now, event).inspect_err(|_| assert_eq!(self.life, before))?;
        if let Event::TakeOver { accept_missing } = event {
            let lost = &self.acknowledged - &self.data[self.life.primary() as usize];
            assert!(lost.is_empty() || accept_missing, "a take-over loses {lost:?} without a word: {before:?}");
            self.acknowledged = &self.acknowledged - &lost;
            self.hanging.clear();
        }
        for action in actions {
            self.does(action);
            self.clients();
        }
        if matches!(
            self.life.state(),
            State::Tracking(..) | State::CopyNeeded(_) | State::Unserved(_) | State::Diverged
        ) {
            (self.moving, self.comparing, self.exchanging) = (false, false, false);
        }
        Ok(())
    }

    /// What goes from node to node in a moment.
    fn flows(&mut self) {
        if !self.reached() {
            return;
        }
        let lagging = (!self.rule.waits || self.rule.by_session) && self.life.state() == State::Replicating;
        if self.moving || lagging || self.comparing || self.exchanging {
            let all = self.comparing || self.exchanging;
            let some: Vec<u64> = self.lacks().into_iter().take(if all { usize::MAX } else { 4 }).collect();
            self.data[self.life.mirror() as usize].extend(some);
        }
        let gone = self.lacks().is_empty();
        let told = match () {
            () if std::mem::take(&mut self.exchanging) => Some(Event::Swapped),
            () if std::mem::take(&mut self.comparing) => {
                assert_eq!(self.data[0], self.data[1], "not all was sent, or not all taken back: {:?}", self.life);
                Some(Event::Compared { equal: true })
            }
            () if self.moving && gone => {
                self.moving = false;
                Some(Event::Sent)
            }
            () => None,
        };
        if let Some(event) = told {
            self.tell(event).expect("what was seen is never refused");
        }
    }

    fn crash(&mut self, node: Node) {
        self.up[node as usize] = false;
        // Nobody learns how those ended who waited there.
        self.hanging.clear();
        self.clients();
        self.tell(Event::Lost(node)).expect("what was seen is never refused");
    }

    fn happens(&mut self) {
        let node = if self.draws.chance(0.5) { Node::A } else { Node::B };
        let accept_missing = self.draws.chance(0.2);
        match self.draws.below(40) {
            0 if self.up[node as usize] => self.crash(node),
            1..=3 if !self.up[node as usize] => self.comes_back(node),
            4 if self.linked => {
                self.linked = false;
                self.clients();
                self.tell(Event::Cut).expect("what was seen is never refused");
            }
            5..=7 if !self.linked => self.heals(),
            8 => {
                let _ = self.tell(Event::Suspend);
            }
            9..=11 => {
                let _ = self.tell(Event::Resume);
            }
            12 => {
                let _ = self.tell(Event::Swap);
            }
            13 => {
                let _ = self.tell(Event::TakeOver { accept_missing });
            }
            // What a primary left that is lost is read as it is; else nobody knows.
            14 if self.up[self.life.primary() as usize] || self.rule.by_session => {
                let bytes = self.lacks().len() as u64;
                self.tell(Event::Noted { bytes, objects: None }).expect("what was seen is never refused");
            }
            15 if self.draws.chance(0.1) => self.tell(Event::Full).expect("what was seen is never refused"),
            _ => self.flows(),
        }
        self.clients();
        let kept = &self.data[self.life.primary() as usize];
        assert!(self.acknowledged.is_subset(kept), "lost: {:?} {:?}", &self.acknowledged - kept, self.life);
        let waits = self.rule.waits
            && !self.rule.by_session
            && self.life.state() == State::Replicating
            && self.hanging.is_empty();
        assert!(!waits || self.lacks().is_empty() || !self.reached(), "replicating, and unequal: {:?}", self.life);
    }

    fn comes_back(&mut self, node: Node) {
        self.up[node as usize] = true;
        // A server that starts lets everybody in.
        self.writes[node as usize] = true;
        self.tell(Event::Back(node)).expect("what was seen is never refused");
    }

    fn heals(&mut self) {
        self.linked = true;
        self.tell(Event::Healed).expect("what was seen is never refused");
    }

    /// Everything is mended, and the pair is asked to mirror.
    fn mends(&mut self) {
        if !self.linked {
            self.heals();
        }
        for node in Node::ALL.into_iter().filter(|node| !self.up[*node as usize]).collect::<Vec<_>>() {
            self.comes_back(node);
        }
        for _ in 0..1000 {
            if self.life.state() == State::Replicating && self.lacks().is_empty() {
                break;
            }
            let _ = self.tell(Event::Resume);
            self.flows();
        }
        assert_eq!(self.life.state(), State::Replicating, "{:?}", self.life);
        assert_eq!(self.data[0], self.data[1], "{:?}", self.life);
        assert!(self.acknowledged.is_subset(&self.data[0]));
    }
}

#[test]
fn in_ten_thousand_lives_nobody_loses_what_was_acknowledged_no_two_write_apart_and_all_is_equal_in_the_end() {
    for seed in 0..10_000 {
        let rule = Rule { waits: seed % 4 != 0, both_write: seed % 4 == 2, by_session: seed % 4 == 3 };
        let mut world = World::new(rule, seed);
        for _ in 0..120 {
            world.happens();
        }
        world.mends();
    }
}

fn life(events: &[Event]) -> Life {
    let mut life = Life::new(Rule { waits: true, both_write: false, by_session: false });
    for (at, event) in events.iter().enumerate() {
        life.step(Nanos::from_secs(at as u64), *event).expect("allowed");
    }
    life
}

#[test]
fn a_suspension_has_a_reason_and_says_since_when_and_how_much_is_behind() {
    let suspended = life(&[Event::Cut, Event::Noted { bytes: 4096, objects: Some(2) }]);
    let behind = Behind { since: Nanos::ZERO, bytes: 4096, objects: Some(2) };
    assert_eq!(suspended.state(), State::Tracking(Reason::LinkCut, behind));
    for (event, reason) in [(Event::Suspend, Reason::Asked), (Event::Lost(Node::B), Reason::MirrorLost)] {
        assert!(matches!(life(&[event]).state(), State::Tracking(of, _) if of == reason));
    }
}

#[test]
fn what_cannot_be_done_is_refused_with_the_next_step() {
    let refused = |events: &[Event], event: Event| {
        life(events).step(Nanos::from_secs(9), event).expect_err("not allowed").to_string()
    };
    let take_over = Event::TakeOver { accept_missing: false };
    assert!(refused(&[], Event::Resume).contains("not suspended"));
    assert!(refused(&[Event::Suspend], Event::Swap).contains("resume it first"));
    assert!(refused(&[], take_over).contains("nothing to take over"));
    assert!(refused(&[Event::Cut], Event::Resume).contains("heal it first"));
    assert!(refused(&[Event::Lost(Node::B)], Event::Resume).contains("node b does not answer"));
    let noted = Event::Noted { bytes: 12, objects: None };
    assert!(refused(&[Event::Cut, noted, Event::Lost(Node::A)], take_over).contains("lacks at least 12 bytes"));
    assert!(refused(&[Event::Cut, Event::Lost(Node::A)], take_over).contains("nobody knows what the mirror lacks"));
    assert!(
        refused(&[Event::Suspend, Event::Full, Event::Resume, Event::Lost(Node::A)], take_over)
            .contains("being filled")
    );
}

#[test]
fn where_sessions_choose_what_they_wait_for_a_take_over_is_free_only_when_the_log_of_the_lost_primary_was_read() {
    let (rule, take_over) =
        (Rule { waits: true, both_write: false, by_session: true }, Event::TakeOver { accept_missing: false });
    let found = |noted: Option<(u64, u64)>| {
        let mut life = Life::new(rule);
        let noted = noted.map(|(bytes, commits)| Event::Noted { bytes, objects: Some(commits) });
        for event in [Event::Lost(Node::A)].into_iter().chain(noted) {
            life.step(Nanos::from_secs(1), event).expect("what was seen is never refused");
        }
        life.step(Nanos::from_secs(2), take_over).map(drop)
    };
    assert_eq!(found(None), Err(Refusal::MayBeMissing), "the promise of the pair is no proof");
    assert_eq!(found(Some((8192, 209))), Err(Refusal::Commits(209)));
    assert!(Refusal::Commits(1).to_string().contains("lacks: 1, and"));
    assert_eq!(found(Some((0, 0))), Ok(()));
}

#[test]
fn a_list_without_room_means_a_copy_of_everything_and_nodes_that_differ_do_too() {
    let full = [Event::Suspend, Event::Full];
    assert_eq!(life(&full).state(), State::CopyNeeded(Reason::ListLost));
    let sent = [Event::Suspend, Event::Resume, Event::Full];
    assert_eq!(life(&sent).state(), State::CopyNeeded(Reason::ListLost), "nobody asked for that");
    assert_eq!(life(&full).step(Nanos::ZERO, Event::Resume), Ok(vec![Action::Copy]));
    let mut apart = life(&[Event::Suspend, Event::Resume, Event::Sent, Event::Compared { equal: false }]);
    assert_eq!(apart.state(), State::Diverged);
    assert_eq!(apart.step(Nanos::ZERO, Event::Resume), Ok(vec![Action::Copy]));
}
