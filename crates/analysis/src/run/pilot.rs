//! How long a whole job takes, told from a pilot on a part of its work, and what the pilot cannot tell.
//!
//! The one idea: the work of all jobs together grows with the whole, and what one of them was behind the others does not. What
//! comes behind the spans takes as many turns as its classes have pieces for each job; a class of one piece comes once. The time of
//! the whole pilot, scaled, is more than the job takes, and the upper end of the interval is that of it.
//!
//! A pilot may go on with a night that was killed: it does a part of the work, beside all of the data and of what comes behind.
//!
//! What it does not do: it knows no law by which more data makes each piece of work slower.

use crate::point::{Group, pooled};
use crate::trial::fits;
use crate::{Estimate, Fits, StreamSummary, TrialSummary, WorkingSet};
use study::Metric;
use units::{Bytes, bytes, counted, significant};

/// Below so many spans for each job, what is left over at the end is a tenth and more of the pilot.
const SPANS_OF_A_JOB: f64 = 10.0;

/// How long a job of `ratio` times the measured work takes.
pub fn whole_job(group: &Group, ratio: f64, confidence: f64) -> Option<Estimate> {
    let scaled = group.estimate(Metric::Elapsed, confidence)?.scaled(ratio);
    let each = group.members.iter().map(|member| even(member, ratio).map(Estimate::single));
    let Some(each) = each.collect::<Option<Vec<_>>>() else { return Some(scaled) };
    let even = pooled(&each, 0.0, confidence)?;
    Some(Estimate { low: even.low.min(scaled.low), high: even.high.max(scaled.high), ..even })
}

/// Seconds of the whole job by one pilot of several jobs.
fn even(member @ (trial, stream): &(&TrialSummary, &StreamSummary), ratio: f64) -> Option<f64> {
    let (jobs, turns) = (trial.jobs?, turns(trial, stream)?);
    let behind = trial.elapsed_s - jobs.longest_s;
    Some(ratio * jobs.mean_s + (jobs.longest_s - jobs.mean_s) + behind * turns(of_data(member, ratio)))
}

/// How many times the data of a pilot the whole job has, of which `ratio` times as much is done: its spans hold all of its data,
/// whether it settled them or a night before it.
fn of_data((trial, stream): &(&TrialSummary, &StreamSummary), ratio: f64) -> f64 {
    let share = || {
        let done = stream.yields.first()?;
        let label = trial.label.streams.get(usize::from(stream.stream))?;
        let gives = label.gives.iter().find(|gives| gives.what == done.what)?;
        let (name, _) = label.classes.get(usize::from(gives.class))?;
        let spans = stream.classes.iter().find(|class| class.name == *name)?.done as f64;
        Some(done.per_s.value * trial.elapsed_s / (spans * gives.amount))
    };
    ratio * share().filter(|share| *share < 1.0).unwrap_or(1.0)
}

/// How many times as many turns the pieces behind the spans take in a job of `ratio` times the work.
fn turns<'a>(trial: &TrialSummary, stream: &'a StreamSummary) -> Option<impl Fn(f64) -> f64 + use<'a>> {
    let jobs = sessions(trial, stream)?;
    let behind = stream.classes.iter().skip(1).map(|class| class.done as f64);
    let of = move |ratio: f64| {
        let each = behind.clone().map(|done| if done > 1.0 { (ratio * done / jobs).ceil() } else { done });
        each.sum::<f64>()
    };
    Some(move |ratio: f64| if of(1.0) > 0.0 { of(ratio) / of(1.0) } else { 1.0 })
}

fn sessions(trial: &TrialSummary, stream: &StreamSummary) -> Option<f64> {
    trial.label.streams.get(usize::from(stream.stream))?.sessions().map(f64::from)
}

/// Why a pilot tells less of the whole job than its interval says.
pub fn doubts(group: &Group, ratio: f64) -> Vec<String> {
    if ratio <= 1.0 {
        return Vec::new();
    }
    let Some(last) = group.members.last() else { return Vec::new() };
    let grown = last.0.server.as_ref().and_then(|server| outgrown(server.working_set.as_ref()?, of_data(last, ratio)));
    few_spans(last).into_iter().chain(grown).collect()
}

/// Where all of the pilot's data fits a memory that the whole job's does not.
fn outgrown(pilot: &WorkingSet, ratio: f64) -> Option<String> {
    let grown = |of: Option<f64>| of.map(|of| ratio * of);
    let whole = WorkingSet {
        data_bytes: grown(pilot.data_bytes),
        page_cached_bytes: grown(pilot.page_cached_bytes),
        ..pilot.clone()
    };
    let size = |of: Option<f64>| bytes(Bytes(of.unwrap_or(0.0) as u64));
    let held = match fits(pilot)? {
        Fits::Buffer => format!("the buffer of {}", size(pilot.buffer_bytes)),
        Fits::PageCache => format!("the memory of {}", size(pilot.memory_bytes)),
        Fits::AroundPageCache | Fits::Nothing => return None,
    };
    // Beyond a buffer in a memory that is not known, too.
    (fits(&whole) != fits(pilot)).then(|| {
        format!(
            "the data of the whole job, about {}, does not fit {held} as the {} of the pilot do: reads of the storage are not in this \
             figure; measure a pilot with more data than fits, or with a smaller buffer",
            size(whole.data_bytes),
            size(pilot.data_bytes),
        )
    })
}

/// Where jobs have few spans each, some do one more than others.
fn few_spans((trial, stream): &(&TrialSummary, &StreamSummary)) -> Option<String> {
    trial.jobs?;
    let (spans, jobs) = (stream.classes.first()?.done, sessions(trial, stream)?);
    let each = spans as f64 / jobs;
    (each < SPANS_OF_A_JOB).then(|| {
        format!(
            "the pilot has {} of {} for each of {}, and what jobs wait for each other there the whole job does not; measure {} times \
             as much",
            significant(each),
            counted(spans, "transactions"),
            counted(jobs as u64, "jobs"),
            (SPANS_OF_A_JOB / each).ceil(),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::point::groups;
    use crate::statistics::bootstrap::Draws;
    use crate::{ClassMix, ClassSummary, Jobs, LatencySummary, ServerSummary};

    const JOBS: usize = 8;

    /// A night of 8 jobs whose spans take 10 s and branches 8 s, each give or take 3 s, and whose cut-off takes 5 s.
    fn night(index: u32, spans: usize, draws: &mut Draws) -> TrialSummary {
        let mut turn = |pieces: usize, mean_s: f64| {
            let mut ends = [0.0; JOBS];
            (0..pieces).for_each(|n| ends[n % JOBS] += (mean_s + 3.0 * draws.normal()).max(1.0));
            (ends.iter().copied().fold(0.0, f64::max), ends.iter().sum::<f64>() / JOBS as f64)
        };
        let ((longest_s, mean_s), (branches_s, _)) = (turn(spans, 10.0), turn(spans / 5, 8.0));
        let mut trial = crate::run::tests::trial(index, "a", index, 100.0);
        trial.label.streams[0].load = format!("100 accounts a transaction; closed, {JOBS} sessions");
        (trial.fixed_work, trial.elapsed_s) = (true, longest_s + branches_s + 5.0);
        trial.jobs = Some(Jobs { longest_s, mean_s });
        trial.streams[0].classes = [spans, spans / 5, 1].map(class).into();
        trial
    }

    fn class(done: usize) -> ClassSummary {
        ClassSummary {
            name: "piece".into(),
            throughput_per_s: 1.0,
            offered_per_s: None,
            done: done as u64,
            failed: 0,
            retried: 0,
            bytes_per_s: 0.0,
            response: LatencySummary::default(),
            service: LatencySummary::default(),
            bound_from: None,
            mix: ClassMix::default(),
        }
    }

    #[test]
    fn the_interval_of_a_pilot_of_several_jobs_holds_the_whole_night() {
        let mut draws = Draws::new(1);
        for (spans, least, held) in [(10, 0.8, 24), (50, 0.9, 24), (200, 0.97, 24)] {
            let (mut holds, mut told) = (0, 0.0);
            for _ in 0..25 {
                let truth = night(0, 1_000, &mut draws).elapsed_s;
                let pilots: Vec<TrialSummary> = (0..3).map(|index| night(index, spans, &mut draws)).collect();
                let takes = whole_job(&groups(&pilots)[0], 1_000.0 / spans as f64, 0.95).expect("a time");
                holds += usize::from(takes.low <= truth && truth <= takes.high);
                told += takes.value / truth / 25.0;
            }
            assert!(holds >= held && (least..1.1).contains(&told), "{spans} spans: {holds} of 25, {told} of the truth");
        }
    }

    #[test]
    fn a_whole_job_whose_data_outgrows_the_memory_of_the_pilot_is_doubted() {
        const MIB: f64 = 1_048_576.0;
        let told = |data: f64, ratio: f64| {
            let mut pilot = night(0, 800, &mut Draws::new(3));
            let set = WorkingSet {
                data_bytes: Some(data * MIB),
                buffer_bytes: Some(128.0 * MIB),
                memory_bytes: Some(8_192.0 * MIB),
                ..WorkingSet::default()
            };
            pilot.server = Some(ServerSummary { working_set: Some(set), ..ServerSummary::default() });
            doubts(&groups(&[pilot])[0], ratio)
        };
        let [buffer] = told(122.0, 500.0).try_into().expect("one doubt");
        assert!(buffer.starts_with("the data of the whole job, about 59.6 GiB, does not fit the buffer of 128 MiB"));
        let [memory] = told(1_024.0, 10.0).try_into().expect("one doubt");
        assert!(memory.contains("10 GiB, does not fit the memory of 8 GiB as the 1 GiB of the pilot"), "{memory}");
        assert!(told(12.0, 10.0).is_empty() && told(1_024.0, 2.0).is_empty() && told(9_000.0, 9.0).is_empty());
    }

    #[test]
    fn a_pilot_that_goes_on_with_a_killed_night_has_all_of_its_data() {
        const MIB: f64 = 1_048_576.0;
        let mut pilot = night(0, 800, &mut Draws::new(4));
        // Of 80,000 accounts a night before it settled three in four.
        let per_s = Estimate::single(20_000.0 / pilot.elapsed_s);
        let what = study::Yield::Accounts.word().to_owned();
        pilot.streams[0].yields = vec![crate::YieldSummary { what: what.clone(), per_s, most: 100.0 }];
        let label = &mut pilot.label.streams[0];
        label.classes = vec![("piece".to_owned(), observation::ClassKind::Work)];
        label.gives = vec![observation::Gives { class: 0, amount: 100.0, what, offered_per_s: None }];
        let set =
            WorkingSet { data_bytes: Some(100.0 * MIB), buffer_bytes: Some(128.0 * MIB), ..WorkingSet::default() };
        pilot.server = Some(ServerSummary { working_set: Some(set), ..ServerSummary::default() });
        let pilots = [pilot];
        let group = &groups(&pilots)[0];
        assert_eq!(doubts(group, 4.0), Vec::<String>::new(), "80,000 accounts are those of the data set");
        let [told] = doubts(group, 8.0).try_into().expect("one doubt");
        assert!(told.contains("about 200 MiB, does not fit the buffer"), "{told}");
        let (jobs, behind) = (pilots[0].jobs.unwrap(), pilots[0].elapsed_s - pilots[0].jobs.unwrap().longest_s);
        let takes = whole_job(group, 4.0, 0.95).expect("a time").value;
        let truth = 3.0 * jobs.mean_s + jobs.longest_s + behind;
        assert!(
            (takes - truth).abs() < 1e-9,
            "its branches and its cut-off are those of the whole job: {takes} of {truth}"
        );
    }

    #[test]
    fn a_pilot_of_few_spans_for_each_job_is_doubted_and_one_that_is_the_whole_job_is_not() {
        let told = |spans: usize, ratio: f64| {
            let pilots = [night(0, spans, &mut Draws::new(2))];
            doubts(&groups(&pilots)[0], ratio)
        };
        let [few] = told(20, 50.0).try_into().expect("one doubt");
        assert!(few.starts_with("the pilot has 2.5 of 20 transactions for each of 8 jobs"), "{few}");
        assert!(few.ends_with("measure 4 times as much"), "{few}");
        assert!(told(80, 50.0).is_empty() && told(20, 1.0).is_empty());
    }
}
