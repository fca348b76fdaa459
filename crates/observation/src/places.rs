//! Points found again among many, without a look at each.
//!
//! The one idea: equal points lie in the same drawer. Levels may be written in any unit and differ in the last bits, so that a
//! drawer holds levels that agree in their first bits, and who looks for one near the edge of a drawer looks into the next one,
//! too. What is found may be equal; [`Point::same_elsewhere`] decides, as it does without drawers.
//!
//! What it does not do: it keeps no points, only their places in a list of the caller's.

use crate::{Level, Point};
use std::collections::BTreeMap;
use std::iter;

/// The last bits of a number that a drawer does not tell apart: nine decimal digits are left.
const BLURRED_BITS: u32 = 23;

/// More than [`Level::same`] lets equal numbers differ by, in steps of the last bit.
const APART: i64 = 1 << 14;

/// Places of points in a list, by what [`Point::same_elsewhere`] looks at.
#[derive(Clone, Debug, Default)]
pub struct Places(BTreeMap<String, Vec<usize>>);

impl Places {
    /// The places of all points of a list.
    pub fn of<'a>(points: impl IntoIterator<Item = &'a Point>) -> Places {
        let mut places = Places::default();
        points.into_iter().enumerate().for_each(|(place, point)| places.put(point, place));
        places
    }

    /// Remembers where a point stands.
    pub fn put(&mut self, point: &Point, place: usize) {
        self.0.entry(drawers(point).swap_remove(0)).or_default().push(place);
    }

    /// Where points stand that may be equal to this one but for the system, in the order of the list.
    pub fn near(&self, point: &Point) -> Vec<usize> {
        let mut found: Vec<usize> =
            drawers(point).iter().filter_map(|drawer| self.0.get(drawer)).flatten().copied().collect();
        found.sort_unstable();
        found
    }
}

/// The drawer of a point, and behind it those in which its equals may lie as well.
fn drawers(point: &Point) -> Vec<String> {
    let mut factors: Vec<(&str, Vec<String>)> =
        point.factors.iter().map(|factor| (factor.name.as_str(), words(&factor.level))).collect();
    factors.sort();
    let mut drawers = vec![format!("{:?}{:?}", point.experiment, point.stream)];
    for (name, words) in factors {
        drawers =
            words.iter().flat_map(|word| drawers.iter().map(move |drawer| format!("{drawer}{name:?}{word}"))).collect();
    }
    drawers
}

/// What a level is in the name of a drawer, and what its equals beyond the edges are.
fn words(level: &Level) -> Vec<String> {
    let Some(value) = level.number() else { return vec![format!("{:?}", level.text())] };
    // Both zeros are one; otherwise numbers ascend with their bits on each side of it.
    let bits = if value == 0.0 { 0 } else { value.abs().to_bits() as i64 };
    let [own, below, above] = [bits, bits - APART, bits + APART].map(|bits| bits >> BLURRED_BITS);
    let edges = [below, above].into_iter().filter(|other| *other != own);
    let numbers: Vec<i64> = iter::once(own).chain(edges).collect();
    numbers.iter().map(|number| format!("{}{number}", if value < 0.0 { '-' } else { '+' })).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Factor;
    use proptest::prelude::*;

    fn level(value: f64) -> Level {
        Level::Number { value, text: value.to_string() }
    }

    fn point(system: &str, levels: &[(&str, Level)]) -> Point {
        let factor = |(name, level): &(&str, Level)| Factor { name: (*name).to_owned(), level: level.clone() };
        Point { system: system.to_owned(), factors: levels.iter().map(factor).collect(), ..Point::default() }
    }

    /// Levels of which many are equal, some only nearly, and some lie at the edge of a drawer.
    fn levels() -> impl Strategy<Value = Level> {
        let edge = f64::from_bits(4.0_f64.to_bits() | 1 << BLURRED_BITS);
        let base = prop::sample::select(vec![0.0, -0.0, 1.0, -1.0, 0.1, 4096.0, edge, 1e-300, 5e-324, 1e300]);
        let off = prop::sample::select(vec![0.0, 4e-13, -4e-13, 9.9e-13, -9.9e-13, 2e-12, 1e-6]);
        prop_oneof![
            (base, off).prop_map(|(base, off)| level(base * (1.0 + off))),
            prop::sample::select(vec!["cold", "warm", "1"]).prop_map(|word| Level::Word(word.to_owned())),
        ]
    }

    fn points() -> impl Strategy<Value = Point> {
        let two = (levels(), levels(), any::<bool>(), prop::sample::select(vec!["a", "b"]));
        two.prop_map(|(a, b, turned, system)| match turned {
            true => point(system, &[("x", a), ("y", b)]),
            false => point(system, &[("y", b), ("x", a)]),
        })
    }

    proptest! {
        #[test]
        fn points_that_are_equal_are_always_near(all in prop::collection::vec(points(), 1..40)) {
            let places = Places::of(&all);
            for one in &all {
                let equal = |other: &Point| other.same_elsewhere(one);
                let looked: Vec<usize> = (0..all.len()).filter(|place| equal(&all[*place])).collect();
                let found: Vec<usize> = places.near(one).into_iter().filter(|place| equal(&all[*place])).collect();
                prop_assert_eq!(looked, found);
            }
        }
    }

    #[test]
    fn among_many_points_few_are_near_any() {
        let of =
            |n: u32| point("a", &[("rate", level(f64::from(n) * 1e-3)), ("mode", Level::Word(format!("m{}", n % 7)))]);
        let all: Vec<Point> = (0..20_000).map(of).collect();
        let places = Places::of(&all);
        let looks: usize = all.iter().map(|point| places.near(point).len()).sum();
        assert_eq!(looks, all.len());
    }
}
