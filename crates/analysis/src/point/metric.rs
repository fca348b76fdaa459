//! The value of a metric in one trial, in base units: operations or bytes a second, seconds.

use crate::statistics::moments::{deviation, mean};
use crate::statistics::replicates::{ErrorOf, over_replicates};
use crate::statistics::student::{half_width, normal_quantile};
use crate::{Estimate, StreamSummary, TrialSummary, YieldSummary};
use observation::{BUCKET_WIDTH, EventKind, Mishap};
use study::{Metric, Yield};

/// The metric of one stream of one trial, with the interval that the trial can give by itself, when it can; nothing when
/// the trial does not have it.
pub fn own_estimate(trial: &TrialSummary, stream: &StreamSummary, metric: Metric) -> Option<Estimate> {
    let ended = stream.response.count > 0;
    let milliseconds = |value: f64| ended.then(|| Estimate::single(value / 1e3));
    match metric {
        Metric::Throughput => Some(stream.throughput_per_s),
        Metric::Bandwidth => {
            (stream.bytes_per_s > 0.0).then(|| scaled_to(&stream.throughput_per_s, stream.bytes_per_s))
        }
        Metric::Yield(what) => given(stream, what).map(|given| given.per_s),
        Metric::ResponseMean => match &stream.response_estimates {
            Some(own) => Some(own.mean_ms.scaled(1e-3)),
            None => milliseconds(stream.response.mean_ms),
        },
        Metric::ResponseQuantile(q) => response_quantile(stream, q),
        Metric::ServiceMean => (stream.service.count > 0).then(|| Estimate::single(stream.service.mean_ms / 1e3)),
        Metric::Elapsed => trial.fixed_work.then(|| Estimate::single(trial.elapsed_s)),
        Metric::Damage => Some(exact(damage(trial, stream), 1)),
        Metric::Failed => Some(share(stream.account.failed, stream.account.planned)),
        Metric::Retried => Some(share(stream.retried, stream.account.done)),
        Metric::ServerCpu => servers_cpu_ms(trial).map(|ms| Estimate::single(ms / 1e3)),
        Metric::CpuPerOperation => stream.cpu.map(|cpu| Estimate::single((cpu.user_us + cpu.system_us) / 1e6)),
    }
}

/// Milliseconds of CPU that the server and its mirror spent on a transaction, together.
pub fn servers_cpu_ms(trial: &TrialSummary) -> Option<f64> {
    let each = &trial.server.as_ref()?.per_transaction;
    Some(each.cpu_ms? + each.mirror_cpu_ms.unwrap_or(0.0))
}

/// What the transactions of a stream gave.
fn given(stream: &StreamSummary, what: Yield) -> Option<&YieldSummary> {
    stream.yields.iter().find(|given| given.what == what.word())
}

/// What was counted is known exactly, however short the window was.
fn exact(value: f64, n: u32) -> Estimate {
    Estimate { low: value, high: value, n, ..Estimate::single(value) }
}

fn share(part: u64, whole: u64) -> Estimate {
    exact(if whole == 0 { 0.0 } else { part as f64 / whole as f64 }, 1)
}

/// What reads of the stream found; what checks found belongs to the trial, and so to each of its streams.
fn damage(trial: &TrialSummary, stream: &StreamSummary) -> f64 {
    let own = |mishap: &&Mishap| mishap.kind == EventKind::Damage && mishap.stream == stream.stream;
    let reads: u64 = trial.mishaps.iter().filter(own).map(|mishap| mishap.count).sum();
    (reads + trial.checks_failed) as f64
}

/// What went wrong in several trials together: damage adds up, and of shares the greatest counts.
pub fn counted(own: &[Estimate], metric: Metric) -> Option<Estimate> {
    let values = || own.iter().map(|estimate| estimate.value);
    let value = if metric == Metric::Damage { values().sum() } else { values().reduce(f64::max)? };
    (!own.is_empty()).then(|| exact(value, own.len() as u32))
}

fn response_quantile(stream: &StreamSummary, q: f64) -> Option<Estimate> {
    if let Some([own]) = stream.quantiles([q]) {
        return Some(own.scaled(1e-3));
    }
    quantile_of(&stream.distribution, q).map(|ms| Estimate::single(ms / 1e3))
}

/// A quantile read off the distribution kept for charts. Between two marks the greater is taken, so that a bound is
/// never said to hold by interpolation.
fn quantile_of(distribution: &[(f64, f64)], q: f64) -> Option<f64> {
    distribution.iter().find(|(share, _)| *share + 1e-9 >= q).map(|(_, ms)| *ms)
}

/// The estimate moved to another value in proportion.
pub fn scaled_to(estimate: &Estimate, value: f64) -> Estimate {
    if estimate.value == 0.0 {
        return Estimate { confidence: estimate.confidence, ..Estimate::single(value) };
    }
    estimate.scaled(value / estimate.value)
}

/// Replicates pooled: the t interval over them; where they agree too well, no narrower than each of them allows, and never
/// narrower than `floor`. A single one keeps the interval of its own.
pub fn pooled(own: &[Estimate], floor: f64, confidence: f64) -> Option<Estimate> {
    match own {
        [] => None,
        [one] => Some(*one),
        _ => {
            let (n, values) = (own.len() as f64, own.iter().map(|e| e.value).collect::<Vec<_>>());
            let between = ErrorOf { error: deviation(&values) / n.sqrt(), freedom: n - 1.0 };
            let known = over_replicates(between, within(own, confidence));
            let half = half_width(known.error, known.freedom, confidence);
            Some(Estimate::positive(mean(&values), half, floor, own.len() as u32, confidence))
        }
    }
}

/// The error of the mean of estimates by what each knows of itself.
fn within(own: &[Estimate], confidence: f64) -> ErrorOf {
    let halves = own.iter().filter(|e| e.has_interval()).map(|e| (e.high - e.low) / 2.0);
    let half = halves.map(|half| half * half).sum::<f64>().sqrt() / own.len() as f64;
    // Each half width has the t of its own freedom in it.
    ErrorOf { error: half / normal_quantile(0.5 + confidence / 2.0), freedom: WELL_KNOWN }
}

/// Degrees of freedom at which t is the normal.
const WELL_KNOWN: f64 = 1e6;

/// The least doubt that any of these trials leaves of a metric, in base units: a window counts whole operations.
pub fn floor_of(trial: &TrialSummary, stream: &StreamSummary, metric: Metric) -> f64 {
    let window_s = trial.window.length().seconds();
    match metric {
        Metric::Throughput if !trial.fixed_work && window_s > 0.0 => 1.0 / window_s,
        Metric::Bandwidth if !trial.fixed_work && window_s > 0.0 && stream.throughput_per_s.value > 0.0 => {
            stream.bytes_per_s / stream.throughput_per_s.value / window_s
        }
        Metric::Yield(what) if !trial.fixed_work && window_s > 0.0 => {
            given(stream, what).map_or(0.0, |given| given.most / window_s)
        }
        Metric::ResponseMean | Metric::ServiceMean | Metric::Elapsed => CLOCK_STEP_S,
        // A bucket is at most this share of its value wide.
        Metric::ResponseQuantile(q) => {
            BUCKET_WIDTH * own_estimate(trial, stream, Metric::ResponseQuantile(q)).map_or(0.0, |known| known.value)
        }
        _ => 0.0,
    }
}

/// No time is known better than a nanosecond.
const CLOCK_STEP_S: f64 = 1e-9;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replicates_that_agree_are_as_sure_together_as_the_root_of_their_number_makes_them() {
        let one = Estimate { value: 100.0, low: 96.0, high: 104.0, n: 30, confidence: 0.95 };
        let of = |count: usize| pooled(&vec![one; count], 0.0, 0.95).unwrap();
        for count in [4, 16] {
            let half = (of(count).high - of(count).low) / 2.0;
            assert!((half / (4.0 / (count as f64).sqrt()) - 1.0).abs() < 0.02, "{count}: {half}");
        }
    }
}
