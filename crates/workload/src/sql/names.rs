//! The names of variables, each with its number.
//!
//! The one idea: a name is looked up when a script is read and never again.

use std::collections::{BTreeSet, HashMap};

/// Names in the order of their numbers.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Names {
    list: Vec<String>,
    numbers: HashMap<String, u16>,
}

impl Names {
    /// The number of a name, a new one if need be. None when there are 65,536 names already.
    pub(super) fn number(&mut self, name: &str) -> Option<u16> {
        if let Some(number) = self.numbers.get(name) {
            return Some(*number);
        }
        let number = u16::try_from(self.list.len()).ok()?;
        self.list.push(name.to_owned());
        self.numbers.insert(name.to_owned(), number);
        Some(number)
    }

    /// The number of a name that is known.
    pub(super) fn find(&self, name: &str) -> Option<u16> {
        self.numbers.get(name).copied()
    }

    pub(super) fn name(&self, number: u16) -> &str {
        self.list.get(usize::from(number)).map_or("", String::as_str)
    }

    /// The numbers of all names that begin with one of these.
    pub(super) fn beginning_with<'a>(&self, prefixes: impl IntoIterator<Item = &'a str>) -> BTreeSet<u16> {
        let prefixes: BTreeSet<&str> = prefixes.into_iter().collect();
        if prefixes.is_empty() {
            return BTreeSet::new();
        }
        let mut sorted: Vec<(&str, u16)> = (0..=u16::MAX).zip(&self.list).map(|(n, name)| (name.as_str(), n)).collect();
        sorted.sort_unstable();
        let from = |prefix: &str| sorted.partition_point(|(name, _)| *name < prefix);
        let fitting = prefixes.iter().flat_map(|prefix| {
            sorted[from(prefix)..]
                .iter()
                .take_while(move |(name, _)| name.starts_with(*prefix))
                .map(|(_, number)| *number)
        });
        fitting.collect()
    }

    pub(super) fn len(&self) -> usize {
        self.list.len()
    }
}

/// Whether a variable may be called so: letters, digits and underscores, no digit first. Everything beyond ASCII is a
/// letter.
pub(super) fn is_name(name: &str) -> bool {
    name.bytes().next().is_some_and(begins_name) && name.bytes().all(continues_name)
}

pub(super) fn begins_name(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_' || byte >= 0x80
}

pub(super) fn continues_name(byte: u8) -> bool {
    begins_name(byte) || byte.is_ascii_digit()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_no_digit_first_and_no_sign() {
        for name in ["a", "_1", "ä", "a1_B"] {
            assert!(is_name(name), "{name}");
        }
        for name in ["", "1a", "a-b", "?column?", "a b"] {
            assert!(!is_name(name), "{name}");
        }
    }
}
