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

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Null => f.write_str("null"),
            Value::Int(number) => number.fmt(f),
            // Some engines give sums of whole numbers as numbers with a fraction.
            Value::Float(number) => number.fmt(f),
            Value::Text(text) => f.write_str(text),
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
