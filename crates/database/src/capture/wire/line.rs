//! One connection in both directions, and what was heard of all of them.

use crate::capture::Words;
use std::collections::BTreeMap;

/// What has been heard of all connections.
#[derive(Default)]
pub(super) struct Heard {
    pub(super) words: Vec<Words>,
    pub(super) server: String,
    /// Statements whose text or values this cannot read, by the reason.
    pub(super) left_out: BTreeMap<&'static str, u64>,
}

/// One connection in both directions.
pub(super) trait Line: Send {
    /// Bytes that came at a moment, in microseconds of the window. An error says why nothing of it can be read.
    fn hear(&mut self, heard: &mut Heard, from_client: bool, at_us: i64, bytes: &[u8]) -> Result<(), &'static str>;

    /// The window ends: what has no end yet is heard without one.
    fn end(&mut self, heard: &mut Heard);
}

/// Bytes that came and are no whole message yet.
#[derive(Default)]
pub(super) struct Unread(pub(super) Vec<u8>);

impl Unread {
    pub(super) fn add(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    /// So many bytes from the front, if they are there.
    pub(super) fn take(&mut self, count: usize) -> Option<Vec<u8>> {
        (self.0.len() >= count).then(|| self.0.drain(..count).collect())
    }
}
