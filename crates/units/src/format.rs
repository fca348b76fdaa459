//! Quantity to text: the one formatter, so that a figure looks the same in the terminal, the page and the chart.

use crate::{Bytes, Nanos};

/// Three significant digits without an exponent: `12.3`, `0.0456`, `7890`.
pub fn significant(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return if value == 0.0 { "0".to_owned() } else { "–".to_owned() };
    }
    let magnitude = value.abs().log10().floor() as i32;
    // Rounding can lift 9.996 to 10.0, which then needs one decimal less.
    let rounded_up = (value.abs() * 10f64.powi(2 - magnitude)).round() >= 1000.0;
    let decimals = (2 - magnitude - i32::from(rounded_up)).clamp(0, 12) as usize;
    let text = format!("{value:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// A duration in the unit that fits: `87.4 us`, `1.25 ms`, `60 s`, `1 h`.
pub fn duration(time: Nanos) -> String {
    let ns = time.0 as f64;
    let (scale, unit) = match time.0 {
        0..1_000 => (1.0, "ns"),
        1_000..1_000_000 => (1e3, "us"),
        1_000_000..1_000_000_000 => (1e6, "ms"),
        1_000_000_000..120_000_000_000 => (1e9, "s"),
        120_000_000_000..7_200_000_000_000 => (60e9, "min"),
        _ => (3_600e9, "h"),
    };
    let (scale, unit) = if ns == 3_600e9 { (3_600e9, "h") } else { (scale, unit) };
    format!("{} {unit}", significant(ns / scale))
}

/// Milliseconds as a duration with a fitting unit. A difference of times keeps its sign: `-1.16 ms`.
pub fn milliseconds(ms: f64) -> String {
    if !ms.is_finite() {
        return "–".to_owned();
    }
    let size = (ms.abs() * 1e6).round();
    let sign = if ms < 0.0 && size > 0.0 { "-" } else { "" };
    format!("{sign}{}", duration(Nanos(size as u64)))
}

/// A size in binary units: `4 KiB`, `1.5 GiB`.
pub fn bytes(size: Bytes) -> String {
    const UNITS: [&str; 6] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
    let mut value = size.0 as f64;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    // 1000 to 1023 of a unit has four digits before the point; three significant digits would misstate it.
    let number = if value >= 1000.0 { format!("{value:.0}") } else { significant(value) };
    format!("{number} {}", UNITS[unit])
}

/// A data rate in decimal units, as storage data sheets write it: `265 MB/s`.
pub fn bytes_per_second(rate: f64) -> String {
    scaled(rate, 1.0, &[(1e9, "GB/s"), (1e6, "MB/s"), (1e3, "kB/s"), (1.0, "B/s")])
}

/// A rate of events: `397 k/s`, `1.25 M/s`, `87.2 /s`; four digits stay whole, because `9000 /s` reads better than `9 k/s`.
pub fn rate(per_second: f64) -> String {
    scaled(per_second, 10.0, &[(1e6, "M/s"), (1e3, "k/s"), (1.0, "/s")])
}

/// The same without its unit, where that stands beside it as a word: `397 k` IOPS.
pub fn per_second(per_second: f64) -> String {
    scaled(per_second, 10.0, &[(1e6, "M"), (1e3, "k"), (1.0, "")]).trim_end().to_owned()
}

/// A rate by the hour: 1.24 million are `1.24 M/h`.
pub fn per_hour(per_hour: f64) -> String {
    scaled(per_hour, 10.0, &[(1e6, "M/h"), (1e3, "k/h"), (1.0, "/h")])
}

/// So many things an hour, for a sentence: `589 k dialog steps an hour`.
pub fn things_an_hour(per_hour: f64, things: &str) -> String {
    format!("{} {things} an hour", per_second(per_hour))
}

/// Units of one kind each, with how much of the first one is.
const KINDS: [&[(&str, f64)]; 6] = [
    &[("ns", 1.0), ("us", 1e3), ("ms", 1e6), ("s", 1e9), ("min", 60e9), ("h", 3_600e9)],
    &[("B", 1.0), ("KiB", 1_024.0), ("MiB", 1_048_576.0), ("GiB", 1_073_741_824.0), ("TiB", 1_099_511_627_776.0)],
    &[("B/s", 1.0), ("kB/s", 1e3), ("MB/s", 1e6), ("GB/s", 1e9)],
    &[("/s", 1.0), ("k/s", 1e3), ("M/s", 1e6)],
    &[("/h", 1.0), ("k/h", 1e3), ("M/h", 1e6)],
    &[("", 1.0), ("k", 1e3), ("M", 1e6)],
];

/// A figure as number, unit, and the word behind it: `13.2 k IOPS` is counted in `k` of `IOPS`.
struct Told<'a> {
    number: f64,
    unit: &'a str,
    word: &'a str,
    kind: usize,
    scale: f64,
}

fn told(figure: &str) -> Option<Told<'_>> {
    let (number, rest) = figure.split_once(' ').unwrap_or((figure, ""));
    let (first, word) = rest.split_once(' ').unwrap_or((rest, ""));
    let of = |unit: &str| {
        let find = |kind: usize| Some((kind, KINDS[kind].iter().find(|(name, _)| *name == unit)?.1));
        (0..KINDS.len()).find_map(find)
    };
    let (unit, word, (kind, scale)) = match of(first) {
        Some(found) => (first, word, found),
        None => ("", rest, of("")?),
    };
    Some(Told { number: number.parse().ok()?, unit, word, kind, scale })
}

/// A figure in the unit of another, where both have units of one kind: `580 k/h` beside `54.7 M/h` is `0.58 M/h`.
pub fn in_unit_of(figure: &str, other: &str) -> String {
    let known = told(figure).zip(told(other));
    match known.filter(|(own, wanted)| own.kind == wanted.kind && own.word == wanted.word && own.unit != wanted.unit) {
        Some((own, wanted)) => {
            let unit = [wanted.unit, wanted.word].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>();
            let number = significant(own.number * own.scale / wanted.scale);
            format!("{number} {}", unit.join(" ")).trim_end().to_owned()
        }
        None => figure.to_owned(),
    }
}

/// A range whose ends have one unit, which is said once: `0.58–54.7 M/h`. `to` stands between them.
pub fn range(low: &str, to: &str, high: &str) -> String {
    let scale = |figure: &str| told(figure).map_or(0.0, |told| told.scale);
    let (low, high) = match scale(low) < scale(high) {
        true => (in_unit_of(low, high), high.to_owned()),
        false => (low.to_owned(), in_unit_of(high, low)),
    };
    match (low.split_once(' '), high.split_once(' ')) {
        (Some((number, unit)), Some((_, same))) if unit == same => format!("{number}{to}{high}"),
        _ if low.ends_with('%') && high.ends_with('%') => format!("{}{to}{high}", &low[..low.len() - 1]),
        _ => format!("{low}{to}{high}"),
    }
}

/// A number of less than this is told in a smaller unit where the others can be read in it.
pub const READABLE: f64 = 0.1;

/// A number from here on is told in a greater unit.
const LARGE: f64 = 100_000.0;

/// Both ends of an interval in the unit of their value, where both can be read in that, so that a value looks alike whatever its interval is:
/// `7132 TPS` has `3060` and `16600`.
pub fn ends_as(value: &str, low: &str, high: &str) -> Option<[String; 2]> {
    let ends = [low, high].map(|end| in_unit_of(end, value));
    let number = |end: &String| end.split(' ').next()?.parse::<f64>().ok().map(f64::abs);
    let [least, most] = [number(&ends[0])?, number(&ends[1])?];
    (most < LARGE && (least >= READABLE || least == 0.0)).then_some(ends)
}

/// A count with thin separators every three digits: `1 234 567`.
pub fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push('\u{202f}');
        }
        text.push(digit);
    }
    text
}

/// The text with a capital letter at its beginning, as of a sentence; names in it keep their own.
pub fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| format!("{}{}", first.to_uppercase(), letters.as_str())).unwrap_or_default()
}

/// A count of things, which are given in the plural: `1 pair`, `2 pairs`, `1 000 pairs`.
pub fn counted(n: u64, things: &str) -> String {
    let one = || match things.strip_suffix("sses") {
        Some(stem) => format!("{stem}ss"),
        None => things.strip_suffix('s').unwrap_or(things).to_owned(),
    };
    format!("{} {}", count(n), if n == 1 { one() } else { things.to_owned() })
}

/// A share as per cent: 0.305 is `30.5%`.
pub fn percent(share: f64) -> String {
    format!("{}%", significant(share * 100.0))
}

/// A ratio to three decimals, so that 0.98 and 0.984 differ, and from 2 on to three digits: `0.984`, `5.89`.
pub fn ratio(value: f64) -> String {
    if !value.is_finite() {
        return "–".to_owned();
    }
    if value.abs() >= 2.0 { significant(value) } else { format!("{value:.3}") }
}

fn scaled(value: f64, hold: f64, units: &[(f64, &str)]) -> String {
    // `hold` keeps a value in the smaller unit until it is that many times the larger one; below the last digit that
    // is shown a value counts as the larger unit already, so that 999.9 kB/s prints as 1 MB/s.
    let fits = |scale: f64| value.abs() * 1.0005 >= if scale == 1e3 { scale * hold } else { scale };
    let (scale, unit) = units.iter().find(|(scale, _)| fits(*scale)).unwrap_or(&units[units.len() - 1]);
    let number = value / scale;
    let text = if number.abs() >= 1000.0 { format!("{number:.0}") } else { significant(number) };
    format!("{text} {unit}")
}

/// A value to two digits: a width, or a change, is itself an estimate, and a third would claim too much.
pub fn two_digits(value: f64) -> f64 {
    if value <= 0.0 || !value.is_finite() {
        return value;
    }
    let scale = 10f64.powi(1 - value.log10().floor() as i32);
    (value * scale).round() / scale
}

/// As much of a text as fits into so many bytes.
pub fn first_bytes(text: &str, most: usize) -> &str {
    let end = (0..=most.min(text.len())).rev().find(|end| text.is_char_boundary(*end));
    &text[..end.unwrap_or(0)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_between_characters() {
        let cut = [0, 1, 2, 3, 9].map(|most| first_bytes("aäo", most));
        assert_eq!(cut, ["", "a", "a", "aä", "aäo"]);
    }

    #[test]
    fn ends_take_the_unit_of_their_value_where_they_can_be_read_in_it() {
        let is = |low: &str, high: &str| Some([low.to_owned(), high.to_owned()]);
        assert_eq!(ends_as("7132", "3055", "16.6 k"), is("3055", "16600"));
        assert_eq!(ends_as("434 us", "386 us", "13.5 ms"), is("386 us", "13500 us"));
        assert_eq!(ends_as("434 us", "386 us", "135 ms"), None, "six digits are not read");
        assert_eq!(ends_as("1.2 s", "0.1 ms", "3 s"), None, "nobody reads 0.0001 s");
    }

    #[test]
    fn three_digits_are_kept_whatever_the_magnitude() {
        let seen: Vec<String> = [0.0, 0.04561, 9.996, 12.34, 999.6, 7890.2].iter().map(|v| significant(*v)).collect();
        assert_eq!(seen, ["0", "0.0456", "10", "12.3", "1000", "7890"]);
    }

    #[test]
    fn quantities_choose_the_unit_that_fits() {
        assert_eq!(duration(Nanos(87_400)), "87.4 us");
        assert_eq!(duration(Nanos::from_secs(60)), "60 s");
        assert_eq!(duration(Nanos::from_secs(3600)), "1 h");
        assert_eq!((milliseconds(-1.16), milliseconds(-1e-9)), ("-1.16 ms".to_owned(), "0 ns".to_owned()));
        assert_eq!(bytes(Bytes(4096)), "4 KiB");
        assert_eq!(bytes(Bytes(1023)), "1023 B");
        assert_eq!(bytes_per_second(265e6), "265 MB/s");
        assert_eq!(rate(397_000.0), "397 k/s");
        assert_eq!(rate(9_000.0), "9000 /s");
        assert_eq!(count(1_234_567), "1\u{202f}234\u{202f}567");
        assert_eq!(counted(1, "pairs"), "1 pair");
        assert_eq!(counted(1, "classes"), "1 class");
        assert_eq!(counted(0, "pairs") + ", " + &counted(2, "finished trials"), "0 pairs, 2 finished trials");
        assert_eq!(percent(0.305), "30.5%");
        assert_eq!(ratio(0.98421), "0.984");
    }

    #[test]
    fn a_range_has_one_unit_which_is_said_once() {
        let told = |low: &str, high: &str| range(low, "–", high);
        assert_eq!(told("580 k/h", "54.7 M/h"), "0.58–54.7 M/h");
        assert_eq!(told("636 us", "59.3 ms"), "0.636–59.3 ms");
        assert_eq!(told("9568 IOPS", "13.2 k IOPS"), "9.57–13.2 k IOPS");
        assert_eq!(told("257", "15 k"), "0.257–15 k");
        assert_eq!(told("850 ms", "2 min"), "0.0142–2 min");
        assert_eq!(told("1000 KiB", "2 MiB"), "0.977–2 MiB");
        assert_eq!(told("1.75 k", "34.3 k"), "1.75–34.3 k");
        assert_eq!(told("1%", "2.5%"), "1–2.5%");
        assert_eq!(range("-1.61 ms", " to ", "-590 us"), "-1.61 to -0.59 ms", "the larger one has the unit");
        assert_eq!(told("–", "2 ms"), "––2 ms");
        assert_eq!(told("2 TPS", "3 IOPS"), "2 TPS–3 IOPS", "of two kinds each keeps its own");
        assert_eq!(in_unit_of("956 us", "1.2 ms"), "0.956 ms");
        assert_eq!(in_unit_of("3 of them", "1.2 ms"), "3 of them");
    }
}
