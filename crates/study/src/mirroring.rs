//! From the keys of a system to its mirror, and what is refused of it.
//!
//! What it does not do: it starts no server.

use crate::experiment::{Experiment, SystemChoice, find};
use crate::keys::Group;
use crate::keys::mirror::{LEAVE_OUT, MIRROR, MIRROR_BY, MIRROR_DEVICE, MIRROR_URL, PAIR, VOTER};
use crate::keys::state::{DISTANCE, LINK, RESYNC_LINK};
use crate::{
    At, DatabaseSpec, Engine, Folder, Layout, Pairing, Place, Published, TierFolder, Voter, Waits, password, placing,
    target,
};
use reading::{AnyKey, Problems};

/// Keys of a mirror of which each value of a list is a system.
pub(crate) static VARIED: [&dyn AnyKey; 3] = [&MIRROR_DEVICE, &MIRROR_BY, &LEAVE_OUT];

/// Gives every system its mirror, where it has one. The servers of a study (`own`) are of the engine of its pair.
pub(crate) fn settle(systems: &mut [SystemChoice], own: bool, problems: &mut Problems) {
    for system in systems {
        beside(system, problems);
        let device = find(&system.settings, &MIRROR_DEVICE).cloned();
        let SystemChoice { spec: system, settings } = system;
        let Some(chosen) = find(settings, &MIRROR) else {
            for given in VARIED.iter().filter_map(|key| find(settings, *key)) {
                let message = "a system with a mirror, got none: add `--set mirror=on`";
                problems.add(&given.at, &format!("system.{}.{}", system.name, given.key.name()), message);
            }
            continue;
        };
        let waits = MIRROR.value(&chosen.text);
        let pair = find(settings, &PAIR);
        let pairing = pair.map(|pair| PAIR.value(&pair.text)).unwrap_or_default();
        let name = |key: &str| format!("system.{}.{key}", system.name);
        match &mut system.place {
            Place::Database(spec @ DatabaseSpec { at: At::Local, .. })
                if can_be_laid(spec, pairing)
                    && (spec.engine == pairing.engine() || own && spec.engine.language().is_some()) =>
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
                let (by, out) = (find(settings, &MIRROR_BY), find(settings, &LEAVE_OUT));
                let leave_out = out.map(|out| LEAVE_OUT.value(&out.text)).unwrap_or_default();
                let asked = [by.is_some_and(|by| MIRROR_BY.value(&by.text)), !leave_out.is_empty()];
                match (waits.and(out.or(by)), chooses(pairing, asked)) {
                    (Some(given), Err(message)) => problems.add(&given.at, &name(given.key.name()), message),
                    (Some(_), Ok(())) if asked[0] || asked[1] => spec.published = Some(Published { leave_out }),
                    _ => {}
                }
                if let (Some(device), true) = (device, waits.is_some())
                    && let Err(message) = lies_apart(spec, MIRROR_DEVICE.value(&device.text))
                {
                    problems.add(&device.at, &name("mirror_device"), message);
                }
            }
            _ if waits.is_none() => {}
            place => {
                let got = match place {
                    Place::Database(spec) => spec.placed(),
                    place => place.word().to_owned(),
                };
                let message = format!(
                    "a mirror is made of a server that Prony starts, `local:{}` without {}, got `{got}`",
                    pairing.engine().word(),
                    if pairing == Pairing::Galera { "a layout" } else { "a mover" }
                );
                problems.add(&chosen.at, &name("mirror"), message);
            }
        }
    }
}

/// Whether such pairs mirror by publication, and leave tables out, where that is asked.
fn chooses(pairing: Pairing, [by, out]: [bool; 2]) -> Result<(), &'static str> {
    match pairing {
        Pairing::Postgres if out && !by => Err(
            "`mirror_by=publication` with it: the log carries all tables, so that a mirror by `log` has all of them",
        ),
        Pairing::TwoPhase if by => {
            Err("no `mirror_by` in a `two-phase-pair`, whose sessions send each statement to both servers")
        }
        Pairing::Galera if by || out => {
            Err("neither `mirror_by` nor `leave_out` in a `galera-pair`, which mirrors all tables of InnoDB")
        }
        _ => Ok(()),
    }
}

/// Whether the first server of such a pair may lie as it does: what moves between tiers is not told to a mirror, and servers that Galera
/// joins copy themselves into each other's folders.
fn can_be_laid(spec: &DatabaseSpec, pairing: Pairing) -> bool {
    spec.layout.as_ref().is_none_or(|layout| layout.moving.is_none() && pairing != Pairing::Galera)
}

/// Puts the mirror in a folder of its own.
fn lies_apart(spec: &mut DatabaseSpec, folder: Folder) -> Result<(), String> {
    if spec.pairing == Pairing::Galera {
        return Err(format!("no device of its own in a `galera-pair`, whose servers copy themselves, got `{folder}`"));
    }
    if spec.layout.iter().flat_map(Layout::folders).any(|(_, at)| at.folder.path == folder.path) {
        return Err(format!("another folder than that of the first server, got `{folder}` for both"));
    }
    spec.mirror_on = Some(Box::new(TierFolder { reached: folder.path.clone(), folder }));
    Ok(())
}

/// A system for each place of its mirror, and for each way to choose what it has, where it has one; a device is called by its model, since a
/// path is nobody else's business.
pub(crate) fn apart(systems: Vec<SystemChoice>) -> Vec<SystemChoice> {
    let each = |system: SystemChoice, key: &dyn AnyKey| {
        let alone = find(&system.settings, &MIRROR).is_none_or(|mirror| MIRROR.value(&mirror.text).is_none());
        // Where both ways are compared, the log has all tables once.
        let log = find(&system.settings, &MIRROR_BY).is_some_and(|by| !MIRROR_BY.value(&by.text));
        let alone = alone || log && key.name() == LEAVE_OUT.name();
        let own = system.spec.name.clone();
        let mut parts = placing::apart(vec![system], key);
        parts.truncate(if alone { 1 } else { parts.len() });
        let several = parts.len() > 1;
        let named = parts.into_iter().enumerate().map(move |(at, mut part)| {
            let folder = find(&part.settings, &MIRROR_DEVICE).map(|chosen| MIRROR_DEVICE.value(&chosen.text));
            let device = folder.and_then(|folder| folder.device).unwrap_or_else(|| "folder".to_owned());
            let device = device.split(',').next().unwrap_or_default();
            if !several {
                part.spec.name = own.clone();
            } else if key.name() == MIRROR_DEVICE.name() {
                part.spec.name = format!("{own} {device} {}", at + 1);
            }
            part
        });
        named.collect::<Vec<_>>()
    };
    VARIED.iter().fold(systems, |systems, key| systems.into_iter().flat_map(|system| each(system, *key)).collect())
}

/// All servers of a study are told rows by their log where one must be, so that they are the same server.
pub(crate) fn same_log(systems: &mut [SystemChoice]) {
    let mut all: Vec<&mut DatabaseSpec> = systems
        .iter_mut()
        .filter_map(|system| match &mut system.spec.place {
            Place::Database(spec) if spec.engine == Engine::Postgres && spec.at == At::Local => Some(spec),
            _ => None,
        })
        .collect();
    if all.iter().any(|spec| spec.published.is_some() && spec.pairing == Pairing::Postgres) {
        all.iter_mut().for_each(|spec| spec.logical = true);
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
            spec.beside = Some(Box::new(At::Url(url)));
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
            let key = [&DISTANCE as &dyn AnyKey, &LINK, &RESYNC_LINK].into_iter().find(|key| chosen.key.is(*key))?;
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
