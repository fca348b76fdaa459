//! Findings of every kind; `kind` says which.

use super::value::{Json, factors, joined, object, objects, pairs};
use analysis::{
    AddedPart, AddedTime, Beside, Comparison, Compensation, CoreCompensation, DamageFinding, DeadlineFinding,
    FallClaim, Felt, Finding, FootprintAmount, FootprintFinding, HighestRate, Knee, MirrorFinding, OutageFinding,
    PairFinding, Scaling, ServiceFit, SessionLimit, Spreading, SustainedFinding, ThresholdOutcome, TierFinding,
    TierStep, Tuning,
};
use serde_json::Value;
use study::Direction;

/// The kind of a finding, what it is about, and what was found. The keys of a comparison are a contract of their own.
impl Json for Finding {
    fn json(&self) -> Value {
        let (kind, found) = match self {
            Finding::Comparison(found) => return found.json(),
            Finding::Footprint(found) => ("footprint", found.json()),
            Finding::Tier(found) => ("tier", found.json()),
            Finding::Mirror(found) => ("mirror", found.json()),
            Finding::Beside(found) => ("beside", found.json()),
            Finding::Knee(found) => ("knee", found.json()),
            Finding::HighestRate(found) => ("highest-rate", found.json()),
            Finding::ServiceFit(found) => ("service-fit", found.json()),
            Finding::Scaling(found) => ("scaling", found.json()),
            Finding::Sustained(found) => ("sustained", found.json()),
            Finding::Pair(found) => ("pair", found.json()),
            Finding::Felt(found) => ("felt", found.json()),
            Finding::Deadline(found) => ("deadline", found.json()),
            Finding::Threshold(found) => ("threshold", found.json()),
            Finding::Damage(found) => ("damage", found.json()),
            Finding::Outage(found) => ("outage", found.json()),
        };
        let about = self.point().map(|point| object!(point { experiment, system, stream }));
        joined([object!(kind { "kind": kind })].into_iter().chain(about).chain([found]))
    }
}

objects! {
    found: Comparison {
        "kind": "comparison", "experiment": found.point.experiment, "stream": found.point.stream,
        "factors": factors(&found.point.factors), baseline, "system": found.point.system, metric, primary,
        "direction": match found.direction {
            Direction::HigherIsBetter => "higher",
            Direction::LowerIsBetter => "lower",
        },
        "ratio": found.ratio.value, "low": found.ratio.low, "high": found.ratio.high, "n": found.ratio.n,
        "confidence": found.ratio.confidence, margin, detectable, interleaved, adjusted, p_value,
        "verdict": found.verdict.word(), reason,
    }

    found: FootprintFinding {
        "factors": factors(&found.point.factors), baseline, what, primary, "same": found.same.word(), ratio, amounts,
        price, "break_even_price": found.break_even,
    }

    amount: FootprintAmount {
        "amount": amount.amount, of_system, of_baseline, "per_s_for_each": amount.rate_for_each,
        "baseline_per_s_for_each": amount.baseline_for_each, ratio,
    }

    found: TierFinding { "factors": factors(&found.point.factors), what, per_s, times, steps }

    step: TierStep {
        system, "objects": pairs(&step.objects, ["name", "bytes"]), bytes, of_bytes, promised, delivered, per_s,
    }

    found: MirrorFinding {
        baseline, unit, own_networks, added, tuning, compensations, core_compensations, round_trips, spreads
    }

    one: Spreading { at, "rate_ratio": one.rate, "response_ratio": one.response, "cpu_ratio": one.cpu, "thrown_away": one.again }

    found: AddedTime {
        "factors": factors(&found.factors), alone_ms, added_ms, times, parts, round_trips,
        "own_flush_ms": found.own_flush_ms.map(|(alone, mirrored)| object!(found { "alone": alone, "mirrored": mirrored })),
        mirror_flush_ms,
    }

    found: Tuning { against, alone, mirrored, across }

    one: AddedPart { "part": one.part.word(), ms, "source": one.part.source() }

    one: Compensation {
        sessions, predicted, observed, "most": { let (sessions, share) = one.tried; object!(one { "sessions": sessions, "of_rate": share }) },
        up_to, ceiling, "cpu_ms": one.cpu.map(|(ms, _)| ms), "cores": one.cpu.map(|(_, cores)| cores), "flushes_shared": one.flushes, "limit": one.limit.map(SessionLimit::word),
    }

    one: CoreCompensation {
        cores, "cpu_ms": { let [alone, first, mirror] = one.cpu_ms; object!(one { "alone": alone, "first": first, "mirror": mirror }) },
        predicted, ceiling, observed, "most": { let (cores, share) = one.tried; object!(one { "cores": cores, "of_rate": share }) },
        up_to,
    }

    found: Beside {
        "factors": factors(&found.point.factors), beside, what, ratio, response,
        "baseline": found.baseline.experiment, "baseline_factors": factors(&found.baseline.factors),
    }

    found: Knee {
        factor, "fixed": factors(&found.point.factors), at, scatters, peak_per_s,
        "curve": pairs(&found.curve, ["level", "throughput_per_s"]),
    }

    found: HighestRate {
        "fixed": factors(&found.point.factors), quantile, bound_ms, rate_per_s, failed_per_s, probes, reason,
    }

    probe: (f64, f64, bool) { "rate_per_s": probe.0, "quantile_ms": probe.1, "passed": probe.2 }

    found: ServiceFit {
        "fixed": factors(&found.point.factors), "form": found.form.word(), base_ms, rate_bytes_per_s, step_bytes, error,
        "points": pairs(&found.points, ["bytes", "service_ms"]),
    }

    found: Scaling {
        factor, "fixed": factors(&found.point.factors), "scales": found.kind.word(), efficiency,
        "curve": pairs(&found.curve, ["level", "throughput_per_s"]),
    }

    found: SustainedFinding {
        "factors": factors(&found.point.factors), "claim": found.claim.map(FallClaim::word), sustained,
    }

    found: PairFinding {
        "factors": factors(&found.point.factors), trial, event, at_s, freeze_s, interval_s, errors,
        "alone_after_s": found.alone.map(|(after, _)| after), "alone": found.alone.map(|(_, state)| state.word()), released,
        rate_before_per_s, rate_alone_per_s, kept_bytes, kept_per_s, resync_s, resync_bytes, rate_resync_per_s, rate_after_per_s,
        "acknowledged_kept": found.kept, "rows_equal": found.equal, "alike": found.alike(),
    }

    found: Felt {
        "factors": factors(&found.point.factors), trial, event, at_s, "felt": found.until.word(), "felt_s": found.until.seconds(),
        rate_before_per_s, rate_least_per_s, p99_before_ms, p99_most_ms, failed,
    }

    found: DeadlineFinding {
        "factors": factors(&found.point.factors), what, measured, work, takes_s, within_s, begins_s,
        "in_time": found.in_time.word(), decides, doubts,
    }

    found: DamageFinding { trial, attempt, source, what, count, text }

    found: OutageFinding { trial, attempt, recovered, text }

    found: ThresholdOutcome { text, at, value, needs, "state": found.state.word() }
}
