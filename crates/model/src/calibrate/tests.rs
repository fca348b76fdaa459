//! What models that were calibrated without some rows say of these.

use super::scores::each_left;
use super::{Asked, calibrate, learned, of_row, unfitted};
use crate::file::Description;
use crate::rows::Table;

/// A value that a fit on other rows was asked for, with the interval that was stated.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Held {
    /// What the row gives.
    pub(crate) value: f64,
    /// What the model said.
    pub(crate) predicted: f64,
    /// Lower end of its interval.
    pub(crate) low: f64,
    /// Upper end.
    pub(crate) high: f64,
}

/// Every row, curve and upper half that can be left out, predicted by a model that was fitted and learned its own errors
/// without it.
pub(crate) fn held(model: &Description, tables: &[Table]) -> Vec<Held> {
    let (mut found, model) = (Vec::new(), &unfitted(model));
    each_left(model, tables, |others, table, out| {
        let Ok(calibrated) = calibrate(model, others) else { return };
        let model = learned(&calibrated.model, others);
        let Some(answer) = model.answer_for(table) else { return };
        for Asked { row, metric, value, rounding, .. } in out.iter().flat_map(|row| of_row(&model, answer, row)) {
            let Ok(predicted) = model.answer(row, &metric.quantity) else { continue };
            let (low, high) = model.interval(row, &metric.quantity, rounding);
            found.push(Held { value, predicted, low, high });
        }
    });
    found
}
