//! Statements in a log of PostgreSQL, in each of its three forms.
//!
//! The one idea: with `log_min_duration_statement = 0` each statement has one entry when it has ended, with how long it took; that
//! of an extended query is its `execute`, and its values stand in the detail.

use super::Words;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

/// How entries are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// One object a line.
    Json,
    /// Fields between commas.
    Csv,
    /// Lines that begin with `%m [%p]`.
    Plain,
}

impl Form {
    /// That of a file, by how its name ends.
    pub(super) fn of(path: &Path) -> Form {
        match path.extension().and_then(|end| end.to_str()) {
            Some("json") => Form::Json,
            Some("csv") => Form::Csv,
            _ => Form::Plain,
        }
    }
}

/// A piece of a file.
pub(super) fn read(path: &Path, from: u64, to: u64) -> io::Result<String> {
    let mut file = File::open(path)?;
    file.seek(SeekFrom::Start(from))?;
    let mut bytes = Vec::new();
    file.take(to - from).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// An entry of a log.
#[derive(Default)]
struct Entry {
    time: String,
    process: String,
    database: Option<String>,
    level: String,
    message: String,
    detail: String,
}

/// The statements in a piece of a log. What is no statement, or was cut off, is passed over.
/// `prefix` is how lines begin, as the server's `log_line_prefix` says it.
pub(super) fn words(form: Form, prefix: &str, text: &str) -> Vec<Words> {
    let entries = match form {
        Form::Json => text.lines().filter_map(of_object).collect(),
        Form::Csv => of_table(text),
        Form::Plain => of_lines(prefix, text),
    };
    entries.iter().filter_map(statement).collect()
}

fn of_object(line: &str) -> Option<Entry> {
    let value: serde_json::Value = serde_json::from_str(line).ok()?;
    let text = |name: &str| value[name].as_str().unwrap_or_default().to_owned();
    let process = value["pid"].as_i64()?.to_string();
    let database = value["dbname"].as_str().map(str::to_owned);
    let (level, message) = (text("error_severity"), text("message"));
    Some(Entry { time: text("timestamp"), process, database, level, message, detail: text("detail") })
}

/// The places of these columns have been the same since the form exists.
fn of_table(text: &str) -> Vec<Entry> {
    let rows = csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(text.as_bytes()).into_records();
    let entry = |row: csv::StringRecord| {
        let field = |at: usize| row.get(at).unwrap_or_default().to_owned();
        let database = Some(field(2)).filter(|name| !name.is_empty());
        Entry { time: field(0), process: field(3), database, level: field(11), message: field(13), detail: field(14) }
    };
    rows.filter_map(Result::ok).map(entry).collect()
}

fn of_lines(prefix: &str, text: &str) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    let mut into_detail = false;
    for line in text.lines() {
        let Some((time, process, said, level, rest)) = parts(line) else {
            if let Some(last) = entries.last_mut() {
                let into = if into_detail { &mut last.detail } else { &mut last.message };
                into.push('\n');
                into.push_str(line.strip_prefix('\t').unwrap_or(line));
            }
            continue;
        };
        into_detail = level == "DETAIL";
        match entries.last_mut() {
            Some(last) if into_detail && last.process == process => rest.clone_into(&mut last.detail),
            _ => entries.push(Entry {
                time,
                process,
                database: database(prefix, said),
                level: level.to_owned(),
                message: rest.to_owned(),
                detail: String::new(),
            }),
        }
    }
    entries
}

/// `2026-01-31 12:00:00.123 UTC [77] LOG:  duration: ..` in its parts.
fn parts(line: &str) -> Option<(String, String, &str, &str, &str)> {
    let (head, rest) = line.split_once(" [")?;
    moment_us(head)?;
    let (process, rest) = rest.split_once(']')?;
    // Whatever else a prefix says stands before the level.
    let (said, rest) = rest.split_once(":  ")?;
    let level = said.rsplit([' ', ']']).next().unwrap_or(said);
    Some((head.to_owned(), process.to_owned(), said, level, rest))
}

/// The database in what a line says between its process and its text, where the prefix has it: ` me@shop LOG` of `%m [%p] %q%u@%d `.
fn database(prefix: &str, said: &str) -> Option<String> {
    let more = prefix.strip_prefix("%m [%p]")?.replace("%q", "");
    let (before, behind) = more.split_once("%d")?;
    // What ends an escape is the text up to the next one.
    let mut rest = said;
    for (at, piece) in before.split('%').enumerate() {
        let letters = if at == 0 { piece } else { piece.get(1..)? };
        rest = if letters.is_empty() { rest } else { rest.split_once(letters)?.1 };
    }
    let end = behind.split('%').next().filter(|end| !end.is_empty())?;
    rest.split_once(end).map(|(database, _)| database.to_owned()).filter(|name| !name.is_empty())
}

fn statement(entry: &Entry) -> Option<Words> {
    let (session, database) = (entry.process.clone(), entry.database.clone());
    if entry.level == "ERROR" {
        let at_us = moment_us(&entry.time)?;
        return Some(Words { at_us, session, database, failed: true, ..Words::default() });
    }
    let (took, rest) = entry.message.strip_prefix("duration: ")?.split_once(" ms  ")?;
    let took_us = (took.parse::<f64>().ok()? * 1e3).round() as u64;
    let (sql, parameters) = match rest.split_once(": ")? {
        ("statement", sql) => (sql, None),
        (what, _) if what.starts_with("execute fetch from ") => return None,
        (what, sql) if what.starts_with("execute ") => (sql, Some(values(&entry.detail)?)),
        _ => return None,
    };
    let at_us = moment_us(&entry.time)? - took_us as i64;
    // A query of the extended protocol without values is sent as it was: prepared.
    Some(Words { at_us, took_us: Some(took_us), session, database, sql: sql.to_owned(), parameters, failed: false })
}

/// `parameters: $1 = '5', $2 = NULL`, in order; none where they were cut off.
fn values(detail: &str) -> Option<Vec<Option<String>>> {
    let mut values = Vec::new();
    let Some((word, mut rest)) = detail.split_once(": ") else { return Some(values) };
    if !word.eq_ignore_ascii_case("parameters") {
        return Some(values);
    }
    while let Some((_, text)) = rest.split_once(" = ") {
        let Some(quoted) = text.strip_prefix('\'') else {
            values.push(None);
            rest = text.strip_prefix("NULL")?;
            continue;
        };
        let mut value = String::new();
        let mut letters = quoted.char_indices().peekable();
        let end = loop {
            match letters.next()? {
                (_, '\'') if letters.next_if(|(_, next)| *next == '\'').is_some() => value.push('\''),
                (at, '\'') => break at + 1,
                (_, letter) => value.push(letter),
            }
        };
        if value.ends_with("...") {
            return None;
        }
        values.push(Some(value));
        rest = &quoted[end..];
    }
    Some(values)
}

/// `2026-01-31 12:00:00.123 UTC` as microseconds of that calendar, whatever its zone.
pub(super) fn moment_us(text: &str) -> Option<i64> {
    let end = text.match_indices(' ').nth(1).map_or(text.len(), |(end, _)| end);
    let moment: jiff::civil::DateTime = text[..end].parse().ok()?;
    Some(jiff::tz::Offset::UTC.to_timestamp(moment).ok()?.as_microsecond())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted() -> Vec<Words> {
        let words = |at_us: i64, sql: &str, parameters| Words {
            at_us: 1_767_225_600_000_000 + at_us,
            took_us: Some(250),
            session: "77".to_owned(),
            database: Some("d".to_owned()),
            sql: sql.to_owned(),
            parameters,
            failed: false,
        };
        let values = vec![Some("it's, $2 = 'x'".to_owned()), None];
        vec![words(122_750, "SELECT 'a,\n b'", None), words(199_750, "UPDATE t SET a = $1 WHERE b = $2", Some(values))]
    }

    #[test]
    fn the_three_forms_of_a_log_say_the_same() {
        let plain = "2026-01-01 00:00:00.100 UTC [77] LOG:  connection received\n\
            2026-01-01 00:00:00.123 UTC [77] LOG:  duration: 0.250 ms  statement: SELECT 'a,\n\t b'\n\
            2026-01-01 00:00:00.124 UTC [77] LOG:  duration: 0.009 ms  bind S_1: UPDATE t SET a = $1 WHERE b = $2\n\
            2026-01-01 00:00:00.124 UTC [77] DETAIL:  parameters: $1 = 'no'\n\
            2026-01-01 00:00:00.200 UTC [77] LOG:  duration: 0.250 ms  execute S_1: UPDATE t SET a = $1 WHERE b = $2\n\
            2026-01-01 00:00:00.200 UTC [77] DETAIL:  parameters: $1 = 'it''s, $2 = ''x''', $2 = NULL\n";
        let without = words(Form::Plain, "%m [%p] ", plain);
        assert!(without.iter().all(|one| one.database.is_none()) && without.len() == 2);
        let debian = plain.replace("[77] ", "[77] me@d ");
        assert_eq!(words(Form::Plain, "%m [%p] %q%u@%d ", &debian), wanted());
        let failed = "2026-01-01 00:00:00.123 UTC [77] me@d ERROR:  no\n2026-01-01 00:00:00.123 UTC [77] me@d STATEMENT:  SELECT 'x'\n";
        let failed = words(Form::Plain, "%m [%p] %q%u@%d ", failed);
        assert!(failed.len() == 1 && failed[0].failed && failed[0].sql.is_empty(), "{failed:?}");
        let json = "{\"timestamp\":\"2026-01-01 00:00:00.123 UTC\",\"pid\":77,\"dbname\":\"d\",\"message\":\"duration: 0.250 ms  statement: SELECT 'a,\\n b'\"}\n\
            {\"timestamp\":\"2026-01-01 00:00:00.200 UTC\",\"pid\":77,\"dbname\":\"d\",\"message\":\"duration: 0.250 ms  execute S_1: UPDATE t SET a = $1 WHERE b = $2\",\
            \"detail\":\"Parameters: $1 = 'it''s, $2 = ''x''', $2 = NULL\"}\n{\"timestamp\":\"2026-01-01 cut off";
        assert_eq!(words(Form::Json, "", json), wanted());
        let csv = "2026-01-01 00:00:00.123 UTC,u,d,77,h,s,1,SELECT,t,v,0,LOG,00000,\"duration: 0.250 ms  statement: SELECT 'a,\n b'\",,,\n\
            2026-01-01 00:00:00.200 UTC,u,d,77,h,s,2,UPDATE,t,v,0,LOG,00000,\"duration: 0.250 ms  execute S_1: UPDATE t SET a = $1 WHERE b = $2\",\
            \"parameters: $1 = 'it''s, $2 = ''x''', $2 = NULL\",,\n";
        assert_eq!(words(Form::Csv, "", csv), wanted());
    }

    #[test]
    fn a_prefix_says_where_the_database_stands() {
        for (prefix, said, found) in [
            ("%m [%p] %q%u@%d ", " me@shop LOG", Some("shop")),
            ("%m [%p] db=%d,user=%u ", " db=shop,user=me LOG", Some("shop")),
            ("%m [%p] %a %d: ", " psql shop: LOG", Some("shop")),
            ("%m [%p][%d] ", "[shop] LOG", Some("shop")),
            ("%m [%p] %q%u@%d ", " LOG", None),
            ("%m [%p] ", " LOG", None),
        ] {
            assert_eq!(database(prefix, said).as_deref(), found, "{prefix}");
        }
    }

    #[test]
    fn values_that_were_cut_off_are_none_and_no_values_are_no_values() {
        assert_eq!(values("parameters: $1 = 'begin...'"), None);
        assert_eq!(values("parameters: $1 = 'never ends"), None);
        assert_eq!(values(""), Some(vec![]));
        assert_eq!(values("Parameters: $1 = ''"), Some(vec![Some(String::new())]));
    }

    #[test]
    fn moments_are_those_of_the_calendar() {
        assert_eq!(moment_us("1970-01-01 00:00:00.000 GMT"), Some(0));
        assert_eq!(moment_us("2024-02-29 12:00:00.5 CET"), Some(1_709_208_000_500_000));
        assert_eq!(moment_us("2024-13-01 12:00:00 CET"), None);
        assert_eq!(moment_us("nonsense"), None);
    }
}
