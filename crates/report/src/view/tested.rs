//! What was tested, in a few lines: the storage or database, the data beside the memory, and the machine.
//!
//! The one idea: only what a reader would ask first. The fingerprint has everything.

use super::quantity::Quantity;
use analysis::{Findings, PointSummary, WorkingSet};
use observation::{RunFacts, SystemFacts, SystemKind};
use units::Bytes;

/// One line a system, then the machine, then how many trials there were and how long each measured.
pub fn lines(findings: &Findings) -> Vec<String> {
    let run = &findings.run;
    // Systems of which the same is to be said share a line, however much their data grew.
    let mut lines: Vec<(Vec<&str>, [String; 3])> = Vec::new();
    for system in &run.systems {
        let says = system_line(findings, system);
        match lines.iter_mut().find(|(_, known)| *known == says) {
            Some((names, _)) => names.push(&system.name),
            None => lines.push((vec![&system.name], says)),
        }
    }
    let named = |(names, [what, buffer, follows]): (Vec<&str>, [String; 3])| {
        let says = format!("{what}{}{buffer}{follows}", data(findings, &names).unwrap_or_default());
        if run.systems.len() == 1 { says } else { format!("{}: {says}", names.join(", ")) }
    };
    let mut lines: Vec<String> = lines.into_iter().map(named).collect();
    lines.extend(machine(run));
    lines.extend(trials(findings));
    lines
}

/// `6 trials of 5 s each`, `10 trials of 2 to 4 s each and 4 until their work was done; ranges of results are 95% intervals`.
fn trials(findings: &Findings) -> Option<String> {
    let ended = || findings.trials.iter().filter(|trial| !trial.interrupted);
    let windows: Vec<_> = ended().filter(|trial| !trial.fixed_work).map(|trial| trial.window.length()).collect();
    let fixed = ended().count() - windows.len();
    let timed = windows.iter().min().zip(windows.iter().max()).map(|(least, most)| {
        let [short, long] = [least, most].map(|long| units::duration(*long));
        // Hours would make thousandths of seconds.
        let long = match most.0.checked_div(least.0) {
            Some(..60) if least != most => units::range(&short, " to ", &long),
            _ if least == most => long,
            _ => format!("{short} to {long}"),
        };
        format!(
            "{} of {long}{}",
            units::counted(windows.len() as u64, "trials"),
            if windows.len() > 1 { " each" } else { "" }
        )
    });
    let fixed = (fixed > 0).then(|| match timed {
        Some(_) => format!("{fixed} until their work was done"),
        None if fixed == 1 => "1 trial until its work was done".to_owned(),
        None => format!("{fixed} trials, each until its work was done"),
    });
    let parts: Vec<String> = timed.into_iter().chain(fixed).collect();
    let known = |point: &&PointSummary| {
        point.throughput_per_s.has_interval() || point.elapsed_s.is_some_and(|elapsed| elapsed.has_interval())
    };
    let confidence = findings.points.iter().find(known).map(|point| point.throughput_per_s.confidence);
    let ranges = confidence.map(|level| format!("; ranges of results are {} intervals", Quantity::Share.text(level)));
    (!parts.is_empty()).then(|| format!("{}{}", parts.join(" and "), ranges.unwrap_or_default()))
}

/// What a system is, behind which its data stand; its buffer, and what follows it.
fn system_line(findings: &Findings, system: &SystemFacts) -> [String; 3] {
    let what = match SystemKind::of_word(&system.kind) {
        Some(SystemKind::File | SystemKind::Device) => storage(system),
        Some(SystemKind::Sqlite | SystemKind::Postgres | SystemKind::Mariadb) => database(system),
        Some(SystemKind::Model) => format!("simulated: {}", system.fact("model.title").unwrap_or(&system.place)),
        _ => format!("{}, {}", system.kind, system.place),
    };
    let buffer =
        working_sets(findings, &[&system.name]).find_map(|set| set.buffer_bytes.filter(|_| set.data_bytes > Some(0.0)));
    let buffer = buffer.map(|bytes| format!(", {} of buffer", units::bytes(Bytes(bytes as u64))));
    [what, buffer.unwrap_or_default(), system.fact("mirror.follows").unwrap_or_default().to_owned()]
}

/// `file of 1 GiB on /dev/vda (ext4, virtual disk), by io_uring`; `file of 1 GiB on emulated disk-15k, by io_uring`.
fn storage(system: &SystemFacts) -> String {
    let size = system.module_bytes().map(|bytes| format!(" of {}", units::bytes(Bytes(bytes)))).unwrap_or_default();
    let many = if system.modules > 1 { format!("{} x ", system.modules) } else { String::new() };
    let on = on(system);
    // What serves an emulated device looks like a file system of this machine, and is none.
    let filesystem = system.observed("module.0.filesystem").filter(|_| system.emulated().next().is_none());
    let filesystem = filesystem.map(|name| format!(", {name}")).unwrap_or_default();
    format!("{many}{}{size}{on}{filesystem}, by {}", system.kind, system.driver)
}

/// ` on emulated disk-15k`, ` on /dev/vda (virtual disk)`, or both; of a layout each of its tiers; parts of a database with what lies there.
fn on(system: &SystemFacts) -> String {
    if system.layout().is_some() {
        return format!(" ({})", tiers(system).join("; "));
    }
    // A loop device is a device of its own, whatever its file lies on.
    let looped = system.loop_device().map(|device| format!("loop device {device}"));
    let emulated = system.emulated().map(|(part, model)| match part {
        None => format!("emulated {model}"),
        Some(part) => format!("emulated {model} ({part})"),
    });
    let mut all: Vec<String> = Vec::new();
    for one in emulated.chain(looped).chain(device(system, 0).map(|(disk, kind)| format!("{disk} ({kind})"))) {
        if !all.contains(&one) {
            all.push(one);
        }
    }
    if all.is_empty() { String::new() } else { format!(" on {}", all.join(" and ")) }
}

/// `slow: emulated disk-15k`, `fast: /dev/vda, virtual disk`: what each tier that a layout uses stands on, and the mirror.
fn tiers(system: &SystemFacts) -> Vec<String> {
    let used = ["slow", "fast"].into_iter().filter(|tier| system.fact(&format!("layout.{tier}.holds")).is_some());
    let used = used.enumerate().map(|(place, tier)| (tier, Some(place)));
    let mirror = system.fact("mirror.device").map(|_| ("mirror", None));
    let stands = |(part, place): (&str, Option<usize>)| {
        let emulated =
            system.emulated().find(|(known, _)| *known == Some(part)).map(|(_, model)| format!("emulated {model}"));
        let disk = || place.and_then(|place| device(system, place)).map(|(disk, kind)| format!("{disk}, {kind}"));
        format!("{part}: {}", emulated.or_else(disk).unwrap_or_else(|| "a folder of this machine".to_owned()))
    };
    used.chain(mirror).map(stands).collect()
}

/// `/dev/vda` and `virtual disk`: the disk at the bottom, with what kind it says it is.
fn device(system: &SystemFacts, place: usize) -> Option<(String, String)> {
    let (disk, kind, model) = system.disk_of(place)?;
    let model = model.map(|model| format!("{model}, ")).unwrap_or_default();
    Some((format!("/dev/{disk}"), format!("{model}{}", kind.word())))
}

/// Engine and version, and what it lies on.
fn database(system: &SystemFacts) -> String {
    let engine = match SystemKind::of_word(&system.kind) {
        Some(SystemKind::Postgres) => "PostgreSQL",
        Some(SystemKind::Mariadb) => "MariaDB",
        _ => "SQLite",
    };
    format!("{engine} {}{}", system.version(), on(system))
}

/// The data of these systems beside the memory that may hold them, trial by trial.
fn working_sets<'a>(findings: &'a Findings, names: &[&str]) -> impl Iterator<Item = &'a WorkingSet> {
    let own = findings.trials.iter().filter(move |trial| names.contains(&trial.label.system.as_str()));
    own.filter_map(|trial| trial.server.as_ref()?.working_set.as_ref())
}

/// The size of the data of databases whose buffer is known.
fn data(findings: &Findings, names: &[&str]) -> Option<String> {
    let known = || working_sets(findings, names).filter(|set| set.buffer_bytes.is_some());
    let sizes = || known().filter_map(|set| set.data_bytes);
    let ends = [sizes().fold(f64::MAX, f64::min), sizes().fold(0.0, f64::max)];
    let [least, most] = ends.map(|bytes| units::bytes(Bytes(bytes as u64)));
    // Data that grows has two sizes, which are those of the tables.
    let grown = if least == most { "" } else { " as it grew" };
    let data = if least == most { most } else { units::range(&least, " to ", &most) };
    (ends[1] > 0.0).then(|| format!(", {data} of data{grown}"))
}

/// `2 cores (AMD EPYC), 23.5 GiB of memory, virtual machine, Linux 6.18`; none where all is simulated.
fn machine(run: &RunFacts) -> Option<String> {
    let simulated = |system: &SystemFacts| system.is(SystemKind::Model) || system.is(SystemKind::Scripted);
    let real = |system: &&SystemFacts| !simulated(system) && system.fact("cpu.threads").is_some();
    let system = run.systems.iter().find(real)?;
    let memory = system.memory_bytes().map(|bytes| format!("{} of memory", units::bytes(Bytes(bytes >> 20 << 20))));
    let cores = system.observed("cpu.threads").map(|threads| {
        let model = system.observed("cpu.model").map(|model| format!(" ({model})")).unwrap_or_default();
        format!("{}{model}", units::counted(threads.parse().unwrap_or_default(), "CPUs"))
    });
    let machine = system.is_virtual().then(|| "virtual machine".to_owned());
    let kernel = system.observed("kernel.release").map(|release| format!("Linux {release}"));
    let parts: Vec<String> = [cores, memory, machine, kernel].into_iter().flatten().collect();
    (!parts.is_empty()).then(|| format!("machine: {}", parts.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use observation::Fact;

    #[test]
    fn an_emulated_device_is_told_as_one() {
        let fact = |key: &str, value: &str| Fact { key: key.to_owned(), value: value.to_owned(), private: false };
        let mut system = SystemFacts {
            kind: "file".to_owned(),
            modules: 1,
            driver: "io_uring".to_owned(),
            fingerprint: vec![
                fact("module.0.filesystem", "fuse"),
                fact("module.0.bytes", "268435456"),
                Fact::emulated(0, "disk-15k"),
                Fact::emulated(1, "disk-15k"),
            ],
            ..SystemFacts::default()
        };
        assert_eq!(storage(&system), "file of 256 MiB on emulated disk-15k, by io_uring");
        system.fingerprint[3] = Fact::emulated(1, "nand-device");
        assert_eq!(on(&system), " on emulated disk-15k and emulated nand-device");
        system.fingerprint = vec![fact("module.0.devices", "vda"), fact("mirror.device", "disk-15k")];
        assert_eq!(on(&system), " on emulated disk-15k (mirror) and /dev/vda (kind unknown)");
        system.fingerprint.truncate(1);
        assert_eq!(on(&system), " on /dev/vda (kind unknown)");
        system.fingerprint = vec![fact("module.0.devices", "loop0 > vda")];
        assert_eq!(on(&system), " on loop device loop0 and /dev/vda (kind unknown)");
    }

    #[test]
    fn each_layout_says_what_each_of_its_tiers_stands_on() {
        let fact = |key: &str, value: &str| Fact { key: key.to_owned(), value: value.to_owned(), private: false };
        let mut findings = Findings::default();
        let system = |name: &str, facts: &[(&str, &str)]| SystemFacts {
            name: name.to_owned(),
            kind: "postgres".to_owned(),
            fingerprint: facts.iter().map(|(key, value)| fact(key, value)).collect(),
            ..SystemFacts::default()
        };
        let slow = [
            ("database.version", "17.2"),
            ("layout.name", "all-slow"),
            ("layout.slow.holds", "everything"),
            ("layout.slow.device", "disk-15k"),
        ];
        let apart =
            [("layout.fast.holds", "`hot`"), ("module.1.devices", "vda1 > vda"), ("disk.vda.driver", "virtio_blk")];
        let both = [&slow[..], &apart[..]].concat();
        findings.run.systems = vec![system("all-slow", &slow), system("step-1", &both), system("step-2", &both)];
        assert_eq!(
            lines(&findings),
            [
                "all-slow: PostgreSQL 17.2 (slow: emulated disk-15k)",
                "step-1, step-2: PostgreSQL 17.2 (slow: emulated disk-15k; fast: /dev/vda, virtual disk)"
            ]
        );
        findings.run.systems = vec![system(
            "fast",
            &[
                ("database.version", "17.2"),
                ("layout.name", "all-fast"),
                ("layout.fast.holds", "everything"),
                ("mirror.device", "f5100"),
                ("mirror.follows", " with a mirror; commits wait for the logs of both servers"),
            ],
        )];
        assert_eq!(
            lines(&findings),
            [
                "PostgreSQL 17.2 (fast: a folder of this machine; mirror: emulated f5100) with a mirror; commits wait for the logs of both servers"
            ]
        );
    }
}
