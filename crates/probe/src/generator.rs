//! What Prony's own process takes: CPU, context switches, threads, and the bytes that it asked of the storage.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fs;

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeVal;
use observation::CpuTime;

use crate::scan;
use crate::source::Source;

/// Counters of the process since its start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// CPU in user mode, nanoseconds.
    pub user_ns: u64,
    /// CPU in the kernel on the process's behalf, nanoseconds.
    pub system_ns: u64,
    /// Times it gave up the CPU to wait.
    pub switches_voluntary: u64,
    /// Times the CPU was taken from it.
    pub switches_involuntary: u64,
}

impl Usage {
    fn cpu_time(&self) -> CpuTime {
        CpuTime { user_s: self.user_ns as f64 / 1e9, system_s: self.system_ns as f64 / 1e9 }
    }
}

/// CPU of the whole process so far, every thread that lives or has ended, as `getrusage` has it.
///
/// The total is exact to about one timer tick of each running thread (1 to 4 ms), because the kernel brings a
/// thread's count up to date when it is scheduled or ticks; how the total splits into user and system is sampled at
/// ticks unless the kernel was built for exact accounting.
pub fn cpu_time() -> CpuTime {
    usage().cpu_time()
}

/// CPU of the calling thread so far. Its split into user and system is better than that of the process: the kernel
/// samples at ticks and spreads the exact total by the samples of the whole life, so that what a process did before
/// (measuring its own ceiling, filling files) would colour what it does now. A thread that lives for one trial has no past.
pub fn thread_cpu_time() -> CpuTime {
    counters(UsageWho::RUSAGE_THREAD).cpu_time()
}

/// How long the calling thread has waited for a CPU so far although it could have run, nanoseconds; `None` where the kernel does
/// not count it.
pub fn thread_waited_ns() -> Option<u64> {
    let counted = fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    counted.split_ascii_whitespace().nth(1)?.parse().ok()
}

/// Reads the counters of the process.
pub fn usage() -> Usage {
    counters(UsageWho::RUSAGE_SELF)
}

fn counters(who: UsageWho) -> Usage {
    // The call cannot fail for a valid `who`; zeros would then show as no CPU at all rather than as a wrong one.
    let Ok(usage) = getrusage(who) else { return Usage::default() };
    let ns = |time: TimeVal| (time.tv_sec() as u64) * 1_000_000_000 + (time.tv_usec() as u64) * 1000;
    Usage {
        user_ns: ns(usage.user_time()),
        system_ns: ns(usage.system_time()),
        switches_voluntary: usage.voluntary_context_switches() as u64,
        switches_involuntary: usage.involuntary_context_switches() as u64,
    }
}

/// One thread of the process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Thread {
    /// Its number.
    pub id: u32,
    /// Its name.
    pub name: String,
    /// CPU so far, nanoseconds.
    pub run_ns: u64,
    /// Time so far that it was ready to run and no core was free for it, nanoseconds.
    pub waiting_ns: u64,
}

/// Reads the text of a `schedstat` file of a task: nanoseconds on a core, nanoseconds ready and waiting.
pub fn parse_schedstat(text: &str) -> Option<(u64, u64)> {
    let mut numbers = scan::numbers(text);
    Some((numbers.next()?, numbers.next()?))
}

/// Bytes that this process caused to be written to storage: at once for direct writes, when a page became dirty for
/// buffered ones (proc_pid_io(5)).
pub fn parse_written(text: &str) -> Option<u64> {
    Some(scan::after(text, "write_bytes:")?.saturating_sub(scan::after(text, "cancelled_write_bytes:").unwrap_or(0)))
}

/// The threads that are watched, with their files open.
#[derive(Debug, Default)]
pub struct Threads {
    open: BTreeMap<u32, (String, Source)>,
}

/// With more threads than this none is watched: reading them would cost too much, and a part would mislead.
const THREADS_MAX: usize = 128;

impl Threads {
    /// Reads every thread of the process; empty when there are too many or the kernel does not count them.
    pub fn read(&mut self) -> Vec<Thread> {
        let ids = task_ids();
        if ids.len() > THREADS_MAX {
            self.open.clear();
            return Vec::new();
        }
        self.open.retain(|id, _| ids.contains(id));
        ids.into_iter().filter_map(|id| self.read_one(id)).collect()
    }

    fn read_one(&mut self, id: u32) -> Option<Thread> {
        let (name, source) = match self.open.entry(id) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => new.insert(open_thread(id)?),
        };
        let (run_ns, waiting_ns) = parse_schedstat(source.read()?)?;
        Some(Thread { id, name: name.clone(), run_ns, waiting_ns })
    }
}

fn open_thread(id: u32) -> Option<(String, Source)> {
    let folder = format!("/proc/self/task/{id}");
    let name = fs::read_to_string(format!("{folder}/comm")).ok()?.trim().to_owned();
    Some((name, Source::open(format!("{folder}/schedstat"))?))
}

fn task_ids() -> Vec<u32> {
    let entries = fs::read_dir("/proc/self/task").into_iter().flatten().filter_map(Result::ok);
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_in_user_mode_shows_as_user_time() {
        let before = usage();
        let mut sum = 0_u64;
        while usage().user_ns < before.user_ns + 20_000_000 {
            sum = (0..100_000).fold(sum, |a, b| std::hint::black_box(a ^ b));
        }
        assert!(cpu_time().user_s >= 0.02, "{sum}");
    }

    #[test]
    fn written_bytes_leave_out_what_was_cancelled() {
        let text =
            "rchar: 1\nwchar: 2\nsyscr: 3\nsyscw: 4\nread_bytes: 5\nwrite_bytes: 600\ncancelled_write_bytes: 70\n";
        assert_eq!(parse_written(text), Some(530));
        assert_eq!(parse_schedstat("123 45 6\n"), Some((123, 45)));
    }
}
