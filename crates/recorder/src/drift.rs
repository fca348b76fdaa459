//! Whether the clock that stamps operations kept the pace of the kernel's clocks during a trial.
//!
//! The one idea: it is a pure function over readings of all clocks at a few moments. What they differ by is the scale of the
//! counter, unless one step stands out: then the counter jumped, as it does where a virtual machine is moved. The clock that
//! counts on in a suspend leaves the one that does not.

use units::Nanos;

/// A clock that is off by more is doubted, and a step within it is no jump.
const TOLERANCE: f64 = 100e-6;

/// Fewer steps than this do not tell a jump from a scale that is off.
const STEPS_MIN: u32 = 3;

/// No machine is suspended for less.
const SUSPEND_LEAST: Nanos = Nanos::from_millis(1);

/// All clocks at one moment.
#[derive(Clone, Copy, Debug)]
pub struct ClockReading {
    /// The clock that stamps operations.
    pub own: Nanos,
    /// CLOCK_MONOTONIC.
    pub monotonic: Nanos,
    /// CLOCK_BOOTTIME.
    pub boot: Nanos,
    /// So far the readings may lie from the moment.
    pub uncertain: Nanos,
}

/// The first and the last reading of a trial, and the step between two that differed most.
#[derive(Clone, Debug)]
pub struct ClockWatch {
    first: ClockReading,
    last: ClockReading,
    steps: u32,
    /// By how much it went beyond the tolerance, and all of it, in nanoseconds.
    greatest: Option<(f64, f64)>,
}

/// How the clock of a trial stands to the kernel's.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ClockCheck {
    /// How much faster it ran than CLOCK_MONOTONIC, in parts in a million, without its jump.
    pub error_ppm: f64,
    /// How much of that the readings cannot tell.
    pub uncertainty_ppm: f64,
    /// How long the machine was suspended, by CLOCK_BOOTTIME.
    pub suspended_s: f64,
    /// How far the clock jumped against CLOCK_MONOTONIC; 0 when it did not.
    pub jump_s: f64,
}

impl ClockWatch {
    /// Begins with a reading.
    pub fn new(first: ClockReading) -> ClockWatch {
        ClockWatch { first, last: first, steps: 0, greatest: None }
    }

    /// Takes the next reading.
    pub fn look(&mut self, reading: ClockReading) {
        let step = gained(&self.last, &reading);
        let beyond = step.abs() - allowed(&self.last, &reading);
        if self.greatest.is_none_or(|(most, _)| beyond > most) {
            self.greatest = Some((beyond, step));
        }
        (self.last, self.steps) = (reading, self.steps + 1);
    }

    /// What follows from all of them; nothing while no time has passed.
    pub fn checked(&self) -> Option<ClockCheck> {
        let (first, last) = (&self.first, &self.last);
        let span = passed(first, last);
        if span <= 0.0 {
            return None;
        }
        let total = gained(first, last);
        let jumped = self.greatest.filter(|(beyond, step)| {
            // Without this step and what it was allowed the rest must be as it should.
            let rest = (total - step).abs() + (step.abs() - beyond);
            *beyond > 0.0 && self.steps >= STEPS_MIN && rest <= allowed(first, last) + uncertain(first, last)
        });
        let jump = jumped.map_or(0.0, |(_, step)| step);
        let asleep = (last.boot.0 as f64 - first.boot.0 as f64) - span;
        let is_suspend = asleep > uncertain(first, last) + SUSPEND_LEAST.0 as f64;
        Some(ClockCheck {
            error_ppm: (total - jump) / span * 1e6,
            uncertainty_ppm: uncertain(first, last) / span * 1e6,
            suspended_s: if is_suspend { asleep / 1e9 } else { 0.0 },
            jump_s: jump / 1e9,
        })
    }
}

/// Nanoseconds of the kernel's clock between two readings.
fn passed(from: &ClockReading, to: &ClockReading) -> f64 {
    to.monotonic.0 as f64 - from.monotonic.0 as f64
}

/// How many nanoseconds more the own clock counted.
fn gained(from: &ClockReading, to: &ClockReading) -> f64 {
    (to.own.0 as f64 - from.own.0 as f64) - passed(from, to)
}

fn uncertain(from: &ClockReading, to: &ClockReading) -> f64 {
    (from.uncertain.0 + to.uncertain.0) as f64
}

/// What two readings may differ by when nothing is wrong.
fn allowed(from: &ClockReading, to: &ClockReading) -> f64 {
    uncertain(from, to) + TOLERANCE * passed(from, to)
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: u64 = 1_000_000_000;

    /// A reading a second from a machine that is up for an hour; the own clock and that of the boot are ahead by so much.
    fn checked(readings: &[(i64, u64)]) -> ClockCheck {
        let reading = |(second, (own, boot)): (u64, &(i64, u64))| ClockReading {
            own: Nanos((second * S).saturating_add_signed(*own)),
            monotonic: Nanos(3_600 * S + second * S),
            boot: Nanos(4_000 * S + second * S + boot),
            uncertain: Nanos(50),
        };
        let mut readings = (0..).zip(readings).map(reading);
        let mut watch = ClockWatch::new(readings.next().unwrap());
        readings.for_each(|reading| watch.look(reading));
        watch.checked().unwrap()
    }

    /// Equal but for rounding.
    fn near(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-6
    }

    #[test]
    fn a_clock_that_keeps_the_pace_has_nothing_but_its_uncertainty() {
        let check = checked(&[(0, 0), (20, 40), (-10, 0), (5, 0), (0, 0)]);
        assert!(near(check.uncertainty_ppm, 100.0 / 4e3) && near(check.error_ppm, 0.0), "{check:?}");
        assert_eq!((check.suspended_s, check.jump_s), (0.0, 0.0));
    }

    #[test]
    fn a_scale_that_is_off_is_no_jump_however_large_its_steps_are() {
        let check = checked(&[(0, 0), (300_000, 0), (600_000, 0), (900_000, 0), (1_200_000, 0)]);
        assert!(near(check.error_ppm, 300.0), "{check:?}");
        assert_eq!((check.suspended_s, check.jump_s), (0.0, 0.0));
        let slightly = checked(&[(0, 0), (120_000, 0), (240_000, 0), (360_000, 0)]);
        assert!(near(slightly.error_ppm, 120.0) && slightly.jump_s == 0.0, "{slightly:?}");
        // With so few steps nobody can tell.
        let short = checked(&[(0, 0), (0, 0), (5_000_000, 0)]);
        assert!(near(short.error_ppm, 2_500.0) && short.jump_s == 0.0, "{short:?}");
    }

    #[test]
    fn one_step_that_stands_out_is_a_jump_and_leaves_the_scale_as_it_was() {
        for jump in [5_000_000, -5_000_000] {
            let check = checked(&[(0, 0), (10_000, 0), (20_000, 0), (jump + 30_000, 0), (jump + 40_000, 0)]);
            assert!(near(check.jump_s, (jump + 10_000) as f64 / 1e9), "{check:?}");
            assert!(near(check.error_ppm, 7.5), "{check:?}");
        }
    }

    #[test]
    fn the_clock_that_counts_on_while_the_machine_sleeps_tells_of_a_suspend() {
        let check = checked(&[(0, 0), (0, 0), (0, 30 * S), (0, 30 * S), (0, 30 * S)]);
        assert_eq!((check.suspended_s, check.jump_s, check.error_ppm), (30.0, 0.0, 0.0));
        assert_eq!(checked(&[(0, 0), (0, 900_000), (0, 900_000)]).suspended_s, 0.0, "no suspend is so short");
    }

    #[test]
    fn without_time_between_readings_nothing_is_told() {
        let reading = ClockReading { own: Nanos(5), monotonic: Nanos(7), boot: Nanos(9), uncertain: Nanos(50) };
        let mut watch = ClockWatch::new(reading);
        watch.look(reading);
        assert_eq!(watch.checked(), None);
    }
}
