//! What the generator says of itself, and whether a figure of the trial is to be doubted for it.

use super::machine::level;
use crate::{CaveatKind, GeneratorSummary, LooksSummary, StreamSummary, TrialSummary};
use observation::{Observations, Whole};
use units::{milliseconds, percent};

/// What it says.
pub fn generator_summary(observations: &Observations) -> GeneratorSummary {
    let read = |what: Whole| level(observations, what);
    let looks =
        |mean_ms: f64| Some(LooksSummary { mean_ms, p99_ms: read(Whole::LooksP99)?, max_ms: read(Whole::LooksMax)? });
    GeneratorSummary { looks: read(Whole::LooksMean).and_then(looks) }
}

/// The doubts that follow from it.
pub fn generator_caveats(summary: &TrialSummary, observations: &Observations) -> Vec<(CaveatKind, Option<String>)> {
    vec![(CaveatKind::LateLooks, late_looks(summary, observations))]
}

/// A service of which so much may be the generator's own is not the system's alone.
const LOOKS_SHARE: f64 = 0.05;

fn late_looks(summary: &TrialSummary, observations: &Observations) -> Option<String> {
    let p99 = summary.generator.looks?.p99_ms;
    let answered = |stream: &&StreamSummary| stream.service.count > 0 && stream.service.p50_ms > 0.0;
    let services = summary.streams.iter().filter(answered).map(|stream| stream.service.p50_ms);
    let service = services.min_by(f64::total_cmp).filter(|service| p99 > LOOKS_SHARE * service)?;
    let slots: Option<u32> = summary.label.streams.iter().map(|stream| stream.slots).sum();
    let more = slots.is_none_or(|slots| slots > u32::from(observations.generators.max(1)));
    Some(format!(
        "what had ended waited for the generator's next look, up to {} at p99, which is {} of the median service ({}): so much of \
         a service may be the generator's own; {}read the service as an upper bound",
        milliseconds(p99),
        percent(p99 / service),
        milliseconds(service),
        if more { "give it more workers, or " } else { "" }
    ))
}

#[cfg(test)]
mod tests {
    use crate::run::tests::judgement;
    use crate::trial::tests::{label, observations, series, summarise};
    use crate::{CaveatKind, LooksSummary, TrialSummary};

    /// The trial of the other tests, of which the median service is 1 ms, with such readings.
    fn with(readings: &[(&str, f64)]) -> TrialSummary {
        let mut seen = observations();
        seen.series.extend(readings.iter().map(|(probe, value)| series(probe, *value)));
        summarise(&label(), &seen, &judgement())
    }

    fn text(summary: &TrialSummary, kind: CaveatKind) -> Option<&str> {
        summary.caveats.iter().find(|caveat| caveat.kind == kind).map(|caveat| caveat.text.as_str())
    }

    #[test]
    fn a_time_between_looks_of_more_than_a_twentieth_of_the_median_service_is_doubted() {
        let looks = |p99: f64| {
            let [mean, max] = [("generator.between_looks.mean", 0.01), ("generator.between_looks.max", 2.0)];
            with(&[mean, ("generator.between_looks.p99", p99), max])
        };
        let (fine, late) = (looks(0.049), looks(0.2));
        assert_eq!(fine.generator.looks, Some(LooksSummary { mean_ms: 0.01, p99_ms: 0.049, max_ms: 2.0 }));
        assert_eq!(text(&fine, CaveatKind::LateLooks), None);
        let said = text(&late, CaveatKind::LateLooks).unwrap();
        assert!(said.contains("up to 200 us at p99, which is 20% of the median service (1 ms)"), "{said}");
        assert!(said.contains("give it more workers"), "{said}");
        assert_eq!(with(&[]).generator.looks, None);
    }
}
