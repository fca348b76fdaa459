//! Judging: predictions beside published values, with the simplest laws beside both.
//!
//! The one idea: a row that the model was fitted on is shown and never counted. Each judged row has the prediction with its
//! interval, the error, the floor below which rounding of the source hides any error, and three laws that saw the same
//! calibration rows as the model did.
//!
//! What it does not do: it changes no model.

mod baselines;
mod rows;

pub use crate::asked::Shape;
pub use baselines::{Baseline, Baselines, baselines};
pub use rows::{JudgeError, Judged, Judgement, Role, judge};
