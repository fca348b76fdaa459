//! Where the folder of a private server lies, so that the user as whom it runs can get to it.
//!
//! The one idea: root's own cache folder bars everybody else, and in one of another user he could put something else in the
//! place of what root makes; so a server that runs as somebody else lies in the system's cache folder then, under a name that
//! says whose cache it belongs to.

use super::owner::Owner;
use crate::DatabaseError;
use std::path::{Path, PathBuf};

/// The cache folder of the system, for what root's own folder cannot hold.
const SYSTEM: &str = "/var/cache/prony";

/// The folder of a server of this name that belongs to a cache folder.
pub(super) fn folder(cache: &Path, name: &str, owner: &Owner) -> Result<PathBuf, DatabaseError> {
    let cache = std::path::absolute(cache).map_err(|source| DatabaseError::file("find", cache, source))?;
    let near = cache.join(name);
    let unfit = owner.barred(&near).is_some() || owner.unsafe_above(&near).is_some();
    Ok(if unfit { Path::new(SYSTEM).join(flat(&cache)).join(name) } else { near })
}

/// A path as one name.
fn flat(path: &Path) -> String {
    let words: Vec<_> = path.iter().skip(1).map(|word| word.to_string_lossy()).collect();
    words.join("-")
}

#[test]
fn a_path_becomes_one_name() {
    assert_eq!(flat(Path::new("/var/lib/a b/prony")), "var-lib-a b-prony");
}
