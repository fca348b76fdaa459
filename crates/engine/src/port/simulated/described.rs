//! A model file, as it was handed in by whoever may open files.

use observation::Fact;
use sha2::{Digest as _, Sha256};
use std::fmt::Write as _;

/// A model file, read.
#[derive(Clone, Debug, PartialEq)]
pub struct Described {
    /// What it describes.
    pub description: model::file::Description,
    /// Its text, for the fingerprint.
    pub text: String,
}

impl Described {
    /// Everything of it that could change a number: the hash of its text, and each number with its origin.
    pub(crate) fn fingerprint(&self) -> Vec<Fact> {
        let fact = |key: String, value: String| Fact { key, value, private: false };
        let described = &self.description;
        let mut facts = vec![
            fact("model.name".to_owned(), described.name.clone()),
            fact("model.title".to_owned(), described.title.clone()),
            fact("model.kind".to_owned(), described.kind.word().to_owned()),
            fact("model.sha256".to_owned(), self.hash()),
        ];
        facts.extend(described.parameters.iter().map(|parameter| {
            let value = format!("{} {}; {}", parameter.value, parameter.unit, parameter.origin.text());
            fact(format!("model.parameter.{}", parameter.name), value)
        }));
        facts
    }

    /// SHA-256 of the text, in hexadecimal.
    pub fn hash(&self) -> String {
        Sha256::digest(self.text.as_bytes()).iter().fold(String::new(), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        })
    }
}
