//! What was tested, in a few lines: the storage or database, the data beside the memory, and the machine.
//!
//! The one idea: only what a reader would ask first. The fingerprint has everything.

use analysis::Findings;
use observation::{NOT_OBSERVED, RunFacts, SystemFacts, SystemKind};
use units::Bytes;

/// One line a system, then the machine.
pub fn lines(findings: &Findings) -> Vec<String> {
    let run = &findings.run;
    // Systems of which the same is to be said share a line.
    let mut lines: Vec<(Vec<&str>, String)> = Vec::new();
    for system in &run.systems {
        let says = system_line(findings, system);
        match lines.iter_mut().find(|(_, known)| *known == says) {
            Some((names, _)) => names.push(&system.name),
            None => lines.push((vec![&system.name], says)),
        }
    }
    let named = |(names, says): (Vec<&str>, String)| match run.systems.len() {
        1 => says,
        _ => format!("{}: {says}", names.join(", ")),
    };
    let mut lines: Vec<String> = lines.into_iter().map(named).collect();
    lines.extend(machine(run));
    lines
}

fn system_line(findings: &Findings, system: &SystemFacts) -> String {
    match SystemKind::of_word(&system.kind) {
        Some(SystemKind::File | SystemKind::Device) => storage(system),
        Some(SystemKind::Sqlite | SystemKind::Postgres | SystemKind::Mariadb) => database(findings, system),
        Some(SystemKind::Model) => format!("simulated: {}", system.fact("model.title").unwrap_or(&system.place)),
        _ => format!("{}, {}", system.kind, system.place),
    }
}

/// `file of 1 GiB on /dev/vda (ext4, virtual disk), by io_uring`.
fn storage(system: &SystemFacts) -> String {
    let bytes = system.fact("module.0.bytes").and_then(|bytes| bytes.parse().ok()).filter(|bytes| *bytes > 0);
    let size = bytes.map(|bytes| format!(" of {}", units::bytes(Bytes(bytes)))).unwrap_or_default();
    let many = if system.modules > 1 { format!("{} x ", system.modules) } else { String::new() };
    let on = device(system).map(|device| format!(" on {device}")).unwrap_or_default();
    let filesystem = system.fact("module.0.filesystem").filter(|name| *name != NOT_OBSERVED);
    let filesystem = filesystem.map(|name| format!(", {name}")).unwrap_or_default();
    format!("{many}{}{size}{on}{filesystem}, by {}", system.kind, system.driver)
}

/// `/dev/vda (virtual disk)`: the disk at the bottom, with what kind it says it is.
fn device(system: &SystemFacts) -> Option<String> {
    let disk = system.devices_of(0).last()?;
    let of = |what: &str| system.fact(&format!("disk.{disk}.{what}"));
    let driver = of("driver").unwrap_or_default();
    let kind = match (driver, of("rotational")) {
        _ if driver.starts_with("virtio") || driver.starts_with("xen") || driver.starts_with("vmw") => "virtual disk",
        _ if disk.starts_with("nvme") => "NVMe",
        _ if disk.starts_with("loop") => "loop device",
        (_, Some("1")) => "disk",
        (_, Some("0")) => "SSD",
        _ => "kind unknown",
    };
    let model = of("model").map(|model| format!("{model}, ")).unwrap_or_default();
    Some(format!("/dev/{disk} ({model}{kind})"))
}

/// Engine and version, with the size of the data beside the memory that may hold it.
fn database(findings: &Findings, system: &SystemFacts) -> String {
    let version = system.fact("database.version").unwrap_or_default();
    let on = device(system).map(|device| format!(" on {device}")).unwrap_or_default();
    let own = findings.trials.iter().filter(|trial| trial.label.system == system.name);
    let sets: Vec<_> = own.filter_map(|trial| trial.server.as_ref()?.working_set.as_ref()).collect();
    let sizes = || sets.iter().filter_map(|set| set.data_bytes);
    let (least, most) = (sizes().fold(f64::MAX, f64::min), sizes().fold(0.0, f64::max));
    let shown = |bytes: f64| units::bytes(Bytes(bytes as u64));
    let buffer = sets.iter().find_map(|set| set.buffer_bytes);
    let data = buffer.filter(|_| most > 0.0).map(|buffer| {
        // Data that grows has two sizes.
        let grown = if most > 1.1 * least { format!(" to {}", shown(most)) } else { String::new() };
        format!(", {}{grown} of data, {} of buffer", shown(least), shown(buffer))
    });
    let engine = match SystemKind::of_word(&system.kind) {
        Some(SystemKind::Postgres) => "PostgreSQL",
        Some(SystemKind::Mariadb) => "MariaDB",
        _ => "SQLite",
    };
    let version = version.split(' ').next().unwrap_or_default();
    format!("{engine} {version}{on}{}", data.unwrap_or_default())
}

/// `2 cores (AMD EPYC), 23.5 GiB of memory, virtual machine, Linux 6.18`; none where all is simulated.
fn machine(run: &RunFacts) -> Option<String> {
    let simulated = |system: &SystemFacts| system.is(SystemKind::Model) || system.is(SystemKind::Scripted);
    let real = |system: &&SystemFacts| !simulated(system) && system.fact("cpu.threads").is_some();
    let system = run.systems.iter().find(real)?;
    let known = |key: &str| system.fact(key).filter(|value| *value != NOT_OBSERVED);
    let memory = known("memory.total").and_then(|total| total.strip_suffix(" kB")?.parse::<u64>().ok());
    let memory = memory.map(|kib| format!("{} of memory", units::bytes(Bytes(kib / 1024 * 1024 * 1024))));
    let cores = known("cpu.threads").map(|threads| {
        let model = known("cpu.model").map(|model| format!(" ({model})")).unwrap_or_default();
        format!("{}{model}", units::counted(threads.parse().unwrap_or_default(), "CPUs"))
    });
    let machine = known("host.hypervisor").filter(|kind| *kind != "no").map(|_| "virtual machine".to_owned());
    let kernel = known("kernel.release").map(|release| format!("Linux {release}"));
    let parts: Vec<String> = [cores, memory, machine, kernel].into_iter().flatten().collect();
    (!parts.is_empty()).then(|| format!("machine: {}", parts.join(", ")))
}
