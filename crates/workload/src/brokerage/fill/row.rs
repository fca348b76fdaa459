//! A row that is written over the one before it, so that its texts keep their memory.
//!
//! What it does not do: it does not know which table it writes.

use crate::brokerage::names::{push_number, push_padded};
use crate::transaction::Value;

/// Writes the fields of one row in order.
#[derive(Debug)]
pub(super) struct Row<'a> {
    fields: &'a mut Vec<Value>,
    at: usize,
}

impl<'a> Row<'a> {
    pub(super) fn over(fields: &'a mut Vec<Value>) -> Row<'a> {
        Row { fields, at: 0 }
    }

    /// The next field, whatever it held before.
    #[inline]
    fn field(&mut self) -> &mut Value {
        let at = self.at;
        self.at += 1;
        if at == self.fields.len() {
            self.fields.push(Value::Null);
        }
        &mut self.fields[at]
    }

    #[inline]
    pub(super) fn int(&mut self, number: i64) -> &mut Self {
        *self.field() = Value::Int(number);
        self
    }

    #[inline]
    pub(super) fn number(&mut self, number: u64) -> &mut Self {
        self.int(number as i64)
    }

    #[inline]
    pub(super) fn text(&mut self, text: &str) -> &mut Self {
        self.build(|to| to.push_str(text))
    }

    /// A text that is put together in place.
    #[inline]
    pub(super) fn build(&mut self, write: impl FnOnce(&mut String)) -> &mut Self {
        let field = self.field();
        if !matches!(field, Value::Text(_)) {
            *field = Value::Text(String::with_capacity(16));
        }
        if let Value::Text(text) = field {
            text.clear();
            write(text);
        }
        self
    }

    /// A letter and a number with leading zeros.
    pub(super) fn code(&mut self, letters: &str, number: u64, digits: u32) -> &mut Self {
        self.build(|to| {
            to.push_str(letters);
            push_padded(number, digits, to);
        })
    }

    /// A word and a number.
    pub(super) fn numbered(&mut self, word: &str, number: u64) -> &mut Self {
        self.build(|to| {
            to.push_str(word);
            to.push(' ');
            push_number(number, to);
        })
    }

    /// Cuts off what an earlier row had beyond.
    pub(super) fn end(&mut self) -> bool {
        self.fields.truncate(self.at);
        true
    }
}
