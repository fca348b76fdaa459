//! The data of a database beside the memories that may hold it.
//!
//! The one idea: a figure is one of the storage only when the data does not fit a memory before it. The sizes are those of
//! the end of the trial; which pages the transactions asked for is not known, so the working set itself is not estimated:
//! all of the data is its upper bound.

use super::machine::level;
use crate::{Fits, WorkingSet};
use observation::{Counter, Observations, Whole};

/// So little of the files in the page cache is what a neighbour left, not what the engine reads through it.
const AROUND: f64 = 0.05;

/// What was observed of memories; none when nothing was.
pub fn working_set(observations: &Observations) -> Option<WorkingSet> {
    let of = |counter: Counter| level(observations, counter);
    let whole = |probe: Whole| level(observations, probe);
    let each = of(Counter::BufferOfEachSession);
    let seen = WorkingSet {
        data_bytes: of(Counter::Data).or_else(|| whole(Whole::FilesOfData)),
        buffer_bytes: of(Counter::Buffer).or(each),
        buffer_each: each.is_some(),
        buffered_bytes: of(Counter::Buffered),
        memory_bytes: whole(Whole::Memory),
        page_cached_bytes: whole(Whole::FilesOfDataCached),
        fits: None,
    };
    (seen.data_bytes.is_some() || seen.buffer_bytes.is_some()).then(|| WorkingSet { fits: fits(&seen), ..seen })
}

/// The smallest memory that holds all of the data; none where the sizes are not known.
pub fn fits(seen: &WorkingSet) -> Option<Fits> {
    let (data, buffer) = (seen.data_bytes?, seen.buffer_bytes?);
    if data <= buffer {
        return Some(Fits::Buffer);
    }
    // What the buffer takes is not there for the page cache.
    if data + buffer > seen.memory_bytes? {
        return Some(Fits::Nothing);
    }
    let around = seen.page_cached_bytes.is_some_and(|cached| cached < AROUND * data);
    Some(if around { Fits::AroundPageCache } else { Fits::PageCache })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fits_in(data: f64, buffer: f64, memory: Option<f64>, cached: Option<f64>) -> Option<Fits> {
        fits(&WorkingSet {
            data_bytes: Some(data),
            buffer_bytes: Some(buffer),
            memory_bytes: memory,
            page_cached_bytes: cached,
            ..WorkingSet::default()
        })
    }

    #[test]
    fn the_smallest_memory_that_holds_the_data_is_named() {
        assert_eq!(fits_in(100.0, 128.0, None, None), Some(Fits::Buffer));
        assert_eq!(fits_in(500.0, 128.0, Some(1_000.0), Some(450.0)), Some(Fits::PageCache));
        assert_eq!(fits_in(500.0, 128.0, Some(1_000.0), None), Some(Fits::PageCache));
        assert_eq!(fits_in(500.0, 128.0, Some(1_000.0), Some(10.0)), Some(Fits::AroundPageCache));
        assert_eq!(
            fits_in(900.0, 128.0, Some(1_000.0), Some(450.0)),
            Some(Fits::Nothing),
            "the buffer takes its share"
        );
        assert_eq!(fits_in(500.0, 128.0, None, None), None, "a memory that was not observed holds nothing for certain");
    }
}
