//! Findings as sentences: one each, the number first, its interval beside it.

use super::footprint;
use super::quantity::Quantity;
use analysis::{
    Burst, CANNOT_TELL, Comparison, DeadlineFinding, Estimate, FallClaim, Felt, FeltUntil, Finding, HighestRate,
    InTime, Knee, Scaling, ScalingKind, ServiceFit, ServiceForm, SustainedFinding, TOO_FEW, ThresholdOutcome,
    ThresholdState, Verdict, Work,
};
use observation::Point;
use observation::factor;
use study::Metric;

/// How a conclusion should strike the reader; drawn with a word, never with colour alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// A statement.
    Plain,
    /// Better, or passed.
    Good,
    /// Worse, or failed.
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
    /// What the sentence is about, with which it begins; empty when it is about no stream.
    pub subject: String,
    pub text: String,
    pub tone: Tone,
    /// The verdict of a comparison that was not the declared one.
    pub exploratory: Option<Verdict>,
}

impl Conclusion {
    /// A statement about a stream.
    pub fn plain(experiment: &str, word: &str, subject: String, says: &str) -> Conclusion {
        Conclusion {
            experiment: Some(experiment.to_owned()),
            word: word.to_owned(),
            text: format!("{subject}: {says}"),
            subject,
            tone: Tone::Plain,
            exploratory: None,
        }
    }
}

/// One finding in words. The system is named where there are `several`; rates are those of `work`.
pub fn conclusion(finding: &Finding, several: bool, work: impl Fn(&Point) -> Work) -> Conclusion {
    let rate = |point: &Point| Quantity::Work(work(point));
    let plain = |point: &Point, word: &str, says: String| {
        Conclusion::plain(&point.experiment, word, place(point, several), &says)
    };
    match finding {
        Finding::Comparison(finding) => comparison(finding),
        Finding::Footprint(finding) => footprint::conclusion(finding),
        Finding::Tier(finding) => {
            Conclusion::plain(&finding.point.experiment, "fast tier", finding.point.stream.clone(), &finding.says())
        }
        // What is added is told with its own levels, which need not be those of the first point.
        Finding::Mirror(finding) => {
            let whose = Point { factors: Vec::new(), ..finding.point.clone() };
            plain(&whose, "mirror", finding.says())
        }
        Finding::Beside(finding) => {
            let system = if several { format!(" on {}", finding.point.system) } else { String::new() };
            let subject = format!("{}{system}", finding.subject());
            Conclusion::plain(&finding.point.experiment, "ratio", subject, &finding.says())
        }
        Finding::Knee(finding) => plain(&finding.point, finding.word(), knee(finding, rate(&finding.point))),
        Finding::HighestRate(finding) => {
            plain(&finding.point, "highest rate", highest_rate(finding, rate(&finding.point)))
        }
        Finding::ServiceFit(finding) => plain(&finding.point, "service time", service_fit(finding)),
        Finding::Scaling(finding) => plain(&finding.point, "scaling", scaling(finding)),
        Finding::Sustained(finding) => plain(&finding.point, "sustained", sustained(finding, rate(&finding.point))),
        Finding::Pair(finding) => plain(&finding.point, "pair", super::pair::pair(finding)),
        Finding::Felt(finding) => plain(&finding.point, "event", felt(finding, rate(&finding.point))),
        Finding::Deadline(finding) => Conclusion {
            tone: match finding.in_time {
                InTime::Yes => Tone::Good,
                InTime::No => Tone::Bad,
                InTime::CannotTell => Tone::Open,
            },
            ..plain(&finding.point, finding.in_time.word(), deadline(finding))
        },
        Finding::Threshold(finding) => threshold(finding),
        Finding::Damage(finding) => of_the_data("damage", &finding.text, Tone::Bad),
        Finding::Outage(finding) => {
            of_the_data("outage", &finding.text, if finding.recovered { Tone::Open } else { Tone::Bad })
        }
    }
}

/// `fail controller 1 at 2 s is felt for 1.3 s: at worst 11.4 k/s where 25.1 k/s were usual, and p99 4.1 ms instead of 1.2 ms`.
fn felt(finding: &Felt, work: Quantity) -> String {
    let seconds = |s: f64| Quantity::Seconds.text(s);
    let what = format!("`{}` at {} (trial {})", finding.event, seconds(finding.at_s), finding.trial);
    let rate = |per_s: f64| work.text(per_s);
    let usual = rate(finding.rate_before_per_s);
    let least = finding.rate_least_per_s.map(|least| format!(": at worst {} where {usual} was usual", rate(least)));
    let p99 = finding.p99_most_ms.zip(finding.p99_before_ms).map(|(most, before)| {
        let ms = |ms: f64| Quantity::Milliseconds.text(ms);
        format!(", p99 {} instead of {}", ms(most), ms(before))
    });
    let failed = Some(units::count(finding.failed)).filter(|_| finding.failed > 0);
    let fails = failed.as_ref().map(|failed| format!("; {failed} failed")).unwrap_or_default();
    let worst = format!("{}{}{fails}", least.unwrap_or_default(), p99.unwrap_or_default());
    match finding.until {
        FeltUntil::CannotTell => format!("{what}: fewer than five intervals before it do not say what is usual{fails}"),
        FeltUntil::Never if finding.failed > 0 => {
            format!("{what}: rate and p99 stay within their range before, around {usual}{fails}")
        }
        FeltUntil::Never => format!("{what} is not felt: rate and p99 stay within their range before, around {usual}"),
        FeltUntil::After(lasted) => format!("{what} is felt for {}{worst}", seconds(lasted)),
        FeltUntil::NotInTheWindow => format!("{what} is felt and not back within the window{worst}"),
    }
}

/// `10 000 000 accounts, projected from 20 000 that were measured, take 6.2 h: ends at 05:12 (05:02 to 05:21), 48 min before 06:00`; what
/// ends after so long takes so long.
fn deadline(finding: &DeadlineFinding) -> String {
    let pilot = match finding.measured.round() == finding.work.round() {
        true => String::new(),
        false => format!(", projected from {} that were measured", units::count(finding.measured.round() as u64)),
    };
    let comma = if pilot.is_empty() { "" } else { "," };
    let takes =
        finding.begins_s.map(|_| format!("{comma} take {}", with_interval(&finding.takes_s, Quantity::Seconds)));
    let unsure = finding.open().map(|why| format!("; {why}")).unwrap_or_default();
    // What is to be doubted of the job of the answer is told there.
    let doubts = finding.doubts.iter().filter(|_| !finding.decides);
    let doubts: String = doubts.map(|doubt| format!("; but {doubt}")).collect();
    let work = units::count(finding.work.round() as u64);
    format!("{work} {}{pilot}{}: {}{unsure}{doubts}", finding.things(), takes.unwrap_or_default(), finding.ends())
}

/// `397 k/s (391–404 k/s)`, or `at least 12 ms` where there is no end above.
pub fn with_interval(estimate: &Estimate, quantity: Quantity) -> String {
    if estimate.lower_bound() {
        let (low, seen) = (quantity.text(estimate.low), quantity.text(estimate.value));
        return if low == seen { format!("at least {low}") } else { format!("at least {low} ({seen} observed)") };
    }
    if estimate.not_known() {
        return format!("{TOO_FEW} ({} observed)", quantity.text(estimate.value));
    }
    if !estimate.has_interval() {
        return quantity.text(estimate.value);
    }
    if !estimate.tells() {
        return format!("{} ({CANNOT_TELL})", quantity.text(estimate.value));
    }
    let (value, ends) = quantity.with_ends(estimate);
    // Ends that are told alike say nothing beside their value.
    if quantity.text(estimate.low) == quantity.text(estimate.high) {
        return value;
    }
    format!("{value} ({ends})")
}

fn place(point: &Point, several: bool) -> String {
    let mut text = point.stream.clone();
    if several {
        text.push_str(&format!(" on {}", point.system));
    }
    // A workload that is varied as a factor is already named as the stream.
    for factor in point.factors.iter().filter(|factor| factor.level.text() != point.stream) {
        text.push_str(", ");
        text.push_str(&factor.in_words());
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
    let point = &finding.point;
    let factors: String = point.factors.iter().map(|factor| format!(", {}", factor.in_words())).collect();
    let kind = if finding.primary { "primary" } else { "exploratory" };
    let reason = finding.reason.as_deref().map(|reason| format!("; {reason}")).unwrap_or_default();
    let says = format!(
        "{} is {} times {}, {} ({kind}){reason}",
        point.system,
        with_interval(&finding.ratio, Quantity::Ratio),
        finding.baseline,
        units::counted(u64::from(finding.ratio.n), "pairs"),
    );
    let subject = format!("{} of {}{factors}", finding.said, point.stream);
    Conclusion {
        tone,
        exploratory: Some(finding.verdict).filter(|_| !finding.primary),
        ..Conclusion::plain(&point.experiment, finding.verdict.word(), subject, &says)
    }
}

fn knee(finding: &Knee, work: Quantity) -> String {
    // What chance adds to the highest of several levels is taken off a peak, and nobody is told less than what stands in the table.
    let seen = finding.highest_seen().map(|(_, seen)| seen).filter(|seen| seen.value > finding.peak_per_s.value);
    let best = with_interval(&seen.unwrap_or(finding.peak_per_s), work);
    let name = &finding.factor;
    match (&finding.at, finding.stated()) {
        (_, Some(at)) if finding.is_best() => {
            format!("at {}, the best of those tried: {best}", factor::levels(name, at, at))
        }
        (_, Some(at)) => {
            format!("at {}, the least that is within 5% of the best, {best}", factor::levels(name, at, at))
        }
        (Some(at), None) if finding.anywhere() => {
            format!("it may be anywhere between {}; the most seen is {best}", factor::both(name, at.low, at.high))
        }
        (Some(at), None) => {
            format!("between {}, where it comes within 5% of the best, {best}", factor::both(name, at.low, at.high))
        }
        (None, None) if finding.scatters => {
            format!("none was found, because the points scatter too much; the most seen is {best}")
        }
        (None, None) => format!("no knee in this range; the most seen is {best}"),
    }
}

fn highest_rate(finding: &HighestRate, work: Quantity) -> String {
    let bound = Quantity::Milliseconds.text(finding.bound_ms);
    let quantile = Quantity::Quantile.text(finding.quantile);
    match &finding.rate_per_s {
        Some(rate) => {
            format!("{} with {quantile} under {bound}; {}", with_interval(rate, work), finding.reason)
        }
        None => format!("no rate kept {quantile} under {bound}; {}", finding.reason),
    }
}

fn service_fit(finding: &ServiceFit) -> String {
    let base = with_interval(&finding.base_ms, Quantity::Milliseconds);
    let rate = with_interval(&finding.rate_bytes_per_s, Quantity::ByteRate);
    let off = off_the_fit(finding);
    match (finding.form, finding.step_bytes) {
        (ServiceForm::Stepped, Some(step)) => {
            format!("{base} and then {rate}, in steps of {} ({off})", Quantity::Bytes.text(step as f64))
        }
        (ServiceForm::Affine, _) if whatever_the_size(finding) => {
            format!("{base} whatever the size ({off})")
        }
        (ServiceForm::Affine | ServiceForm::Stepped, _) => {
            format!("{base} and then {rate} ({off})")
        }
        (ServiceForm::Neither, _) => {
            format!("neither a line nor steps describe it (as a line {off})")
        }
    }
}

/// How far the points lie from the fit: the root of the mean square, and the one that is furthest off.
fn off_the_fit(finding: &ServiceFit) -> String {
    let step = |bytes: f64| finding.step_bytes.map_or(bytes, |step| (bytes / step as f64).ceil() * step as f64);
    let per_byte_ms = 1e3 / finding.rate_bytes_per_s.value;
    let off =
        |(bytes, ms): &(f64, Estimate)| ((finding.base_ms.value + step(*bytes) * per_byte_ms) / ms.value - 1.0).abs();
    let furthest = finding.points.iter().map(|point| (off(point), point.0)).max_by(|a, b| a.0.total_cmp(&b.0));
    let error = Quantity::Share.text(finding.error);
    match furthest.filter(|(off, _)| *off > finding.error) {
        Some((off, bytes)) => format!(
            "the fit misses the points by {error} in the root mean square, by {} at most, at {}",
            Quantity::Share.text(off),
            Quantity::Bytes.text(bytes)
        ),
        None => format!("the fit misses the points by {error} in the root mean square"),
    }
}

/// Whether the bytes of the largest transfer cost less than a millionth of the fixed time: their rate is one of rounding.
fn whatever_the_size(finding: &ServiceFit) -> bool {
    let largest = finding.points.iter().map(|(bytes, _)| *bytes).fold(0.0, f64::max);
    largest / finding.rate_bytes_per_s.value < 1e-9 * finding.base_ms.value
}

/// What the largest level gives of the rate of the smallest, and how that grows.
fn scaling(finding: &Scaling) -> String {
    let levels = finding.curve.first().zip(finding.curve.last());
    let [first, last] = levels.map_or([0.0, 0.0], |((first, _), (last, _))| [*first, *last]);
    let [one, most] = [first, last].map(|level| factor::levels(&finding.factor, level, level));
    let ratio = finding.efficiency.scaled(last / first);
    let times = with_interval(&ratio, Quantity::Ratio);
    let open = if ratio.has_interval() && ratio.low <= 1.0 && ratio.high >= 1.0 {
        ", which is not shown to be any gain"
    } else {
        ""
    };
    let gives = format!("at {most}, {times} times the rate at {one}{open}");
    match finding.kind {
        ScalingKind::Linear => format!("grows in proportion: {gives}"),
        ScalingKind::Saturating => format!("grows by less than in proportion: {gives}"),
        ScalingKind::Retrograde => format!("falls again: {gives}"),
        ScalingKind::Unclear => format!("{gives}; repeat each (`--set replicates=4`) to tell how it grows"),
    }
}

fn sustained(finding: &SustainedFinding, work: Quantity) -> String {
    let figures = &finding.sustained;
    let fallen = finding.claim.zip(figures.burst).map(|(claim, burst)| fallen(claim, &burst, work));
    if let (Some(FallClaim::Fell), Some(fallen)) = (finding.claim, &fallen) {
        return fallen.clone();
    }
    format!(
        "at most {} over {}, sustained {} over the last fifth{}",
        work.text(figures.peak_per_s),
        Quantity::Seconds.text(figures.peak_window_s),
        work.text(figures.late_per_s),
        fallen.map(|fallen| format!("; {fallen}")).unwrap_or_default()
    )
}

/// What is said of a rate that fell.
fn fallen(claim: FallClaim, burst: &Burst, work: Quantity) -> String {
    let (before, left) = (work.text(burst.before_per_s), work.text(burst.sustained_per_s));
    let after = Quantity::Seconds.text(burst.lasted_s);
    match claim {
        FallClaim::Credit => {
            let credit = Quantity::Count.text(burst.credit_operations);
            format!("burst credit of {credit} operations, used up after {after}")
        }
        FallClaim::MayBe => format!(
            "it fell from {before} to {left} after {after}, which may be the end of burst credit: it is if the same fall comes \
             again in another trial after a pause (`--set settle=..`) in which credit returns"
        ),
        FallClaim::Fell => format!("it fell from {before} to {left} in this window, after {after}"),
    }
}

fn threshold(finding: &ThresholdOutcome) -> Conclusion {
    let tone = match finding.state {
        ThresholdState::Passed => Tone::Good,
        ThresholdState::Failed => Tone::Bad,
        ThresholdState::Inconclusive | ThresholdState::NotMeasured => Tone::Open,
    };
    let (quantity, scale) = shown(finding.metric);
    let value = finding.value.map(|value| format!(": {}", with_interval(&value.scaled(scale), quantity)));
    let open = finding.open().map(|why| format!("; {why}")).unwrap_or_default();
    let holds = match finding.state {
        ThresholdState::Passed => " does not hold",
        ThresholdState::Failed => " holds",
        ThresholdState::Inconclusive => " may hold",
        ThresholdState::NotMeasured => "",
    };
    let text = format!("`{}`{holds}{} ({}){open}", finding.text, value.unwrap_or_default(), finding.at);
    let word = finding.state.word().to_owned();
    Conclusion { experiment: None, word, subject: String::new(), text, tone, exploratory: None }
}

/// What was found about the data, which is of the run and no experiment's own.
fn of_the_data(word: &str, text: &str, tone: Tone) -> Conclusion {
    let (word, text, subject) = (word.to_owned(), text.to_owned(), String::new());
    Conclusion { experiment: None, word, subject, text, tone, exploratory: None }
}

/// What a metric is shown as, and how many of that are in its base unit.
fn shown(metric: Metric) -> (Quantity, f64) {
    match metric {
        Metric::Throughput => (Quantity::Rate, 1.0),
        Metric::Bandwidth => (Quantity::ByteRate, 1.0),
        Metric::Yield(_) => (Quantity::PerHour, 3_600.0),
        Metric::ResponseMean | Metric::ResponseQuantile(_) | Metric::ServiceMean | Metric::ServerCpu => {
            (Quantity::Milliseconds, 1e3)
        }
        Metric::Elapsed => (Quantity::Seconds, 1.0),
        Metric::CpuPerOperation => (Quantity::Microseconds, 1e6),
        Metric::Damage => (Quantity::Count, 1.0),
        Metric::Failed | Metric::Retried => (Quantity::Share, 1.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 0.1 ms and 1 ms for each 64 KiB; the point of 128 KiB took 2.8 ms where that gives 2.1 ms, a quarter less.
    #[test]
    fn a_fit_tells_the_point_that_it_misses_by_most_beside_the_root_mean_square() {
        let of = |bytes: f64, ms: f64| (bytes, Estimate::single(ms));
        let fit = ServiceFit {
            point: Point::default(),
            form: ServiceForm::Affine,
            base_ms: Estimate::single(0.1),
            rate_bytes_per_s: Estimate::single(65_536e3),
            step_bytes: None,
            error: 0.129,
            points: vec![of(65_536.0, 1.1), of(131_072.0, 2.8)],
        };
        let told = "100 us and then 65.5 MB/s (the fit misses the points by 12.9% in the root mean square, by 25% at most, at 128 KiB)";
        assert_eq!(service_fit(&fit), told);
        let even = ServiceFit { error: 0.25, ..fit };
        assert!(service_fit(&even).ends_with("(the fit misses the points by 25% in the root mean square)"));
    }
}
