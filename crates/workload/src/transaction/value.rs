//! A value on its way into or out of a database.

use std::fmt;

/// One parameter or one field of an answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Value {
    /// No value.
    #[default]
    Null,
    /// A whole number; money is whole cents.
    Int(i64),
    /// A number that need not be whole.
    Float(f64),
    /// A text.
    Text(String),
}

impl Value {
    /// The whole number, when it is one.
    pub fn int(&self) -> Option<i64> {
        match self {
            Value::Int(number) => Some(*number),
            _ => None,
        }
    }

    /// The number, when it is one or a text of one.
    pub fn number(&self) -> Option<f64> {
        match self {
            Value::Int(number) => Some(*number as f64),
            Value::Float(number) => Some(*number),
            Value::Text(text) => text.parse().ok(),
            Value::Null => None,
        }
    }

    /// The text, when it is one.
    pub fn text(&self) -> Option<&str> {
        match self {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }
}

/// Characters of a text that are shown.
const SHOWN: usize = 200;

/// As it is told to people: on one line, and cut where it is long.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Null => f.write_str("null"),
            Value::Int(number) => number.fmt(f),
            // Some engines give sums of whole numbers as numbers with a fraction.
            Value::Float(number) => number.fmt(f),
            Value::Text(text) => {
                for c in text.chars().take(SHOWN) {
                    if c.is_control() { write!(f, "{}", c.escape_default())? } else { write!(f, "{c}")? }
                }
                match text.char_indices().nth(SHOWN) {
                    Some(_) => write!(f, "… ({} bytes)", text.len()),
                    None => Ok(()),
                }
            }
        }
    }
}

impl From<i64> for Value {
    fn from(number: i64) -> Value {
        Value::Int(number)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Value {
        Value::Text(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Value {
        Value::Text(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_told_on_one_line_and_not_at_any_length() {
        let forged = Value::from("1\n  holds   items: all is well\u{1b}[2J");
        assert_eq!(forged.to_string(), "1\\n  holds   items: all is well\\u{1b}[2J");
        let long = Value::Text("ä".repeat(1_000_000)).to_string();
        assert_eq!(long, format!("{}… (2000000 bytes)", "ä".repeat(SHOWN)));
        assert_eq!(Value::Text("ä".repeat(SHOWN)).to_string(), "ä".repeat(SHOWN));
    }
}
