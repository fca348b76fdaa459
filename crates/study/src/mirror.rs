//! Databases with a mirror: a second server that follows.
//!
//! The one idea: with and without a mirror it is the same server and the same fill, so that both are two systems whose trials take
//! turns; how far the mirror lies away is what a trial finds.

use crate::experiment::{SystemChoice, find};
use crate::keys::Group;
use crate::keys::mirror::MIRROR;
use crate::{At, DatabaseSpec, Engine, Place};
use reading::Problems;

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
}

impl Place {
    /// Whether it is a database with a mirror.
    pub fn mirrored(&self) -> bool {
        matches!(self, Place::Database(spec) if spec.mirror.is_some())
    }
}

/// Gives every system its mirror, where it has one.
pub(crate) fn settle(systems: &mut [SystemChoice], problems: &mut Problems) {
    for system in systems {
        let Some(chosen) = find(&system.settings, &MIRROR) else { continue };
        let waits = MIRROR.value(&chosen.text);
        match &mut system.spec.place {
            Place::Database(spec @ DatabaseSpec { engine: Engine::Postgres, at: At::Local, layout: None, .. }) => {
                spec.mirror = waits;
            }
            _ if waits.is_none() => {}
            place => {
                let got = match place {
                    Place::Database(spec) => spec.placed(),
                    place => place.word().to_owned(),
                };
                let message = format!(
                    "a mirror is made of a server that Prony starts, `local:postgres` without a layout, got `{got}`"
                );
                problems.add(&chosen.at, &format!("system.{}.mirror", system.spec.name), message);
            }
        }
    }
}

/// Whether a key gives a system its mirror.
pub(crate) fn mirrors(group: Group) -> bool {
    group == Group::Mirror
}
