//! Findings as sentences: one each, the number first, its interval beside it.

use super::curve::factor_text;
use super::quantity::Quantity;
use analysis::{
    Comparison, Estimate, Finding, HighestRate, Knee, Scaling, ScalingKind, ServiceFit, ServiceForm, SustainedFinding,
    ThresholdOutcome, ThresholdState, Verdict,
};
use observation::Level;

/// How a conclusion should strike the reader; drawn with a word, never with colour alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// A statement.
    Plain,
    /// Better, or holds.
    Good,
    /// Worse, or fails.
    Bad,
    /// Not decided.
    Open,
}

/// One finding in words.
#[derive(Clone, Debug, PartialEq)]
pub struct Conclusion {
    /// Experiment that it belongs to; none is the run.
    pub experiment: Option<String>,
    /// Its kind in one or two words: `knee`, `better`, `fails`.
    pub word: String,
    /// The sentence.
    pub text: String,
    /// How it should strike.
    pub tone: Tone,
    /// A comparison that was not the declared one.
    pub exploratory: bool,
}

/// One finding in words. The system is named where there are `several`.
pub fn conclusion(finding: &Finding, several: bool) -> Conclusion {
    match finding {
        Finding::Comparison(finding) => comparison(finding),
        Finding::Knee(finding) => plain(&finding.experiment, "knee", knee(finding, several)),
        Finding::HighestRate(finding) => plain(&finding.experiment, "highest rate", highest_rate(finding, several)),
        Finding::ServiceFit(finding) => plain(&finding.experiment, "service time", service_fit(finding, several)),
        Finding::Scaling(finding) => plain(&finding.experiment, "scaling", scaling(finding, several)),
        Finding::Sustained(finding) => plain(&finding.experiment, "sustained", sustained(finding, several)),
        Finding::Threshold(finding) => threshold(finding),
    }
}

/// A statement about an experiment.
pub fn plain(experiment: &str, word: &str, text: String) -> Conclusion {
    Conclusion {
        experiment: Some(experiment.to_owned()),
        word: word.to_owned(),
        text,
        tone: Tone::Plain,
        exploratory: false,
    }
}

/// `397 k/s (391–404 k/s)`.
pub fn with_interval(estimate: &Estimate, quantity: Quantity) -> String {
    let value = quantity.text(estimate.value);
    if !estimate.has_interval() {
        return value;
    }
    format!("{value} ({})", quantity.interval(estimate.low, estimate.high))
}

fn place(stream: &str, system: Option<&str>, factors: &[(String, Level)]) -> String {
    let mut text = system.map_or_else(|| stream.to_owned(), |system| format!("{stream} on {system}"));
    for (name, level) in factors {
        // A workload that is varied as a factor is already named as the stream.
        if level.text() != stream {
            text.push_str(", ");
            text.push_str(&factor_text(name, level));
        }
    }
    text
}

fn comparison(finding: &Comparison) -> Conclusion {
    let tone = match finding.verdict {
        Verdict::Better => Tone::Good,
        Verdict::Worse => Tone::Bad,
        Verdict::Equivalent => Tone::Plain,
        Verdict::Inconclusive => Tone::Open,
    };
    let factors: String =
        finding.factors.iter().map(|(name, level)| format!(", {}", factor_text(name, level))).collect();
    let kind = if finding.primary { "primary" } else { "exploratory" };
    let reason = finding.reason.as_deref().map(|reason| format!("; {reason}")).unwrap_or_default();
    let text = format!(
        "{} of {}{factors}: {} is {} times {}, {} pairs ({kind}){reason}",
        finding.metric,
        finding.stream,
        finding.system,
        with_interval(&finding.ratio, Quantity::Ratio),
        finding.baseline,
        finding.ratio.n,
    );
    Conclusion {
        experiment: Some(finding.experiment.clone()),
        word: finding.verdict.word().to_owned(),
        text,
        tone,
        exploratory: !finding.primary,
    }
}

fn knee(finding: &Knee, several: bool) -> String {
    let place = place(&finding.stream, several.then_some(&finding.system), &finding.fixed);
    let peak = with_interval(&finding.peak_per_s, Quantity::Rate);
    let factor = super::curve::last_part(&finding.factor);
    match &finding.at {
        Some(at) if at.value == 1.0 => {
            let one = factor.trim_end_matches('s');
            format!("{place}: {} {one} reaches 95% of the peak, {peak}", with_interval(at, Quantity::Count))
        }
        Some(at) => format!("{place}: {} {factor} reach 95% of the peak, {peak}", with_interval(at, Quantity::Count)),
        None => format!("{place}: no knee in this range; the most seen is {peak}"),
    }
}

fn highest_rate(finding: &HighestRate, several: bool) -> String {
    let place = place(&finding.stream, several.then_some(&finding.system), &[]);
    let bound = Quantity::Milliseconds.text(finding.bound_ms);
    let quantile = Quantity::Quantile.text(finding.quantile);
    match &finding.rate_per_s {
        Some(rate) => format!(
            "{place}: {} with {quantile} under {bound}; {}",
            with_interval(rate, Quantity::Rate),
            finding.reason
        ),
        None => format!("{place}: no rate kept {quantile} under {bound}; {}", finding.reason),
    }
}

fn service_fit(finding: &ServiceFit, several: bool) -> String {
    let place = place(&finding.stream, several.then_some(&finding.system), &finding.fixed);
    let base = with_interval(&finding.base_ms, Quantity::Milliseconds);
    let rate = with_interval(&finding.rate_bytes_per_s, Quantity::ByteRate);
    let error = Quantity::Share.text(finding.error);
    match (finding.form, finding.step_bytes) {
        (ServiceForm::Stepped, Some(step)) => format!(
            "{place}: {base} and then {rate}, in steps of {} (fit within {error})",
            Quantity::Bytes.text(step as f64)
        ),
        (ServiceForm::Affine | ServiceForm::Stepped, _) => {
            format!("{place}: {base} and then {rate} (fit within {error})")
        }
        (ServiceForm::Neither, _) => {
            format!("{place}: neither a line nor steps describe it (a line errs by {error})")
        }
    }
}

fn scaling(finding: &Scaling, several: bool) -> String {
    let place = place(&finding.stream, several.then_some(&finding.system), &finding.fixed);
    let factor = super::curve::last_part(&finding.factor);
    let efficiency = with_interval(&finding.efficiency, Quantity::Share);
    let grows = match finding.kind {
        ScalingKind::Linear => "grows in proportion to",
        ScalingKind::Saturating => "saturates with",
        ScalingKind::Retrograde => "falls again with more",
        ScalingKind::Unclear => "has no clear relation to",
    };
    format!("{place}: {grows} {factor}; {efficiency} of proportional at the largest")
}

fn sustained(finding: &SustainedFinding, several: bool) -> String {
    let place = place(&finding.stream, several.then_some(&finding.system), &finding.factors);
    let figures = &finding.sustained;
    let burst = figures.burst.map(|burst| {
        format!(
            "; burst credit of {} operations, used up after {}",
            Quantity::Count.text(burst.credit_operations),
            Quantity::Seconds.text(burst.lasted_s)
        )
    });
    format!(
        "{place}: at most {} over {}, sustained {} over the last fifth{}",
        Quantity::Rate.text(figures.peak_per_s),
        Quantity::Seconds.text(figures.peak_window_s),
        Quantity::Rate.text(figures.late_per_s),
        burst.unwrap_or_default()
    )
}

fn threshold(finding: &ThresholdOutcome) -> Conclusion {
    let (word, tone) = match finding.state {
        ThresholdState::Holds => ("holds", Tone::Good),
        ThresholdState::Fails => ("fails", Tone::Bad),
        ThresholdState::Inconclusive => ("inconclusive", Tone::Open),
        ThresholdState::NotMeasured => ("not measured", Tone::Open),
    };
    let value = finding.value.as_ref().map(|value| {
        let quantity = threshold_quantity(&finding.text);
        format!(": {}", with_interval(&scaled(value, quantity), quantity))
    });
    let text = format!("threshold `{}`{} ({})", finding.text, value.unwrap_or_default(), finding.at);
    Conclusion { experiment: None, word: word.to_owned(), text, tone, exploratory: false }
}

/// The metric is the first word of a threshold as written; its value is in base units, so times are in seconds.
fn threshold_quantity(text: &str) -> Quantity {
    match text.split([' ', '<', '>']).next().unwrap_or("") {
        "throughput" => Quantity::Rate,
        "bandwidth" => Quantity::ByteRate,
        "response" | "service" => Quantity::Milliseconds,
        "elapsed" => Quantity::Seconds,
        "cpu" => Quantity::Microseconds,
        _ => Quantity::Plain,
    }
}

fn scaled(value: &Estimate, quantity: Quantity) -> Estimate {
    let scale = match quantity {
        Quantity::Milliseconds => 1e3,
        Quantity::Microseconds => 1e6,
        _ => 1.0,
    };
    Estimate { value: value.value * scale, low: value.low * scale, high: value.high * scale, ..*value }
}
