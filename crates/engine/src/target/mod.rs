//! What stands behind a system: one file for each kind, and the door through which one is opened.
//!
//! The one idea: a kind of system is a [`Backing`](backing::Backing). It says whose time a trial on it runs in, and what
//! carries the streams.
//!
//! What it does not do: it runs no trial.

pub(crate) mod backing;
mod database;
mod devices;
mod files;
pub(crate) mod known;
mod model;
mod modules;
mod null;
pub(crate) mod opened;
mod scripted;
