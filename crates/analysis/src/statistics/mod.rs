//! Statistics that a storage measurement needs, each in a file with its source and its published answers.
//!
//! The one idea: no figure of this program rests on a formula that a reader cannot look up. Everything works on plain
//! slices of numbers and knows nothing of trials.
//!
//! What it does not do: it draws no conclusion; that is for the analyses.

pub mod autocorrelation;
pub mod bootstrap;
pub mod change_point;
pub mod holm;
pub mod least_squares;
pub mod moderated;
pub mod moments;
pub mod noise;
pub mod ratio_scale;
pub mod replicates;
pub mod series_mean;
pub mod student;
pub mod studentised_range;
