//! From the keys of a system to its mirror, and what is refused of it.
//!
//! What it does not do: it starts no server.

use crate::experiment::{Experiment, SystemChoice, find};
use crate::keys::Group;
use crate::keys::mirror::{MIRROR, PAIR, VOTER};
use crate::keys::state::{DISTANCE, LINK};
use crate::{At, DatabaseSpec, Engine, Pairing, Place, Voter, Waits};
use reading::{AnyKey, Problems};

/// Gives every system its mirror, where it has one. The servers of a study (`own`) are of the engine of its pair.
pub(crate) fn settle(systems: &mut [SystemChoice], own: bool, problems: &mut Problems) {
    for SystemChoice { spec: system, settings } in systems {
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
