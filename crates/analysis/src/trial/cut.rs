//! The measured window cut out of the cells of one stream.
//!
//! The one idea: every figure of a trial is made from the same cut, so that rates, latencies and charts never disagree
//! about what lies inside. The cells are walked once and reduced as they pass, so that a trial of an hour takes no more
//! memory than one of a minute. Throughput and latency of a stream are those of its work; upkeep stands in its class
//! alone.

use super::latency::Placed;
use observation::{
    BUCKET_COUNT, Cell, CellKey, CellSource, ClassKind, Histogram, Observations, Provenance, StreamLabel, Tally,
    TrialLabel, bucket_index,
};

/// One stream of a trial, reduced to its intervals and classes.
pub struct Cut<'a> {
    /// What the trial recorded, but for its cells, which are not looked for here.
    pub observations: &'a Observations,
    /// What the stream was asked to do.
    pub label: &'a StreamLabel,
    /// Which stream.
    pub stream: u16,
    /// First interval of the window.
    pub first: u32,
    /// First interval after the window.
    pub end: u32,
    /// By interval, from the start of the trial to the end of the window.
    pub intervals: Vec<Interval>,
    /// What each class did in the window, under no key.
    classes: Vec<Cell>,
    /// What its classes gave those who asked, by interval of the window.
    pub given: Vec<Given>,
    /// What missed a limit of latency, by interval of the window.
    pub missed: Vec<Missed>,
    /// Of how much work it is not known how old what it saw was, in the last interval that had any: the share of it.
    pub unseen: Option<f64>,
    /// Whether it is of a job beside other work that was over within the window, which ends with it.
    pub over: bool,
}

/// Something that transactions gave those who asked for them.
pub struct Given {
    /// What, in the words of those who ask.
    pub what: String,
    /// How many one transaction gives at most.
    pub most: f64,
    /// How many in each interval of the window.
    pub counts: Vec<f64>,
}

/// What of an interval met or missed a limit of latency, by when it was due.
#[derive(Clone, Copy, Debug, Default)]
pub struct Missed {
    /// Work that ended well.
    pub ended: f64,
    /// Work that failed.
    pub failed: f64,
    /// Of what ended well, how much took longer than the limit.
    pub late: f64,
    /// What was skipped.
    pub skipped: f64,
}

/// The work of one interval.
#[derive(Clone, Copy, Debug, Default)]
pub struct Interval {
    /// Completions that came in it.
    pub done: u64,
    /// Failures of what was meant to start in it.
    pub failed: u64,
    /// Completions as a rate.
    pub rate_per_s: f64,
    /// p99 of response of those intended in it, the censored in place.
    pub p99_ms: Option<f64>,
}

impl<'a> Cut<'a> {
    /// All streams of a trial, in one walk over its cells.
    pub fn all<S: CellSource + ?Sized>(
        observations: &'a Observations,
        label: &'a TrialLabel,
        cells: &S,
    ) -> Result<Vec<Cut<'a>>, S::Error> {
        let streams = label.streams.iter().enumerate();
        let mut open: Vec<Cutting> =
            streams.map(|(index, stream)| Cutting::new(observations, stream, index as u16)).collect();
        cells.each(&mut |cell| {
            if let Some(cutting) = open.get_mut(usize::from(cell.key.stream)) {
                cutting.add(cell);
            }
        })?;
        Ok(open.into_iter().map(Cutting::close).collect())
    }

    /// Length of the window in seconds.
    pub fn seconds(&self) -> f64 {
        self.observations.window.length().seconds()
    }

    /// One class in the window; what was never asked for is empty.
    pub fn class(&self, class: usize) -> Cell {
        self.classes.get(class).cloned().unwrap_or_default()
    }

    /// Whether a class is work; one that the label does not know is taken for work rather than dropped.
    pub fn counts_as_work(&self, class: u16) -> bool {
        self.label.kind(class) == ClassKind::Work
    }

    /// Completions of work and upkeep in the window.
    pub fn tally(&self) -> Tally {
        let numbered = (0..).zip(&self.classes);
        let counted = numbered.filter(|(class, _)| self.label.kind(*class).counts_operations());
        total_tally(counted.map(|(_, cell)| cell))
    }

    /// Time in service of all work and upkeep that was meant to begin in the window and ended, seconds.
    pub fn served_s(&self) -> f64 {
        let numbered = (0..).zip(&self.classes);
        let counted = numbered.filter(|(class, _)| self.label.kind(*class).counts_operations());
        counted.map(|(_, cell)| cell.service.sum_ns() as f64 / 1e9).sum()
    }

    /// Completions of work in the window.
    pub fn work_tally(&self) -> Tally {
        total_tally(self.work())
    }

    /// One histogram of all work in the window.
    pub fn work_total(&self, which: impl Fn(&Cell) -> &Histogram) -> Histogram {
        let mut total = Histogram::default();
        self.work().for_each(|class| total.merge(which(class)));
        total
    }

    /// Response of the work intended in the window, with what never ended at the age that it had reached.
    pub fn work_response(&self) -> Placed {
        Placed::new(self.work_total(|class| &class.response), self.work_total(|class| &class.censored))
    }

    /// How many intervals lie in the window as a whole: the last may not.
    pub fn whole_intervals(&self) -> usize {
        let interval = self.observations.interval.0.max(1);
        (self.observations.window.end.0 / interval).saturating_sub(u64::from(self.first)) as usize
    }

    /// Whether it has work, and none that came in this interval of the window or after it.
    pub fn rests_from(&self, interval: u32) -> bool {
        let behind = self.intervals.get(interval as usize..).unwrap_or_default();
        self.work_tally().done > 0 && behind.iter().all(|interval| interval.done == 0)
    }

    /// Completions of work, interval by interval, intervals without any included, as rates a second.
    pub fn work_rates(&self) -> Vec<f64> {
        let counted = self.intervals.get(self.first as usize..).unwrap_or_default();
        counted.iter().take(self.whole_intervals()).map(|interval| interval.rate_per_s).collect()
    }

    fn work(&self) -> impl Iterator<Item = &Cell> {
        let numbered = (0..).zip(&self.classes);
        numbered.filter(|(class, _)| self.counts_as_work(*class)).map(|(_, class)| class)
    }
}

/// The first interval of the window and the first after it.
pub fn window_intervals(observations: &Observations) -> (u32, u32) {
    let interval = observations.interval.0.max(1);
    let first = observations.window.start.0.div_ceil(interval);
    let end = observations.window.end.0.div_ceil(interval);
    (first as u32, (end as u32).max(first as u32))
}

fn total_tally<'a>(classes: impl Iterator<Item = &'a Cell>) -> Tally {
    let mut total = Tally::default();
    classes.for_each(|class| total.add(&class.tally));
    total
}

/// What the classes of a stream give, of which nothing is counted yet.
fn given(label: &StreamLabel, intervals: usize) -> Vec<Given> {
    let mut all: Vec<Given> = Vec::new();
    for gives in &label.gives {
        // Of what nobody offers none is missed.
        let most = if gives.offered_per_s == Some(0.0) { 0.0 } else { gives.amount };
        match all.iter_mut().find(|given| given.what == gives.what) {
            Some(given) => given.most = given.most.max(most),
            None => all.push(Given { what: gives.what.clone(), most, counts: vec![0.0; intervals] }),
        }
    }
    all
}

/// A cut while cells still pass.
struct Cutting<'a> {
    cut: Cut<'a>,
    classes: Vec<OpenClass>,
    /// Response and censored of the work of the interval that passes now. The few cells of an interval are merged
    /// pairwise: a table of all buckets for each of thousands of intervals would cost more.
    passing: Histogram,
    at: u32,
    /// Of how much work the age of what it saw is known, by interval; none where nothing ages.
    aged: Option<Vec<u64>>,
}

#[derive(Default)]
struct OpenClass {
    tally: Tally,
    response: Gather,
    service: Gather,
    lateness: Gather,
    censored: Gather,
}

impl<'a> Cutting<'a> {
    fn new(observations: &'a Observations, label: &'a StreamLabel, stream: u16) -> Cutting<'a> {
        let (first, end) = window_intervals(observations);
        let intervals = vec![Interval::default(); end as usize];
        let given = given(label, (end - first) as usize);
        let cut = Cut {
            observations,
            label,
            stream,
            first,
            end,
            intervals,
            classes: Vec::new(),
            given,
            missed: vec![Missed::default(); (end - first) as usize],
            unseen: None,
            over: false,
        };
        Cutting { cut, classes: Vec::new(), passing: Histogram::default(), at: 0, aged: None }
    }

    fn add(&mut self, cell: &Cell) {
        let key = cell.key;
        if key.interval != self.at {
            self.pass();
            self.at = key.interval;
        }
        if self.cut.counts_as_work(key.class) {
            self.add_work(cell);
        } else {
            self.add_beside(cell);
        }
        if (self.cut.first..self.cut.end).contains(&key.interval) {
            self.class(key.class).add(cell);
            self.give(cell);
            self.miss(cell);
        }
    }

    /// Adds what was given: as it was counted, or by the mean of its class in a run that counted none.
    fn give(&mut self, cell: &Cell) {
        let (label, class) = (self.cut.label, cell.key.class);
        let (what, amount) = match label.classes.get(usize::from(class)) {
            Some((name, ClassKind::Yield)) => (name, 1.0),
            _ => match label.gives.iter().find(|gives| gives.class == class) {
                Some(gives) if label.counted(&gives.what).is_none() => (&gives.what, gives.amount),
                _ => return,
            },
        };
        let at = (cell.key.interval - self.cut.first) as usize;
        let given = self.cut.given.iter_mut().find(|given| given.what == *what);
        if let Some(count) = given.and_then(|given| given.counts.get_mut(at)) {
            *count += amount * cell.tally.done as f64;
        }
    }

    fn miss(&mut self, cell: &Cell) {
        let missed = &mut self.cut.missed[(cell.key.interval - self.cut.first) as usize];
        match self.cut.label.kind(cell.key.class) {
            ClassKind::Late => missed.late += cell.tally.done as f64,
            ClassKind::Skipped => missed.skipped += cell.tally.done as f64,
            ClassKind::Work => {
                missed.ended += cell.response.count() as f64;
                missed.failed += cell.tally.failed as f64;
            }
            _ => {}
        }
    }

    fn add_work(&mut self, cell: &Cell) {
        let seconds = self.cut.observations.interval.seconds();
        let Some(interval) = self.cut.intervals.get_mut(cell.key.interval as usize) else { return };
        interval.done += cell.tally.done;
        interval.failed += cell.tally.failed;
        interval.rate_per_s += cell.tally.done as f64 / seconds;
        self.passing.merge(&cell.response);
        self.passing.merge(&cell.censored);
    }

    /// Where anything changes beside the work, what the work sees has an age.
    fn add_beside(&mut self, cell: &Cell) {
        let intervals = self.cut.intervals.len();
        let aged = self.aged.get_or_insert_with(|| vec![0; intervals]);
        let is_age =
            self.cut.label.classes.get(usize::from(cell.key.class)).is_some_and(|(_, kind)| *kind == ClassKind::Age);
        if let Some(known) = aged.get_mut(cell.key.interval as usize).filter(|_| is_age) {
            *known += cell.tally.done;
        }
    }

    fn class(&mut self, class: u16) -> &mut OpenClass {
        let class = usize::from(class);
        if self.classes.len() <= class {
            self.classes.resize_with(class + 1, OpenClass::default);
        }
        &mut self.classes[class]
    }

    /// The interval has passed: its quantile is known, and its histogram is not needed any more.
    fn pass(&mut self) {
        let passed = std::mem::take(&mut self.passing);
        if let Some(interval) = self.cut.intervals.get_mut(self.at as usize) {
            interval.p99_ms = passed.quantile_ns(0.99).map(|ns| ns as f64 / 1e6);
        }
    }

    /// Work that saw nothing of what changed in this trial saw what is at least as old as the trial was then.
    /// A model holds no data, so that nothing is known of an age.
    fn age_the_unseen(&mut self) {
        if self.cut.observations.provenance == Provenance::Simulated {
            return;
        }
        let (Some(aged), Some(class)) =
            (self.aged.take(), self.cut.label.classes.iter().position(|(_, kind)| *kind == ClassKind::Age))
        else {
            return;
        };
        let interval = self.cut.observations.interval.0;
        for (at, known) in aged.into_iter().enumerate().skip(self.cut.first as usize) {
            let done = self.cut.intervals[at].done;
            let unseen = done.saturating_sub(known);
            self.class(class as u16).censored.add_times(at as u64 * interval, unseen);
            if done > 0 {
                self.cut.unseen = Some(unseen as f64 / done as f64);
            }
        }
    }

    fn close(mut self) -> Cut<'a> {
        self.pass();
        self.age_the_unseen();
        Cut { classes: self.classes.into_iter().map(OpenClass::close).collect(), ..self.cut }
    }
}

impl OpenClass {
    fn add(&mut self, cell: &Cell) {
        self.tally.add(&cell.tally);
        self.response.add(&cell.response);
        self.service.add(&cell.service);
        self.lateness.add(&cell.lateness);
        self.censored.add(&cell.censored);
    }

    fn close(self) -> Cell {
        Cell {
            key: CellKey::default(),
            tally: self.tally,
            response: self.response.histogram(),
            service: self.service.histogram(),
            lateness: self.lateness.histogram(),
            censored: self.censored.histogram(),
        }
    }
}

/// Adds many sparse histograms in one pass each, where merging pairwise would copy the sum for every cell.
#[derive(Default)]
struct Gather {
    /// One for every bucket, or none while nothing was added: most classes censor nothing.
    counts: Vec<u64>,
    sum_ns: u128,
    min_ns: u64,
    max_ns: u64,
}

impl Gather {
    fn add(&mut self, histogram: &Histogram) {
        if histogram.is_empty() {
            return;
        }
        self.open();
        for (index, count) in histogram.entries() {
            self.counts[index as usize] += count;
        }
        self.sum_ns += histogram.sum_ns();
        self.min_ns = self.min_ns.min(histogram.min_ns());
        self.max_ns = self.max_ns.max(histogram.max_ns());
    }

    /// The same time so many times.
    fn add_times(&mut self, ns: u64, count: u64) {
        if count == 0 {
            return;
        }
        self.open();
        self.counts[bucket_index(ns) as usize] += count;
        self.sum_ns += u128::from(ns) * u128::from(count);
        self.min_ns = self.min_ns.min(ns);
        self.max_ns = self.max_ns.max(ns);
    }

    fn open(&mut self) {
        if self.counts.is_empty() {
            self.counts = vec![0; BUCKET_COUNT as usize];
            self.min_ns = u64::MAX;
        }
    }

    fn histogram(self) -> Histogram {
        let entries: Vec<(u32, u64)> =
            self.counts.into_iter().enumerate().filter(|(_, n)| *n > 0).map(|(i, n)| (i as u32, n)).collect();
        if entries.is_empty() {
            return Histogram::default();
        }
        // Entries of valid histograms add up to a valid one; what a broken file holds was refused when it was read.
        Histogram::from_parts(entries, self.sum_ns, self.min_ns, self.max_ns).unwrap_or_default()
    }
}
