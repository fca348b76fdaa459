//! The run file: everything that one run recorded, in one SQLite file that survives what happens to runs.
//!
//! The one idea: what was acknowledged stays. [`RunFile::append_interval`] returns when the interval is out of the process,
//! in a write-ahead log whose blocks were taken from the disk before the run: a `kill -9` a moment later loses nothing,
//! and a disk that fills up later does not matter. Nothing is flushed to a device while a trial is measured; between
//! trials everything is. When a run ends, the log is folded in and one file remains, readable with `sqlite3`.
//!
//! Saved forms belong to this room and carry a version: the tables of `schema.sql` and `added.sql` and the histogram blobs of [`encode`].
//! The types of other rooms are never serialised as they are. [`redact`] makes a copy without host names, users, addresses and paths.
//!
//! A run file may come from anybody. Nothing beside it is followed, no page of it is read twice, no code in it runs, and reading
//! changes neither it nor anything else: a run that was not closed is read from a copy.
//!
//! The record of a mirrored pair ([`PairRecord`]) is a small file of its own.
//!
//! Every part of a run file has a checksum, so that a damaged value is not taken for a measured one.
//!
//! What it does not do: it judges nothing, prints nothing, and reads no clock.

mod blob;
mod bounds;
mod cells;
mod checked;
mod checksum;
mod columns;
mod error;
mod facts;
mod file;
mod label;
mod pages;
mod pair;
mod recognise;
mod recover;
mod redact;
mod reserve;
mod schema;
mod scrub;
mod series;
mod trial;

pub use blob::{BlobError, decode, encode};
pub use error::StoreError;
pub use file::{RunFile, unclosed};
pub use pair::{Checked, Differing, PairRecord, know_pair, known_pairs, read_pair, write_pair};
pub use redact::redact;
pub use reserve::{Reserve, cells_bytes};
pub use schema::VERSION;
pub use trial::{StoredCells, StoredTrial, TrialState};
