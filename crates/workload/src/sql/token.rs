//! The words of an expression.
//!
//! The one idea: an expression ends with its line, unless a backslash is the last character of the line.
//!
//! What it does not do: it knows no grammar.

use super::expression::Operator;
use super::names::{begins_name, continues_name};

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Word {
    Open,
    Close,
    Comma,
    Operator(Operator),
    Tilde,
    And,
    Or,
    Not,
    Is,
    IsNull,
    NotNull,
    Case,
    When,
    Then,
    Else,
    End,
    Null,
    Bool(bool),
    Int(i64),
    /// 2^63, which is a number only behind a minus.
    Smallest,
    Double(f64),
    Variable(String),
    Name(String),
}

/// A word and the byte of the script where it begins.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Token {
    pub(super) word: Word,
    pub(super) at: usize,
}

/// What cannot be read, and where.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Misread {
    pub(super) at: usize,
    pub(super) text: String,
}

impl Misread {
    /// One name more than can be told apart.
    pub(super) fn crowded(at: usize) -> Misread {
        Misread { at, text: "more than 65,536 variables".to_owned() }
    }
}

/// The bytes of a line break that a backslash hides, when there is one at `at`.
pub(super) fn continuation(bytes: &[u8], at: usize) -> Option<usize> {
    match bytes.get(at..)? {
        [b'\\', b'\n', ..] => Some(2),
        [b'\\', b'\r', b'\n', ..] => Some(3),
        _ => None,
    }
}

/// Where the line that holds `at` ends, breaks that a backslash hides left aside.
pub(super) fn end_of_line(text: &str, mut at: usize) -> usize {
    let bytes = text.as_bytes();
    while at < bytes.len() && bytes[at] != b'\n' {
        at += continuation(bytes, at).unwrap_or(1);
    }
    at.min(bytes.len())
}

pub(super) fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | 0x0b | 0x0c)
}

/// The words from `at` to the end of the line.
pub(super) fn tokens(text: &str, mut at: usize) -> Result<Vec<Token>, Misread> {
    let bytes = text.as_bytes();
    let mut tokens = Vec::new();
    while at < bytes.len() && bytes[at] != b'\n' {
        if let Some(hidden) = continuation(bytes, at) {
            at += hidden;
        } else if is_blank(bytes[at]) {
            at += 1;
        } else {
            let (word, length) = word(text, at)?;
            tokens.push(Token { word, at });
            at += length;
        }
    }
    Ok(tokens)
}

fn word(text: &str, at: usize) -> Result<(Word, usize), Misread> {
    let rest = &text.as_bytes()[at..];
    let second_is_digit = rest.get(1).is_some_and(u8::is_ascii_digit);
    match rest[0] {
        b'0'..=b'9' => number(text, at),
        b'.' if second_is_digit => number(text, at),
        b':' if rest.get(1).copied().is_some_and(continues_name) => {
            let length = 1 + run(&rest[1..], continues_name);
            Ok((Word::Variable(text[at + 1..at + length].to_owned()), length))
        }
        byte if begins_name(byte) => {
            let length = run(rest, continues_name);
            Ok((named(&text[at..at + length]), length))
        }
        _ => sign(rest).ok_or_else(|| {
            let found = text[at..].chars().next().unwrap_or(' ');
            Misread { at, text: format!("unexpected character {found:?} in an expression") }
        }),
    }
}

fn run(bytes: &[u8], belongs: impl Fn(u8) -> bool) -> usize {
    bytes.iter().position(|byte| !belongs(*byte)).unwrap_or(bytes.len())
}

fn sign(rest: &[u8]) -> Option<(Word, usize)> {
    let begins = |sign: &str| rest.starts_with(sign.as_bytes());
    if begins("!=") {
        return Some((Word::Operator(Operator::NotEqual), 2));
    }
    if let Some(operator) = Operator::ALL.iter().find(|operator| begins(operator.sign())) {
        return Some((Word::Operator(*operator), operator.sign().len()));
    }
    let word = match rest[0] {
        b'(' => Word::Open,
        b')' => Word::Close,
        b',' => Word::Comma,
        b'~' => Word::Tilde,
        _ => return None,
    };
    Some((word, 1))
}

fn named(name: &str) -> Word {
    match name.to_ascii_lowercase().as_str() {
        "and" => Word::And,
        "or" => Word::Or,
        "not" => Word::Not,
        "is" => Word::Is,
        "isnull" => Word::IsNull,
        "notnull" => Word::NotNull,
        "case" => Word::Case,
        "when" => Word::When,
        "then" => Word::Then,
        "else" => Word::Else,
        "end" => Word::End,
        "null" => Word::Null,
        "true" => Word::Bool(true),
        "false" => Word::Bool(false),
        _ => Word::Name(name.to_owned()),
    }
}

/// A number: digits, a point with digits on either side, an exponent.
fn number(text: &str, at: usize) -> Result<(Word, usize), Misread> {
    let rest = &text.as_bytes()[at..];
    let digit = |byte: u8| byte.is_ascii_digit();
    let mut length = run(rest, digit);
    let mut whole = true;
    if rest.get(length) == Some(&b'.') {
        whole = false;
        length += 1;
        length += run(&rest[length..], digit);
    }
    if matches!(rest.get(length), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(rest.get(length + 1), Some(b'+' | b'-')));
        let digits = run(rest.get(length + 1 + sign..).unwrap_or(&[]), digit);
        if digits > 0 {
            whole = false;
            length += 1 + sign + digits;
        }
    }
    let number = &text[at..at + length];
    let refused = |kind: &str| Misread { at, text: format!("{kind} constant overflow: {number}") };
    if whole {
        return match number.parse() {
            Ok(number) => Ok((Word::Int(number), length)),
            Err(_) if number == "9223372036854775808" => Ok((Word::Smallest, length)),
            Err(_) => Err(refused("bigint")),
        };
    }
    let value: f64 = number.parse().map_err(|_| refused("double"))?;
    // C's strtod, and so pgbench, refuses what it can only hold with fewer digits.
    let zero = number.split(['e', 'E']).next().is_some_and(|digits| digits.bytes().all(|b| matches!(b, b'0' | b'.')));
    if value.is_normal() || zero { Ok((Word::Double(value), length)) } else { Err(refused("double")) }
}
