//! Names of rows as lines: whole where there is room, on two lines where there is less, and beyond that without what is equal.

use super::{ELLIPSIS, fitted, text_width};

/// Each name on one or two lines that fit in `room`, the lines divided by `\n`. Of a longer one its two ends stand; where that makes names
/// alike, the second line is what tells them apart.
pub(super) fn lines(names: &[String], room: f64) -> Vec<String> {
    let shown: Vec<(String, String)> = names.iter().map(|name| two(name, room)).collect();
    let one = |(at, name): (usize, &String)| {
        let alike = names.iter().zip(&shown).filter(|(other, like)| *other != name && **like == shown[at]);
        let (first, second) = match alike.map(|(other, _)| differs_at(name, other)).min() {
            Some(differs) => (&shown[at].0, from(name, differs, room)),
            None => (&shown[at].0, shown[at].1.clone()),
        };
        if second.is_empty() { first.clone() } else { format!("{first}\n{second}") }
    };
    names.iter().enumerate().map(one).collect()
}

/// A name on two lines, the second empty where the first holds all of it.
fn two(name: &str, room: f64) -> (String, String) {
    if text_width(name) <= room {
        return (name.to_owned(), String::new());
    }
    let ends = |end: &usize| text_width(name[..*end].trim_end()) <= room;
    let spaces = name.match_indices(' ').map(|(at, _)| at + 1).take_while(ends).last();
    // A word that is longer than the line is broken.
    let letters = || name.char_indices().map(|(at, _)| at).skip(1).take_while(ends).last();
    let (first, rest) = name.split_at(spaces.or_else(letters).unwrap_or_default());
    if text_width(rest) <= room {
        return (first.trim_end().to_owned(), rest.to_owned());
    }
    let fits = |at: &usize| text_width(&rest[*at..]) + ELLIPSIS <= room;
    let word = rest.match_indices(' ').map(|(at, _)| at + 1).find(fits);
    let tail = word.or_else(|| rest.char_indices().map(|(at, _)| at).find(fits)).unwrap_or(rest.len());
    (first.trim_end().to_owned(), format!("…{}", &rest[tail..]))
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

    fn shown(names: &[&str], room: f64) -> Vec<String> {
        lines(&names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>(), room)
    }

    #[test]
    fn a_name_is_whole_as_long_as_it_fits_and_breaks_between_words() {
        assert_eq!(shown(&["plain"], 200.0), ["plain"]);
        assert_eq!(shown(&["capacity=5MB/s aggressor=50MB/s"], 150.0), ["capacity=5MB/s\naggressor=50MB/s"]);
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
        let all = shown(&names, 130.0);
        assert_eq!(all.iter().collect::<std::collections::BTreeSet<_>>().len(), names.len(), "{all:?}");
        assert!(all[1].contains("share=50%") && all[2].contains("share=90%"), "{all:?}");
        for line in all.iter().flat_map(|name| name.lines()) {
            assert!(text_width(line) <= 130.0, "{line}");
        }
    }

    proptest::proptest! {
        /// Whatever a name is, it takes two lines at most, and none is wider than its room.
        #[test]
        fn no_line_of_a_name_is_wider_than_its_room(names in proptest::collection::vec("\\PC{0,90}", 1..5), room in 60.0f64..400.0) {
            for name in lines(&names, room) {
                let parts: Vec<&str> = name.split('\n').collect();
                proptest::prop_assert!(parts.len() <= 2 && parts.iter().all(|line| text_width(line) <= room), "{:?} {}", parts, room);
            }
        }
    }
}
