//! The programs of an installed MariaDB or MySQL.

use super::ENGINE;
use crate::DatabaseError;
use crate::server::program;
use std::path::PathBuf;
use std::process::Command;

const PACKAGE: &str = "mariadb-server";

/// The server, what makes its first files, and their version.
#[derive(Clone, Debug)]
pub(super) struct Programs {
    pub(super) server: PathBuf,
    /// What makes the first files; MySQL's server does that itself.
    pub(super) install: Option<PathBuf>,
    pub(super) version: String,
}

impl Programs {
    pub(super) fn find() -> Result<Programs, DatabaseError> {
        let missing = |program: &str| DatabaseError::MissingPackage {
            engine: ENGINE,
            program: program.to_owned(),
            package: PACKAGE,
        };
        let server = program::find(&["mariadbd", "mysqld"], &[]).ok_or_else(|| missing("mariadbd"))?;
        let said = Command::new(&server).args(["--no-defaults", "--version"]).output();
        let said = said.map_err(|source| DatabaseError::file("run", &server, source))?;
        let words = String::from_utf8_lossy(&said.stdout).into_owned();
        let version = version(&words).ok_or_else(|| missing("mariadbd"))?;
        let maria = words.contains("MariaDB");
        let install = program::find(&["mariadb-install-db", "mysql_install_db"], &[]).filter(|_| maria);
        if maria && install.is_none() {
            return Err(missing("mariadb-install-db"));
        }
        Ok(Programs { server, install, version })
    }
}

/// The number behind `Ver`, such as 10.11.19.
fn version(words: &str) -> Option<String> {
    let rest = words.split("Ver ").nth(1)?;
    let number: String = rest.chars().take_while(|c| c.is_ascii_digit() || *c == '.').collect();
    Some(number).filter(|number| number.contains('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_stands_behind_its_word() {
        assert_eq!(version("mariadbd  Ver 10.11.19-MariaDB-0+deb12u1 for debian"), Some("10.11.19".to_owned()));
        assert_eq!(version("/usr/sbin/mysqld  Ver 8.0.36-0ubuntu for Linux"), Some("8.0.36".to_owned()));
        assert_eq!(version("what"), None);
    }
}
