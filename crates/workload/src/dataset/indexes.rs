//! How many indexes the tables of a data set have beside their keys.

/// Indexes beside keys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Indexes {
    /// None.
    Few,
    /// Those that a user would make.
    #[default]
    Usual,
    /// Further ones, which reports and searches would like.
    More,
}

impl Indexes {
    /// The words in studies and marks.
    pub const WORDS: &'static [(&'static str, Indexes)] =
        &[("few", Indexes::Few), ("usual", Indexes::Usual), ("more", Indexes::More)];

    /// The word of this one.
    pub fn word(self) -> &'static str {
        Indexes::WORDS.iter().find(|(_, indexes)| *indexes == self).map_or("", |(word, _)| word)
    }

    /// The one of a word.
    pub fn of_word(word: &str) -> Option<Indexes> {
        Indexes::WORDS.iter().find(|(known, _)| *known == word).map(|(_, indexes)| *indexes)
    }
}
