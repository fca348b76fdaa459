//! Scripts as a whole.
