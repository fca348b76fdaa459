//! The facts of a run that are not numbers of a trial: who ran what, on which system, with which generator.

use crate::{Ceiling, words};

/// One line of a fingerprint: something that could change a number.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fact {
    /// Dotted name: `kernel.release`, `disk.vda.scheduler`.
    pub key: String,
    /// The value as read, or `not observed`.
    pub value: String,
    /// Whether a redacted copy leaves it out (host names, paths, serial numbers).
    pub private: bool,
}

/// What a system takes to run, as the user states it; carried into comparisons.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Footprint {
    /// Drives.
    pub drives: Option<f64>,
    /// Electrical power in watts.
    pub watts: Option<f64>,
    /// Rack units.
    pub rack_units: Option<f64>,
    /// Price in whatever currency the user keeps.
    pub price: Option<f64>,
    /// Floor space in square metres.
    pub floor: Option<f64>,
}

impl Footprint {
    /// The names of its amounts, as keys have them.
    pub const NAMES: [&'static str; 5] = ["drives", "watts", "rack_units", "price", "floor"];

    /// Its amounts, in the order of their names.
    pub fn amounts(&self) -> [Option<f64>; 5] {
        [self.drives, self.watts, self.rack_units, self.price, self.floor]
    }

    /// An amount, by name; none where there is no such.
    pub fn get_mut(&mut self, name: &str) -> Option<&mut Option<f64>> {
        match name {
            "drives" => Some(&mut self.drives),
            "watts" => Some(&mut self.watts),
            "rack_units" => Some(&mut self.rack_units),
            "price" => Some(&mut self.price),
            "floor" => Some(&mut self.floor),
            _ => None,
        }
    }

    /// Both together; what only one states is that one's.
    #[must_use]
    pub fn with(mut self, other: &Footprint) -> Footprint {
        for (name, more) in Footprint::NAMES.into_iter().zip(other.amounts()) {
            if let (Some(amount), Some(more)) = (self.get_mut(name), more) {
                *amount = Some(amount.unwrap_or_default() + more);
            }
        }
        self
    }
}

/// One system under test.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SystemFacts {
    /// The name used in trials.
    pub name: String,
    /// The word of a [`SystemKind`].
    pub kind: String,
    /// Where it is, in words: a folder, a device, nothing.
    pub place: String,
    /// How many modules it offers.
    pub modules: u32,
    /// How the operations reach it: `io_uring, direct`.
    pub driver: String,
    /// Everything that could change a number.
    pub fingerprint: Vec<Fact>,
    /// As given by the user.
    pub footprint: Footprint,
}

words! {
    /// Kinds of systems.
    pub enum SystemKind {
        File = "file" "Files in a folder.",
        Device = "device" "Block devices.",
        Null = "null" "Answers at once.",
        Scripted = "scripted" "Answers after scripted times.",
        Sqlite = "sqlite" "A SQLite inside of the generator's process.",
        Postgres = "postgres" "A PostgreSQL.",
        Mariadb = "mariadb" "A MariaDB, or a MySQL.",
        NullDatabase = "null-database" "A database that answers at once.",
        Model = "model" "A described machine in virtual time.",
    }
}

words! {
    /// What a disk says that it is.
    pub enum DiskKind {
        Virtual = "virtual disk" "A hypervisor's.",
        Nvme = "NVMe" "On the NVMe bus.",
        Loop = "loop device" "A file.",
        Disk = "disk" "It turns.",
        Ssd = "SSD" "It does not turn.",
        Unknown = "kind unknown" "It does not say.",
    }
}

words! {
    /// What lies between the generator and a database that answers at once.
    pub enum Reached {
        InProcess = "in_process" "Nothing: it is in this process.",
        OverSocket = "over_socket" "A loopback socket.",
    }
}

/// What a run file says of a driver that was not chosen.
pub const URING_REFUSED: &str = "io_uring is not allowed here";

/// What it says where a database that answers at once is behind a socket.
pub const OVER_SOCKET: &str = "answers at once, over a loopback socket";

/// What a fingerprint says of what could not be read.
pub const NOT_OBSERVED: &str = "not observed";

impl SystemFacts {
    /// Whether it is of this kind.
    pub fn is(&self, kind: SystemKind) -> bool {
        self.kind == kind.word()
    }

    /// Whether there is storage below it that could be cached, or shared with others.
    pub fn has_storage(&self) -> bool {
        use SystemKind::{Model, Null, NullDatabase, Scripted};
        ![Null, Scripted, NullDatabase, Model].into_iter().any(|kind| self.is(kind))
    }

    /// Whether threads drove it because io_uring was refused.
    pub fn uring_refused(&self) -> bool {
        self.driver.contains(URING_REFUSED)
    }

    /// What of a database that answers at once lies between it and the generator.
    pub fn reached(&self) -> Reached {
        let socket = self.is(SystemKind::NullDatabase) && self.place == OVER_SOCKET;
        if socket { Reached::OverSocket } else { Reached::InProcess }
    }

    /// A line of its fingerprint.
    pub fn fact(&self, key: &str) -> Option<&str> {
        self.fingerprint.iter().find(|fact| fact.key == key).map(|fact| fact.value.as_str())
    }

    /// The block devices below its modules, as the fingerprint has them: `module.0.devices` is `vda1 > vda`.
    pub fn devices(&self) -> impl Iterator<Item = &str> {
        let of_module = |fact: &&Fact| fact.key.starts_with("module.") && fact.key.ends_with(".devices");
        let below = self.fingerprint.iter().filter(of_module).flat_map(|fact| fact.value.split(" > "));
        below.filter(|name| *name != NOT_OBSERVED)
    }

    /// The block devices below one of its places.
    pub fn devices_of(&self, place: usize) -> impl Iterator<Item = &str> {
        let below = self.fact(&format!("module.{place}.devices")).unwrap_or_default();
        below.split(" > ").filter(|name| !name.is_empty() && *name != NOT_OBSERVED)
    }

    /// The emulated devices below it, as the fingerprint has them: what of it lies there (a tier, its mirror) where that is not all, and
    /// the model.
    pub fn emulated(&self) -> impl Iterator<Item = (Option<&str>, &str)> {
        self.fingerprint.iter().filter_map(|fact| {
            let part = match fact.key.strip_suffix(".device")?.split_once('.') {
                Some(("module", _)) => None,
                Some(("layout", tier)) => Some(tier),
                None if fact.key == "mirror.device" => Some("mirror"),
                _ => return None,
            };
            Some((part, fact.value.as_str()))
        })
    }

    /// The loop device that its first module stands on, which has a file and the cache of that below it.
    pub fn loop_device(&self) -> Option<&str> {
        self.devices_of(0).find(|device| device.starts_with("loop"))
    }

    /// A line of its fingerprint that was observed.
    pub fn observed(&self, key: &str) -> Option<&str> {
        self.fact(key).filter(|value| *value != NOT_OBSERVED)
    }

    /// The disk at the bottom of its first module.
    pub fn disk(&self) -> Option<(&str, DiskKind, Option<&str>)> {
        self.disk_of(0)
    }

    /// The disk at the bottom of one of its places: name, kind, and the model that it says it is.
    pub fn disk_of(&self, place: usize) -> Option<(&str, DiskKind, Option<&str>)> {
        let disk = self.devices_of(place).last()?;
        let of = |what: &str| self.observed(&format!("disk.{disk}.{what}"));
        let driver = of("driver").unwrap_or_default();
        let kind = match of("rotational") {
            _ if ["virtio", "xen", "vmw"].into_iter().any(|begins| driver.starts_with(begins)) => DiskKind::Virtual,
            _ if disk.starts_with("nvme") => DiskKind::Nvme,
            _ if disk.starts_with("loop") => DiskKind::Loop,
            Some("1") => DiskKind::Disk,
            Some("0") => DiskKind::Ssd,
            _ => DiskKind::Unknown,
        };
        Some((disk, kind, of("model")))
    }

    /// Bytes of the machine's memory.
    pub fn memory_bytes(&self) -> Option<u64> {
        let kib: u64 = self.observed("memory.total")?.strip_suffix(" kB")?.parse().ok()?;
        Some(kib * 1024)
    }

    /// Whether a hypervisor runs the machine.
    pub fn is_virtual(&self) -> bool {
        self.observed("host.hypervisor").is_some_and(|kind| kind != "no")
    }

    /// Bytes of each module, of files and devices.
    pub fn module_bytes(&self) -> Option<u64> {
        self.fact("module.0.bytes")?.parse().ok().filter(|bytes| *bytes > 0)
    }

    /// The number of a database's version, without its maker's remarks.
    pub fn version(&self) -> &str {
        self.fact("database.version").and_then(|version| version.split(' ').next()).unwrap_or_default()
    }

    /// The name of the layout of a database that has one, as the fingerprint has it.
    pub fn layout(&self) -> Option<&str> {
        self.fact("layout.name")
    }

    /// What a transaction of its workload costs the generator on a database that answers at once, as the fingerprint has it.
    pub fn client_cost(&self, reached: Reached) -> Option<&str> {
        self.fact(&Fact::client_cost(reached, 0.0).key)
    }
}

impl Fact {
    /// That a transaction costs the generator so much when the database needs nothing.
    pub fn client_cost(reached: Reached, cost_us: f64) -> Fact {
        let key = format!("generator.transaction.{}", reached.word());
        Fact { key, value: format!("{cost_us:.1} us"), private: false }
    }

    /// That one of its folders lies on an emulated device.
    pub fn emulated(folder: usize, model: &str) -> Fact {
        Fact { key: format!("module.{folder}.device"), value: model.to_owned(), private: false }
    }

    /// That an idle core waits awake while the system is measured.
    pub fn cores_awake() -> Fact {
        Fact { key: "cpu.idle".to_owned(), value: "kept awake".to_owned(), private: false }
    }

    /// Reads such a cost back, in microseconds.
    pub fn client_cost_us(value: &str) -> Option<f64> {
        value.strip_suffix(" us")?.parse().ok().filter(|cost| *cost > 0.0)
    }
}

/// A run, apart from its trials.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunFacts {
    /// `2026-11-21T2130-flash`.
    pub id: String,
    /// Name of the study.
    pub study: String,
    /// Its title.
    pub title: String,
    /// Its question.
    pub question: String,
    /// Wall-clock start, nanoseconds since 1970 in UTC.
    pub started_unix_ns: i64,
    /// The seed from which every choice of the run follows.
    pub seed: u64,
    /// Prony's version.
    pub version: String,
    /// Commit it was built from, or `unknown`.
    pub commit: String,
    /// The text of the study as it was run.
    pub study_text: String,
    /// `--on` values, secrets removed.
    pub targets: Vec<String>,
    /// `--set` values.
    pub settings: Vec<String>,
    /// `--only` values.
    pub only: Vec<String>,
    /// Labels that the user gave.
    pub tags: Vec<String>,
    /// A remark that the user gave.
    pub note: String,
    /// The systems under test.
    pub systems: Vec<SystemFacts>,
    /// The generator's own limits, when they were measured.
    pub ceiling: Option<Ceiling>,
    /// Whether every planned trial ended.
    pub finished: bool,
    /// Whether another process still measures: this is how the run stood when it was read.
    pub running: bool,
}
