//! Where the folder of a private server lies, so that the user as whom it runs can get to it.
//!
//! The one idea: root's own cache folder bars everybody else, and in one of another user he could put something else in the
//! place of what root makes; so a server that runs as somebody else lies in the system's cache folder then, under a name that
//! says whose cache it belongs to.

use super::owner::Owner;
use crate::DatabaseError;
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
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

/// A path as one name that no other path has: what joins folders stands in none of their names without a sign before it.
fn flat(path: &Path) -> OsString {
    let mut name = Vec::new();
    for (at, word) in path.iter().skip(1).enumerate() {
        name.extend((at > 0).then_some(b'-'));
        for byte in word.as_bytes() {
            name.extend(matches!(byte, b'-' | b'_').then_some(b'_'));
            name.push(*byte);
        }
    }
    OsString::from_vec(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_becomes_one_name_that_no_other_path_has() {
        assert_eq!(flat(Path::new("/var/lib/a b/prony")), "var-lib-a b-prony");
        let paths = ["/ww/x", "/ww-x", "/ww_/x", "/ww/_x", "/ww_-x", "/ww-_x", "/ww/-x", "/ww-/x", "/ww--x", "/ww__x"];
        let names: std::collections::BTreeSet<_> = paths.iter().map(|path| flat(Path::new(path))).collect();
        assert_eq!(names.len(), paths.len(), "{names:?}");
    }
}
