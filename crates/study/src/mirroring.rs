//! From the keys of a system to its mirror, and what is refused of it.
//!
//! What it does not do: it starts no server.

use crate::experiment::{SystemChoice, find};
use crate::keys::Group;
use crate::keys::mirror::{MIRROR, MIRROR_URL, PAIR};
use crate::{At, DatabaseSpec, Engine, Place, password, target};
use reading::Problems;

/// Gives every system its mirror, where it has one.
pub(crate) fn settle(systems: &mut [SystemChoice], problems: &mut Problems) {
    for system in systems {
        beside(system, problems);
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

/// Gives a running server the mirror that it has.
fn beside(system: &mut SystemChoice, problems: &mut Problems) {
    let Some(chosen) = find(&system.settings, &MIRROR_URL) else { return };
    let url = MIRROR_URL.value(&chosen.text);
    if url.is_empty() {
        return;
    }
    let second = target::parse(&url).ok().map(|system| system.place);
    let engine = second.as_ref().and_then(|place| match place {
        Place::Database(DatabaseSpec { engine, at: At::Url(_), .. }) => Some(*engine),
        _ => None,
    });
    let shown = password::without_password(&url);
    let message = match &mut system.spec.place {
        _ if engine.is_none() || !url.contains("://") => format!("the URL of a database, got `{shown}`"),
        _ if shown != url => {
            format!("a URL without a password, which the environment or a file of passwords may give, got `{shown}`")
        }
        Place::Database(spec) if matches!(spec.at, At::Url(_)) && Some(spec.engine) == engine => {
            spec.beside = Some(url);
            return;
        }
        Place::Database(spec) if matches!(spec.at, At::Url(_)) => {
            format!("a mirror of the same engine as `{}`, got `{shown}`", spec.shown())
        }
        _ => format!("the mirror of a server that runs already (`--on URL`), got `{shown}` for one that Prony starts"),
    };
    problems.add(&chosen.at, &format!("system.{}.mirror_url", system.spec.name), message);
}

/// Whether a key gives a system its mirror.
pub(crate) fn mirrors(group: Group) -> bool {
    group == Group::Mirror
}
