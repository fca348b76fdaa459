//! Cores that a process keeps busy so that they do not fall asleep.
//!
//! The one idea: it stands in a control group of the idle class at the root of all groups. Whoever wants a core has it at once, in
//! whichever group or session; a thread of the lowest priority alone would keep its core for milliseconds, and one of the idle class has
//! the share of its session (sched(7), "The autogroup feature"). Each of its threads gives way again and again.
//!
//! What it does not do: its time is no work. It counts as idle wherever cores of this machine are counted.

use std::fs;
use std::hint::black_box;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::thread::CpuSet;

use crate::cpu::Machine;
use crate::{quota, scan};

/// The one group of all such processes, below the root.
const GROUP: &str = "prony-awake";

/// Steps between two moments at which a thread gives way: about a microsecond.
const STEPS: u32 = 1_000;

/// The group, as far as this system has such groups.
fn group() -> Option<PathBuf> {
    Some(quota::groups().last()?.join(GROUP))
}

/// Keeps all cores on which this process may run awake, until `lifetime` ends. `begun` is called before: where cores are busy, a process of
/// the idle class comes to say nothing.
///
/// # Errors
/// This system has no control groups of the idle class, or this user may make none.
pub fn keep_awake(mut lifetime: impl Read, begun: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
    let inside = Inside::make()?;
    begun()?;
    inside.enter()?;
    let cores = rustix::thread::sched_getaffinity(None)?;
    let ended = Arc::new(AtomicBool::new(false));
    for core in (0..CpuSet::MAX_CPU).filter(|core| cores.is_set(*core)) {
        let ended = ended.clone();
        std::thread::Builder::new().name(GROUP.into()).spawn(move || busy(core, &ended))?;
    }
    while lifetime.read(&mut [0; 64])? > 0 {}
    ended.store(true, Ordering::Relaxed);
    drop(inside);
    Ok(())
}

fn busy(core: usize, ended: &AtomicBool) {
    let mut own = CpuSet::new();
    own.set(core);
    // One that may not be bound keeps some core awake.
    let _ = rustix::thread::sched_setaffinity(None, &own);
    while !ended.load(Ordering::Relaxed) {
        // Without the instruction for waiting, of which a hypervisor makes a reason to give the core to others.
        for step in 0..STEPS {
            black_box(step);
        }
        std::thread::yield_now();
    }
}

/// The group for this process, which leaves it with this.
struct Inside {
    group: PathBuf,
    home: PathBuf,
}

impl Inside {
    fn make() -> io::Result<Inside> {
        let home = quota::groups().first().cloned();
        let (Some(group), Some(home)) = (group(), home) else { return Err(io::ErrorKind::Unsupported.into()) };
        made(&group)?;
        Ok(Inside { group, home })
    }

    /// Who was the last in it may have taken it away since it was made.
    fn enter(&self) -> io::Result<()> {
        let enter = || fs::write(self.group.join("cgroup.procs"), std::process::id().to_string());
        for _ in 0..ENTRIES {
            match enter() {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    // Made and taken away once more, it is missing again.
                    let _ = made(&self.group);
                }
                entered => return entered,
            }
        }
        enter()
    }
}

/// How often it is made anew for one who wants to enter.
const ENTRIES: u32 = 100;

fn made(group: &Path) -> io::Result<()> {
    match fs::create_dir(group) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    fs::write(group.join("cpu.idle"), "1")
}

impl Drop for Inside {
    fn drop(&mut self) {
        // Where it cannot leave, its end takes it out; a group in which another one stands stays.
        let _ = fs::write(self.home.join("cgroup.procs"), std::process::id().to_string());
        let _ = fs::remove_dir(&self.group);
    }
}

/// One thread that keeps its core busy: its number, its core, and what it has used, in ticks.
type Thread = (u32, u32, [u64; 2]);

/// The time that such processes have used since they were first looked at, by core.
#[derive(Debug, Default)]
pub(crate) struct Keepers {
    group: Option<PathBuf>,
    ns_per_tick: u64,
    last: Vec<Thread>,
    /// User and system time of each core, nanoseconds; what a thread that has ended used stays.
    used: Vec<(u32, [u64; 2])>,
}

impl Keepers {
    pub fn new(ticks_per_s: u64) -> Keepers {
        Keepers { group: group(), ns_per_tick: 1_000_000_000 / ticks_per_s.max(1), ..Keepers::default() }
    }

    /// The processes that stand in the group now.
    pub fn processes(&self) -> Vec<u32> {
        let inside = self.group.as_ref().and_then(|group| fs::read_to_string(group.join("cgroup.procs")).ok());
        inside.iter().flat_map(|inside| scan::numbers(inside)).map(|process| process as u32).collect()
    }

    /// Looks at them; whether any is there.
    pub fn look(&mut self) -> bool {
        let processes = self.processes();
        self.take(processes.iter().flat_map(|process| threads(Path::new("/proc"), *process)).collect());
        !processes.is_empty()
    }

    fn take(&mut self, now: Vec<Thread>) {
        for (thread, core, used) in &now {
            let before = self.last.iter().find(|(known, ..)| known == thread).map_or([0; 2], |(.., used)| *used);
            let sum = match self.used.iter_mut().find(|(known, _)| known == core) {
                Some((_, sum)) => sum,
                None => {
                    self.used.push((*core, [0; 2]));
                    let [.., (_, sum)] = &mut self.used[..] else { continue };
                    sum
                }
            };
            for ((sum, used), before) in sum.iter_mut().zip(used).zip(before) {
                *sum += used.saturating_sub(before) * self.ns_per_tick;
            }
        }
        self.last = now;
    }

    /// Makes idle time of theirs in what the machine counts.
    pub fn apart(&self, mut machine: Machine) -> Machine {
        for (core, [user, system]) in &self.used {
            let own = machine.cores.iter_mut().find(|(known, _)| known == core).map(|(_, times)| times);
            for times in own.into_iter().chain([&mut machine.total]) {
                times.user = times.user.saturating_sub(*user);
                times.system = times.system.saturating_sub(*system);
                times.idle += user + system;
            }
        }
        machine
    }
}

/// The threads of such a process but for the first, which waits (proc_pid_stat(5)).
fn threads(proc: &Path, process: u32) -> Vec<Thread> {
    let tasks = fs::read_dir(proc.join(format!("{process}/task"))).into_iter().flatten().flatten();
    let read = |task: fs::DirEntry| {
        let thread: u32 = task.file_name().to_str()?.parse().ok().filter(|thread| *thread != process)?;
        let text = fs::read_to_string(task.path().join("stat")).ok()?;
        // The name stands in parentheses and may hold blanks; the state follows it as the third field.
        let fields: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
        let field = |number: usize| fields.get(number - 3)?.parse::<u64>().ok();
        Some((thread, field(39)? as u32, [field(14)?, field(15)?]))
    };
    tasks.filter_map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::Times;

    const TICK: u64 = 10_000_000;

    fn machine(user: u64) -> Machine {
        let times = Times { user: user * TICK, system: 50 * TICK, idle: 7 * TICK, ..Times::default() };
        Machine { total: times, cores: vec![(0, times), (1, times)], context_switches: None }
    }

    #[test]
    fn time_that_keeps_cores_awake_is_idle_time_of_its_core_also_when_its_thread_has_ended() {
        let mut keepers = Keepers { ns_per_tick: TICK, ..Keepers::default() };
        keepers.take(vec![(8, 1, [30, 10])]);
        keepers.take(vec![(8, 1, [40, 12])]);
        keepers.take(Vec::new());
        keepers.take(vec![(9, 1, [5, 0])]);
        let seen = keepers.apart(machine(100));
        let apart = Times { user: 55 * TICK, system: 38 * TICK, idle: 64 * TICK, ..Times::default() };
        assert_eq!(seen.cores, [machine(100).cores[0], (1, apart)]);
        assert_eq!(seen.total, apart);
    }

    #[test]
    fn threads_are_found_by_their_core_whatever_their_name_is() {
        let proc = tempfile::tempdir().unwrap();
        for (thread, core) in [(70, 0), (71, 3)] {
            let task = proc.path().join(format!("70/task/{thread}"));
            fs::create_dir_all(&task).unwrap();
            let rest = (4..=52).map(|field| if field == 39 { core } else { field }.to_string()).collect::<Vec<_>>();
            fs::write(task.join("stat"), format!("{thread} (a ) name) R {}\n", rest.join(" "))).unwrap();
        }
        assert_eq!(threads(proc.path(), 70), [(71, 3, [14, 15])]);
    }

    #[test]
    fn a_process_stands_in_the_group_while_it_keeps_cores_awake_and_nowhere_near_it_afterwards() {
        let own = std::process::id();
        let stands = || Keepers::new(100).processes().contains(&own);
        let Ok(inside) = Inside::make() else { return assert!(!stands()) };
        inside.enter().unwrap();
        assert!(stands() && Keepers::new(100).look());
        drop(inside);
        assert!(!stands());
    }

    #[test]
    fn who_keeps_cores_awake_says_so_before_it_gives_way_to_everybody() {
        let mut said = None;
        let kept = keep_awake(io::empty(), || {
            said = Some(Keepers::new(100).processes().contains(&std::process::id()));
            Ok(())
        });
        assert_eq!(said, kept.is_ok().then_some(false));
    }
}
