//! What a study says about scripts.

/// A script and how often it is drawn.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Script {
    /// What reports call it: a file's name, or a built-in one.
    pub name: String,
    /// Its text, in the script language of pgbench.
    pub text: String,
    /// How often it is drawn, beside the weights of the others. Zero: never.
    pub weight: u32,
}

/// The workload.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Spec {
    /// The scripts; each is a class of its own.
    pub scripts: Vec<Script>,
    /// Variables that are defined before (`-D`), with their texts.
    pub define: Vec<(String, String)>,
    /// What `:scale` gives.
    pub scale: u32,
    /// Whether sessions speak the simple protocol, so that values are spliced into the text (see
    /// [`splice`](super::splice)) rather than sent beside it.
    pub textual: bool,
    /// What bare BEGIN, COMMIT and ROLLBACK are.
    pub bounds: Bounds,
}

/// What statements become that do nothing but begin or end a transaction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Bounds {
    /// Statements like all others, in the user's own words.
    #[default]
    Statements,
    /// Calls that the session knows as such: it can queue writers of an engine that has one at a time, and it knows when
    /// a commit is under way.
    Calls,
}
