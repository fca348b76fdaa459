//! Throttling by control groups: a CPU quota stops the generator without any other trace (cgroup-v2.rst, "CPU
//! Interface Files"; sched-bwc.rst for version 1).
//!
//! A quota may stand on the group of this process or on any group above it; each is read, and the most throttled one
//! is shown.

use std::path::{Path, PathBuf};

use crate::scan;

/// What one group with a quota has counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Throttle {
    /// Quota periods that have passed while something wanted to run.
    pub periods: u64,
    /// How many of them ended with the group stopped.
    pub throttled_periods: u64,
    /// Time for which cores of the group were stopped, added up over the cores, nanoseconds.
    pub throttled_ns: u64,
}

/// Reads the text of a `cpu.stat` file of either version; none where the CPU controller does not count here.
pub fn parse(text: &str) -> Option<Throttle> {
    let throttled_ns = match scan::after(text, "throttled_usec ") {
        Some(us) => us * 1000,
        None => scan::after(text, "throttled_time ")?,
    };
    let periods = scan::after(text, "nr_periods ")?;
    Some(Throttle { periods, throttled_periods: scan::after(text, "nr_throttled ")?, throttled_ns })
}

/// A group's folder in the cgroup filesystem and those above it, the nearest first.
pub fn folders(membership: &str, mounts: &[system::mounts::Mount], controller: &str) -> Vec<PathBuf> {
    let Some((path, mount)) = place(membership, mounts, controller) else { return Vec::new() };
    let mut folders = Vec::new();
    let mut relative = Path::new(path.trim_start_matches('/'));
    loop {
        folders.push(mount.join(relative));
        match relative.parent() {
            Some(parent) => relative = parent,
            None => return folders,
        }
    }
}

/// The path of the group and the mount of its hierarchy: version 1 where the controller has a hierarchy of its own,
/// else version 2. Lines of `/proc/self/cgroup` are `ID:CONTROLLERS:PATH` (cgroups(7)).
fn place<'a>(
    membership: &'a str,
    mounts: &'a [system::mounts::Mount],
    controller: &str,
) -> Option<(&'a str, &'a Path)> {
    let line = |wanted: &dyn Fn(&str) -> bool| {
        membership.lines().find_map(|line| {
            let mut parts = line.splitn(3, ':');
            let (_, controllers, path) = (parts.next()?, parts.next()?, parts.next()?);
            wanted(controllers).then_some(path)
        })
    };
    let has = |list: &str| list.split(',').any(|word| word == controller);
    if let Some(path) = line(&has) {
        let mount = mounts.iter().find(|m| m.filesystem == "cgroup" && has(&m.options))?;
        return Some((path, &mount.point));
    }
    let mount = mounts.iter().find(|m| m.filesystem == "cgroup2")?;
    Some((line(&|list| list.is_empty())?, &mount.point))
}

#[cfg(test)]
mod tests {
    use super::*;
    use system::mounts;

    const MOUNTS: &str = "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n\
        41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";

    #[test]
    fn both_versions_of_the_file_are_read() {
        let expected = Throttle { periods: 12, throttled_periods: 3, throttled_ns: 45_000 };
        assert_eq!(parse("usage_usec 9\nnr_periods 12\nnr_throttled 3\nthrottled_usec 45\n"), Some(expected));
        assert_eq!(parse("nr_periods 12\nnr_throttled 3\nthrottled_time 45000\n"), Some(expected));
        assert_eq!(parse("usage_usec 9\nuser_usec 5\nsystem_usec 4\n"), None);
    }

    #[test]
    fn a_group_and_all_above_it_are_found_in_the_hierarchy_of_the_controller() {
        let mounts = mounts::parse(MOUNTS);
        let v1 = folders("3:cpu,cpuacct:/a/b\n0::/c\n", &mounts, "cpu");
        let expected =
            ["/sys/fs/cgroup/cpu,cpuacct/a/b", "/sys/fs/cgroup/cpu,cpuacct/a", "/sys/fs/cgroup/cpu,cpuacct/"];
        assert_eq!(v1, expected.map(PathBuf::from));
        let v2 = folders("1:name=systemd:/x\n0::/c\n", &mounts, "cpu");
        assert_eq!(v2, ["/sys/fs/cgroup/unified/c", "/sys/fs/cgroup/unified/"].map(PathBuf::from));
    }
}
