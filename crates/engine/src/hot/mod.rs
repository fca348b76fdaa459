//! The loop between load, system and recorder, and what one turn of it needs.

pub(crate) mod cpu;
pub(crate) mod drive;
pub(crate) mod hung;
pub(crate) mod lane;
pub(crate) mod looks;
pub(crate) mod noticed;
pub(crate) mod storage;
pub(crate) mod transactions;
