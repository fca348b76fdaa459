//! What the generator itself costs in the measured window.
//!
//! The total is the process's: it is exact, and holds what the kernel's own threads do for our I/O. How it splits into
//! user and system is taken from the threads of the trial, which have no past that colours the split.

use observation::{CpuTime, Window};
use units::Nanos;

/// CPU of the driving thread, read at both ends of the window.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ThreadCpu {
    opened: Option<Reading>,
    closed: Option<Reading>,
    /// When the next reading is due.
    due: Nanos,
}

impl ThreadCpu {
    pub(crate) fn new(window: Window) -> ThreadCpu {
        ThreadCpu { due: window.start, ..ThreadCpu::default() }
    }

    /// Reads the clock when it is due; a comparison otherwise.
    #[inline]
    pub(crate) fn look(&mut self, now: Nanos, window: Window) {
        if now >= self.due {
            self.read(window);
        }
    }

    #[cold]
    fn read(&mut self, window: Window) {
        let reading = Some(Reading::now());
        if self.opened.is_none() {
            (self.opened, self.due) = (reading, window.end);
        } else {
            (self.closed, self.due) = (reading, Nanos::MAX);
        }
    }

    /// What the thread used between the two readings; the end of the drive stands for a window that it did not reach.
    pub(crate) fn used(self) -> ThreadUse {
        let opened = self.opened.unwrap_or_default();
        let closed = self.closed.unwrap_or_else(Reading::now);
        let cpu = CpuTime {
            user_s: (closed.cpu.user_s - opened.cpu.user_s).max(0.0),
            system_s: (closed.cpu.system_s - opened.cpu.system_s).max(0.0),
        };
        let waited = opened.waited_ns.zip(closed.waited_ns);
        ThreadUse { cpu, waited: waited.map(|(before, after)| Nanos(after.saturating_sub(before))) }
    }
}

/// What a thread took between the ends of the window.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ThreadUse {
    pub(crate) cpu: CpuTime,
    /// How long it waited for a CPU although it could have run; nothing where the kernel does not count it.
    pub(crate) waited: Option<Nanos>,
}

/// The counts of a thread at one moment.
#[derive(Clone, Copy, Debug, Default)]
struct Reading {
    cpu: CpuTime,
    waited_ns: Option<u64>,
}

impl Reading {
    fn now() -> Reading {
        Reading { cpu: probe::thread_cpu_time(), waited_ns: probe::thread_waited_ns() }
    }
}

/// The CPU clocks at one end of the window.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CpuReading {
    /// On the trial's clock.
    pub(crate) at: Nanos,
    /// Of the whole process.
    pub(crate) process: CpuTime,
    /// Of the coordinator's thread.
    pub(crate) own: CpuTime,
}

/// CPU of the generator in the window. The total is the process's, which is exact and holds the kernel's threads for
/// our I/O, too; what of it is user time is the workers' and the coordinator's own, because the process's split is not
/// to be trusted (see [`probe::thread_cpu_time`]). The coordinator reads its clocks a little late, and is scaled.
pub(crate) fn generator_cpu(readings: &[CpuReading], workers: CpuTime, window: Nanos) -> CpuTime {
    let [opened, closed] = readings else { return CpuTime::default() };
    let span = closed.at.saturating_sub(opened.at).seconds();
    let scale = if span > 0.0 { (window.seconds() / span).min(1.0) } else { 0.0 };
    let total_s = (closed.process.total_s() - opened.process.total_s()) * scale;
    let own_user_s = (closed.own.user_s - opened.own.user_s) * scale;
    // Readings at slightly different moments must not make more of the parts than of the whole.
    let user_s = (workers.user_s + own_user_s).min(total_s);
    CpuTime { user_s, system_s: total_s - user_s }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(at_s: u64, process: (f64, f64), own_user_s: f64) -> CpuReading {
        let process = CpuTime { user_s: process.0, system_s: process.1 };
        CpuReading { at: Nanos::from_secs(at_s), process, own: CpuTime { user_s: own_user_s, system_s: 0.0 } }
    }

    #[test]
    fn the_process_says_how_much_cpu_and_the_threads_say_how_much_of_it_is_user_time() {
        // The process burned user time before; its split of the two seconds in the window is wrong, the sum is right.
        let readings = [reading(1, (5.0, 1.0), 0.5), reading(3, (6.8, 1.2), 0.6)];
        let workers = CpuTime { user_s: 0.3, system_s: 1.5 };
        let cpu = generator_cpu(&readings, workers, Nanos::from_secs(2));
        assert!((cpu.user_s - 0.4).abs() < 1e-9 && (cpu.system_s - 1.6).abs() < 1e-9, "{cpu:?}");
    }

    #[test]
    fn cpu_is_scaled_to_the_window_and_never_beyond_what_was_read() {
        let readings = [reading(1, (0.0, 0.0), 0.0), reading(3, (1.0, 3.0), 0.0)];
        let half = generator_cpu(&readings, CpuTime::default(), Nanos::from_secs(1));
        assert_eq!((half.user_s, half.system_s), (0.0, 2.0));
        let beyond = generator_cpu(&readings, CpuTime::default(), Nanos::from_secs(5));
        assert_eq!(beyond.total_s(), 4.0);
        let more = generator_cpu(&readings, CpuTime { user_s: 9.0, system_s: 0.0 }, Nanos::from_secs(2));
        assert_eq!((more.user_s, more.system_s), (4.0, 0.0));
        assert_eq!(generator_cpu(&readings[..1], CpuTime::default(), Nanos::from_secs(5)), CpuTime::default());
    }
}
