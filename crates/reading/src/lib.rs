//! Files that people write, read with line and column: studies and descriptions of machines; and the keys that they may set.
//!
//! The one idea: a text becomes a tree in which every key and value knows its place, whoever reads it takes out what they
//! know, and all problems are told at once.
//!
//! What it does not do: it opens no file, and the keys themselves are declared by the rooms that they belong to.

pub mod key;
mod problem;
mod reader;

pub use key::{AnyKey, Domain, Follows, Is, Key, Settings};
pub use problem::{Origin, Problem, Problems, did_you_mean, known_names, listed, nearest};
pub use reader::{Entry, Form, Node, Placed, Section, read, rewritten};
