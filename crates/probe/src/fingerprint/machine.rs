//! Kernel, processor, memory, power and limits.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::{Facts, chosen, name_of, text};
use crate::{cgroup, power};
use system::stack::children;

pub(super) fn read(facts: &mut Facts) {
    kernel(facts);
    processor(facts);
    frequency(facts);
    mitigations(facts);
    host(facts);
    memory(facts);
    limits(facts);
}

fn kernel(facts: &mut Facts) {
    facts.put("kernel.release", facts.proc("sys/kernel/osrelease"));
    facts.put("kernel.version", facts.proc("sys/kernel/version"));
    facts.put_if("kernel.command_line", facts.proc("cmdline").and_then(|line| relevant(&line)));
    facts.put("kernel.clocksource", facts.sys("devices/system/clocksource/clocksource0/current_clocksource"));
    facts.put("kernel.io_uring_disabled", facts.proc("sys/kernel/io_uring_disabled"));
    facts.put_if("kernel.numa_balancing", facts.proc("sys/kernel/numa_balancing"));
    facts.put_if("kernel.timer_migration", facts.proc("sys/kernel/timer_migration"));
    let sysctl = |name: &str| facts.proc(&format!("sys/vm/{name}"));
    let vm = ["swappiness", "dirty_ratio", "dirty_background_ratio", "dirty_bytes", "dirty_background_bytes"]
        .map(|name| (name, sysctl(name)));
    for (name, value) in vm {
        facts.put_if(format!("kernel.vm.{name}"), value);
    }
}

/// Words of the kernel's command line that can move a measurement. The others stay out: they name disks and hosts, and
/// may hold secrets.
fn relevant(line: &str) -> Option<String> {
    const WORDS: &str = include_str!("machine_words.txt");
    let kept: Vec<&str> =
        line.split(' ').filter(|word| WORDS.split_whitespace().any(|start| word.starts_with(start))).collect();
    (!kept.is_empty()).then(|| kept.join(" "))
}

fn processor(facts: &mut Facts) {
    let cpuinfo = std::fs::read_to_string(facts.proc.join("cpuinfo")).unwrap_or_default();
    facts.put("cpu.model", field(&cpuinfo, "model name").or_else(|| field(&cpuinfo, "CPU part")));
    facts.put_if("cpu.microcode", field(&cpuinfo, "microcode"));
    facts.put_if("cpu.stepping", field(&cpuinfo, "stepping"));
    facts.put("cpu.online", facts.sys("devices/system/cpu/online"));
    let folders = core_folders(&facts.sys);
    let distinct = |names: [&str; 2]| {
        let ids: BTreeSet<Vec<String>> = folders
            .iter()
            .filter_map(|core| names.iter().map(|name| text(&core.join("topology").join(name))).collect())
            .collect();
        (!ids.is_empty()).then(|| ids.len().to_string())
    };
    let (sockets, cores) =
        (distinct(["physical_package_id", "physical_package_id"]), distinct(["physical_package_id", "core_id"]));
    facts.put("cpu.sockets", sockets);
    facts.put("cpu.cores", cores);
    facts.put("cpu.threads", Some(folders.len().to_string()));
    facts.put_if("cpu.smt", facts.sys("devices/system/cpu/smt/control"));
    facts.put_if("cpu.isolated", facts.sys("devices/system/cpu/isolated"));
    facts.put_if("cpu.numa_nodes", facts.sys("devices/system/node/online"));
}

/// The first value of a key of `/proc/cpuinfo`: the cores of a machine are alike in what is asked here.
fn field(cpuinfo: &str, key: &str) -> Option<String> {
    let line = cpuinfo.lines().find(|line| line.split(':').next().is_some_and(|name| name.trim() == key))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

fn core_folders(sys: &Path) -> Vec<PathBuf> {
    let online = |path: &PathBuf| text(&path.join("online")).is_none_or(|online| online == "1");
    power::core_folders(sys).filter(online).collect()
}

fn frequency(facts: &mut Facts) {
    let folders = core_folders(&facts.sys);
    let all = |name: &str| {
        let values: BTreeSet<String> =
            folders.iter().filter_map(|core| text(&core.join("cpufreq").join(name))).collect();
        (!values.is_empty()).then(|| values.into_iter().collect::<Vec<_>>().join(", "))
    };
    let (governor, driver, highest) = (all("scaling_governor"), all("scaling_driver"), all("scaling_max_freq"));
    facts.put("cpu.governor", governor);
    facts.put_if("cpu.frequency_driver", driver);
    facts.put_if("cpu.frequency_max_khz", highest);
    facts.put_if("cpu.energy_preference", all("energy_performance_preference"));
    // Intel's own driver counts the other way round.
    let no_turbo = facts.sys("devices/system/cpu/intel_pstate/no_turbo");
    let turbo = no_turbo.map(|off| if off == "0" { "1" } else { "0" }.to_owned());
    facts.put("cpu.turbo", turbo.or_else(|| facts.sys("devices/system/cpu/cpufreq/boost")));
    facts.put_if("cpu.idle_driver", facts.sys("devices/system/cpu/cpuidle/current_driver"));
}

fn mitigations(facts: &mut Facts) {
    for file in children(&facts.sys.join("devices/system/cpu/vulnerabilities")) {
        facts.put_if(format!("cpu.mitigation.{}", name_of(&file)), text(&file));
    }
}

fn host(facts: &mut Facts) {
    facts.put_private("host.name", facts.proc("sys/kernel/hostname"));
    let vendor = facts.sys("class/dmi/id/sys_vendor");
    facts.put_if("host.vendor", vendor);
    facts.put_if("host.model", facts.sys("class/dmi/id/product_name"));
    facts.put_if("host.firmware", facts.sys("class/dmi/id/bios_version"));
    facts.put_private("host.serial", facts.sys("class/dmi/id/product_serial"));
    let marks = [("/.dockerenv", "docker"), ("/run/.containerenv", "podman"), ("/run/systemd/container", "systemd")];
    let container = marks.into_iter().find(|(mark, _)| Path::new(mark).exists());
    facts.put_if("host.container", container.map(|(_, name)| name.to_owned()));
    let flags = std::fs::read_to_string(facts.proc.join("cpuinfo")).unwrap_or_default();
    let virtual_machine = field(&flags, "flags").map(|flags| flags.split(' ').any(|flag| flag == "hypervisor"));
    let name = facts.sys("hypervisor/type");
    facts.put("host.hypervisor", name.or_else(|| virtual_machine.map(|yes| if yes { "yes" } else { "no" }.to_owned())));
}

fn memory(facts: &mut Facts) {
    let meminfo = std::fs::read_to_string(facts.proc.join("meminfo")).unwrap_or_default();
    facts.put("memory.total", field(&meminfo, "MemTotal"));
    facts.put_if("memory.swap", field(&meminfo, "SwapTotal"));
    let huge = facts.sys("kernel/mm/transparent_hugepage/enabled");
    facts.put_if("memory.transparent_hugepage", huge.map(|text| chosen(&text)));
}

/// Limits of the control groups that this process is in, the tightest group named by its distance: 0 is its own.
fn limits(facts: &mut Facts) {
    let membership = std::fs::read_to_string(facts.proc.join("self/cgroup")).unwrap_or_default();
    let mounts = system::mounts::parse(&std::fs::read_to_string(facts.proc.join("self/mountinfo")).unwrap_or_default());
    for (controller, files) in [
        ("cpu", &["cpu.max", "cpu.weight", "cpu.cfs_quota_us", "cpu.cfs_period_us"][..]),
        ("memory", &["memory.max", "memory.high", "memory.limit_in_bytes"]),
        ("io", &["io.max", "io.latency"]),
        ("blkio", &["blkio.throttle.read_iops_device", "blkio.throttle.write_iops_device"]),
        ("cpuset", &["cpuset.cpus.effective", "cpuset.effective_cpus"]),
    ] {
        for (distance, folder) in cgroup::folders(&membership, &mounts, controller).iter().enumerate() {
            for file in files {
                let limit = text(&folder.join(file)).filter(|text| !unlimited(text));
                facts.put_if(format!("cgroup.{distance}.{file}"), limit);
            }
        }
    }
}

/// What control groups write where nothing is limited; version 1 writes the largest number of pages.
fn unlimited(text: &str) -> bool {
    text == "-1" || text.starts_with("max") || text.parse::<u64>().is_ok_and(|bytes| bytes > 1 << 62)
}
