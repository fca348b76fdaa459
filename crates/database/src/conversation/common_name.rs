//! The name that an old certificate holds in its subject alone.
//!
//! The one idea: certificates without alternative names are still made by recipes that everybody copies; of one that is trusted by
//! itself the first common name counts, as libpq has it.
//!
//! What it does not do: it verifies nothing, and knows no wildcards.

/// The first common name in the subject of a certificate in DER; none where there is none, or what is there is no certificate.
pub(super) fn common_name(certificate: &[u8]) -> Option<&str> {
    const COMMON_NAME: [u8; 3] = [0x55, 4, 3];
    const VERSION: u8 = 0xa0;
    let mut fields = element(element(certificate)?.0)?.0;
    if fields.first() == Some(&VERSION) {
        fields = element(fields)?.1;
    }
    // Serial number, algorithm, issuer and validity stand before the subject.
    for _ in 0..4 {
        fields = element(fields)?.1;
    }
    let mut parts = element(fields)?.0;
    while let Some((part, rest)) = element(parts) {
        let (kind, value) = element(element(part)?.0)?;
        if kind == COMMON_NAME {
            return std::str::from_utf8(element(value)?.0).ok();
        }
        parts = rest;
    }
    None
}

/// What the first element of DER holds, and what follows it.
fn element(der: &[u8]) -> Option<(&[u8], &[u8])> {
    let (&[_, first], rest) = der.split_first_chunk::<2>()?;
    let (length, rest) = match first {
        0..=0x7f => (usize::from(first), rest),
        0x81..=0x83 => {
            let (bytes, rest) = rest.split_at_checked(usize::from(first & 0x7f))?;
            (bytes.iter().fold(0, |sum, byte| sum << 8 | usize::from(*byte)), rest)
        }
        _ => return None,
    };
    rest.split_at_checked(length)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A subject of a country and a common name, behind four empty fields, with lengths of one byte.
    const SHORT: &[u8] = b"\x30\x2b\x30\x29\xa0\x03\x02\x01\x02\x02\x00\x30\x00\x30\x00\x30\x00\x30\x1a\
        \x31\x0b\x30\x09\x06\x03\x55\x04\x06\x13\x02DE\x31\x0b\x30\x09\x06\x03\x55\x04\x03\x0c\x02db";

    #[test]
    fn the_common_name_is_found_behind_other_parts_of_the_subject() {
        assert_eq!(common_name(SHORT), Some("db"));
    }

    #[test]
    fn what_is_cut_off_or_no_certificate_has_no_name() {
        for length in 0..SHORT.len() {
            assert_eq!(common_name(&SHORT[..length]), None, "{length} bytes");
        }
        assert_eq!(common_name(b"\x30\x84\xff\xff\xff\xff"), None);
    }
}
