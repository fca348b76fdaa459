//! A row that is written over the one before it, so that its texts keep their memory.
//!
//! What it does not do: it does not know which table it writes.

use crate::transaction::Value;

/// Writes the fields of one row in order.
#[derive(Debug)]
pub(crate) struct Row<'a> {
    fields: &'a mut Vec<Value>,
    at: usize,
}

impl<'a> Row<'a> {
    /// A row over what these fields held.
    pub(crate) fn over(fields: &'a mut Vec<Value>) -> Row<'a> {
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

    /// A whole number.
    #[inline]
    pub(crate) fn int(&mut self, number: i64) -> &mut Self {
        *self.field() = Value::Int(number);
        self
    }

    /// A number that is counted.
    #[inline]
    pub(crate) fn number(&mut self, number: u64) -> &mut Self {
        self.int(number as i64)
    }

    /// A text.
    #[inline]
    pub(crate) fn text(&mut self, text: &str) -> &mut Self {
        self.build(|to| to.push_str(text))
    }

    /// A text that is put together in place.
    #[inline]
    pub(crate) fn build(&mut self, write: impl FnOnce(&mut String)) -> &mut Self {
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
    pub(crate) fn code(&mut self, letters: &str, number: u64, digits: u32) -> &mut Self {
        self.build(|to| {
            to.push_str(letters);
            push_padded(number, digits, to);
        })
    }

    /// A word and a number.
    pub(crate) fn numbered(&mut self, word: &str, number: u64) -> &mut Self {
        self.build(|to| {
            to.push_str(word);
            to.push(' ');
            push_number(number, to);
        })
    }

    /// Cuts off what an earlier row had beyond.
    pub(crate) fn end(&mut self) -> bool {
        self.fields.truncate(self.at);
        true
    }
}

/// Adds a whole number that is not negative to a text.
pub(crate) fn push_number(number: u64, to: &mut String) {
    let mut digits = [0u8; 20];
    let (mut rest, mut at) = (number, digits.len());
    loop {
        at -= 1;
        digits[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    digits[at..].iter().for_each(|digit| to.push(char::from(*digit)));
}

/// Adds a number with leading zeros, so that it has so many digits at least.
pub(crate) fn push_padded(number: u64, digits: u32, to: &mut String) {
    let mut place = 10u64.pow(digits.saturating_sub(1));
    while place > 1 && number < place {
        to.push('0');
        place /= 10;
    }
    push_number(number, to);
}
