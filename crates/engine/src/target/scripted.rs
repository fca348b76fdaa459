//! A script on a simulated clock.

use crate::target::backing::{Backing, Facts, Setting, Simulated, Simulation, Time, Told};
use crate::worker::assign::{Carriers, assign, streams};
use crate::worker::run::Lanes;
use crate::{OpenError, TrialError};
use recorder::Collector;
use std::sync::atomic::AtomicBool;
use study::{ScriptSpec, Trial};
use system::scripted::ScriptedPort;

pub(crate) struct Scripted(pub(crate) ScriptSpec);

impl Backing for Scripted {
    fn time(&self) -> Time<'_> {
        Time::Simulated(self)
    }

    fn facts(&mut self) -> Result<Facts, OpenError> {
        Ok(Facts { driver: "none".to_owned(), fingerprint: probe::fingerprint(&self.places()) })
    }
}

impl Simulated for Scripted {
    fn run(
        &self,
        trial: &Trial,
        setting: &Setting,
        collector: &mut Collector,
        stop: &AtomicBool,
    ) -> Result<Simulation, TrialError> {
        let carriers = streams(trial).map(|stream| Carriers {
            workers: stream.workers(),
            each: Box::new(move |place| stream.storage_work(setting.module_bytes, place)),
        });
        let lanes = Lanes::of(trial, assign(trial, collector, carriers.collect())?, stop);
        let mut port = ScriptedPort::new(self.0.clone(), trial.seed, lanes.slots);
        let (driven, home) = lanes.drive(&mut port)?;
        Ok(Simulation { driven, home, told: Told::default() })
    }
}
