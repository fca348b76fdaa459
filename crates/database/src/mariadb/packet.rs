//! Packets: three bytes of length, a number that counts them within an exchange, and the body. A body that does not fit goes on in
//! the next one.

use crate::session::ANSWER_MAX;
use std::borrow::Cow;

/// Bytes before the body.
pub(super) const HEAD: usize = 4;

/// A packet of so many bytes goes on in the next.
const FULL: usize = 0xff_ffff;

/// What stands at the beginning of some bytes.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Front<'a> {
    /// A whole body, the number of its last packet, and how many bytes it takes.
    Packet(Cow<'a, [u8]>, u8, usize),
    /// The beginning of one.
    Part,
    /// No answer may be so long.
    TooLong,
}

/// What stands at the beginning of `bytes`.
pub(super) fn front(bytes: &[u8]) -> Front<'_> {
    let mut end = 0;
    let number = loop {
        let head = bytes.get(end..).and_then(|rest| rest.first_chunk::<HEAD>());
        let Some([a, b, c, number]) = head else { return Front::Part };
        let length = u32::from_le_bytes([*a, *b, *c, 0]) as usize;
        end += HEAD + length;
        if end > ANSWER_MAX {
            return Front::TooLong;
        }
        if length < FULL {
            break *number;
        }
    };
    let Some(whole) = bytes.get(..end) else { return Front::Part };
    let body = match end <= HEAD + FULL {
        true => Cow::Borrowed(&whole[HEAD..]),
        false => whole.chunks(HEAD + FULL).flat_map(|packet| &packet[HEAD..]).copied().collect(),
    };
    Front::Packet(body, number, end)
}

/// Leaves room for the head of a packet whose body is to be appended; where it stands.
pub(super) fn begin(out: &mut Vec<u8>) -> usize {
    out.extend_from_slice(&[0; HEAD]);
    out.len() - HEAD
}

/// Writes the heads of what was begun `at`, from this number on; the number that is next.
pub(super) fn end(out: &mut Vec<u8>, mut at: usize, mut number: u8) -> u8 {
    loop {
        let length = (out.len() - at - HEAD).min(FULL);
        out[at..at + HEAD].copy_from_slice(&(length as u32 | u32::from(number) << 24).to_le_bytes());
        number = number.wrapping_add(1);
        if length < FULL {
            return number;
        }
        at += HEAD + FULL;
        out.splice(at..at, [0; HEAD]);
    }
}

/// A packet of its own.
pub(super) fn packet(number: u8, body: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(HEAD + body.len());
    let at = begin(&mut out);
    out.extend_from_slice(body);
    end(&mut out, at, number);
    out
}

/// Appends a count that says itself how many bytes it takes.
pub(super) fn count(out: &mut Vec<u8>, number: u64) {
    let bytes = number.to_le_bytes();
    match number {
        0..=0xfa => out.push(bytes[0]),
        0xfb..=0xffff => out.extend_from_slice(&[0xfc, bytes[0], bytes[1]]),
        0x1_0000..=0xff_ffff => out.extend_from_slice(&[0xfd, bytes[0], bytes[1], bytes[2]]),
        _ => {
            out.push(0xfe);
            out.extend_from_slice(&bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conversation::Fields;

    #[test]
    fn a_packet_is_there_when_all_of_it_is() {
        let bytes = packet(7, b"abc");
        assert_eq!(bytes, b"\x03\0\0\x07abc");
        for length in 0..bytes.len() {
            assert_eq!(front(&bytes[..length]), Front::Part);
        }
        assert_eq!(front(&[&bytes[..], b"more"].concat()), Front::Packet(Cow::Borrowed(b"abc"), 7, 7));
    }

    #[test]
    fn a_long_body_goes_on_in_the_next_packet_and_one_that_fills_its_last_ends_with_an_empty_one() {
        for (length, heads) in [(FULL - 1, 1), (FULL, 2), (FULL + 1, 2), (2 * FULL, 3)] {
            let body: Vec<u8> = (0..length).map(|at| at as u8).collect();
            let bytes = packet(255, &body);
            assert_eq!(bytes.len(), length + heads * HEAD);
            let last = (255 + heads - 1) as u8;
            assert_eq!(front(&bytes), Front::Packet(Cow::Borrowed(&body), last, bytes.len()));
            assert_eq!(front(&bytes[..bytes.len() - 1]), Front::Part);
        }
    }

    #[test]
    fn what_claims_to_be_longer_than_any_answer_is_seen_before_it_is_kept() {
        let full = [&b"\xff\xff\xff\0"[..], &vec![0; FULL]].concat();
        assert_eq!(front(&full.repeat(17)), Front::TooLong);
    }

    proptest::proptest! {
        #[test]
        fn a_count_comes_back(number: u64, shift in 0u32..64) {
            let mut out = Vec::new();
            count(&mut out, number >> shift);
            proptest::prop_assert_eq!(Fields(&out).count(), Some(number >> shift));
        }
    }
}
