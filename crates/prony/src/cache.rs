//! Where data sets and private servers are kept between runs.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// The cache of root where the home folder is another user's, as `sudo` may leave it.
const OF_ROOT: &str = "/var/cache/prony";

/// The folder of the cache: `PRONY_CACHE`, else `prony` in the user's cache folder, else in the folder for temporary files.
pub fn folder() -> PathBuf {
    let named = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let home = named("HOME");
    if named("PRONY_CACHE").is_none() && home.as_deref().is_some_and(of_another_user) {
        return PathBuf::from(OF_ROOT);
    }
    named("PRONY_CACHE")
        .or_else(|| named("XDG_CACHE_HOME").map(|base| base.join("prony")))
        .or_else(|| home.map(|home| home.join(".cache/prony")))
        .unwrap_or_else(|| std::env::temp_dir().join("prony"))
}

fn of_another_user(home: &Path) -> bool {
    rustix::process::geteuid().is_root() && home.metadata().is_ok_and(|data| data.uid() != 0)
}
