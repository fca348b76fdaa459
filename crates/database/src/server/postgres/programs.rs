//! The programs of an installed PostgreSQL, of which a system may have several versions.

use super::Postgres;
use crate::DatabaseError;
use crate::server::program;
use std::path::{Path, PathBuf};

/// The newest that is installed; Debian and its kin keep them off the path.
pub(super) fn find() -> Result<Postgres, DatabaseError> {
    let missing = program::missing::<Postgres>;
    let server = program::find(&["postgres"], &folders()).ok_or_else(|| missing("postgres"))?;
    // Both must be of one version.
    let beside = server.parent().map(Path::to_path_buf);
    let initdb = program::find(&["initdb"], beside.as_slice()).ok_or_else(|| missing("initdb"))?;
    let version = version(&program::says(&server, &["--version"])?).ok_or_else(|| missing("postgres"))?;
    let major = major(&version);
    if major < 12 {
        let (place, needed) = (server.display().to_string(), "PostgreSQL 12 or newer".to_owned());
        return Err(DatabaseError::Version { place, needed, found: version });
    }
    Ok(Postgres { server, initdb, version, major })
}

/// Folders of all versions, the newest first.
fn folders() -> Vec<PathBuf> {
    let inside = |folder: &str, prefix: &str, tail: &str| -> Vec<(u32, PathBuf)> {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let numbered = entries.filter_map(|entry| {
            let number = major(entry.file_name().to_str()?.strip_prefix(prefix)?);
            Some((number, entry.path().join(tail)))
        });
        numbered.filter(|(number, _)| *number > 0).collect()
    };
    let mut all = inside("/usr/lib/postgresql", "", "bin");
    all.extend(inside("/usr", "pgsql-", "bin"));
    all.sort_by(|a, b| b.cmp(a));
    all.into_iter().map(|(_, folder)| folder).collect()
}

/// `postgres (PostgreSQL) 15.14 (Debian ...)`.
fn version(words: &str) -> Option<String> {
    let number = words.split(") ").nth(1)?.split_whitespace().next()?;
    Some(number.to_owned()).filter(|number| major(number) > 0)
}

fn major(version: &str) -> u32 {
    version.split(|c: char| !c.is_ascii_digit()).next().and_then(|digits| digits.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_read_from_what_the_server_says() {
        assert_eq!(version("postgres (PostgreSQL) 15.14 (Debian 15.14-0+deb12u1)\n"), Some("15.14".to_owned()));
        assert_eq!(version("postgres (PostgreSQL) 18beta1"), Some("18beta1".to_owned()));
        assert_eq!((version("what"), major("18beta1")), (None, 18));
    }
}
