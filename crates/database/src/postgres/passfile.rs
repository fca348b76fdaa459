//! A file of passwords as PostgreSQL's own clients read it: `HOST:PORT:DATABASE:USER:PASSWORD` a line, `*` for any.

use super::address::{Connect, Host};
use crate::DatabaseError;
use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

/// The password of the first line that fits.
///
/// # Errors
/// When the file is there and others may read it too, or it cannot be read. One that is not there holds no password.
pub(super) fn password(file: &Path, connect: &Connect) -> Result<Option<String>, DatabaseError> {
    let failed = |source| DatabaseError::file("read", file, source);
    let mut opened = match std::fs::File::open(file) {
        Err(source) if source.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        opened => opened.map_err(failed)?,
    };
    let data = opened.metadata().map_err(failed)?;
    if data.is_file() && data.permissions().mode() & 0o077 != 0 {
        let open = "others may read the passwords in it; take it from them with chmod 600";
        return Err(failed(std::io::Error::other(open)));
    }
    let mut text = String::new();
    opened.read_to_string(&mut text).map_err(failed)?;
    Ok(text.lines().find_map(|line| fitting(line, connect)))
}

fn fitting(line: &str, connect: &Connect) -> Option<String> {
    if line.starts_with('#') {
        return None;
    }
    let fields = fields(line);
    let [host, port, database, user, password] = fields.as_slice() else { return None };
    let here = match &connect.host {
        Host::Name(name) => name.clone(),
        Host::Socket(folder) => folder.display().to_string(),
    };
    let socket = matches!(connect.host, Host::Socket(_)) && host == "localhost";
    let fits = |field: &str, value: &str| field == "*" || field == value;
    let all = (socket || fits(host, &here))
        && fits(port, &connect.port.to_string())
        && fits(database, &connect.database)
        && fits(user, &connect.user);
    all.then(|| password.clone())
}

/// The five fields of a line; a backslash takes the meaning from the letter behind it. The last goes to the end of the line.
fn fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        match letter {
            ':' if fields.len() < 5 => fields.push(String::new()),
            '\\' => fields.last_mut().into_iter().for_each(|field| field.extend(letters.next())),
            letter => fields.last_mut().into_iter().for_each(|field| field.push(letter)),
        }
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_that_fits_gives_the_password() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("pgpass");
        let asked = |url: &str| password(&file, &Connect::parse(url).unwrap());
        assert_eq!(asked("postgres://me@h/d").unwrap(), None);
        std::fs::write(&file, "# h:*:*:*:no\nh:5433:*:me:first\nh:*:d\\:1:me:a\\:b:c\n*:*:*:*:any\nlocalhost\n")
            .unwrap();
        let refused = asked("postgres://me@h/d").map_err(|error| format!("{error:?}"));
        assert!(refused.is_err_and(|error| error.contains("chmod 600")));
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
        for (url, password) in [
            ("postgres://me@h:5433/d", "first"),
            ("postgres://me@h/d%3A1", "a:b:c"),
            ("postgres://me@h/d", "any"),
            ("postgres://me@/d?host=/run/pg", "any"),
        ] {
            assert_eq!(asked(url).unwrap().as_deref(), Some(password), "{url}");
        }
    }
}
