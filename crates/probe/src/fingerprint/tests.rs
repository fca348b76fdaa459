//! Fingerprints of recorded trees of `/sys` and `/proc`.

use super::*;
use system::stack::{DeviceNumber, Layer};

fn put(root: &Path, files: &[(&str, &str)]) {
    for (path, text) in files {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}

fn value(facts: &[Fact], key: &str) -> Option<String> {
    facts.iter().find(|fact| fact.key == key).map(|fact| fact.value.clone())
}

#[track_caller]
fn check(facts: &[Fact], expected: &[(&str, &str)]) {
    for (key, text) in expected {
        assert_eq!(value(facts, key).as_deref(), Some(*text), "{key}");
    }
}

#[test]
fn a_recorded_server_is_described() {
    let root = tempfile::tempdir().unwrap();
    put(
        root.path(),
        &[
            ("proc/sys/kernel/osrelease", "6.8.0-45-generic\n"),
            ("proc/sys/kernel/hostname", "db-17.example\n"),
            ("proc/cmdline", "BOOT_IMAGE=/vmlinuz root=UUID=1 mitigations=off isolcpus=2,3 token=secret\n"),
            (
                "proc/cpuinfo",
                "processor\t: 0\nmodel name\t: AMD EPYC 9354\nmicrocode\t: 0xa10113e\nflags\t\t: fpu tsc\n",
            ),
            ("proc/meminfo", "MemTotal:       131072 kB\nSwapTotal:   0 kB\n"),
            ("sys/devices/system/cpu/online", "0-3\n"),
            ("sys/devices/system/cpu/cpu0/topology/physical_package_id", "0"),
            ("sys/devices/system/cpu/cpu0/topology/core_id", "0"),
            ("sys/devices/system/cpu/cpu1/topology/physical_package_id", "0"),
            ("sys/devices/system/cpu/cpu1/topology/core_id", "0"),
            ("sys/devices/system/cpu/cpu2/topology/physical_package_id", "1"),
            ("sys/devices/system/cpu/cpu2/topology/core_id", "0"),
            ("sys/devices/system/cpu/cpu3/online", "0"),
            ("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n"),
            ("sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", "performance\n"),
            ("sys/devices/system/cpu/intel_pstate/no_turbo", "1\n"),
            ("sys/devices/system/cpu/vulnerabilities/meltdown", "Not affected\n"),
            ("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n"),
        ],
    );
    let mut facts = Facts::new(root.path().join("sys"), root.path().join("proc"));
    machine::read(&mut facts);
    let facts = facts.sorted();
    check(
        &facts,
        &[
            ("kernel.release", "6.8.0-45-generic"),
            ("kernel.command_line", "mitigations=off isolcpus=2,3"),
            ("kernel.clocksource", "not observed"),
            ("cpu.model", "AMD EPYC 9354"),
            ("cpu.sockets", "2"),
            ("cpu.cores", "2"),
            ("cpu.threads", "3"),
            ("cpu.governor", "performance, powersave"),
            ("cpu.turbo", "0"),
            ("cpu.mitigation.meltdown", "Not affected"),
            ("host.hypervisor", "no"),
            ("memory.total", "131072 kB"),
            ("memory.transparent_hugepage", "madvise"),
        ],
    );
    let private: Vec<&str> = facts.iter().filter(|fact| fact.private).map(|fact| fact.key.as_str()).collect();
    assert_eq!(private, ["host.name"]);
    assert_eq!(value(&facts, "cpu.smt"), None, "what does not apply is left out");
}

#[test]
fn limits_of_a_container_are_found_and_unlimited_ones_left_out() {
    let root = tempfile::tempdir().unwrap();
    let cgroup = root.path().join("cgroup");
    let mountinfo = format!("41 31 0:38 / {} rw - cgroup2 cgroup2 rw\n", cgroup.display());
    put(
        root.path(),
        &[
            ("proc/self/cgroup", "0::/pod/run\n"),
            ("proc/self/mountinfo", &mountinfo),
            ("cgroup/pod/run/cpu.max", "max 100000\n"),
            ("cgroup/pod/cpu.max", "200000 100000\n"),
            ("cgroup/pod/run/memory.max", "1073741824\n"),
            ("cgroup/pod/memory.limit_in_bytes", "9223372036854771712\n"),
        ],
    );
    let mut facts = Facts::new(root.path().join("sys"), root.path().join("proc"));
    machine::read(&mut facts);
    let facts = facts.sorted();
    check(&facts, &[("cgroup.1.cpu.max", "200000 100000"), ("cgroup.0.memory.max", "1073741824")]);
    let limits = facts.iter().filter(|fact| fact.key.starts_with("cgroup.")).count();
    assert_eq!(limits, 2);
}

#[test]
fn a_recorded_disk_is_described_and_its_serial_number_is_private() {
    let root = tempfile::tempdir().unwrap();
    put(
        root.path(),
        &[
            ("nvme0n1/size", "1875385008\n"),
            ("nvme0n1/queue/scheduler", "[none] mq-deadline\n"),
            ("nvme0n1/queue/write_cache", "write through\n"),
            ("nvme0n1/queue/rotational", "0\n"),
            ("nvme0n1/device/model", "SAMSUNG MZVL2  \n"),
            ("nvme0n1/device/firmware_rev", "GXA7\n"),
            ("nvme0n1/device/serial", "S64 \n"),
            ("nvme0n1/device/device/current_link_speed", "16.0 GT/s PCIe\n"),
            ("nvme0n1/mq/0/cpu_list", "0"),
            ("nvme0n1/mq/1/cpu_list", "1"),
        ],
    );
    let folder = root.path().join("nvme0n1");
    let number = DeviceNumber { major: 259, minor: 0 };
    let layer = Layer { name: "nvme0n1".into(), number, sysfs: folder.clone(), disk: folder, depth: 0 };
    let mut facts = Facts::new("/nowhere", "/nowhere");
    storage::disk(&mut facts, &layer);
    let facts = facts.sorted();
    check(
        &facts,
        &[
            ("disk.nvme0n1.size_bytes", "960197124096"),
            ("disk.nvme0n1.scheduler", "none"),
            ("disk.nvme0n1.write_cache", "write through"),
            ("disk.nvme0n1.model", "SAMSUNG MZVL2"),
            ("disk.nvme0n1.firmware", "GXA7"),
            ("disk.nvme0n1.hardware_queues", "2"),
            ("disk.nvme0n1.link_speed", "16.0 GT/s PCIe"),
        ],
    );
    let private: Vec<&str> = facts.iter().filter(|fact| fact.private).map(|fact| fact.key.as_str()).collect();
    assert_eq!(private, ["disk.nvme0n1.serial"]);
}

#[test]
fn every_fact_of_this_machine_is_named_once_and_paths_are_private() {
    let dir = std::env::temp_dir();
    let facts = fingerprint(&[&dir]);
    let mut keys: Vec<&str> = facts.iter().map(|fact| fact.key.as_str()).collect();
    keys.dedup();
    assert_eq!(keys.len(), facts.len());
    assert!(value(&facts, "kernel.release").is_some_and(|release| release != NOT_OBSERVED));
    let path = facts.iter().find(|fact| fact.key == "module.0.path").unwrap();
    assert!(path.private && path.value == dir.display().to_string());
}
