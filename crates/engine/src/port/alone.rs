//! What one operation alone costs by each driver, and so which of the two carries it.
//!
//! The one idea: with one operation outstanding a ring has nothing to send together, so that plain calls may be faster; or they
//! may not, because a ring knows its files and buffers beforehand. Kernel and device decide, so both are measured on the file
//! itself, turn by turn, and the ring gives way only where plain calls win beyond what the turns differ by themselves.

use crate::hot::looks::Looks;
use crate::port::blocking::BlockingPort;
use crate::port::uring::{Ring, RingSpec};
use observation::{Alone, Carrier, DriverCost, Window};
use recorder::WallClock;
use rustix::time::{ClockId, clock_gettime};
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::path::Path;
use system::{Outcome, PortError, StoragePort, Wait};
use units::{Bytes, Nanos, duration};
use workload::{Operation, OperationKind};

/// Turns of each driver. With 24 pairs the median lies between the 7th and the 18th ratio in 97.7 percent of all cases,
/// whatever their distribution (the sign test's interval).
const TURNS: usize = 24;
const MEDIAN: std::ops::RangeInclusive<usize> = 6..=17;

/// How long a turn takes; all of them are half a second together.
const TURN: Nanos = Nanos::from_millis(10);

/// What each read moves.
const TRANSFER: Bytes = Bytes::kib(4);

/// Only this much of the start of a file is read, so that what is measured is the way to it, and its caches stay as they are.
const SPAN: Bytes = Bytes::mib(1);

/// What is taken: plain calls where they are faster beyond doubt, or else not slower, for less CPU.
fn judged(turns: &[[DriverCost; 2]]) -> Alone {
    let median = |driver: usize| DriverCost {
        time_ns: sorted(turns, |turn| turn[driver].time_ns)[turns.len() / 2],
        cpu_ns: sorted(turns, |turn| turn[driver].cpu_ns)[turns.len() / 2],
    };
    let bounds = |figure: fn(&DriverCost) -> f64| {
        let ratios = sorted(turns, |[ring, plain]| figure(plain) / figure(ring));
        (ratios[*MEDIAN.start()], ratios[*MEDIAN.end()])
    };
    let (time, cpu) = (bounds(|cost| cost.time_ns), bounds(|cost| cost.cpu_ns));
    let plain = time.1 < 1.0 || (time.0 <= 1.0 && cpu.1 < 1.0);
    Alone { ring: median(0), plain: median(1), taken: if plain { Carrier::Plain } else { Carrier::Ring } }
}

/// Which driver was taken, and why.
pub(crate) fn told(alone: &Alone) -> String {
    let figures = |cost: &DriverCost| {
        let time = |ns: f64| duration(Nanos(ns as u64));
        format!("{} and {} of CPU", time(cost.time_ns), time(cost.cpu_ns))
    };
    let (ring, plain, name) = (figures(&alone.ring), figures(&alone.plain), alone.taken.word());
    let why = match alone.taken {
        Carrier::Plain => "",
        Carrier::Ring => "; pread did not win beyond the noise",
    };
    format!(
        "single operations go by {name}: one read of {} at a time takes {ring} by io_uring, {plain} by pread{why}",
        units::bytes(TRANSFER)
    )
}

fn sorted(turns: &[[DriverCost; 2]], figure: impl Fn(&[DriverCost; 2]) -> f64) -> Vec<f64> {
    let mut all: Vec<f64> = turns.iter().map(figure).collect();
    all.sort_by(f64::total_cmp);
    all
}

/// Measures both drivers on a file of its own in a folder, which leaves nothing behind.
///
/// # Errors
/// When the filesystem has no files without a name or takes no direct I/O, or io_uring is not allowed.
pub fn measure_alone(dir: &Path) -> io::Result<Alone> {
    use rustix::fs::{Mode, OFlags, open};
    let flags = OFlags::RDWR | OFlags::TMPFILE | OFlags::CLOEXEC | OFlags::DIRECT;
    let file = File::from(open(dir, flags, Mode::RUSR | Mode::WUSR)?);
    let written = File::options().write(true).open(format!("/proc/self/fd/{}", file.as_raw_fd()))?;
    std::os::unix::fs::FileExt::write_all_at(&written, &vec![0x5A; SPAN.0 as usize], 0)?;
    written.sync_all()?;
    measure(file.as_raw_fd(), SPAN)
}

/// Measures both drivers by reading from the start of an open file.
///
/// # Errors
/// When the file cannot be read so, or no ring can be had.
pub(crate) fn measure(file: RawFd, size: Bytes) -> io::Result<Alone> {
    let clock = WallClock::new();
    let spec = RingSpec {
        files: vec![file],
        slots: 1,
        transfer_max: TRANSFER.0,
        poll: false,
        sqpoll: false,
        priority: 0,
        durable: 0,
    };
    let mut ring = Ring::new(spec)?;
    let mut ring = ring.port(clock.clone(), Looks::new(Window::default()));
    let mut plain = BlockingPort::new(vec![file], TRANSFER, clock)?;
    let places = (SPAN.min(size).0 / TRANSFER.0).max(1);
    let turns: io::Result<Vec<[DriverCost; 2]>> =
        (0..TURNS).map(|_| Ok([take_turn(&mut ring, places)?, take_turn(&mut plain, places)?])).collect();
    Ok(judged(&turns?))
}

/// Reads one place after the other, one at a time.
fn take_turn(port: &mut impl StoragePort, places: u64) -> io::Result<DriverCost> {
    let (start, cpu, mut done) = (port.now(), thread_cpu_ns(), 0);
    while port.now().saturating_sub(start) < TURN {
        let offset = done % places * TRANSFER.0;
        let bytes = TRANSFER.0 as u32;
        let read = Operation { kind: OperationKind::Read, class: 0, module: 0, offset, bytes };
        carry_out(port, &read)?;
        done += 1;
    }
    let each = |ns: u64| ns as f64 / done as f64;
    Ok(DriverCost { time_ns: each(port.now().saturating_sub(start).0), cpu_ns: each(thread_cpu_ns() - cpu) })
}

fn carry_out(port: &mut impl StoragePort, operation: &Operation) -> io::Result<()> {
    port.stage(0, operation, false);
    let mut completions = Vec::with_capacity(1);
    while completions.is_empty() {
        port.reap(Wait::Completion, &mut completions).map_err(|PortError::Kernel { source, .. }| source)?;
    }
    match completions[0].outcome {
        Outcome::Failed { errno } => Err(io::Error::from_raw_os_error(errno)),
        Outcome::Moved { .. } | Outcome::Transacted { .. } => Ok(()),
    }
}

fn thread_cpu_ns() -> u64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turns(ratios: impl Fn(usize) -> (f64, f64)) -> Vec<[DriverCost; 2]> {
        let ring = DriverCost { time_ns: 80_000.0, cpu_ns: 30_000.0 };
        let turn = |(time, cpu): (f64, f64)| [ring, DriverCost { time_ns: 80_000.0 * time, cpu_ns: 30_000.0 * cpu }];
        (0..TURNS).map(|number| turn(ratios(number))).collect()
    }

    #[test]
    fn plain_calls_take_a_single_operation_only_when_they_win_beyond_the_scatter_of_turns() {
        let scatter = |number: usize| 0.05 * (number as f64 / TURNS as f64 - 0.5);
        let by_plain =
            |time: f64, cpu: f64| judged(&turns(|n| (time + scatter(n), cpu + scatter(n)))).taken == Carrier::Plain;
        assert!(by_plain(0.9, 1.0), "faster");
        assert!(by_plain(0.9, 1.2), "faster counts before CPU");
        assert!(by_plain(1.0, 0.9), "as fast for less CPU");
        assert!(!by_plain(1.0, 1.0), "nobody wins");
        assert!(!by_plain(1.1, 0.8), "slower, however cheap");
        assert!(!by_plain(0.995, 1.0), "less than the turns differ by themselves");
    }

    #[test]
    fn what_was_taken_is_said_with_both_figures() {
        let text = told(&judged(&turns(|_| (0.9, 0.5))));
        let expected = "single operations go by pread: one read of 4 KiB at a time takes 80 us and 30 us of CPU by io_uring, \
                        72 us and 15 us of CPU by pread";
        assert_eq!(text, expected);
        let text = told(&judged(&turns(|_| (1.1, 0.5))));
        assert!(text.starts_with("single operations go by io_uring:") && text.ends_with("beyond the noise"), "{text}");
    }

    #[test]
    fn both_drivers_read_a_file_in_turns() {
        let file = File::open("/dev/zero").unwrap();
        let alone = measure(file.as_raw_fd(), SPAN);
        assert_eq!(alone.is_ok(), crate::port::uring::probe().is_ok(), "{alone:?}");
        assert!(alone.iter().all(|alone| alone.ring.time_ns > 0.0 && alone.plain.time_ns > 0.0));
        let closed = measure(-1, SPAN);
        assert!(closed.is_err(), "a descriptor that is not open");
    }
}
