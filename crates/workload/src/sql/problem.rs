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

impl ScriptPlace {
    /// The place of a byte of a text; the end of the text when it is shorter.
    pub(super) fn of(text: &str, byte: usize) -> ScriptPlace {
        let before = &text.as_bytes()[..byte.min(text.len())];
        let line = before.iter().filter(|byte| **byte == b'\n').count();
        let start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        // Bytes that continue a character are no column of their own.
        let column = before[start..].iter().filter(|byte| **byte & 0xc0 != 0x80).count();
        ScriptPlace { line: line as u32 + 1, column: column as u32 + 1 }
    }
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
        let text = "ab\nä€x\n";
        assert_eq!(ScriptPlace::of(text, 0), ScriptPlace { line: 1, column: 1 });
        assert_eq!(ScriptPlace::of(text, text.find('x').unwrap()), ScriptPlace { line: 2, column: 3 });
        assert_eq!(ScriptPlace::of(text, 1000), ScriptPlace { line: 3, column: 1 });
    }
}
