//! What a number measures, and so how it is printed.

use analysis::{CANNOT_TELL, Estimate, Work};
use units::{Bytes, Nanos};

/// The kind of a number in a table or on an axis. Numbers are in the base unit named here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// A whole number of things.
    Count,
    /// A number without a unit, three digits.
    Plain,
    /// Operations a second.
    Rate,
    /// A rate of work, in its own unit: IOPS.
    Work(Work),
    /// The same where the unit stands above it, as the title of a column.
    PerSecond,
    /// Things an hour.
    PerHour,
    /// Bytes a second.
    ByteRate,
    /// Milliseconds.
    Milliseconds,
    /// Seconds.
    Seconds,
    /// Cores kept busy.
    Cores,
    /// Microseconds.
    Microseconds,
    /// Bytes.
    Bytes,
    /// A share of 1.
    Share,
    /// A ratio; 1 is no difference.
    Ratio,
    /// A quantile, 0 to 1.
    Quantile,
}

impl Quantity {
    /// For people: `397 k/s`, `87.4 us`.
    pub fn text(self, value: f64) -> String {
        if !value.is_finite() {
            return "–".to_owned();
        }
        match self {
            Quantity::Count => signed(value.round(), |size| units::count(size as u64)),
            Quantity::Plain => units::significant(value),
            Quantity::Rate => units::rate(value),
            Quantity::PerSecond => units::per_second(value),
            Quantity::Work(work) => work.rate(value),
            Quantity::PerHour => units::per_hour(value),
            Quantity::ByteRate => units::bytes_per_second(value),
            Quantity::Milliseconds => units::milliseconds(value),
            Quantity::Seconds => seconds(value),
            Quantity::Cores => format!("{} cores", units::significant(value)),
            Quantity::Microseconds => units::milliseconds(value / 1e3),
            Quantity::Bytes => signed(value.round(), |size| units::bytes(Bytes(size as u64))),
            Quantity::Share => units::percent(value),
            Quantity::Ratio => units::ratio(value),
            // The digits of a tail say how far out it is; those of a middle say nothing.
            Quantity::Quantile if value < 0.99 => format!("p{}", trimmed((value * 1e3).round() / 10.0)),
            Quantity::Quantile => format!("p{}", trimmed(value * 100.0)),
        }
    }

    /// An estimate and the ends of its interval in one unit: its own where both ends can be read in that, so that it looks alike
    /// whatever its interval is; else that of the greater end.
    pub fn with_ends(self, estimate: &Estimate) -> (String, String) {
        let (own, most) = (self.text(estimate.value), self.text(estimate.high));
        if let Some([low, high]) = units::ends_as(&own, &self.text(estimate.low), &most) {
            return (own, units::range(&low, between(estimate.low), &high));
        }
        let value = if estimate.value.abs() <= estimate.high.abs() { units::in_unit_of(&own, &most) } else { own };
        (value, self.interval(estimate.low, estimate.high))
    }

    /// An interval, with the unit once when both ends have the same: `391–404 k/s`.
    pub fn interval(self, low: f64, high: f64) -> String {
        units::range(&self.text(low), between(low), &self.text(high))
    }

    /// The interval of an estimate, or in few words that it tells nothing; none without one.
    pub fn ends(self, estimate: &Estimate) -> Option<String> {
        match (estimate.has_interval(), estimate.tells()) {
            (false, _) => None,
            (true, false) => Some(CANNOT_TELL.to_owned()),
            (true, true) => Some(self.with_ends(estimate).1),
        }
    }

    /// The unit in which an axis up to `most` is labelled: how much of the base unit one of it is, and its name.
    pub fn axis_unit(self, most: f64) -> (f64, &'static str) {
        let table: &[(f64, &'static str)] = match self {
            Quantity::Rate => &[(1e6, "M/s"), (1e3, "k/s"), (1.0, "/s")],
            Quantity::PerHour => &[(1e6, "M/h"), (1e3, "k/h"), (1.0, "/h")],
            Quantity::ByteRate => &[(1e9, "GB/s"), (1e6, "MB/s"), (1e3, "kB/s"), (1.0, "B/s")],
            Quantity::Milliseconds => &[(1e3, "s"), (1.0, "ms"), (1e-3, "us"), (1e-6, "ns")],
            Quantity::Microseconds => &[(1e6, "s"), (1e3, "ms"), (1.0, "us"), (1e-3, "ns")],
            Quantity::Seconds => &[(3600.0 * 3.0, "h"), (60.0 * 10.0, "min"), (1.0, "s"), (1e-3, "ms")],
            Quantity::Cores => &[(1.0, "cores")],
            Quantity::Bytes => &[(1_073_741_824.0, "GiB"), (1_048_576.0, "MiB"), (1024.0, "KiB"), (1.0, "B")],
            Quantity::Share => &[(0.01, "%")],
            Quantity::PerSecond | Quantity::Work(_) => &[(1e6, "M"), (1e3, "k"), (1.0, "")],
            Quantity::Count | Quantity::Plain | Quantity::Ratio | Quantity::Quantile => &[(1.0, "")],
        };
        let fits = table.iter().find(|(least, _)| most.abs() >= *least).unwrap_or(&table[table.len() - 1]);
        match fits.1 {
            "h" => (3600.0, "h"),
            "min" => (60.0, "min"),
            _ => *fits,
        }
    }
}

/// The number of a figure with a unit: 13.2 of `13.2 k IOPS`; none of a share.
pub fn number_of(figure: &str) -> Option<f64> {
    figure.split(' ').next()?.parse().ok()
}

/// What stands between the ends of an interval: a dash before a number below zero is read as another sign.
pub(super) fn between(low: f64) -> &'static str {
    if low < 0.0 { " to " } else { "–" }
}

/// From here on seconds are told in hours.
const HOURS_FROM_S: f64 = 7_200.0;

/// Seconds stay seconds up to two hours, so that elapsed times in a column can be compared by eye.
fn seconds(value: f64) -> String {
    if (1.0..HOURS_FROM_S).contains(&value.abs()) {
        return format!("{} s", if value.abs() >= 1000.0 { format!("{value:.0}") } else { units::significant(value) });
    }
    signed(value, |size| units::duration(Nanos::from_seconds(size)))
}

/// What has a form above zero only, with the sign of a difference.
fn signed(value: f64, text: impl Fn(f64) -> String) -> String {
    format!("{}{}", if value < 0.0 { "-" } else { "" }, text(value.abs()))
}

fn trimmed(value: f64) -> String {
    let text = format!("{value:.6}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_estimate_keeps_its_unit_where_the_ends_of_its_interval_can_be_read_in_it() {
        let told = |quantity: Quantity, value, low, high| {
            let estimate = Estimate { value, low, high, n: 4, confidence: 0.95 };
            quantity.with_ends(&estimate)
        };
        let is = |value: &str, ends: &str| (value.to_owned(), ends.to_owned());
        assert_eq!(told(Quantity::Milliseconds, 0.434, 0.386, 1.35), is("434 us", "386–1350 us"));
        assert_eq!(told(Quantity::Milliseconds, 0.434, 0.386, 13.5), is("434 us", "386–13500 us"));
        assert_eq!(told(Quantity::Milliseconds, 0.434, 0.386, 135.0), is("0.434 ms", "0.386–135 ms"));
        assert_eq!(told(Quantity::Milliseconds, 1.2, 0.9, 1.5), is("1.2 ms", "0.9–1.5 ms"));
        assert_eq!(told(Quantity::Milliseconds, -0.5, -1.2, 0.1), is("-500 us", "-1200 to 100 us"));
        assert_eq!(told(Quantity::Rate, 9_800.0, 9_500.0, 10_200.0), is("9800 /s", "9500–10200 /s"));
    }

    #[test]
    fn an_interval_names_its_unit_once() {
        assert_eq!(Quantity::Rate.interval(391e3, 404e3), "391–404 k/s");
        assert_eq!(Quantity::Milliseconds.interval(0.9, 1.5), "0.9–1.5 ms");
        assert_eq!(Quantity::Ratio.interval(0.95, 1.05), "0.950–1.050");
    }

    #[test]
    fn a_difference_below_zero_keeps_its_sign_in_every_quantity() {
        let ms = Quantity::Milliseconds;
        assert_eq!(
            (ms.text(-1.16), ms.interval(-1.61, -0.59)),
            ("-1.16 ms".to_owned(), "-1.61 to -0.59 ms".to_owned())
        );
        assert_eq!(ms.interval(-1.61, 2.5), "-1.61 to 2.5 ms");
        let told =
            [Quantity::Seconds, Quantity::Microseconds, Quantity::Count, Quantity::Bytes].map(|one| one.text(-2.0));
        assert_eq!(told, ["-2 s", "-2 us", "-2", "-2 B"]);
    }

    #[test]
    fn elapsed_seconds_stay_comparable_by_eye() {
        assert_eq!(Quantity::Seconds.text(125.34), "125 s");
        assert_eq!(Quantity::Seconds.text(0.0125), "12.5 ms");
        assert_eq!(Quantity::Seconds.interval(2_315.0, 10_548.0), "0.643–2.93 h");
    }

    #[test]
    fn a_quantile_is_written_as_engineers_say_it() {
        assert_eq!(Quantity::Quantile.text(0.999), "p99.9");
        assert_eq!(Quantity::Quantile.text(0.5), "p50");
        assert_eq!(Quantity::Quantile.text(0.567_017_84), "p56.7");
    }
}
