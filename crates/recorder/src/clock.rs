//! The clocks. This is the only file of Prony that asks the machine what time it is.
//!
//! The one idea: everyone else is handed a [`Clock`], so that the same driver runs under wall time and under simulated
//! time. The wall clock counts ticks of the processor where the kernel itself trusts them, because the two readings of
//! every operation must cost less than anything they measure.
//!
//! What it does not do: it never jumps. A step of the machine's calendar moves the recorded start, not the readings.

#![allow(clippy::disallowed_methods, reason = "this is the one place where time is read")]

use crate::drift::ClockReading;
use rustix::time::{ClockId, clock_gettime};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant, SystemTime};
use units::Nanos;

/// A source of stamps: nanoseconds since it started.
pub trait Clock {
    /// The time now; it never runs backwards on one thread.
    fn now(&self) -> Nanos;

    /// Lets time pass until `at`: sleeps on a real clock, moves a simulated one. May return a little late, never early.
    fn pass(&self, at: Nanos);
}

/// The machine's time, counted from the moment at which the clock was started. Copies agree with each other.
#[derive(Clone, Debug)]
pub struct WallClock {
    source: Source,
    unix_start_ns: i64,
}

#[derive(Clone, Debug)]
enum Source {
    /// Ticks of the processor's invariant counter.
    Counter(Counter),
    /// The kernel's monotonic clock, where the counter cannot be trusted.
    Monotonic(Instant),
}

/// How long each half of the calibration takes. A reading is caught within some 20 ns of its partner, so that 25 ms pin
/// the frequency to about one part in a million; twice the length would halve that and delay every run.
const CALIBRATION: Duration = Duration::from_millis(25);

/// The two halves of the calibration may differ by this share; a counter that does worse is not one to measure with.
const CALIBRATION_SPREAD: f64 = 200e-6;

impl WallClock {
    /// Starts a clock. The first takes some 50 ms, in which the counter is held against the kernel's clock.
    pub fn new() -> WallClock {
        static CALIBRATED: OnceLock<Option<Counter>> = OnceLock::new();
        let counter =
            CALIBRATED.get_or_init(|| if kernel_trusts_counter() { Counter::calibrate() } else { None }).clone();
        let unix_start_ns = match SystemTime::now().duration_since(SystemTime::UNIX_EPOCH) {
            Ok(since) => i64::try_from(since.as_nanos()).unwrap_or(i64::MAX),
            Err(before) => -i64::try_from(before.duration().as_nanos()).unwrap_or(i64::MAX),
        };
        match counter {
            Some(counter) => WallClock { source: Source::Counter(counter.started()), unix_start_ns },
            None => WallClock { source: Source::Monotonic(Instant::now()), unix_start_ns },
        }
    }

    /// This clock beside those of the kernel. They are read between two readings of one of them, and of several tries the
    /// tightest is taken: the others were interrupted.
    pub fn reading(&self) -> ClockReading {
        let tries = (0..16).map(|_| {
            let before = kernel_time(ClockId::Monotonic);
            let (own, boot) = (self.now(), kernel_time(ClockId::Boottime));
            let uncertain = Nanos(kernel_time(ClockId::Monotonic).saturating_sub(before).0.div_ceil(2));
            ClockReading { own, monotonic: before + uncertain, boot, uncertain }
        });
        tries.min_by_key(|reading| reading.uncertain).expect("there is more than one try")
    }

    /// Wall-clock time at which this clock started, nanoseconds since 1970 in UTC.
    pub fn unix_start_ns(&self) -> i64 {
        self.unix_start_ns
    }
}

impl Default for WallClock {
    fn default() -> WallClock {
        WallClock::new()
    }
}

impl Clock for WallClock {
    #[inline]
    fn now(&self) -> Nanos {
        match &self.source {
            Source::Counter(counter) => counter.now(),
            Source::Monotonic(start) => Nanos(start.elapsed().as_nanos() as u64),
        }
    }

    fn pass(&self, at: Nanos) {
        loop {
            let left = at.saturating_sub(self.now());
            if left == Nanos::ZERO {
                return;
            }
            std::thread::sleep(Duration::from_nanos(left.0));
        }
    }
}

fn kernel_time(clock: ClockId) -> Nanos {
    let time = clock_gettime(clock);
    Nanos(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
}

/// The processor's counter with its scale.
#[derive(Clone, Debug)]
struct Counter {
    raw: quanta::Clock,
    base: u64,
    /// Nanoseconds a tick, in units of 2^-32.
    scale: u64,
}

impl Counter {
    /// Holds the counter against the kernel's clock twice; nothing when the two answers disagree.
    fn calibrate() -> Option<Counter> {
        let raw = quanta::Clock::new();
        let scale = scale(&[Pair::catch(&raw), Pair::catch_after(&raw), Pair::catch_after(&raw)])?;
        Some(Counter { raw, base: 0, scale })
    }

    fn started(mut self) -> Counter {
        self.base = self.raw.raw();
        self
    }

    #[inline]
    fn now(&self) -> Nanos {
        // Another core may read a tick less than the one that started the clock.
        let ticks = self.raw.raw().saturating_sub(self.base);
        Nanos(((u128::from(ticks) * u128::from(self.scale)) >> 32) as u64)
    }
}

/// Nanoseconds a tick in units of 2^-32, over the whole calibration; nothing when its halves disagree.
fn scale([first, middle, last]: &[Pair; 3]) -> Option<u64> {
    let whole = first.ns_per_tick(last)?;
    let apart = first.ns_per_tick(middle)? - middle.ns_per_tick(last)?;
    ((apart / whole).abs() < CALIBRATION_SPREAD).then(|| (whole * (1u64 << 32) as f64).round() as u64)
}

/// Both clocks at the same moment.
struct Pair {
    kernel: Instant,
    ticks: u64,
}

impl Pair {
    fn catch_after(raw: &quanta::Clock) -> Pair {
        std::thread::sleep(CALIBRATION);
        Pair::catch(raw)
    }

    /// Reads the counter between two readings of the kernel's clock, and keeps the tightest of many tries: the others
    /// were interrupted.
    fn catch(raw: &quanta::Clock) -> Pair {
        let mut best: Option<(Duration, Pair)> = None;
        for _ in 0..64 {
            let before = Instant::now();
            let ticks = raw.raw();
            let gap = before.elapsed();
            if best.as_ref().is_none_or(|(least, _)| gap < *least) {
                best = Some((gap, Pair { kernel: before + gap / 2, ticks }));
            }
        }
        best.map_or_else(|| Pair { kernel: Instant::now(), ticks: raw.raw() }, |(_, pair)| pair)
    }

    fn ns_per_tick(&self, later: &Pair) -> Option<f64> {
        let ticks = later.ticks.checked_sub(self.ticks).filter(|ticks| *ticks > 0)?;
        let ns = later.kernel.checked_duration_since(self.kernel)?.as_nanos();
        (ns > 0).then(|| ns as f64 / ticks as f64)
    }
}

/// Whether the kernel offers the counter as a clock of its own: it watches the counter from boot on, and strikes it off
/// when it stops, jumps, or differs between cores.
fn kernel_trusts_counter() -> bool {
    const OFFERED: &str = "/sys/devices/system/clocksource/clocksource0/available_clocksource";
    // A container may hide the list; then the processor's own word for an invariant counter has to do. Miri has no counter.
    !cfg!(miri) && std::fs::read_to_string(OFFERED).map_or(true, |offered| offers_counter(&offered))
}

/// Whether a counter of the processor is in the kernel's list of clocks.
fn offers_counter(list: &str) -> bool {
    list.split_whitespace().any(|name| matches!(name, "tsc" | "arch_sys_counter"))
}

/// A clock that stands still until it is moved. Copies share the time.
#[derive(Clone, Debug, Default)]
pub struct SimulatedClock {
    now: Arc<AtomicU64>,
}

impl Clock for SimulatedClock {
    #[inline]
    fn now(&self) -> Nanos {
        Nanos(self.now.load(Ordering::Relaxed))
    }

    #[inline]
    fn pass(&self, at: Nanos) {
        // One thread owns a simulation; the others only look, so no read-modify-write is needed.
        if at.0 > self.now.load(Ordering::Relaxed) {
            self.now.store(at.0, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wall_clock_never_runs_backwards_and_copies_agree() {
        let clock = WallClock::new();
        let copy = clock.clone();
        let mut last = clock.now();
        for _ in 0..10_000 {
            let now = copy.now();
            assert!(now >= last);
            last = clock.now();
            assert!(last >= now);
        }
    }

    #[test]
    fn the_counter_keeps_the_kernels_pace() {
        let clock = WallClock::new();
        // Every reading of ours lies between two of the kernel, so that an interruption widens the bounds, not the error.
        let outer = Instant::now();
        let begun = clock.now();
        let inner = Instant::now();
        while inner.elapsed() < Duration::from_millis(30) {}
        let least = inner.elapsed().as_nanos() as f64;
        let passed = (clock.now() - begun).0 as f64;
        let most = outer.elapsed().as_nanos() as f64;
        assert!(passed >= least * 0.999, "{passed} {least}");
        assert!(passed <= most * 1.001, "{passed} {most}");
    }

    #[test]
    fn readings_of_all_clocks_are_of_one_moment_and_keep_one_pace() {
        let clock = WallClock::new();
        let first = clock.reading();
        let mut watch = crate::ClockWatch::new(first);
        for _ in 0..4 {
            clock.pass(clock.now() + Nanos::from_millis(25));
            watch.look(clock.reading());
        }
        let check = watch.checked().unwrap();
        assert!(check.uncertainty_ppm < 100.0 && check.error_ppm.abs() < 100.0 + check.uncertainty_ppm, "{check:?}");
        assert_eq!((check.suspended_s, check.jump_s), (0.0, 0.0), "{check:?}");
        assert!(first.boot >= first.monotonic.saturating_sub(first.uncertain), "{first:?}");
    }

    #[test]
    fn a_clock_starts_at_zero_and_says_when_that_was() {
        let unix_ns = || SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_nanos() as i64;
        let before = unix_ns();
        let clock = WallClock::new();
        let (first, after) = (clock.now(), unix_ns());
        // Another service may step the calendar meanwhile, but not by an hour.
        assert!((before - 3_600_000_000_000..=after + 3_600_000_000_000).contains(&clock.unix_start_ns()));
        assert!(first < Nanos::from_secs(60), "{first:?}");
    }

    #[test]
    fn passing_ends_when_the_moment_has_come_and_not_before() {
        let clock = WallClock::new();
        let until = clock.now() + Nanos::from_millis(5);
        clock.pass(until);
        assert!(clock.now() >= until);
        clock.pass(Nanos::ZERO);
    }

    /// Three readings: at these nanoseconds of the kernel, with these ticks.
    fn readings(of: [(u64, u64); 3]) -> [Pair; 3] {
        let start = Instant::now();
        of.map(|(ns, ticks)| Pair { kernel: start + Duration::from_nanos(ns), ticks })
    }

    #[test]
    fn a_counter_whose_halves_agree_has_the_scale_of_the_whole() {
        let scale = scale(&readings([(0, 7), (25_000_000, 50_000_007), (50_000_000, 100_000_007)]));
        assert_eq!(scale, Some(1 << 31), "half a nanosecond a tick");
    }

    #[test]
    fn a_counter_whose_halves_disagree_stands_still_or_runs_backwards_has_no_scale() {
        // A tick is 0.5 ns in one half, and this much more or less in the other.
        let apart = |ticks| {
            scale(&readings([(0, 0), (25_000_000, 50_000_000), (50_000_000, 100_000_000u64.wrapping_add(ticks))]))
        };
        assert!(apart(9_900).is_some() && apart(-9_900i64 as u64).is_some(), "198 parts in a million");
        assert!(apart(10_200).is_none() && apart(-10_200i64 as u64).is_none(), "204 parts in a million");
        assert!(scale(&readings([(0, 0), (25_000_000, 0), (50_000_000, 10)])).is_none());
        assert!(scale(&readings([(0, 10), (25_000_000, 20), (50_000_000, 5)])).is_none());
        assert!(scale(&readings([(50, 10), (25, 20), (0, 30)])).is_none());
    }

    #[test]
    fn a_reading_of_both_clocks_is_that_of_one_moment() {
        let raw = quanta::Clock::new();
        let (outer, begun) = (Instant::now(), raw.raw());
        let pair = Pair::catch(&raw);
        assert!((outer..=Instant::now()).contains(&pair.kernel));
        assert!((begun..=raw.raw()).contains(&pair.ticks));
        let later = Pair::catch_after(&raw);
        assert!(later.kernel - pair.kernel >= CALIBRATION);
    }

    #[test]
    fn only_a_counter_that_the_kernel_offers_is_trusted() {
        assert!(offers_counter("kvm-clock tsc hpet acpi_pm \n") && offers_counter("arch_sys_counter\n"));
        assert!(!offers_counter("kvm-clock hpet acpi_pm\n") && !offers_counter("tsc-early\n"));
    }

    #[test]
    fn a_simulated_clock_moves_when_it_is_told_and_never_back() {
        let clock = SimulatedClock::default();
        let copy = clock.clone();
        clock.pass(Nanos(50));
        clock.pass(Nanos(20));
        assert_eq!(copy.now(), Nanos(50));
    }
}
