//! The programs of an installed MariaDB or MySQL.

use super::Mariadb;
use crate::DatabaseError;
use crate::server::program;

pub(super) fn find() -> Result<Mariadb, DatabaseError> {
    let missing = program::missing::<Mariadb>;
    let server = program::find(&["mariadbd", "mysqld"], &[]).ok_or_else(|| missing("mariadbd"))?;
    let words = program::says(&server, &["--no-defaults", "--version"])?;
    let version = version(&words).ok_or_else(|| missing("mariadbd"))?;
    let maria = words.contains("MariaDB");
    let install = program::find(&["mariadb-install-db", "mysql_install_db"], &[]).filter(|_| maria);
    if maria && install.is_none() {
        return Err(missing("mariadb-install-db"));
    }
    Ok(Mariadb { server, install, version })
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
