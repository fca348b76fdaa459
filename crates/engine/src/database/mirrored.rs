//! A database with a mirror: the wire between both, before and after a trial.
//!
//! The one idea: a trial with a mirror begins with one that has all and ends without; whatever trial comes next finds the first server
//! alone, as a trial without a mirror needs it.

use crate::TrialError;
use crate::database::databases::Databases;
use database::DatabaseError;
use database::server::{Mirror, Shared};
use link::{Choice, Relay, Settings};
use observation::{Check, CheckResult, Event, EventKind, Series, Whole};
use std::sync::Arc;
use std::time::Duration;
use study::{Pairing, Trial, Waits, Wire};
use units::Nanos;

use crate::database::lags::{Carried, Sampling};
use crate::database::looking::Looking;
use crate::database::outage::{Outage, Pair};
use crate::told::{Ended, Told, of_mirror, remark, whole};
use workload::happening::{Happening, Mishap};

/// Behind a trial whose mirror took over: what was acknowledged since then is nowhere any more.
pub const STARTED_AS_LOST: &str =
    "behind the checks the mirror that took over went, and the first server was started again as it was lost";

/// A mirror that follows, and what carries the log to it.
pub(crate) struct Mirrored {
    mirror: Arc<dyn Mirror>,
    /// Of which every second one leads from the mirror to the first server.
    wires: Vec<Arc<Relay>>,
    /// Whoever looks after it, where something happens in the trial.
    outage: Option<Outage>,
    /// Whoever sees that it ended where nothing was to happen.
    guard: Option<Looking<bool>>,
    /// Whoever looks at what it is waited for, where nothing is to happen.
    sampling: Option<Sampling>,
    /// What the wire carried before the load.
    before: [(u64, u64); 2],
    waits: Waits,
    /// Acknowledgements with a warning before the load.
    unconfirmed: u64,
    /// Whether both have a network of their own each.
    networks: Event,
}

/// How often it is looked whether the mirror runs.
const GUARDED_EVERY: Duration = Duration::from_millis(500);

/// Sees that a mirror ended that nobody ended: commits would wait for it for ever.
fn guard(mirror: &Arc<dyn Mirror>) -> Looking<bool> {
    let mirror = mirror.clone();
    Looking::start(GUARDED_EVERY, false, move |ended, _| {
        *ended = mirror.pid().is_none();
        if *ended {
            // Where the first server does not answer either, its sessions are lost, and that is told.
            let _ = mirror.released();
        }
        !*ended
    })
}

impl Databases {
    /// Brings the mirror of a trial up to its primary, or lets the primary go on alone where the trial wants none.
    pub(crate) fn see_to_mirror(
        &mut self,
        trial: &Trial,
        settings: &[(String, String)],
    ) -> Result<Vec<String>, TrialError> {
        self.mirrored = None;
        let refused = self.refused();
        let Some(mirror) = self.mirror() else { return Ok(Vec::new()) };
        let Some(waits) = self.spec.mirror else {
            mirror.stand_alone().map_err(refused)?;
            return Ok(Vec::new());
        };
        let wire = |ends| wire(&*mirror, ends, trial.state.wire).map(Arc::new);
        let wires = mirror.wires().and_then(|ends| ends.into_iter().map(wire).collect::<Result<Vec<_>, _>>());
        let wires = wires.map_err(&refused)?;
        let outage = trial.events.iter().any(|(_, what)| matches!(what, Happening::Pair(_)));
        mirror.begin(waits, settings, outage.then_some(trial.state.patience)).map_err(&refused)?;
        let both = Some(&self.spec).filter(|spec| spec.pairing.both_write());
        self.open().into_iter().for_each(|database| database.on_both(both));
        let (own, before) = (wires[0].own(), carried(&wires));
        let resync = trial.state.resync.filter(|_| outage).zip(mirror.resync_wire());
        let resync = resync.map(|(shape, ends)| self::wire(&*mirror, ends, shape).map(Arc::new)).transpose();
        let resync = resync.map_err(&refused)?;
        let pair = Pair { mirror: mirror.clone(), relay: wires[0].clone(), resync, devices: self.devices.clone() };
        let watched =
            || Outage::watched(pair, waits, (trial.state.patience, self.served.clone(), self.stop.clone()), settings);
        let outage = outage.then(watched).transpose().map_err(&refused)?;
        let unconfirmed = mirror.unconfirmed();
        let guard = (self.spec.pairing != Pairing::TwoPhase && outage.is_none()).then(|| guard(&mirror));
        let over = || Carried::new(&wires[0]);
        let sampling = match (self.spec.pairing, &outage, self.shared()) {
            (Pairing::TwoPhase, _, Some(database)) => Some(Sampling::of_trips(move || database.round_trips(), over())),
            (Pairing::Postgres, None, _) => {
                let watch = mirror.lag_watch().map_err(&refused)?;
                watch.map(|watch| Sampling::of_commits(watch, over()))
            }
            _ => None,
        };
        let networks = networks(mirror.parted());
        self.mirrored = Some(Mirrored { mirror, wires, outage, guard, sampling, before, waits, unconfirmed, networks });
        let far = match trial.state.wire {
            plain if plain.is_plain() => "on a plain wire".to_owned(),
            shaped => {
                format!(
                    "over a wire of {shaped} each way, whose relay wakes up {} late, which is taken off",
                    units::duration(own)
                )
            }
        };
        Ok(vec![match self.spec.pairing {
            Pairing::TwoPhase => {
                format!("a second server with a copy of the first works in lock step on the same machine, {far}")
            }
            Pairing::Postgres => {
                let by = self.spec.published.as_ref().map_or("", |_| " by a publication");
                let waited = waits.shown_by(self.spec.published.as_ref().is_some());
                format!("a mirror follows{by} on the same machine, {far}; commits wait for {waited}")
            }
            Pairing::Galera => {
                format!("Galera joins a second server with a copy of the first on the same machine, {far}")
            }
        }])
    }

    /// Why whoever looks after the mirror gave up, if he has, in words.
    pub(crate) fn gave_up(&mut self) -> Option<String> {
        let error = self.mirrored.as_mut()?.outage.as_mut()?.failed()?;
        Some(format!("the watcher of its mirror gave up: {}", whole(&error)))
    }

    /// Behind a load: waits until the first server shows what was committed on the other.
    pub(crate) fn gathered(&self) -> Result<(), TrialError> {
        self.mirrored.as_ref().map_or(Ok(()), |mirrored| mirrored.mirror.gathered()).map_err(self.refused())
    }

    /// Holds both servers against each other once the mirror has applied all, and lets the first go on alone.
    /// One that took over goes with what only it holds, and the first server is started again.
    pub(crate) fn leave_mirror(&mut self, patience: Nanos, ended: Ended<'_>) -> Result<Told, TrialError> {
        let Some(mirrored) = self.mirrored.take() else { return Ok(Told::default()) };
        let refused = self.refused();
        let Mirrored { mirror, wires, outage, guard, sampling, before, waits, unconfirmed, networks } = mirrored;
        let sampled = sampling.zip(ended.started_unix_ns).map(|(sampling, started)| sampling.ended(started));
        if guard.is_some_and(|mut guard| guard.end() == Some(true)) {
            mirror.leave().map_err(&refused)?;
            let text = "the mirror ended in the trial, and nobody had asked for it: until that was seen commits waited for it, and from there on \
                        for nobody; see its log, and run it again";
            let doubt = Event { at: Nanos::ZERO, kind: EventKind::Doubt, text: text.to_owned() };
            let check = of_mirror(CheckResult::NotDone, "the mirror ended in the trial".to_owned());
            return Ok(Told { series: Vec::new(), events: vec![networks, doubt], checks: vec![check] });
        }
        let watched = outage.is_some();
        let (mut series, mut events, taken_over) =
            outage.map(Outage::ended).transpose().map_err(&refused)?.unwrap_or_default();
        series.extend(sampled.into_iter().flatten());
        events.push(networks);
        let now = carried(&wires);
        let carried = [0, 1].map(|way| (now[way].0 - before[way].0, now[way].1 - before[way].1));
        let words = |(bytes, pieces): (u64, u64)| {
            format!("{} in {}", units::bytes(units::Bytes(bytes)), units::counted(pieces, "pieces"))
        };
        self.open().into_iter().for_each(|database| database.on_both(None));
        let mut check = None;
        let behind = if taken_over && !mirror.come_back().map_err(&refused)? {
            drop(wires);
            self.reopen(patience, ended.clock)?;
            events.push(remark(STARTED_AS_LOST.to_owned()));
            String::new()
        } else {
            if taken_over {
                events.push(remark("behind the checks the first server came back and got what it missed".to_owned()));
            }
            let behind = mirror.level().map_err(&refused)?;
            check = self.equal(&*mirror).map_err(&refused)?;
            series.extend(
                mirror.flush_s().map(|seconds| Series {
                    probe: Whole::MirrorFlush.into(),
                    points: vec![(ended.at, 1e3 * seconds)],
                }),
            );
            mirror.leave().map_err(&refused)?;
            behind
        };
        let text = match self.spec.pairing {
            Pairing::TwoPhase => {
                let (there, back) = (words(carried[0]), words(carried[1]));
                format!("the wire carried {there} to the second server and {back} back; {behind}")
            }
            // The mirror is who connects: what goes back to it is the log.
            Pairing::Postgres => {
                let waited = waits.shown_by(self.spec.published.as_ref().is_some());
                let (there, back) = (words(carried[1]), words(carried[0]));
                let behind = if behind.is_empty() { behind } else { format!("; {behind}") };
                format!("the wire carried {there} to the mirror and {back} back; commits waited for {waited}{behind}")
            }
            Pairing::Galera => {
                let (there, back) = (words(carried[1]), words(carried[0]));
                format!("the wire carried {there} to the second server and {back} back; {behind}")
            }
        };
        events.push(remark(text));
        if watched && !taken_over {
            // Not those that were let go when commits had to wait no more: their clients got no warning.
            let cancelled = mirror.unconfirmed().saturating_sub(unconfirmed);
            events.extend((cancelled > 0).then(|| {
                remark(format!(
                    "{} whose wait for the mirror was broken off: the client was told that the commit stands, with a warning that the mirror may lack it",
                    units::counted(cancelled, "commits")
                ))
            }));
        }
        Ok(Told { series, events, checks: check.into_iter().collect() })
    }

    /// Whether both hold the same rows.
    fn equal(&self, mirror: &dyn Mirror) -> Result<Option<Check>, DatabaseError> {
        let Some((database, dataset)) = self.checked() else { return Ok(None) };
        let mut first = database.outside()?;
        let mut second = mirror.reader()?;
        let mut differ = Vec::new();
        let mirrored = |name: &str| self.spec.published.as_ref().is_none_or(|published| published.mirrors(name));
        let (tables, left_out): (Vec<_>, Vec<_>) =
            dataset.tables().into_iter().partition(|table| mirrored(&table.name));
        for table in &tables {
            let sql = mirror.content(&format!("{}.{}", dataset.schema(), table.name));
            let failed = |failure| DatabaseError::statement(&database.place(), "compare it with its mirror", failure);
            let (here, there) = (first.query(&sql).map_err(failed)?, second.query(&sql).map_err(failed)?);
            if here != there {
                differ.push(format!("{}: {here:?} and on the mirror {there:?}", table.name));
            }
        }
        let left_out = match left_out.len() as u64 {
            0 => String::new(),
            some => format!("; {} left out of the mirror", units::counted(some, "tables")),
        };
        let found = match differ.as_slice() {
            [] => format!("{} with the same rows on both{left_out}", units::counted(tables.len() as u64, "tables")),
            differ => differ.join("\n"),
        };
        let result = if differ.is_empty() { CheckResult::Passed } else { CheckResult::Failed };
        Ok(Some(of_mirror(result, found)))
    }

    /// Has something happen to the pair of a trial, or puts right what did.
    pub(crate) fn mishap(&self, at: Nanos, what: Option<Mishap>) -> std::io::Result<()> {
        match (self.mirrored.as_ref().and_then(|mirrored| mirrored.outage.as_ref()), what) {
            (Some(outage), _) => outage.order(at, what),
            (None, None) => {}
            (None, Some(_)) => return Err(std::io::ErrorKind::Unsupported.into()),
        }
        Ok(())
    }

    /// The processes of the mirror that follows.
    pub(crate) fn mirror_process(&self) -> Option<u32> {
        self.mirrored.as_ref()?.mirror.pid()
    }
}

impl Mirrored {
    /// Lets the first server go on alone, whatever became of the trial.
    pub(crate) fn forget(self) {
        drop(self.outage);
        drop(self.guard);
        // Whoever opens the server next sees to what stays.
        let _ = self.mirror.leave();
    }
}

/// What is told of the networks of two servers.
fn networks(parted: Result<(), Shared>) -> Event {
    match parted {
        Ok(()) => Event {
            at: Nanos::ZERO,
            kind: EventKind::Parted,
            text: "both servers have a network of their own each, with `lo` alone: they meet at the socket of the wire and at no port"
                .to_owned(),
        },
        Err(why) => remark(format!("both servers share the network of this machine: {why}")),
    }
}

/// Bytes and pieces to the mirror and back, or the other way round where the mirror is who connects.
fn carried(wires: &[Arc<Relay>]) -> [(u64, u64); 2] {
    wires.iter().enumerate().fold(Default::default(), |sum: [(u64, u64); 2], (at, wire)| {
        let told = wire.told().1;
        [0, 1].map(|way| {
            let (bytes, pieces) = told[(way + at) % 2];
            (sum[way].0 + bytes, sum[way].1 + pieces)
        })
    })
}

/// What carries that which goes between both.
fn wire(mirror: &dyn Mirror, [near, far]: [String; 2], shape: Wire) -> Result<Relay, DatabaseError> {
    let refused = |text: String| DatabaseError::Refused { place: near.clone(), text };
    let failed = |source: std::io::Error| refused(source.to_string());
    if std::path::Path::new(&near).exists() {
        std::fs::remove_file(&near).map_err(failed)?;
    }
    let paths = vec![shape];
    let (listen, to) = (near.parse().map_err(refused)?, far.parse().map_err(refused)?);
    let settings = Settings { listen, to, paths, choice: Choice::Priority, failover: Nanos::ZERO, seed: 0 };
    let relay = Relay::start(&settings).map_err(failed)?;
    mirror.wired(&near)?;
    Ok(relay)
}
