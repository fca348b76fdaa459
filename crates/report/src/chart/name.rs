//! Names of rows as lines: whole where there is room, on two lines where there is less, and beyond that without what is equal.

use super::{ELLIPSIS, fitted, text_width};

/// A name as it is shown.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Name {
    pub(super) first: String,
    /// None where the first line holds all of it.
    pub(super) second: Option<String>,
}

/// Each name on one or two lines that fit in `room`. Of a longer one its two ends stand; where that makes names alike, the second line is
/// what tells them apart.
pub(super) fn shown(names: &[String], room: f64) -> Vec<Name> {
    let all: Vec<Name> = names.iter().map(|name| two(name, room)).collect();
    let one = |(at, name): (usize, &String)| {
        let alike = names.iter().zip(&all).filter(|(other, like)| *other != name && **like == all[at]);
        let differs = alike.map(|(other, _)| differs_at(name, other)).min();
        let second = differs.map(|differs| from(name, differs, room)).or_else(|| all[at].second.clone());
        Name { first: all[at].first.clone(), second }
    };
    names.iter().enumerate().map(one).collect()
}

/// A name by itself, on two lines where one does not hold it.
fn two(name: &str, room: f64) -> Name {
    if text_width(name) <= room {
        return Name { first: name.to_owned(), second: None };
    }
    let ends = |end: &usize| text_width(name[..*end].trim_end()) <= room;
    let spaces = name.match_indices(' ').map(|(at, _)| at + 1).take_while(ends).last();
    // A word that is longer than the line is broken.
    let letters = || name.char_indices().map(|(at, _)| at).skip(1).take_while(ends).last();
    let (first, rest) = name.split_at(spaces.or_else(letters).unwrap_or_default());
    let second = if text_width(rest) <= room { rest.to_owned() } else { tail(rest, room) };
    Name { first: first.trim_end().to_owned(), second: Some(second) }
}

/// The end of a name, from the beginning of a word where one fits.
fn tail(name: &str, room: f64) -> String {
    let fits = |at: &usize| text_width(&name[*at..]) + ELLIPSIS <= room;
    let word = name.match_indices(' ').map(|(at, _)| at + 1).find(fits);
    let start = word.or_else(|| name.char_indices().map(|(at, _)| at).find(fits)).unwrap_or(name.len());
    format!("…{}", &name[start..])
}

/// The first byte at which two names differ.
fn differs_at(name: &str, other: &str) -> usize {
    let mut both = name.char_indices().zip(other.chars());
    both.find(|((_, c), d)| c != d).map_or(name.len().min(other.len()), |((at, _), _)| at)
}

/// A name from the word in which it differs, or from the letter where that word is long.
fn from(name: &str, differs: usize, room: f64) -> String {
    let word = name[..differs].rfind(' ').map_or(0, |at| at + 1);
    let start = if text_width(&name[word..differs]) < room / 2.0 { word } else { differs };
    format!("…{}", fitted(&name[start..], room - ELLIPSIS))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(name: &Name) -> impl Iterator<Item = &str> {
        [name.first.as_str()].into_iter().chain(name.second.as_deref())
    }

    fn all(names: &[&str], room: f64) -> Vec<Name> {
        shown(&names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>(), room)
    }

    #[test]
    fn a_name_is_whole_as_long_as_it_fits_and_breaks_between_words() {
        let alone = |name: &str, room: f64| lines(&all(&[name], room)[0]).map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(alone("plain", 200.0), ["plain"]);
        assert_eq!(alone("capacity=5MB/s aggressor=50MB/s", 150.0), ["capacity=5MB/s", "aggressor=50MB/s"]);
    }

    #[test]
    fn names_that_are_cut_stay_apart_at_their_start_middle_and_end() {
        let names = [
            "capacity=5MB/s aggressor=50MB/s share=10% tls=on window=64KiB",
            "capacity=5MB/s aggressor=50MB/s share=50% tls=on window=64KiB",
            "capacity=5MB/s aggressor=50MB/s share=90% tls=on window=64KiB",
            "capacity=9MB/s aggressor=50MB/s share=90% tls=on window=64KiB",
            "capacity=9MB/s aggressor=50MB/s share=90% tls=on window=16KiB",
        ];
        let all = all(&names, 130.0);
        assert_eq!(all.iter().collect::<std::collections::BTreeSet<_>>().len(), names.len(), "{all:?}");
        assert!(all[1].second.as_ref().is_some_and(|second| second.contains("share=50%")), "{all:?}");
        for line in all.iter().flat_map(lines) {
            assert!(text_width(line) <= 130.0, "{line}");
        }
    }

    proptest::proptest! {
        /// Whatever a name is, no line of it is wider than its room.
        #[test]
        fn no_line_of_a_name_is_wider_than_its_room(names in proptest::collection::vec("\\PC{0,90}", 1..5), room in 60.0f64..400.0) {
            for name in shown(&names, room) {
                proptest::prop_assert!(lines(&name).all(|line| text_width(line) <= room), "{:?} {}", name, room);
            }
        }
    }
}
