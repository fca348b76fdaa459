//! Where data sets and private servers are kept between runs.

use std::path::PathBuf;

/// The folder of the cache: `PRONY_CACHE`, else `prony` in the user's cache folder, else in the folder for temporary files.
pub fn folder() -> PathBuf {
    let named = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    named("PRONY_CACHE")
        .or_else(|| named("XDG_CACHE_HOME").map(|base| base.join("prony")))
        .or_else(|| named("HOME").map(|home| home.join(".cache/prony")))
        .unwrap_or_else(|| std::env::temp_dir().join("prony"))
}
