//! What is wrong with a script, and where.
//!
//! What it does not do: it stops nothing. Reading goes on after a problem, so that all of them are told at once.

/// A place in a script, counted from 1; columns are characters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ScriptPlace {
    /// Line.
    pub line: u32,
    /// Column.
    pub column: u32,
}

/// The places of the bytes of one text.
///
/// The one idea: lines and columns are counted once, and from a byte the count goes on from the last mark before it; a script with
/// a command in each of its bytes takes no longer than its length says.
#[derive(Debug)]
pub(super) struct Places<'a> {
    text: &'a str,
    /// The place of each byte whose number is a multiple of [`APART`].
    marks: Vec<ScriptPlace>,
}

const APART: usize = 1024;

impl<'a> Places<'a> {
    pub(super) fn of(text: &'a str) -> Places<'a> {
        let mut place = ScriptPlace { line: 1, column: 1 };
        let mut marks = Vec::with_capacity(text.len() / APART + 1);
        for piece in text.as_bytes().chunks(APART) {
            marks.push(place);
            place = behind(place, piece);
        }
        marks.push(place);
        Places { text, marks }
    }

    /// The place of a byte; the end of the text when it is shorter.
    pub(super) fn at(&self, byte: usize) -> ScriptPlace {
        let byte = byte.min(self.text.len());
        let mark = byte / APART;
        behind(self.marks[mark], &self.text.as_bytes()[mark * APART..byte])
    }
}

/// The place behind some bytes.
fn behind(from: ScriptPlace, bytes: &[u8]) -> ScriptPlace {
    let lines = bytes.iter().filter(|byte| **byte == b'\n').count() as u32;
    let last = bytes.iter().rposition(|byte| *byte == b'\n').map_or(bytes, |at| &bytes[at + 1..]);
    // Bytes that continue a character are no column of their own.
    let columns = last.iter().filter(|byte| **byte & 0xc0 != 0x80).count() as u32;
    ScriptPlace { line: from.line + lines, column: columns + if lines > 0 { 1 } else { from.column } }
}

/// Something that keeps a script from being run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Name of the script; empty when the problem is not in a script.
    pub script: String,
    /// Where in it.
    pub place: ScriptPlace,
    /// What is wrong, with the next step.
    pub text: String,
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.script.as_str() {
            "" => f.write_str(&self.text),
            script => write!(f, "{script}:{}:{}: {}", self.place.line, self.place.column, self.text),
        }
    }
}

/// All that is wrong; never empty.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
pub struct Problems(pub Vec<Problem>);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_characters_and_lines_count_from_one() {
        let text = format!("ab\nä€x\n{}\n{}z", "ä".repeat(3000), "y\n".repeat(1500));
        let places = Places::of(&text);
        assert_eq!(places.at(0), ScriptPlace { line: 1, column: 1 });
        assert_eq!(places.at(text.find('x').unwrap()), ScriptPlace { line: 2, column: 3 });
        for (byte, _) in text.char_indices() {
            let (line, column) = text[..byte]
                .rsplit_once('\n')
                .map_or((1, &text[..byte]), |(before, last)| (before.matches('\n').count() as u32 + 2, last));
            let column = column.chars().count() as u32 + 1;
            assert_eq!(places.at(byte), ScriptPlace { line, column });
        }
        assert_eq!(places.at(1 << 40), places.at(text.len()));
    }
}
