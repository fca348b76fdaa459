//! Text to quantity. A number without its unit is refused, and the refusal says which units fit.

use crate::{Bytes, Nanos, PerSecond, Share};

/// Why a text is not the quantity that was asked for.
/// `text` is as it was given, `units` are those that fit, as a list to read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "each message says what its parts are")]
pub enum UnitError {
    /// There is no number at the front.
    #[error("expected a number with a unit ({units}), got `{text}`")]
    NotANumber { text: String, units: &'static str },
    /// There is a number and nothing behind it.
    #[error("`{text}` has no unit; write one of {units}, for example `{example}`")]
    MissingUnit { text: String, units: &'static str, example: String },
    /// There is a unit, of another quantity or of none.
    #[error("`{unit}` in `{text}` is not a unit of {quantity}; write one of {units}")]
    UnknownUnit { text: String, unit: String, quantity: &'static str, units: &'static str },
    /// The value is negative, not finite, or does not fit the type.
    #[error("`{text}` is out of range: {limit}")]
    OutOfRange { text: String, limit: &'static str },
}

struct Kind {
    quantity: &'static str,
    units: &'static str,
    likely: &'static str,
    table: &'static [(&'static str, f64)],
}

const DURATION: Kind = Kind {
    quantity: "time",
    units: "ns, us, ms, s, min, h, d",
    likely: "s",
    table: &[
        ("ns", 1.0),
        ("us", 1e3),
        ("µs", 1e3),
        ("ms", 1e6),
        ("s", 1e9),
        ("min", 60e9),
        ("h", 3_600e9),
        ("d", 86_400e9),
    ],
};

const BYTES: Kind = Kind {
    quantity: "size",
    units: "B, KiB, MiB, GiB, TiB, PiB (binary) or kB, MB, GB, TB (decimal)",
    likely: "KiB",
    table: &[
        ("B", 1.0),
        ("KiB", 1024.0),
        ("MiB", 1_048_576.0),
        ("GiB", 1_073_741_824.0),
        ("TiB", 1_099_511_627_776.0),
        ("PiB", 1_125_899_906_842_624.0),
        ("kB", 1e3),
        ("MB", 1e6),
        ("GB", 1e9),
        ("TB", 1e12),
    ],
};

const RATE: Kind = Kind {
    quantity: "rate",
    units: "/s, k/s, M/s, /min, /h, k/h, M/h",
    likely: "/s",
    table: &[
        ("/s", 1.0),
        ("k/s", 1e3),
        ("M/s", 1e6),
        ("/min", 1.0 / 60.0),
        ("/h", 1.0 / 3_600.0),
        ("k/h", 1e3 / 3_600.0),
        ("M/h", 1e6 / 3_600.0),
    ],
};

const SHARE: Kind = Kind { quantity: "share", units: "%", likely: "%", table: &[("%", 0.01)] };

/// Reads a duration such as `60 s`, `1.5 ms` or `2 h`.
///
/// # Errors
/// No number, no unit, a unit that is not one of time, or a value beyond 580 years.
pub fn parse_duration(text: &str) -> Result<Nanos, UnitError> {
    let value = read(text, &DURATION)?;
    whole(text, value, "a time lies between 0 ns and 580 years").map(Nanos)
}

/// Reads a size such as `4 KiB` (4096 bytes) or `4 kB` (4000 bytes).
///
/// # Errors
/// No number, no unit, a unit that is not one of size, a fraction of a byte, or a value beyond 16 EiB.
pub fn parse_bytes(text: &str) -> Result<Bytes, UnitError> {
    let value = read(text, &BYTES)?;
    if (value - value.round()).abs() > 1e-6 {
        return Err(UnitError::OutOfRange { text: text.to_owned(), limit: "a size is a whole number of bytes" });
    }
    whole(text, value, "a size lies between 0 B and 16 EiB").map(Bytes)
}

/// Reads a rate such as `10k/s` or `300 /min`.
///
/// # Errors
/// No number, no unit, or a unit that is not one of rate.
pub fn parse_rate(text: &str) -> Result<PerSecond, UnitError> {
    read(text, &RATE).map(PerSecond)
}

/// Reads a share such as `30%`.
///
/// # Errors
/// No number, no `%`, or a value outside 0 % to 100 %.
pub fn parse_share(text: &str) -> Result<Share, UnitError> {
    let value = read(text, &SHARE)?;
    if value > 1.0 + 1e-12 {
        return Err(UnitError::OutOfRange { text: text.to_owned(), limit: "a share lies between 0% and 100%" });
    }
    Ok(Share(value))
}

/// Reads a plain count such as `32`, or in thousands, millions or thousand millions: `20k`, `1M`, `2G`.
///
/// # Errors
/// Anything that is not a whole number.
pub fn parse_count(text: &str) -> Result<u64, UnitError> {
    let plain = text.trim().replace('_', "");
    let (digits, times) = match plain.strip_suffix(['k', 'M', 'G']) {
        Some(digits) if plain.ends_with('k') => (digits, 1_000),
        Some(digits) if plain.ends_with('M') => (digits, 1_000_000),
        Some(digits) => (digits, 1_000_000_000),
        None => (&*plain, 1),
    };
    let number = digits.trim_end().parse::<u64>().ok().and_then(|number| number.checked_mul(times));
    number.ok_or_else(|| UnitError::NotANumber { text: text.to_owned(), units: "a whole number, also with k, M or G" })
}

fn read(text: &str, kind: &Kind) -> Result<f64, UnitError> {
    let trimmed = text.trim();
    let split = trimmed.find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | '_'))).unwrap_or(trimmed.len());
    let (number, unit) = (trimmed[..split].replace('_', ""), trimmed[split..].trim());
    let value: f64 = number.parse().map_err(|_| not_a_number(text, kind))?;
    if unit.is_empty() {
        // Nothing of a quantity is rarely what it may be.
        let number = if value > 0.0 { &number } else { "1" };
        let (text, example) = (trimmed.to_owned(), format!("{number} {}", kind.likely));
        return Err(UnitError::MissingUnit { text, units: kind.units, example });
    }
    let scale = scale_of(unit, kind).ok_or_else(|| UnitError::UnknownUnit {
        text: trimmed.to_owned(),
        unit: unit.to_owned(),
        quantity: kind.quantity,
        units: kind.units,
    })?;
    Ok(value * scale)
}

fn not_a_number(text: &str, kind: &Kind) -> UnitError {
    UnitError::NotANumber { text: text.trim().to_owned(), units: kind.units }
}

fn scale_of(unit: &str, kind: &Kind) -> Option<f64> {
    kind.table.iter().find(|(name, _)| *name == unit).map(|(_, scale)| *scale)
}

fn whole(text: &str, value: f64, limit: &'static str) -> Result<u64, UnitError> {
    if !(0.0..1.8e19).contains(&value) {
        return Err(UnitError::OutOfRange { text: text.trim().to_owned(), limit });
    }
    Ok(value.round() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_number_without_its_unit_is_refused_and_told_which_units_fit() {
        let error = parse_bytes("4096").unwrap_err().to_string();
        assert_eq!(
            error,
            "`4096` has no unit; write one of B, KiB, MiB, GiB, TiB, PiB (binary) or kB, MB, GB, TB (decimal), \
             for example `4096 KiB`"
        );
    }

    #[test]
    fn binary_and_decimal_sizes_mean_what_they_say() {
        assert_eq!(parse_bytes("4 KiB"), Ok(Bytes(4096)));
        assert_eq!(parse_bytes("4kB"), Ok(Bytes(4000)));
        assert_eq!(parse_bytes("1.5 MiB"), Ok(Bytes(1_572_864)));
        assert_eq!(parse_bytes("1 PiB"), Ok(Bytes::gib(1 << 20)));
        assert!(parse_bytes("1.0001 B").is_err());
    }

    #[test]
    fn minutes_are_minutes_and_milliseconds_are_milliseconds() {
        assert_eq!(parse_duration("5min"), Ok(Nanos::from_secs(300)));
        assert_eq!(parse_duration("5 ms"), Ok(Nanos::from_millis(5)));
        assert!(matches!(parse_duration("5 m"), Err(UnitError::UnknownUnit { .. })));
        assert_eq!(parse_duration("1h"), Ok(Nanos::from_secs(3600)));
    }

    #[test]
    fn rates_and_shares_keep_their_scale() {
        assert_eq!(parse_rate("10k/s"), Ok(PerSecond(10_000.0)));
        assert_eq!(parse_share("30%"), Ok(Share(0.3)));
        assert!(parse_share("130%").is_err());
    }

    #[test]
    fn counts_may_be_written_in_thousands() {
        let read = |text| parse_count(text).ok();
        assert_eq!(
            [read("32"), read("1_000"), read("20k"), read("1M"), read("3 G")],
            [Some(32), Some(1_000), Some(20_000), Some(1_000_000), Some(3_000_000_000)]
        );
        assert_eq!([read("1.5M"), read("M"), read("1 KiB"), read("99999999999G")], [None; 4]);
    }

    proptest! {
        #[test]
        fn no_text_makes_a_parser_panic(text in ".{0,24}") {
            let _ = (parse_bytes(&text), parse_duration(&text), parse_rate(&text), parse_share(&text), parse_count(&text));
        }

        #[test]
        fn what_the_formatter_prints_exactly_the_parser_reads_back(n in 0u64..1 << 50) {
            prop_assert_eq!(parse_bytes(&format!("{n} B")), Ok(Bytes(n)));
            prop_assert_eq!(parse_duration(&format!("{n}ns")), Ok(Nanos(n)));
        }

        #[test]
        fn printed_sizes_lose_at_most_the_last_of_three_digits(n in 1u64..1 << 50) {
            let back = parse_bytes(&crate::bytes(Bytes(n)).replace(' ', "")).map(|b| b.0 as f64);
            if let Ok(back) = back {
                prop_assert!((back - n as f64).abs() / n as f64 <= 0.006);
            }
        }
    }
}
