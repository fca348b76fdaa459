//! Nothing: every operation ends at once, and what is measured is the generator.

use crate::hot::storage::StorageWork;
use crate::target::backing::{Backing, Facts, Real, Setting, Time};
use crate::worker::assign::{Carriers, Share, streams};
use crate::worker::run::{Driver, Return, Start};
use crate::{OpenError, TrialError};
use study::Trial;
use system::null::NullPort;

pub(crate) struct Null;

impl Backing for Null {
    fn time(&self) -> Time<'_> {
        Time::Real(self)
    }

    fn facts(&mut self) -> Result<Facts, OpenError> {
        Ok(Facts { driver: "none".to_owned(), fingerprint: probe::fingerprint(&self.places()) })
    }
}

impl Real for Null {
    fn carriers<'a>(
        &'a self,
        trial: &'a Trial,
        setting: &'a Setting,
    ) -> Result<Vec<Carriers<'a, Box<dyn Driver>>>, TrialError> {
        let carriers = streams(trial).map(|stream| Carriers {
            workers: stream.workers(),
            each: Box::new(move |place| {
                let work = stream.storage_work(setting.module_bytes, place)?;
                Ok(Box::new(NullDriver { work }) as Box<dyn Driver>)
            }),
        });
        Ok(carriers.collect())
    }
}

struct NullDriver {
    work: StorageWork,
}

impl Driver for NullDriver {
    fn run(self: Box<Self>, share: Share, start: &Start<'_>) -> Result<Return, TrialError> {
        let clock = start.ready()?;
        let mut port = NullPort::new(clock, share.slots());
        share.drive(&mut port, self.work, start.halt)
    }
}
