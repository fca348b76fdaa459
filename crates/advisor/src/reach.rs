//! What reaches the device of what a server asks for.
//!
//! The one idea: a server that reads through the page cache does not know which of its reads were found there. There are four
//! ways to find out, and the surest that is open is taken: times by object, times of all reads, counters of the device, and at
//! last the reads themselves as the most that it can be. All but the first know one share for all objects.

use crate::gain::Tiers;
use crate::object::{Look, Object};
use crate::{BLOCK, Kind};

observation::words! {
    /// How it was found out.
    pub enum Way {
        /// The server counts reads and their times by object.
        Timed = "timed",
        /// The server counts the time of all reads together.
        AllTimed = "all-timed",
        /// The devices below the data counted what they read.
        Device = "device",
        /// Nothing is known beyond what the server asked for.
        Requested = "requested",
    }
}

/// The share of requested reads that reach the device.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reach {
    /// How it was found out.
    pub way: Way,
    /// The share; 1 where it is the most that it can be, and where times are counted by object.
    pub share: f64,
    /// The least of a slice.
    pub low: f64,
    /// The most of a slice.
    pub high: f64,
    /// Whether all reads together took so little that memory must have answered: what they waited is time of copies, which no tier saves.
    pub from_memory: bool,
}

impl Way {
    /// How sure it is, in a sentence.
    pub fn says(self) -> &'static str {
        match self {
            Way::Timed => "the server counts reads and their times by file: what waits is measured, object by object",
            Way::AllTimed => {
                "the server counts the time of all reads together (track_io_timing): their sum is measured, how it is spread \
                 over objects is not; one share holds for all"
            }
            Way::Device => {
                "scaled by what the devices below the data read meanwhile: others who read them count too, and one share holds \
                 for all objects"
            }
            Way::Requested => {
                "reads that the server asked of the operating system: those that its page cache answered count too, so that \
                 every time here is the most that it can be"
            }
        }
    }
}

/// A read of a block that takes less was answered from memory: no device is so fast.
const FROM_MEMORY_S: f64 = 10e-6;

/// Finds out how much reaches the device, by the surest way that is open.
pub fn reach(objects: &[Object], looks: &[Look], tiers: &Tiers) -> Reach {
    let data = || objects.iter().filter(|object| !matches!(object.known.kind, Kind::Log | Kind::Temporary));
    if data().any(|object| object.slices.iter().any(|counts| counts.read_s.is_some())) {
        return Reach { way: Way::Timed, share: 1.0, low: 1.0, high: 1.0, from_memory: false };
    }
    let slices = looks.len().saturating_sub(1);
    for way in [Way::AllTimed, Way::Device] {
        let timed = way == Way::AllTimed;
        let counted = |look: &Look| if timed { look.read_s } else { look.device_bytes.map(|bytes| bytes / BLOCK) };
        let between = |from: usize, to: usize| Some((counted(&looks[to])? - counted(&looks[from])?).max(0.0));
        // What would be counted in a slice if all of its reads reached the tier on which they are.
        let each = |object: &Object| if timed { tiers.here(object).mean_read_s(object.in_order()) } else { 1.0 };
        let whole = |slice: usize| data().map(|object| object.slices[slice].reads * each(object)).sum::<f64>();
        let Some(all) = (slices > 0).then(|| between(0, slices)).flatten() else { continue };
        // A server that does not time its reads counts none of their time.
        if timed && all == 0.0 {
            continue;
        }
        let reads: f64 = data().map(|object| object.slices.iter().map(|counts| counts.reads).sum::<f64>()).sum();
        let share = |part: f64, of: f64| if of > 0.0 { (part / of).min(1.0) } else { 1.0 };
        let of_slices = (0..slices).filter(|slice| whole(*slice) > 0.0);
        let shares = of_slices.map(|slice| share(between(slice, slice + 1).unwrap_or(0.0), whole(slice)));
        let share = share(all, (0..slices).map(whole).sum());
        let (low, high) = shares.fold((share, share), |(low, high), one| (low.min(one), high.max(one)));
        return Reach { way, share, low, high, from_memory: timed && all < reads * FROM_MEMORY_S };
    }
    Reach { way: Way::Requested, share: 1.0, low: 0.0, high: 1.0, from_memory: false }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gain::tests::TIERS;
    use crate::object::tests::table;

    fn looks(device: Option<f64>, read_s: Option<f64>) -> Vec<Look> {
        let look = |at: f64| Look {
            at_s: at,
            device_bytes: device.map(|blocks| at * blocks * BLOCK),
            read_s: read_s.map(|s| at * s),
            ..Look::default()
        };
        vec![look(0.0), look(1.0), look(2.0)]
    }

    #[test]
    fn the_surest_way_that_is_open_is_taken() {
        let objects = [table("a", 1e6, &[100.0, 100.0])];
        let of = |device, read_s| reach(&objects, &looks(device, read_s), &TIERS);
        assert_eq!((of(None, None).way, of(None, None).share), (Way::Requested, 1.0));
        assert_eq!((of(Some(25.0), None).way, of(Some(25.0), None).share), (Way::Device, 0.25));
        // 100 reads of 6 ms would take 0.6 s.
        let timed = of(Some(25.0), Some(0.3));
        assert_eq!(timed.way, Way::AllTimed);
        assert!((timed.share - 0.5).abs() < 1e-3 && (timed.high - timed.low).abs() < 1e-9);
        // A server that times nothing says zero.
        assert_eq!(of(Some(25.0), Some(0.0)).way, Way::Device);
        let mut by_object = objects.to_vec();
        by_object[0].slices[0].read_s = Some(0.1);
        assert_eq!(reach(&by_object, &looks(Some(25.0), Some(0.3)), &TIERS).way, Way::Timed);
    }

    #[test]
    fn reads_that_only_memory_is_fast_enough_for_are_known() {
        let objects = [table("a", 1e6, &[1e5, 1e5])];
        // 2 us a read, and a mean of 60 us.
        assert!(reach(&objects, &looks(None, Some(0.2)), &TIERS).from_memory);
        assert!(!reach(&objects, &looks(None, Some(6.0)), &TIERS).from_memory);
    }

    #[test]
    fn others_who_read_the_device_make_no_more_reads_than_were_asked_for() {
        let objects = [table("a", 1e6, &[10.0, 10.0])];
        assert_eq!(reach(&objects, &looks(Some(500.0), None), &TIERS).share, 1.0);
    }
}
