//! From what was typed to what it means: consents, tags, and the name of a new run file.
//!
//! The one idea: what has a type already (`args`) gets its meaning here, in pure functions whose errors say the limit and
//! the value; the commands below see only checked values.
//!
//! What it does not do: settings of a study are checked by the study room, which knows its keys.

use crate::args::Consents;
use crate::failure::Failure;
use std::path::Path;
use system::consent::Consent;

/// What `--destroy` says, and `--in-use-anyway` beside it.
///
/// # Errors
/// When one does not name an identity and a size.
pub fn consents(asked: &Consents) -> Result<Vec<Consent>, Failure> {
    let read = |text: &String| {
        let consent = system::consent::parse(text).map_err(|error| {
            Failure::new(error.to_string())
                .hint("`prony plan` without --destroy prints the consent that fits the device")
        })?;
        Ok(Consent { in_use: asked.in_use_anyway, ..consent })
    };
    asked.destroy.iter().map(read).collect()
}

/// A tag is one word, so that lists of tags stay readable and can be searched.
///
/// # Errors
/// When it is empty, longer than 64 characters, or holds a space, a comma or a control character.
pub fn tag(text: &str) -> Result<(), Failure> {
    let bad = |c: char| c.is_whitespace() || c.is_control() || c == ',';
    let length = text.chars().count();
    if length == 0 || length > 64 || text.contains(bad) {
        return Err(Failure::new(format!(
            "reading the tag: 1 to 64 characters without space or comma, got `{}`",
            text.escape_debug()
        )));
    }
    Ok(())
}

/// The id of a new run: the local time to the minute, and the study. `n` counts from 1 when the name is taken.
pub fn run_id(started_unix_ns: i64, zone: jiff::tz::TimeZone, study: &str, n: u32) -> String {
    let stamp = jiff::Timestamp::from_nanosecond(i128::from(started_unix_ns)).unwrap_or_default();
    let minute = stamp.to_zoned(zone).strftime("%Y-%m-%dT%H%M").to_string();
    let study = plain(study);
    if n > 1 { format!("{minute}-{study}-{n}") } else { format!("{minute}-{study}") }
}

/// The id of a run whose file was named by the user: what they call it.
pub fn id_of(path: &Path) -> String {
    plain(&path.file_stem().map(|stem| stem.to_string_lossy()).unwrap_or_default())
}

/// Only what is safe in a file name and on a command line.
fn plain(text: &str) -> String {
    text.chars().map(|c| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '-' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_is_one_short_word() {
        assert!(tag("kernel-6.8").is_ok());
        for text in ["", "two words", "a,b", "a\nb", &"x".repeat(65)] {
            assert!(tag(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_run_whose_file_was_named_has_that_name() {
        assert_eq!(id_of(Path::new("runs/before the update.prony")), "before-the-update");
    }

    #[test]
    fn a_run_is_named_after_its_minute_and_study() {
        let at = 1_795_296_600_000_000_000;
        assert_eq!(run_id(at, jiff::tz::TimeZone::UTC, "flash", 1), "2026-11-21T2130-flash");
        assert_eq!(run_id(at, jiff::tz::TimeZone::UTC, "my study/2", 3), "2026-11-21T2130-my-study-2-3");
    }
}
