//! From the keys of a system to its mirror, and what is refused of it.
//!
//! What it does not do: it starts no server.

use crate::experiment::{Experiment, SystemChoice, find};
use crate::keys::Group;
use crate::keys::mirror::{MIRROR, MIRROR_URL, PAIR, VOTER};
use crate::keys::state::{DISTANCE, LINK};
use crate::{At, DatabaseSpec, Engine, Pairing, Place, Voter, Waits, password, target};
use reading::{AnyKey, Problems};

/// Gives every system its mirror, where it has one. The servers of a study (`own`) are of the engine of its pair.
pub(crate) fn settle(systems: &mut [SystemChoice], own: bool, problems: &mut Problems) {
    for system in systems {
        beside(system, problems);
        let SystemChoice { spec: system, settings } = system;
        let Some(chosen) = find(settings, &MIRROR) else { continue };
        let waits = MIRROR.value(&chosen.text);
        let pair = find(settings, &PAIR);
        let pairing = pair.map(|pair| PAIR.value(&pair.text)).unwrap_or_default();
        let name = |key: &str| format!("system.{}.{key}", system.name);
        match &mut system.place {
            Place::Database(spec @ DatabaseSpec { at: At::Local, layout: None, .. })
                if spec.engine == pairing.engine() || own && spec.engine.language().is_some() =>
            {
                if pairing == Pairing::Galera && !matches!(waits, None | Some(Waits::Flushed)) {
                    let got = &chosen.text;
                    let message =
                        format!("`none` or `on` with `galera-pair`, whose commits have one rung, got `{got}`");
                    problems.add(&chosen.at, &name("mirror"), message);
                }
                (spec.engine, spec.mirror, spec.pairing) = (pairing.engine(), waits, pairing);
                let voter = find(settings, &VOTER);
                spec.voter = voter.map(|voter| VOTER.value(&voter.text)).unwrap_or_default();
                if let (Some(voter), false) = (voter, pairing == Pairing::Galera || spec.voter == Voter::None) {
                    let message = format!("`none` without `galera-pair`, got `{}`", voter.text);
                    problems.add(&voter.at, &name("voter"), message);
                }
            }
            _ if waits.is_none() => {}
            place => {
                let got = match place {
                    Place::Database(spec) => spec.placed(),
                    place => place.word().to_owned(),
                };
                let message = format!(
                    "a mirror is made of a server that Prony starts, `local:{}` without a layout, got `{got}`",
                    pairing.engine().word()
                );
                problems.add(&chosen.at, &name("mirror"), message);
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
            spec.beside = Some(url.into());
            return;
        }
        Place::Database(spec) if matches!(spec.at, At::Url(_)) => {
            format!("a mirror of the same engine as `{}`, got `{shown}`", spec.shown())
        }
        _ => format!("the mirror of a server that runs already (`--on URL`), got `{shown}` for one that Prony starts"),
    };
    problems.add(&chosen.at, &format!("system.{}.mirror_url", system.spec.name), message);
}

/// A wire leads to a mirror: where no system has one, it would change nothing and still be shown as an effect.
pub(crate) fn wired(systems: &[SystemChoice], experiments: &[Experiment], problems: &mut Problems) {
    let mut databases = systems.iter().filter_map(|system| match &system.spec.place {
        // A database that answers at once shows what the generator costs, whatever is asked of it.
        Place::Database(spec) if spec.engine != Engine::Null => Some(spec.mirror.is_some()),
        _ => None,
    });
    // A model refuses what it knows nothing of by itself.
    let known = databases.next();
    if known.is_none_or(|mirrored| mirrored) || databases.any(|mirrored| mirrored) {
        return;
    }
    for experiment in experiments {
        let levels = experiment.factors.iter().flat_map(|factor| &factor.levels);
        let mut chosen = levels.chain(&experiment.settings).chain(&experiment.set).chain(&experiment.defaults);
        let wire = chosen.find_map(|chosen| {
            let key = [&DISTANCE as &dyn AnyKey, &LINK].into_iter().find(|key| chosen.key.is(*key))?;
            (chosen.text != key.default()).then_some((chosen, key.name()))
        });
        if let Some((chosen, word)) = wire {
            let message = format!(
                "a system with a mirror, which the wire leads to, got none: add `--set mirror=on`, or leave `{word}` out"
            );
            problems.add(&chosen.at, &format!("{}.{word}", experiment.name), message);
        }
    }
}

/// Whether a key gives a system its mirror.
pub(crate) fn mirrors(group: Group) -> bool {
    group == Group::Mirror
}
