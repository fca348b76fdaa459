//! Files that people write, read with line and column: studies and descriptions of machines.
//!
//! The one idea: a text becomes a tree in which every key and value knows its place, whoever reads it takes out what they
//! know, and all problems are told at once.
//!
//! What it does not do: it opens no file and knows no key.

mod problem;
mod reader;

pub use problem::{Origin, Problem, Problems, did_you_mean, listed};
pub use reader::{Entry, Form, Node, Placed, Section, read};
