//! Names of probes with their units.
//!
//! The one idea: whoever reads the machine and whoever judges the readings name a probe by the same value. Its text exists
//! for the run file alone, is made here, and is read back here when a run file is opened.

use crate::Counter;
use std::fmt::{self, Display, Formatter};

/// What the end of a transaction is called among the statements of a workload; no workload has a statement of that name.
pub const COMMIT: &str = "(commit)";

/// Declares what is read of each of several alike things: its text and its unit.
macro_rules! readings {
    ($(#[$meta:meta])* $name:ident { $($variant:ident $text:literal $unit:literal,)+ }) => {
        $crate::words! {
            $(#[$meta])*
            pub enum $name {
                $(#[doc = concat!("`", $text, "`, in ", $unit, ".")] $variant = $text,)+
            }
        }

        impl $name {
            fn unit(self) -> &'static str {
                match self {
                    $($name::$variant => $unit,)+
                }
            }
        }
    };
}

readings! {
    /// What there is one of: of the machine, the generator, the server, or a model.
    Whole {
        CpuUser "machine.cpu.user" "cores",
        CpuSystem "machine.cpu.system" "cores",
        CpuIowait "machine.cpu.iowait" "cores",
        CpuSteal "machine.cpu.steal" "cores",
        CpuInterrupts "machine.cpu.interrupts" "cores",
        CpuFrequency "machine.cpu.frequency" "Hz",
        ThermalThrottles "machine.cpu.thermal_throttles" "1/s",
        ContextSwitches "machine.context_switches" "1/s",
        Mains "machine.power.mains" "share",
        Memory "machine.memory bytes now" "B",
        MemoryAvailable "memory.available" "B",
        MemoryCached "memory.cached" "B",
        MemoryDirty "memory.dirty" "B",
        MemoryWriteback "memory.writeback" "B",
        MemoryResident "memory.rss" "B",
        WrittenByOthers "disks.others.bytes_written" "B/s",
        CgroupThrottled "cgroup.throttled" "share",
        CgroupStopped "cgroup.stopped" "cores",
        GeneratorCpuUser "generator.cpu.user" "cores",
        GeneratorCpuSystem "generator.cpu.system" "cores",
        RingGeneration "generator.rings.generation" "generation",
        RingBuffers "generator.rings.registered_buffers" "share",
        RingPollFirst "generator.rings.poll_first" "share",
        Hung "generator.operations.hung" "operations",
        HungBefore "generator.operations.hung_before" "operations",
        EmulatedAnswers "emulated.answers" "operations",
        EmulatedLate "emulated.answers.late" "operations",
        JobsEnded "generator.jobs.ended" "s",
        ClockError "generator.clock.error" "ppm",
        ClockUncertainty "generator.clock.uncertainty" "ppm",
        ClockSuspended "generator.clock.suspended" "s",
        ClockJump "generator.clock.jump" "s",
        WaitedForCpu "generator.waited_for_cpu" "share",
        LooksMean "generator.between_looks.mean" "ms",
        LooksP99 "generator.between_looks.p99" "ms",
        LooksMax "generator.between_looks.max" "ms",
        SwitchesVoluntary "generator.switches.voluntary" "1/s",
        SwitchesInvoluntary "generator.switches.involuntary" "1/s",
        ChildrenCpu "generator.children.cpu" "cores",
        ServerCores "server.cores" "cores",
        ServerCpuUser "server.cpu.user" "cores",
        ServerCpuSystem "server.cpu.system" "cores",
        ServerCpuBusy "server.cpu.busy" "cores",
        MirrorCpu "mirror.cpu" "cores",
        MirrorState "mirror.state now" "state",
        MirrorKept "mirror.kept bytes now" "B",
        MirrorSent "mirror.sent bytes now" "B",
        MirrorWaiting "mirror.waiting now" "commits",
        MirrorChanging "mirror.changing" "1/s",
        MirrorWritten "mirror.lag.written" "ms",
        MirrorFlushed "mirror.lag.flushed" "ms",
        MirrorApplied "mirror.lag.applied" "ms",
        MirrorFlush "mirror.flush" "ms",
        MirrorWire "mirror.wire" "ms",
        MirrorTrips "mirror.round_trips" "1/s",
        ServerBytesRead "server.bytes_read" "B/s",
        ServerBytesWritten "server.bytes_written" "B/s",
        ServerProcesses "server.processes" "processes",
        FilesOfData "files.data.bytes now" "B",
        FilesOfDataCached "files.data.cached bytes now" "B",
        Transactions "profile.transactions" "1/s",
        OutsideDriver "model.outside.driver" "sessions",
        OutsideThink "model.outside.think" "sessions",
        JobLongest "job.longest" "s",
        JobMean "job.mean" "s",
    }
}

units::words! {
    /// How a database and its mirror stand, as whoever looks after them knows it; a series of [`Whole::MirrorState`] holds its number.
    pub enum MirrorState {
        Follows = "follows" "The mirror follows.",
        Gone = "alone, connection ended" "The first server goes on alone: the mirror's connection had ended.",
        Silent = "alone, nothing confirmed" "The first server goes on alone: the mirror's connection stood, and nothing was confirmed over it.",
        Asked = "alone, asked for" "The first server goes on alone, because somebody asked for it.",
        TakenOver = "taken over" "The mirror took over from a first server that was lost.",
        CatchesUp = "catches up" "The mirror catches up.",
        Unserved = "unserved" "The first server is lost, and nobody serves.",
    }
}

impl MirrorState {
    /// Its number in a series.
    pub fn number(self) -> f64 {
        f64::from(self as u8)
    }

    /// The state of a number; none of a newer version's.
    pub fn of(number: f64) -> Option<MirrorState> {
        MirrorState::ALL.iter().copied().find(|state| state.number() == number)
    }
}

readings! {
    /// What is read of one core.
    OfCore {
        Busy "busy" "share",
        Steal "steal" "share",
    }
}

readings! {
    /// What is read of one disk.
    OfDisk {
        Reads "reads" "1/s",
        Writes "writes" "1/s",
        BytesRead "bytes_read" "B/s",
        BytesWritten "bytes_written" "B/s",
        BytesDiscarded "bytes_discarded" "B/s",
        Flushes "flushes" "1/s",
        Wait "wait" "ms",
        ReadWait "read_wait" "ms",
        WriteWait "write_wait" "ms",
        Utilisation "utilisation" "share",
        InFlight "in_flight" "operations",
    }
}

readings! {
    /// What is read of the generator's threads of one name.
    OfThreads {
        Cpu "cpu" "cores",
        Waiting "waiting" "cores",
    }
}

readings! {
    /// What of the time tasks waited for a resource.
    Stalled {
        Some "some" "share",
        Full "full" "share",
    }
}

crate::words! {
    /// What tasks may have to wait for.
    pub enum Resource {
        Cpu = "cpu" "A core.",
        Io = "io" "Reads and writes.",
        Memory = "memory" "Pages.",
    }
}

readings! {
    /// What is counted of one statement; times and sizes as the database counts them.
    OfStatement {
        Executions "executions" "1/s",
        Rows "rows" "1/s",
        Changed "changed" "1/s",
        ServerExecutions "server_executions" "1/s",
        ExecutionSeconds "execution_seconds" "s/s",
        IoSeconds "io_seconds" "s/s",
        PlanningSeconds "planning_seconds" "s/s",
        CpuSeconds "cpu_seconds" "s/s",
        Lookups "lookups" "1/s",
        Reads "reads" "1/s",
        RowsExamined "rows_examined" "1/s",
        LogBytes "log_bytes" "B/s",
    }
}

crate::words! {
    /// Where a session that carries a statement out is.
    pub enum Spent {
        Cpu = "CPU" "On a core, or waiting for one.",
        Locks = "locks" "Waiting for a row, a table or another lock of a transaction.",
        Log = "log" "Writing the log, waiting for that, or for a mirror to confirm it.",
        Io = "I/O" "Reading or writing files other than the log.",
        Other = "other" "Latches of the server's memory, the client, other processes.",
    }
}

impl Spent {
    /// By the server's name of a wait.
    pub fn of(event: &str) -> Spent {
        let (kind, name) = event.split_once(':').unwrap_or((event, ""));
        match kind {
            "CPU" => Spent::Cpu,
            "Lock" => Spent::Locks,
            _ if name.to_lowercase().starts_with("wal") || name == "SyncRep" || kind == "Log" => Spent::Log,
            "IO" => Spent::Io,
            _ => Spent::Other,
        }
    }
}

/// The name of a probe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Probe {
    /// Something that there is one of.
    Whole(Whole),
    /// A core of the machine, by its number.
    Core(u32, OfCore),
    /// A disk, by its kernel name.
    Disk(String, OfDisk),
    /// The generator's threads of a name.
    Threads(String, OfThreads),
    /// What tasks waited for.
    Pressure(Resource, Stalled),
    /// What the database's server counts itself.
    Counter(Counter),
    /// A statement of the workload, by its name or [`COMMIT`].
    Statement(String, OfStatement),
    /// Sessions that a statement kept on the mean, by its name, in what the server calls this event: `Lock:transactionid`, `CPU`.
    Wait(String, String),
    /// How busy a station of a model was, by its name.
    Station(String),
    /// A name that this version does not know, with its unit.
    Other {
        /// As it stands in the run file.
        name: String,
        /// The unit beside it.
        unit: String,
    },
}

impl Probe {
    /// The unit of its readings.
    pub fn unit(&self) -> &str {
        match self {
            Probe::Whole(what) => what.unit(),
            Probe::Core(_, what) => what.unit(),
            Probe::Disk(_, what) => what.unit(),
            Probe::Threads(_, what) => what.unit(),
            Probe::Pressure(_, what) => what.unit(),
            Probe::Counter(counter) if !counter.is_level() => "1/s",
            Probe::Counter(counter) if counter.in_bytes() => "B",
            Probe::Counter(_) => "",
            Probe::Statement(_, what) => what.unit(),
            Probe::Wait(..) => "s/s",
            Probe::Station(_) => "share",
            Probe::Other { unit, .. } => unit,
        }
    }

    /// Reads the text of a run file back.
    pub fn read(name: &str, unit: &str) -> Probe {
        let known = Whole::of_word(name).map(Probe::Whole).or_else(|| Probe::of_parts(name));
        let told_alike = known.filter(|probe| probe.to_string() == name);
        told_alike.unwrap_or_else(|| Probe::Other { name: name.to_owned(), unit: unit.to_owned() })
    }

    /// Names of things may hold dots; what is read of them never does.
    fn of_parts(name: &str) -> Option<Probe> {
        let (room, rest) = name.split_once('.')?;
        if let "database" = room {
            return Counter::of_word(rest).map(Probe::Counter);
        }
        let (thing, what) = rest.rsplit_once('.')?;
        let named = |room: &str| thing.strip_prefix(room);
        Some(match room {
            "machine" => Probe::Core(named("cpu.core.")?.parse().ok()?, OfCore::of_word(what)?),
            "disk" => Probe::Disk(thing.to_owned(), OfDisk::of_word(what)?),
            "generator" => Probe::Threads(named("thread.")?.to_owned(), OfThreads::of_word(what)?),
            "pressure" => Probe::Pressure(Resource::of_word(thing)?, Stalled::of_word(what)?),
            "statement" => Probe::Statement(thing.to_owned(), OfStatement::of_word(what)?),
            "wait" => Probe::Wait(thing.to_owned(), what.to_owned()),
            "model" => Probe::Station(thing.to_owned()),
            _ => return None,
        })
    }
}

impl From<Whole> for Probe {
    fn from(what: Whole) -> Probe {
        Probe::Whole(what)
    }
}

impl From<Counter> for Probe {
    fn from(counter: Counter) -> Probe {
        Probe::Counter(counter)
    }
}

impl Display for Probe {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Probe::Whole(what) => f.write_str(what.word()),
            Probe::Core(number, what) => write!(f, "machine.cpu.core.{number}.{}", what.word()),
            Probe::Disk(name, what) => write!(f, "disk.{name}.{}", what.word()),
            Probe::Threads(name, what) => write!(f, "generator.thread.{name}.{}", what.word()),
            Probe::Pressure(resource, what) => write!(f, "pressure.{}.{}", resource.word(), what.word()),
            Probe::Counter(counter) => write!(f, "database.{}", counter.word()),
            Probe::Statement(name, what) => write!(f, "statement.{name}.{}", what.word()),
            Probe::Wait(name, event) => write!(f, "wait.{name}.{event}"),
            Probe::Station(name) => write!(f, "model.{name}.utilisation"),
            Probe::Other { name, .. } => f.write_str(name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_probe_is_read_back_from_its_text() {
        let whole = Whole::ALL.iter().map(|what| Probe::Whole(*what));
        let counters = Counter::ALL.iter().map(|counter| Probe::Counter(*counter));
        let named = [
            Probe::Core(3, OfCore::Busy),
            Probe::Disk("dm.0".into(), OfDisk::ReadWait),
            Probe::Threads("worker 1".into(), OfThreads::Waiting),
            Probe::Pressure(Resource::Memory, Stalled::Some),
            Probe::Statement(COMMIT.into(), OfStatement::LogBytes),
            Probe::Statement("order.insert".into(), OfStatement::Rows),
            Probe::Wait("order.insert".into(), "Lock:transactionid".into()),
            Probe::Station("module.mean".into()),
        ];
        for probe in whole.chain(counters).chain(named) {
            assert_eq!(Probe::read(&probe.to_string(), probe.unit()), probe);
        }
    }

    #[test]
    fn the_servers_name_of_a_wait_tells_what_it_is_for() {
        for (event, spent) in [
            ("CPU", Spent::Cpu),
            ("Lock:transactionid", Spent::Locks),
            ("IO:WALSync", Spent::Log),
            ("LWLock:WalWrite", Spent::Log),
            ("IPC:SyncRep", Spent::Log),
            ("Log:commit", Spent::Log),
            ("IO:DataFileRead", Spent::Io),
            ("LWLock:LockManager", Spent::Other),
            ("Client:ClientRead", Spent::Other),
        ] {
            assert_eq!(Spent::of(event), spent, "{event}");
        }
    }

    /// Run files of format 1 hold these texts.
    #[test]
    fn the_texts_of_run_files_stay_as_they_are() {
        let told = |probe: Probe| format!("{probe} {}", probe.unit());
        assert_eq!(told(Probe::Core(3, OfCore::Busy)), "machine.cpu.core.3.busy share");
        assert_eq!(told(Probe::Disk("vda".into(), OfDisk::Utilisation)), "disk.vda.utilisation share");
        assert_eq!(told(Probe::Counter(Counter::LogBytes)), "database.log bytes 1/s");
        assert_eq!(told(Probe::Counter(Counter::Data)), "database.data bytes now B");
        assert_eq!(told(Probe::Statement(COMMIT.into(), OfStatement::Executions)), "statement.(commit).executions 1/s");
        assert_eq!(told(Probe::Station("port-out".into())), "model.port-out.utilisation share");
    }

    #[test]
    fn a_text_that_nobody_here_writes_is_kept_as_it_is() {
        for name in ["", "disk", "machine.cpu.core.03.busy", "disk.vda.colour", "model.host.speed", "database.fish"] {
            let probe = Probe::read(name, "fish");
            assert_eq!(probe, Probe::Other { name: name.into(), unit: "fish".into() });
            assert_eq!((probe.to_string().as_str(), probe.unit()), (name, "fish"));
        }
    }
}
