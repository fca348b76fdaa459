//! One worker of a trial: its share of a stream, and its way from the gate to its end.

pub(crate) mod assign;
pub(crate) mod calls;
pub(crate) mod happenings;
pub(crate) mod profile;
pub(crate) mod rings;
pub(crate) mod run;
pub(crate) mod thread;
pub(crate) mod transactions;
