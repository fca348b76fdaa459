//! As whom a private server runs: as the user himself, or as an unprivileged one when that is root, because servers
//! refuse root.

use std::fs::File;
use std::io;
use std::os::unix::fs::fchown;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The unprivileged user of a server that root starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owner {
    /// His name, when the server runs as somebody else than who asks.
    pub(super) name: Option<String>,
    pub(super) uid: u32,
    pub(super) gid: u32,
}

impl Owner {
    /// Ourselves.
    pub(super) fn myself() -> Owner {
        Owner { name: None, uid: rustix::process::geteuid().as_raw(), gid: rustix::process::getegid().as_raw() }
    }

    /// Who shall run a server: the first of these users that the system has, or `nobody`, when we are root; else ourselves.
    pub(super) fn of(preferred: &[&str]) -> Owner {
        let myself = Owner::myself();
        if myself.uid != 0 {
            return myself;
        }
        let users = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
        preferred.iter().chain(&["nobody"]).find_map(|name| entry(&users, name)).unwrap_or(myself)
    }

    /// A command that runs as this user.
    pub(super) fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        if self.name.is_some() {
            // His own folder is none that he may read, and the programs look into the folder they start in.
            command.uid(self.uid).gid(self.gid).env("HOME", "/");
        }
        command.current_dir("/");
        command
    }

    /// Gives him a folder that is open.
    pub(super) fn give(&self, folder: &File) -> io::Result<()> {
        if self.name.is_none() { Ok(()) } else { fchown(folder, Some(self.uid), Some(self.gid)) }
    }

    /// Gives him a file, itself where it is a link, in a folder in which only we make files, and lets nobody else write to it.
    pub(super) fn give_file(&self, path: &Path) -> io::Result<()> {
        std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o600))?;
        if self.name.is_none() { Ok(()) } else { std::os::unix::fs::lchown(path, Some(self.uid), Some(self.gid)) }
    }

    /// The folder among those above `path` that he may not pass, when there is one.
    pub(super) fn barred<'a>(&self, path: &'a Path) -> Option<&'a Path> {
        self.name.as_ref()?;
        path.ancestors().skip(1).filter(|folder| folder.is_dir()).find(|folder| !self.passes(folder))
    }

    /// The folder above `path`, or the link to it, in which another user could put something else in the place of what we make
    /// there as root. Folders that all may write count as safe when each may only take away what is his own.
    pub(super) fn unsafe_above(&self, path: &Path) -> Option<PathBuf> {
        self.name.as_ref()?;
        let there = path.ancestors().skip(1).find(|folder| folder.exists())?;
        let real = there.canonicalize().ok()?;
        there.ancestors().chain(real.ancestors()).find(|folder| open_to_others(folder)).map(Path::to_owned)
    }

    fn passes(&self, folder: &Path) -> bool {
        use std::os::unix::fs::MetadataExt;
        std::fs::metadata(folder).is_ok_and(|data| {
            let mode = data.mode();
            let right = if data.uid() == self.uid {
                mode >> 6
            } else if data.gid() == self.gid {
                mode >> 3
            } else {
                mode
            };
            right & 1 == 1
        })
    }
}

fn open_to_others(folder: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    std::fs::symlink_metadata(folder).is_ok_and(|data| {
        let others = if data.gid() == 0 { 0o002 } else { 0o022 };
        let open = !data.is_symlink() && data.mode() & others != 0 && data.mode() & 0o1000 == 0;
        data.uid() != 0 || open
    })
}

fn entry(users: &str, name: &str) -> Option<Owner> {
    let fields: Vec<&str> =
        users.lines().map(|line| line.split(':').collect::<Vec<_>>()).find(|line| line[0] == name)?;
    let number = |at: usize| fields.get(at)?.parse().ok();
    Some(Owner { name: Some(name.to_owned()), uid: number(2)?, gid: number(3)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_is_read_from_the_list_of_users() {
        let users = "root:x:0:0:root:/root:/bin/sh\nmysql:x:103:112::/nonexistent:/bin/false\n";
        assert_eq!(entry(users, "mysql"), Some(Owner { name: Some("mysql".into()), uid: 103, gid: 112 }));
        assert_eq!(entry(users, "mysq"), None);
    }

    #[test]
    fn a_folder_that_bars_the_way_is_named() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("inner");
        std::fs::create_dir(&inner).unwrap();
        let other = Owner { name: Some("other".into()), uid: 4_000_000, gid: 4_000_000 };
        std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o700)).unwrap();
        assert_eq!(other.barred(&inner), Some(folder.path()));
        std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o711)).unwrap();
        assert_eq!(other.barred(&inner), None);
    }

    #[test]
    fn a_folder_in_which_another_user_may_plant_something_is_named() {
        use std::os::unix::fs::{PermissionsExt, chown, symlink};
        if !rustix::process::geteuid().is_root() {
            return crate::tests::skip::skipped("only root gives folders to somebody else");
        }
        let folder = tempfile::tempdir().unwrap();
        let (theirs, link) = (folder.path().join("theirs"), folder.path().join("link"));
        std::fs::create_dir(&theirs).unwrap();
        symlink("theirs", &link).unwrap();
        let other = Owner { name: Some("other".into()), uid: 4_000_000, gid: 4_000_000 };
        let above = |folder: &Path| other.unsafe_above(&folder.join("server/deep"));
        assert_eq!((above(&theirs), above(&link)), (None, None), "sticky, as the folder for temporary files is");
        std::fs::set_permissions(&theirs, std::fs::Permissions::from_mode(0o777)).unwrap();
        assert_eq!((above(&theirs), above(&link)), (Some(theirs.clone()), Some(theirs.clone())));
        std::fs::set_permissions(&theirs, std::fs::Permissions::from_mode(0o1777)).unwrap();
        assert_eq!(above(&theirs), None);
        chown(&theirs, Some(4_000_000), None).unwrap();
        assert_eq!(above(&theirs), Some(theirs));
    }
}
