//! Scripted nodes.
