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
}
