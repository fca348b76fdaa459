//! A script on a simulated clock.

use crate::target::backing::{Backing, Facts, Setting, Simulated, Simulation, Time, Told};
use crate::worker::assign::{Carriers, assign, streams};
use crate::worker::run::Lanes;
use crate::{OpenError, TrialError};
use recorder::Collector;
use std::sync::atomic::AtomicBool;
use study::{ScriptSpec, Trial};
use system::scripted::{Script, ScriptedPort, Stall};

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
        let mut port = ScriptedPort::new(convert(&self.0), trial.seed, lanes.slots);
        let (driven, home) = lanes.drive(&mut port)?;
        Ok(Simulation { driven, home, told: Told::default() })
    }
}

fn convert(script: &ScriptSpec) -> Script {
    Script {
        service: script.service.clone(),
        servers: script.servers,
        per_byte_ns: script.per_byte_ns,
        spread: script.spread,
        stall: script.stall.map(|stall| Stall { every: stall.every, lasts: stall.lasts }),
        fail_every: script.fail_every,
        drift_per_s: script.drift_per_s,
    }
}
