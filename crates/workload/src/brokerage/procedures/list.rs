//! Lists of records inside of a procedure, as texts of records of one length: both languages have texts.
//!
//! What it does not do: it is not for long lists; a record is found by copying a part of the text.

use super::body::{Body, NUMBER};

/// A list in a variable; its records have so many letters. Those of a sorted list begin with a number.
#[derive(Clone, Copy)]
pub(super) struct List {
    pub(super) variable: &'static str,
    pub(super) width: usize,
}

/// A whole number, not negative, as a field of a record.
pub(super) fn number(body: &Body, value: &str) -> String {
    format!("lpad({}, {NUMBER}, '0')", body.language.text(value))
}

/// A text as a field of a record.
pub(super) fn padded(value: &str, width: usize) -> String {
    format!("rpad({value}, {width}, ' ')")
}

impl List {
    /// How many records there are.
    pub(super) fn count(self, body: &Body) -> String {
        body.language.divided(&format!("char_length({})", self.variable), &self.width.to_string())
    }

    /// The text in a field of a record, which is counted from 0.
    pub(super) fn text(self, body: &Body, index: &str, from: usize, width: usize) -> String {
        let at = format!("({index}) * {} + {from}", self.width);
        format!("rtrim({})", body.language.part(self.variable, &at, &width.to_string()))
    }

    /// The number in a field of a record.
    pub(super) fn number(self, body: &Body, index: &str, from: usize) -> String {
        body.language.int(&self.text(body, index, from, NUMBER))
    }

    /// Adds a record.
    pub(super) fn append(self, body: &mut Body, record: &[String]) {
        body.set(self.variable, format!("concat({}, {})", self.variable, record.join(", ")));
    }

    /// Adds a record before the first with a greater number, and only once when `once`. The body has the variables
    /// `v_slot` (a number) and `v_record` (a list).
    pub(super) fn insert(self, body: &mut Body, record: &[String], once: bool) {
        let List { variable, width } = self;
        let language = body.language;
        body.set("v_record", format!("concat({})", record.join(", ")));
        body.set("v_slot", self.count(body));
        let key = language.part("v_record", "0", &NUMBER.to_string());
        let before = language.part(variable, &format!("(v_slot - 1) * {width}"), &NUMBER.to_string());
        body.repeat(format!("v_slot > 0 and {before} > {key}"), |body| body.set("v_slot", "v_slot - 1"));
        let head = language.part(variable, "0", &format!("v_slot * {width}"));
        let tail = language.part(variable, &format!("v_slot * {width}"), &format!("char_length({variable})"));
        let put = |body: &mut Body| body.set(variable, format!("concat({head}, v_record, {tail})"));
        match once {
            true => body.when(format!("v_slot = 0 or {before} <> {key}"), put),
            false => put(body),
        }
    }
}
