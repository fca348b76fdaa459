//! From the keys of a system to its mirror, and what is refused of it.
//!
//! What it does not do: it starts no server.

use crate::experiment::{SystemChoice, find};
use crate::keys::Group;
use crate::keys::mirror::{MIRROR, PAIR};
use crate::{At, DatabaseSpec, Engine, Place};
use reading::Problems;

/// Gives every system its mirror, where it has one.
pub(crate) fn settle(systems: &mut [SystemChoice], problems: &mut Problems) {
    for system in systems {
        let Some(chosen) = find(&system.settings, &MIRROR) else { continue };
        let waits = MIRROR.value(&chosen.text);
        match &mut system.spec.place {
            Place::Database(spec @ DatabaseSpec { engine: Engine::Postgres, at: At::Local, layout: None, .. }) => {
                spec.mirror = waits;
                spec.pairing = find(&system.settings, &PAIR).map(|chosen| PAIR.value(&chosen.text)).unwrap_or_default();
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
