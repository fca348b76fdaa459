//! What may be set: keys with their names, what each holds, and what it is when nobody sets it.
//!
//! The one idea: a key is a value of its own type, and whoever asks for it is answered in that type. One list of keys serves
//! the reader of a file, `--set`, factors and the reference page, so that the four cannot disagree; a key that nobody asks
//! for, or a choice without a value, does not compile.
//!
//! What it does not do: it resolves nothing; which of several settings wins is decided by whoever expands them.

mod domain;

pub use domain::{Choice, Count, CountOr, Domain, Flag, Rate, Span, Text};

use crate::Entry;
use std::fmt;

/// A key whose value is of its domain's type.
pub struct Key<F, D = Is> {
    /// Its name, as in the file and in `--set`.
    pub name: &'static str,
    /// What it holds, with its limits.
    pub domain: F,
    /// What it is when nobody sets it.
    pub default: D,
    /// One sentence for the reference page.
    pub help: &'static str,
}

/// A default, in the words of the file.
#[derive(Clone, Copy, Debug)]
pub struct Is(pub &'static str);

/// There is no fixed default: a text in brackets says what it follows from.
#[derive(Clone, Copy, Debug)]
pub struct Follows(pub &'static str);

/// What stands in the place of a value that nobody set.
pub trait Default: Sync {
    /// As the reference page shows it.
    fn text(&self) -> &'static str;
}

impl Default for Is {
    fn text(&self) -> &'static str {
        self.0
    }
}

impl Default for Follows {
    fn text(&self) -> &'static str {
        self.0
    }
}

impl<F: Domain, D> Key<F, D> {
    /// The value in a text that was checked before.
    ///
    /// # Panics
    /// When the text was never checked.
    pub fn value(&self, checked: &str) -> F::Value {
        self.domain.read(checked.trim()).unwrap_or_else(|refused| panic!("`{}`: {refused}", self.name))
    }
}

impl<F: Domain> Key<F, Is> {
    /// What it is when nobody sets it.
    pub fn by_default(&self) -> F::Value {
        self.value(self.default.0)
    }
}

/// A key, whatever it holds.
pub trait AnyKey: Sync {
    /// Its name, as in the file and in `--set`.
    fn name(&self) -> &'static str;

    /// What it is when nobody sets it, in the words of the file; a text in brackets says what it follows from.
    fn default(&self) -> &'static str;

    /// One sentence for the reference page.
    fn help(&self) -> &'static str;

    /// What may be written, in words.
    fn allowed(&self) -> String;

    /// Checks a text; the answer is its number in base units, where it has one.
    ///
    /// # Errors
    /// The limit, then the value that was given.
    fn check(&self, text: &str) -> Result<Option<f64>, String>;

    /// Whether two checked texts say the same.
    fn same(&self, a: &str, b: &str) -> bool;

    /// The text of a value that was spelled out as a table; none where the key takes no table.
    ///
    /// # Errors
    /// The form that the table should have.
    fn spelled(&self, entries: &[Entry]) -> Option<Result<String, String>>;
}

impl<F: Domain, D: Default> AnyKey for Key<F, D> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn default(&self) -> &'static str {
        self.default.text()
    }

    fn help(&self) -> &'static str {
        self.help
    }

    fn allowed(&self) -> String {
        self.domain.allowed()
    }

    fn check(&self, text: &str) -> Result<Option<f64>, String> {
        self.domain.read(text.trim()).map(|value| self.domain.number(&value))
    }

    fn same(&self, a: &str, b: &str) -> bool {
        matches!((self.domain.read(a.trim()), self.domain.read(b.trim())), (Ok(a), Ok(b)) if a == b)
    }

    fn spelled(&self, entries: &[Entry]) -> Option<Result<String, String>> {
        self.domain.spelled(entries)
    }
}

impl fmt::Debug for dyn AnyKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl PartialEq for dyn AnyKey {
    fn eq(&self, other: &dyn AnyKey) -> bool {
        self.name() == other.name()
    }
}

/// The settings that hold for one stream, by key.
pub trait Settings {
    /// The text of a key as somebody set it; none when nobody did.
    fn text(&self, key: &dyn AnyKey) -> Option<&str>;

    /// The largest number of a key among all that will be tried beside this one; none when it is always the default.
    fn most(&self, key: &dyn AnyKey) -> Option<f64>;

    /// Notes a problem with the value of a key.
    fn refuse(&mut self, key: &dyn AnyKey, message: String);
}

impl dyn Settings + '_ {
    /// The value of a key, or its default.
    pub fn get<F: Domain>(&self, key: &Key<F, Is>) -> F::Value {
        self.text(key).map_or_else(|| key.by_default(), |text| key.value(text))
    }

    /// The value of a key when somebody set it.
    pub fn given<F: Domain, D: Default>(&self, key: &Key<F, D>) -> Option<F::Value> {
        self.text(key).map(|text| key.value(text))
    }
}

/// Declares keys, and the list of them in the order of the reference page, which takes the documentation of each as its help:
///
/// ```text
/// keys! {
///     /// Keys of file work.
///     pub KEYS;
///     /// How many copies of the loop run at once.
///     WIDTH "width": Count = Count { min: 1, max: 4096 }, Is("1");
/// }
/// ```
///
/// A key that is declared elsewhere is only named: `ROWS;`.
#[macro_export]
macro_rules! keys {
    ($(#[$about:meta])* $seen:vis $list:ident;
     $($(#[doc = $help:literal])* $key:ident $($name:literal: $domain:ty = $value:expr, $default:ident($text:expr))?;)*) => {
        $($crate::key! { $(#[doc = $help])* $seen $key $($name: $domain = $value, $default($text))? })*
        $(#[$about])*
        $seen static $list: &[&dyn $crate::AnyKey] = &[$(&$key),*];
    };
}

/// Declares one key, for several lists.
#[macro_export]
macro_rules! key {
    ($(#[doc = $help:literal])* $seen:vis $key:ident $name:literal: $domain:ty = $value:expr, $default:ident($text:expr)) => {
        $(#[doc = $help])*
        $seen static $key: $crate::Key<$domain, $crate::$default> = $crate::Key {
            name: $name,
            domain: $value,
            default: $crate::$default($text),
            help: concat!($($help),*).trim_ascii(),
        };
    };
    // One that is declared elsewhere.
    ($seen:vis $key:ident) => {};
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Copy, Debug, PartialEq)]
    enum Order {
        Up,
        Down,
    }

    keys! {
        /// Keys of a test.
        KEYS;
        /// Which way.
        ORDER "order": Choice<Order> = Choice(&[("up", Order::Up), ("down", Order::Down)]), Is("up");
        /// How many.
        MODULES "modules": Count = Count { min: 1, max: 1024 }, Follows("(all)");
    }

    #[test]
    fn a_key_answers_in_its_own_type_and_a_word_stands_beside_its_value() {
        assert_eq!((ORDER.value("down"), ORDER.by_default()), (Order::Down, Order::Up));
        assert_eq!(ORDER.check("sideways").unwrap_err(), "one of `up`, `down`, got `sideways`");
        assert_eq!(MODULES.value("7"), 7);
    }

    #[test]
    fn a_refusal_states_the_range_and_the_value() {
        let known: Vec<&str> = KEYS.iter().map(|key| key.name()).collect();
        assert_eq!(known, ["order", "modules"]);
        assert_eq!(KEYS[1].check("0").unwrap_err(), "a whole number from 1 to 1024, got `0`");
        assert_eq!(KEYS[1].check(" 12 "), Ok(Some(12.0)));
        assert!(KEYS[1].same("7", " 7 ") && !KEYS[1].same("1", "2"));
    }
}
