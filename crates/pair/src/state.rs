//! The words of a pair: its nodes, its states, what happens to it and what is done to it.

use std::fmt;
use units::Nanos;

/// One of the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Node {
    /// The first.
    A,
    /// The second.
    B,
}

impl Node {
    /// Both.
    pub const ALL: [Node; 2] = [Node::A, Node::B];

    /// The one at the other end of the link.
    pub fn other(self) -> Node {
        match self {
            Node::A => Node::B,
            Node::B => Node::A,
        }
    }
}

impl fmt::Display for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Node::A => "a",
            Node::B => "b",
        })
    }
}

/// Why a pair does not mirror.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// Somebody asked for it.
    Asked,
    /// The mirror does not answer.
    MirrorLost,
    /// The link is cut: both nodes answer, and do not reach one another.
    LinkCut,
    /// The mirror took over from a primary that was lost.
    TakenOver,
    /// The list of what the mirror lacks had no room any more, or somebody removed it.
    ListLost,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Reason::Asked => "it was asked for",
            Reason::MirrorLost => "the mirror does not answer",
            Reason::LinkCut => "the link was cut",
            Reason::TakenOver => "the mirror took over from a primary that was lost",
            Reason::ListLost => "the list of what it lacks was full and given up, or is gone",
        })
    }
}

/// What the mirror lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Behind {
    /// When the primary began to change alone.
    pub since: Nanos,
    /// Bytes that wait for the mirror: of log, or of rows, as the kind of the pair counts.
    pub bytes: u64,
    /// Tables, or other objects, in which there are changes, or commits in the log of a primary that was lost; none where nobody knows.
    pub objects: Option<u64>,
}

/// What a pair is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// What is acknowledged is on both nodes, as far as the rule of commits promises it.
    Replicating,
    /// The primary changes alone, and what it changes is noted.
    Tracking(Reason, Behind),
    /// What was noted goes to the mirror, beside the changes that come.
    Resynchronising(Behind),
    /// Everything was sent, and both nodes are held against one another.
    Comparing,
    /// The list of what the mirror lacks is lost: a copy of everything is needed.
    CopyNeeded(Reason),
    /// A copy of everything goes to the mirror.
    Copying,
    /// The roles change, and nobody may write until they have.
    Swapping,
    /// The primary is lost and nobody took over: nobody may write. What the mirror lacks, where that is known.
    Unserved(Option<Behind>),
    /// Both nodes answer, and differ, although nothing waits to be sent.
    Diverged,
}

/// What happened, as whoever runs the pair saw it or was asked for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// Somebody asks the pair to stop mirroring.
    Suspend,
    /// Somebody asks it to mirror again.
    Resume,
    /// Somebody asks for the roles to be swapped.
    Swap,
    /// Somebody asks the mirror of a lost primary to take over, and accepts what it lacks or does not.
    TakeOver {
        /// Whether what is missing may stay missing.
        accept_missing: bool,
    },
    /// A node does not answer any more.
    Lost(Node),
    /// It answers again, as it was when it was lost.
    Back(Node),
    /// The link between both is cut.
    Cut,
    /// It carries again.
    Healed,
    /// So much waits for the mirror, or stands in what a lost primary left and not on the mirror: no bytes where it has every commit.
    Noted {
        /// As in [`Behind`].
        bytes: u64,
        /// As in [`Behind`].
        objects: Option<u64>,
    },
    /// The list of what waits has no room any more.
    Full,
    /// All that waited was sent, or copied.
    Sent,
    /// Both were compared.
    Compared {
        /// Whether they hold the same.
        equal: bool,
    },
    /// The roles are swapped.
    Swapped,
}

/// What is to be done, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Commits of the primary wait for the mirror from now on, or do not.
    Wait(bool),
    /// A node lets clients write, or does not.
    Writes(Node, bool),
    /// The primary notes from now on what the mirror lacks.
    Track,
    /// The list of what the mirror lacks is given up.
    Forget,
    /// A mirror becomes a primary.
    Promote(Node),
    /// A node takes back what it has and the primary does not, so that it can follow.
    Rewind(Node),
    /// What was noted goes to the mirror.
    Send,
    /// Everything goes to the mirror.
    Copy,
    /// Both are compared.
    Compare,
    /// Clients end what they have begun on the primary, all of it goes to the mirror, and both change their roles.
    Exchange,
}
