//! What a planner needs to know of a trial that ended.
//!
//! The one idea: a search chooses its next trial from a few figures, so that planning depends on no histogram.
//!
//! What it does not do: it is no result; reports are made from observations.

/// A trial that ended.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// Which trial.
    pub index: u32,
    /// Whether it ran to its end.
    pub finished: bool,
    /// Completions of work a second, all streams together.
    pub throughput_per_s: f64,
    /// Quantiles of response, of the first stream, in milliseconds.
    pub response_quantile_ms: ResponseQuantiles,
    /// Seconds of the window, or of the fixed work.
    pub elapsed_s: f64,
    /// Whether the generator, not the system, set the rate.
    pub generator_bound: bool,
    /// What an open load asked for.
    pub offered_per_s: Option<f64>,
    /// Whether the backlog of an open load grew through the window.
    pub backlog_grew: bool,
    /// Whether the window was steady.
    pub steady: bool,
}

/// Quantiles of response in milliseconds; not a number where nothing ended.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ResponseQuantiles {
    /// Half are faster.
    pub p50: f64,
    /// 95 of 100 are faster.
    pub p95: f64,
    /// 99 of 100 are faster.
    pub p99: f64,
    /// 999 of 1000 are faster.
    pub p999: f64,
}

impl ResponseQuantiles {
    /// The one of the four that is nearest to `quantile`.
    pub fn nearest(&self, quantile: f64) -> f64 {
        let table = [(0.5, self.p50), (0.95, self.p95), (0.99, self.p99), (0.999, self.p999)];
        let near = table.iter().min_by(|a, b| (a.0 - quantile).abs().total_cmp(&(b.0 - quantile).abs()));
        near.map_or(f64::NAN, |(_, value)| *value)
    }
}
