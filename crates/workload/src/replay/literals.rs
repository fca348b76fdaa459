//! Values that stand in the text of a statement.

use crate::sql::{OPENS, between_dollars, comment, quote};

/// What may end a piece of a text.
struct Reader<'a> {
    text: &'a str,
    at: usize,
    /// Whether it is PostgreSQL's: backslashes, comments and double quotes mean something else to others.
    postgres: bool,
}

/// A statement without the values in its text: each stands as `$1`, `$2` and so on in the first, and as it was written in the second.
/// Comments are left out, but for those that a server or its planner reads. `server` says whose words it is, as a trace does.
pub fn shape(sql: &str, server: &str) -> (String, Vec<String>) {
    let mut reader = Reader::new(sql, server);
    let (mut shape, mut values) = (String::with_capacity(sql.len()), Vec::<String>::new());
    let mut behind_value = false;
    while let Some(first) = reader.text[reader.at..].chars().next() {
        let from = reader.at;
        let was_value = std::mem::take(&mut behind_value);
        if let (true, true, Some(value)) = (was_value, first.is_ascii_digit(), values.last_mut()) {
            // It would be read as one more digit of the value's number.
            value.push(first);
            (reader.at, behind_value) = (from + 1, true);
        } else if reader.comment() {
            let read = ["/*!", "/*M!", "/*+"].iter().any(|begins| sql[from..].starts_with(begins));
            shape.push_str(if read { &sql[from..reader.at] } else { " " });
        } else if reader.literal(&shape) {
            values.push(sql[from..reader.at].to_owned());
            behind_value = true;
            shape.push_str(&format!("${}", values.len()));
        } else {
            reader.at += if first == '"' || first == '`' { reader.quoted() } else { first.len_utf8() };
            shape.push_str(&sql[from..reader.at]);
        }
    }
    (shape, values)
}

/// A statement as it may be told: without any value that a client wrote into its text. Each stands as `$n`, numbered on from those that
/// the text has; where it is not certain where a value ends, the rest is left out. `server` says whose words it is, as a trace does.
pub fn told(sql: &str, server: &str) -> String {
    let (mut reader, mut told, mut number) = (Reader::new(sql, server), String::with_capacity(sql.len()), highest(sql));
    let mut behind_value = false;
    while let Some(first) = reader.rest().chars().next() {
        let (from, was_value) = (reader.at, std::mem::take(&mut behind_value));
        let before = if was_value { "" } else { told.as_str() };
        // Between these stands a name for PostgreSQL, and a text for most others.
        let text = first == '\'' || (first == '"' && !reader.postgres);
        // PostgreSQL says of these what a backslash does in them.
        let certain = reader.postgres && (reader.escapes() || before.ends_with("U&") || before.ends_with("u&"));
        if reader.comment() {
            if sql[from + 1..reader.at].contains("/*") {
                return told + "…";
            }
            told.push(' ');
        } else if (text && reader.pass()) || reader.literal(before) {
            reader.at += reader
                .rest()
                .find(|next: char| !next.is_alphanumeric() && !"._".contains(next))
                .unwrap_or(reader.rest().len());
            number += 1;
            told.push_str(&format!("{}${number}", if was_value { " " } else { "" }));
            // Elsewhere that is a matter of the server and its settings.
            if !certain && sql[from..reader.at].contains('\\') {
                return told + "…";
            }
            behind_value = true;
        } else {
            reader.at += if first == '"' || first == '`' { reader.quoted() } else { first.len_utf8() };
            told.push_str(&sql[from..reader.at]);
        }
    }
    told
}

/// What a server answers to a statement that failed, without the values that it repeats: its detail, words with figures, and what
/// stands in quotes, unless a statement is called so, too. `names` are those of all statements as they may be told.
pub(super) fn answered<'a>(words: &str, names: impl Iterator<Item = &'a str> + Clone) -> String {
    let called = names.clone().filter(|name| words.strip_prefix(name).is_some_and(|rest| rest.starts_with(": ")));
    let head = called.map(|name| name.len() + 2).max().unwrap_or(0);
    // MariaDB begins with its number, PostgreSQL ends with its code.
    let number = words[head..].starts_with("error ").then(|| words[head..].find(": ").map(|at| at + 2)).flatten();
    let (head, rest) = words.split_at(head + number.unwrap_or(0));
    let (message, code) = rest.split_at(rest.rfind(", SQLSTATE ").unwrap_or(rest.len()));
    let (message, detail) = message.split_once(" (").map_or((message, ""), |(message, _)| (message, " (…)"));
    let word = |name: &'a str| name.split(|c: char| !c.is_alphanumeric() && c != '_');
    let known = |part: &str| {
        !part.starts_with(|c: char| c.is_ascii_digit()) && names.clone().any(|name| word(name).any(|word| word == part))
    };
    let quote = |c: char| matches!(c, '\'' | '"' | '`');
    let (mut kept, mut left) = (String::new(), message);
    while let Some(from) = left.find(quote) {
        let (before, quoted) = left.split_at(from);
        kept.push_str(before);
        let end = quoted[1..].find(quote).map_or(quoted.len(), |at| at + 2);
        let name = quoted[..end].trim_matches(quote);
        if !name.split('.').all(known) {
            // A value may have quotes itself: it ends at the last one, at the latest.
            kept.push('…');
            left = &quoted[1..];
            left = &left[left.rfind(quote).map_or(left.len(), |at| at + 1)..];
            break;
        }
        kept.push_str(&quoted[..end]);
        left = &quoted[end..];
    }
    kept.push_str(left);
    let figures = |word: &str| {
        word.contains(|c: char| c.is_ascii_digit()) && !known(word.trim_matches(|c: char| !c.is_alphanumeric()))
    };
    let kept: Vec<&str> = kept.split(' ').map(|word| if figures(word) { "…" } else { word }).collect();
    format!("{head}{}{detail}{code}", kept.join(" "))
}

/// The highest `$n` of a text.
fn highest(sql: &str) -> u32 {
    let digits = |text: &str| text.chars().take_while(char::is_ascii_digit).collect::<String>().parse().ok();
    sql.split('$').skip(1).filter_map(digits).filter(|number| *number < 1 << 16).max().unwrap_or(0)
}

impl<'a> Reader<'a> {
    fn new(text: &'a str, server: &str) -> Reader<'a> {
        Reader { text, at: 0, postgres: server.starts_with("PostgreSQL") }
    }

    /// Passes over a text in quotes.
    fn pass(&mut self) -> bool {
        self.at += self.quoted();
        true
    }

    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    /// Bytes of a text in quotes; a quote that is doubled does not end it.
    fn quoted(&self) -> usize {
        quote(self.rest().as_bytes(), self.escapes()).unwrap_or(self.rest().len())
    }

    /// Whether a backslash hides the letter behind it in the text that begins here.
    fn escapes(&self) -> bool {
        if !self.postgres {
            return !self.rest().starts_with('`');
        }
        let mut before = self.text[..self.at].chars().rev();
        self.rest().starts_with('\'')
            && matches!(before.next(), Some('e' | 'E'))
            && before.next().is_none_or(|letter| !letter.is_alphanumeric() && !"_$".contains(letter))
    }

    fn comment(&mut self) -> bool {
        let rest = self.rest();
        let line = || rest.find('\n').unwrap_or(rest.len());
        let length = match rest.as_bytes() {
            // Elsewhere two signs without a blank behind them are two signs.
            [b'-', b'-', more @ ..] if self.postgres || more.first().is_none_or(u8::is_ascii_whitespace) => line(),
            [b'#', ..] if !self.postgres => line(),
            bytes @ [b'/', b'*', ..] if self.postgres => comment(bytes).unwrap_or(rest.len()),
            [b'/', b'*', ..] => rest[2..].find("*/").map_or(rest.len(), |at| at + 4),
            _ => return false,
        };
        self.at += length;
        true
    }

    /// A number, a text in quotes or between dollars, where none continues a name.
    fn literal(&mut self, before: &str) -> bool {
        let signs = signs(before.trim_end());
        let named = before.ends_with(|letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '$' | '"'));
        let rest = self.rest();
        let length = match rest.as_bytes()[0] {
            b'\'' => self.quoted(),
            b'0'..=b'9' if !named => number(rest),
            b'-' if signs && rest[1..].starts_with(|next: char| next.is_ascii_digit()) => 1 + number(&rest[1..]),
            b'.' if !named && rest[1..].starts_with(|next: char| next.is_ascii_digit()) => number(rest),
            b'$' if !named => match between_dollars(rest) {
                Some(length) => length,
                None => return false,
            },
            _ => return false,
        };
        self.at += length;
        true
    }
}

/// Whether what stands behind this is a sign; behind a name or a value it is an operator.
fn signs(before: &str) -> bool {
    let word = before.rsplit(|letter: char| !letter.is_alphanumeric() && letter != '_').next().unwrap_or_default();
    let operand = before.ends_with([')', ']', '"', '`', '\'']) || !word.is_empty();
    !before.is_empty() && (!operand || OPENS.contains(&word.to_ascii_lowercase().as_str()))
}

fn number(text: &str) -> usize {
    let bytes = text.as_bytes();
    let digits = |from: usize| bytes[from..].iter().take_while(|byte| byte.is_ascii_digit() || **byte == b'.').count();
    let whole = digits(0);
    let signed = usize::from(matches!(bytes.get(whole + 1), Some(b'+' | b'-')));
    match bytes.get(whole) {
        Some(b'e' | b'E') if digits((whole + 1 + signed).min(bytes.len())) > 0 => {
            whole + 1 + signed + digits(whole + 1 + signed)
        }
        _ => whole,
    }
}
