//! Databases with a mirror: a second server that follows.
//!
//! The one idea: with and without a mirror it is the same server and the same fill, so that both are two systems whose trials take
//! turns; how far the mirror lies away is what a trial finds.

use crate::Engine;

/// How two servers are kept equal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Pairing {
    /// The second follows the log of the first.
    #[default]
    Postgres,
    /// Sessions work on both in lock step, with two-phase commits.
    TwoPhase,
    /// Galera brings what a commit changed into one order on both, and a commit that comes second to a row is refused.
    Galera,
}

impl Pairing {
    /// The engine that such pairs are made of.
    pub fn engine(self) -> Engine {
        if self == Pairing::Galera { Engine::Mariadb } else { Engine::Postgres }
    }

    /// Whether sessions may write on either server.
    pub fn both_write(self) -> bool {
        self != Pairing::Postgres
    }
}

/// Which of both servers sessions go to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Spread {
    /// All to the first.
    #[default]
    One,
    /// Every other one to the second; those of each server have half of the keys for themselves.
    Split,
    /// Every other one to the second; all draw from the same keys.
    Random,
}

/// Who decides which of both servers goes on when they lose each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Voter {
    /// Nobody: half is no majority, so that neither goes on by itself.
    #[default]
    None,
    /// The first has two votes.
    Weight,
    /// A third member without data, the program `garbd`, has a vote.
    Garbd,
}

impl Voter {
    /// All of them.
    pub const ALL: [Voter; 3] = [Voter::None, Voter::Weight, Voter::Garbd];

    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Voter::None => "none",
            Voter::Weight => "weight",
            Voter::Garbd => "garbd",
        }
    }
}

/// What a commit waits for before it is acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Waits {
    /// Nothing, not even its own log.
    Nothing,
    /// The log of the first server.
    Local,
    /// That, and until the mirror was handed the log.
    Written,
    /// That, and until the mirror has flushed the log.
    Flushed,
    /// That, and until the mirror shows the change.
    Applied,
}

impl Waits {
    /// The word of PostgreSQL's `synchronous_commit`.
    pub fn word(self) -> &'static str {
        match self {
            Waits::Nothing => "off",
            Waits::Local => "local",
            Waits::Written => "remote_write",
            Waits::Flushed => "on",
            Waits::Applied => "remote_apply",
        }
    }

    /// Whether a commit waits for the mirror.
    pub fn far(self) -> bool {
        matches!(self, Waits::Written | Waits::Flushed | Waits::Applied)
    }

    /// What a commit waits for, in words that follow "commits wait for".
    pub fn shown(self) -> &'static str {
        match self {
            Waits::Nothing => "nothing",
            Waits::Local => "the log of the first server",
            Waits::Written => "the log of the first server, and until the mirror was handed it",
            Waits::Flushed => "the logs of both servers",
            Waits::Applied => "the log of the first server, and until the mirror shows the change",
        }
    }

    /// The same where the mirror is a subscriber. One process of it receives and applies, and answers in between: that it has received
    /// something it says once it has applied it.
    pub fn shown_by(self, published: bool) -> &'static str {
        match self {
            Waits::Written if published => {
                "the log of the first server, and until the subscriber has applied the changes, flushed or not"
            }
            Waits::Flushed | Waits::Applied if published => {
                "the log of the first server, and until the subscriber has applied and flushed the changes"
            }
            waits => waits.shown(),
        }
    }
}

/// The tables that a mirror by publication, or in lock step, has.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Published {
    /// Those that it leaves out, by pattern.
    pub leave_out: Vec<String>,
}

impl Published {
    /// Whether a table of that name is mirrored.
    pub fn mirrors(&self, table: &str) -> bool {
        !self.leave_out.iter().any(|pattern| fits(pattern, table))
    }
}

/// Whether a name is as a pattern says, in which a star stands for any letters.
pub(crate) fn fits(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        Some((before, after)) => name.strip_prefix(before).is_some_and(|rest| {
            rest.char_indices().map(|(at, _)| at).chain([rest.len()]).any(|at| fits(after, &rest[at..]))
        }),
    }
}

/// A system with a mirror.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mirrored {
    /// Its name.
    pub system: String,
    /// How both are kept equal.
    pub pairing: Pairing,
    /// What a commit waits for.
    pub waits: Waits,
    /// Whether the mirror lies on a device of its own.
    pub apart: bool,
    /// Whether a publication says which tables it has.
    pub published: bool,
}

impl Mirrored {
    /// What of a transaction waits for the mirror, as a sentence.
    pub fn unit(&self) -> &'static str {
        match self.pairing {
            Pairing::TwoPhase => {
                "the unit of waiting is the statement: each one that writes or locks waits for the second server, and so do two steps of \
                 the commit"
            }
            Pairing::Postgres if self.waits.far() && self.published => {
                "the unit of waiting is the commit: what it changed is sent once its log is flushed, and waits until it is applied"
            }
            Pairing::Postgres if self.waits.far() => {
                "the unit of waiting is the commit: it waits once, however many rows it changed"
            }
            Pairing::Postgres => "nothing waits for the mirror",
            Pairing::Galera => {
                "the unit of waiting is the write set: a commit waits once, until the second server has received all that it changed"
            }
        }
    }
}

#[test]
fn a_star_stands_for_any_letters_and_nothing_else_does() {
    for (pattern, fitting, other) in [
        ("history", "history", "history_old"),
        ("work_*", "work_", "homework_1"),
        ("*_log", "a_b_log", "log"),
        ("a*b*c", "aXbYc", "aXcYb"),
        ("*", "", "\u{0}"),
    ] {
        assert!(fits(pattern, fitting), "{pattern} {fitting}");
        assert!(!fits(pattern, other) || pattern == "*", "{pattern} {other}");
    }
}
