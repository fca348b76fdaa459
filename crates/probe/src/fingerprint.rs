//! Everything about the machine and the modules' storage that could change a number.
use std::path::Path;

use observation::Fact;

/// The facts, in order of key.
pub fn fingerprint<P: AsRef<Path>>(_modules: &[P]) -> Vec<Fact> {
    Vec::new()
}
