//! Cores of a server: a control group with a quota of processor time.
//!
//! The one idea: the group has a name that follows from the server's folder, below the root of all groups, so that it is found
//! again; all processes that a server starts later are born in it.

use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::cgroup::folders;

/// The period to which a quota is meant, microseconds; the kernel's own choice.
const PERIOD_US: f64 = 100_000.0;

/// How often those that are started or end meanwhile are looked for, before a group is left.
const ROUNDS: u32 = 50;

/// Between two looks.
const PAUSE: Duration = Duration::from_millis(10);

/// The control group of a server.
pub struct Quota {
    group: PathBuf,
    /// Where this process is.
    home: PathBuf,
    /// Whether the hierarchy is of version 2.
    unified: bool,
}

impl Quota {
    /// That of the server in a folder; none where the system has no such groups.
    pub fn of(folder: &Path) -> Option<Quota> {
        let groups = groups();
        // The root, so that nobody has to be in the same group to find it.
        let (home, root) = (groups.first()?.clone(), groups.last()?);
        let mut hasher = DefaultHasher::new();
        folder.hash(&mut hasher);
        let unified = root.join("cgroup.controllers").exists();
        Some(Quota { group: root.join(format!("prony-{:016x}", hasher.finish())), home, unified })
    }

    /// Why this process can hold no server to a quota; none when it seems that it can. Nothing is made to find out.
    pub fn refused() -> Option<String> {
        match groups().last() {
            None => Some("this system has no control groups for the processor".to_owned()),
            Some(root) => rustix::fs::access(root, rustix::fs::Access::WRITE_OK)
                .err()
                .map(|error| format!("{}: {}", root.display(), io::Error::from(error))),
        }
    }

    /// Lets a server and its processes use so many cores.
    ///
    /// # Errors
    /// When the system does not let us, or the process is gone.
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
        let inside = self.group.join("cgroup.procs");
        // Before its children, so that none is born outside after the look at them.
        fs::write(&inside, process.to_string())?;
        let children = fs::read_to_string(format!("/proc/{process}/task/{process}/children")).unwrap_or_default();
        for child in children.split_whitespace() {
            // One that ended meanwhile needs no limit.
            let _ = fs::write(&inside, child);
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

    /// Lets what runs in it go where this process is, without a quota, and takes it away.
    pub fn release(&self) {
        for _ in 0..ROUNDS {
            let inside = fs::read_to_string(self.group.join("cgroup.procs")).unwrap_or_default();
            for process in inside.lines() {
                // One that ended meanwhile needs no group.
                let _ = fs::write(self.home.join("cgroup.procs"), process);
            }
            // One that is about to end holds it for a moment.
            match fs::remove_dir(&self.group) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => std::thread::sleep(PAUSE),
                _ => return,
            }
        }
    }

    /// Takes it away, when nothing runs in it any more.
    pub fn remove(&self) {
        // A group without processes goes; any other is nobody's loss but a name.
        let _ = fs::remove_dir(&self.group);
    }
}

/// The group of this process for the processor and those above it, the nearest first.
pub(crate) fn groups() -> Vec<PathBuf> {
    let membership = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    folders(&membership, &system::mounts::read(), "cpu")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn a_process_is_held_to_a_quota_and_let_go_again() {
        let folder = tempfile::tempdir().unwrap();
        let quota = match Quota::of(folder.path()) {
            Some(quota) if Quota::refused().is_none() => quota,
            // Where none can be made, that is what is said.
            _ => return assert!(Quota::refused().is_some()),
        };
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        let set = quota.set(0.5, child.id());
        let inside = || fs::read_to_string(quota.group.join("cgroup.procs")).unwrap_or_default();
        let (held, cores) = (inside(), quota.cores());
        quota.release();
        let left = quota.group.exists();
        child.kill().unwrap();
        child.wait().unwrap();
        set.unwrap();
        assert_eq!((held.trim(), cores, left), (child.id().to_string().as_str(), Some(0.5), false));
    }
}
