//! One trial: the state that it starts in, who does what, and what became of it.

pub(crate) mod assign;
pub(crate) mod coordinator;
pub(crate) mod discard;
pub(crate) mod fill;
pub(crate) mod observer;
pub(crate) mod page_cache;
pub(crate) mod run;
pub(crate) mod simulate;
pub(crate) mod start_gate;
pub(crate) mod state;
pub(crate) mod stations;
pub(crate) mod thread;
pub(crate) mod worker;
