//! A database: what stands around the load of a trial on it.

use crate::database::databases::{Databases, LOST, asked, profiled};
use crate::database::waits::Waits;
use crate::database::{checks, costs, levels, sessions};
use crate::observer::{Found, Observer};
use crate::target::backing::{Asked, Backing, Carried, Ended, Told, remark};
use crate::told::{Happens, whole};
use crate::worker::assign::assign;
use crate::worker::profile::Profile;
use crate::{OpenError, TrialError};
use database::DatabaseError;
use observation::{Check, CheckKind, CheckMoment, CheckResult, Event, EventKind, Fact};
use recorder::WallClock;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use study::Trial;
use units::Nanos;
use workload::happening::Mishap;

impl Databases {
    /// What of the database makes figures of a trial say less than they seem to.
    fn doubts(&self) -> impl Iterator<Item = Event> {
        let volatile = self.open().map(|database| database.facts().volatile()).unwrap_or_default();
        let alone = "compare only where the same holds";
        let volatile =
            volatile.into_iter().map(move |what| format!("{what}, and commits do not wait for the disk; {alone}"));
        let added = self.checked().and_then(|(database, set)| database::dataset::added(database, set).ok());
        let added = added.filter(|added| !added.is_empty()).map(|added| {
            format!(
                "{} was not made by the fill: writes cost more, and plans may be others; drop it, or {alone}",
                added.join(", ")
            )
        });
        volatile.chain(added).map(|text| Event { at: Nanos::ZERO, kind: EventKind::Doubt, text })
    }

    /// What statements cost over the trial, beside what was asked; and why that is not known.
    fn statements(&self, profile: &Profile, ended: Ended<'_>, told: &mut Told) {
        if profiled(ended.trial) && self.counted_by != self.processes() {
            let gone = "the server that counted them ended in the trial, and its counts with it; whoever stands in its place counts from nothing";
            return told.events.push(remark(format!("costs of statements are not known: {gone}")));
        }
        let now = self.statement_costs();
        let (before, after) = match (&self.costs, &now) {
            (Ok(before), Ok(after)) => (before, after),
            (Err(missing), _) | (_, Err(missing)) => {
                return told.events.push(remark(format!("costs of statements are not known: {missing}")));
            }
        };
        let found = costs::series(profile, before, after, ended.at);
        // What a server counts with a prepared statement goes when that is closed.
        if found.is_empty() && !after.is_empty() {
            let why = "this server counted none of these texts; protocol = \"prepared\" or \"simple\" may help";
            told.events.push(remark(format!("costs of statements are not known: {why}")));
        }
        told.series.extend(found);
    }
}

impl Backing for Databases {
    fn carry(&self, asked: Asked<'_>) -> Result<Carried, TrialError> {
        let Asked { trial, collector, .. } = asked;
        assign(trial, collector, |stream| sessions::carriers(self, stream)).map(Carried::Workers)
    }

    /// Engine, version and settings: each could change a number.
    fn facts(&mut self) -> Result<(String, Vec<Fact>), OpenError> {
        let mut fingerprint = probe::fingerprint(&self.places());
        let facts = self.first_facts()?;
        let driver = format!("sessions on {} {}", facts.engine.word(), facts.version);
        let add = |(key, value): (String, String)| Fact { key: format!("database.{key}"), value, private: false };
        fingerprint.push(add(("version".to_owned(), facts.version)));
        fingerprint.extend(facts.settings.into_iter().map(add));
        fingerprint.extend(self.spec.layout.as_ref().into_iter().flat_map(laid_out));
        fingerprint.extend(self.mirror_on().into_iter().flat_map(|at| placed("mirror", at)));
        let follows = |value| Fact { key: "mirror.follows".to_owned(), value, private: false };
        fingerprint.extend(self.spec.followed().map(follows));
        Ok((driver, fingerprint))
    }

    fn places(&self) -> Vec<PathBuf> {
        if let Some(layout) = self.spec.layout.as_ref() {
            return layout.used().map(|(_, at)| PathBuf::from(&at.reached)).collect();
        }
        let folder = self.open().and_then(|database| database.folder());
        folder.or_else(|| self.will_be_at()).into_iter().collect()
    }

    fn address(&self) -> Option<String> {
        let database = self.open()?;
        Some(database.folder().map_or_else(|| database.place(), |folder| folder.display().to_string()))
    }

    fn processes(&self) -> Vec<u32> {
        self.open().map_or_else(Vec::new, |database| database.server_processes())
    }

    fn mirror_processes(&self) -> Vec<u32> {
        self.mirror_process().into_iter().chain(self.beside_processes()).collect()
    }

    fn counters(&self) -> Option<Box<dyn FnOnce() -> observation::Counted + Send>> {
        let database = self.shared()?;
        Some(Box::new(move || database.counters()))
    }

    fn prepare(
        &mut self,
        trial: &Trial,
        observer: &mut dyn Observer,
        stop: &AtomicBool,
    ) -> Result<Vec<String>, TrialError> {
        (self.waits_seen, self.held) = (None, None);
        self.texts().clear();
        let mut remarks = match self.make_ready(trial, observer, stop) {
            // It was there for the trial before.
            Err(lost) if self.lasting().is_some() && is_lost(&lost) => {
                let lost = whole(&lost);
                observer.note(Some(trial), &format!("the server was lost before the trial: {lost}; waiting for it"));
                self.reopen(patience(trial), &WallClock::new())?;
                self.make_ready(trial, observer, stop)?
            }
            made => made?,
        };
        let held = self.hold(trial, [self.processes(), self.mirror_processes()])?;
        (self.costs, self.counted_by) = (self.statement_costs(), self.processes());
        self.waits_seen = self.shared().filter(|_| profiled(trial)).and_then(Waits::of);
        self.shared().iter().for_each(|database| observer.serves(database));
        remarks.extend(held);
        Ok(remarks)
    }

    /// What was asked, what it cost, how the data stands to the memories, and whether it is whole: the check comes last,
    /// because it reads all of the data and so fills every cache.
    fn look_back(&mut self, ended: Ended<'_>, observer: &mut dyn Observer) -> Result<Told, TrialError> {
        let trial = ended.trial;
        self.held = None;
        let ledger = checks::ledger(self, trial, ended.transactions);
        if let Some(ledger) = &ledger {
            observer.ledger(trial, ledger);
        }
        let profile = Profile::joined(ended.transactions.iter().map(|transactions| &transactions.profile));
        let mut told = Told { series: profile.series(ended.at), ..Told::default() };
        if let Some((waits, engine)) = self.waits_seen.take().zip(self.open().map(|database| database.engine())) {
            let Told { series, events, .. } = waits.ended(engine, &profile, ended);
            told.series.extend(series);
            told.events.extend(events);
        }
        let (mut moment, mut lost) = (CheckMoment::After, None);
        self.wait_for_mirror();
        self.gathered()?;
        // A server that lets nobody in is waited for once, and not for each of the questions below.
        if let Some(Err(error)) = self.lasting().map(|server| server.outside().map(drop)) {
            lost = Some(error.to_string());
        } else {
            self.statements(&profile, ended, &mut told);
            let plans = self.plans(&told.series, ended.at);
            told.events.extend(plans);
            told.series.extend(levels::series(self, ended.at));
            match checks::check(self, trial, ledger.as_ref(), moment, (&mut *observer, ended.clock)) {
                Ok(checks) => told.checks = checks,
                Err(error) if may_be_lost(&error) && self.lasting().is_some() => lost = Some(whole(&error)),
                Err(error) => return Err(error),
            }
        }
        let lost_none = lost.is_none();
        if let Some(mut lost) = lost {
            lost.extend(self.gave_up().map(|why| format!("; {why}")));
            let text =
                format!("the server was lost when the load had ended: {lost}; waiting until it takes connections");
            observer.note(Some(trial), &text);
            moment = CheckMoment::Outage;
            self.reopen(patience(trial), ended.clock)?;
            told.checks = checks::check(self, trial, ledger.as_ref(), moment, (observer, ended.clock))?;
            told.checks.insert(0, Check { name: "recovery behind the load".to_owned(), ..back(LOST, &lost) });
        }
        if lost_none {
            for Told { series, events, checks } in
                [self.leave_mirror(patience(trial), ended)?, self.leave_beside(ended)?]
            {
                told.series.extend(series);
                told.checks.extend(checks);
                told.events.extend(events);
            }
        }
        told.events.extend(checks::events(trial, &told.checks));
        told.events.extend(self.doubts());
        told.events.extend(checks::nothing_kept(self, trial));
        Ok(told)
    }

    fn on_devices(&mut self, devices: [Option<Happens>; 2]) {
        self.devices = devices;
    }

    fn mishap(&self, at: Nanos, what: Option<Mishap>) -> std::io::Result<()> {
        Databases::mishap(self, at, what)
    }

    /// The server is waited for, a private one is started again, and what it kept is held against the ledger before the trial is
    /// given up.
    fn outage(&mut self, gone: TrialError, ended: Ended<'_>, observer: &mut dyn Observer) -> TrialError {
        let trial = ended.trial;
        (self.waits_seen, self.held) = (None, None);
        let gone = self.explained(gone);
        let ledger = checks::ledger(self, trial, ended.transactions);
        if let Some(ledger) = &ledger {
            observer.ledger(trial, ledger);
        }
        observer.note(Some(trial), &format!("{gone}; looking at what it kept"));
        let gave_up = self.gave_up();
        if let Some(why) = &gave_up {
            observer.note(Some(trial), why);
        }
        let moment = CheckMoment::Outage;
        let looked = self.reopen(patience(trial), ended.clock).and_then(|()| {
            let found = checks::check(self, trial, ledger.as_ref(), moment, (&mut *observer, ended.clock))?;
            let why = gave_up.map(|why| format!("; {why}")).unwrap_or_default();
            Ok([vec![back(self.what_happened(&gone), &format!("{gone}{why}"))], found].concat())
        });
        let (gone, checks) = match looked {
            Ok(checks) => (gone, checks),
            // What ended the trial is the one to tell; this follows from it.
            Err(error) => {
                let gone = Databases::explained_by(gone, &error);
                let check = not_back(self.what_happened(&gone), &error);
                (gone, vec![check])
            }
        };
        let events = checks::events(trial, &checks);
        observer.found(trial, &Found { events: &events, checks: &checks, ..Found::default() });
        events.iter().for_each(|event| observer.note(Some(trial), &format!("after the outage: {}", event.text)));
        gone
    }
}

/// A layout, each part of which could change a number.
fn laid_out(layout: &study::Layout) -> Vec<Fact> {
    let fact = |key: &str, value: String| Fact { key: format!("layout.{key}"), value, private: false };
    let mut facts = vec![fact("name", layout.name.clone())];
    for (tier, at) in layout.used() {
        facts.push(fact(&format!("{}.holds", tier.word()), layout.on(tier).join(", ")));
        facts.extend(placed(&format!("layout.{}", tier.word()), at));
    }
    facts
}

/// A folder of its own: where, and the device through which it is seen.
fn placed(what: &str, at: &study::TierFolder) -> impl Iterator<Item = Fact> + use<> {
    let fact = |key: &str, value: String, private| Fact { key: format!("{what}.{key}"), value, private };
    // Whole, because it is taken out of copies that others may read: a word would be taken out of sentences.
    let folder = std::fs::canonicalize(&at.folder.path).unwrap_or_else(|_| PathBuf::from(&at.folder.path));
    let folder = fact("folder", folder.display().to_string(), true);
    [folder].into_iter().chain(at.folder.device.clone().map(|model| fact("device", model, false)))
}

/// How long a trial's server is waited for.
fn patience(trial: &Trial) -> Nanos {
    asked(trial).map(|(_, pool)| pool.recovery).max().unwrap_or_default()
}

/// Whether the server may have been lost in the middle of a question.
fn may_be_lost(error: &TrialError) -> bool {
    matches!(error, TrialError::Database { source, .. } if source.may_pass())
}

/// Whether it is the connection that failed.
fn is_lost(error: &TrialError) -> bool {
    matches!(error, TrialError::Database { source, .. } if matches!(**source, DatabaseError::Refused { .. }))
}

/// After what happened, the database can be asked again.
fn back(happened: &str, why: &str) -> Check {
    Check {
        kind: CheckKind::Recovery,
        moment: CheckMoment::Outage,
        name: Check::GAVE_UP.to_owned(),
        says: "the database can be asked again".to_owned(),
        found: format!("{happened}, and it can be asked again: {why}"),
        ..Check::default()
    }
}

/// It cannot, so that nothing could be held against its data.
fn not_back(happened: &str, error: &TrialError) -> Check {
    let found =
        format!("{happened}; no look at the data: {}; look later with `prony db check --ledger RUN`", whole(error));
    Check { result: CheckResult::NotDone, found, ..back("", "") }
}
