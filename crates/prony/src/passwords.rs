//! Passwords of databases: read from a file or the environment, kept out of run files, and a word of warning where others can read
//! them.
//!
//! The one idea: a password that says of no server that it is for that one goes only to servers that the user names on this
//! command line. A study or a run file may come from anybody, and would have it sent to a server of its author's.
//!
//! What it does not do: it reads no `PGPASSFILE`, whose lines say for which server each password is; the database room does.

use crate::failure::Failure;
use observation::RunFacts;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use study::password::{has_password, kept_text, without_password, without_passwords};
use study::{Engine, Secret};

/// More than this is no password.
const BYTES_MAX: u64 = 4096;

/// What is said when a password is typed where others can read it.
pub const SEEN: &str = "note: everybody on this machine can read the password on the command line while this runs (`ps`); \
                        --password-file keeps it to yourself";

/// The passwords for servers that are named on this command line: that of the file, then those of `PGPASSWORD` and `MYSQL_PWD`.
///
/// # Errors
/// As [`read`].
pub fn given(file: Option<&Path>) -> Result<Vec<(Engine, Secret)>, Failure> {
    let mut all = Vec::new();
    if let Some(password) = file.map(read).transpose()? {
        all.extend([Engine::Postgres, Engine::Mariadb].map(|engine| (engine, password.clone())));
    }
    for (engine, name) in [(Engine::Postgres, "PGPASSWORD"), (Engine::Mariadb, "MYSQL_PWD")] {
        all.extend(std::env::var(name).ok().map(|password| (engine, Secret(password))));
    }
    Ok(all)
}

/// The password in a file: its first line. A pipe will do when somebody writes into it.
///
/// # Errors
/// When it cannot be read, others may read it too, or it holds no password.
fn read(path: &Path) -> Result<Secret, Failure> {
    let doing = format!("reading the password in `{}`", path.display());
    let text = text(path).map_err(|error| Failure::caused(&doing, &error))?;
    let Some(text) = text else {
        return Err(Failure::new(format!(
            "{doing}: a file that only its owner may read, got one that others may read"
        ))
        .hint(format!("take it from them: chmod 600 {}", path.display())));
    };
    match text.lines().next() {
        Some(line) if !line.is_empty() && text.len() as u64 <= BYTES_MAX => Ok(Secret(line.to_owned())),
        _ => Err(Failure::new(format!("{doing}: a password in the first line, at most {BYTES_MAX} bytes"))),
    }
}

/// The text of a file; none when it is a file that others may read.
fn text(path: &Path) -> io::Result<Option<String>> {
    let data = path.metadata()?;
    if data.is_file() && data.permissions().mode() & 0o077 != 0 {
        return Ok(None);
    }
    system::text::read(path).map(Some)
}

/// Whether one of these targets holds a password.
pub fn typed(targets: &[String]) -> bool {
    targets.iter().any(|target| has_password(target))
}

/// The same facts as they may be kept and shown: without the password of any URL.
pub fn left_out(facts: RunFacts) -> RunFacts {
    let each = |list: &[String]| list.iter().map(|text| without_passwords(text)).collect();
    RunFacts {
        title: without_passwords(&facts.title),
        question: without_passwords(&facts.question),
        study_text: kept_text(&facts.study_text),
        targets: facts.targets.iter().map(|target| without_password(target)).collect(),
        settings: each(&facts.settings),
        only: each(&facts.only),
        tags: each(&facts.tags),
        note: without_passwords(&facts.note),
        ..facts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_the_first_line_of_a_file_that_nobody_else_may_read() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("password");
        std::fs::write(&path, "s3 cret \nmore\n").expect("written");
        let with = |mode| std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).expect("ours");
        with(0o640);
        let Err(Failure::Told(told)) = read(&path) else { panic!("others may read it") };
        assert!(told.text(false).contains("chmod 600"), "{}", told.text(false));
        with(0o600);
        assert_eq!(read(&path).ok(), Some(Secret("s3 cret ".into())));
        std::fs::write(&path, "\n").expect("written");
        assert!(read(&path).is_err());
    }

    #[test]
    fn a_pipe_into_which_nobody_writes_is_not_waited_for_without_end() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("pipe");
        rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, rustix::fs::Mode::RUSR, 0)
            .expect("a pipe");
        let Err(Failure::Told(told)) = read(&path) else { panic!("nobody wrote") };
        assert!(told.text(false).contains("nothing came through the pipe"), "{}", told.text(false));
    }
}
