//! A small file system of a test's own, which fills up soon.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A file system in memory of a given size; unmounted when dropped.
pub struct Small {
    pub path: PathBuf,
}

impl Small {
    /// Mounts one that only its owner may write; none where that is not allowed.
    pub fn mount(path: PathBuf, size: &str) -> Option<Small> {
        fs::create_dir_all(&path).expect("a folder to mount on");
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", &format!("size={size},mode=755"), "tmpfs"]).arg(&path).stderr(Stdio::null());
        mount.status().is_ok_and(|status| status.success()).then_some(Small { path })
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.path).status();
    }
}

/// Takes all space that is left.
pub fn fill(file: &mut File) {
    let block = vec![0x5a; 1 << 16];
    while file.write_all(&block).is_ok() {}
}

/// The file that takes it.
pub fn filler(dir: &Path) -> File {
    File::create(dir.join("filler")).expect("a filler")
}
