//! Incoming bytes as messages: one letter, a length, a body.

use crate::session::ANSWER_MAX;

/// One message, still where it was received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Message<'a> {
    /// Its letter.
    pub(crate) tag: u8,
    /// What it says.
    pub(crate) body: &'a [u8],
}

/// What stands at the beginning of some bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Front<'a> {
    /// A message, and how many bytes it takes.
    Message(Message<'a>, usize),
    /// The beginning of one.
    Part,
    /// No message can begin like this.
    Garbage,
}

/// What stands at the beginning of `bytes`.
pub(crate) fn front(bytes: &[u8]) -> Front<'_> {
    let [tag, a, b, c, d, ..] = *bytes else { return Front::Part };
    let length = i32::from_be_bytes([a, b, c, d]);
    // The length counts itself.
    if !(4..=ANSWER_MAX as i32).contains(&length) || !tag.is_ascii_graphic() {
        return Front::Garbage;
    }
    let total = length as usize + 1;
    match bytes.get(5..total) {
        Some(body) => Front::Message(Message { tag, body }, total),
        None => Front::Part,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_there_when_all_of_it_is() {
        let bytes = b"Z\0\0\0\x05IE";
        for length in 0..6 {
            assert_eq!(front(&bytes[..length]), Front::Part);
        }
        assert_eq!(front(bytes), Front::Message(Message { tag: b'Z', body: b"I" }, 6));
    }

    #[test]
    fn what_is_no_message_is_seen() {
        assert_eq!(front(b"Z\0\0\0\x03I"), Front::Garbage);
        assert_eq!(front(b"Z\xff\0\0\x05I"), Front::Garbage);
        assert_eq!(front(b"\0\0\0\0\x05I"), Front::Garbage);
    }
}
