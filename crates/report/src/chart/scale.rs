//! Data to pixels: evenly, by ratio, or by nines; and the ticks that suit each.

/// How values are spaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Linear,
    Log,
    Nines,
}

/// A map from a range of values to a range of pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Scale {
    kind: Kind,
    pub(super) low: f64,
    pub(super) high: f64,
    from: f64,
    to: f64,
}

/// No quantile beyond seven nines: no trial has the samples for it.
const NINES_MAX: f64 = 7.0;

impl Scale {
    /// A scale over `low..=high`. A range that is empty, turned around or, by ratio, not above zero is widened until it can
    /// be drawn.
    pub(super) fn new(kind: Kind, low: f64, high: f64, from: f64, to: f64) -> Scale {
        let (low, high) = match kind {
            Kind::Linear => drawable(low, high),
            Kind::Log => drawable_log(low, high),
            Kind::Nines => (0.0, high.clamp(0.9, 1.0 - 10f64.powf(-NINES_MAX))),
        };
        Scale { kind, low, high, from, to }
    }

    /// Where a value lies, in pixels; values outside the range are held at its ends, so that no mark leaves its panel.
    pub(super) fn at(&self, value: f64) -> f64 {
        let share = (self.warp(value) - self.warp(self.low)) / (self.warp(self.high) - self.warp(self.low));
        let share = if share.is_nan() { 0.0 } else { share.clamp(0.0, 1.0) };
        self.from + share * (self.to - self.from)
    }

    /// The same so many pixels further along.
    pub(super) fn shifted(self, by: f64) -> Scale {
        Scale { from: self.from + by, to: self.to + by, ..self }
    }

    fn warp(&self, value: f64) -> f64 {
        match self.kind {
            Kind::Linear => value,
            Kind::Log => value.max(self.low.min(value.abs()).max(f64::MIN_POSITIVE)).log10(),
            Kind::Nines => -(1.0 - value.clamp(0.0, 1.0 - 10f64.powf(-NINES_MAX))).log10(),
        }
    }

    /// About `wanted` values that are good to read in a unit (how much of the base unit one of it is), ascending, inside the range.
    pub(super) fn ticks(&self, wanted: usize, one: f64) -> Vec<f64> {
        let ticks = match self.kind {
            Kind::Linear => {
                let ticks = linear_ticks(self.low / one, self.high / one, wanted);
                ticks.into_iter().map(|tick| (tick * one).clamp(self.low, self.high)).collect()
            }
            Kind::Log => log_ticks(self.low, self.high, wanted),
            Kind::Nines => [0.0, 0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999, 0.999_999].into_iter().collect(),
        };
        ticks.into_iter().filter(|tick| (self.low..=self.high).contains(tick)).collect()
    }

    /// The same for times of day-to-day length, in multiples of minutes and hours above a minute.
    pub(super) fn clock_ticks(&self, wanted: usize) -> Vec<f64> {
        if self.kind != Kind::Linear || self.high - self.low < 90.0 {
            return self.ticks(wanted, 1.0);
        }
        const STEPS: [f64; 14] = [
            15.0, 30.0, 60.0, 120.0, 300.0, 600.0, 900.0, 1800.0, 3600.0, 7200.0, 10_800.0, 21_600.0, 43_200.0,
            86_400.0,
        ];
        let least = (self.high - self.low) / wanted.max(1) as f64;
        let step = STEPS.into_iter().find(|step| *step >= least).unwrap_or((least / 86_400.0).ceil() * 86_400.0);
        multiples(step, self.low, self.high)
    }
}

fn drawable(low: f64, high: f64) -> (f64, f64) {
    let (low, high) = (finite_or(low, 0.0), finite_or(high, 1.0));
    if high > low && (high - low) > (high.abs() + low.abs()) * 1e-12 {
        return (low, high);
    }
    let half = if low == 0.0 { 0.5 } else { low.abs() * 0.1 };
    (low - half, low + half)
}

fn drawable_log(low: f64, high: f64) -> (f64, f64) {
    let usable = |value: f64| value.is_finite() && value > 1e-300 && value < 1e300;
    match (usable(low), usable(high)) {
        (true, true) if high / low > 1.000_001 => (low, high),
        (true, _) => (low / 1.5, low * 1.5),
        (false, true) => (high / 1000.0, high),
        (false, false) => (0.1, 10.0),
    }
}

fn finite_or(value: f64, other: f64) -> f64 {
    if value.is_finite() && value.abs() < 1e300 { value } else { other }
}

/// Multiples of 1, 2, 2.5 or 5 times a power of ten; a range that holds fewer than two of them gets a finer step.
fn linear_ticks(low: f64, high: f64, wanted: usize) -> Vec<f64> {
    let ticks = even_ticks(low, high, wanted);
    if ticks.len() >= 2 { ticks } else { even_ticks(low, high, wanted * 3) }
}

fn even_ticks(low: f64, high: f64, wanted: usize) -> Vec<f64> {
    let rough = (high - low) / wanted.max(1) as f64;
    let power = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 2.5, 5.0, 10.0].into_iter().map(|nice| nice * power).find(|step| *step >= rough * 0.999);
    multiples(step.unwrap_or(10.0 * power), low, high)
}

fn multiples(step: f64, low: f64, high: f64) -> Vec<f64> {
    let (first, last) = ((low / step - 1e-9).ceil(), (high / step + 1e-9).floor());
    // A hundred is far more than any panel can label; it only guards against a range that cannot be divided.
    let count = ((last - first).max(-1.0) + 1.0).min(100.0) as usize;
    (0..count).map(|index| ((first + index as f64) * step).clamp(low, high)).map(|tick| tick + 0.0).collect()
}

/// Powers of ten; with 2 and 5 between them when there are few, thinned when there are many.
fn log_ticks(low: f64, high: f64, wanted: usize) -> Vec<f64> {
    let (first, last) = (low.log10().floor() as i32, high.log10().ceil() as i32);
    let decades = (high / low).log10();
    let wanted = wanted.max(2) as f64;
    let between: &[f64] = match () {
        () if decades * 3.0 <= wanted * 1.4 => &[1.0, 2.0, 5.0],
        () if decades * 2.0 <= wanted * 1.2 => &[1.0, 3.0],
        () => &[1.0],
    };
    let stride = (decades / wanted).ceil().max(1.0) as i32;
    let all = (first..=last).filter(|power| power.rem_euclid(stride) == 0);
    let ticks: Vec<f64> = all
        .flat_map(|power| between.iter().map(move |digit| digit * 10f64.powi(power)))
        .filter(|tick| (low * 0.999_999..=high * 1.000_001).contains(tick))
        .map(|tick| tick.clamp(low, high))
        .collect();
    if ticks.len() >= 2 { ticks } else { linear_ticks(low, high, 4).into_iter().filter(|tick| *tick > 0.0).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn kinds() -> impl Strategy<Value = Kind> {
        prop_oneof![Just(Kind::Linear), Just(Kind::Log), Just(Kind::Nines)]
    }

    fn magnitude() -> impl Strategy<Value = f64> {
        (-12.0f64..15.0).prop_map(|power| 10f64.powf(power))
    }

    proptest! {
        #[test]
        fn ticks_ascend_and_lie_inside_the_range(kind in kinds(), a in magnitude(), b in magnitude(), wanted in 2usize..12) {
            let scale = Scale::new(kind, a.min(b), a.max(b), 0.0, 100.0);
            let ticks = scale.ticks(wanted, 1.0);
            prop_assert!(ticks.windows(2).all(|pair| pair[0] < pair[1]), "{:?}", ticks);
            prop_assert!(ticks.iter().all(|tick| (scale.low..=scale.high).contains(tick)), "{:?} {:?}", ticks, scale);
        }

        #[test]
        fn there_are_about_as_many_ticks_as_wanted(kind in kinds(), a in magnitude(), ratio in 1.1f64..1e6, wanted in 3usize..10) {
            let ticks = Scale::new(kind, a, a * ratio, 0.0, 100.0).ticks(wanted, 1.0);
            prop_assert!(ticks.len() >= 2 || kind == Kind::Nines, "{:?}", ticks);
            prop_assert!(ticks.len() <= 2 * wanted + 3, "{:?}", ticks);
        }

        #[test]
        fn clock_ticks_are_whole_quarters_of_a_minute_beyond_a_minute_and_a_half(low in 0.0f64..1e4, span in 90.0f64..1e6) {
            let ticks = Scale::new(Kind::Linear, low, low + span, 0.0, 100.0).clock_ticks(6);
            prop_assert!(ticks.windows(2).all(|pair| pair[0] < pair[1]));
            prop_assert!(ticks.iter().all(|tick| (low..=low + span).contains(tick)));
        }

        #[test]
        fn a_greater_value_never_lies_before_a_smaller_one(kind in kinds(), a in magnitude(), b in magnitude(), c in magnitude(), d in magnitude()) {
            let scale = Scale::new(kind, a.min(b), a.max(b), 10.0, 900.0);
            let (c, d) = (scale.at(c.min(d)), scale.at(c.max(d)));
            prop_assert!(c <= d && (10.0..=900.0).contains(&c) && (10.0..=900.0).contains(&d));
        }

        #[test]
        fn no_range_however_odd_breaks_a_scale(kind in kinds(), low: f64, high: f64, value: f64) {
            let scale = Scale::new(kind, low, high, 0.0, 100.0);
            prop_assert!((0.0..=100.0).contains(&scale.at(value)));
            prop_assert!(scale.ticks(6, 1.0).iter().all(|tick| tick.is_finite()));
            prop_assert!(scale.clock_ticks(6).len() <= 110);
        }
    }

    #[test]
    fn ticks_of_sizes_are_round_in_the_unit_that_they_are_read_in() {
        let mib = 1_048_576.0;
        let scale = Scale::new(Kind::Linear, 0.0, 90.0 * mib, 0.0, 1.0);
        assert_eq!(scale.ticks(5, mib), [0.0, 20.0, 40.0, 60.0, 80.0].map(|tick| tick * mib));
    }

    #[test]
    fn equal_ratios_are_equally_far_apart_by_ratio() {
        let scale = Scale::new(Kind::Log, 1.0, 1000.0, 0.0, 300.0);
        assert!((scale.at(10.0) - 100.0).abs() < 1e-9 && (scale.at(100.0) - 200.0).abs() < 1e-9);
    }

    #[test]
    fn every_nine_takes_the_same_room() {
        let scale = Scale::new(Kind::Nines, 0.0, 0.999, 0.0, 300.0);
        assert!((scale.at(0.9) - 100.0).abs() < 1e-6 && (scale.at(0.99) - 200.0).abs() < 1e-6);
    }

    #[test]
    fn known_ranges_get_the_ticks_that_a_person_would_choose() {
        assert_eq!(Scale::new(Kind::Linear, 0.0, 412.0, 0.0, 1.0).ticks(5, 1.0), [0.0, 100.0, 200.0, 300.0, 400.0]);
        assert_eq!(Scale::new(Kind::Log, 0.05, 2.0, 0.0, 1.0).ticks(5, 1.0), [0.05, 0.1, 0.2, 0.5, 1.0, 2.0]);
        assert_eq!(
            Scale::new(Kind::Linear, 0.0, 3660.0, 0.0, 1.0).clock_ticks(6),
            [0.0, 900.0, 1800.0, 2700.0, 3600.0]
        );
    }
}
