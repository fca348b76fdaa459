//! The histograms of one interval while they are being filled: a counter for every bucket, for the speed of it.
//!
//! The one idea: a record is an index and an increment. All counters are one zeroed allocation of which only the pages
//! that hold durations that occurred ever become memory, and clearing goes over the touched range alone.
//!
//! What it does not do: it answers nothing. Frozen into [`Cell`]s it is merged, cut and asked.

use crate::recorder::Layout;
use observation::{BUCKET_COUNT, Cell, CellKey, Histogram, Tally, bucket_index};

const BUCKETS: usize = BUCKET_COUNT as usize;

/// Which histogram of a class and endpoint.
#[derive(Clone, Copy)]
enum Kind {
    Response = 0,
    Service = 1,
    Lateness = 2,
    Censored = 3,
}

const KINDS: usize = 4;

/// What is kept exactly beside the buckets.
#[derive(Clone, Copy, Debug)]
struct Extent {
    sum: u128,
    min: u64,
    max: u64,
}

const UNTOUCHED: Extent = Extent { sum: 0, min: u64::MAX, max: 0 };

impl Extent {
    #[inline(always)]
    fn reach(&mut self, ns: u64) {
        // Branches that are hardly ever taken cost less than two stores that nearly always write what is there.
        if ns < self.min {
            self.min = ns;
        }
        if ns > self.max {
            self.max = ns;
        }
    }
}

/// All histograms and counts of one worker and one interval.
#[derive(Debug)]
pub(crate) struct Dense {
    /// Index of the interval.
    pub(crate) interval: u32,
    /// When it begins, on the clock that stamps operations; the end of time while the set is not in use.
    pub(crate) start: u64,
    /// When the set is handed over, unless its place is needed before.
    pub(crate) due: u64,
    /// How many more operations fit before a counter of 32 bits could overflow.
    room: u32,
    /// One counter a bucket, [`KINDS`] histograms for each key. Flat, because only a flat vector of zeros is taken from
    /// the kernel untouched.
    counts: Box<[u32]>,
    extents: Box<[[Extent; KINDS]]>,
    tallies: Box<[Tally]>,
}

/// The start of a set that is not in use.
pub(crate) const IDLE: u64 = u64::MAX;

impl Dense {
    /// A cleared set for so many combinations of class and endpoint.
    pub(crate) fn new(keys: usize) -> Dense {
        Dense {
            interval: 0,
            start: IDLE,
            due: 0,
            room: 0,
            counts: vec![0; keys * KINDS * BUCKETS].into_boxed_slice(),
            extents: vec![[UNTOUCHED; KINDS]; keys].into_boxed_slice(),
            tallies: vec![Tally::default(); keys].into_boxed_slice(),
        }
    }

    /// Takes a cleared set into use. `room` operations may be recorded before it must be handed over.
    pub(crate) fn open(&mut self, interval: u32, start: u64, due: u64, room: u32) {
        (self.interval, self.start, self.due, self.room) = (interval, start, due, room);
    }

    /// Adds the three durations of an operation that ended well: response is lateness and service together.
    #[inline(always)]
    pub(crate) fn add_operation(&mut self, key: usize, lateness: u64, service: u64) {
        let [response, serving, late, _] = &mut self.extents[key];
        // The sum of the responses is that of the two others, and is made of them when the set is frozen.
        response.reach(lateness + service);
        serving.sum += u128::from(service);
        serving.reach(service);
        late.sum += u128::from(lateness);
        late.reach(lateness);
        if let [response, serving, late, _] = self.histograms(key) {
            response[bucket_index(lateness + service) as usize] += 1;
            serving[bucket_index(service) as usize] += 1;
            late[bucket_index(lateness) as usize] += 1;
        }
    }

    /// Adds the age of an operation that never ended.
    pub(crate) fn add_censored(&mut self, key: usize, age: u64) {
        let extent = &mut self.extents[key][Kind::Censored as usize];
        extent.sum += u128::from(age);
        extent.reach(age);
        self.histograms(key)[Kind::Censored as usize][bucket_index(age) as usize] += 1;
    }

    /// The counters of one key, by kind.
    #[inline(always)]
    fn histograms(&mut self, key: usize) -> &mut [[u32; BUCKETS]] {
        self.counts[key * KINDS * BUCKETS..][..KINDS * BUCKETS].as_chunks_mut().0
    }

    /// Takes room for one operation; answers whether the set is now full. Every duration of the operation must have been
    /// added before.
    #[inline]
    pub(crate) fn filled(&mut self) -> bool {
        self.room -= 1;
        self.room == 0
    }

    /// The counts of a class and endpoint.
    #[inline]
    pub(crate) fn tally(&mut self, key: usize) -> &mut Tally {
        &mut self.tallies[key]
    }

    /// Appends the cells that hold anything, and leaves the set cleared and idle.
    pub(crate) fn freeze(&mut self, layout: &Layout, into: &mut Vec<Cell>) {
        for key in 0..self.tallies.len() {
            let [response, serving, late, _] = &mut self.extents[key];
            response.sum = serving.sum + late.sum;
            let cell = Cell {
                key: CellKey {
                    interval: self.interval,
                    stream: layout.stream,
                    class: (key / usize::from(layout.endpoints)) as u16,
                    endpoint: (key % usize::from(layout.endpoints)) as u16,
                    generator: layout.generator,
                },
                response: self.take(key, Kind::Response),
                service: self.take(key, Kind::Service),
                lateness: self.take(key, Kind::Lateness),
                censored: self.take(key, Kind::Censored),
                tally: std::mem::take(&mut self.tallies[key]),
            };
            if cell != (Cell { key: cell.key, ..Cell::default() }) {
                into.push(cell);
            }
        }
        self.start = IDLE;
    }

    /// One histogram, which is cleared.
    fn take(&mut self, key: usize, kind: Kind) -> Histogram {
        let extent = std::mem::replace(&mut self.extents[key][kind as usize], UNTOUCHED);
        if extent.min > extent.max {
            return Histogram::default();
        }
        // The extremes name the touched range: nothing outside it was ever written.
        let (first, last) = (bucket_index(extent.min), bucket_index(extent.max));
        let touched = &mut self.histograms(key)[kind as usize][first as usize..=last as usize];
        let filled = touched.iter().filter(|n| **n > 0).count();
        let mut entries = Vec::with_capacity(filled);
        entries.extend((first..).zip(touched.iter()).filter(|(_, n)| **n > 0).map(|(index, n)| (index, u64::from(*n))));
        touched.fill(0);
        Histogram::from_parts(entries, extent.sum, extent.min, extent.max)
            .expect("buckets counted in order fit the extremes kept beside them")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use observation::Window;
    use proptest::prelude::*;
    use units::Nanos;

    const LAYOUT: Layout = Layout {
        stream: 3,
        generator: 5,
        classes: 2,
        endpoints: 2,
        window: Window { start: Nanos(0), end: Nanos(1) },
        interval: Nanos(1),
        start: Nanos(0),
    };

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn a_frozen_set_is_the_histogram_of_its_values_and_is_left_clear(
            values in proptest::collection::vec((0usize..4, 0u64..1 << 45), 0..300),
        ) {
            let mut dense = Dense::new(4);
            for round in 0..2u64 {
                dense.open(7, 0, 0, u32::MAX);
                values.iter().for_each(|(key, ns)| dense.add_operation(*key, ns >> round, ns / 3));
                let mut cells = Vec::new();
                dense.freeze(&LAYOUT, &mut cells);
                for cell in &cells {
                    let key = usize::from(cell.key.class * 2 + cell.key.endpoint);
                    let own: Vec<u64> = values.iter().filter(|(k, _)| *k == key).map(|(_, ns)| *ns).collect();
                    let of = |time: &dyn Fn(u64) -> u64| Histogram::from_values(own.iter().map(|ns| time(*ns)));
                    prop_assert_eq!(&cell.lateness, &of(&|ns| ns >> round));
                    prop_assert_eq!(&cell.service, &of(&|ns| ns / 3));
                    prop_assert_eq!(&cell.response, &of(&|ns| (ns >> round) + ns / 3));
                    prop_assert!(cell.censored.is_empty());
                }
                prop_assert_eq!(cells.iter().map(|c| c.service.count()).sum::<u64>(), values.len() as u64);
            }
        }
    }

    #[test]
    fn a_set_with_nothing_in_it_sends_no_cell() {
        let mut cells = Vec::new();
        Dense::new(6).freeze(&LAYOUT, &mut cells);
        assert_eq!(cells, []);
    }
}
