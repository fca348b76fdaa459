//! A general array from the parameters of its kind.

use super::array::General;
use super::changes::Change;
use super::spec::SpecError;
use crate::kind::{Values, array_of, lost_modules};
use units::Nanos;

impl General {
    /// The array of a model, with what has failed in it before anything begins and the loss of power that is planned.
    ///
    /// # Errors
    /// When its parts make no sense.
    pub fn of(values: &Values, slots: u32, seed: u64) -> Result<General, SpecError> {
        let mut array = General::new(array_of(values), slots, seed)?;
        let count = |name: &str| values.of(name) as u32;
        (0..count("failed_paths")).for_each(|path| array.plan(Nanos::ZERO, Change::PathLost(path)));
        let controllers = count("controllers");
        for controller in controllers - count("failed_controllers")..controllers {
            array.plan(Nanos::ZERO, Change::ControllerLost(controller));
        }
        for (group, member) in lost_modules(values) {
            array.plan(Nanos::ZERO, Change::ModuleLost { group, member });
        }
        if values.of("power_loss") > 0.0 {
            let ns = |name: &str| Nanos::from_seconds(values.of(name));
            array.power_loss(ns("power_loss_at"), ns("power_loss"));
        }
        Ok(array)
    }
}
