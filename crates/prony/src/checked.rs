//! From what was typed to what it means: consents, tags, and the name of a new run file.
//!
//! The one idea: what has a type already (`args`) gets its meaning here, in pure functions whose errors say the limit and
//! the value; the commands below see only checked values.
//!
//! What it does not do: settings of a study are checked by the study room, which knows its keys.

use crate::failure::Failure;
use study::Consent;
use units::Bytes;

/// Reads a consent from the right, because names below `/dev/disk/by-path` contain colons.
///
/// # Errors
/// When no part is a size, or the identity is empty.
pub fn consent(text: &str) -> Result<Consent, Failure> {
    let parts: Vec<&str> = text.split(':').collect();
    let size_of = |from_right: usize| {
        let at = parts.len().checked_sub(from_right)?;
        let size = exact_bytes(parts.get(at)?)?;
        Some((parts[..at].join(":"), size))
    };
    let read = match (size_of(1), size_of(2)) {
        (Some((id, size)), _) => Some(Consent { id, size, signature: None }),
        (None, Some((id, size))) => Some(Consent { id, size, signature: parts.last().map(|sig| (*sig).to_owned()) }),
        (None, None) => None,
    };
    read.filter(|consent| !consent.id.is_empty() && consent.signature.as_deref() != Some("")).ok_or_else(|| {
        Failure::new(format!("reading the consent `--destroy`: it is ID:BYTES[:SIGNATURE], got `{text}`"))
            .hint("run without --destroy: the refusal prints the consent that fits the device")
    })
}

/// A number of bytes, plain or with its unit.
fn exact_bytes(text: &str) -> Option<Bytes> {
    text.parse().ok().map(Bytes).or_else(|| units::parse_bytes(text).ok())
}

/// A tag is one word, so that lists of tags stay readable and can be searched.
///
/// # Errors
/// When it is empty, longer than 64 characters, or holds a space, a comma or a control character.
pub fn tag(text: &str) -> Result<String, Failure> {
    let bad = |c: char| c.is_whitespace() || c.is_control() || c == ',';
    let length = text.chars().count();
    if length == 0 || length > 64 || text.contains(bad) {
        return Err(Failure::new(format!(
            "reading the tag: 1 to 64 characters without space or comma, got `{}`",
            text.escape_debug()
        )));
    }
    Ok(text.to_owned())
}

/// The id of a new run: the local time to the minute, and the study. `n` counts from 1 when the name is taken.
pub fn run_id(started_unix_ns: i64, zone: jiff::tz::TimeZone, study: &str, n: u32) -> String {
    let stamp = jiff::Timestamp::from_nanosecond(i128::from(started_unix_ns)).unwrap_or_default();
    let minute = stamp.to_zoned(zone).strftime("%Y-%m-%dT%H%M").to_string();
    let study: String = study.chars().map(|c| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '-' }).collect();
    if n > 1 { format!("{minute}-{study}-{n}") } else { format!("{minute}-{study}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<(String, u64, Option<String>)> {
        consent(text).ok().map(|c| (c.id, c.size.0, c.signature))
    }

    #[test]
    fn a_consent_names_identity_size_and_signature() {
        assert_eq!(read("S4X9:1024"), Some(("S4X9".into(), 1024, None)));
        assert_eq!(read("S4X9:1 KiB:ext4"), Some(("S4X9".into(), 1024, Some("ext4".into()))));
    }

    #[test]
    fn an_identity_may_contain_colons() {
        assert_eq!(read("pci-0000:00:1f.2-ata-1:4096"), Some(("pci-0000:00:1f.2-ata-1".into(), 4096, None)));
        assert_eq!(read("eui.00:25:4096:gpt"), Some(("eui.00:25".into(), 4096, Some("gpt".into()))));
    }

    #[test]
    fn a_consent_without_size_or_identity_is_refused() {
        for text in ["", "S4X9", "S4X9:", "S4X9:ext4", ":1024", "S4X9:1024:", ":1024:ext4"] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn a_tag_is_one_short_word() {
        assert!(tag("kernel-6.8").is_ok());
        for text in ["", "two words", "a,b", "a\nb", &"x".repeat(65)] {
            assert!(tag(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_run_is_named_after_its_minute_and_study() {
        let at = 1_795_296_600_000_000_000;
        assert_eq!(run_id(at, jiff::tz::TimeZone::UTC, "flash", 1), "2026-11-21T2130-flash");
        assert_eq!(run_id(at, jiff::tz::TimeZone::UTC, "my study/2", 3), "2026-11-21T2130-my-study-2-3");
    }
}
