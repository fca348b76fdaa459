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

/// What copying a block out of the page cache takes.
const COPIED_S: f64 = 2.5e-6;

/// What all reads together waited for a device: their time without that in which blocks were copied out of memory.
fn of_device_s(read_s: f64, reads: f64) -> f64 {
    if read_s < reads * FROM_MEMORY_S { 0.0 } else { read_s - reads * COPIED_S }
}

/// Finds out how much reaches the device, by the surest way that is open.
pub fn reach(objects: &[Object], looks: &[Look], tiers: &Tiers) -> Reach {
    let data = || objects.iter().filter(|object| !matches!(object.known.kind, Kind::Log | Kind::Temporary));
    if data().any(|object| object.slices.iter().any(|counts| counts.read_s.is_some())) {
        return Reach { way: Way::Timed, share: 1.0, low: 1.0, high: 1.0 };
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
        let reads = |slice: usize| data().map(|object| object.slices[slice].reads).sum::<f64>();
        let waited = |counted: f64, reads: f64| if timed { of_device_s(counted, reads) } else { counted };
        let share = |part: f64, of: f64| if of > 0.0 { (part / of).min(1.0) } else { 1.0 };
        let of_slices = (0..slices).filter(|slice| whole(*slice) > 0.0);
        let of_slice = |slice: usize| waited(between(slice, slice + 1).unwrap_or(0.0), reads(slice));
        let shares = of_slices.map(|slice| share(of_slice(slice), whole(slice)));
        let share = share(waited(all, (0..slices).map(reads).sum()), (0..slices).map(whole).sum());
        let (low, high) = shares.fold((share, share), |(low, high), one| (low.min(one), high.max(one)));
        return Reach { way, share, low, high };
    }
    Reach { way: Way::Requested, share: 1.0, low: 0.0, high: 1.0 }
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
    fn what_is_copied_out_of_memory_is_no_wait_for_a_device() {
        let objects = [table("a", 1e6, &[1e5, 1e5])];
        // 2 us a read.
        assert_eq!(reach(&objects, &looks(None, Some(0.2)), &TIERS).share, 0.0);
        // One in a hundred takes 6 ms: 5.9 s in 1e5 reads, and the copies of all.
        let mixed = reach(&objects, &looks(None, Some(6.25)), &TIERS);
        assert!((mixed.share - 0.01).abs() < 1e-6, "{mixed:?}");
    }

    #[test]
    fn others_who_read_the_device_make_no_more_reads_than_were_asked_for() {
        let objects = [table("a", 1e6, &[10.0, 10.0])];
        assert_eq!(reach(&objects, &looks(Some(500.0), None), &TIERS).share, 1.0);
    }
}
