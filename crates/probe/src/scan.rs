//! Numbers out of the kernel's small texts.
//!
//! The formats are lines of words; a kernel may add lines and fields at any time, so everything is looked up by name or
//! by a position that the kernel's documentation fixes, and what is missing is none.

/// The whole numbers of a text, in order; a word that is none is left out.
pub fn numbers(text: &str) -> impl Iterator<Item = u64> + '_ {
    text.split_ascii_whitespace().filter_map(|word| word.parse().ok())
}

/// The number behind a name at the start of a line: `Dirty:   44 kB` gives 44.
pub fn after(text: &str, name: &str) -> Option<u64> {
    text.lines().find_map(|line| numbers(line.strip_prefix(name)?).next())
}

/// The number behind `key=` on a line.
pub fn keyed(line: &str, key: &str) -> Option<u64> {
    line.split_ascii_whitespace().find_map(|word| word.strip_prefix(key)?.strip_prefix('=')?.parse().ok())
}
