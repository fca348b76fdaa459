//! What a procedure hands back: the rows that its statements read, and what came of it.
//!
//! The one idea: every row travels as one text, its fields between separators that no text of ours holds, behind the place of
//! its statement in the list of [`statements`](super::super::statements); what came of the transaction has a dash there.
//!
//! What it does not do: it brings no number back from its text; who needs one says so.

use crate::transaction::Answer;

/// One row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heard<'a> {
    /// The place of the statement that read it; none for what came of the transaction.
    pub statement: Option<u16>,
    /// Its fields as texts; none where there is no value.
    pub fields: Vec<Option<&'a str>>,
}

/// The rows in the answer to a call.
pub fn heard<'a>(answer: &Answer<'a>) -> impl Iterator<Item = Heard<'a>> + use<'a> {
    lines(answer).map(|line| {
        let mut fields = line.split('\x1f');
        let statement = fields.next().and_then(|mark| mark.parse().ok());
        Heard { statement, fields: fields.map(|field| (field != "\x1a").then_some(field)).collect() }
    })
}

/// What came of the transaction, row by row; reads are passed over unread.
pub(in crate::brokerage) fn outcomes<'a>(answer: &Answer<'a>) -> impl Iterator<Item = Vec<&'a str>> + use<'a> {
    lines(answer).filter_map(|line| line.strip_prefix("-\x1f")).map(|line| line.split('\x1f').collect())
}

fn lines<'a>(answer: &Answer<'a>) -> impl Iterator<Item = &'a str> + use<'a> {
    let texts = answer.rows().filter_map(|row| row.first()?.text());
    texts.flat_map(|text| text.split('\x1e')).filter(|line| !line.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transaction::{Answers, Value};

    #[test]
    fn rows_come_back_whether_one_by_one_or_many_in_a_text() {
        let mut answers = Answers::default();
        answers.begin(1);
        answers.push(Value::from("7\x1fABC\x1f\x1a\x1f"));
        answers.push(Value::from("8\x1f1\x1e-\x1fABC\x1f20\x1e"));
        let rows: Vec<Heard> = heard(&answers.last()).collect();
        assert_eq!(rows[0], Heard { statement: Some(7), fields: vec![Some("ABC"), None, Some("")] });
        assert_eq!(rows[1], Heard { statement: Some(8), fields: vec![Some("1")] });
        assert_eq!(rows[2].statement, None);
        assert_eq!(outcomes(&answers.last()).collect::<Vec<_>>(), [["ABC", "20"]]);
        assert_eq!(rows.len(), 3);
    }
}
