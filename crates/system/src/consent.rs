//! Consent to destroy what a device holds: `--destroy ID:BYTES[:SIGNATURE]`, on the command line only.
//!
//! The one idea: consent names what only somebody who looked can name: which device (by an identity that it carries
//! itself), how large it is to the byte, and what is on it. A path alone, or a study file, can never consent.

use std::fmt;

use units::Bytes;

/// What the user agrees to lose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Consent {
    /// Serial number, WWN, by-path name, or another identity that the refusal printed.
    pub id: String,
    /// Exact size of the device.
    pub size: Bytes,
    /// The signatures that may be destroyed, on the device and on its partitions; empty when there must be none.
    pub signatures: Vec<String>,
    /// Whether other processes may have it open for writing meanwhile (`--in-use-anyway`).
    pub in_use: bool,
}

/// Why a text is no consent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("read `--destroy {text}`: expected ID:BYTES or ID:BYTES:SIGNATURE with the exact size in bytes, {problem}")]
pub struct ConsentError {
    text: String,
    problem: &'static str,
}

/// Reads a consent. An identity may hold colons (`pci-0000:00:1f.2-ata-1`), so the text is read from its end: the last
/// part is the size when it is a number, else the signatures, joined by `+`.
///
/// # Errors
/// [`ConsentError`] naming what is missing.
pub fn parse(text: &str) -> Result<Consent, ConsentError> {
    let wrong = |problem| ConsentError { text: text.to_owned(), problem };
    let (front, last) = text.rsplit_once(':').ok_or_else(|| wrong("got no colon"))?;
    let (id, size, signatures) = match number(last) {
        Some(size) => (front, size, ""),
        None => {
            let (id, size) = front.rsplit_once(':').ok_or_else(|| wrong("got no size"))?;
            (id, number(size).ok_or_else(|| wrong("got no whole number where the size belongs"))?, last)
        }
    };
    if id.is_empty() {
        return Err(wrong("got no ID"));
    }
    let names: Vec<String> = signatures.split('+').filter(|name| !name.is_empty()).map(str::to_owned).collect();
    if names.is_empty() && number(last).is_none() {
        return Err(wrong("got no signature behind the last colon"));
    }
    Ok(Consent { id: id.to_owned(), size: Bytes(size), signatures: names, in_use: false })
}

/// Digits only: a sign, a separator or a unit would leave doubt about the exact size.
fn number(text: &str) -> Option<u64> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?
}

impl fmt::Display for Consent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.id, self.size.0)?;
        if self.signatures.is_empty() { Ok(()) } else { write!(f, ":{}", self.signatures.join("+")) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_identity_with_colons_is_read_from_the_right() {
        let consent = parse("pci-0000:00:1f.2-ata-1:512110190592:gpt+ext4").unwrap();
        assert_eq!(consent.id, "pci-0000:00:1f.2-ata-1");
        assert_eq!(consent.size, Bytes(512_110_190_592));
        assert_eq!(consent.signatures, ["gpt", "ext4"]);
        assert_eq!(parse("S4EV:1000").unwrap().signatures, [""; 0]);
    }

    #[test]
    fn what_is_missing_is_named() {
        let problem = |text| parse(text).unwrap_err().problem;
        assert_eq!(problem("/dev/sdb"), "got no colon");
        assert_eq!(problem("S4EV:ext4"), "got no size");
        assert_eq!(problem("S4EV:1 TiB:ext4"), "got no whole number where the size belongs");
        assert_eq!(problem(":1000"), "got no ID");
        assert_eq!(problem("S4EV:1000:"), "got no signature behind the last colon");
        assert_eq!(problem("S4EV:99999999999999999999"), "got no size");
    }

    proptest! {
        #[test]
        fn a_consent_reads_back_as_it_prints(
            id in "[A-Za-z0-9_.:-]{1,40}",
            size in any::<u64>(),
            signatures in prop::collection::vec("[a-z_A-Z][a-z_A-Z0-9]{0,12}", 0..4),
        ) {
            let consent = Consent { id, size: Bytes(size), signatures, in_use: false };
            prop_assert_eq!(parse(&consent.to_string()), Ok(consent));
        }

        #[test]
        fn no_text_makes_the_parser_panic(text in ".{0,60}") {
            let _ = parse(&text);
        }
    }
}
