//! The variables of one client.
//!
//! The one idea: a client of pgbench keeps its variables from transaction to transaction, so a slot does; a variable is a
//! place in a list. Texts (from `-D`, `\gset`, `\aset`) stay texts and are read as numbers when an expression asks.

use super::fault::Fault;
use super::scalar::Scalar;
use crate::transaction::Value;

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
