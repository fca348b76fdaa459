//! Machines in virtual time, and the transactions on them.

pub(crate) mod described;
pub(crate) mod machine;
pub(crate) mod sessions;
pub(crate) mod stations;
