//! What each stream asks of storage, so that its numbers can be told by what they are.
//!
//! The one idea: a name that somebody chose says nothing. A random read of 4 KiB is one whatever it is called.

use crate::{Operations, Stream, SyncMode, Work};
use units::{Bytes, Share, percent};
use workload::Storage;
use workload::block::Pattern;

/// What a stream asks of storage, at all points where it is asked.
#[derive(Clone, Debug, PartialEq)]
pub struct StorageAsked {
    /// The name of the stream.
    pub stream: String,
    /// Whether places are random.
    pub random: bool,
    /// Share of operations that read.
    pub read: Share,
    /// The smallest and the largest block.
    pub blocks: (Bytes, Bytes),
    /// Past the page cache.
    pub direct: bool,
    /// Every write returns only when it is durable.
    pub durable: bool,
}

impl StorageAsked {
    /// What a stream asks; none where it asks no blocks.
    pub(crate) fn of(name: &str, stream: &Stream) -> Option<StorageAsked> {
        let Work::Operations(Operations { of: Storage::Block(spec), access, .. }) = &stream.work else { return None };
        let sizes = || spec.all_transfers().map(|transfer| transfer.size);
        Some(StorageAsked {
            stream: name.to_owned(),
            random: spec.pattern != Pattern::Sequential,
            read: spec.read,
            blocks: (sizes().min()?, sizes().max()?),
            direct: access.direct,
            durable: access.sync == SyncMode::Each,
        })
    }

    /// Adds what it asks elsewhere.
    pub(crate) fn widen(&mut self, other: &StorageAsked) {
        self.blocks = (self.blocks.0.min(other.blocks.0), self.blocks.1.max(other.blocks.1));
    }

    /// Whether it is a random read of 4 KiB past the cache, of which data sheets speak.
    pub fn is_of_data_sheets(&self) -> bool {
        self.random && self.read.0 >= 1.0 && self.blocks == (Bytes(4096), Bytes(4096)) && self.direct
    }

    /// Whether it is what a commit waits for: a write that is durable when it returns.
    pub fn is_of_commits(&self) -> bool {
        self.durable && self.read.0 <= 0.0
    }

    /// `4 KiB random read, direct`; at a point where the block size is varied, in blocks of that.
    pub fn says(&self, at: Option<&str>) -> String {
        let (least, most) = (units::bytes(self.blocks.0), units::bytes(self.blocks.1));
        let size = match at {
            Some(size) => size.to_owned(),
            None if least == most => least,
            None => format!("{least} to {most}"),
        };
        let order = if self.random { "random" } else { "sequential" };
        let work = match self.read.0 {
            read if read >= 1.0 => "read".to_owned(),
            read if read <= 0.0 => "write".to_owned(),
            read => format!("{} read, {} write", percent(read), percent(1.0 - read)),
        };
        let cache = if self.direct { "direct" } else { "through the page cache" };
        let durable = if self.durable { ", each write durable when it returns" } else { "" };
        format!("{size} {order} {work}, {cache}{durable}")
    }
}
