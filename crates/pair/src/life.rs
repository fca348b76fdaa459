//! From what happened to what is to be done.
//!
//! The one idea: nobody acknowledges alone before it notes what it changes alone, and nobody may write on a node that could lack
//! what was acknowledged on the other. All else is bookkeeping.

use crate::{Action, Behind, Event, Node, Reason, State};
use units::Nanos;

/// What a pair promises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Whether a commit is acknowledged only when it is on both nodes.
    pub waits: bool,
    /// Whether clients write on both nodes while they replicate.
    pub both_write: bool,
    /// Whether a session may have its commits wait for less than the pair's, which nobody is told of.
    pub by_session: bool,
}

/// Why something that was asked for is not done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The state is another than the one that this is for.
    #[error("the pair is not replicating: resume it first")]
    NotReplicating,
    /// It mirrors already, or is about to.
    #[error("the pair is not suspended: it mirrors, or is about to")]
    NotSuspended,
    /// A node is away.
    #[error("node {0} does not answer: start it first")]
    Away(Node),
    /// The link is cut.
    #[error("the link is cut: heal it first")]
    Apart,
    /// There is a primary.
    #[error("the primary, node {0}, answers, so that there is nothing to take over")]
    Served(Node),
    /// A take-over would lose what only the lost primary has.
    #[error(
        "the mirror lacks at least {0} bytes of what was acknowledged, as seen last: start the lost primary, or accept the loss with --accept-missing"
    )]
    Missing(u64),
    /// A take-over loses commits that stand in the log of the lost primary.
    #[error(
        "commits in the log of the lost primary that the mirror lacks: {0}, and clients may have been told that they stand: start the lost primary, or accept the loss with --accept-missing"
    )]
    Commits(u64),
    /// A take-over may lose what only the lost primary has.
    #[error(
        "nobody knows what the mirror lacks of what was acknowledged: start the lost primary, or accept the loss with --accept-missing"
    )]
    MayBeMissing,
    /// The mirror holds a part of what it was sent.
    #[error("the mirror is being filled and is no copy of any moment: start the lost primary")]
    Unfinished,
}

/// A pair, with all that it knows of itself: whoever keeps these values can go on with its life later.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Life {
    /// What it promises.
    pub rule: Rule,
    /// Who has the last word.
    pub primary: Node,
    /// What it is doing.
    pub state: State,
    /// Which nodes answer, the first first.
    pub up: [bool; 2],
    /// Whether the link carries.
    pub linked: bool,
    /// The mirror may hold what the primary does not: from before a take-over, or of clients who wrote there when it was parted.
    pub stale: bool,
    /// What the mirror lacked when the primary was lost, and the state to go back to when it comes again.
    pub before: Option<State>,
}

impl Life {
    /// A pair that was just made: both nodes hold the same.
    pub fn new(rule: Rule) -> Life {
        let (primary, state) = (Node::A, State::Replicating);
        Life { rule, primary, state, up: [true; 2], linked: true, stale: false, before: None }
    }

    /// What it is doing.
    pub fn state(&self) -> State {
        self.state
    }

    /// Who has the last word.
    pub fn primary(&self) -> Node {
        self.primary
    }

    /// The node at the other end.
    pub fn mirror(&self) -> Node {
        self.primary.other()
    }

    /// Whether a node answered when it was looked at last.
    pub fn is_up(&self, node: Node) -> bool {
        self.up[node as usize]
    }

    /// Takes in what happened, and says what is to be done.
    ///
    /// # Errors
    /// Why what was asked for is not done; the pair is as before.
    pub fn step(&mut self, now: Nanos, event: Event) -> Result<Vec<Action>, Refusal> {
        match event {
            Event::Suspend => self.suspend(now),
            Event::Resume => self.resume(now),
            Event::Swap => self.swap(),
            Event::TakeOver { accept_missing } => self.take_over(now, accept_missing),
            Event::Lost(node) => Ok(self.lost(now, node)),
            Event::Back(node) => Ok(self.back(now, node)),
            Event::Cut => Ok(self.cut(now)),
            Event::Healed => {
                self.linked = true;
                Ok(Vec::new())
            }
            Event::Noted { bytes, objects } => Ok(self.noted(now, bytes, objects)),
            Event::Full => Ok(self.full()),
            Event::Sent => Ok(self.sent()),
            Event::Compared { equal } => Ok(self.compared(equal)),
            Event::Swapped => Ok(self.swapped()),
        }
    }

    fn suspend(&mut self, now: Nanos) -> Result<Vec<Action>, Refusal> {
        match self.state {
            State::Replicating | State::Resynchronising(_) | State::Comparing => Ok(self.alone(now, Reason::Asked)),
            _ => Err(Refusal::NotReplicating),
        }
    }

    /// The primary goes on alone. What it changes is noted before it is acknowledged without the mirror.
    fn alone(&mut self, now: Nanos, reason: Reason) -> Vec<Action> {
        let mirror = self.mirror();
        match self.state {
            State::Replicating | State::Comparing => {
                self.stale |= self.rule.both_write;
                self.state = State::Tracking(reason, Behind { since: now, bytes: 0, objects: None });
                vec![Action::Writes(mirror, false), Action::Track, Action::Wait(false)]
            }
            // It is noted already.
            State::Resynchronising(behind) => {
                self.state = State::Tracking(reason, behind);
                vec![Action::Wait(false)]
            }
            State::Copying => {
                self.state = State::CopyNeeded(reason);
                vec![Action::Wait(false)]
            }
            _ => Vec::new(),
        }
    }

    fn resume(&mut self, now: Nanos) -> Result<Vec<Action>, Refusal> {
        let (mirror, tracked) = (self.mirror(), matches!(self.state, State::Tracking(..)));
        if !tracked && !matches!(self.state, State::CopyNeeded(_) | State::Diverged) {
            return Err(Refusal::NotSuspended);
        }
        if let Some(away) = Node::ALL.into_iter().find(|node| !self.is_up(*node)) {
            return Err(Refusal::Away(away));
        }
        if !self.linked {
            return Err(Refusal::Apart);
        }
        let stale = std::mem::take(&mut self.stale);
        if let State::Tracking(_, behind) = self.state {
            self.state = State::Resynchronising(Behind { since: behind.since.min(now), ..behind });
            let rewound = stale.then_some(Action::Rewind(mirror));
            return Ok(rewound.into_iter().chain([Action::Send]).collect());
        }
        self.state = State::Copying;
        Ok(vec![Action::Copy])
    }

    fn swap(&mut self) -> Result<Vec<Action>, Refusal> {
        if self.state != State::Replicating {
            return Err(Refusal::NotReplicating);
        }
        self.state = State::Swapping;
        Ok(vec![Action::Writes(self.primary, false), Action::Writes(self.mirror(), false), Action::Exchange])
    }

    fn swapped(&mut self) -> Vec<Action> {
        if self.state != State::Swapping {
            return Vec::new();
        }
        self.primary = self.mirror();
        self.replicates()
    }

    /// Both are equal, and stay so.
    fn replicates(&mut self) -> Vec<Action> {
        self.state = State::Replicating;
        let both = self.rule.both_write;
        vec![
            Action::Wait(self.rule.waits),
            Action::Forget,
            Action::Writes(self.mirror(), both),
            Action::Writes(self.primary, true),
        ]
    }

    fn take_over(&mut self, now: Nanos, accept_missing: bool) -> Result<Vec<Action>, Refusal> {
        let State::Unserved(missing) = self.state else { return Err(Refusal::Served(self.primary)) };
        let (old, new) = (self.primary, self.mirror());
        if !self.is_up(new) {
            return Err(Refusal::Away(new));
        }
        match missing {
            _ if self.before == Some(State::Copying) => return Err(Refusal::Unfinished),
            _ if accept_missing => {}
            Some(Behind { bytes: 1.., objects: Some(commits), .. }) if self.rule.by_session => {
                return Err(Refusal::Commits(commits));
            }
            Some(Behind { bytes: bytes @ 1.., .. }) => return Err(Refusal::Missing(bytes)),
            // What was noted last may not be all that was acknowledged since.
            None => return Err(Refusal::MayBeMissing),
            Some(_) => {}
        }
        (self.primary, self.stale, self.before) = (new, true, None);
        self.state = State::Tracking(Reason::TakenOver, Behind { since: now, bytes: 0, objects: None });
        Ok(vec![
            Action::Writes(old, false),
            Action::Promote(new),
            Action::Track,
            Action::Wait(false),
            Action::Writes(new, true),
        ])
    }

    fn lost(&mut self, now: Nanos, node: Node) -> Vec<Action> {
        if !std::mem::take(&mut self.up[node as usize]) {
            return Vec::new();
        }
        if node == self.mirror() {
            return self.alone_or_waiting(now, Reason::MirrorLost);
        }
        let missing = match self.state {
            State::Tracking(_, behind) | State::Resynchronising(behind) if behind.bytes > 0 => Some(behind),
            // What a session did not wait for is seen in the log alone.
            State::Replicating | State::Swapping if self.rule.waits && !self.rule.by_session => {
                Some(Behind { since: now, bytes: 0, objects: None })
            }
            _ => None,
        };
        self.stale |= self.rule.both_write;
        self.before.get_or_insert(self.state);
        self.state = State::Unserved(missing);
        vec![Action::Writes(node, false), Action::Writes(self.mirror(), false)]
    }

    /// As [`Life::alone`]; roles that were about to change stay as they are.
    fn alone_or_waiting(&mut self, now: Nanos, reason: Reason) -> Vec<Action> {
        if self.state != State::Swapping {
            return self.alone(now, reason);
        }
        self.state = State::Replicating;
        let mut actions = self.alone(now, reason);
        actions.push(Action::Writes(self.primary, true));
        actions
    }

    fn back(&mut self, now: Nanos, node: Node) -> Vec<Action> {
        self.up[node as usize] = true;
        let (State::Unserved(_), true) = (self.state, node == self.primary) else {
            // Whoever comes back as a mirror may not be written on; one that was filled and is seen for the first time may.
            let may = self.rule.both_write && self.state == State::Replicating;
            return if node == self.primary { Vec::new() } else { vec![Action::Writes(node, may)] };
        };
        let before = self.before.take().unwrap_or(State::Replicating);
        // The mirror may lack what was under way, so that it is sent and compared like all that was noted.
        self.state = match before {
            State::Tracking(..) | State::CopyNeeded(_) | State::Diverged => before,
            State::Resynchronising(behind) => State::Tracking(Reason::MirrorLost, behind),
            State::Copying => State::CopyNeeded(Reason::MirrorLost),
            _ => State::Tracking(Reason::MirrorLost, Behind { since: now, bytes: 0, objects: None }),
        };
        vec![Action::Track, Action::Wait(false), Action::Writes(node, true)]
    }

    fn cut(&mut self, now: Nanos) -> Vec<Action> {
        self.linked = false;
        self.alone_or_waiting(now, Reason::LinkCut)
    }

    fn noted(&mut self, now: Nanos, bytes: u64, objects: Option<u64>) -> Vec<Action> {
        match &mut self.state {
            State::Tracking(_, behind) | State::Resynchronising(behind) => {
                (behind.bytes, behind.objects) = (bytes, objects);
            }
            State::Unserved(missing) => {
                let since = missing.map_or(now, |behind| behind.since);
                *missing = Some(Behind { since, bytes, objects });
            }
            _ => {}
        }
        Vec::new()
    }

    /// There is no room for what the mirror lacks: the list is given up, and the pair is suspended until everything is copied.
    fn full(&mut self) -> Vec<Action> {
        self.state = match self.state {
            State::Tracking(..) | State::Resynchronising(_) => State::CopyNeeded(Reason::ListLost),
            _ => return Vec::new(),
        };
        vec![Action::Forget]
    }

    fn sent(&mut self) -> Vec<Action> {
        match self.state {
            // From here on commits wait, so that what is compared stays equal.
            State::Resynchronising(_) | State::Copying => {
                self.state = State::Comparing;
                vec![Action::Wait(self.rule.waits), Action::Compare]
            }
            _ => Vec::new(),
        }
    }

    fn compared(&mut self, equal: bool) -> Vec<Action> {
        match self.state {
            State::Comparing if equal => self.replicates(),
            State::Comparing => {
                self.state = State::Diverged;
                vec![Action::Wait(false)]
            }
            _ => Vec::new(),
        }
    }
}

#[cfg(test)]
#[path = "tests/life.rs"]
mod tests;
