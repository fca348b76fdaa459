//! What stands behind a system, made ready for trials.

pub(crate) mod opened;
