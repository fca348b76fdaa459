//! Databases with a mirror: a second server that follows.
//!
//! The one idea: with and without a mirror it is the same server and the same fill, so that both are two systems whose trials take
//! turns; how far the mirror lies away is what a trial finds.

use crate::Engine;

units::words! {
    /// How two servers are kept equal.
    #[derive(Default)]
    pub enum Pairing {
        #[default]
        Postgres = "postgres-pair" "The second follows the log of the first.",
        TwoPhase = "two-phase-pair" "Sessions work on both in lock step, with two-phase commits.",
        /// Galera brings what a commit changed into one order on both, and a commit that comes second to a row is refused.
        Galera = "galera-pair",
    }
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

units::words! {
    /// Which of both servers sessions go to.
    #[derive(Default)]
    pub enum Spread {
        #[default]
        One = "one" "All to the first.",
        Split = "split" "Every other one to the second; those of each server have half of the keys for themselves.",
        Random = "random" "Every other one to the second; all draw from the same keys.",
    }
}

units::words! {
    /// Who decides which of both servers goes on when they lose each other.
    #[derive(Default)]
    pub enum Voter {
        #[default]
        None = "none" "Nobody: half is no majority, so that neither goes on by itself.",
        Weight = "weight" "The first has two votes.",
        Garbd = "garbd" "A third member without data, the program `garbd`, has a vote.",
    }
}

units::words! {
    /// What a commit waits for before it is acknowledged, by the words of PostgreSQL's `synchronous_commit`.
    pub enum Waits {
        Nothing = "off" "Nothing, not even its own log.",
        Local = "local" "The log of the first server.",
        Written = "remote_write" "That, and until the mirror was handed the log.",
        Flushed = "on" "That, and until the mirror has flushed the log.",
        Applied = "remote_apply" "That, and until the mirror shows the change.",
    }
}

impl Waits {
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
    /// Whether sessions go to both servers in an experiment that does not vary that.
    pub both: bool,
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

#[cfg(test)]
mod tests {
    use super::*;

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
}
