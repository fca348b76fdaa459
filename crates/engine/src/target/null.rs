//! Nothing: every operation ends at once, and what is measured is the generator.

use crate::TrialError;
use crate::target::backing::{Asked, Backing, Carried};
use crate::worker::assign::{Carriers, Share, assign};
use crate::worker::run::{Driver, Start};
use system::null::NullPort;

pub(crate) struct Null;

impl Backing for Null {
    fn carry(&self, asked: Asked<'_>) -> Result<Carried, TrialError> {
        let Asked { trial, setting, collector, .. } = asked;
        let shares = assign(trial, collector, |stream| {
            Ok(Carriers::new(stream.workers(), move |place| {
                let work = stream.storage_work(setting.module_bytes, place)?;
                let driver: Driver = Box::new(move |share: Share, start: &Start| {
                    let mut port = NullPort::new(start.ready()?, share.slots());
                    share.drive(&mut port, work, &start.halt)
                });
                Ok(driver)
            }))
        });
        shares.map(Carried::Workers)
    }
}
