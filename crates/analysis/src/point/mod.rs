//! Replicates of the same point pooled.
//!
//! The one idea: a replicate is the unit of evidence. Where a point was measured more than once its interval comes from
//! the scatter of its replicates, because what one trial knows about itself says nothing of what changes between trials. It is
//! never narrower than what the trials know by themselves: replicates that began at the same moment of a cycle agree, and
//! are wrong together. A single trial gives what it can, and its `n` tells.

mod asked;
mod metric;
mod times;

pub(crate) use asked::NEARLY_ALL;
pub use metric::{floor_of, own_estimate, pooled, servers_cpu_ms};

use crate::trial::{ROOM, measure_of, more_work};
use crate::{
    Caveat, DiskSummary, Estimate, PointSummary, ResponseEstimates, SteadyAnswer, StreamSummary, TrialSummary, Work,
};
use metric::counted;
use observation::{Asks, Factor, Level, Places, Point, Provenance, factor, level_of};
use study::{Metric, Selector, Yield};
use times::PooledTimes;
use units::milliseconds;

/// A point with the trials and streams behind it.
pub struct Group<'a> {
    /// Which point.
    pub point: Point,
    provenance: Provenance,
    /// The trials, with the stream of each that is meant.
    pub members: Vec<(&'a TrialSummary, &'a StreamSummary)>,
}

/// Experiment, system, stream and provenance.
pub type Kin<'a> = (&'a str, &'a str, &'a str, &'static str);

impl Group<'_> {
    /// A metric pooled over the trials, in base units.
    pub fn estimate(&self, metric: Metric, confidence: f64) -> Option<Estimate> {
        self.unbounded(metric, confidence).map(|estimate| self.as_asked(metric, estimate))
    }

    /// The same by its scatter alone.
    fn unbounded(&self, metric: Metric, confidence: f64) -> Option<Estimate> {
        if let Metric::ResponseQuantile(q) = metric
            && let each = self.known()
            && !each.is_empty()
        {
            return Some(times::quantiles(&each, [q], confidence)[0].scaled(1e-3));
        }
        if let Some(given) = self.given_by_jobs(metric) {
            let elapsed = self.unbounded(Metric::Elapsed, confidence)?;
            let per_s = |seconds: f64| given / seconds;
            let (value, low, high) = (per_s(elapsed.value), per_s(elapsed.high), per_s(elapsed.low));
            return Some(Estimate { value, low, high, ..elapsed });
        }
        let own: Vec<Estimate> = self.members.iter().filter_map(|(t, s)| own_estimate(t, s, metric)).collect();
        if metric.counts() { counted(&own, metric) } else { pooled(&own, self.floor(metric), confidence) }
    }

    /// What jobs that end gave, each of them on the mean; none for work that goes on. Their time is the result, and a rate that
    /// were a mean of rates would not multiply with the mean time to what was done.
    fn given_by_jobs(&self, metric: Metric) -> Option<f64> {
        let Metric::Yield(_) = metric else { return None };
        let done = |(trial, stream): &(&TrialSummary, &StreamSummary)| {
            let per_s = own_estimate(trial, stream, metric).filter(|_| trial.fixed_work)?;
            Some(per_s.value * trial.elapsed_s)
        };
        let all: Vec<f64> = self.members.iter().map(done).collect::<Option<_>>()?;
        Some(all.iter().sum::<f64>() / all.len() as f64)
    }

    /// The least doubt that the trials leave of a metric, in base units, however many there are: cut off at the same moment
    /// of a cycle, all of them err alike.
    pub fn floor(&self, metric: Metric) -> f64 {
        self.members.iter().map(|(trial, stream)| floor_of(trial, stream, metric)).fold(0.0, f64::max)
    }

    /// What would give a quantile an interval: `needs --set measure=7s`; nothing where it has one, or of another metric.
    pub fn needs(&self, metric: Metric, confidence: f64) -> Option<String> {
        let longer = self.times(metric)?.short_by(confidence)?;
        if self.members.iter().any(|(trial, _)| trial.fixed_work) {
            return Some(format!("needs {} times as much work", longer.ceil()));
        }
        if self.members.iter().any(|(trial, _)| trial.jobs_ended) {
            return Some(format!("needs {}", more_work(ROOM * longer)));
        }
        let window = |member: &(&TrialSummary, &StreamSummary)| member.0.window.length().seconds();
        Some(measure_of(ROOM * longer * self.members.iter().map(window).fold(0.0, f64::max)))
    }

    /// Why a quantile that is only known to be at least so much has no ratio, if it is one.
    pub fn only_a_bound(&self, metric: Metric, confidence: f64) -> Option<String> {
        let known = self.estimate(metric, confidence)?;
        let needs = self.needs(metric, confidence);
        if !known.lower_bound() && needs.is_none() {
            return None;
        }
        let bound = match known.lower_bound() {
            true => format!(" is only known to be at least {}", milliseconds(1e3 * known.low)),
            false => " has too few samples to be compared".to_owned(),
        };
        let next = needs.map(|needs| format!("; {needs}")).unwrap_or_default();
        Some(format!("{} of {}{bound}{next}", metric.word(), self.point.system))
    }

    /// The response times of all its trials, when a quantile of them is asked for. A trial in which nothing ended has none, and
    /// takes nothing away from what the others know.
    fn times(&self, metric: Metric) -> Option<PooledTimes> {
        let (Metric::ResponseQuantile(q), each) = (metric, self.known()) else { return None };
        (!each.is_empty()).then(|| PooledTimes::of(&each, q))
    }

    fn known(&self) -> Vec<&ResponseEstimates> {
        self.members.iter().filter_map(|(_, stream)| stream.response_estimates.as_ref()).collect()
    }

    /// Whether a search chose its trials: they follow from each other and are no replicates to compare.
    pub fn searched(&self) -> bool {
        self.members.iter().any(|(trial, _)| trial.label.search.is_some())
    }

    /// Experiment, system, stream and provenance: what groups share that differ in their factors alone.
    pub fn kin(&self) -> Kin<'_> {
        let Point { experiment, system, stream, .. } = &self.point;
        (experiment, system, stream, self.provenance.word())
    }
}

/// Whether a selector of the study means a point.
pub fn selects(selector: &Selector, point: &Point) -> bool {
    let is = |wanted: &Option<String>, name: &str| wanted.as_ref().is_none_or(|wanted| wanted == name);
    let has = |wanted: &Factor| point.level(&wanted.name).is_some_and(|level| level.same(&wanted.level));
    is(&selector.experiment, &point.experiment)
        && is(&selector.stream, &point.stream)
        && selector.factors.iter().all(has)
}

/// All trials that ended by point, in the order in which points were first measured. An interrupted trial is no evidence:
/// nothing that is concluded may come from it.
pub fn groups(trials: &[TrialSummary]) -> Vec<Group<'_>> {
    let (mut groups, mut places) = (Vec::<Group>::new(), Places::default());
    for trial in trials.iter().filter(|trial| !trial.interrupted) {
        for stream in &trial.streams {
            let (point, provenance, member) = (trial.label.point(stream.stream), trial.provenance, (trial, stream));
            let known = |place: &usize| (&groups[*place].point, groups[*place].provenance) == (&point, provenance);
            match places.near(&point).into_iter().find(known) {
                Some(place) => groups[place].members.push(member),
                None => {
                    places.put(&point, groups.len());
                    groups.push(Group { point, provenance, members: vec![member] });
                }
            }
        }
    }
    groups
}

/// The point of a group.
pub fn point(group: &Group, confidence: f64) -> PointSummary {
    let unknown = Estimate { confidence, n: 0, ..Estimate::single(f64::NAN) };
    let read = |metric| group.estimate(metric, confidence);
    let ms = |metric| read(metric).map_or(unknown, |estimate| estimate.scaled(1e3));
    let each = |of: &dyn Fn(&TrialSummary) -> Option<f64>| {
        let own: Vec<Estimate> = group.members.iter().filter_map(|(t, _)| of(t)).map(Estimate::single).collect();
        pooled(&own, 0.0, confidence)
    };
    let known = group.known();
    let [p50, p99, p999] = match known.is_empty() {
        true => [0.5, 0.99, 0.999].map(|q| ms(Metric::ResponseQuantile(q))),
        false => times::quantiles(&known, [0.5, 0.99, 0.999], confidence),
    };
    PointSummary {
        at: group.point.clone(),
        work: work_of(group),
        provenance: group.provenance,
        trials: group.members.iter().map(|(trial, _)| trial.label.index).collect(),
        throughput_per_s: read(Metric::Throughput).unwrap_or(unknown),
        bytes_per_s: read(Metric::Bandwidth).unwrap_or(Estimate { n: 0, ..Estimate::single(0.0) }),
        asked_most_per_s: group.asked_most_per_s(),
        yields: yields(group, confidence),
        response_mean_ms: ms(Metric::ResponseMean),
        response_p50_ms: p50,
        response_p99_ms: p99.beside_median(&p50),
        response_p999_ms: p999.beside_median(&p50),
        service_mean_ms: ms(Metric::ServiceMean),
        elapsed_s: read(Metric::Elapsed),
        cpu_elapsed_s: each(&cpu_elapsed_s),
        cpu_us: read(Metric::CpuPerOperation).map(|estimate| estimate.scaled(1e6)),
        disk_utilisation: each(&|trial| busiest_disk(trial).map(|disk| disk.utilisation)),
        disk_wait_ms: each(&|trial| busiest_disk(trial).map(|disk| disk.wait_ms).filter(|ms| ms.is_finite())),
        steady: group.members.iter().map(|(_, s)| s.steady.answer).max_by_key(worse).unwrap_or(SteadyAnswer::TooShort),
        caveats: each_kind_once(group),
    }
}

/// What the transactions gave those who asked for them, pooled.
fn yields(group: &Group, confidence: f64) -> Vec<(String, Estimate)> {
    let Some((_, first)) = group.members.first() else { return Vec::new() };
    let known = first.yields.iter().filter_map(|given| Yield::of_word(&given.what));
    known.filter_map(|what| Some((what.word().to_owned(), group.estimate(Metric::Yield(what), confidence)?))).collect()
}

/// Transactions where any of its trials asked a database.
fn work_of(group: &Group) -> Work {
    let asks = group.members.iter().any(|(trial, _)| trial.server.is_some());
    let label = group.members.first().and_then(|(trial, s)| trial.label.streams.get(usize::from(s.stream)));
    match label.map(|label| label.asks) {
        _ if asks => Work::Transactions,
        Some(Asks::Files) => Work::Files,
        _ => Work::Operations,
    }
}

fn worse(answer: &SteadyAnswer) -> u8 {
    match answer {
        SteadyAnswer::Yes => 0,
        SteadyAnswer::TooShort => 1,
        SteadyAnswer::CannotTell => 2,
        SteadyAnswer::Never => 3,
    }
}

/// Elapsed time normalised to CPU: seconds times busy cores, for each copy of the work when it runs n wide. Busy cores are
/// the machine's, because kernel threads work for the copies too; where they were not probed, the generator's own.
fn cpu_elapsed_s(trial: &TrialSummary) -> Option<f64> {
    if !trial.fixed_work {
        return None;
    }
    let machine = trial.machine.cpu_user_cores.zip(trial.machine.cpu_system_cores).map(|(user, system)| user + system);
    let own = trial.generator_cpu.total_s();
    let core_seconds = machine.map(|cores| cores * trial.elapsed_s).or((own > 0.0).then_some(own))?;
    let width = level_of(&trial.label.factors, factor::WIDTH).and_then(Level::number);
    Some(core_seconds / width.filter(|width| *width > 0.0).unwrap_or(1.0))
}

fn busiest_disk(trial: &TrialSummary) -> Option<&DiskSummary> {
    let known = trial.machine.disks.iter().filter(|disk| disk.utilisation.is_finite());
    known.max_by(|a, b| a.utilisation.total_cmp(&b.utilisation))
}

fn each_kind_once(group: &Group) -> Vec<Caveat> {
    let mut once: Vec<Caveat> = Vec::new();
    for caveat in group.members.iter().flat_map(|(trial, _)| &trial.caveats) {
        if !once.iter().any(|known| known.kind == caveat.kind) {
            once.push(caveat.clone());
        }
    }
    once
}
