//! What the tables of every data set are described with.
//!
//! What it does not do: it writes no SQL; every engine's dialect does.

/// Type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// A whole number of 64 bits.
    Int,
    /// A text of at most so many characters.
    Text(u16),
    /// A text without a stated bound, such as the body of an article.
    Long,
}

/// A column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its name.
    pub name: &'static str,
    /// What it holds.
    pub kind: Type,
    /// Whether it may be empty.
    pub null: bool,
}

/// A reference to the primary key of another table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reference {
    /// Columns here.
    pub columns: &'static [&'static str],
    /// The table that is referred to.
    pub table: &'static str,
}
