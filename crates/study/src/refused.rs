//! What the engine refuses of a trial, said of its study.
//!
//! The one idea: whoever runs a study learns before anything is filled or written what would end a trial at its start. The
//! engine checks the same again, because it is handed trials that nobody planned.
//!
//! What it does not do: what no survey can tell stays with the engine (a server's own limits, a privilege, a full disk).

use crate::experiment::find;
use crate::keys::access::{DRIVER, SYNC, VALIDATE, VERIFY};
use crate::keys::load::{OUTSTANDING, SLOTS};
use crate::keys::mirror::LEAVE_OUT;
use crate::keys::phases::EVENTS;
use crate::keys::session::SERVER;
use crate::keys::state::{CORES, FAULT, SPREAD};
use crate::mirror::fits;
use crate::point::Point;
use crate::survey::Survey;
use crate::{Access, At, DatabaseSpec, Driver, Engine, Pairing, Place, Published, RING_MAX, Spread, Stream, SyncMode};
use load::Spec as Load;
use reading::{AnyKey, Problems, listed};
use workload::block::keys::TRIMS;
use workload::block::{self, Grid};
use workload::dataset::Table;
use workload::happening::Happening;
use workload::kind::{SESSIONS, WORKERS_MAX};

/// Tells of everything in the streams of a point that its system would refuse when the trial begins.
pub(crate) fn tell(point: &Point, streams: &[Stream], survey: &Survey, problems: &mut Problems) {
    let ring = survey.of(&point.spec().name).is_none_or(|system| system.ring);
    match &point.spec().place {
        Place::Database(spec) => {
            session_threads(point, spec, streams, ring, problems);
            data_sets(point, spec, streams, problems);
            spread(point, spec, streams, problems);
            published(point, spec, streams, problems);
            cores(point, spec, survey, problems);
        }
        place if place.holds_data() => {
            polled_syncs(point, streams, problems);
            rings(point, streams, ring, problems);
            threads(point, streams, ring, problems);
            validated(point, streams, problems);
            trims(point, streams, problems);
        }
        _ => {}
    }
}

/// A polled ring takes reads and writes alone.
fn polled_syncs(point: &Point, streams: &[Stream], problems: &mut Problems) {
    for (i, access) in accesses(streams) {
        if access.poll && matches!(access.sync, SyncMode::Every(_)) {
            let message = "`never` or `each` with `poll`: a polled ring takes no sync of its own, got `every N`";
            point.refuse(&SYNC, i, message, problems);
        }
    }
}

/// Ranges are given back by calls that a polled ring does not carry, and leave no stamp by which a read could be judged.
fn trims(point: &Point, streams: &[Stream], problems: &mut Problems) {
    let Some(i) = streams.iter().position(|stream| stream.block().is_some_and(|spec| spec.trims.0 > 0.0)) else {
        return;
    };
    if accesses(streams).any(|(_, access)| access.validate || access.verify) {
        let message = "none where reads are checked (`validate`, `verify`): what was given back carries no stamp, so that \
                       zeroes could be right or damage; check what is written in an experiment of its own";
        point.refuse(&TRIMS, i, message, problems);
    }
    if accesses(streams).any(|(index, access)| index == i && access.poll) {
        point.refuse(&TRIMS, i, "none with `poll`: a polled ring takes reads and writes alone", problems);
    }
}

fn rings(point: &Point, streams: &[Stream], ring: bool, problems: &mut Problems) {
    for (i, access) in accesses(streams) {
        if access.driver == Driver::Uring && !ring {
            point.refuse(&DRIVER, i, "`auto` or `plain`: io_uring cannot be used on this machine", problems);
        }
    }
}

/// Without io_uring each outstanding operation has a thread; a ring takes so many and no more.
fn threads(point: &Point, streams: &[Stream], ring: bool, problems: &mut Problems) {
    for (i, access) in accesses(streams).filter(|(i, _)| streams[*i].block().is_some()) {
        let got = streams[i].slots();
        let key: &dyn AnyKey = if matches!(streams[i].load, Load::Open { .. }) { &SLOTS } else { &OUTSTANDING };
        let plain = access.driver == Driver::Plain || (access.driver == Driver::Auto && !ring);
        let each = got.div_ceil(streams[i].threads.count.max(1));
        if !plain && each > RING_MAX {
            let next = format!("take `workers = {}`, or fewer", got.div_ceil(RING_MAX));
            let message = format!("at most {RING_MAX} operations in flight on one io_uring, got {each}: {next}");
            point.refuse(key, i, message, problems);
        }
        if plain && got > WORKERS_MAX {
            let next =
                if ring { "take `driver = \"io_uring\"`, or fewer" } else { "take fewer: io_uring cannot be used" };
            let message = format!(
                "at most {WORKERS_MAX} operations in flight where each has a thread of its own, got {got}: {next}"
            );
            point.refuse(key, i, message, problems);
        }
    }
}

/// Sessions that cannot be driven without blocking have a thread each.
fn session_threads(point: &Point, spec: &DatabaseSpec, streams: &[Stream], ring: bool, problems: &mut Problems) {
    for (i, stream) in streams.iter().enumerate() {
        let (got, driven) = (stream.sessions(), matches!(spec.engine, Engine::Postgres | Engine::Mariadb) && ring);
        if !driven && got > WORKERS_MAX {
            let message = format!("at most {WORKERS_MAX} sessions where each has a thread of its own, got {got}");
            point.refuse(&SESSIONS, i, message, problems);
        }
    }
}

/// Streams that run at once share one data set.
fn data_sets(point: &Point, spec: &DatabaseSpec, streams: &[Stream], problems: &mut Problems) {
    if spec.engine == Engine::Null {
        return;
    }
    let by_url = matches!(spec.at, At::Url(_));
    let mut sets = streams.iter().filter_map(|stream| stream.transactions()?.0.data_set(by_url));
    let first = sets.next();
    if sets.any(|other| Some(&other) != first.as_ref()) {
        let message = "one data set for the streams of an experiment, got two: give them the same scale, or an experiment \
                       each";
        problems.add(&point.experiment.at, &point.experiment.name, message);
    }
}

/// A publication leaves out tables that are there, and has some; the log that it is made of tells rows.
fn published(point: &Point, spec: &DatabaseSpec, streams: &[Stream], problems: &mut Problems) {
    if spec.logical
        && let Some(i) = (0..streams.len()).find(|i| point.get(&SERVER, *i).replace('-', "_").contains("wal_level"))
    {
        point.refuse(
            &SERVER,
            i,
            "no `wal_level` with `mirror_by=publication`, which needs `logical` of all servers",
            problems,
        );
    }
    let Some(published) = spec.published.as_ref().filter(|published| !published.leave_out.is_empty()) else { return };
    if spec.pairing == Pairing::TwoPhase {
        at_one_alone(point, streams, problems);
    }
    let Some(set) = streams.iter().find_map(|stream| stream.transactions()?.0.data_set(false)) else { return };
    let tables = set.tables();
    let (names, given) = (|| tables.iter().map(|table| table.name.as_ref()), find(&point.system.settings, &LEAVE_OUT));
    let unknown = published.leave_out.iter().find(|pattern| !names().any(|name| fits(pattern, name)));
    let message = match unknown {
        Some(unknown) => {
            format!("tables of the data set {}, which has {}, got `{unknown}`", set.name(), listed(names()))
        }
        None if names().any(|name| published.mirrors(name)) => {
            match needs(&tables, published).filter(|_| spec.pairing == Pairing::TwoPhase) {
                None => return,
                Some((table, to)) => format!(
                    "tables that no mirrored table refers to, since its rows would be refused in lock step, got `{to}`, which `{table}` refers to"
                ),
            }
        }
        None => format!("a table of {} that is left to mirror, got none", listed(names())),
    };
    let at = given.map_or(&point.experiment.at, |given| &given.at);
    problems.add_if_new(at, &format!("system.{}.leave_out", point.spec().name), message);
}

/// What writes to tables that lock step leaves out goes to the first server, which must be told by the texts of statements.
fn at_one_alone(point: &Point, streams: &[Stream], problems: &mut Problems) {
    if point.get(&SPREAD, 0) != Spread::One {
        let message = "`one` with `leave_out`: tables that are left out are whole on the first server alone";
        point.refuse(&SPREAD, 0, message, problems);
    }
    let hides = |stream: &Stream| {
        stream.transactions().is_some_and(|(asked, _)| asked.calls_procedures() || asked.is_foreign())
    };
    if streams.iter().any(hides) {
        let message = "none in a `two-phase-pair` with procedures or with scripts of your own, of which nobody knows the tables: take statements";
        let at = find(&point.system.settings, &LEAVE_OUT).map_or(&point.experiment.at, |given| &given.at);
        problems.add_if_new(at, &format!("system.{}.leave_out", point.spec().name), message.to_owned());
    }
}

/// A mirrored table with one that it refers to and that is left out.
fn needs<'a>(tables: &'a [Table], published: &Published) -> Option<(&'a str, &'a str)> {
    let there = |name: &str| tables.iter().any(|table| table.name == name);
    let mirrored = tables.iter().filter(|table| published.mirrors(&table.name));
    let mut refers = mirrored.flat_map(|table| table.references.iter().map(|to| (table.name.as_ref(), to.table)));
    refers.find(|(_, to)| there(to) && !published.mirrors(to))
}

/// Sessions go to a second server where there is one that takes writes, and keys are split by workloads that can.
fn spread(point: &Point, spec: &DatabaseSpec, streams: &[Stream], problems: &mut Problems) {
    let spread = point.get(&SPREAD, 0);
    // A database that answers at once shows what the generator costs, whatever is asked of it.
    if spread != Spread::One && !spec.pairing.both_write() && spec.engine != Engine::Null {
        let message = "`one`, or a pair on which both servers write, `two-phase-pair` or `galera-pair`, with `mirror`";
        point.refuse(&SPREAD, 0, message, problems);
    }
    let whole = |stream: &Stream| stream.transactions().is_some_and(|(asked, _)| !asked.splits());
    if let (Spread::Split, Some(i)) = (spread, streams.iter().position(whole)) {
        point.refuse(
            &SPREAD,
            i,
            "`one` or `random` with this workload, whose keys are not split, got `split`",
            problems,
        );
    }
}

/// Servers that run through the trial are held to processors that there are.
fn cores(point: &Point, spec: &DatabaseSpec, survey: &Survey, problems: &mut Problems) {
    // A database that answers at once shows what the generator costs, whatever is asked of it.
    let Some(cores) = point.get(&CORES, 0).filter(|_| spec.engine != Engine::Null) else { return };
    let happens = point.get(&EVENTS, 0).iter().any(|(_, what)| matches!(what, Happening::Pair(_)));
    let message = match survey.cores.filter(|most| cores > f64::from(*most)) {
        Some(most) => format!("at most the {most} processors of this machine for each server, got {cores}"),
        None if happens || point.get(&FAULT, 0).is_some() => format!(
            "`all` where something happens to a pair: a server that is started again meanwhile is in no control group, got {cores}"
        ),
        None => return,
    };
    point.refuse(&CORES, 0, message, problems);
}

/// Reads are checked against a map of what was written, which all streams share.
fn validated(point: &Point, streams: &[Stream], problems: &mut Problems) {
    let verifies = |stream: &Stream| stream.operations().is_some_and(|operations| operations.access.verify);
    let (i, key): (usize, &dyn AnyKey) =
        match (streams.iter().position(Stream::validates), streams.iter().position(verifies)) {
            (Some(i), _) => (i, &VALIDATE),
            (None, Some(i)) => (i, &VERIFY),
            (None, None) => return,
        };
    let specs: Vec<&block::Spec> = streams.iter().filter_map(Stream::block).collect();
    if let Err(problem) = Grid::over(&specs) {
        point.refuse(key, i, problem.to_string(), problems);
    }
    let writing = || specs.iter().filter(|spec| spec.writes());
    if writing().zip(writing().skip(1)).any(|(one, next)| !one.data.same_duplicates(&next.data)) {
        let message = "`duplicate` and `duplicate_unit` the same in all streams that write, where reads are checked";
        point.refuse(key, i, message, problems);
    }
    let slots: u64 = streams.iter().map(|stream| u64::from(stream.slots())).sum();
    if slots > block::OUTSTANDING_MAX {
        let message = format!("at most {} operations outstanding together, got {slots}", block::OUTSTANDING_MAX);
        point.refuse(key, i, message, problems);
    }
}

/// How operations reach storage, of each stream that has any.
fn accesses(streams: &[Stream]) -> impl Iterator<Item = (usize, Access)> {
    streams.iter().enumerate().filter_map(|(i, stream)| Some((i, stream.operations()?.access)))
}
