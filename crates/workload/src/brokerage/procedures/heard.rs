//! What a procedure hands back: the rows that its statements read, and what came of it.
//!
//! The one idea: every row travels as one text, its fields between separators that no text of ours holds, behind the place of
//! its statement in the list of [`statements`](super::super::statements); what came of the transaction has a dash there.
//!
//! What it does not do: it brings no number back from its text; who needs one says so.

use crate::transaction::Answer;

/// What came of the transaction, row by row; reads are passed over unread.
pub(in crate::brokerage) fn outcomes<'a>(answer: &Answer<'a>) -> impl Iterator<Item = Vec<&'a str>> + use<'a> {
    let texts = answer.rows().filter_map(|row| row.first()?.text());
    let lines = texts.flat_map(|text| text.split('\x1e'));
    lines.filter_map(|line| line.strip_prefix("-\x1f")).map(|line| line.split('\x1f').collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transaction::{Answers, Value};

    #[test]
    fn outcomes_come_back_whether_one_by_one_or_many_in_a_text() {
        let mut answers = Answers::default();
        answers.begin(1);
        answers.push(Value::from("7\x1fABC\x1f\x1a\x1f"));
        answers.push(Value::from("8\x1f1\x1e-\x1fABC\x1f20\x1e"));
        answers.push(Value::from("-\x1fXYZ\x1f\x1e"));
        assert_eq!(outcomes(&answers.last()).collect::<Vec<_>>(), [["ABC", "20"], ["XYZ", ""]]);
    }
}
