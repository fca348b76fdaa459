//! Reads numbers and texts from the body of a message, with nothing when it is too short.

/// The rest of a body.
#[derive(Clone)]
pub(crate) struct Fields<'a>(pub(crate) &'a [u8]);

impl<'a> Fields<'a> {
    pub(crate) fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    pub(crate) fn i16(&mut self) -> Option<i16> {
        self.take(2).and_then(|bytes| bytes.try_into().ok()).map(i16::from_be_bytes)
    }

    pub(crate) fn i32(&mut self) -> Option<i32> {
        self.take(4).and_then(|bytes| bytes.try_into().ok()).map(i32::from_be_bytes)
    }

    pub(crate) fn u8(&mut self) -> Option<u8> {
        self.take(1).map(|bytes| bytes[0])
    }

    /// A text up to its zero byte.
    pub(crate) fn text(&mut self) -> Option<&'a [u8]> {
        let end = self.0.iter().position(|byte| *byte == 0)?;
        let text = self.take(end)?;
        self.take(1)?;
        Some(text)
    }

    /// A number of so many bytes, eight at most, the lowest first.
    pub(crate) fn little(&mut self, bytes: usize) -> Option<u64> {
        self.take(bytes).map(|bytes| bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }

    /// A number that says itself how many bytes it takes; nothing for the mark of a null.
    pub(crate) fn count(&mut self) -> Option<u64> {
        match self.u8()? {
            small @ 0..=0xfa => Some(u64::from(small)),
            0xfc => self.little(2),
            0xfd => self.little(3),
            0xfe => self.little(8),
            _ => None,
        }
    }

    /// Bytes behind their count.
    pub(crate) fn counted(&mut self) -> Option<&'a [u8]> {
        let count = self.count()?;
        self.take(usize::try_from(count).ok()?)
    }
}
