//! What each stream asks of storage, so that its numbers can be told by what they are.
//!
//! The one idea: a name that somebody chose says nothing. A random read of 4 KiB is one whatever it is called.

use crate::{Operations, Stream, SyncMode, Work};
use units::{Bytes, Share, counted, percent};
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
    /// Share of operations that trim; what neither reads nor trims writes.
    pub trims: Share,
    /// The smallest and the largest block.
    pub blocks: (Bytes, Bytes),
    /// Past the page cache.
    pub direct: bool,
    /// When writes become durable.
    pub sync: SyncMode,
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
            trims: spec.trims,
            blocks: (sizes().min()?, sizes().max()?),
            direct: access.direct,
            sync: access.sync,
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
        matches!(self.sync, SyncMode::Each | SyncMode::Whole) && self.writes() >= 1.0
    }

    /// The share of operations that write.
    fn writes(&self) -> f64 {
        // What is left of three shares that add up to one is no write.
        Some(1.0 - self.read.0 - self.trims.0).filter(|share| *share > 1e-9).unwrap_or(0.0)
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
        let shares = [(self.read.0, "read"), (self.writes(), "write"), (self.trims.0, "trim")];
        let work: Vec<String> = match shares.iter().find(|(share, _)| *share >= 1.0) {
            Some((_, word)) => vec![(*word).to_owned()],
            None => shares
                .iter()
                .filter(|(share, _)| *share > 0.0)
                .map(|(share, word)| format!("{} {word}", percent(*share)))
                .collect(),
        };
        let work = work.join(", ");
        let cache = if self.direct { "direct" } else { "through the page cache" };
        let durable = match self.sync {
            _ if self.writes() <= 0.0 => String::new(),
            SyncMode::Never => String::new(),
            SyncMode::Each => ", each write durable when it returns".to_owned(),
            SyncMode::Whole => ", each write durable when it returns, with its metadata (`o_sync`)".to_owned(),
            SyncMode::Every(writes) => format!(", a data sync after every {}", counted(u64::from(writes), "writes")),
        };
        format!("{size} {order} {work}, {cache}{durable}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asks(read: f64, trims: f64, sync: SyncMode) -> StorageAsked {
        StorageAsked {
            stream: "blocks".to_owned(),
            random: true,
            read: Share(read),
            trims: Share(trims),
            blocks: (Bytes(4096), Bytes(4096)),
            direct: true,
            sync,
        }
    }

    #[test]
    fn a_trim_is_no_write() {
        let says = |read, trims| asks(read, trims, SyncMode::Never).says(None);
        assert_eq!(says(0.0, 1.0), "4 KiB random trim, direct");
        assert_eq!(says(0.4, 0.2), "4 KiB random 40% read, 40% write, 20% trim, direct");
        assert_eq!(says(0.7, 0.3), "4 KiB random 70% read, 30% trim, direct");
        assert_eq!(says(0.4, 0.0), "4 KiB random 40% read, 60% write, direct");
        assert_eq!(
            (says(1.0, 0.0), says(0.0, 0.0)),
            ("4 KiB random read, direct".into(), "4 KiB random write, direct".into())
        );
    }

    #[test]
    fn writes_are_durable_by_either_flag_and_where_nothing_writes_nothing_is() {
        let each = asks(0.0, 0.0, SyncMode::Each);
        let whole = asks(0.0, 0.0, SyncMode::Whole);
        assert!(each.says(None).ends_with("write, direct, each write durable when it returns"), "{}", each.says(None));
        assert!(whole.says(None).ends_with("returns, with its metadata (`o_sync`)"), "{}", whole.says(None));
        assert!(each.is_of_commits() && whole.is_of_commits());
        for other in
            [asks(0.0, 0.0, SyncMode::Every(8)), asks(0.0, 1.0, SyncMode::Each), asks(0.5, 0.0, SyncMode::Whole)]
        {
            assert!(!other.is_of_commits(), "{other:?}");
        }
        assert!(asks(0.0, 0.0, SyncMode::Every(8)).says(None).ends_with(", a data sync after every 8 writes"));
        for none in [asks(1.0, 0.0, SyncMode::Each), asks(0.0, 1.0, SyncMode::Whole)] {
            assert!(none.says(None).ends_with(", direct"), "{}", none.says(None));
        }
    }
}
