//! All that is known of one unit, in 64 bits.
//!
//! The one idea: writes are counted, and everything else is a distance behind the latest. Distances that outgrow their
//! field stay at its top, which means "not known": anything older is acceptable until a cluster ends that fits. The
//! count itself wraps; a block exactly 2^22 writes old would pass.
//!
//! What it does not do: it is not shared; `generations` changes it atomically.

/// What is known of the units when watching begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beginning {
    /// Every block was filled with `Generations::filled_with` and nothing else since.
    Filled,
    /// Blocks hold this run's data, of any age since the fill of this epoch.
    Unknown {
        /// The epoch of that fill.
        since: u32,
    },
}

/// A field of a word.
pub(super) struct Field<const SHIFT: u32, const BITS: u32>;

impl<const SHIFT: u32, const BITS: u32> Field<SHIFT, BITS> {
    pub(super) const SPAN: u64 = 1 << BITS;
    pub(super) const MAX: u64 = Self::SPAN - 1;

    fn of(word: u64) -> u64 {
        (word >> SHIFT) & Self::MAX
    }

    fn put(value: u64) -> u64 {
        (value & Self::MAX) << SHIFT
    }
}

/// Number of the latest write that was begun; wraps.
pub(super) type Latest = Field<0, 22>;
/// How many writes before the latest the oldest acceptable one lies; at the top when not known.
type Back = Field<22, 14>;
/// Writes begun in the running cluster; at the top when there were more.
type Cluster = Field<36, 14>;
/// Writes in flight.
pub(super) type InFlight = Field<50, 14>;

/// All that is known of a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Word(pub(super) u64);

impl Word {
    pub(super) fn beginning(beginning: Beginning) -> Word {
        match beginning {
            Beginning::Filled => Word(0),
            Beginning::Unknown { .. } => Word(Back::put(Back::MAX)),
        }
    }

    /// A unit in which nothing is in flight; `back` is none when it is not known.
    pub(super) fn kept(latest: u64, back: Option<u64>) -> Word {
        Word::pack(latest, back.unwrap_or(Back::MAX), 0, 0)
    }

    fn pack(latest: u64, back: u64, cluster: u64, in_flight: u64) -> Word {
        Word(
            Latest::put(latest)
                | Back::put(back.min(Back::MAX))
                | Cluster::put(cluster.min(Cluster::MAX))
                | InFlight::put(in_flight),
        )
    }

    pub(super) fn latest(self) -> u64 {
        Latest::of(self.0)
    }

    pub(super) fn in_flight(self) -> u64 {
        InFlight::of(self.0)
    }

    pub(super) fn back(self) -> Option<u64> {
        Some(Back::of(self.0)).filter(|back| *back < Back::MAX)
    }

    /// How many writes `earlier` lies before `later`.
    pub(super) fn distance(later: u64, earlier: u64) -> u64 {
        later.wrapping_sub(earlier) & Latest::MAX
    }

    /// A write was begun; where nothing else is in flight it begins a cluster.
    pub(super) fn begun(self) -> Word {
        let cluster = if self.in_flight() == 0 { 1 } else { Cluster::of(self.0) + 1 };
        Word::pack(self.latest() + 1, Back::of(self.0) + 1, cluster, self.in_flight() + 1)
    }

    /// Whatever is in flight will never be heard of: it counts as failed.
    pub(super) fn settled(self) -> Word {
        Word::kept(self.latest(), self.back())
    }

    /// A write ended. It began after everything before its cluster had ended, so that its success buries all that, even
    /// while others of the cluster are in flight; its failure buries nothing.
    pub(super) fn ended(self, succeeded: bool) -> Word {
        debug_assert!(self.in_flight() > 0, "a write ended that never began");
        let cluster = Cluster::of(self.0);
        let back = match cluster {
            _ if !succeeded => Back::of(self.0),
            Cluster::MAX => Back::MAX,
            _ => cluster - 1,
        };
        Word::pack(self.latest(), back, cluster, self.in_flight() - 1)
    }
}
