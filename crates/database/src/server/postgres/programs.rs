//! The programs of an installed PostgreSQL, of which a system may have several versions.

use super::ENGINE;
use crate::DatabaseError;
use crate::server::program;
use std::path::{Path, PathBuf};
use std::process::Command;

const PACKAGE: &str = "postgresql";

/// The server, what makes its first files, and their version.
#[derive(Clone, Debug)]
pub(super) struct Programs {
    pub(super) server: PathBuf,
    pub(super) initdb: PathBuf,
    pub(super) version: String,
    pub(super) major: u32,
}

impl Programs {
    /// The newest that is installed; Debian and its kin keep them off the path.
    pub(super) fn find() -> Result<Programs, DatabaseError> {
        let missing = |program: &str| DatabaseError::MissingPackage {
            engine: ENGINE,
            program: program.to_owned(),
            package: PACKAGE,
        };
        let folders = folders();
        let server = program::find(&["postgres"], &folders).ok_or_else(|| missing("postgres"))?;
        // Both must be of one version.
        let beside = server.parent().map(Path::to_path_buf);
        let initdb = program::find(&["initdb"], beside.as_slice()).ok_or_else(|| missing("initdb"))?;
        let said = Command::new(&server).arg("--version").output();
        let said = said.map_err(|source| DatabaseError::file("run", &server, source))?;
        let words = String::from_utf8_lossy(&said.stdout).into_owned();
        let version = version(&words).ok_or_else(|| missing("postgres"))?;
        let major = major(&version);
        if major < 12 {
            let (place, needed) = (server.display().to_string(), "PostgreSQL 12 or newer".to_owned());
            return Err(DatabaseError::Version { place, needed, found: version });
        }
        Ok(Programs { server, initdb, version, major })
    }
}

impl Programs {
    /// Whether a library lies where packages put it beside the server.
    pub(super) fn has_library(&self, name: &str) -> bool {
        let Some(above) = self.server.parent().and_then(Path::parent) else { return false };
        let folders = ["lib", "lib64/pgsql", "lib/pgsql", "lib/postgresql", "lib64/postgresql"];
        folders.iter().any(|folder| above.join(folder).join(format!("{name}.so")).is_file())
    }
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

#[test]
fn the_version_is_read_from_what_the_server_says() {
    assert_eq!(version("postgres (PostgreSQL) 15.14 (Debian 15.14-0+deb12u1)\n"), Some("15.14".to_owned()));
    assert_eq!(version("postgres (PostgreSQL) 18beta1"), Some("18beta1".to_owned()));
    assert_eq!((version("what"), major("18beta1")), (None, 18));
}
