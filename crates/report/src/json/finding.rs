//! Findings of every kind; `kind` says which.

use super::{estimate, factors, number, optional, optional_estimate, trial::sustained};
use analysis::{
    Comparison, Estimate, Finding, HighestRate, Knee, Scaling, ServiceFit, SustainedFinding, ThresholdOutcome,
};
use serde_json::{Value, json};
use study::Direction;

/// One finding.
pub(super) fn finding(finding: &Finding) -> Value {
    match finding {
        Finding::Comparison(finding) => comparison(finding),
        Finding::Knee(finding) => knee(finding),
        Finding::HighestRate(finding) => highest_rate(finding),
        Finding::ServiceFit(finding) => service_fit(finding),
        Finding::Scaling(finding) => scaling(finding),
        Finding::Sustained(finding) => at_most_and_sustained(finding),
        Finding::Threshold(finding) => threshold(finding),
    }
}

/// A comparison, the keys of which are a contract of their own.
pub(super) fn comparison(finding: &Comparison) -> Value {
    json!({
        "kind": "comparison",
        "experiment": finding.point.experiment,
        "stream": finding.point.stream,
        "factors": factors(&finding.point.factors),
        "baseline": finding.baseline,
        "system": finding.point.system,
        "metric": finding.metric,
        "primary": finding.primary,
        "direction": direction(finding.direction),
        "ratio": number(finding.ratio.value),
        "low": number(finding.ratio.low),
        "high": number(finding.ratio.high),
        "n": finding.ratio.n,
        "confidence": number(finding.ratio.confidence),
        "margin": number(finding.margin),
        "detectable": optional(finding.detectable),
        "interleaved": finding.interleaved,
        "adjusted": finding.adjusted,
        "p_value": number(finding.p_value),
        "verdict": finding.verdict.word(),
        "reason": finding.reason,
    })
}

fn direction(direction: Direction) -> &'static str {
    match direction {
        Direction::HigherIsBetter => "higher",
        Direction::LowerIsBetter => "lower",
    }
}

fn knee(finding: &Knee) -> Value {
    json!({
        "kind": "knee",
        "experiment": finding.point.experiment,
        "system": finding.point.system,
        "stream": finding.point.stream,
        "factor": finding.factor,
        "fixed": factors(&finding.point.factors),
        "at": optional_estimate(finding.at.as_ref()),
        "peak_per_s": estimate(&finding.peak_per_s),
        "curve": curve(&finding.curve),
    })
}

fn highest_rate(finding: &HighestRate) -> Value {
    json!({
        "kind": "highest-rate",
        "experiment": finding.point.experiment,
        "system": finding.point.system,
        "stream": finding.point.stream,
        "quantile": number(finding.quantile),
        "bound_ms": number(finding.bound_ms),
        "rate_per_s": optional_estimate(finding.rate_per_s.as_ref()),
        "probes": finding.probes.iter().map(|(rate, quantile_ms, passed)| json!({
            "rate_per_s": number(*rate),
            "quantile_ms": number(*quantile_ms),
            "passed": passed,
        })).collect::<Vec<_>>(),
        "reason": finding.reason,
    })
}

fn service_fit(finding: &ServiceFit) -> Value {
    json!({
        "kind": "service-fit",
        "experiment": finding.point.experiment,
        "system": finding.point.system,
        "stream": finding.point.stream,
        "fixed": factors(&finding.point.factors),
        "form": finding.form.word(),
        "base_ms": estimate(&finding.base_ms),
        "rate_bytes_per_s": estimate(&finding.rate_bytes_per_s),
        "step_bytes": finding.step_bytes,
        "error": number(finding.error),
        "points": finding.points.iter().map(|(bytes, service)| json!({
            "bytes": number(*bytes),
            "service_ms": estimate(service),
        })).collect::<Vec<_>>(),
    })
}

fn scaling(finding: &Scaling) -> Value {
    json!({
        "kind": "scaling",
        "experiment": finding.point.experiment,
        "system": finding.point.system,
        "stream": finding.point.stream,
        "factor": finding.factor,
        "fixed": factors(&finding.point.factors),
        "scales": finding.kind.word(),
        "efficiency": estimate(&finding.efficiency),
        "curve": curve(&finding.curve),
    })
}

fn curve(curve: &[(f64, Estimate)]) -> Value {
    curve
        .iter()
        .map(|(level, throughput)| json!({ "level": number(*level), "throughput_per_s": estimate(throughput) }))
        .collect()
}

fn at_most_and_sustained(finding: &SustainedFinding) -> Value {
    json!({
        "kind": "sustained",
        "experiment": finding.point.experiment,
        "system": finding.point.system,
        "stream": finding.point.stream,
        "factors": factors(&finding.point.factors),
        "sustained": sustained(&finding.sustained),
    })
}

fn threshold(finding: &ThresholdOutcome) -> Value {
    json!({
        "kind": "threshold",
        "text": finding.text,
        "at": finding.at,
        "value": optional_estimate(finding.value.as_ref()),
        "state": finding.state.word(),
    })
}
