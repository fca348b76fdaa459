//! A database: what stands around the load of a trial on it.

use crate::database::databases::Databases;
use crate::database::{checks, costs, levels, sessions};
use crate::observer::Observer;
use crate::target::backing::{Asked, Backing, Carried, Ended, Told, remark};
use crate::worker::assign::assign;
use crate::worker::profile::Profile;
use crate::{OpenError, TrialError};
use observation::Fact;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use study::Trial;

impl Databases {
    /// What statements cost over the trial, beside what was asked; and why that is not known.
    fn statements(&self, profile: &Profile, ended: Ended<'_>, told: &mut Told) {
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
        Ok((driver, fingerprint))
    }

    fn places(&self) -> Vec<PathBuf> {
        self.open().and_then(|database| database.folder()).into_iter().collect()
    }

    fn address(&self) -> Option<String> {
        let database = self.open()?;
        Some(database.folder().map_or_else(|| database.place(), |folder| folder.display().to_string()))
    }

    fn processes(&self) -> Vec<u32> {
        self.open().map_or_else(Vec::new, |database| database.server_processes())
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
        let remarks = self.make_ready(trial, observer, stop)?;
        self.costs = self.statement_costs();
        Ok(remarks)
    }

    /// What was asked, what it cost, how the data stands to the memories, and whether it is whole: the check comes last,
    /// because it reads all of the data and so fills every cache.
    fn look_back(&mut self, ended: Ended<'_>, observer: &mut dyn Observer) -> Result<Told, TrialError> {
        // A server that lets nobody in is waited for once, and not for each of the questions below.
        if let Some(server) = self.lasting() {
            server.outside().map_err(self.refused())?;
        }
        let profile = Profile::joined(ended.transactions.iter().map(|transactions| &transactions.profile));
        let mut told = Told { series: profile.series(ended.at), events: Vec::new() };
        self.statements(&profile, ended, &mut told);
        told.series.extend(levels::series(self, ended.at));
        let checked = checks::check(self, ended.trial, ended.transactions, observer, ended.clock)?;
        told.events.extend(checked);
        Ok(told)
    }

    /// A private server is started again, and what it kept is held against the ledger before the trial is given up.
    fn outage(&mut self, gone: TrialError, ended: Ended<'_>, observer: &mut dyn Observer) -> TrialError {
        let trial = ended.trial;
        let gone = self.explained(gone);
        observer.note(Some(trial), &format!("{gone}; looking at what it kept"));
        let looked = self.reopen().and_then(|()| checks::check(self, trial, ended.transactions, observer, ended.clock));
        match looked {
            Ok(events) => {
                let tell = |event: &observation::Event| {
                    observer.note(Some(trial), &format!("after the outage: {}", event.text));
                };
                events.iter().for_each(tell);
                gone
            }
            // What ended the trial is the one to tell; this follows from it.
            Err(error) => {
                observer.note(Some(trial), &format!("after the outage: no look at the data: {}", whole(&error)));
                Databases::explained_by(gone, &error)
            }
        }
    }
}

/// An error with its causes, on one line.
fn whole(error: &TrialError) -> String {
    let causes = std::iter::successors(std::error::Error::source(error), |cause| cause.source());
    causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}
