//! Loop devices for tests: made from a sparse file, taken away again whatever happens.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

/// Size of the image behind each device, bytes.
pub const SIZE: u64 = 16 << 20;

/// A loop device with its image in a folder of its own.
pub struct Loop {
    pub path: PathBuf,
    pub image: PathBuf,
    folder: Option<TempDir>,
}

/// Runs a program that must succeed and returns what it printed.
#[track_caller]
pub fn run(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output().expect(program);
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program} {arguments:?}: {complaint}");
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

impl Loop {
    /// On a new image of zeros.
    pub fn empty() -> Self {
        Self::prepared(&[], |_| {})
    }

    /// On an image that is first given to `prepare`, with more options for `losetup`.
    pub fn prepared(options: &[&str], prepare: impl FnOnce(&Path)) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let image = folder.path().join("image.raw");
        File::create(&image).and_then(|file| file.set_len(SIZE)).expect("an image");
        prepare(&image);
        let mut made = Self::over(&image, options);
        made.folder = Some(folder);
        made
    }

    /// On something that exists: an image or a block device.
    pub fn over(backing: &Path, options: &[&str]) -> Self {
        let backing_text = backing.to_str().expect("a plain path");
        let path = run("losetup", &[options, &["--find", "--show", backing_text]].concat());
        Self { path: PathBuf::from(path), image: backing.to_path_buf(), folder: None }
    }

    /// A partition of it.
    pub fn partition(&self, number: u32) -> PathBuf {
        PathBuf::from(format!("{}p{number}", self.path.display()))
    }

    /// Tells the kernel of the two partitions, where it cannot read partition tables itself.
    pub fn add_partitions(&self) -> bool {
        let add = |number: u32, start: u32| {
            let numbers = [number, start, PARTITION_SECTORS].map(|n| n.to_string());
            Command::new("addpart").arg(&self.path).args(numbers).status().is_ok_and(|status| status.success())
        };
        PARTITION_STARTS.into_iter().zip(1..).all(|(start, number)| add(number, start)) && self.partition(2).exists()
    }

    /// The identity by which it is consented to.
    pub fn id(&self) -> String {
        let inode = std::os::unix::fs::MetadataExt::ino(&fs::metadata(&self.image).expect("an image"));
        format!("loop-{}-{inode}", self.image.file_name().expect("a name").to_string_lossy())
    }

    pub fn text(&self) -> &str {
        self.path.to_str().expect("a plain path")
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        let _ = Command::new("losetup").arg("--detach").arg(&self.path).status();
        drop(self.folder.take());
    }
}

/// A mount that ends with the value.
pub struct Mounted {
    pub point: TempDir,
}

impl Mounted {
    pub fn new(device: &Path) -> Self {
        Self::with(&[device.to_str().expect("a plain path")])
    }

    /// A filesystem in memory of a size as `mount` reads it.
    pub fn in_memory(size: &str) -> Self {
        Self::with(&["-t", "tmpfs", "-o", &format!("size={size}"), "tmpfs"])
    }

    fn with(arguments: &[&str]) -> Self {
        let point = tempfile::tempdir().expect("a temporary folder");
        run("mount", &[arguments, &[point.path().to_str().expect("a plain path")]].concat());
        Self { point }
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.point.path()).status();
    }
}

/// Where the two partitions begin, in sectors: at 1 MiB and at 8 MiB.
const PARTITION_STARTS: [u32; 2] = [2048, 8 * 2048];
/// Each has 7 MiB.
const PARTITION_SECTORS: u32 = 7 * 2048;

/// Writes a DOS partition table with two Linux partitions.
pub fn partition(image: &Path) {
    let mut sector = [0_u8; 512];
    for (index, start) in PARTITION_STARTS.into_iter().enumerate() {
        let entry = &mut sector[446 + 16 * index..][..16];
        entry[4] = 0x83;
        entry[8..12].copy_from_slice(&start.to_le_bytes());
        entry[12..16].copy_from_slice(&PARTITION_SECTORS.to_le_bytes());
    }
    sector[510..].copy_from_slice(&[0x55, 0xaa]);
    let file = File::options().write(true).open(image).expect("an image");
    file.write_all_at(&sector, 0).expect("a partition table");
}
