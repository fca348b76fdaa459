//! What a trial led to, as far as the planner needs it for its next choice.

use crate::{CaveatKind, SteadyAnswer, StreamSummary, TrialSummary};
use study::{Outcome, ResponseQuantiles};

/// The outcome of a trial that ran to its end. Latencies are those of the first stream; a search has one.
pub fn outcome(summary: &TrialSummary) -> Outcome {
    let first = summary.streams.first();
    let has = |kind: CaveatKind| summary.caveats.iter().any(|caveat| caveat.kind == kind);
    Outcome {
        index: summary.label.index,
        finished: true,
        throughput_per_s: summary.streams.iter().map(|stream| stream.throughput_per_s.value).sum(),
        response_quantile_ms: first.map_or(nothing_ended(), quantiles),
        elapsed_s: summary.elapsed_s,
        generator_bound: has(CaveatKind::GeneratorBound),
        offered_per_s: first.and_then(|stream| stream.offered_per_s),
        backlog_grew: has(CaveatKind::NotSustained),
        steady: summary.streams.iter().all(|stream| stream.steady.answer == SteadyAnswer::Yes),
    }
}

/// Where nothing ended there is no quantile, and no bound is held.
fn quantiles(stream: &StreamSummary) -> ResponseQuantiles {
    let response = &stream.response;
    if response.count == 0 {
        return nothing_ended();
    }
    ResponseQuantiles { p50: response.p50_ms, p95: response.p95_ms, p99: response.p99_ms, p999: response.p999_ms }
}

fn nothing_ended() -> ResponseQuantiles {
    ResponseQuantiles { p50: f64::NAN, p95: f64::NAN, p99: f64::NAN, p999: f64::NAN }
}
