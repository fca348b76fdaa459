//! From a point to a trial, before it has a place in the order.
//!
//! The one idea: what a system cannot do is not an error but a point left out, with the reason; an error is what no
//! system could do.
//!
//! What it does not do: replicate, order, index and seed are put in by the planner.

use crate::keys::phases::{EVENTS, MEASURE};
use crate::keys::state::{AT, CORES, FAULT, RESUME, RESYNC_LINK};
use crate::keys::{keys, load, system};
use crate::left_out::LeftOut;
use crate::point::{FACTOR, Point};
use crate::survey::{DescribedKeys, Survey, SurveyedSystem};
use crate::{
    At, DatabaseSpec, Engine, Pairing, Phases, Place, SteadyRule, Stream, Trial, phases, refused, sessions, state,
    stream,
};
use observation::TrialLabel;
use reading::{AnyKey, Origin, Problems};
use units::{Bytes, Nanos};
use workload::block;
use workload::happening::{self, Happening, Mishap};
use workload::kind::Transactions;

/// Size of scratch files that nobody set.
pub(crate) const SIZE: Bytes = Bytes::gib(1);

/// The trial of a point, or the reason why this system cannot run it.
pub(crate) fn trial(
    point: &Point,
    survey: &Survey,
    rule: &SteadyRule,
    problems: &mut Problems,
) -> Result<Trial, LeftOut> {
    let modules = modules(point);
    let (streams, labels) = stream::streams(point, modules, problems);
    let files_only = streams.iter().all(|stream| stream.files().is_some());
    let database = transactional(point, survey).unwrap_or_else(|| streams.iter().all(|s| s.transactions().is_some()));
    let module_bytes = if files_only || database { Bytes(0) } else { size(point, survey) };
    let fixed_work = streams.iter().all(fixed);
    // A job may run beside users, until it ends or the window does.
    if !fixed_work && streams.iter().any(|stream| fixed(stream) && stream.transactions().is_none()) {
        let message = "either every stream of an experiment has a fixed amount of work, or none has";
        problems.add(&Origin::Whole, &point.experiment.name, message);
    }
    let state = state::state(point);
    let phases = phases::phases(point, fixed_work, rule, problems);
    ramps(point, &streams, &phases, problems);
    drifts(point, &phases, problems);
    searchable(point, &streams, problems);
    if !database {
        range(point, &streams, module_bytes, problems)?;
    }
    let events = events(point, &phases, problems);
    resyncs(point, &events, problems);
    can(point, survey, &streams, modules, module_bytes)?;
    held(point, survey)?;
    survey.of(&point.spec().name).map_or(Ok(()), |system| happens(system, &events))?;
    refused::tell(point, &streams, survey, problems);
    let label = TrialLabel {
        index: 0,
        experiment: point.experiment.name.clone(),
        system: point.spec().name.clone(),
        replicate: 0,
        block: 0,
        factors: point.factors(),
        streams: labels,
        state: state::policy(&state, state::unasked(point)),
        search: None,
    };
    let server = sessions::server(point, problems);
    Ok(Trial { label, streams, modules, module_bytes, state, phases, events, server, seed: 0 })
}

/// A search tries rates over time: some stream must leave its rate to it, and none may end after so much work.
fn searchable(point: &Point, streams: &[Stream], problems: &mut Problems) {
    let Some(search) = &point.experiment.search else { return };
    let key = format!("{}.search", point.experiment.name);
    if streams.iter().any(fixed) {
        let message = "streams that go on for as long as they are measured, got a fixed amount of work (`operations`, or \
                       work on files): remove it, or the search";
        problems.add(&search.at, &key, message);
    } else if !(0..streams.len()).any(|i| point.searched(i)) {
        let message = "a stream of blocks without `rate` and `outstanding`, whose rate it can choose, got none";
        problems.add(&point.experiment.at, &key, message);
    }
}

/// Only servers that Prony starts are held to processors, and only where control groups can be made.
fn held(point: &Point, survey: &Survey) -> Result<(), LeftOut> {
    if point.get(&CORES, 0).is_none() {
        return Ok(());
    }
    let unheld = match &point.spec().place {
        // What answers at once shows what the generator costs, whatever is asked of it.
        Place::Database(DatabaseSpec { engine: Engine::Null, .. }) => return Ok(()),
        Place::Database(DatabaseSpec { at: At::Local, .. }) if survey.unheld.is_none() => return Ok(()),
        Place::Database(DatabaseSpec { at: At::Local, .. }) => survey.unheld.clone(),
        _ => None,
    };
    Err(LeftOut::Cores { unheld })
}

/// The window begins with the full load.
fn ramps(point: &Point, streams: &[Stream], phases: &Phases, problems: &mut Problems) {
    for (i, stream) in streams.iter().enumerate().filter(|(_, stream)| stream.ramp.over > phases.warm_up) {
        let (warm_up, ramp) = (units::duration(phases.warm_up), units::duration(stream.ramp.over));
        point.refuse(&load::RAMP, i, format!("no longer than the warm-up, {warm_up}, got {ramp}"), problems);
    }
}

/// What happens lies inside the window, which it is counted from.
fn events(point: &Point, phases: &Phases, problems: &mut Problems) -> Vec<(Nanos, Happening)> {
    let mut events = point.get(&EVENTS, 0);
    if let Some(fault) = point.get(&FAULT, 0) {
        let part = |key, of: u64| point.given(key, 0).unwrap_or(Nanos(phases.measure.0 / of));
        let (at, back) = (part(&AT, 4), part(&RESUME, 2));
        events.push((at, Happening::Pair(fault)));
        if !fault.takes_primary() {
            events.push((back, Happening::Pair(Mishap::Resume)));
            if back <= at {
                let (at, back) = (units::duration(at), units::duration(back));
                point.refuse(&RESUME, 0, format!("later than the fault at {at}, got {back}"), problems);
            }
        }
        events.sort_by_key(|(at, _)| *at);
    }
    if let Some((at, what)) = events.last().filter(|(at, _)| *at >= phases.measure) {
        let (measure, at) = (units::duration(phases.measure), units::duration(*at));
        let resumes = *what == Happening::Pair(Mishap::Resume);
        let key: &dyn AnyKey = match point.get(&FAULT, 0) {
            Some(_) if resumes => &RESUME,
            Some(_) => &AT,
            None => &EVENTS,
        };
        point.refuse(key, 0, format!("before the end of the window, {measure}, got `{what}` at {at}"), problems);
    }
    events
}

/// A wire for what a mirror lacks needs a mirror that lacks something, and one that finds its log by a wire.
fn resyncs(point: &Point, events: &[(Nanos, Happening)], problems: &mut Problems) {
    let Place::Database(DatabaseSpec { mirror: Some(_), pairing, .. }) = &point.spec().place else { return };
    if point.get(&RESYNC_LINK, 0).is_none() {
        return;
    }
    let message = match pairing {
        Pairing::Postgres if events.iter().any(|(_, what)| *what == Happening::Pair(Mishap::Resume)) => return,
        Pairing::Postgres => "an outage behind which the mirror comes back, as `--set fault=cut` brings it, got none",
        Pairing::TwoPhase => "`same` in a `two-phase-pair`, whose second server is copied before each trial",
        Pairing::Galera => "`same` in a `galera-pair`, whose servers send what the other lacks past the wire",
    };
    point.refuse(&RESYNC_LINK, 0, message, problems);
}

/// Whether all of that can happen to a system.
fn happens(system: &SurveyedSystem, events: &[(Nanos, Happening)]) -> Result<(), LeftOut> {
    let Some(happens) = &system.happens else { return Ok(()) };
    let knows = |what: &Happening| {
        let known = happens.iter().find(|(word, _)| *word == what.word());
        known.is_some_and(|(_, count)| what.number().is_none_or(|number| number < *count))
    };
    match events.iter().find(|(_, what)| !knows(what)) {
        Some((_, what)) => {
            let (event, known, described) = (what.to_string(), happens.clone(), system.described.is_some());
            return Err(LeftOut::Happens { event, known, described });
        }
        None if system.loses => return Ok(()),
        None => {}
    }
    let idle = |(at, what): &(Nanos, Happening)| Err(LeftOut::Idle { event: what.to_string(), at: *at });
    happening::idle(events).map_or(Ok(()), idle)
}

/// A script whose service times shrink must have some left when the window ends.
fn drifts(point: &Point, phases: &Phases, problems: &mut Problems) {
    let Place::Scripted(script) = &point.spec().place else { return };
    let lasts = phases.warm_up.saturating_add(phases.measure);
    // A fixed number of operations ends however short they are.
    if phases.fixed_work || problems.has_run || 1.0 + script.drift_per_s * lasts.seconds() > 0.0 {
        return;
    }
    let (drift, most) = (units::percent(script.drift_per_s), Nanos::from_seconds(-1.0 / script.drift_per_s));
    let message = format!(
        "less than {} with the warm-up: with a `drift` of {drift} the service times of `{}` are down to nothing by then, got {}",
        units::duration(most),
        point.spec().name,
        units::duration(lasts)
    );
    point.refuse(&MEASURE, 0, message, problems);
}

fn fixed(stream: &Stream) -> bool {
    stream.files().is_some() || stream.work().is_some()
}

/// Every device or folder that the system names, unless the study says how many take part.
fn modules(point: &Point) -> u32 {
    let named = match &point.spec().place {
        Place::File { dirs } => dirs.len(),
        Place::Device { paths, .. } => paths.len(),
        Place::Null | Place::Scripted(_) | Place::Database(_) | Place::Model { .. } => 1,
    };
    point.given(&system::MODULES, 0).map_or(named as u32, |modules| modules as u32)
}

fn size(point: &Point, survey: &Survey) -> Bytes {
    let whole = survey.of(&point.spec().name).and_then(|system| system.size_max);
    let default = match point.spec().place {
        Place::Device { .. } | Place::Model { .. } => whole.unwrap_or(SIZE),
        Place::File { .. } | Place::Null | Place::Scripted(_) | Place::Database(_) => SIZE,
    };
    point.given(&system::SIZE, 0).unwrap_or(default)
}

/// The active range must hold a transfer. Of a device that is used whole only the survey knows the size.
fn range(point: &Point, streams: &[Stream], size: Bytes, problems: &mut Problems) -> Result<(), LeftOut> {
    for (i, stream) in streams.iter().enumerate() {
        let Some(spec) = stream.block() else { continue };
        let range = Bytes((size.0.saturating_sub(spec.start.0) as f64 * spec.range.0) as u64);
        let needed = Bytes(spec.transfer_max().0.saturating_add(spec.shift.0));
        if needed <= range {
            continue;
        }
        if matches!(point.spec().place, Place::Device { .. }) && point.given(&system::SIZE, i).is_none() {
            return Err(LeftOut::Range { range, needed });
        }
        too_far(point, i, (spec, size, range), problems);
    }
    Ok(())
}

/// Refuses the key that leaves no room for a transfer of a stream in a module of that size, of which that range is active.
fn too_far(point: &Point, i: usize, (spec, size, range): (&block::Spec, Bytes, Bytes), problems: &mut Problems) {
    use block::keys::{OFFSET, RANGE, SHIFT};
    let transfer = spec.transfer_max();
    let needed = Bytes(transfer.0.saturating_add(spec.shift.0));
    let beyond = |start: Bytes, room: Bytes| start.0 > 0 && transfer.0.saturating_add(start.0) > room.0;
    let (module, behind) = (units::bytes(size), units::bytes(transfer));
    if beyond(spec.shift, size) || beyond(spec.shift, range) && !beyond(spec.start, size) && transfer <= range {
        let (range, got) = (units::bytes(range.min(size)), units::bytes(spec.shift));
        let message = format!(
            "room for a transfer of {behind} behind it in the active range, {range} of a module of {module}, got {got}"
        );
        point.refuse(&SHIFT, i, message, problems);
    } else if beyond(spec.start, size) {
        let got = units::bytes(spec.start);
        point.refuse(
            &OFFSET,
            i,
            format!("room for a transfer of {behind} behind it in a module of {module}, got {got}"),
            problems,
        );
    } else {
        let (range, needed) = (units::bytes(range), units::bytes(needed));
        point.refuse(
            &RANGE,
            i,
            format!("an active range that holds a transfer of {needed}, got one of {range}"),
            problems,
        );
    }
}

/// Whether the system can run this point.
fn can(point: &Point, survey: &Survey, streams: &[Stream], modules: u32, size: Bytes) -> Result<(), LeftOut> {
    if streams.iter().any(|stream| stream.files().is_some()) && matches!(point.spec().place, Place::Device { .. }) {
        return Err(LeftOut::FileWork);
    }
    asked_where(point, survey, streams)?;
    let Some(surveyed) = survey.of(&point.spec().name) else { return Ok(()) };
    if let Some(described) = &surveyed.described {
        streams.iter().enumerate().try_for_each(|(place, stream)| answered(point, place, stream, described))?;
    }
    if let Some(max) = surveyed.modules_max.filter(|max| modules > *max) {
        return Err(LeftOut::Modules { max });
    }
    if let Some(max) = surveyed.size_max.filter(|max| size > *max) {
        return Err(LeftOut::Size { max });
    }
    sectors(surveyed.sector, streams)
}

/// Whether a described machine answers every key that is set for a stream: what moves nothing is no factor, and what it does
/// not know is at its default.
fn answered(point: &Point, place: usize, stream: &Stream, described: &DescribedKeys) -> Result<(), LeftOut> {
    let own = &point.streams[place];
    // The keys of a workload that says what its classes ask for move the machine by that, and it needs to know none of them.
    let demanding = |asked: &dyn Transactions| asked.classes().iter().any(|class| class.demand.is_some());
    let by_classes = stream.transactions().is_some_and(|(asked, _)| demanding(asked));
    let of_classes = |key: &str| by_classes && own.kind.keys.iter().any(|known| known.name() == key);
    let open = |key: &str| !described.answered.contains(&key) && !of_classes(key);
    for key in keys().filter(|key| key.applies(own.kind) && open(key.name())) {
        let Some((rank, chosen)) = point.setting(&*key, place) else { continue };
        let varied = rank == FACTOR && point.experiment.varies(&*key);
        let elsewhere = !described.held.contains(&key.name()) && !key.same(&chosen.text, key.default());
        if varied || elsewhere {
            let (kind, answered) = (described.kind.clone(), described.answered.clone());
            return Err(LeftOut::Key { kind, key: key.name(), varied, answered });
        }
    }
    Ok(())
}

/// Whether a system is asked for transactions; none of a model that nobody has looked at.
fn transactional(point: &Point, survey: &Survey) -> Option<bool> {
    let spec = point.spec();
    match spec.place {
        Place::Database(_) => Some(true),
        Place::Model { .. } => survey.of(&spec.name).map(|surveyed| surveyed.transactions),
        Place::File { .. } | Place::Device { .. } | Place::Null | Place::Scripted(_) => Some(false),
    }
}

/// Databases are asked for transactions, storage for operations, and neither for the other.
fn asked_where(point: &Point, survey: &Survey, streams: &[Stream]) -> Result<(), LeftOut> {
    let Some(database) = transactional(point, survey) else { return Ok(()) };
    let described = |stream: &Stream| stream.transactions().is_none_or(|(asked, _)| asked.described_by_models());
    if matches!(point.spec().place, Place::Model { .. }) && !streams.iter().all(described) {
        return Err(LeftOut::OtherTransactions);
    }
    match (database, streams.iter().find(|stream| stream.transactions().is_some() != database)) {
        (_, None) => Ok(()),
        (true, Some(_)) => Err(LeftOut::Storage),
        (false, Some(_)) => Err(LeftOut::Transactions),
    }
}

/// Direct transfers move whole sectors of the device.
fn sectors(sector: Bytes, streams: &[Stream]) -> Result<(), LeftOut> {
    if sector.0 <= 1 {
        return Ok(());
    }
    let direct = |stream: &&Stream| stream.operations().is_some_and(|operations| operations.access.direct);
    for stream in streams.iter().filter(direct) {
        let Some(spec) = stream.block() else { continue };
        if spec.all_transfers().any(|transfer| !transfer.size.0.is_multiple_of(sector.0)) {
            return Err(LeftOut::Transfers { sector });
        }
        if !spec.origin().0.is_multiple_of(sector.0) {
            return Err(LeftOut::Shift { sector });
        }
    }
    Ok(())
}
