//! The measured window cut out of the cells of one stream.
//!
//! The one idea: every figure of a trial is made from the same cut, so that rates, latencies and charts never disagree
//! about what lies inside. Throughput and latency of a stream are those of its work; upkeep stands in its class alone.

use observation::{BUCKET_COUNT, Cell, ClassKind, Histogram, Observations, StreamLabel, Tally};

/// The cells of one stream in the order of their intervals, and which of them count.
pub struct Cut<'a> {
    /// All that the trial recorded.
    pub observations: &'a Observations,
    /// What the stream was asked to do.
    pub label: &'a StreamLabel,
    /// Which stream.
    pub stream: u16,
    /// First interval of the window.
    pub first: u32,
    /// First interval after the window.
    pub end: u32,
    cells: Vec<&'a Cell>,
}

impl<'a> Cut<'a> {
    /// The cells of stream `stream`.
    pub fn new(observations: &'a Observations, label: &'a StreamLabel, stream: u16) -> Cut<'a> {
        let mut cells: Vec<&Cell> = observations.cells.iter().filter(|cell| cell.key.stream == stream).collect();
        cells.sort_by_key(|cell| cell.key.interval);
        let (first, end) = window_intervals(observations);
        Cut { observations, label, stream, first, end, cells }
    }

    /// Length of the window in seconds.
    pub fn seconds(&self) -> f64 {
        self.observations.window.length().seconds()
    }

    /// The cells of all intervals, ascending.
    pub fn all(&self) -> &[&'a Cell] {
        &self.cells
    }

    /// The cells of the window, ascending by interval.
    pub fn counted(&self) -> &[&'a Cell] {
        let from = self.cells.partition_point(|cell| cell.key.interval < self.first);
        let to = self.cells.partition_point(|cell| cell.key.interval < self.end);
        &self.cells[from..to.max(from)]
    }

    /// The cells of work in the window, ascending by interval.
    pub fn work(&self) -> impl Iterator<Item = &'a Cell> + '_ {
        self.counted().iter().copied().filter(|cell| self.counts_as_work(cell))
    }

    /// Whether a cell's class is work; a class that the label does not know is taken for work rather than dropped.
    pub fn counts_as_work(&self, cell: &Cell) -> bool {
        self.label.classes.get(usize::from(cell.key.class)).is_none_or(|(_, kind)| *kind == ClassKind::Work)
    }

    /// Completions of work in the window.
    pub fn work_tally(&self) -> Tally {
        total_tally(self.work())
    }

    /// Completions of work, interval by interval, intervals without any included, as rates a second.
    pub fn work_rates(&self) -> Vec<f64> {
        let seconds = self.observations.interval.seconds();
        let mut rates = vec![0.0; (self.end - self.first) as usize];
        for cell in self.work() {
            rates[(cell.key.interval - self.first) as usize] += cell.tally.done as f64 / seconds;
        }
        rates
    }
}

/// The first interval of the window and the first after it.
pub fn window_intervals(observations: &Observations) -> (u32, u32) {
    let interval = observations.interval.0.max(1);
    let first = observations.window.start.0.div_ceil(interval);
    let end = observations.window.end.0.div_ceil(interval);
    (first as u32, (end as u32).max(first as u32))
}

/// The sum of the tallies.
pub fn total_tally<'a>(cells: impl Iterator<Item = &'a Cell>) -> Tally {
    let mut total = Tally::default();
    cells.for_each(|cell| total.add(&cell.tally));
    total
}

/// Adds many sparse histograms in one pass each, where merging pairwise would copy the sum for every cell.
pub struct Gather {
    counts: Vec<u64>,
    sum_ns: u128,
    min_ns: u64,
    max_ns: u64,
}

impl Gather {
    /// Nothing yet.
    pub fn new() -> Gather {
        Gather { counts: vec![0; BUCKET_COUNT as usize], sum_ns: 0, min_ns: u64::MAX, max_ns: 0 }
    }

    /// Adds one.
    pub fn add(&mut self, histogram: &Histogram) {
        if histogram.is_empty() {
            return;
        }
        for (index, count) in histogram.entries() {
            self.counts[index as usize] += count;
        }
        self.sum_ns += histogram.sum_ns();
        self.min_ns = self.min_ns.min(histogram.min_ns());
        self.max_ns = self.max_ns.max(histogram.max_ns());
    }

    /// The sum of all that was added.
    pub fn histogram(self) -> Histogram {
        let entries: Vec<(u32, u64)> =
            self.counts.into_iter().enumerate().filter(|(_, n)| *n > 0).map(|(i, n)| (i as u32, n)).collect();
        if entries.is_empty() {
            return Histogram::default();
        }
        // Entries of valid histograms add up to a valid one; what a broken file holds was refused when it was read.
        Histogram::from_parts(entries, self.sum_ns, self.min_ns, self.max_ns).unwrap_or_default()
    }
}

/// The sum of one histogram of every cell.
pub fn gather<'a>(cells: impl Iterator<Item = &'a Cell>, which: impl Fn(&'a Cell) -> &'a Histogram) -> Histogram {
    let mut all = Gather::new();
    cells.for_each(|cell| all.add(which(cell)));
    all.histogram()
}
