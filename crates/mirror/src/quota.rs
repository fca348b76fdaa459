//! Cores of a node: a control group with a quota of processor time.
//!
//! The one idea: the group has a name that follows from the node's folder, below the group of whoever asks, so that it is found
//! again; all processes that a server starts later are born in it.

use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io;
use std::path::{Path, PathBuf};

/// The period to which a quota is meant, microseconds; the kernel's own choice.
const PERIOD_US: f64 = 100_000.0;

/// The control group of a node.
pub struct Quota {
    group: PathBuf,
    /// Whether the hierarchy is of version 2.
    unified: bool,
}

impl Quota {
    /// That of the node in a folder; none where the system has no such groups.
    pub fn of(folder: &Path) -> Option<Quota> {
        let membership = fs::read_to_string("/proc/self/cgroup").ok()?;
        let folders = probe::cgroup::folders(&membership, &system::mounts::read(), "cpu");
        // The root, so that nobody has to be in the same group to find it.
        let root = folders.last()?;
        let mut hasher = DefaultHasher::new();
        folder.hash(&mut hasher);
        let unified = root.join("cgroup.controllers").exists();
        Some(Quota { group: root.join(format!("prony-{:016x}", hasher.finish())), unified })
    }

    /// Lets a server and its processes use so many cores.
    ///
    /// # Errors
    /// When the system does not let us.
    pub fn set(&self, cores: f64, process: u32) -> io::Result<()> {
        match fs::create_dir(&self.group) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
        let quota = (cores * PERIOD_US).round();
        if self.unified {
            fs::write(self.group.join("cpu.max"), format!("{quota} {PERIOD_US}"))?;
        } else {
            fs::write(self.group.join("cpu.cfs_period_us"), PERIOD_US.to_string())?;
            fs::write(self.group.join("cpu.cfs_quota_us"), quota.to_string())?;
        }
        let children = fs::read_to_string(format!("/proc/{process}/task/{process}/children")).unwrap_or_default();
        for process in children.split_whitespace().chain([process.to_string().as_str()]) {
            // One that ended meanwhile needs no limit.
            let _ = fs::write(self.group.join("cgroup.procs"), process);
        }
        Ok(())
    }

    /// What it allows; none when there is no such group.
    pub fn cores(&self) -> Option<f64> {
        let text = |name: &str| fs::read_to_string(self.group.join(name)).ok();
        let quota: f64 = if self.unified {
            text("cpu.max")?.split(' ').next()?.parse().ok()?
        } else {
            text("cpu.cfs_quota_us")?.trim().parse().ok()?
        };
        (quota > 0.0).then_some(quota / PERIOD_US)
    }

    /// Takes it away, when nothing runs in it any more.
    pub fn remove(&self) {
        // A group without processes goes; any other is nobody's loss but a name.
        let _ = fs::remove_dir(&self.group);
    }
}
