//! A script on a simulated clock.

use crate::TrialError;
use crate::target::backing::{Asked, Backing, Carried, Simulation, Told};
use crate::worker::assign::{Carriers, assign};
use crate::worker::run::Lanes;
use study::ScriptSpec;
use system::scripted::ScriptedPort;

pub(crate) struct Scripted(pub(crate) ScriptSpec);

impl Backing for Scripted {
    fn carry(&self, asked: Asked<'_>) -> Result<Carried, TrialError> {
        let Asked { trial, setting, collector, stop } = asked;
        let shares = assign(trial, collector, |stream| {
            let work = move |place| stream.storage_work(setting.module_bytes, place);
            Ok(Carriers::new(stream.workers(), work))
        });
        let lanes = Lanes::of(trial, shares?, stop);
        let mut port = ScriptedPort::new(self.0.clone(), trial.seed, lanes.slots);
        let (driven, home) = lanes.drive(&mut port)?;
        Ok(Carried::Simulated(Simulation { driven, home, told: Told::default() }))
    }

    fn simulated(&self) -> bool {
        true
    }
}
