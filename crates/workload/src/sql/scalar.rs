//! What an expression gives: nothing, a truth, a whole number or a double; and how one becomes another.
//!
//! The one idea: the rules are those of pgbench 15, down to rounding half to even and 15 digits, because a script that
//! was written for it has to mean the same here.
//!
//! What it does not do: it holds no text. A text in a variable is read as a scalar when an expression asks for it.

use super::fault::Fault;
use crate::transaction::Value;

/// A value of an expression.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scalar {
    /// No value.
    Null,
    /// True or false.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A double.
    Double(f64),
}

impl Scalar {
    /// The word that complaints use.
    fn kind(self) -> &'static str {
        match self {
            Scalar::Null => "null",
            Scalar::Bool(_) => "boolean",
            Scalar::Int(_) => "int",
            Scalar::Double(_) => "double",
        }
    }

    /// Whether a condition holds: numbers other than zero and true do, null does not.
    pub(super) fn holds(self) -> bool {
        match self {
            Scalar::Null => false,
            Scalar::Bool(truth) => truth,
            Scalar::Int(number) => number != 0,
            Scalar::Double(number) => number != 0.0,
        }
    }

    #[inline]
    pub(super) fn int(self) -> Result<i64, Fault> {
        match self {
            Scalar::Int(number) => Ok(number),
            Scalar::Double(number) => {
                let whole = number.round_ties_even();
                // 2^63 itself does not fit, and comparing with a NaN is never true.
                let fits = (-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&whole);
                if fits { Ok(whole as i64) } else { Err(Fault::DoubleTooLarge(whole)) }
            }
            other => Err(Fault::Coerce { from: other.kind(), to: "int" }),
        }
    }

    #[inline]
    pub(super) fn double(self) -> Result<f64, Fault> {
        match self {
            Scalar::Double(number) => Ok(number),
            Scalar::Int(number) => Ok(number as f64),
            other => Err(Fault::Coerce { from: other.kind(), to: "double" }),
        }
    }

    pub(super) fn truth(self) -> Result<bool, Fault> {
        match self {
            Scalar::Bool(truth) => Ok(truth),
            other => Err(Fault::Coerce { from: other.kind(), to: "boolean" }),
        }
    }

    /// Reads a text as pgbench reads a variable that was set from one (`-D`, `\gset`, `\aset`).
    pub(super) fn read(text: &str) -> Result<Scalar, Fault> {
        if text.is_empty() {
            return Err(Fault::Malformed);
        }
        // Beginnings of the words are enough, but not the letter o, which begins both on and off.
        let begins = |word: &str| word.get(..text.len()).is_some_and(|start| start.eq_ignore_ascii_case(text));
        let is = |word: &str| text.eq_ignore_ascii_case(word);
        if is("null") {
            return Ok(Scalar::Null);
        }
        if begins("true") || begins("yes") || is("on") {
            return Ok(Scalar::Bool(true));
        }
        if begins("false") || begins("no") || is("off") || is("of") {
            return Ok(Scalar::Bool(false));
        }
        if looks_whole(text) {
            return text.trim_matches(space).parse().map(Scalar::Int).map_err(|_| Fault::IntTooLarge);
        }
        text.trim_start_matches(space).parse().map(Scalar::Double).map_err(|_| Fault::Malformed)
    }
}

/// The blanks of the C library.
fn space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r' | '\x0b' | '\x0c')
}

fn looks_whole(text: &str) -> bool {
    let text = text.trim_matches(space);
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

impl std::fmt::Display for Scalar {
    /// As pgbench writes it into a statement.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match *self {
            Scalar::Null => f.write_str("NULL"),
            Scalar::Bool(truth) => write!(f, "{truth}"),
            Scalar::Int(number) => write!(f, "{number}"),
            Scalar::Double(number) => write_double(f, number),
        }
    }
}

/// A double with 15 significant digits and without trailing zeros: C's `%.15g`.
pub(super) fn write_double(f: &mut impl std::fmt::Write, number: f64) -> std::fmt::Result {
    if !number.is_finite() {
        let word = if number.is_nan() { "NaN" } else { "Infinity" };
        return write!(f, "{}{word}", if number < 0.0 { "-" } else { "" });
    }
    let scientific = format!("{number:.14e}");
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-4..15).contains(&exponent) {
        let decimals = (14 - exponent) as usize;
        let fixed = format!("{number:.decimals$}");
        return f.write_str(without_zeros(&fixed));
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    write!(f, "{}e{sign}{:02}", without_zeros(mantissa), exponent.abs())
}

fn without_zeros(digits: &str) -> &str {
    if digits.contains('.') { digits.trim_end_matches('0').trim_end_matches('.') } else { digits }
}

// The variables of one client.
//
// The one idea: a client of pgbench keeps its variables from transaction to transaction, so a slot does; a variable is a
// place in a list. Texts (from `-D`, `\gset`, `\aset`) stay texts and are read as numbers when an expression asks.

/// What a variable holds.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) enum Held {
    /// It was never set.
    #[default]
    Nothing,
    Scalar(Scalar),
    Text(String),
}

/// The variables by number.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Variables(pub(super) Vec<Held>);

impl Variables {
    #[inline]
    pub(super) fn scalar(&self, variable: u16) -> Result<Scalar, Fault> {
        match &self.0[usize::from(variable)] {
            Held::Scalar(scalar) => Ok(*scalar),
            Held::Text(text) => Scalar::read(text),
            Held::Nothing => Err(Fault::Undefined(variable)),
        }
    }

    #[inline]
    pub(super) fn set(&mut self, variable: u16, scalar: Scalar) {
        self.0[usize::from(variable)] = Held::Scalar(scalar);
    }

    /// Its text; nothing when it was never set.
    pub(super) fn text(&self, variable: u16) -> Option<String> {
        match &self.0[usize::from(variable)] {
            Held::Nothing => None,
            Held::Scalar(scalar) => Some(scalar.to_string()),
            Held::Text(text) => Some(text.clone()),
        }
    }

    /// What a statement is given. Doubles have the 15 digits that pgbench writes.
    #[inline]
    pub(super) fn value(&self, variable: u16) -> Value {
        match &self.0[usize::from(variable)] {
            Held::Scalar(Scalar::Int(number)) => Value::Int(*number),
            Held::Nothing => Value::Null,
            Held::Text(text) => Value::Text(text.clone()),
            Held::Scalar(scalar @ (Scalar::Null | Scalar::Bool(_))) => Value::Text(scalar.to_string()),
            Held::Scalar(scalar @ Scalar::Double(_)) => {
                let text = scalar.to_string();
                match text.parse::<f64>() {
                    Ok(number) if number.is_finite() => Value::Float(number),
                    _ => Value::Text(text),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubles_are_written_with_fifteen_digits() {
        // Written by pgbench 15.18.
        let table = [
            (1.0 / 3.0, "0.333333333333333"),
            (1e20, "1e+20"),
            (1.0, "1"),
            (0.5e-7, "5e-08"),
            (123_456_789_012_345_678.0, "1.23456789012346e+17"),
            (2f64.sqrt(), "1.4142135623731"),
            (f64::NAN, "NaN"),
            (f64::INFINITY, "Infinity"),
            (f64::NEG_INFINITY, "-Infinity"),
            (999_999_999_999_999.9, "1e+15"),
            (0.0001, "0.0001"),
            (0.00001, "1e-05"),
            (-0.0, "-0"),
        ];
        for (number, text) in table {
            assert_eq!(Scalar::Double(number).to_string(), text, "{number:e}");
        }
    }

    #[test]
    fn texts_are_read_as_the_words_and_numbers_that_they_look_like() {
        let table = [
            ("NULL", Scalar::Null),
            ("t", Scalar::Bool(true)),
            ("Ye", Scalar::Bool(true)),
            ("on", Scalar::Bool(true)),
            ("N", Scalar::Bool(false)),
            ("of", Scalar::Bool(false)),
            ("0", Scalar::Int(0)),
            (" -17 ", Scalar::Int(-17)),
            ("+5", Scalar::Int(5)),
            ("1.5e3", Scalar::Double(1500.0)),
        ];
        for (text, scalar) in table {
            assert_eq!(Scalar::read(text), Ok(scalar), "{text}");
        }
        for text in ["", "o", "truer", "abc", "1 2", "1.5 ", "ä"] {
            assert_eq!(Scalar::read(text), Err(Fault::Malformed), "{text}");
        }
        assert_eq!(Scalar::read("9223372036854775808"), Err(Fault::IntTooLarge));
    }

    #[test]
    fn doubles_become_whole_by_rounding_half_to_even() {
        assert_eq!(Scalar::Double(2.5).int(), Ok(2));
        assert_eq!(Scalar::Double(3.5).int(), Ok(4));
        assert_eq!(Scalar::Double(-9_223_372_036_854_775_808.0).int(), Ok(i64::MIN));
        assert!(Scalar::Double(9_223_372_036_854_775_808.0).int().is_err());
        assert!(Scalar::Double(f64::NAN).int().is_err());
        assert!(Scalar::Bool(true).int().is_err());
    }
}
