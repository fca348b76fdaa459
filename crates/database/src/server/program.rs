//! Finds programs of installed packages.

use super::kind::ServerKind;
use crate::DatabaseError;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Folders that hold servers and are often missing from the path of a user.
const FOLDERS: &[&str] = &["/usr/sbin", "/usr/local/sbin", "/usr/local/bin", "/usr/libexec", "/usr/bin"];

/// The first of these programs that is found: first in the given folders, then on the path, then where servers usually are.
pub(super) fn find(names: &[&str], folders: &[PathBuf]) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let all: Vec<PathBuf> =
        folders.iter().cloned().chain(std::env::split_paths(&path)).chain(FOLDERS.iter().map(PathBuf::from)).collect();
    names.iter().find_map(|name| all.iter().map(|folder| folder.join(name)).find(|file| executable(file)))
}

/// A program of an engine's package that is not there.
pub(super) fn missing<K: ServerKind>(program: &str) -> DatabaseError {
    DatabaseError::MissingPackage { engine: K::ENGINE, program: program.to_owned(), package: K::PACKAGE }
}

/// What a program says when it is started with these words.
pub(super) fn says(program: &Path, words: &[&str]) -> Result<String, DatabaseError> {
    let said = Command::new(program).args(words).output();
    let said = said.map_err(|source| DatabaseError::file("run", program, source))?;
    Ok(String::from_utf8_lossy(&said.stdout).into_owned())
}

fn executable(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(file).is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_found_by_the_first_of_its_names_that_exists() {
        let found = find(&["no-such-program-anywhere", "sh"], &[]);
        assert!(found.is_some_and(|file| file.ends_with("sh")));
        assert_eq!(find(&["no-such-program-anywhere"], &[PathBuf::from("/usr/bin")]), None);
        // A file that may not be carried out is no program.
        assert_eq!(find(&["passwd-"], &[PathBuf::from("/etc")]), None);
    }
}
